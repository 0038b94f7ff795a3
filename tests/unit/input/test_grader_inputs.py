"""Graders that need the same inputs can share a run."""

from __future__ import annotations

from weighbridge.jobs.grader_spec import GraderSpec
from weighbridge_producer.input.grader_inputs import input_groups


def test_graders_that_can_judge_the_same_cases_are_one_group() -> None:
    specs = [GraderSpec(grader) for grader in ("string-match", "loop", "true-false", "budget")]
    groups = input_groups([*specs, GraderSpec("unknown")])
    assert {needed: [spec.grader for spec in group] for needed, group in groups.items()} == {
        ("agent_response", "expected_output"): ["string-match", "true-false"],
        ("trace",): ["loop", "budget"],
    }
    assert input_groups([]) == {}
    assert list(input_groups(specs[::2])) == [("agent_response", "expected_output")]
