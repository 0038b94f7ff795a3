"""Consumption of a run according to its trace, without double counting and without estimates.

Model calls (steps of type `llm`) state their usage. A step around others, such as an agent's, may state the sum of the
calls inside it, and the trace may state that of the whole run: such a sum is never added to its parts, and replaces
them only if some of them lack a value. The source's total of the whole run is also used if it is larger than the sum of
its steps, because then steps are missing in the trace.
"""

from __future__ import annotations

from collections import defaultdict
from decimal import Decimal
from itertools import islice
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

from weighbridge.graders.trace_grader import STEP_IDS_LIMIT
from weighbridge.traces import Step, Trace, Usage

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping, Sequence

Amount = int | Decimal

_TOKENS_LIMIT = 10**15  #: larger figures are implausible and ignored
_ROUNDING = Decimal("1e-6")  #: relative difference allowed between two sums of the same costs


class AtLeast(Struct, frozen=True):
    """A lower bound of a value that is not completely stated."""

    amount: Amount


Stated = Amount | AtLeast | None  #: a value stated by a step or the run; None if missing
UNSTATED = AtLeast(0)  #: a value of a step that may have one, but does not state it


class Total(Struct, frozen=True):
    """A total over the steps of a run."""

    known: Amount  #: the exact value if `is_exact`, else a lower bound
    is_exact: bool
    is_stated: bool  #: True if any step, or the run, states a value
    missing: Sequence[Step]  #: the steps without an exact value that no sum replaces
    usage_steps: Sequence[Step]
    parts: Mapping[int, Amount]  #: the parts of `known` by the index of their step, in trace order
    #: the sum of the steps, if all of them have a value or it is above the run's own total
    by_steps: Amount | None = None
    by_run: Amount | None = None  #: the run's own total, if exact

    @property
    def steps(self) -> Sequence[Step]:
        """The first steps that contribute to the total, up to the limit of evidence."""
        return [self.usage_steps[at] for at in islice(self.parts, STEP_IDS_LIMIT)]

    @property
    def stating_ids(self) -> set[str]:
        """The ids of all steps that contribute to the total."""
        return {self.usage_steps[at].id for at in self.parts}

    def course(self) -> Iterator[tuple[Step, Amount]]:
        """Yield the steps that contribute to the total, each with the running total there."""
        running: Amount = 0
        for at, amount in self.parts.items():
            running += amount
            yield self.usage_steps[at], running

    def crossing(self, limit: Amount) -> tuple[Step, Amount] | None:
        """Return the step at which the running total first exceeds a limit, and the running total there.

        None if only the run's own total shows that the limit is exceeded.
        """
        return next(((step, running) for step, running in self.course() if running > limit), None)


class UsageSteps:
    """The steps of a trace that state, or should state, their usage, with their nesting."""

    def __init__(self, trace: Trace) -> None:
        stated = [
            (index, step)
            for index, step in enumerate(trace.steps)
            if step.type == "llm" or step.usage is not None or step.cost_usd is not None
        ]
        #: in trace order; `total` takes a value for each of them
        self.steps = [step for _, step in stated]
        counted = (trace.counts.llm_calls if trace.counts else None) or 0
        #: True if the source counts more model calls than were read
        self.are_too_few = counted > 0 and 0 < len(trace.steps_of("llm")) < counted
        others = {index: at for at, (index, step) in enumerate(stated) if step.type != "llm"}
        around = _enclosing(trace.steps, others) if others else [None] * len(trace.steps)
        #: for each step, the index in `steps` of the enclosing one
        outer = [None if (index := around[own]) is None else others[index] for own, _ in stated]
        self._outer = {at: outer[at] for at in others.values()}
        self._inner_first = _inner_first(self._outer)
        self._calls_in: dict[int | None, list[int]] = defaultdict(list)
        for at, step in enumerate(self.steps):
            if step.type == "llm":
                self._calls_in[outer[at]].append(at)
        self._unstated_total: Total | None = None  #: the total if no step has a value

    def total(self, stated: Sequence[Stated], by_run: Stated = None) -> Total:
        """Return the total of the steps' values; `by_run` is the run's own total."""
        if by_run is not None or stated.count(None) < len(stated):
            return self._sum(stated, by_run)
        if self._unstated_total is None:
            self._unstated_total = self._sum(stated, by_run)
        return self._unstated_total

    def _sum(self, stated: Sequence[Stated], by_run: Stated) -> Total:
        parts: dict[int, Amount] = {}
        sums = {at: _Sum() for at in (None, *self._inner_first)}
        for outer, calls in self._calls_in.items():
            sums[outer].add_calls(calls, stated, parts)
        for at in self._inner_first:
            excess = sums[at].stand_in(stated[at], at, has_all=not self.are_too_few)
            if excess:
                parts[at] = excess
            sums[self._outer[at]].include(sums[at])
        run = sums[None]
        total = None if isinstance(by_run, AtLeast) else by_run
        is_above = total is not None and exceeds(run.known, total)
        by_steps = run.known if run.calls and (is_above or not run.missing) else None
        run.stand_in_for_run(by_run)
        return Total(
            known=run.known,
            is_exact=run.is_exact and not run.missing,
            is_stated=run.is_stated,
            missing=[self.steps[at] for at in sorted(_flat(run.missing))],
            usage_steps=self.steps,
            parts=dict(sorted(parts.items())) if self._inner_first else parts,
            by_steps=by_steps,
            by_run=total,
        )


def exceeds(amount: Amount, other: Amount) -> bool:
    """Return whether an amount is larger than another by more than rounding errors of money."""
    return amount > other and (isinstance(amount, int) or amount - other > amount * _ROUNDING)


Indices: TypeAlias = "list[int | Indices]"
"""Indices of steps, as nested lists so that including an inner list takes constant time."""


class _Sum(Struct):
    """The sum of the calls inside one step or the run."""

    known: Amount = 0
    calls: int = 0
    is_stated: bool = False
    is_exact: bool = True
    missing: Indices = []  # a Struct gives each its own

    def add_calls(
        self, calls: Sequence[int], stated: Sequence[Stated], parts: dict[int, Amount]
    ) -> None:
        for at in calls:
            amount = stated[at]
            if amount is None or isinstance(amount, AtLeast):
                self.missing.append(at)
                amount = 0 if amount is None else amount.amount
            if amount:
                self.known += amount
                parts[at] = amount
        self.calls += len(calls)
        self.is_stated = bool(self.known) or len(self.missing) < len(calls)

    def include(self, inner: _Sum) -> None:
        self.known += inner.known
        self.calls += inner.calls
        self.is_stated = self.is_stated or inner.is_stated
        if inner.missing:
            self.missing.append(inner.missing)

    def stand_in(self, stated: Stated, at: int | None = None, *, has_all: bool = True) -> Amount:
        """Use a step's or run's own sum in place of its calls' values, unless these are complete.

        Returns the difference by which it exceeds their sum. If it is less, their sum is used, as a lower bound.
        `has_all`: whether all of its calls were read; if not, its own sum is used if it is larger, too.
        """
        if stated is None:
            return 0
        is_all = not isinstance(stated, AtLeast)
        amount = stated.amount if isinstance(stated, AtLeast) else stated
        excess = amount - self.known
        if self.calls and not self.missing:
            if has_all or not exceeds(amount, self.known):
                return 0
            self.known = amount
            return excess
        is_above = exceeds(self.known, amount)
        self.known = max(self.known, amount)
        self.is_stated = self.is_stated or is_all or bool(amount)
        if is_all and not is_above:
            self.missing = []
        elif not self.missing and at is not None:
            self.missing.append(at)
        elif not self.missing:
            self.is_exact = False
        return max(excess, 0)

    def stand_in_for_run(self, stated: Stated) -> None:
        """Use the run's own total in place of its steps' values if these are incomplete, or if it is larger."""
        self.stand_in(stated)
        amount = stated.amount if isinstance(stated, AtLeast) else stated
        if amount is not None and exceeds(amount, self.known):
            self.known = amount


def _inner_first(outer: Mapping[int, int | None]) -> list[int]:
    """Return the indices of steps, each after those inside it; `outer` is the enclosing step of each."""
    inside = dict.fromkeys(outer, 0)
    for around in outer.values():
        if around is not None:
            inside[around] += 1
    ready = [at for at, count in inside.items() if not count]
    for at in ready:
        around = outer[at]
        if around is not None:
            inside[around] -= 1
            if not inside[around]:
                ready.append(around)
    return ready


def _flat(missing: Indices) -> Iterator[int]:
    pending: Indices = [missing]
    while pending:
        found = pending.pop()
        if isinstance(found, list):
            pending += found
        else:
            yield found


def _enclosing(steps: Sequence[Step], wanted: Container[int]) -> list[int | None]:
    """Return for each step the index of the nearest enclosing step that is wanted.

    A missing parent counts as none, and a cycle of parents is broken at one of its steps.
    """
    indices = {step.id: index for index, step in enumerate(steps)}
    parents = [None if step.parent_id is None else indices.get(step.parent_id) for step in steps]
    nearest: list[int | None] = [None] * len(steps)
    is_known = [False] * len(steps)
    for index in range(len(steps)):
        path: list[int] = []
        at: int | None = index
        while at is not None and not is_known[at]:
            is_known[at] = True
            path.append(at)
            at = parents[at]
        if at is not None and path and at in set(path):
            parents[path[-1]] = None
        for inner in reversed(path):
            outer = parents[inner]
            if outer is not None:
                nearest[inner] = outer if outer in wanted else nearest[outer]
    return nearest


def valid_count(tokens: object) -> int | None:
    """Return a valid token count, or None."""
    return tokens if type(tokens) is int and 0 <= tokens <= _TOKENS_LIMIT else None


def stated_tokens(usage: Usage | None) -> Sequence[Stated]:
    """Return the input, output, total and cached tokens of a usage; None for each without a usage.

    The total is the larger one of the stated total and the sum of input and output.
    """
    if usage is None:
        return None, None, None, None
    sent, received = valid_count(usage.input_tokens), valid_count(usage.output_tokens)
    total, cached = valid_count(usage.total_tokens), valid_count(usage.cached_tokens)
    parts = (sent or 0) + (received or 0)
    stated_sum = parts if total is None or total < parts else total
    is_all = total is not None or (sent is not None and received is not None)
    output: Stated = UNSTATED if received is None else received
    if usage.is_partial:
        output, is_all = AtLeast(received or 0), False
    given: Stated = UNSTATED if sent is None else sent
    if sent is not None and sent < (cached or 0) + (valid_count(usage.cache_write_tokens) or 0):
        given, is_all = AtLeast(sent), False  # the cached tokens are a part of the input
    return (
        given,
        output,
        stated_sum if is_all else AtLeast(stated_sum),
        UNSTATED if cached is None else cached,
    )
