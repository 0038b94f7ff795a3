"""The verdict of the tool that wrote a row, as metadata of the case."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from weighbridge_producer.input.mapping.known_datasets import SHAPES
from weighbridge_producer.input.mapping.recorded_verdicts import RecordedVerdict
from weighbridge_producer.input.mapping.row_values import MISSING, Path


@pytest.mark.parametrize(
    ("recorded", "verdict"),
    [
        (True, "pass"),
        (False, "fail"),
        (Decimal("1.0"), "pass"),
        (0, "fail"),
        ({"match": {"value": "C"}}, "pass"),
        ({"match": {"value": "C"}, "includes": {"value": "I"}}, "fail"),
        ({"is_str": {"name": "is_str", "value": True, "reason": None}}, "pass"),
        # Partly correct, a score, several values in one, and nothing judged.
        ({"model_graded": {"value": "P"}}, MISSING),
        (0.5, MISSING),
        ({"match": {"value": {"a": 1}}}, MISSING),
        ({}, MISSING),
        (None, MISSING),
    ],
)
def test_a_recorded_verdict_is_a_pass_if_all_of_its_checks_are(recorded: Any, verdict: Any) -> None:
    assert RecordedVerdict(Path("scores")).of({"scores": recorded}, 1) == verdict
    assert RecordedVerdict(Path("scores")).of({}, 1) is MISSING


def test_known_tools_have_their_verdicts_carried() -> None:
    assert {shape.name for shape in SHAPES if shape.verdict} == {
        "promptfoo results",
        "Inspect samples",
        "OpenAI Evals match events",
        "a DeepEval dataset",
        "a pydantic-evals report",
        "lm-evaluation-harness multiple choice",
    }
