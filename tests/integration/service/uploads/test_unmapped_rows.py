"""Rows that are sent without a mapping: refused if none of them could be graded, and otherwise errors that name the mapping."""

from __future__ import annotations

import gzip
import io
import zipfile
from typing import TYPE_CHECKING

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from support.http import HttpServer
from support.uploads import HalfUpload, lines_of, problem, upload
from support.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.workers import WorkerProcess
    from weighbridge.embedded.server import EmbeddedServer
    from weighbridge_producer.client.redis_client import RedisClient

ROWS = [{"id": f"q{n}", "output": "Graz", "gold": "Graz"} for n in range(3)]
TABLE = b"id,output,gold\nq1,Graz,Graz\nq2,Linz,Graz\n"
TRACE = {"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}]}
CASE = {"custom_id": "a", "inputs": {"agent_response": "x", "expected_output": "x"}}
PROMPTFOO = {
    "vars": {"q": "x"},
    "response": {"output": "Graz"},
    "success": True,
    "promptIdx": 0,
    "testIdx": 0,
    "prompt": {"raw": "x", "label": "x"},
    "provider": {"id": "m"},
    "testCase": {"assert": [{"type": "equals", "value": "Graz"}], "vars": {"q": "x"}},
    "gradingResult": {"pass": True, "componentResults": []},
}
BODY = {"choices": [{"index": 0, "message": {"role": "assistant", "content": "Graz"}}]}
OPENAI = {
    "id": "b",
    "custom_id": "r1",
    "response": {"status_code": 200, "request_id": "q", "body": BODY},
    "error": None,
}
STRING_MATCH = "?grader=string-match"


def parquet() -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(ROWS), sink)
    return sink.getvalue()


def promptfoo_document(size: int) -> bytes:
    """Return promptfoo's results on one line, of which the first row is behind `size` bytes."""
    return orjson.dumps(
        {"evalId": "e", "config": "x" * size, "results": {"results": [PROMPTFOO] * 3}}
    )


@pytest.fixture(scope="module")
def service(server: EmbeddedServer) -> Iterator[HttpServer]:
    with HttpServer(server.url) as service:
        yield service


UNMAPPED: dict[str, tuple[bytes, str, str]] = {
    "a table by its type": (b"answer\nGraz\n", "text/csv", ""),
    "a table by its name": (b"answer\nGraz\n", "text/plain", "&source=a.csv"),
    "a table by its content": (TABLE, "application/octet-stream", ""),
    "a table of another encoding": (TABLE.decode().encode("utf-16"), "text/plain", ""),
    "a compressed table": (gzip.compress(TABLE), "application/gzip", ""),
    "Parquet": (parquet(), "application/octet-stream", ""),
    "a list of rows": (orjson.dumps(ROWS), "application/json", ""),
    "an indented list": (orjson.dumps(ROWS, option=orjson.OPT_INDENT_2), "application/json", ""),
    "a long list": (orjson.dumps(ROWS * 20_000), "application/json", ""),
    "promptfoo's lines": (lines_of([PROMPTFOO] * 3), "application/x-ndjson", ""),
    "promptfoo's results": (promptfoo_document(10), "application/json", "&source=a.json"),
    "promptfoo's long results": (promptfoo_document(400_000), "application/json", ""),
    "OpenAI's batch output": (lines_of([OPENAI] * 3), "application/x-ndjson", ""),
}


@pytest.mark.parametrize("strict", ["", "&strict=true"])
@pytest.mark.parametrize(("body", "kind", "query"), UNMAPPED.values(), ids=UNMAPPED)
def test_rows_of_which_none_could_be_graded_are_refused_with_what_to_send(
    service: HttpServer, client: RedisClient, body: bytes, kind: str, query: str, strict: str
) -> None:
    before = client.store.batches()
    answer = upload(service.url, body, STRING_MATCH + query + strict, content_type=kind)
    assert problem(answer) == (422, "MAPPING_NEEDED")
    assert answer.json()["hint"].startswith("send `mapping")
    assert client.store.batches() == before


@pytest.mark.parametrize("source", ["", "&source=answers.xlsx"])
def test_what_no_reader_knows_is_refused_as_it_is_by_the_command(
    service: HttpServer, client: RedisClient, source: str
) -> None:
    workbook = io.BytesIO()
    with zipfile.ZipFile(workbook, "w") as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("xl/workbook.xml", "<workbook/>")
    before = client.store.batches()
    answer = upload(service.url, workbook.getvalue(), STRING_MATCH + source)
    assert problem(answer) == (400, "INPUT_UNREADABLE")
    assert "an Excel workbook" in answer.json()["detail"]
    assert client.store.batches() == before


def test_rows_of_a_tool_are_graded_with_the_mapping_that_the_hint_names(
    service: HttpServer,
) -> None:
    known = lines_of([PROMPTFOO] * 2)
    refused = upload(service.url, known, STRING_MATCH).json()
    assert refused["hint"].startswith("send `mapping=auto`")
    assert "promptfoo results" in refused["detail"]
    assert upload(service.url, known, f"{STRING_MATCH}&mapping=auto").status_code == 201


def test_a_table_is_refused_with_its_columns_and_the_mapping_that_they_suggest(
    service: HttpServer,
) -> None:
    body = b"qid,output,gold,topic\nq1,Paris,Paris,geo\nq2,lima,Lima,geo\n"
    refused = upload(service.url, body, STRING_MATCH, content_type="text/csv").json()
    assert "with the columns qid, output, gold, topic" in refused["detail"]
    suggested = "custom_id=qid,agent_response=output,expected_output=gold,metadata=topic"
    assert refused["hint"] == f"send `mapping`: its columns suggest {suggested}"
    assert upload(service.url, body, f"{STRING_MATCH}&mapping={suggested}").status_code == 201
    unclear = upload(service.url, b"a,b\n1,2\n", STRING_MATCH, content_type="text/csv").json()
    assert "in place of each COLUMN" in unclear["hint"]


@pytest.mark.parametrize("mapping", ["", "&mapping=auto"])
def test_rows_of_a_tool_without_expected_answers_are_told_how_to_join_them(
    service: HttpServer, mapping: str
) -> None:
    refused = upload(service.url, lines_of([OPENAI] * 2), STRING_MATCH + mapping).json()
    assert "OpenAI batch output, which has no expected_output" in refused["detail"]
    assert refused["hint"].startswith("send `mapping`, such as")
    assert "weighbridge submit --join NAME=FILE" in refused["hint"]


@pytest.mark.parametrize("body", [TABLE, parquet()], ids=["CSV", "Parquet"])
def test_a_table_is_not_taken_for_lines_with_an_automatic_mapping(
    service: HttpServer, body: bytes
) -> None:
    query = f"{STRING_MATCH}&mapping=auto"
    answer = upload(service.url, body, query, content_type="application/octet-stream")
    assert problem(answer) == (422, "MAPPING_NEEDED")
    one_column = upload(service.url, b"answer\nGraz\n", query, content_type="text/csv")
    assert problem(one_column) == (422, "MAPPING_NEEDED")


LINES: dict[str, tuple[bytes, str, str]] = {
    "cases": (lines_of([CASE]), "string-match", "application/x-ndjson"),
    "cases with the type of a table": (lines_of([CASE]), "string-match", "text/csv"),
    "a long case": (
        lines_of([CASE | {"inputs": {"agent_response": "x" * 400_000, "expected_output": ""}}]),
        "string-match",
        "application/x-ndjson",
    ),
    "traces": (lines_of([TRACE]), "loop", "application/x-ndjson"),
    "a long trace": (
        lines_of([{"messages": TRACE["messages"] * 5000}]),
        "loop",
        "application/x-ndjson",
    ),
    "an indented trace": (
        orjson.dumps(TRACE, option=orjson.OPT_INDENT_2),
        "loop",
        "application/json",
    ),
    "OpenAI's batch output, which is a trace": (
        lines_of([OPENAI]),
        "loop",
        "application/x-ndjson",
    ),
    "a line that is no JSON, before cases": (
        b"# cases\n" + lines_of([CASE]),
        "string-match",
        "application/x-ndjson",
    ),
    "damage": (gzip.compress(lines_of([CASE] * 1000))[:-9], "string-match", "application/gzip"),
}


@pytest.mark.parametrize(("body", "grader", "kind"), LINES.values(), ids=LINES)
def test_lines_that_may_be_graded_need_no_mapping(
    service: HttpServer, body: bytes, grader: str, kind: str
) -> None:
    answer = upload(service.url, body, f"?grader={grader}", content_type=kind)
    assert answer.status_code == 201, answer.text


def test_a_batch_begins_before_its_second_case_is_sent(
    service: HttpServer, client: RedisClient, worker: WorkerProcess
) -> None:
    with HalfUpload(service.port, query=STRING_MATCH) as begun:
        before = set(client.store.batches())
        begun.send(lines_of([CASE]))
        eventually(lambda: set(client.store.batches()) - before, 30, "the batch")
        begun.send(lines_of([CASE | {"custom_id": "b"}]))
        begun.finish()
        status, _ = begun.answer()
    assert status == 201


@pytest.mark.parametrize(
    "body",
    [lines_of([{"question": "x", "answer": "y"}]), lines_of(ROWS), b"some text\n" * 30],
    ids=["one row", "rows", "text"],
)
def test_the_errors_of_other_rows_name_the_mapping(
    service: HttpServer, client: RedisClient, worker: WorkerProcess, body: bytes
) -> None:
    answer = upload(service.url, body, STRING_MATCH)
    assert answer.status_code == 201
    batch = client.batch(answer.json()["batch_id"])
    hints = [row["error"]["hint"] for row in batch.results()]
    assert hints
    assert all("`mapping` over HTTP" in hint for hint in hints)
