"""An untrusted file: every kind of invalid line gets a specific error, and all other lines are graded."""

from __future__ import annotations

import gzip
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from support.cases import assert_counts_agree
from weighbridge.errors import InputError, InvalidInputError, NoCasesError
from weighbridge.grading.line_grader import grade_lines
from weighbridge.jobs.batch_state import BatchStatus
from weighbridge.settings import MIB, Settings
from weighbridge_producer import Client

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from support.workers import WorkerProcess
    from weighbridge.embedded.server import EmbeddedServer
    from weighbridge_producer import Batch

pytestmark = pytest.mark.usefixtures("worker")

GRADERS = ["true-false"]
LINE_LIMIT_BYTES = 100_000
INPUTS = {"agent_response": "yes", "expected_output": "true"}


def line(custom_id: object = "x", inputs: object = INPUTS, **fields: Any) -> bytes:
    return orjson.dumps({"custom_id": custom_id, "inputs": inputs} | fields)


def answering(custom_id: str, response: bytes) -> bytes:
    """Return a case whose answer is the given JSON, good or bad."""
    start = b'{"custom_id": "%s", "inputs": {"agent_response": ' % custom_id.encode()
    return start + response + b', "expected_output": "true"}}'


@dataclass
class Bad:
    """A bad line, and what must be said of it."""

    raw: bytes
    code: str
    message: str
    custom_id: str | None = None  #: the id in its result, if it can be read
    label: str | None = None  #: set where the line itself is good, and its job is not


BAD = {
    "not JSON": Bad(b"hello, world", "INVALID_JSON", "not JSON"),
    "truncated": Bad(b'{"custom_id": "t", "inputs": {"agent_resp', "INVALID_JSON", "ends too early"),
    "NaN": Bad(answering("nan", b"NaN"), "NUMBER_OUT_OF_RANGE", "NaN and Infinity"),
    "1e999": Bad(answering("1e999", b"1e999"), "NUMBER_OUT_OF_RANGE", "64 bits", "1e999"),
    "duplicate keys": Bad(answering("dup", b'{"a": 1, "a": 2}'), "DUPLICATE_KEY", "'a' occurs twice", "dup"),
    "a lone surrogate": Bad(answering("sur", b'"\\ud800"'), "LONE_SURROGATE", "surrogate"),
    "invalid UTF-8": Bad(answering("utf", b'"\xff"'), "INVALID_UTF8", "0xff", "utf"),
    "a byte-order mark": Bad(b"\xef\xbb\xbf" + line("bom"), "BYTE_ORDER_MARK", "byte-order mark"),
    "depth 10,000": Bad(answering("deep", b"[" * 10_000 + b"]" * 10_000), "TOO_DEEP", "200 levels"),
    "5,000 digits": Bad(answering("digits", b"1" * 5_000), "NUMBER_OUT_OF_RANGE", "too long", "digits"),
    "over 64 bits": Bad(answering("65", b"18446744073709551616"), "NUMBER_OUT_OF_RANGE", "64 bits", "65"),
    "over the line limit": Bad(line("long", metadata={"x": "y" * LINE_LIMIT_BYTES}), "LINE_TOO_LONG", "at most 100,000"),
    "no custom_id": Bad(b'{"inputs": {}}', "MISSING_FIELD", "'custom_id'"),
    "no inputs": Bad(b'{"custom_id": "bare"}', "MISSING_FIELD", "'inputs'", "bare"),
    "an unknown field": Bad(line("field", grder="x"), "UNKNOWN_FIELD", "'grder'", "field"),
    "an array": Bad(b"[1, 2]", "NOT_AN_OBJECT", "array"),
    "a wrong type": Bad(line("type", metadata=3), "INVALID_FIELD", "'metadata'", "type"),
    "an empty id": Bad(line(""), "INVALID_CUSTOM_ID", "empty"),
    "an over-long id": Bad(line("x" * 257), "INVALID_CUSTOM_ID", "257 characters"),
    "a control character in the id": Bad(line("a\nb"), "INVALID_CUSTOM_ID", "control characters"),
    "an id that is a number": Bad(line(7), "INVALID_CUSTOM_ID", "number"),
    "an unknown grader": Bad(line("grader", grader="true-flase"), "UNKNOWN_GRADER", "did you mean 'true-false'", "grader", "true-flase"),
    "a bad config": Bad(line("config", grader="true-false", config={"case_sensitve": True}), "INVALID_CONFIG", "'case_sensitve'", "config", "true-false"),
    "a missing input": Bad(line("less", {"agent_response": "yes"}), "MISSING_FIELD", "'expected_output'", "less", "true-false"),
    "an unknown input": Bad(line("more", INPUTS | {"extra": 1}), "UNKNOWN_FIELD", "'extra'", "more", "true-false"),
}  # fmt: skip


def stranger_lines() -> Iterator[tuple[bytes, Bad | None]]:
    """Yield the bad lines amid twice as many good ones, with blank ones here and there."""
    for number, bad in enumerate(BAD.values()):
        yield line(f"good-{number}-a"), None
        yield bad.raw, bad
        if number % 5 == 0:
            yield b"", None
            yield b" \t", None
        yield line(f"good-{number}-b", {"agent_response": "no", "expected_output": "1"}), None


def client_on(server: EmbeddedServer, **settings: Any) -> Client:
    return Client(
        server.url, settings=Settings(**({"line_limit_bytes": LINE_LIMIT_BYTES} | settings))
    )


def finished(batch: Batch) -> list[dict[str, Any]]:
    """Wait for a batch's end and return its results, by line number."""
    state = batch.wait(60)
    assert state.status == BatchStatus.COMPLETED
    results = list(batch.results(follow=False))
    assert_counts_agree(state, results)
    return sorted(results, key=lambda result: result["line"])


def raw_results(batch: Batch) -> list[bytes]:
    batch.wait(60)
    return sorted(row for page in batch.pages(follow=False) for row in page.lines.splitlines())


def test_every_bad_line_has_its_number_code_message_and_hint_and_the_rest_is_graded(
    server: EmbeddedServer, tmp_path: Path
) -> None:
    rows = list(stranger_lines())
    path = tmp_path / "cases.jsonl"
    path.write_bytes(b"".join(row + b"\n" for row, _ in rows))
    with client_on(server) as client:
        results = finished(client.submit(path, graders=GRADERS))
    by_line = {result["line"]: result for result in results}
    assert len(by_line) == len(results)
    assert set(by_line) == {number for number, (row, _) in enumerate(rows, 1) if row.strip()}
    for number, (row, bad) in enumerate(rows, 1):
        if bad:
            assert_told(by_line[number], bad)
        elif row.strip():
            assert by_line[number]["status"] == "graded", row
            assert by_line[number]["custom_id"] == orjson.loads(row)["custom_id"]
    verdicts = Counter(
        result["result"]["verdict"] for result in results if result["status"] == "graded"
    )
    assert verdicts == {"pass": len(BAD), "fail": len(BAD)}


def assert_told(result: dict[str, Any], bad: Bad) -> None:
    error = result["error"]
    assert (result["status"], error["code"]) == ("errored", bad.code)
    assert bad.message in error["message"]
    assert error["hint"]
    assert (result["custom_id"], result["label"]) == (bad.custom_id, bad.label)
    assert (result["result"], result["receipt"]) == (None, None)


@pytest.mark.parametrize("compressed", [False, True])
def test_results_are_the_same_bytes_whatever_the_chunks_and_without_a_queue(
    server: EmbeddedServer, tmp_path: Path, compressed: bool
) -> None:
    rows = [row for row, _ in stranger_lines()]
    data = b"".join(row + b"\n" for row in rows)
    path = tmp_path / "cases.jsonl"
    path.write_bytes(gzip.compress(data) if compressed else data)
    of_chunks = []
    for jobs in (1, 7, 5_000):
        with client_on(server, chunk_limit_jobs=jobs) as client:
            of_chunks.append(raw_results(client.submit(path, graders=GRADERS)))
    assert of_chunks[0] == of_chunks[1] == of_chunks[2]
    # Excluded: long lines, which are detected while reading, and unknown graders, whose error lists installed graders.
    compared = [
        (out.rstrip(b"\n"), len(row) > LINE_LIMIT_BYTES or BAD["an unknown grader"].raw == row)
        for row, out in zip(filter(bytes.strip, rows), grade_lines(rows, GRADERS), strict=True)
    ]
    others = (b'"LINE_TOO_LONG"', b'"UNKNOWN_GRADER"')
    assert {out for out, differs in compared if not differs} == {
        row for row in of_chunks[0] if not any(code in row for code in others)
    }


@pytest.mark.parametrize("jobs", [1, 2, 7, 5_000])
def test_the_same_line_twice_is_one_job_and_another_line_under_its_id_is_a_conflict(
    server: EmbeddedServer, tmp_path: Path, jobs: int
) -> None:
    first, other = line("twice"), line("twice", {"agent_response": "no", "expected_output": "no"})
    rows = [first, other, line("fine"), first + b" ", other, b"", line("last"), first]
    path = tmp_path / "cases.jsonl"
    path.write_bytes(b"\n".join(rows))
    with client_on(server, chunk_limit_jobs=jobs) as client:
        batch = client.submit(path, graders=GRADERS)
        results = finished(batch)
        assert [result["line"] for result in batch.result("twice")] == [1]
        assert batch.status().duplicates == 2
    assert [(result["line"], result["custom_id"], result["status"]) for result in results] == [
        (1, "twice", "graded"),
        (2, "twice", "errored"),
        (3, "fine", "graded"),
        (5, "twice", "errored"),
        (7, "last", "graded"),
    ]
    for result in (results[1], results[3]):
        assert result["error"]["code"] == "ID_CONFLICT"
        assert "same custom_id" in result["error"]["message"]
        assert result["error"]["hint"]


def test_a_byte_order_mark_at_the_start_is_no_fault(server: EmbeddedServer, tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + line("a") + b"\r\n" + line("b"))
    with client_on(server) as client:
        results = finished(client.submit(path, graders=GRADERS))
    assert [(row["custom_id"], row["status"]) for row in results] == [("a", "graded"), ("b", "graded")]  # fmt: skip


def test_a_gzip_bomb_costs_its_own_line_and_nothing_else(
    server: EmbeddedServer, tmp_path: Path
) -> None:
    path = tmp_path / "cases.jsonl.gz"
    with gzip.open(path, "wb") as file:
        file.write(line("good") + b"\n")
        for _ in range(64):
            file.write(b" " * MIB)
    assert path.stat().st_size < MIB
    with client_on(server) as client:
        good, bomb = finished(client.submit(path, graders=GRADERS))
    assert (good["custom_id"], good["status"]) == ("good", "graded")
    assert (bomb["line"], bomb["error"]["code"]) == (2, "INPUT_TOO_LARGE")
    assert "200-fold" in bomb["error"]["message"]
    assert bomb["error"]["hint"]


def test_a_cut_archive_is_graded_as_far_as_it_goes(server: EmbeddedServer, tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl.gz"
    path.write_bytes(gzip.compress(b"".join(line(f"c{n}") + b"\n" for n in range(500)))[:-300])
    with client_on(server) as client:
        *graded, end = finished(client.submit(path, graders=GRADERS))
    assert len(graded) > 100
    assert {result["status"] for result in graded} == {"graded"}
    assert (end["line"], end["error"]["code"]) == (len(graded) + 1, "INPUT_TRUNCATED")
    assert end["error"]["hint"]


@pytest.mark.parametrize(
    "content",
    [b"", b"\n", b"\n \r\n\t\n", b"\xef\xbb\xbf", gzip.compress(b"")],
    ids=["nothing", "a blank line", "blank lines", "a byte-order mark", "an empty archive"],
)
def test_an_input_without_a_case_is_refused_and_leaves_no_batch(
    own_server: EmbeddedServer, tmp_path: Path, content: bytes
) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_bytes(content)
    with client_on(own_server) as client:
        with pytest.raises(NoCasesError, match="has no cases"):
            client.submit(path, graders=GRADERS)
        assert client.batches() == []


def test_a_missing_file_is_refused_before_there_is_a_batch(
    server: EmbeddedServer, tmp_path: Path
) -> None:
    with client_on(server) as client:
        before = len(client.batches(10_000))
        with pytest.raises(InputError, match="does not exist") as caught:
            client.submit(tmp_path / "missing.jsonl", graders=GRADERS)
        assert caught.value.code == "INPUT_UNREADABLE"
        assert caught.value.hint
        assert len(client.batches(10_000)) == before


def test_python_cases_that_json_cannot_carry_are_errored_with_their_ids(
    server: EmbeddedServer,
) -> None:
    def cases() -> Iterator[Any]:
        yield {"custom_id": "good", "inputs": INPUTS}
        yield {"custom_id": "huge", "inputs": INPUTS | {"agent_response": 2**64}}
        yield {"custom_id": "nan", "inputs": INPUTS | {"agent_response": float("nan")}}
        yield {"custom_id": "set", "inputs": INPUTS | {"agent_response": {1}}}
        yield line("bytes")
        yield line("text").decode()

    with client_on(server) as client:
        results = finished(client.submit(cases(), graders=GRADERS))
    assert [(row["custom_id"], (row["error"] or {}).get("code")) for row in results] == [
        ("good", None),
        ("huge", "NUMBER_OUT_OF_RANGE"),
        ("nan", "NUMBER_OUT_OF_RANGE"),
        ("set", "INVALID_JSON"),
        ("bytes", None),
        ("text", None),
    ]


def test_a_strict_submission_of_a_strangers_file_submits_nothing(
    server: EmbeddedServer, tmp_path: Path
) -> None:
    rows = list(stranger_lines())
    path = tmp_path / "cases.jsonl"
    path.write_bytes(b"".join(row + b"\n" for row, _ in rows))
    with client_on(server) as client:
        before = {state.batch_id for state in client.batches(10_000)}
        with pytest.raises(InvalidInputError) as caught:
            client.submit(path, graders=GRADERS, strict=True)
        after = {state.batch_id for state in client.batches(10_000)}
    assert caught.value.total == len(BAD)
    numbers = [number for number, (_, bad) in enumerate(rows, 1) if bad]
    assert [line.number for line in caught.value.bad_lines] == numbers[:20]
    assert after == before


def test_a_strict_submission_of_good_lines_is_graded_from_a_stream(
    server: EmbeddedServer, worker: WorkerProcess
) -> None:
    rows = (line(f"c{number}") for number in range(100))
    with client_on(server) as client:
        results = finished(client.submit(rows, graders=GRADERS, strict=True))
    assert [row["custom_id"] for row in results] == [f"c{number}" for number in range(100)]
