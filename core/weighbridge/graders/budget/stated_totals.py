"""Differences between a source's own totals of a run and the sums of its steps."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from weighbridge.graders.budget.consumption import exceeds, valid_count
from weighbridge.text import encodable

if TYPE_CHECKING:
    from collections.abc import Callable

    from weighbridge.graders.budget.consumption import Amount, Total
    from weighbridge.traces import Trace

_WHERE_CHARACTERS = 100
_TIME_SHARE = 100  #: durations that differ by less than one part of so many, or by less than 1 ms, are the same
#: What a sum is of, by the name of its field in the details: the steps, the input and output tokens beside a total, or
#: the steps and the calls that were not read. A duration is no sum: it is from the first time to the last one.
SumOf = Literal["by_steps", "by_parts", "by_calls", "by_times"]
_ADDS_UP: dict[SumOf, str] = {
    "by_steps": "the steps add up",
    "by_parts": "input and output add up",
    "by_calls": "the steps and the calls that were not read add up",
    "by_times": "the times of its steps come",
}
_OF_STEPS = "the steps' own totals"


class Difference(Struct, frozen=True):
    """A total that the source states, and a different sum; the larger of the two is used."""

    by_source: Amount
    summed: Amount
    sum_of: SumOf = "by_steps"
    of_steps: bool = False  #: whether the steps state it themselves, and the run nothing

    def shown(self, what: str, where: str) -> dict[str, object]:
        """Return the difference for the details; `where` are the names of the source's fields."""
        return {
            "of": what,
            "by_source": _number(self.by_source),
            self.sum_of: _number(self.summed),
            "where": self._place(where),
        }

    def remark(self, where: str, write: Callable[[Amount], str]) -> str:
        """Return the difference as a remark for evidence, after a semicolon."""
        stated, summed = write(self.by_source), write(self.summed)
        return f"; {in_words(self._place(where), stated, summed, self.sum_of)}"

    def _place(self, where: str) -> str:
        return _OF_STEPS if self.of_steps else _named(where)


def in_words(where: str, by_source: str, summed: str, sum_of: SumOf) -> str:
    """Return a difference as a sentence, from what the details have of it, with its amounts as texts."""
    stated = f"add up to {by_source}" if where == _OF_STEPS else f"states {by_source}"
    return f"{where} {stated}, {_ADDS_UP[sum_of]} to {summed}; the larger figure is used"


def of_total(total: Total) -> Difference | None:
    """Return the difference between the run's own total and the sum of its steps, or None."""
    by_run, by_steps = total.by_run, total.by_steps
    if by_run is None or by_steps is None:
        return None
    return (
        Difference(by_run, by_steps)
        if exceeds(by_run, by_steps) or exceeds(by_steps, by_run)
        else None
    )


def of_tokens(trace: Trace, total: Total) -> Difference | None:
    """Return the difference for a total of tokens; a stated one may also be less than input and output together."""
    stated = valid_count(trace.usage.total_tokens) if trace.usage else None
    by_run, by_steps = total.by_run, total.by_steps
    if stated is not None and by_run is not None and stated < by_run:
        # The run's own total in `total` is the sum of its own input and output.
        if by_steps is None or by_steps < by_run:
            return Difference(stated, by_run, "by_parts")
        return Difference(stated, by_steps)
    found = of_total(total)
    if found or not total.is_exact:
        return found
    if stated is not None:
        is_less = by_steps is not None and stated < by_steps
        return Difference(stated, total.known) if is_less else None
    by_step = [valid_count(step.usage and step.usage.total_tokens) for step in total.usage_steps]
    if not by_step or None in by_step or any(step.type != "llm" for step in total.usage_steps):
        return None
    added = sum(each or 0 for each in by_step)
    if added < total.known:
        return Difference(added, total.known, "by_parts", of_steps=True)
    return None


def of_duration(stated: Amount, timed: Amount) -> Difference | None:
    """Return the difference between the duration that the source states and that of its times, in milliseconds, or None."""
    less, more = sorted((Decimal(stated), Decimal(timed)))
    is_notable = more - less >= 1 and (more - less) * _TIME_SHARE > more
    return Difference(stated, timed, "by_times") if is_notable else None


def of_count(counted: int | None, read: int, unread: int = 0) -> Difference | None:
    """Return the difference between the source's count and the number read, or None.

    `unread` is how many there are at least beyond those read, by other counts of the source.
    """
    if counted is not None and unread and counted < read + unread:
        return Difference(counted, read + unread, "by_calls")
    return None if counted is None or counted == read else Difference(counted, read)


def _named(where: str) -> str:
    return encodable(where[:_WHERE_CHARACTERS]) or "the source"


def _number(amount: Amount) -> int | float:
    return amount if isinstance(amount, int) else float(amount)
