"""Strict input: all of it is good, or nothing of it is submitted."""

from __future__ import annotations

import gzip
import io
import tracemalloc
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from weighbridge.errors import InputError, InvalidInputError
from weighbridge.jobs.grader_spec import GraderSpec
from weighbridge.settings import Settings
from weighbridge_producer.input.source import Source
from weighbridge_producer.submit.strict_submission import FAULTS_SHOWN, checked

if TYPE_CHECKING:
    from collections.abc import Iterator

TRUE_FALSE = (GraderSpec("true-false"),)


def case(custom_id: str, response: str = "yes", **fields: Any) -> dict[str, Any]:
    inputs = {"agent_response": response, "expected_output": "true"}
    return {"custom_id": custom_id, "inputs": inputs} | fields


def lines(*cases: dict[str, Any] | bytes) -> bytes:
    return b"\n".join(row if isinstance(row, bytes) else orjson.dumps(row) for row in cases) + b"\n"


def refusal(
    cases: Any, graders: tuple[GraderSpec, ...] = TRUE_FALSE, **settings: Any
) -> InvalidInputError:
    source = Source(cases, Settings(**settings))
    with (
        pytest.raises(InvalidInputError) as caught,
        checked(source, graders, Settings(**settings)),
    ):
        pytest.fail("it was let in")
    return caught.value


def test_a_good_file_is_read_in_place(tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_bytes(lines(case("a"), b"", case("b")))
    source = Source(path, Settings())
    with checked(source, TRUE_FALSE, Settings()) as found:
        assert found is source
    assert path.exists()


@pytest.mark.parametrize(
    "given",
    [
        io.BytesIO(lines(case("a"), case("b"))),
        io.BytesIO(gzip.compress(lines(case("a"), case("b")))),
        iter([case("a"), case("b")]),
    ],
    ids=["a stream", "a gzip stream", "an iterator"],
)
def test_what_can_be_read_only_once_is_kept_until_it_is_done(given: Any) -> None:
    with checked(Source(given, Settings()), TRUE_FALSE, Settings()) as found:
        [kept] = found.files
        assert kept.read_bytes() == lines(case("a"), case("b"))
    assert not kept.exists()


def test_what_is_refused_leaves_no_file_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    refusal(iter([{"custom_id": "a"}]))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("row", "code"),
    [
        (b"not JSON", "INVALID_JSON"),
        (b'{"custom_id": "a", "custom_id": "a"}', "DUPLICATE_KEY"),
        ({"custom_id": "x"}, "MISSING_FIELD"),
        (case("x", grader="nothing-like-it"), "UNKNOWN_GRADER"),
        (case("x", grader="true-false", config={"case_sensitve": True}), "INVALID_CONFIG"),
        (case("x", graders=[{"grader": "true-false"}, {"grader": "zzz"}]), "UNKNOWN_GRADER"),
        ({"custom_id": "x", "inputs": {"agent_response": "yes"}}, "MISSING_FIELD"),
        (case("x" * 257), "INVALID_CUSTOM_ID"),
        (case("good", "another answer"), "ID_CONFLICT"),
        (b"x" * 2000, "LINE_TOO_LONG"),
    ],
)
def test_one_bad_line_refuses_the_whole_input(row: dict[str, Any] | bytes, code: str) -> None:
    error = refusal(io.BytesIO(lines(case("good"), row, case("other"))), line_limit_bytes=1000)
    assert error.code == "INPUT_INVALID"
    assert isinstance(error, InputError)
    assert error.total == 1
    [line] = error.bad_lines
    assert (line.number, line.fault.code) == (2, code)
    assert line.fault.message
    assert line.fault.hint
    assert "nothing was submitted: 1 line of 'cases' cannot be graded:" in error.message
    assert f"line 2: {code}: {line.fault.message}" in error.message


def test_a_line_that_is_there_twice_is_good() -> None:
    source = Source(io.BytesIO(lines(case("a"), case("a"), case("b"))), Settings())
    with checked(source, TRUE_FALSE, Settings()):
        pass


def test_the_first_faults_are_shown_and_all_are_counted() -> None:
    error = refusal(io.BytesIO(b"{x\n" * 1000))
    assert error.total == 1000
    assert [line.number for line in error.bad_lines] == list(range(1, FAULTS_SHOWN + 1))
    assert error.message.endswith("... and 980 more")


def test_a_cut_archive_is_refused() -> None:
    packed = gzip.compress(lines(case("a")) * 1000)
    error = refusal(io.BytesIO(packed[:-9]))
    assert [line.fault.code for line in error.bad_lines] == ["INPUT_TRUNCATED"]


def test_an_input_beyond_the_batch_limit_is_refused_without_reading_on() -> None:
    def endless() -> Iterator[dict[str, Any]]:
        number = 0
        while True:
            yield case(str(number))
            number += 1

    error = refusal(endless(), batch_limit_lines=10)
    assert [(line.number, line.fault.code) for line in error.bad_lines] == [(11, "INPUT_TOO_LARGE")]


def test_without_a_grader_anywhere_a_case_is_refused() -> None:
    error = refusal(io.BytesIO(lines(case("a"))), ())
    assert [line.fault.code for line in error.bad_lines] == ["NO_GRADER"]


@pytest.mark.slow
def test_a_large_input_is_checked_at_constant_memory() -> None:
    rows = (case(f"case-{number}") for number in range(10_000))
    tracemalloc.start()
    try:
        with checked(Source(rows, Settings()), TRUE_FALSE, Settings()):
            peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2_000_000
