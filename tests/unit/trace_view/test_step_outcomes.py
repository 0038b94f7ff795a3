"""What a step of the timeline came to, in one line."""

from __future__ import annotations

from typing import Any

import orjson

from weighbridge.graders.loop import LoopGrader
from weighbridge.jobs.grader_spec import GraderSpec
from weighbridge_producer.trace_view.case_view import StepSelection, view_case


def test_a_call_with_an_error_and_an_output_shows_both_unless_one_says_it_all() -> None:
    call = {"type": "tool", "name": "find", "arguments": {}, "output": "none", "error": "E1"}
    steps: list[dict[str, Any]] = [call, {**call, "output": "E1"}, {**call, "error": None}]
    steps += [{**call, "arguments": None}, {"type": "llm", "output": "Well.", "error": "E2"}]
    trace = {"format": "weighbridge", "steps": steps}
    line = orjson.dumps({"custom_id": "t", "inputs": {"trace": trace}})
    result = orjson.loads(orjson.dumps(LoopGrader().grade(trace)))
    timeline = view_case(line, (GraderSpec("loop"),), "loop", result, StepSelection()).timeline
    assert timeline is not None
    assert [step.result for step in timeline.steps] == ["E1 → none", "E1", "none", "E1", "E2"]
