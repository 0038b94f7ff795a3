"""What holds for the rules and limits in any result of the loop grader."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge.graders.loop.finders.exemptions.spared import Reason
from weighbridge.graders.loop.finders.kinds import Kind
from weighbridge.graders.loop.finders.rules import RULES

if TYPE_CHECKING:
    from collections.abc import Mapping


def check_rules(result: Mapping[str, Any]) -> None:
    """Check that each loop names a rule, is of a kind, and is beyond the limit; and what is spared, why."""
    shown = [entry for entry in result["evidence"] if entry["check"] == "loop"]
    for entry, loop in zip(shown, result["details"]["loops"], strict=False):
        rule = RULES[loop["rule"]]
        assert entry["observed"] > entry["limit"] > 0, entry
        # With other steps between, a loop of one rule may be `interleaved`.
        assert Kind(loop["kind"]) in (*rule.kinds, Kind.INTERLEAVED), loop
        assert rule.repeated.partition("{")[0] in entry["description"], entry
    for each in result["details"]["spared"]:
        assert RULES[each["rule"]]
        assert Reason(each["reason"])
        assert each["steps"] > 1
        assert each["first_step_id"] != each["last_step_id"]
