"""Results over HTTP: pages, filters, streams, and those of one case."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import httpx
import orjson
import pytest

from support import requests
from support.cases import hazard_case, true_false_cases
from support.grading import grade_open_chunks
from support.http import HttpServer
from support.uploads import lines_of, problem, upload
from weighbridge_producer.server import GRACE_SECONDS
from weighbridge_producer.service.responses import result_stream

if TYPE_CHECKING:
    from support.workers import StartWorker, WorkerProcess
    from weighbridge.embedded.server import EmbeddedServer
    from weighbridge_producer import Client

ODD_IDS = (
    "a/b",
    "/",
    "//x",
    "..",
    "../..",
    "a?b=c#d",
    "%2F",
    "a b+c",
    "\N{SNOWMAN}",
    "x/results/y",
)


@pytest.fixture(scope="module")
def results(service: HttpServer, worker: WorkerProcess) -> str:
    """The address of the results of a finished batch of 1,000 good cases, one unknown grader, and two graders for one."""
    both = hazard_case("both", "") | {
        "graders": [{"grader": "true-false"}, {"grader": "string-match", "label": "exact"}]
    }
    del both["grader"]
    odd = [next(true_false_cases(1)) | {"custom_id": name} for name in ODD_IDS]
    cases = [*true_false_cases(1_000), hazard_case("bad", "no-such"), both, *odd]
    batch = upload(service.url, lines_of(cases)).json()["batch_id"]
    service.service.client.batch(batch).wait(60)
    return f"{service.url}/api/batches/{batch}/results"


def ids(found: list[dict[str, Any]]) -> list[str]:
    return [result["custom_id"] for result in found]


def in_path(custom_id: str) -> str:
    """Write an id so that no client takes dots in it for folders."""
    return quote(custom_id, safe="").replace(".", "%2E")


def pages(address: str, query: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the results of all pages; one has fewer than it may where time ended first."""
    found: list[dict[str, Any]] = []
    cursor: str | None = ""
    while cursor is not None:
        asked = query | ({"cursor": cursor} if cursor else {})
        page = requests.get(address, params=asked, timeout=60).json()
        full = len(page["results"]) == query["limit"]
        assert full or not page["complete"] or page["next_cursor"] is None
        found += page["results"]
        cursor = page["next_cursor"]
    return found


def stream(address: str, **query: object) -> list[dict[str, Any]]:
    answer = requests.get(address, params=query, headers={"Accept": "application/x-ndjson"})
    assert answer.headers["content-type"] == "application/x-ndjson"
    assert answer.content.endswith(b"\n") or not answer.content
    return [orjson.loads(line) for line in answer.content.splitlines()]


def test_result_lines_carry_their_cases_and_can_be_submitted_again(
    results: str, service: HttpServer
) -> None:
    asked = {"format": "jsonl", "with_cases": "true", "verdict": "fail", "label": "true-false"}
    answer = requests.get(results, params=asked)
    found = [orjson.loads(line) for line in answer.content.splitlines()]
    assert found
    assert all(row["case"]["custom_id"] == row["custom_id"] for row in found)
    again = upload(service.url, answer.content).json()["batch_id"]
    assert service.service.client.batch(again).wait(60).counts.total == len(found)
    refused = requests.get(results, params={"with_cases": "true"})
    assert refused.status_code == 422


class TestPages:
    @pytest.mark.parametrize("limit", [29, 1000])
    def test_they_follow_one_another_to_the_end(self, results: str, limit: int) -> None:
        assert pages(results, {"limit": limit}) == stream(results)

    @pytest.mark.parametrize(
        ("query", "count"),
        [
            ({"verdict": "fail"}, 334 + len(ODD_IDS) + 1),
            ({"verdict": "fail", "label": "exact"}, 1),
            ({"verdict": "pass"}, 666),
            ({"status": "errored"}, 1),
            ({"cause": "UNKNOWN_GRADER"}, 1),
            ({"grader": "string-match"}, 1),
            ({"label": "exact"}, 1),
            ({"text": "EXPECTED VALUE IS EMPTY"}, 1),
            ({"custom_id": "c7"}, 1),
            ({"custom_id": "c7", "verdict": "fail"}, 0),
            ({"verdict": "", "custom_id": "both"}, 2),
            ({"custom_id": "no such id"}, 0),
        ],
    )
    def test_filters_hold_for_pages_and_streams_alike(
        self, results: str, query: dict[str, str], count: int
    ) -> None:
        found = pages(results, query | {"limit": 1000})
        assert len(found) == count
        assert stream(results, **query) == found
        assert stream(results, **query, follow="true") == found
        for name in ("status", "label", "grader", "custom_id"):
            if query.get(name):
                assert {result[name] for result in found} <= {query[name]}

    @pytest.mark.parametrize(
        ("query", "status", "code"),
        [
            ("verdict=passed", 422, "INVALID_FILTER"),
            ("status=done", 422, "INVALID_FILTER"),
            ("verdct=fail", 422, "INVALID_REQUEST"),
            ("limit=0", 422, "INVALID_REQUEST"),
            ("limit=1001", 422, "INVALID_REQUEST"),
            ("label=" + "x" * 257, 422, "INVALID_REQUEST"),
            ("format=xml", 422, "INVALID_REQUEST"),
            ("follow=true", 422, "INVALID_REQUEST"),
            ("cursor=nonsense", 410, "STALE_CURSOR"),
            ("cursor=0/1-1/0", 410, "STALE_CURSOR"),
            ("cursor=0.0.1-1.0_0-3.0123456789abcdef.end", 410, "STALE_CURSOR"),
            ("cursor=9.0.1-1.0_0-3.0123456789abcdef.end", 410, "STALE_CURSOR"),
            ("format=ndjson&cursor=0.0.1-1.0_0-3.0123456789abcdef.end", 410, "STALE_CURSOR"),
            (
                "format=ndjson&verdict=fail&cursor=0.0.1-1.0_0-3.0123456789abcdef.7",
                410,
                "STALE_CURSOR",
            ),
            ("format=ndjson&cursor=%00%ff", 410, "STALE_CURSOR"),
        ],
    )
    def test_what_makes_no_sense_is_refused(
        self, results: str, query: str, status: int, code: str
    ) -> None:
        assert problem(requests.get(f"{results}?{query}")) == (status, code)


class TestOneCase:
    @pytest.mark.parametrize("custom_id", ODD_IDS)
    def test_it_is_found_whatever_its_id(self, results: str, custom_id: str) -> None:
        answer = requests.get(f"{results}/{in_path(custom_id)}")
        assert ids(answer.json()["results"]) == [custom_id]

    def test_every_label_is_given_or_the_one_asked_for(self, results: str) -> None:
        found = requests.get(f"{results}/both").json()["results"]
        assert sorted(result["label"] for result in found) == ["exact", "true-false"]
        (only,) = requests.get(f"{results}/both?label=exact").json()["results"]
        assert only["grader"] == "string-match"
        answer = requests.get(f"{results}/both?label=loop")
        assert problem(answer) == (404, "NO_SUCH_RESULT")
        assert "exact" in answer.json()["hint"]

    @pytest.mark.parametrize(
        "custom_id", ["c1000", "", "%00", "%ff", "x" * 5000, "%2e%2e%2fc1", "{}"]
    )
    def test_an_unknown_id_is_not_found(self, results: str, custom_id: str) -> None:
        assert problem(requests.get(f"{results}/{custom_id}")) == (404, "NO_SUCH_RESULT")

    def test_one_that_is_not_finished_is_not_there_yet(self, own_server: EmbeddedServer) -> None:
        with HttpServer(own_server.url) as service:
            batch = upload(service.url, lines_of(true_false_cases(3))).json()["batch_id"]
            answer = requests.get(f"{service.url}/api/batches/{batch}/results/c1")
        assert problem(answer) == (404, "NO_SUCH_RESULT")
        assert "is not finished" in answer.json()["detail"]


class TestStreams:
    def test_all_results_pass_through_as_they_lie_in_the_store(
        self, results: str, client: Client
    ) -> None:
        batch = client.batch(results.split("/")[-2])
        stored = b"".join(page.lines for page in batch.pages(follow=False))
        assert requests.get(f"{results}?format=ndjson").content == stored

    def test_a_cursor_of_a_page_goes_on_as_a_stream(self, results: str) -> None:
        page = requests.get(results, params={"limit": 10}).json()
        rest = stream(results, cursor=page["next_cursor"])
        assert page["results"] + rest == stream(results)

    @pytest.mark.parametrize("query", [{}, {"verdict": "fail"}, {"grader": "true-false"}])
    def test_to_follow_is_to_get_every_result_once(
        self, service: HttpServer, client: Client, worker: WorkerProcess, query: dict[str, str]
    ) -> None:
        cases = lines_of(true_false_cases(8_000))
        batch = upload(service.url, cases).json()["batch_id"]
        address = f"{service.url}/api/batches/{batch}/results"
        found = stream(address, follow="true", **query)
        assert client.batch(batch).status().status.final
        assert len(ids(found)) == len(set(ids(found)))
        assert len(found) == (2_667 if query.get("verdict") else 8_000)

    def test_one_of_a_retried_batch_has_every_line_though_each_page_is_read_anew(
        self, own_server: EmbeddedServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(result_stream, "_LARGE_BYTES", 0)
        with HttpServer(own_server.url, chunk_limit_jobs=10) as service:
            store = service.service.client.store
            batch = service.service.client.batch(
                upload(service.url, lines_of(true_false_cases(35))).json()["batch_id"]
            )
            grade_open_chunks(store, batch.id, most=1)
            batch.cancel()
            batch.retry()
            grade_open_chunks(store, batch.id)
            address = f"{service.url}/api/batches/{batch.id}/results"
            answer = requests.get(address, params={"format": "ndjson"})
        found = [orjson.loads(line)["line"] for line in answer.content.splitlines()]
        assert sorted(found) == list(range(1, 36))

    def test_one_goes_on_behind_a_chunk_whose_lines_were_sent_before(
        self, own_server: EmbeddedServer
    ) -> None:
        with HttpServer(own_server.url, chunk_limit_jobs=10) as service:
            store = service.service.client.store
            batch_id = upload(service.url, lines_of(true_false_cases(35))).json()["batch_id"]
            grade_open_chunks(store, batch_id, most=1)
            # Simulates a rollback of the server, after which the same lines are recorded again.
            (entry,) = store.read_log(batch_id, "", 0)
            again = {"chunk": entry.chunk, "after": entry.position, "epoch": 0}
            last = store.redis.xadd(f"wb:{{{batch_id}}}:log", again)
            store.redis.hset(f"wb:{{{batch_id}}}:meta", "last", last)
            grade_open_chunks(store, batch_id)
            address = f"{service.url}/api/batches/{batch_id}/results"
            answer = requests.get(address, params={"format": "ndjson"})
        found = [orjson.loads(line)["line"] for line in answer.content.splitlines()]
        assert sorted(found) == list(range(1, 36))

    @pytest.mark.slow
    @pytest.mark.parametrize("filtered", ["", "&verdict=pass"])
    def test_one_whose_batch_is_deleted_breaks_off(
        self, own_server: EmbeddedServer, start_worker: StartWorker, filtered: str
    ) -> None:
        start_worker(own_server.url)
        with HttpServer(own_server.url) as service:
            cases = lines_of([*true_false_cases(100), hazard_case("slow", "sleeps", expected=60)])
            batch = upload(service.url, cases).json()["batch_id"]
            handle = service.service.client.batch(batch)
            address = f"{service.url}/api/batches/{batch}/results?format=ndjson&follow=true"
            with requests.stream("GET", address + filtered, timeout=60) as answer:
                pieces = answer.iter_bytes()
                assert next(pieces)
                handle.delete()
                with pytest.raises(httpx.RemoteProtocolError):
                    list(pieces)

    @pytest.mark.slow
    def test_one_that_missed_chunks_of_a_retry_breaks_off(
        self, own_server: EmbeddedServer, start_worker: StartWorker, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        start_worker(own_server.url)
        with HttpServer(own_server.url) as service:
            cases = lines_of([*true_false_cases(3_000), hazard_case("bad", "no-such")])
            batch = upload(service.url, cases).json()["batch_id"]
            handle = service.service.client.batch(batch)
            handle.wait(60)
            monkeypatch.setattr(result_stream, "_LINES_AT_ONCE", 10)
            address = f"{service.url}/api/batches/{batch}/results?format=ndjson&verdict=pass"
            with requests.stream("GET", address, timeout=60) as answer:
                pieces = answer.iter_bytes()
                assert next(pieces)
                assert handle.retry() == 1
                with pytest.raises(httpx.RemoteProtocolError):
                    list(pieces)

    def test_one_that_follows_breaks_off_when_the_service_stops(
        self, own_server: EmbeddedServer
    ) -> None:
        service = HttpServer(own_server.url)
        with service:
            batch = upload(service.url, lines_of(true_false_cases(3))).json()["batch_id"]
            address = f"{service.url}/api/batches/{batch}/results?format=ndjson&follow=true"
            client = httpx.Client(verify=False, timeout=60)
            request = client.build_request("GET", address)
            answer = client.send(request, stream=True)
            assert answer.status_code == 200
            began = time.monotonic()
        assert time.monotonic() - began < GRACE_SECONDS  # after which everything is broken off
        with pytest.raises(httpx.RemoteProtocolError):
            answer.read()
        client.close()


@pytest.mark.parametrize(
    ("form", "media_type", "begins"),
    [
        ("jsonl", "application/x-ndjson", b'{"custom_id":"'),
        ("csv", "text/csv; charset=utf-8", b'"custom_id","line","label"'),
        ("tsv", "text/tab-separated-values; charset=utf-8", b"custom_id\tline\tlabel"),
        ("md", "text/markdown; charset=utf-8", b"## Weighbridge: `wb_"),
        ("html", "text/html; charset=utf-8", b"<!doctype html>"),
        ("junit", "application/xml", b"<?xml version="),
        ("parquet", "application/vnd.apache.parquet", b"PAR1"),
        ("otel", "application/x-ndjson", b'{"resourceLogs":'),
    ],
)
def test_results_are_answered_as_a_file_of_each_form(
    results: str, form: str, media_type: str, begins: bytes
) -> None:
    answer = requests.get(results, params={"format": form, "verdict": "fail"}, timeout=60)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == media_type
    assert answer.headers["content-disposition"].startswith('attachment; filename="wb_')
    assert answer.content.startswith(begins)
    assert b"boolean_match: false negative" in answer.content or form in {"jsonl", "parquet"}


def test_a_table_of_cases_has_a_row_for_each(results: str) -> None:
    query = {"format": "csv", "cases": "true", "custom_id": "both"}
    answer = requests.get(results, params=query, timeout=60)
    head, row, *rest = answer.text.splitlines()
    assert '"exact.verdict"' in head
    assert '"true-false.verdict"' in head
    assert row.startswith('"both"')
    assert rest == []


@pytest.mark.parametrize("form", ["json", "ndjson", "parquet", "md"])
def test_only_tables_have_rows_of_cases(results: str, form: str) -> None:
    answer = requests.get(results, params={"format": form, "cases": "true"}, timeout=60)
    assert answer.status_code == 422
    assert "format=csv" in answer.json()["hint"]


def test_only_lines_are_marked(results: str) -> None:
    answer = requests.get(results, params={"format": "csv", "marked": "true"}, timeout=60)
    assert answer.status_code == 422
    assert "format=ndjson" in answer.json()["hint"]
