"""The Python client over HTTP, where there is something between it and the store: keys, limits, cut lines, restarts."""

from __future__ import annotations

import threading
import time
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Self

import orjson
import pytest

from support.cases import assert_graded_right, results_by_id, true_false_cases, write_cases
from support.cutting import CuttingProxy
from support.grading import grade_open_chunks
from support.http import HttpServer
from support.servers import free_port
from support.waiting import eventually
from weighbridge.errors import (
    KeyRefusedError,
    KeyRequiredError,
    RateLimitedError,
    RefusedError,
    RoleTooLowError,
    ServerError,
    ServerFullError,
    ServerUnavailableError,
    UnknownGraderError,
)
from weighbridge.jobs.batch_state import BatchStatus
from weighbridge.jobs.outcome import Counts
from weighbridge_producer import Client

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from support.workers import WorkerProcess
    from weighbridge.embedded.server import EmbeddedServer


@pytest.fixture
def service(server: EmbeddedServer) -> Iterator[HttpServer]:
    with HttpServer(server.url, chunk_limit_jobs=100) as service:
        yield service


@pytest.fixture
def proxy(service: HttpServer) -> Iterator[CuttingProxy]:
    with CuttingProxy(service.port) as proxy:
        yield proxy


class TestKeys:
    @pytest.fixture
    def locked(self, server: EmbeddedServer) -> Iterator[HttpServer]:
        with HttpServer(server.url, keys_required=True) as service:
            yield service

    def test_without_a_key_the_error_says_how_to_get_one(self, locked: HttpServer) -> None:
        with (
            Client(locked.url) as client,
            pytest.raises(KeyRequiredError, match="weighbridge keys make"),
        ):
            client.batches()

    def test_a_key_that_nobody_made_is_refused(self, locked: HttpServer) -> None:
        with Client(locked.url, key="wbk_0_0") as client, pytest.raises(KeyRefusedError):
            client.batches()

    def test_a_key_lets_do_what_its_role_allows_and_no_more(self, locked: HttpServer) -> None:
        with Client(locked.url, key=locked.make_key("read")) as reader:
            assert reader.graders()
            with pytest.raises(RoleTooLowError, match="this needs 'submit'"):
                reader.submit(true_false_cases(3))
        with Client(locked.url, key=locked.make_key("submit")) as submitter:
            batch = submitter.submit(true_false_cases(3))
            with pytest.raises(RoleTooLowError, match="this needs 'manage'"):
                batch.delete()
        with Client(locked.url, key=locked.make_key("admin")) as admin:
            assert admin.batch(batch.id).delete()

    def test_the_key_may_stand_in_the_environment(
        self, locked: HttpServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("WEIGHBRIDGE_URL", locked.url)
        monkeypatch.setenv("WEIGHBRIDGE_API_KEY", key := locked.make_key("read"))
        with Client() as client:
            assert isinstance(client.batches(), list)
            assert key not in repr(client.settings)


class TestAddresses:
    def test_where_nothing_listens_the_error_comes_within_seconds(self) -> None:
        began = time.monotonic()
        with (
            Client(f"http://127.0.0.1:{free_port()}") as client,
            pytest.raises(ServerUnavailableError, match=r"nothing answers.*weighbridge serve"),
        ):
            client.batches()
        assert time.monotonic() - began < 6

    @pytest.mark.parametrize(
        "url", ["http://", "http://:80", "https:///path", "http://h\x00", "http://h:x"]
    )
    def test_what_is_no_url_is_refused_at_once(self, url: str) -> None:
        with pytest.raises(ServerError, match="is not the URL"), Client(url) as client:
            client.batches()

    def test_a_password_in_the_url_is_not_shown(self) -> None:
        with (
            Client(f"http://user:secret@127.0.0.1:{free_port()}") as client,
            pytest.raises(ServerUnavailableError) as raised,
        ):
            client.batches()
        assert "secret" not in str(raised.value)

    def test_another_web_server_is_told_from_a_service(self) -> None:
        answer = {"status": 200, "body": b"<html>hello</html>"}
        with (
            Script(answer) as script,
            Client(script.url) as client,
            pytest.raises(ServerError, match=r"cannot be read.*<html>hello"),
        ):
            client.batches()

    def test_an_address_with_a_line_break_is_nobodys(self, service: HttpServer) -> None:
        with Client(service.url) as client:
            batch = client.submit(true_false_cases(3))
            with pytest.raises(RefusedError, match="line breaks"):
                batch.case("c1\n")


def test_a_submission_that_is_refused_is_not_read_to_its_end(service: HttpServer) -> None:
    given = 0

    def cases() -> Iterator[dict[str, Any]]:
        nonlocal given
        for case in true_false_cases(300_000):
            given += 1
            yield case

    with Client(service.url) as client, pytest.raises(UnknownGraderError, match="no grader 'nope'"):
        client.submit(cases(), graders=["nope"])
    assert given < 150_000


def test_cases_are_not_begun_for_a_service_that_is_away() -> None:
    cases = true_false_cases(3)
    with (
        Client(f"http://127.0.0.1:{free_port()}") as client,
        pytest.raises(ServerUnavailableError, match="nothing answers"),
    ):
        client.submit(cases)
    assert len(list(cases)) == 3


class TestCutLines:
    @pytest.mark.parametrize("after_bytes", [1, 30_000, 200_000])
    def test_an_upload_that_is_cut_off_goes_on_and_every_case_is_graded_once(
        self, proxy: CuttingProxy, worker: WorkerProcess, tmp_path: Path, after_bytes: int
    ) -> None:
        path = write_cases(tmp_path / "cases.jsonl", true_false_cases(5000))
        proxy.cut_upload(after_bytes)
        proxy.cut_upload(after_bytes + 100_000)
        with Client(proxy.url) as client:
            before = {state.batch_id for state in client.batches()}
            batch = client.submit(path)
            assert proxy.cuts == 2
            batch.wait(60)
            assert_graded_right(results_by_id(batch), 5000)
            assert {state.batch_id for state in client.batches()} - before == {batch.id}

    def test_a_lost_answer_to_an_upload_makes_no_second_batch(
        self, proxy: CuttingProxy, worker: WorkerProcess, tmp_path: Path
    ) -> None:
        path = write_cases(tmp_path / "cases.jsonl", true_false_cases(500))
        with Client(proxy.url) as client:
            before = {state.batch_id for state in client.batches()}
        proxy.cut_download(1)
        with Client(proxy.url) as client:
            batch = client.submit(path)
            assert proxy.cuts == 1
            batch.wait(60)
            assert_graded_right(results_by_id(batch), 500)
            assert {state.batch_id for state in client.batches()} - before == {batch.id}

    def test_cases_that_can_be_read_only_once_are_not_sent_in_part(
        self, proxy: CuttingProxy, own_server: EmbeddedServer
    ) -> None:
        proxy.cut_upload(200_000)
        with Client(proxy.url) as client:
            before = {state.batch_id for state in client.batches()}
            with pytest.raises(ServerUnavailableError, match="was lost"):
                client.submit(true_false_cases(5000))

            def ended() -> list[BatchStatus]:
                found = [state for state in client.batches() if state.batch_id not in before]
                return [state.status for state in found if state.status.final]

            assert eventually(ended, 20, "the end of what had been begun") == [BatchStatus.FAILED]

    def test_results_whose_line_is_cut_come_each_once(
        self, proxy: CuttingProxy, worker: WorkerProcess
    ) -> None:
        with Client(proxy.url) as client:
            batch = client.submit(true_false_cases(5000))
            for after_bytes in (1, 100_000, 400_000, 800_000):
                proxy.cut_download(after_bytes)
            received = [result["custom_id"] for result in batch.results()]
            assert proxy.cuts == 4
        assert sorted(received) == sorted(f"c{number}" for number in range(5000))


class TestRestarts:
    def test_waiting_and_following_outlive_a_restart_of_the_service(
        self, own_server: EmbeddedServer
    ) -> None:
        came: dict[str, Any] = {}
        with ExitStack() as stack:
            with HttpServer(own_server.url, chunk_limit_jobs=100) as first:
                proxy = stack.enter_context(CuttingProxy(first.port))
                client = stack.enter_context(Client(proxy.url))
                batch = client.submit(true_false_cases(300))

                def follow() -> None:
                    came["results"] = [result["custom_id"] for result in batch.results()]

                def wait() -> None:
                    came["state"] = batch.wait(60)

                threads = [threading.Thread(target=work) for work in (follow, wait)]
                for thread in threads:
                    thread.start()
                grade_open_chunks(first.service.client.store, batch.id, most=1)
            second = stack.enter_context(HttpServer(own_server.url))
            proxy.port = second.port
            grade_open_chunks(second.service.client.store, batch.id)
            for thread in threads:
                thread.join(60)
        assert came["state"].status is BatchStatus.COMPLETED
        assert sorted(came["results"]) == sorted(f"c{number}" for number in range(300))


class Script:
    """A web server with scripted responses, the last of which it repeats."""

    def __init__(self, *answers: dict[str, Any]) -> None:
        self.requests: list[str] = []
        script = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                script.requests.append(f"{self.command} {self.path}")
                answer = answers[min(len(script.requests), len(answers)) - 1]
                body = answer["body"]
                self.send_response(answer["status"])
                for name, value in answer.get("headers", {}).items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_POST = do_GET  # noqa: N815 - the name that http.server looks for

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def refusal(status: int, code: str, **headers: str) -> dict[str, Any]:
    body = {"code": code, "detail": "not now", "hint": "later"}
    shown = {name.replace("_", "-"): value for name, value in headers.items()}
    return {"status": status, "body": orjson.dumps(body), "headers": shown}


NO_WORKERS = {"status": 200, "body": b'{"workers":[]}'}


class TestBusyServices:
    @pytest.mark.parametrize(
        "answer",
        [
            refusal(429, "RATE_LIMITED", Retry_After="1"),
            refusal(503, "REDIS_UNAVAILABLE", Retry_After="1"),
        ],
    )
    def test_a_service_that_says_when_to_come_back_is_asked_again_then(
        self, answer: dict[str, Any]
    ) -> None:
        began = time.monotonic()
        with Script(answer, answer, NO_WORKERS) as script, Client(script.url) as client:
            assert client.workers() == []
            assert len(script.requests) == 3
        assert time.monotonic() - began >= 2

    def test_a_service_that_is_limited_for_long_is_not_waited_for(self) -> None:
        answer = refusal(429, "RATE_LIMITED", Retry_After="3600")
        with Script(answer) as script, Client(script.url) as client:
            with pytest.raises(RateLimitedError, match="not now") as raised:
                client.workers()
            assert raised.value.retry_after_seconds == 3600
            assert len(script.requests) == 1

    def test_a_refusal_without_a_time_is_not_asked_for_twice(self) -> None:
        with Script(refusal(507, "REDIS_FULL")) as script, Client(script.url) as client:
            with pytest.raises(ServerFullError):
                client.workers()
            assert len(script.requests) == 1

    def test_a_retry_that_may_have_been_made_is_not_made_twice(self) -> None:
        unavailable = refusal(503, "REDIS_UNAVAILABLE", Retry_After="1")
        with Script(unavailable) as script, Client(script.url) as client:
            with pytest.raises(ServerUnavailableError):
                client.batch("wb_x").retry()
            assert len(script.requests) == 1

    def test_waiting_without_events_looks_now_and_then(self) -> None:
        state = {"status": 200, "body": orjson.dumps(STATE)}
        busy = refusal(503, "TOO_MANY_LISTENERS", Retry_After="5")
        ended = {"status": 200, "body": orjson.dumps(STATE | {"status": "completed"})}
        answers = [state, busy, state, busy, state, busy, ended]
        began = time.monotonic()
        with Script(*answers) as script, Client(script.url) as client:
            assert client.batch("wb_x").wait(60).status is BatchStatus.COMPLETED
            assert len(script.requests) == len(answers)
        assert 0.5 < time.monotonic() - began < 10


STATE = {
    "batch_id": "wb_x",
    "status": "in_progress",
    "closing": None,
    "reason": "",
    "paused": False,
    "arrived_at": 1,
    "counts": Counts(total=3).as_dict(),
    "created_at": 1,
    "expires_at": 2,
    "ended_at": None,
    "sealed": True,
    "chunks": 1,
    "lines": 3,
    "input_bytes": 9,
    "duplicates": 0,
    "nondeterministic": 0,
    "grading_seconds": 0,
    "epoch": 0,
}
