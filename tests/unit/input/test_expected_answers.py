"""Samples of Inspect with several targets: the first is expected, and the others go to graders that accept them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
import pytest

from weighbridge.grading.line_grader import grade_lines
from weighbridge.jobs.grader_spec import GraderSpec
from weighbridge.settings import Settings
from weighbridge_producer.input.files import Paths
from weighbridge_producer.input.mapping import FieldMapping
from weighbridge_producer.input.recognition import Opened, recognise

if TYPE_CHECKING:
    from pathlib import Path

CHAT = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "B"}]
FOLDED = GraderSpec("string-match", {"case_sensitive": False, "expected_any": ["D"]}, "folded")
EXACT = GraderSpec("string-match")
BOOLEAN = GraderSpec("true-false")


def mapping_of(path: Path, target: Any, *graders: GraderSpec) -> tuple[FieldMapping, Any]:
    row = {
        "id": "s",
        "epoch": 1,
        "input": "q",
        "target": target,
        "messages": CHAT,
        "output": {"completion": "b"},
    }
    path.write_bytes(orjson.dumps({"version": 2, "samples": [row]}))
    seen = recognise(Opened.first_of(Paths([path])), graders, Settings())
    assert seen
    assert seen.mapping
    return seen.mapping, row


def case_of(path: Path, target: Any, *graders: GraderSpec) -> dict[str, Any]:
    mapping, row = mapping_of(path, target, *graders)
    return mapping.case(row, 1)


def test_further_targets_are_accepted_by_each_grader_that_takes_them(tmp_path: Path) -> None:
    case = case_of(tmp_path / "log.json", ["A", "B", "C"], FOLDED, EXACT)
    assert case["inputs"]["expected_output"] == "A"
    assert [(spec["label"], spec["config"]) for spec in case["graders"]] == [
        ("folded", {"case_sensitive": False, "expected_any": ["D", "B", "C"]}),
        ("string-match", {"expected_any": ["B", "C"]}),
    ]
    results = map(orjson.loads, b"".join(grade_lines([orjson.dumps(case)], ())).splitlines())
    assert [row["result"]["verdict"] for row in results] == ["pass", "fail"]


@pytest.mark.parametrize("target", ["A", ["A"]])
def test_one_target_is_the_expected_output(target: Any, tmp_path: Path) -> None:
    case = case_of(tmp_path / "log.json", target, EXACT, BOOLEAN)
    assert case["inputs"]["expected_output"] == "A"
    assert "graders" not in case


@pytest.mark.parametrize(
    ("target", "graders"),
    [(["A", "B"], (EXACT, BOOLEAN)), (["A", "B"], (BOOLEAN,)), ([], (EXACT,)), ([1, 2], (EXACT,))],
)
def test_targets_that_a_grader_cannot_take_are_left_as_they_are(
    target: Any, graders: tuple[GraderSpec, ...], tmp_path: Path
) -> None:
    case = case_of(tmp_path / "log.json", target, *graders)
    assert case["inputs"]["expected_output"] == target
    assert "graders" not in case


def test_an_expected_output_of_the_users_own_replaces_all_targets(tmp_path: Path) -> None:
    mapping, row = mapping_of(tmp_path / "log.json", ["A", "B"], EXACT)
    case = FieldMapping.from_text(["expected_output=input"], mapping).case(row, 1)
    assert case["inputs"]["expected_output"] == "q"
    assert "graders" not in case
