"""The reading for each limit: the measurement and its steps."""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING, assert_never

from weighbridge.graders.budget.consumption import exceeds
from weighbridge.graders.budget.inexact_reasons import InexactReasons, first_few
from weighbridge.graders.budget.limit_table import LIMITS, limit_of
from weighbridge.graders.budget.limits import Breach, Reading, named, shown
from weighbridge.graders.budget.measurements import milliseconds
from weighbridge.graders.trace_grader import STEP_IDS_LIMIT, excerpt_of
from weighbridge.graders.values import as_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from weighbridge.graders.budget.consumption import Amount, Total
    from weighbridge.graders.budget.limit_table import Limit, Measured
    from weighbridge.graders.budget.measurements import Measurements
    from weighbridge.traces import Capability, Step

_NAME_CHARACTERS = 80


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
        self._reasons = InexactReasons(measured, lacking)
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
        return found.remark(self._measured.stated_by(name), shown) if found else ""

    def _tokens(self, limit: Limit) -> Reading:
        total = self._measured.totals[limit.measured]
        is_exact = self._measured.is_exact(limit.measured)
        return Reading(
            unit=limit.unit,
            known=total.known,
            is_exact=is_exact,
            is_stated=total.is_stated,
            breach=lambda most: _crossing(total, most, is_exact=is_exact),
            course=total.course,
            steps=total.steps,
            is_ignored=self._ignores_missing and not is_exact,
            inexact_reason="" if is_exact else self._reasons.of_tokens(total, limit.unit),
            inexact_steps=total.missing,
            remark=self._difference(limit.measured),
        )

    def _count(self, limit: Limit, steps: Sequence[Step], tool: str | None = None) -> Reading:
        """Return the reading of a number of steps; `tool` is the name of the tool if they are the calls of one."""
        measured = self._measured
        is_exact = measured.is_exact(limit.measured)
        known = measured.counted(limit.measured, len(steps))
        of_tool = "" if tool is None else f" of {tool[:_NAME_CHARACTERS]!r}"
        noun = limit.noun.split()[-1]
        in_part = known > 0 or (tool is not None and bool(measured.tool_steps))
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
            inexact_reason=(
                "" if is_exact else self._reasons.of_count(limit.capability, in_part=in_part)
            ),
            remark=self._difference(limit.measured),
            is_count=True,
        )

    def _duration(self, limit: Limit) -> Reading:
        measured = self._measured
        took = measured.duration
        is_exact = measured.is_exact(limit.measured)
        return Reading(
            unit=limit.unit,
            known=milliseconds(took.nanoseconds),
            is_exact=is_exact,
            is_stated=took.is_stated,
            breach=self._moment_beyond,
            course=self._moments,
            steps=took.edges,
            inexact_reason="" if is_exact else self._reasons.of_duration(),
            remark=self._difference(limit.measured),
        )

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
            inexact_reason="" if is_exact else self._reasons.of_latency(),
            inexact_steps=untimed,
            remark=f"; {which} is {named([slowest[0]])}" if slowest else "",
        )

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
            remark = f"; priced by {' and '.join(cost.price_lists)}: {first_few(models)}"
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
            inexact_reason="" if is_exact else self._reasons.of_cost(),
            inexact_steps=total.missing,
            remark=remark + self._difference(limit.measured),
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
        return Breach("it is known only from what the source counts, not from the steps")
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
