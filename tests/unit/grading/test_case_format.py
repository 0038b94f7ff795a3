"""The documentation of cases and results is correct."""

import re
from pathlib import Path

import orjson
import pytest

from weighbridge.grading.case import CaseShape
from weighbridge.grading.line_grader import grade_lines
from weighbridge.grading.strict_json import DEPTH_LIMIT
from weighbridge.jobs.limits import NAME_LIMIT
from weighbridge.settings import GIB, MIB, Settings

PAGE = (Path(__file__).resolve().parents[3] / "docs/reference/case-format.md").read_text("utf-8")
EXAMPLES = [orjson.loads(text) for text in re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)]
CASES = [example for example in EXAMPLES if "inputs" in example]
RESULTS = [example for example in EXAMPLES if "status" in example]


def section(title: str) -> str:
    return PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def test_every_example_is_a_case_or_a_result() -> None:
    assert len(CASES) == 4
    assert len(RESULTS) == 2
    assert len(EXAMPLES) == 6


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["custom_id"])
def test_every_case_shown_is_graded(case: dict) -> None:
    [out] = grade_lines([orjson.dumps(case)], ["true-false"])
    results = [orjson.loads(row) for row in out.splitlines()]
    assert [row["status"] for row in results] == ["graded"] * len(case.get("graders", "1"))


def test_the_results_shown_are_those_of_such_cases() -> None:
    errored = CASES[0] | {"custom_id": "q-4", "inputs": {"agent_response": "Yes"}}
    del errored["metadata"]
    lines = [orjson.dumps(CASES[0]), b"", b"", orjson.dumps(errored)]
    found = [orjson.loads(row) for row in grade_lines(lines)]
    assert found == RESULTS
    assert [list(row) for row in found] == [list(row) for row in RESULTS]


def test_the_page_names_every_field() -> None:
    assert re.findall(r"^\| `(\w+)` \|", section("A case"), re.MULTILINE) == list(
        CaseShape.__annotations__
    )
    named = re.findall(r"^\| (`.*?`) \|", section("A result"), re.MULTILINE)
    assert re.findall(r"`(\w+)`", " ".join(named)) == list(RESULTS[0])


def test_the_page_gives_the_default_limits() -> None:
    limits, settings = section("Limits"), Settings()
    for shown in (
        f"| {settings.line_limit_bytes // MIB} MiB |",
        f"| {DEPTH_LIMIT} levels |",
        f"| {NAME_LIMIT} characters |",
        f"| {settings.batch_limit_lines:,} lines, {settings.batch_limit_bytes // GIB} GiB",
        f"expands {settings.expansion_limit}-fold",
    ):
        assert shown in limits
    for variable in re.findall(r"`WEIGHBRIDGE_(\w+)`", PAGE):
        assert variable.lower() in Settings.model_fields
