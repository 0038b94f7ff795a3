"""Parts of result lines: they have what a whole row has, and other lines are rejected."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from weighbridge.grading.line_grader import LineGrader
from weighbridge.grading.tally import Tally
from weighbridge.jobs.chunk import Line
from weighbridge.jobs.grader_spec import GraderSpec
from weighbridge.jobs.outcome import Outcome
from weighbridge.jobs.result_line import ResultRow
from weighbridge.jobs.result_line_parts import (
    ERRORED_BYTES,
    PASSED_BYTES,
    case_in,
    field_bytes,
    line_number_of,
    profile_of,
    read_compared_result,
    read_labelled_metadata,
)

METADATA = {"n": [1.5, 2**53 + 1], "text": "ü\u2028\x7f\\"}
CASES: dict[str, dict[str, Any]] = {
    "passed": {"inputs": {"agent_response": "yes", "expected_output": "true"}},
    "failed": {
        "inputs": {"agent_response": "no", "expected_output": "true"},
        "metadata": METADATA,
    },
    "ungradable": {"inputs": {"agent_response": "yes", "expected_output": "perhaps"}},
    "errored": {"inputs": {}},
    "no case": {"inputs": 1},
    "vacuous": {"inputs": {"trace": {"format": "weighbridge", "steps": []}}, "grader": "loop"},
}
NO_RESULTS = (b"", b"[]", b"{", b"7", b"\xff", b"[" * 200_000)


def graded(name: str) -> bytes:
    raw = orjson.dumps({"custom_id": "c", **CASES[name]})
    return LineGrader((GraderSpec("true-false"),)).grade(Line(6, 7, raw), Tally())


@pytest.mark.parametrize("name", CASES)
def test_the_parts_of_a_line_equal_those_of_its_row(name: str) -> None:
    line = graded(name)
    row = ResultRow.from_bytes(line)
    assert line_number_of(line) == row.line == 7
    labelled = read_labelled_metadata(line)
    assert (labelled.label, labelled.metadata) == (row.label, row.metadata)
    score = row.result["score"] if row.result and row.outcome.has_score else None
    assert profile_of(line) == (7, (row.label, row.grader, row.outcome, row.cause), score)


@pytest.mark.parametrize("name", CASES)
def test_a_comparison_gets_the_fields_of_the_row_and_the_limits_of_its_checks(name: str) -> None:
    line = graded(name)
    row, found = ResultRow.from_bytes(line), read_compared_result(line)
    for field in ("custom_id", "line", "label", "grader_version", "config_digest", "receipt"):
        assert getattr(found, field) == getattr(row, field)
    assert orjson.loads(bytes(found.metadata)) == row.metadata
    verdict = found.verdict()
    assert (verdict is None) == (row.result is None)
    limits = [(check.check, orjson.loads(bytes(check.limit))) for check in verdict.evidence] if verdict else []  # fmt: skip
    assert limits == [(check["check"], check.get("limit")) for check in row.evidence]


@pytest.mark.parametrize("name", CASES)
def test_the_bytes_of_an_outcome_are_in_its_lines_only(name: str) -> None:
    line = graded(name)
    row = ResultRow.from_bytes(line)
    assert (PASSED_BYTES in line) == (row.outcome is Outcome.PASSED)
    assert (ERRORED_BYTES in line) == (row.outcome is Outcome.ERRORED)
    assert field_bytes("status", row.status) in line


@pytest.mark.parametrize("read", [line_number_of, read_labelled_metadata, profile_of, case_in])
@pytest.mark.parametrize("line", NO_RESULTS)
def test_other_data_is_refused(read: Any, line: bytes) -> None:
    with pytest.raises(ValueError, match="this is not a result line"):
        read(line)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("errored", {"status": "unknown"}),
        ("errored", {"error": {"code": 7}}),
        ("failed", {"result": {"verdict": "unknown", "score": 1.0, "evidence": []}}),
        ("failed", {"result": {"verdict": "fail", "score": 1.0, "evidence": [7]}}),
        ("failed", {"result": {"verdict": "fail", "score": 1.0, "evidence": [{}]}}),
    ],
)
def test_a_forged_outcome_is_refused(name: str, change: dict[str, Any]) -> None:
    line = orjson.dumps(orjson.loads(graded(name)) | change)
    with pytest.raises(ValueError, match="this is not a result line"):
        profile_of(line)


@pytest.mark.parametrize("line", [b"{}", b'{"line": "1"}', b'{"line": 1e999}'])
def test_a_line_without_its_number_is_refused(line: bytes) -> None:
    with pytest.raises(ValueError, match="this is not a result line"):
        line_number_of(line)


def test_a_case_is_found_where_it_was_added() -> None:
    assert case_in(b'{"line": 1, "case": {"inputs": {}}}') == b'{"inputs": {}}'
    assert case_in(b'{"line": 1, "case": null}') == b"null"
    assert case_in(b'{"line": 1}') is None
