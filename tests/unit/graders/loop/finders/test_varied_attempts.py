"""Attempts that fail in one of several ways, when the budget for their comparison is spent between two of these."""

from __future__ import annotations

import pytest

from weighbridge.graders.loop import LoopGrader, work_budget


@pytest.mark.parametrize("limit", [700, 800, 900])
def test_a_kind_of_failures_that_is_described_no_more_is_left_out(limit, monkeypatch):
    monkeypatch.setattr(work_budget, "WORK_LIMIT", limit)
    steps = [
        {
            "id": f"s{at}",
            "type": "tool",
            "name": "bash",
            "arguments": {"command": "pytest"},
            "output": f"error: failed to do the thing word{'x' * (at % 3)} at a.py:{at}",
        }
        for at in range(30)
    ]
    assert LoopGrader(config={}).grade({"format": "weighbridge", "steps": steps})["verdict"]
