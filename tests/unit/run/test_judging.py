"""What must be the same for an interrupted run to go on: graders, their versions, and the limits of jobs."""

from __future__ import annotations

from typing import Any

import pytest

from weighbridge.graders import BudgetGrader
from weighbridge.jobs.grader_spec import parse_specs
from weighbridge.settings import Settings
from weighbridge_producer.input.source import Source
from weighbridge_producer.run.judging import judging

GRADERS = parse_specs(["loop", {"grader": "budget", "config": {"max_steps": 3}}])
USUAL = judging(GRADERS, Settings())


@pytest.mark.parametrize(
    "limit",
    [
        {"job_deadline_seconds": 5.0},
        {"child_memory_limit_bytes": 2**28},
        {"observed_deaths_limit": 4},
    ],
)
def test_other_limits_of_jobs_are_another_judging(limit: dict[str, Any]) -> None:
    assert judging(GRADERS, Settings(**limit)) != USUAL


def test_other_graders_are_another_judging() -> None:
    assert judging(GRADERS[:1], Settings()) != USUAL


def test_another_version_of_a_grader_is_another_judging(monkeypatch: pytest.MonkeyPatch) -> None:
    assert judging(GRADERS, Settings()) == USUAL
    monkeypatch.setattr(BudgetGrader, "version", BudgetGrader.version + 1)
    assert judging(GRADERS, Settings()) != USUAL


def test_a_grader_that_only_a_server_has_is_no_error() -> None:
    assert judging(parse_specs(["theirs"]), Settings())["versions"]["theirs"] is None


def test_no_part_of_it_has_the_name_of_one_of_the_source() -> None:
    assert USUAL.keys().isdisjoint(Source([], Settings()).identity())
