"""Uploads through the real service: every form of body, every kind of damage, every limit."""

from __future__ import annotations

import gzip
import io
import os
import threading
from typing import TYPE_CHECKING
from urllib.parse import quote

import orjson
import pytest
import zstandard

from support import requests
from support.cases import assert_counts_agree, results_by_id, true_false_cases
from support.http import HttpServer
from support.resident import Growth
from support.uploads import NDJSON, HalfUpload, lines_of, problem, upload
from support.waiting import eventually
from weighbridge.jobs.batch_state import BatchStatus
from weighbridge.settings import MIB

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from support.workers import WorkerProcess
    from weighbridge.embedded.server import EmbeddedServer
    from weighbridge_producer.client.redis_client import RedisClient

CASES = lines_of(true_false_cases(3_000))
NO_GRADER = lines_of(
    {"custom_id": f"n{n}", "inputs": {"agent_response": "yes", "expected_output": "true"}}
    for n in range(3)
)


def zstd(body: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(body)


@pytest.fixture(scope="module")
def service(server: EmbeddedServer) -> Iterator[HttpServer]:
    with HttpServer(server.url, upload_limit_bytes=MIB, uploads_at_once=3) as service:
        yield service


class TestBodies:
    @pytest.mark.parametrize("packed", [bytes, gzip.compress, zstd])
    def test_json_lines_become_a_sealed_batch_however_they_are_packed(
        self,
        service: HttpServer,
        client: RedisClient,
        worker: WorkerProcess,
        packed: Callable[[bytes], bytes],
    ) -> None:
        answer = upload(service.url, packed(CASES))
        assert answer.status_code == 201
        state = answer.json()
        assert (state["sealed"], state["lines"], state["counts"]["total"]) == (True, 3_000, 3_000)
        assert answer.headers["location"] == f"/api/batches/{state['batch_id']}"
        batch = client.batch(state["batch_id"])
        assert batch.wait(60).status == BatchStatus.COMPLETED
        assert len(results_by_id(batch)) == 3_000

    @pytest.mark.parametrize(("encoding", "packed"), [("gzip", gzip.compress), ("zstd", zstd)])
    def test_a_content_encoding_says_the_same_as_the_bytes(
        self, service: HttpServer, encoding: str, packed: Callable[[bytes], bytes]
    ) -> None:
        answer = upload(service.url, packed(CASES), content_encoding=encoding)
        assert answer.json()["lines"] == 3_000

    def test_a_form_brings_graders_metadata_and_a_file(
        self, service: HttpServer, client: RedisClient, worker: WorkerProcess
    ) -> None:
        answer = requests.post(
            f"{service.url}/api/batches",
            data={
                "graders": '[{"grader": "true-false", "label": "strictly"}]',
                "grader": "string-match",
                "metadata": '{"run": "7"}',
            },
            files={"file": ("C:\\runs\\cases.jsonl", gzip.compress(NO_GRADER))},
            timeout=60,
        )
        assert answer.status_code == 201
        batch = client.batch(answer.json()["batch_id"])
        assert batch.wait(60).counts.total == 6
        options = batch.options()
        assert [spec.label for spec in options.graders] == ["strictly", "string-match"]
        assert (options.source, options.metadata) == ("cases.jsonl", {"run": "7"})

    def test_a_form_is_read_whatever_pieces_it_comes_in(self, service: HttpServer) -> None:
        body = (
            b'--b\r\nContent-Disposition: form-data; name="grader"\r\n\r\ntrue-false\r\n'
            b'--b\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n'
            + NO_GRADER
            + b"\r\n--b--\r\n"
        )
        kind = "multipart/form-data; boundary=b"
        with HalfUpload(service.port, content_type=kind) as half:
            for at in range(len(body)):
                half.send(body[at : at + 1])
            half.finish()
            status, answer = half.answer()
        assert status == 201
        assert orjson.loads(answer)["lines"] == 3

    def test_graders_are_named_in_the_query_or_in_headers(
        self, service: HttpServer, client: RedisClient
    ) -> None:
        query = "?grader=true-false&grader=string-match&source=run%207.jsonl"
        by_query = upload(service.url, NO_GRADER, query).json()["batch_id"]
        options = client.batch(by_query).options()
        assert [spec.grader for spec in options.graders] == ["true-false", "string-match"]
        assert options.source == "run 7.jsonl"
        graders = '[{"grader": "budget", "config": {"max_steps": 3}, "label": "short"}]'
        by_header = upload(
            service.url, NO_GRADER, weighbridge_graders=graders, weighbridge_metadata='{"a": "b"}'
        ).json()["batch_id"]
        options = client.batch(by_header).options()
        assert [spec.as_dict() for spec in options.graders] == orjson.loads(graders)
        assert options.metadata == {"a": "b"}

    @pytest.mark.parametrize("body", [b"", b"\n \n"])
    def test_a_body_without_a_line_is_refused_and_leaves_no_batch(
        self, service: HttpServer, client: RedisClient, body: bytes
    ) -> None:
        before, key = set(client.store.batches()), f"nothing-{len(body)}"
        for _ in range(2):
            answer = upload(service.url, body, idempotency_key=key)
            assert (answer.status_code, answer.json()["code"]) == (422, "NO_CASES")
        assert set(client.store.batches()) == before

    @pytest.mark.parametrize("settings", [{}, {"chunk_limit_jobs": 5}], ids=["one chunk", "chunks"])
    def test_cases_without_any_grader_are_refused_and_leave_no_batch(
        self, server: EmbeddedServer, client: RedisClient, settings: dict[str, int]
    ) -> None:
        case = orjson.loads(NO_GRADER.splitlines()[0])
        body = lines_of(case | {"custom_id": f"c{number}"} for number in range(150))
        before = set(client.store.batches())
        with HttpServer(server.url, **settings) as service:
            for text, told in ((NO_GRADER, "the first 3 cases"), (body, "the first 100 cases")):
                for _ in range(2):
                    answer = upload(service.url, text, idempotency_key=f"none-{len(text)}")
                    assert (answer.status_code, answer.json()["code"]) == (422, "NO_GRADER")
                    assert (
                        f"the request names none, and {told} name none" in answer.json()["detail"]
                    )
            assert set(client.store.batches()) == before
            ran = upload(service.url, NO_GRADER + lines_of(true_false_cases(1)))
            assert ran.status_code == 201
            assert upload(service.url, NO_GRADER, "?grader=true-false").status_code == 201

    def test_the_body_never_lies_in_memory_as_a_whole(
        self, server: EmbeddedServer, client: RedisClient
    ) -> None:
        line = lines_of(true_false_cases(1)).rstrip()[:-1] + b',"metadata":{"pad":"%b"}}\n'
        pieces = (line.replace(b"c0", b"c%d" % n) % (b"x" * 50_000) for n in range(2_000))
        with HttpServer(server.url) as service:
            upload(service.url, CASES)  # loads everything that is loaded only once
            with Growth(os.getpid()) as growth:
                answer = requests.post(
                    f"{service.url}/api/batches", content=pieces, headers=NDJSON, timeout=60
                )
        assert answer.json()["input_bytes"] > 100_000_000
        assert growth.most < 40 * MIB
        client.batch(answer.json()["batch_id"]).delete()


class TestBadLines:
    def test_they_are_errored_jobs_with_their_line_and_code(
        self, service: HttpServer, client: RedisClient, worker: WorkerProcess
    ) -> None:
        body = CASES[:-1] + b"\n{not json}\n\xff\n" + lines_of(true_false_cases(1)) * 2
        batch = client.batch(upload(service.url, body).json()["batch_id"])
        state = batch.wait(60)
        results = list(batch.results(follow=False))
        assert_counts_agree(state, results)
        errors = {r["line"]: r["error"]["code"] for r in results if r["error"]}
        assert errors == {3_001: "INVALID_JSON", 3_002: "INVALID_UTF8"}
        assert state.duplicates == 2

    @pytest.mark.parametrize("packed", [gzip.compress, zstd])
    def test_an_archive_that_ends_early_is_one_of_them(
        self,
        service: HttpServer,
        client: RedisClient,
        worker: WorkerProcess,
        packed: Callable[[bytes], bytes],
    ) -> None:
        whole = packed(CASES)
        batch = client.batch(upload(service.url, whole[: len(whole) // 2]).json()["batch_id"])
        batch.wait(60)
        errors = [r["error"]["code"] for r in batch.results(follow=False) if r["error"]]
        assert "INPUT_TRUNCATED" in errors

    def test_a_bomb_is_not_read_to_its_end(
        self, service: HttpServer, client: RedisClient, worker: WorkerProcess
    ) -> None:
        bomb = gzip.compress(b" " * 40 * MIB)
        batch = client.batch(upload(service.url, bomb).json()["batch_id"])
        assert batch.wait(60).status == BatchStatus.COMPLETED
        (result,) = batch.results(follow=False)
        assert result["error"]["code"] == "INPUT_TOO_LARGE"

    def test_strictly_they_refuse_everything_before_anything_is_submitted(
        self, service: HttpServer, client: RedisClient
    ) -> None:
        before = client.store.batches()
        answer = upload(service.url, CASES + b"{not json}\n", "?strict=true")
        assert problem(answer) == (422, "INPUT_INVALID")
        assert "line 3001: INVALID_JSON" in answer.json()["detail"]
        assert client.store.batches() == before
        assert upload(service.url, CASES, "?strict=true").json()["lines"] == 3_000


class TestRefusals:
    @pytest.mark.parametrize(
        ("query", "code", "said"),
        [
            ("?grader=true-fals", "UNKNOWN_GRADER", "did you mean 'true-false'"),
            ("?grader=", "INVALID_CONFIG", "empty"),
            ("?grader=budget", "INVALID_CONFIG", "limit"),
            ("?graders=[1]", "INVALID_CONFIG", "'graders.0' must be a grader's id"),
            ("?graders={", "INVALID_REQUEST", "graders is not JSON"),
            ("?graders=" + "[" * 500, "INVALID_REQUEST", "graders is not JSON"),
            (
                '?graders=[{"grader":"budget","config":{"max_steps":1e999}}]',
                "INVALID_REQUEST",
                "64 bits",
            ),
            (
                '?graders=[{"grader":"budget","config":{"max_step":1}}]',
                "INVALID_CONFIG",
                "max_step",
            ),
            ("?grader=loop&grader=loop", "INVALID_CONFIG", "labelled 'loop'"),
            ("?" + "&".join(f"grader=g{n}" for n in range(65)), "INVALID_CONFIG", "at most 64"),
            ("?metadata=[]", "INVALID_REQUEST", "object of strings"),
            ('?metadata={"a":1}', "INVALID_REQUEST", "object of strings"),
            ('?metadata={"a":"\\ud800"}', "INVALID_REQUEST", "JSON"),
            ("?strict=perhaps", "INVALID_REQUEST", "true or false"),
            ("?gradr=loop", "INVALID_REQUEST", "did you mean 'grader'"),
        ],
    )
    def test_what_is_asked_for_and_makes_no_sense_is_refused(
        self, service: HttpServer, client: RedisClient, query: str, code: str, said: str
    ) -> None:
        before = client.store.batches()
        answer = upload(service.url, CASES, query)
        assert problem(answer) == (422, code)
        assert said in answer.json()["detail"]
        assert client.store.batches() == before

    @pytest.mark.parametrize("kind", ["text/csv", "text/csv; charset=utf-8"])
    def test_rows_may_be_sent_with_the_type_of_a_table(
        self, service: HttpServer, kind: str
    ) -> None:
        query = "?grader=string-match&mapping=custom_id%3Did,agent_response%3Da,expected_output%3Db"
        answer = upload(service.url, b"id,a,b\nq1,x,x\nq2,y,y\n", query, content_type=kind)
        assert (answer.status_code, answer.json()["counts"]["total"]) == (201, 2)

    @pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
    def test_a_column_that_a_table_does_not_have_is_refused(
        self, service: HttpServer, client: RedisClient, pack: Callable[[bytes], bytes]
    ) -> None:
        before = client.store.batches()
        mapped = "custom_id=@row,agent_response=answr,expected_output=gold|b"
        query = f"?grader=string-match&mapping={quote(mapped)}"
        answer = upload(service.url, pack(b"id,answer,b\nq1,x,x\n"), query, content_type="text/csv")
        assert problem(answer) == (422, "INVALID_MAPPING")
        assert (
            "'answr', which agent_response is mapped to; did you mean 'answer'?"
            in answer.json()["detail"]
        )
        assert client.store.batches() == before
        # A field that the first line of JSON lacks may be in a later one.
        lines = pack(b'{"b": "x"}\n{"answr": "x", "b": "x"}\n')
        assert upload(service.url, lines, query).json()["counts"]["total"] == 2

    def test_a_damaged_table_with_a_mapping_is_told_by_its_lines(self, service: HttpServer) -> None:
        query = "?grader=string-match&mapping=custom_id%3Did,agent_response%3Da,expected_output%3Db"
        table = b"id,a,b\n" + b"".join(b"q%d,x,x\n" % n for n in range(3_000))
        bodies = (gzip.compress(table)[:-9], b"\x1f\x8b damaged", b"id,a,b\n")
        found = [upload(service.url, body, query, content_type="text/csv") for body in bodies]
        assert [answer.status_code for answer in found] == [201, 201, 422]
        assert problem(found[2]) == (422, "NO_CASES")

    def test_a_table_may_lack_a_header_and_have_an_encoding(self, service: HttpServer) -> None:
        mapping = "mapping=custom_id%3D1,agent_response%3D2,expected_output%3D3"
        query = f"?grader=string-match&{mapping}&header=false&encoding=cp1250&strict=true"
        answer = upload(
            service.url, "1,ő,ő\n2,b,b\n".encode("cp1250"), query, content_type="text/csv"
        )
        assert (answer.status_code, answer.json()["counts"]["total"]) == (201, 2)

    def test_the_line_of_a_tables_header_may_be_given(self, service: HttpServer) -> None:
        mapping = "mapping=custom_id%3Da,agent_response%3Db,expected_output%3Dc"
        query = f"?grader=string-match&{mapping}&header_line=2&strict=true"
        answer = upload(service.url, b"x,y,z\na,b,c\n1,r,r\n", query, content_type="text/csv")
        assert (answer.status_code, answer.json()["counts"]["total"]) == (201, 1)
        for wrong in ("header_line=0", "header_line=x", "header_line=2&header=false"):
            query = f"?grader=string-match&{mapping}&{wrong}"
            answer = upload(service.url, b"x,y,z\na,b,c\n", query, content_type="text/csv")
            assert problem(answer) == (422, "INVALID_REQUEST")

    @pytest.mark.parametrize("query", ["header=false", "encoding=cp1252", "header_line=2"])
    def test_what_is_said_of_tables_needs_a_mapping(self, service: HttpServer, query: str) -> None:
        answer = upload(service.url, CASES, f"?grader=string-match&{query}")
        assert problem(answer) == (422, "INVALID_REQUEST")
        assert "which are read with a mapping" in answer.json()["detail"]

    @pytest.mark.parametrize(
        "kind", ["application/x-www-form-urlencoded", "text/html", "image/png", "nonsense"]
    )
    def test_another_type_of_body_is_told_what_would_work(
        self, service: HttpServer, kind: str
    ) -> None:
        answer = upload(service.url, CASES, content_type=kind)
        assert problem(answer) == (415, "UNSUPPORTED_MEDIA_TYPE")
        assert "application/x-ndjson" in answer.json()["hint"]

    def test_another_encoding_is_told_what_would_work(self, service: HttpServer) -> None:
        answer = upload(service.url, CASES, content_encoding="br")
        assert problem(answer) == (415, "UNSUPPORTED_ENCODING")
        assert answer.headers["accept-encoding"] == "gzip, zstd"

    @pytest.mark.parametrize(
        ("fields", "status", "code"),
        [
            ([("file", "f", NO_GRADER), ("grader", None, b"true-false")], 422, "FORM_FIELD"),
            ([("file", "f", NO_GRADER), ("file", "g", NO_GRADER)], 422, "FORM_FIELD"),
            ([("grader", None, b"true-false")], 422, "FORM_FIELD"),
            ([("file", "", b"")], 422, "FORM_FIELD"),
            ([("gradr", None, b"loop"), ("file", "f", b"")], 422, "FORM_FIELD"),
            ([("grader", None, b"\xff"), ("file", "f", b"")], 422, "UNKNOWN_GRADER"),
            ([("metadata", None, b"x" * 17 * MIB)], 413, "UPLOAD_TOO_LARGE"),
        ],
    )
    def test_a_form_that_makes_no_sense_is_refused(
        self,
        service: HttpServer,
        fields: list[tuple[str, str | None, bytes]],
        status: int,
        code: str,
    ) -> None:
        parts = [
            b'--b\r\nContent-Disposition: form-data; name="%b"%b\r\n\r\n%b\r\n'
            % (name.encode(), b'; filename="%b"' % file.encode() if file is not None else b"", data)
            for name, file, data in fields
        ]
        body = b"".join([*parts, b"--b--\r\n"])
        answer = upload(service.url, body, content_type="multipart/form-data; boundary=b")
        assert problem(answer) == (status, code)

    @pytest.mark.parametrize(
        ("kind", "body"),
        [
            ("multipart/form-data", b"--b\r\n"),
            ("multipart/form-data; boundary=" + "b" * 500, b"--b\r\n"),
            ("multipart/form-data; boundary=b", b"no form at all"),
            ("multipart/form-data; boundary=b", b"--b\r\nno header\r\n\r\n"),
            (
                "multipart/form-data; boundary=b",
                b'--b\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n{}\n',
            ),
            ("multipart/form-data; boundary=b", b"--b\r\nX: " + b"y" * 10_000),
            ("multipart/form-data; boundary=b", b""),
        ],
    )
    def test_a_broken_form_is_a_bad_request(
        self, service: HttpServer, kind: str, body: bytes
    ) -> None:
        assert problem(upload(service.url, body, content_type=kind)) == (400, "INVALID_FORM")


class TestLimits:
    def test_a_body_that_says_it_is_too_large_is_refused_before_it_is_sent(
        self, service: HttpServer
    ) -> None:
        with HalfUpload(service.port, length=MIB + 1) as half:
            status, body = half.answer()
        assert (status, orjson.loads(body)["code"]) == (413, "UPLOAD_TOO_LARGE")

    def test_a_body_that_grows_too_large_ends_its_batch_as_failed(
        self, service: HttpServer, client: RedisClient, worker: WorkerProcess
    ) -> None:
        before = set(client.store.batches())

        def growing() -> Iterator[bytes]:
            yield CASES
            eventually(lambda: set(client.store.batches()) - before, 30, "the batch")
            yield from [CASES] * 4

        answer = requests.post(
            f"{service.url}/api/batches", content=growing(), headers=NDJSON, timeout=60
        )
        assert problem(answer) == (413, "UPLOAD_TOO_LARGE")
        (batch,) = set(client.store.batches()) - before
        state = client.batch(batch).wait(60)
        assert (state.status, state.sealed) == (BatchStatus.FAILED, False)
        assert state.reason == "the body is over 1,048,576 bytes"

    def test_only_so_many_uploads_run_at_once(self, service: HttpServer) -> None:
        halves = [HalfUpload(service.port) for _ in range(3)]
        eventually(lambda: service.service.uploads.taken == 3)
        answer = upload(service.url, CASES)
        assert problem(answer) == (503, "TOO_MANY_UPLOADS")
        assert answer.headers["retry-after"]
        halves.pop().hang_up()
        eventually(lambda: upload(service.url, CASES).status_code == 201)
        for half in halves:
            half.finish()
            assert half.answer()[0] == 422, "the body has no case"
            half.hang_up()

    def test_a_silent_upload_is_broken_off(
        self, server: EmbeddedServer, client: RedisClient
    ) -> None:
        before = set(client.store.batches())
        with (
            HttpServer(server.url, upload_silence_seconds=0.3) as service,
            HalfUpload(service.port) as half,
        ):
            half.send(CASES)
            status, body = half.answer()
        assert (status, orjson.loads(body)["code"]) == (408, "UPLOAD_SILENT")
        (batch,) = set(client.store.batches()) - before
        assert client.batch(batch).status().reason == "the upload sent nothing for 0.3 s"

    def test_many_uploads_at_once_keep_apart(self, server: EmbeddedServer) -> None:
        counts: list[int] = []

        def send(size: int) -> None:
            answer = upload(service.url, lines_of(true_false_cases(size)))
            counts.append(answer.json()["lines"])

        with HttpServer(server.url) as service:
            threads = [threading.Thread(target=send, args=(100 * n,)) for n in range(1, 9)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(60)
        assert sorted(counts) == [100 * n for n in range(1, 9)]


class TestDisconnecting:
    @pytest.mark.parametrize("length", [None, 10_000_000])
    def test_a_sender_that_hangs_up_leaves_a_failed_batch_that_says_why(
        self, server: EmbeddedServer, client: RedisClient, worker: WorkerProcess, length: int | None
    ) -> None:
        with HttpServer(server.url) as service:
            before = set(client.store.batches())
            with HalfUpload(service.port, length=length) as half:
                half.send(CASES)
                (batch_id,) = eventually(lambda: set(client.store.batches()) - before)
                batch = client.batch(batch_id)
                eventually(lambda: batch.status().counts.graded)
            state = batch.wait(60)
            assert state.status == BatchStatus.FAILED
            assert state.reason.startswith("the upload was cut off after ")
            assert state.counts.graded > 0

    @pytest.mark.slow
    def test_a_service_that_stops_leaves_a_failed_batch_that_says_why(
        self, own_server: EmbeddedServer
    ) -> None:
        service = HttpServer(own_server.url)
        store = service.service.client.store
        # The connection is accepted once the service has begun.
        with HalfUpload(service.port) as half, service:
            half.send(CASES)
            (batch_id,) = eventually(store.batches)
        with HttpServer(own_server.url) as other:
            reason = requests.get(f"{other.url}/api/batches/{batch_id}").json()["reason"]
        assert reason == "the service stopped before the upload's end"

    def test_a_reader_that_is_slow_holds_the_sender_back(self) -> None:
        """The data buffered between the two is limited."""
        import asyncio

        from weighbridge_producer.service.uploads.body_stream import HELD_LIMIT_BYTES, BodyStream

        async def send() -> tuple[int, bytes]:
            stream = BodyStream("upload")
            sent = 0

            async def pump() -> None:
                nonlocal sent
                for _ in range(200):
                    await stream.put(b"x" * 100_000)
                    sent += 1
                stream.end()

            pumping = asyncio.create_task(pump())
            await asyncio.sleep(0)  # till the pump waits
            assert stream.is_full
            held = sent
            loop = asyncio.get_running_loop()
            read = await loop.run_in_executor(None, io.BufferedReader(stream).read)
            await pumping
            return held, read

        held, read = asyncio.run(send())
        assert held * 100_000 <= HELD_LIMIT_BYTES
        assert len(read) == 20_000_000
