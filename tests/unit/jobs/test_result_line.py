"""Result lines: a written result is parsed to the same row, and other lines are rejected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import orjson
import pytest
from msgspec.structs import replace

from weighbridge.errors import Fault
from weighbridge.graders.registry import default_registry
from weighbridge.grading.line_grader import LineGrader
from weighbridge.grading.tally import Tally
from weighbridge.jobs.chunk import Line
from weighbridge.jobs.grader_spec import GraderSpec
from weighbridge.jobs.outcome import VACUOUS, JobStatus, Outcome
from weighbridge.jobs.result_line import CAUSE_LIMIT, ResultRow, classify, is_result, named_cause
from weighbridge_producer.comparison.compared_results import read_entry

if TYPE_CHECKING:
    from collections.abc import Iterator

TRUE = {"expected_output": "true"}
METADATA = {"n": [1.5, 1e300, -0.0, 2**53 + 1], "text": "ü\u2028\x7f\\"}
CASES: dict[str, dict[str, Any] | bytes] = {
    "passed": {"inputs": {"agent_response": "yes", **TRUE}, "metadata": METADATA},
    "failed": {"inputs": {"agent_response": "no", **TRUE}},
    "ungradable": {"inputs": {"agent_response": "yes", "expected_output": "perhaps"}},
    "errored": {"inputs": {}, "metadata": METADATA},
    "no case": b'{"custom_id": "c", "inputs": 1}',
    "no JSON": b"{",
    "vacuous": {"inputs": {"trace": {"format": "weighbridge", "steps": []}}, "grader": "loop"},
}


def graded(name: str) -> tuple[bytes, Tally]:
    given = CASES[name]
    raw = given if isinstance(given, bytes) else orjson.dumps({"custom_id": "c", **given})
    tally = Tally()
    return LineGrader((GraderSpec("true-false"),)).grade(Line(6, 7, raw), tally), tally


@pytest.mark.parametrize("name", CASES)
def test_a_row_is_written_in_the_bytes_that_it_was_read_from(name: str) -> None:
    line, _ = graded(name)
    row = ResultRow.from_bytes(line)
    assert row.to_bytes() == line
    assert list(orjson.loads(line)) == list(row.__struct_fields__)
    assert row.line == 7


@pytest.mark.parametrize("name", CASES)
def test_a_row_of_another_program_is_taken_if_it_is_like_our_own(name: str) -> None:
    line, _ = graded(name)
    assert ResultRow.from_foreign_bytes(line) == ResultRow.from_bytes(line)


#: Changes of a failed job's line, and the reason why it is no result line then.
FORGED: list[tuple[dict[str, Any], str]] = [
    ({"result": None, "status": "lost"}, "it has the status 'lost', but no result"),
    ({"result": None}, "it has the status 'graded', but no result"),
    ({"status": "errored"}, "it has the status 'errored', and a result"),
    ({"status": "lost"}, "it has the status 'lost', and a result"),
    ({"result": {}}, "Object missing required field .*"),
    ({"result.verdict": "odd"}, "no result has the verdict 'odd'"),
    ({"result.score": "high"}, "Expected `float`, got `str`.*"),
    ({"result.score": 2.0}, "the score is 2.0"),
    ({"result.score": -1}, "the score is -1.0"),
    ({"result.verdict": "pass", "result.score": 1.5}, "the score is 1.5"),
    ({"result.evidence": []}, "it lacks evidence"),
    ({"result.verdict": "pass", "result.evidence": []}, "it lacks evidence"),
    ({"result.evidence": [{"check": 1}]}, ".*evidence.*|.*check.*"),
    ({"line": -5}, "Expected `int` >= 0 .*line.*"),
    ({"line": 2**53}, "Expected `int` <= 9007199254740991 .*line.*"),
    ({"line": 2**70}, "Expected `int`.*line.*"),
    ({"grader_version": 2**65}, "Expected `int.*grader_version.*"),
]


@pytest.mark.parametrize(("changes", "message"), FORGED)
def test_a_forged_row_is_refused_with_the_reason(changes: dict[str, Any], message: str) -> None:
    line = forged(changes)
    with pytest.raises(ValueError, match=f"^this is not a result line: ({message})$"):
        ResultRow.from_foreign_bytes(line)
    with pytest.raises(ValueError, match=f"^this is not a result line: ({message})$"):
        read_entry(line)


def test_an_error_that_lacks_fields_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^this is not a result line: .*"):
        ResultRow.from_foreign_bytes(forged({"error": {"code": "A"}}))


def forged(changes: dict[str, Any]) -> bytes:
    """Return the line of a failed job with changes, whose keys are dotted paths."""
    row = orjson.loads(graded("failed")[0])
    for path, value in changes.items():
        part, _, field = path.rpartition(".")
        (row[part] if part else row)[field] = value
    return msgspec.json.encode(row)  # also integers over 64 bits


@pytest.mark.parametrize("name", CASES)
def test_a_row_tells_the_outcome_and_the_cause_that_it_was_counted_under(name: str) -> None:
    line, tally = graded(name)
    row = ResultRow.from_bytes(line)
    [(label, grader, outcome, cause, _)] = tally.jobs_by
    assert (row.label, row.grader, row.outcome, row.cause) == (label, grader, outcome, cause)


def test_a_pass_that_rests_on_no_facts_says_so_as_its_cause() -> None:
    row = ResultRow.from_bytes(graded("vacuous")[0])
    assert (row.outcome, row.cause, row.reason()) == (Outcome.PASSED, VACUOUS, "")


def test_a_cause_is_a_check_and_its_kind_of_failure() -> None:
    assert ResultRow.from_bytes(graded("failed")[0]).cause == "boolean_match: false negative"
    plain = {"check": "told", "description": "d", "passed": False, "step_ids": []}
    for kind, cause in (("x" * 200, "told: " + "x" * 114), (7, "told"), ("", "told")):
        judged = {
            "verdict": "fail",
            "score": 0.0,
            "details": {},
            "evidence": [plain | {"cause": kind}],
        }
        assert classify(judged) == (Outcome.FAILED, cause)


def test_a_row_says_in_a_few_words_why_a_job_did_not_pass() -> None:
    assert ResultRow.from_bytes(graded("passed")[0]).reason() == ""
    failed = ResultRow.from_bytes(graded("failed")[0])
    assert failed.result
    assert failed.reason() == failed.result["details"]["reason"]
    terse = replace(failed, result={**failed.result, "details": {}})
    assert terse.reason() == failed.failed_checks[0]["description"]
    assert ResultRow.from_bytes(graded("no JSON")[0]).reason().startswith("INVALID_JSON: ")


def test_a_reason_that_is_one_of_several_failed_checks_says_how_many_more_there_are() -> None:
    row = ResultRow.from_bytes(graded("failed")[0])
    assert row.result
    check, passed = row.failed_checks[0], {**row.failed_checks[0], "passed": True}
    told = check["description"]
    for evidence, reason in (
        ([check, passed], told),
        ([passed, check, check], f"{told}, and 1 more failed check"),
        ([check, check, passed, check], f"{told}, and 2 more failed checks"),
        ([{**check, "description": ""}, check], ""),
    ):
        result = {**row.result, "details": {}, "evidence": evidence}
        assert replace(row, result=result).reason() == reason
    # A reason of the grader's own stands for all of them.
    own = {**row.result, "evidence": [check, check]}
    assert replace(row, result=own).reason() == row.result["details"]["reason"]


def test_a_row_without_a_result_has_what_was_known_of_its_job() -> None:
    error = Fault("TIMEOUT", "the job did not end", "raise the deadline")
    row = ResultRow.ungraded(error, 3, JobStatus.CANCELLED, custom_id="c", label="l")
    assert (row.outcome, row.verdict, row.score) == (Outcome.CANCELLED, None, None)
    known = {"custom_id": "c", "line": 3, "label": "l", "status": "cancelled"}
    assert {name: value for name, value in orjson.loads(row.to_bytes()).items() if value} == {
        **known,
        "error": {"code": "TIMEOUT", "message": error.message, "hint": error.hint},
    }
    assert ResultRow.from_bytes(row.to_bytes()) == row


@pytest.mark.parametrize("name", CASES)
def test_a_value_with_all_fields_is_a_result(name: str) -> None:
    value = orjson.loads(graded(name)[0])
    assert is_result(value)
    assert is_result(value | {"case": {}})
    del value["receipt"]
    assert not any(map(is_result, (value, {}, [], None)))


def others() -> Iterator[bytes]:
    whole = orjson.loads(graded("failed")[0])
    yield from (b"", b"{}", b"[]", b"{", b"\xff", b"[" * 200_000)
    for name in whole:
        yield orjson.dumps({key: value for key, value in whole.items() if key != name})
    for name in ("line", "status", "grader_version", "result", "error"):
        yield orjson.dumps(whole | {name: [1]})


@pytest.mark.parametrize("line", list(others()))
def test_what_is_no_result_line_is_refused(line: bytes) -> None:
    with pytest.raises(ValueError, match="this is not a result line"):
        ResultRow.from_bytes(line)


def test_every_graders_example_is_read_as_it_was_written() -> None:
    for entry in default_registry().catalogue():
        case = {"custom_id": "c", "grader": entry["id"], **entry["example"]}
        line = LineGrader().grade(Line(0, 1, orjson.dumps(case)), Tally())
        row = ResultRow.from_bytes(line)
        assert row.result
        assert row.to_bytes() == line


@pytest.mark.parametrize(
    ("kind", "named"),
    [
        ("search", "tool_known: search"),
        (" search ", "tool_known: search"),
        ("  ", "tool_known"),
        ("", "tool_known"),
        (None, "tool_known"),
        (5, "tool_known"),
        ("x" * (CAUSE_LIMIT - 13) + " yz", "tool_known: " + "x" * (CAUSE_LIMIT - 13)),
    ],
)
def test_a_cause_neither_begins_its_kind_nor_ends_with_a_space(kind: object, named: str) -> None:
    assert named_cause("tool_known", kind) == named
