"""Gates for labels that no grader has are refused before anything is graded."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import pytest
import typer

from weighbridge.jobs.grader_spec import parse_specs
from weighbridge.settings import Settings
from weighbridge_producer.cli.gate_labels import check_labels
from weighbridge_producer.gating.gates import GateKind, parse_gate
from weighbridge_producer.input.source import Source

if TYPE_CHECKING:
    from pathlib import Path

INPUTS = {"agent_response": "a", "expected_output": "a"}
OWN = [{"grader": "string-match", "label": "strict"}, {"grader": "true-false"}]
CASES: list[dict[str, Any]] = [
    {"custom_id": "1", "inputs": INPUTS},
    {"custom_id": "2", "inputs": INPUTS, "graders": OWN},
    {"custom_id": "3", "inputs": INPUTS, "graders": 5},
]


def check(text: str, tmp_path: Path) -> None:
    (tmp_path / "cases.jsonl").write_text("".join(f"{json.dumps(case)}\n" for case in CASES))
    gates = [parse_gate(GateKind.MIN_PASS_RATE, text)]
    check_labels(gates, parse_specs(["string-match"]), Source(tmp_path / "cases.jsonl", Settings()))


@pytest.mark.parametrize("scope", ["", "*=", "string-match=", "strict=", "metadata.x:y=", "true-false="])  # fmt: skip
def test_labels_of_graders_and_of_cases_are_known(scope: str, tmp_path: Path) -> None:
    check(f"{scope}0.9", tmp_path)


def test_an_unknown_label_is_a_usage_error_that_lists_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(typer.BadParameter) as caught:
        check("strct=0.9", tmp_path)
    assert caught.value.param_hint == "--min-pass-rate"
    told = (
        "no grader has the label 'strct' (labels: strict, string-match, true-false); did you mean"
    )
    assert caught.value.message.startswith(told)


def test_an_input_that_can_be_read_once_is_left_to_the_run() -> None:
    stream = io.BytesIO(b"{}\n")
    gates = [parse_gate(GateKind.MIN_PASS_RATE, "strct=0.9")]
    check_labels(gates, parse_specs(["string-match"]), Source(stream, Settings()))
    assert stream.read() == b"{}\n"
