"""Why a measurement of a run is only a lower bound, or not known, in words for evidence."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from weighbridge.graders.budget.consumption import valid_count
from weighbridge.graders.budget.costs import priceable
from weighbridge.graders.budget.limits import named
from weighbridge.text import pluralize

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from weighbridge.graders.budget.consumption import Total
    from weighbridge.graders.budget.measurements import Measurements
    from weighbridge.traces import Capability, Step

_NAMED_THINGS = 3  #: reasons or models named in a description
_NO_COST = "neither a cost nor tokens to price are recorded"
_COST_IN_PART = "only a part of the cost or of the tokens to price is recorded"
_ONLY_A_TOTAL = "no cost, and of the tokens only a total, is recorded"
_COUNTS_MORE_CALLS = "the source counts more calls than it has recorded"
_COUNTS_MORE_MODEL_CALLS = "the source counts more model calls than it has recorded"


class InexactReasons:
    """The reasons why measurements of one run are not exact.

    `lacking` returns why the trace's source lacks a capability: all of it, or a part if its second argument is true.
    """

    def __init__(self, measured: Measurements, lacking: Callable[[Capability, bool], str]) -> None:
        self._measured = measured
        self._lacking = lacking

    def of_tokens(self, total: Total, unit: str) -> str:
        """Return why a total of tokens is not exact; `unit` says which tokens."""
        none, some = f"no {unit} are recorded", f"only a part of the {unit} is recorded"
        return self._of_total("token_usage", total, none, lambda _: none, some)

    def of_cost(self) -> str:
        """Return why the cost is not exact."""
        cost = self._measured.cost
        if cost.unpriced and not self._measured.is_unreadable("cost"):
            return first_few(
                [
                    f"{reason} ({named(steps)})" if steps else reason
                    for reason, steps in cost.unpriced.items()
                ]
            )
        return self._of_total("cost", cost.total, _NO_COST, self._why_unpriced, _COST_IN_PART)

    def of_count(self, capability: Capability | None, *, in_part: bool) -> str:
        """Return why a number of calls or steps is not exact; `in_part`: whether some are known."""
        return self._lacking(capability, in_part) if capability else self._of_unread_calls()

    def of_duration(self) -> str:
        """Return why a run may have begun before its first recorded time, or ended after the last."""
        measured = self._measured
        lacks_times = "timing" in measured.trace.missing
        if measured.is_unreadable("timing"):
            return self._lacking("timing", measured.times.are_recorded)
        if not measured.duration.is_exact and not (lacks_times and not measured.duration.is_stated):
            return "the start or the end of the run is not recorded"
        if lacks_times:
            return self._lacking("timing", measured.times.are_recorded)
        return _COUNTS_MORE_CALLS

    def of_latency(self) -> str:
        """Return why a call may have been slower than the slowest one recorded."""
        measured = self._measured
        missing, untimed = measured.trace.missing, measured.latencies.untimed
        if "timing" in missing and not measured.latencies.timed:
            return self._lacking("timing", measured.times.are_recorded)
        if untimed:
            calls = len(measured.llm_steps) + len(measured.tool_steps)
            return f"the start or the end of {len(untimed)} of {calls} calls is not recorded ({named(untimed)})"
        return self._of_unread_calls()

    def _of_unread_calls(self) -> str:
        """Return why the run may have calls that were not read."""
        measured = self._measured
        if "tool_calls" in measured.trace.missing:
            return self._lacking("tool_calls", bool(measured.tool_steps))
        if "llm_calls" in measured.trace.missing:
            return self._lacking("llm_calls", bool(measured.llm_steps))
        return _COUNTS_MORE_CALLS

    def _of_total(
        self,
        capability: Capability,
        total: Total,
        none: str,
        why_none: Callable[[Step], str],
        some: str,
    ) -> str:
        """Return why a total is not exact.

        `none` and `some` say that nothing or a part of it is recorded, and `why_none` why a step has nothing of it.
        """
        has_steps_without = total.is_stated and bool(total.missing)
        if capability in self._measured.trace.missing and not has_steps_without:
            return self._lacking(capability, total.is_stated)
        if not total.missing and self._measured.lacks_calls(total):
            return _COUNTS_MORE_MODEL_CALLS
        if not total.missing:
            return f"{some if total.is_stated else none} by the run and its steps"
        stating = total.stating_ids
        incomplete: list[Step] = []
        by_reason: defaultdict[str, list[Step]] = defaultdict(list, {none: []})
        for step in total.missing:
            if step.usage and step.usage.is_partial:
                incomplete.append(step)
            else:
                by_reason[some if step.id in stating else why_none(step)].append(step)
        reasons = [
            f"{reason} by {self._share(steps)} ({named(steps)})"
            for reason, steps in by_reason.items()
            if steps
        ]
        if incomplete:
            counted = f"the output of {self._share(incomplete)} was counted before it was complete"
            reasons.append(f"{counted} ({named(incomplete)})")
        return ", and ".join(reasons)

    def _why_unpriced(self, step: Step) -> str:
        """Return why a step has no exact cost."""
        usage = step.usage
        if usage is None:
            return _NO_COST
        if not self._measured.is_priced:
            return "no cost is recorded"
        if priceable(usage):
            return _COST_IN_PART
        return _ONLY_A_TOTAL if valid_count(usage.total_tokens) else _NO_COST

    def _share(self, steps: Sequence[Step]) -> str:
        if all(step.type == "llm" for step in steps):
            return f"{len(steps)} of {len(self._measured.llm_steps)} LLM steps"
        return f"{pluralize(len(steps), 'step')} that used a model"


def first_few(things: Sequence[str]) -> str:
    """Return the first reasons or models in a list, and the number of the others."""
    shown = ", ".join(things[:_NAMED_THINGS])
    more = len(things) - _NAMED_THINGS
    return f"{shown} and {more} more" if more > 0 else shown
