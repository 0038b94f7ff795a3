"""A check of every result in these tests: each loop is beyond the limit of the rule that made it."""

from __future__ import annotations

import pytest

from support.loop_rules import check_rules
from weighbridge.graders.loop.judgement import RunJudge


@pytest.fixture(autouse=True)
def each_loop_is_beyond_the_limit_of_its_rule(monkeypatch):
    """Check the rules and the limits of all loops that a test finds."""
    judge = RunJudge.judge

    def checked(self, trace, lacking):
        result = judge(self, trace, lacking)
        check_rules(result)
        return result

    monkeypatch.setattr(RunJudge, "judge", checked)
