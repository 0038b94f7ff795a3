"""All measurements of one run, independent of its limits."""

from __future__ import annotations

from collections import Counter
from decimal import Context, Decimal
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, assert_never

from weighbridge.graders.budget.consumption import UsageSteps, stated_tokens
from weighbridge.graders.budget.costs import cost, own_cost
from weighbridge.graders.budget.limit_table import BY_MEASUREMENT
from weighbridge.graders.budget.run_times import RunTimes
from weighbridge.graders.budget.stated_totals import (
    Difference,
    of_count,
    of_duration,
    of_tokens,
    of_total,
)
from weighbridge.graders.values import EXCERPT_CHARACTERS
from weighbridge.text import encodable
from weighbridge.traces import Counts
from weighbridge.traces.fields import UNREADABLE
from weighbridge.traces.unread_counts import MADE_BY_OTHERS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from weighbridge.graders.budget.consumption import Amount, Total
    from weighbridge.graders.budget.limit_table import Measured
    from weighbridge.graders.budget.prices import Rates
    from weighbridge.traces import Capability, Trace

_CALLS = frozenset({"llm_calls", "tool_calls"})
TOOLS_LIMIT = 50  #: tools whose number of calls is in the details
_NO_PRICES: Mapping[str, Rates] = MappingProxyType({})
_INTEGER_LIMIT = 2**63  #: limit of integers in results
#: Exact for all sums of values in a trace, and independent of the caller's context.
ARITHMETIC = Context(prec=100, traps=[])
FIELDS = (
    "input_tokens",
    "output_tokens",
    "total_tokens",
    "cached_tokens",
    "llm_steps_without_usage",
    "llm_calls",
    "tool_calls",
    "tools_called",
    "tool_calls_by_tool",
    "steps",
    "duration_ms",
    "max_step_latency_ms",
    "cost_usd",
    "cost_source",
    "at_least",
    "ignored",
    "differences",
)


class Measurements:
    """The consumption of a run; with `with_prices`, steps without a stated cost are priced."""

    def __init__(
        self, trace: Trace, *, with_prices: bool, own_prices: Mapping[str, Rates] = _NO_PRICES
    ) -> None:
        self._usage_steps = usage_steps = UsageSteps(trace)
        rows = [stated_tokens(step.usage) for step in usage_steps.steps]
        columns = zip(*rows, strict=True) if rows else [(), (), (), ()]
        self.trace = trace
        self.is_priced = with_prices
        self.llm_steps = trace.steps_of("llm")
        self.tool_steps = trace.steps_of("tool")
        self.input, self.output, self.tokens, self.cached = (
            usage_steps.total(stated, by_run)
            for stated, by_run in zip(columns, stated_tokens(trace.usage), strict=True)
        )
        self.times = RunTimes(trace)
        self.duration = self.times.duration()
        self.latencies = self.times.latencies()
        self.cost = (
            cost(trace, usage_steps, own_prices) if with_prices else own_cost(trace, usage_steps)
        )
        self.totals: dict[Measured, Total] = {
            "input_tokens": self.input,
            "output_tokens": self.output,
            "total_tokens": self.tokens,
            "cost_usd": self.cost.total,
        }
        counts = trace.counts or Counts()
        #: the calls that the source counts beyond those read
        self._unread: dict[Literal["llm_calls", "tool_calls"], int] = {
            "llm_calls": max(0, (counts.llm_calls or 0) - len(self.llm_steps)),
            "tool_calls": max(0, (counts.tool_calls or 0) - len(self.tool_steps)),
        }
        #: by measurement; None if the source's total equals that of the steps, or one is unknown
        self.differences: dict[str, Difference | None] = {
            **{name: of_total(total) for name, total in self.totals.items()},
            "total_tokens": of_tokens(trace, self.tokens),
            "llm_calls": of_count(counts.llm_calls, len(self.llm_steps)),
            "tool_calls": of_count(counts.tool_calls, len(self.tool_steps)),
            "steps": of_count(counts.steps, len(trace.steps), self.unread_calls),
            "duration_ms": self._difference_of_durations(),
        }

    def counted(self, name: str, read: int) -> int:
        """Return the number of calls or steps: the larger one of those read and the source's count, if it has one.

        Each call is a step, so those that the source counts beyond the calls read are steps beyond those read.
        """
        found = self.differences.get(name)
        least = read + self.unread_calls if name == "steps" else read
        return int(max(found.by_source, least)) if found else least

    def _difference_of_durations(self) -> Difference | None:
        durations = self.times.stated_and_timed()
        if durations is None:
            return None
        stated, timed = map(milliseconds, durations)
        return of_duration(int(stated), int(timed) if timed == int(timed) else timed)

    def stated_by(self, name: str) -> str:
        """Return the names of the source's fields that state a total, for display."""
        from_trace = self.trace.duration_from if name == "duration_ms" else ""
        return from_trace or self.trace.totals_from

    @property
    def unread_calls(self) -> int:
        """The number of calls of models and tools that the source counts beyond those read."""
        return sum(self._unread.values())

    def is_exact(self, name: Measured) -> bool:
        """Return whether a measurement is exact; if it is not, the figure is a lower bound."""
        match name:
            case "input_tokens" | "output_tokens" | "total_tokens" | "cost_usd":
                return self._is_exact_total(self.totals[name], BY_MEASUREMENT[name].capability)
            case "llm_calls":
                return self._is_counted("llm_calls") or "llm_calls" not in self.trace.missing
            case "tool_calls":
                return self._is_counted("tool_calls") or "tool_calls" not in self.trace.missing
            case "tool_calls_by_tool":
                return "tool_calls" not in self.trace.missing
            case "steps":
                return self._has_all_steps()
            case "duration_ms":
                is_whole = self.duration.is_of_run or not self._may_exceed_its_times()
                return self.duration.is_exact and is_whole and not self.is_unreadable("timing")
            case "max_step_latency_ms":
                has_times = bool(self.latencies.timed) or "timing" not in self.trace.missing
                return has_times and not self.latencies.untimed and not self.may_lack_calls
            case _:
                assert_never(name)

    def is_unreadable(self, capability: Capability | None) -> bool:
        """Return whether a recorded value of a capability cannot be read, so that the others are a part of it."""
        reason = capability and self.trace.missing.get(capability)
        return reason is not None and reason in UNREADABLE.values()

    def _is_counted(self, name: Literal["llm_calls", "tool_calls"]) -> bool:
        """Return whether the source states how many there are."""
        counts = self.trace.counts
        return counts is not None and getattr(counts, name) is not None

    @property
    def may_lack_calls(self) -> bool:
        """Whether the run may have calls of models or tools that were not read."""
        return self.unread_calls > 0 or not self.trace.missing.keys().isdisjoint(_CALLS)

    def _has_all_steps(self) -> bool:
        stated = self.trace.counts.steps if self.trace.counts else None
        if self.unread_calls:
            return stated is not None and stated >= len(self.trace.steps) + self.unread_calls
        return stated is not None or not self.trace.missing.keys() >= _CALLS

    def _may_exceed_its_times(self) -> bool:
        """Return whether the run may have begun before its first recorded time, or ended after the last.

        That is possible if a part of the run is missing with its times, or if the source counts calls of the run's own
        agent that were not read.
        """
        missing = self.trace.missing
        return {"timing", "llm_calls"} <= missing.keys() or any(
            unread and missing.get(name) not in MADE_BY_OTHERS
            for name, unread in self._unread.items()
        )

    def _is_exact_total(self, total: Total, capability: Capability | None) -> bool:
        """Return whether a total is exact; it is not if the source lacks the capability, or model calls.

        What is stated counts although the source lacks the capability, unless it lacks model calls too.
        """
        missing = self.trace.missing
        if self.is_unreadable(capability):
            return False
        is_recorded = capability not in missing or (total.is_stated and "llm_calls" not in missing)
        return total.is_exact and is_recorded and not self.lacks_calls(total)

    def lacks_calls(self, total: Total) -> bool:
        """Return whether a total is the sum of fewer model calls than the source counts."""
        return self._usage_steps.are_too_few and total.by_run is None

    def details(self, ignored: Sequence[Measured] = ()) -> dict[str, object]:
        """Return all measurements: null for unknown ones, and the names of those that are lower bounds.

        `ignored` are those whose missing part is ignored.
        """
        shown: dict[str, object] = {
            name: as_number(total.known) if total.is_stated or self.is_exact(name) else None
            for name, total in self.totals.items()
        }
        shown |= self._calls() | self._times()
        shown["cached_tokens"] = as_number(self.cached.known) if self.cached.is_stated else None
        shown["cost_source"] = self._cost_source()
        partly: set[str] = {
            name for name in BY_MEASUREMENT if shown[name] is not None and not self.is_exact(name)
        }
        if "tool_calls_by_tool" in partly:
            partly.add("tools_called")
        shown["at_least"] = sorted(partly, key=FIELDS.index)
        shown["ignored"] = list(ignored)
        shown["differences"] = [
            found.shown(name, self.stated_by(name))
            for name, found in self.differences.items()
            if found
        ]
        return {name: shown[name] for name in FIELDS}

    def _calls(self) -> dict[str, object]:
        calls: Counter[str] = Counter()
        for tool, count in Counter([step.name for step in self.tool_steps]).items():
            calls[encodable((tool or "")[:EXCERPT_CHARACTERS])] += count
        most = sorted(calls.items(), key=lambda item: (-item[1], item[0]))
        return {
            "llm_steps_without_usage": sum(step.usage is None for step in self.llm_steps),
            "llm_calls": self.counted("llm_calls", len(self.llm_steps)),
            "tool_calls": self.counted("tool_calls", len(self.tool_steps)),
            "tools_called": len(calls),
            "tool_calls_by_tool": dict(most[:TOOLS_LIMIT]),
            "steps": self.counted("steps", len(self.trace.steps)),
        }

    def _times(self) -> dict[str, object]:
        took, slowest = self.duration, self.latencies.slowest
        return {
            "duration_ms": as_number(milliseconds(took.nanoseconds)) if took.is_stated else None,
            "max_step_latency_ms": as_number(milliseconds(slowest[1])) if slowest else None,
        }

    def _cost_source(self) -> str | None:
        """Return the source of the cost: the trace, the configured prices, the price table, or a mix."""
        sources = ["trace"] if self.cost.is_own else []
        if self.cost.priced_as:
            sources += self.cost.price_lists
        return " and ".join(sources) or None


def milliseconds(nanoseconds: int) -> Decimal:
    """Convert nanoseconds to milliseconds exactly."""
    return Decimal(nanoseconds).scaleb(-6)


def as_number(amount: Amount | float) -> int | float:
    """Return an amount for JSON: an integer if it is whole and within 64 bits."""
    is_small = -_INTEGER_LIMIT < amount < _INTEGER_LIMIT
    return int(amount) if is_small and amount == int(amount) else float(amount)
