"""Samples of Inspect with several targets: the first is expected, and the others go to graders that accept them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
import pytest

from weighbridge.grading.line_grader import grade_lines
from weighbridge.jobs.grader_spec import GraderSpec
from weighbridge.settings import Settings
from weighbridge_producer.input.files.input_paths import Paths
from weighbridge_producer.input.first_rows import Opened
from weighbridge_producer.input.mapping.expected_answers import with_accepted_answers
from weighbridge_producer.input.mapping.field_mapping import FieldMapping
from weighbridge_producer.input.mapping.mapping_text import parse_mapping
from weighbridge_producer.input.recognition import recognise

if TYPE_CHECKING:
    from pathlib import Path

    from weighbridge_producer.input.proposals.proposal import Proposal

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
    case = parse_mapping(["expected_output=input"], mapping).case(row, 1)
    assert case["inputs"]["expected_output"] == "q"
    assert "graders" not in case


SQUAD = [
    {"id": "1", "prediction_text": "Broncos", "answers": {"text": ["Denver Broncos", "Broncos"], "answer_start": [1, 8]}},
    {"id": "2", "prediction_text": "Santa", "answers": {"text": ["Santa Clara"], "answer_start": [3]}},
]  # fmt: skip


def proposal_for(path: Path, rows: list[Any], *graders: GraderSpec) -> Proposal:
    path.write_bytes(b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows))
    seen = recognise(Opened.first_of(Paths([path])), graders, Settings())
    assert seen
    assert seen.proposal
    return seen.proposal


def test_all_answers_of_a_row_are_proposed_to_graders_that_accept_several(tmp_path: Path) -> None:
    proposal = proposal_for(tmp_path / "a.jsonl", SQUAD, EXACT)
    assert proposal.mapping
    assert (
        proposal.text == "custom_id=id,agent_response=prediction_text,expected_output=answers.text"
    )
    assert proposal.caution == ""
    mapping = with_accepted_answers(parse_mapping([proposal.text]), [EXACT])
    cases = [orjson.dumps(mapping.case(row, 1)) for row in SQUAD]
    results = map(orjson.loads, b"".join(grade_lines(cases, [EXACT])).splitlines())
    assert [row["result"]["verdict"] for row in results] == ["pass", "fail"]


def test_one_answer_is_proposed_to_others_and_the_proposal_says_so(tmp_path: Path) -> None:
    proposal = proposal_for(tmp_path / "a.jsonl", SQUAD, EXACT, BOOLEAN)
    assert proposal.fields["expected_output"] == "answers.text.0"
    assert (
        proposal.caution
        == "expected_output: only the first of several answers, because not every grader accepts more than one"
    )
    mapping = parse_mapping(["custom_id=id,agent_response=x,expected_output=answers.text"])
    assert with_accepted_answers(mapping, [EXACT, BOOLEAN]) is mapping
    only_one = proposal_for(tmp_path / "b.jsonl", SQUAD[1:], EXACT, BOOLEAN)
    assert only_one.caution == ""
