"""The reading for each limit: the measurement, its steps, and the reason if it is not exact."""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING, assert_never

from weighbridge.graders.budget.consumption import exceeds, valid_count
from weighbridge.graders.budget.costs import priceable
from weighbridge.graders.budget.limit_table import LIMITS, limit_of
from weighbridge.graders.budget.limits import Breach, Reading, named, shown
from weighbridge.graders.budget.measurements import milliseconds
from weighbridge.graders.trace_grader import STEP_IDS_LIMIT, excerpt_of
from weighbridge.graders.values import as_json
from weighbridge.text import pluralize

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from weighbridge.graders.budget.consumption import Amount, Total
    from weighbridge.graders.budget.limit_table import Limit, Measured
    from weighbridge.graders.budget.measurements import Measurements
    from weighbridge.traces import Capability, Step, Usage

_NAMED_THINGS = 3  #: reasons or models named in a description
_NAME_CHARACTERS = 80
_ONLY_A_TOTAL = "no cost, and of the tokens only a total, is recorded"
_COUNTS_MORE_CALLS = "the source counts more calls than it has recorded"


class Readings:
    """The readings of one run for its limits.

    `lacking` returns why the trace's source lacks a capability: all of it, or a part if its second argument is true.
    """

    def __init__(
        self,
        measured: Measurements,
        lacking: Callable[[Capability, bool], str],
        *,
        ignores_missing: bool,
    ) -> None:
        self._measured = measured
        self._lacking = lacking
        self._ignores_missing = ignores_missing

    def of(self, check: str) -> Reading:
        """Return the reading for a limit, by its check in evidence.

        Raises KeyError if the check is not a limit.
        """
        limit, tool = limit_of(check)
        match limit.measured:
            case "input_tokens" | "output_tokens" | "total_tokens":
                return self._tokens(limit)
            case "tool_calls":
                return self._count(limit, self._measured.tool_steps)
            case "llm_calls":
                return self._count(limit, self._measured.llm_steps)
            case "steps":
                return self._count(limit, self._measured.trace.steps)
            case "tool_calls_by_tool":
                return self._count(limit, self._calls_by_tool.get(tool, ()), tool)
            case "duration_ms":
                return self._duration(limit)
            case "max_step_latency_ms":
                return self._latency(limit)
            case "cost_usd":
                return self._cost(limit)
            case _:
                assert_never(limit.measured)

    def ignored(self) -> list[Measured]:
        """Return the measurements by whose known part limits are judged, because the rest is to be ignored."""
        if not self._ignores_missing:
            return []
        return [
            limit.measured
            for check, limit in LIMITS.items()
            if limit.measured in self._measured.totals and self.of(check).is_ignored
        ]

    @cached_property
    def _calls_by_tool(self) -> dict[str | None, list[Step]]:
        calls: dict[str | None, list[Step]] = defaultdict(list)
        for step in self._measured.tool_steps:
            calls[step.name].append(step)
        return calls

    def _difference(self, name: str) -> str:
        found = self._measured.differences.get(name)
        return found.remark(self._measured.trace.totals_from, shown) if found else ""

    def _tokens(self, limit: Limit) -> Reading:
        total = self._measured.totals[limit.measured]
        is_exact = self._measured.is_exact(limit.measured)
        inexact_reason = ""
        if not is_exact:
            inexact_reason = self._inexact_reason(
                "token_usage",
                total,
                f"no {limit.unit} are recorded",
                f"only a part of the {limit.unit} is recorded",
            )
        return Reading(
            unit=limit.unit,
            known=total.known,
            is_exact=is_exact,
            is_stated=total.is_stated,
            breach=lambda most: _crossing(total, most, is_exact=is_exact),
            course=total.course,
            steps=total.steps,
            is_ignored=self._ignores_missing and not is_exact,
            inexact_reason=inexact_reason,
            inexact_steps=total.missing,
            remark=self._difference(limit.measured),
        )

    def _inexact_reason(self, capability: Capability, total: Total, none: str, some: str) -> str:
        """Return the reason why a total is not exact; `none` and `some` say that nothing or a part of it is recorded."""
        has_steps_without = total.is_stated and bool(total.missing)
        if capability in self._measured.trace.missing and not has_steps_without:
            return self._lacking(capability, total.is_stated)
        if not total.missing and self._measured.lacks_calls(total):
            return "the source counts more model calls than it has recorded"
        if not total.missing:
            return f"{some if total.is_stated else none} by the run and its steps"
        stating = total.stating_ids
        by_reason: dict[str, list[Step]] = {none: []}
        incomplete: list[Step] = []
        for step in total.missing:
            if step.usage and step.usage.is_partial:
                incomplete.append(step)
                continue
            reason = none
            if step.id in stating:
                reason = some
            elif capability == "cost" and step.usage:
                reason = self._why_unpriced(step.usage, none, some)
            by_reason.setdefault(reason, []).append(step)
        reasons = [
            f"{recorded} by {self._share(steps)} ({named(steps)})"
            for recorded, steps in by_reason.items()
            if steps
        ]
        if incomplete:
            counted = f"the output of {self._share(incomplete)} was counted before it was complete"
            reasons.append(f"{counted} ({named(incomplete)})")
        return ", and ".join(reasons)

    def _why_unpriced(self, usage: Usage, none: str, some: str) -> str:
        """Return the reason why tokens give no exact cost; `none` and `some` as for a total."""
        if not self._measured.is_priced:
            return "no cost is recorded"
        if priceable(usage):
            return some
        return _ONLY_A_TOTAL if valid_count(usage.total_tokens) else none

    def _share(self, steps: Sequence[Step]) -> str:
        if all(step.type == "llm" for step in steps):
            return f"{len(steps)} of {len(self._measured.llm_steps)} LLM steps"
        return f"{pluralize(len(steps), 'step')} that used a model"

    def _count(self, limit: Limit, steps: Sequence[Step], tool: str | None = None) -> Reading:
        """Return the reading of a number of steps; `tool` is the name of the tool if they are the calls of one."""
        measured = self._measured
        is_exact = measured.is_exact(limit.measured)
        known = measured.counted(limit.measured, len(steps))
        of_tool = "" if tool is None else f" of {tool[:_NAME_CHARACTERS]!r}"
        noun = limit.noun.split()[-1]
        inexact_reason = ""
        if not is_exact and limit.capability:
            in_part = known > 0 or (tool is not None and bool(measured.tool_steps))
            inexact_reason = self._lacking(limit.capability, in_part)
        elif not is_exact:
            inexact_reason = self._unread_calls()
        return Reading(
            unit=limit.unit + of_tool,
            known=known,
            is_exact=is_exact,
            is_stated=bool(known or (is_exact and measured.trace.steps)),
            breach=lambda most: _beyond(
                steps[int(most) :], int(most), noun, is_first=is_exact and known == len(steps)
            ),
            course=lambda: zip(steps, count(1)),
            steps=steps,
            inexact_reason=inexact_reason,
            remark=self._difference(limit.measured),
            is_count=True,
        )

    def _duration(self, limit: Limit) -> Reading:
        measured = self._measured
        took = measured.duration
        is_exact = measured.is_exact(limit.measured)
        inexact_reason = "" if is_exact else self._unknown_ends()
        return Reading(
            unit=limit.unit,
            known=milliseconds(took.nanoseconds),
            is_exact=is_exact,
            is_stated=took.is_stated,
            breach=self._moment_beyond,
            course=self._moments,
            steps=took.edges,
            inexact_reason=inexact_reason,
        )

    def _unknown_ends(self) -> str:
        """Return the reason why a run may have begun before its first recorded time, or ended after the last."""
        measured = self._measured
        lacks_times = "timing" in measured.trace.missing
        if not measured.duration.is_exact and not (lacks_times and not measured.duration.is_stated):
            return "the start or the end of the run is not recorded"
        if lacks_times:
            return self._lacking("timing", measured.times.are_recorded)
        return _COUNTS_MORE_CALLS

    def _moments(self) -> Iterator[tuple[Step, Amount]]:
        took = self._measured.duration
        if took.is_stated:
            for step, latest in self._measured.times.latest():
                yield step, milliseconds(latest - took.first)

    def _moment_beyond(self, limit: Amount) -> Breach:
        first = self._measured.duration.first
        found = self._measured.times.first_after(first + int(limit * 10**6))
        if found is None:
            return Breach("it is known only from the total of the run")
        step, time = found
        after = f"{shown(milliseconds(time - first))} ms after the start"
        if self._measured.is_exact("duration_ms"):
            return Breach(f"first exceeded at {named([step])}, {after}", [step])
        return Breach(
            f"exceeded at {named([step])} or before, at least {after}", [step], is_first=False
        )

    def _latency(self, limit: Limit) -> Reading:
        measured = self._measured
        timed, untimed, slowest = (
            measured.latencies.timed,
            measured.latencies.untimed,
            measured.latencies.slowest,
        )
        is_exact = measured.is_exact(limit.measured)
        which = "the slowest" if is_exact else "the slowest of those recorded"
        return Reading(
            unit=limit.unit,
            known=milliseconds(slowest[1]) if slowest else 0,
            is_exact=is_exact,
            is_stated=bool(timed),
            breach=self._slow_steps,
            course=lambda: ((step, milliseconds(took)) for step, took in timed),
            steps=[slowest[0]] if slowest else [],
            inexact_reason="" if is_exact else self._unknown_latencies(),
            inexact_steps=untimed,
            remark=f"; {which} is {named([slowest[0]])}" if slowest else "",
        )

    def _unknown_latencies(self) -> str:
        """Return the reason why a call may have been slower than the slowest one recorded."""
        measured = self._measured
        missing, untimed = measured.trace.missing, measured.latencies.untimed
        if "timing" in missing and not measured.latencies.timed:
            return self._lacking("timing", measured.times.are_recorded)
        if untimed:
            calls = len(measured.llm_steps) + len(measured.tool_steps)
            return f"the start or the end of {len(untimed)} of {calls} calls is not recorded ({named(untimed)})"
        return self._unread_calls()

    def _unread_calls(self) -> str:
        """Return the reason why the run may have calls that were not read."""
        measured = self._measured
        if "tool_calls" in measured.trace.missing:
            return self._lacking("tool_calls", bool(measured.tool_steps))
        if "llm_calls" in measured.trace.missing:
            return self._lacking("llm_calls", bool(measured.llm_steps))
        return _COUNTS_MORE_CALLS

    def _slow_steps(self, limit: Amount) -> Breach:
        slow = [step for step, took in self._measured.latencies.timed if milliseconds(took) > limit]
        is_first = self._measured.is_exact("max_step_latency_ms")
        return Breach(f"exceeded by {named(slow)}", slow, is_first=is_first)

    def _cost(self, limit: Limit) -> Reading:
        measured = self._measured
        cost, total = measured.cost, measured.cost.total
        is_exact = measured.is_exact(limit.measured)
        remark = ""
        if cost.priced_as:
            models = [
                f"{model[:_NAME_CHARACTERS]} as {price}" for model, price in cost.priced_as.items()
            ]
            remark = f"; priced by {' and '.join(cost.price_lists)}: {_some(models)}"
        return Reading(
            unit=limit.unit,
            known=total.known,
            is_exact=is_exact,
            is_stated=total.is_stated,
            breach=lambda most: _crossing(total, most, is_exact=is_exact),
            course=total.course,
            steps=total.steps,
            # A model without a known price never counts as free, even if missing usage is ignored.
            is_ignored=(
                self._ignores_missing and not is_exact and measured.is_priced and not cost.unpriced
            ),
            inexact_reason="" if is_exact else self._unpriced(),
            inexact_steps=total.missing,
            remark=remark + self._difference(limit.measured),
        )

    def _unpriced(self) -> str:
        cost = self._measured.cost
        if not cost.unpriced:
            none = "neither a cost nor tokens to price are recorded"
            some = "only a part of the cost or of the tokens to price is recorded"
            return self._inexact_reason("cost", cost.total, none, some)
        return _some(
            [
                f"{reason} ({named(steps)})" if steps else reason
                for reason, steps in cost.unpriced.items()
            ]
        )


def _crossing(total: Total, limit: Amount, *, is_exact: bool) -> Breach:
    found = total.crossing(limit)
    if found is None:
        return Breach("it is known only from the total of the run, not from its steps")
    step, running = found
    # A larger total of the run shows that steps are missing, which may be before this one.
    if is_exact and not exceeds(total.known, sum(total.parts.values())):
        where = f"first crossed at {named([step])}, where the running total was {shown(running)}"
        return Breach(where, [step])
    where = f"crossed at {named([step])} or before, where the running total was at least {shown(running)}"
    return Breach(where, [step], is_first=False)


def _beyond(steps: Sequence[Step], limit: int, noun: str, *, is_first: bool) -> Breach:
    if not steps:
        return Breach("it is known only from the source's own count, not from the steps")
    first, last = limit + 1, limit + len(steps)
    if first == last:
        which = f"{noun} {first} exceeds it"
    elif last - first == 1:
        which = f"{noun}s {first} and {last} exceed it"
    else:
        which = f"{noun}s {first} to {last} exceed it"
    if len(steps) > STEP_IDS_LIMIT:
        which += f" (the first {STEP_IDS_LIMIT} are listed)"
    step = steps[0]
    excerpt = f"{step.name or ''} {as_json(step.arguments)}" if step.type == "tool" else ""
    return Breach(which, steps, excerpt_of(excerpt), is_first)


def _some(things: Sequence[str]) -> str:
    named_things = ", ".join(things[:_NAMED_THINGS])
    return (
        named_things
        if len(things) <= _NAMED_THINGS
        else f"{named_things} and {len(things) - _NAMED_THINGS} more"
    )
