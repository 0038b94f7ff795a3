"""Filters of results: a job is admitted by its outcome, label, grader and cause, wherever these are read from."""

from __future__ import annotations

from math import inf
from typing import Any

import orjson
import pytest

from weighbridge.errors import InvalidFilterError
from weighbridge.grading.line_grader import LineGrader
from weighbridge.grading.tally import Tally
from weighbridge.jobs.chunk import Line
from weighbridge.jobs.grader_spec import GraderSpec
from weighbridge.jobs.result_line import JobProfile, ResultRow
from weighbridge.store.result_filter import ResultFilter
from weighbridge.store.result_matcher import Matcher

EXPECTED = {"passed": "true", "failed": "false", "ungradable": "perhaps"}
VACUOUS_CASE = {"grader": "loop", "inputs": {"trace": {"format": "weighbridge", "steps": []}}}
LOOK = {"type": "tool", "name": "look", "arguments": {"at": 1}, "output": "nothing"}
LOOP_CASE = {"grader": "loop", "inputs": {"trace": {"format": "weighbridge", "steps": [LOOK] * 4}}}


def graded() -> tuple[list[bytes], Tally]:
    """Grade a case of each outcome."""
    cases: list[dict[str, Any]] = [
        {"custom_id": name, "inputs": {"agent_response": "yes", "expected_output": expected}}
        for name, expected in EXPECTED.items()
    ]
    cases += [{"custom_id": "vacuous", **VACUOUS_CASE}, {"custom_id": "errored", "inputs": {}}]
    cases += [{"custom_id": "looped", **LOOP_CASE}]
    grader, tally = LineGrader((GraderSpec("true-false"),)), Tally()
    lines = [
        grader.grade(Line(at, at + 1, raw), tally).rstrip(b"\n")
        for at, raw in enumerate((*map(orjson.dumps, cases), b"{"))
    ]
    return lines, tally


LINES, TALLY = graded()
FILTERS: dict[str, tuple[dict[str, str], int]] = {
    "all": ({}, 7),
    "a verdict": ({"verdict": "fail"}, 2),
    "a status": ({"status": "errored"}, 2),
    "an outcome that no job has": ({"status": "errored", "verdict": "pass"}, 0),
    "a label": ({"label": "true-false"}, 4),
    "a grader": ({"grader": "loop"}, 2),
    "a check": ({"cause": "boolean_match"}, 1),
    "a cause": ({"cause": "boolean_match: false positive"}, 1),
    "a cause without what follows a comma": ({"cause": "loop: same_call"}, 1),
    "a cause with what follows a comma": ({"cause": "loop: same_call, look"}, 1),
    "half a word of a cause": ({"cause": "loop: same"}, 0),
    "half a cause": ({"cause": "boolean_match: false"}, 0),
    "an error code": ({"cause": "INVALID_JSON"}, 1),
    "vacuous passes": ({"cause": "vacuous"}, 1),
    "vacuous failures": ({"cause": "vacuous", "verdict": "fail"}, 0),
}


@pytest.mark.parametrize("name", FILTERS)
def test_rows_profiles_and_tallies_are_filtered_alike(name: str) -> None:
    conditions, jobs = FILTERS[name]
    wanted = ResultFilter(**conditions)
    rows = [ResultRow.from_bytes(line) for line in LINES]
    profiles = [JobProfile(row.label, row.grader, row.outcome, row.cause) for row in rows]
    matcher = Matcher(wanted)
    matching = [line for line, _ in matcher.matches(b"\n".join(LINES), 0) if line]
    assert sum(map(wanted.admits, rows)) == jobs
    assert sum(map(wanted.admits, profiles)) == jobs
    assert matching == [line for line, row in zip(LINES, rows, strict=True) if wanted.admits(row)]
    assert matcher.most_in({"tally": TALLY.pack().decode()}) == jobs


@pytest.mark.parametrize("tally", ["", "[]", "7", '{"summary": [["[1]", 1]]}'])
def test_a_damaged_tally_excludes_no_chunk(tally: str) -> None:
    assert Matcher(ResultFilter(verdict="fail")).most_in({"tally": tally}) == inf


@pytest.mark.parametrize(
    "conditions",
    [{"verdict": "passed"}, {"status": "done"}, {"label": "x" * 300}, {"text": "\ud800"}],
)
def test_a_condition_that_no_result_can_meet_is_refused(conditions: dict[str, str]) -> None:
    with pytest.raises(InvalidFilterError):
        ResultFilter(**conditions)
