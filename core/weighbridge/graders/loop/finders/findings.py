"""Findings (repeated entries of a row), and the merging of overlapping findings."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from weighbridge.graders.loop.finders.kinds import KINDS_OF_SIMILAR_STEPS, Kind
from weighbridge.graders.loop.finders.rules import Rule
from weighbridge.graders.loop.work_budget import WorkBudget

_MOST = 0.8  #: share of a loop's entries that one kind must cover for the loop to get that kind
ABSORBED_GAP = 3  #: maximum entries between a loop and a further step that is added to it


class Measure(NamedTuple):
    """What by itself was enough for a loop: a rule, the number of steps that it counted, and how many are a loop."""

    rule: Rule
    counted: int
    least: int
    period: int | None  #: steps in one round; None if they repeat in no fixed order

    @property
    def observed(self) -> float:
        """The number that the rule compares: rounds, or steps of which one repeats."""
        return self._numbers[0]

    @property
    def limit(self) -> float:
        """The largest such number that is no loop."""
        return self._numbers[1]

    @property
    def _numbers(self) -> tuple[float, float]:
        period = self.period or 1
        # Full rounds if they tell the two numbers apart, or else half ones, or parts of one.
        for parts in (1, 2, period):
            observed, limit = (
                steps * parts // period / parts for steps in (self.counted, self.least - 1)
            )
            if observed > limit:
                break
        return _as_int(observed), _as_int(limit)


def _as_int(number: float) -> float:
    return int(number) if number == int(number) else round(number, 2)


@dataclass(frozen=True, slots=True)
class Finding:
    """Set of entries of a row that repeat each other."""

    kind: Kind
    period: int | None  #: None if the entries repeat in no fixed order
    indices: tuple[int, ...]  #: in order
    measure: Measure

    @classmethod
    def by(
        cls,
        rule: Rule,
        indices: Iterable[int],
        least: int,
        *,
        kind: Kind | None = None,
        period: int | None = None,
        count: int | None = None,
    ) -> Finding:
        """Return what a rule found, given how many entries are a loop, and how many it counted if not all."""
        found = tuple(indices)
        counted = len(found) if count is None else count
        return cls(kind or rule.kinds[0], period, found, Measure(rule, counted, least, period))

    def with_least(self, least: int) -> Finding:
        """Return the finding with the number of entries that are a loop in its case, if it is larger than for its rule."""
        if least <= self.measure.least:
            return self
        measure = self.measure._replace(least=least, counted=len(self.indices))
        return replace(self, measure=measure)


def joined(findings: Sequence[Finding], row: Sequence[int]) -> list[Finding]:
    """Merge overlapping findings, and extend them by nearby entries with the same numbers, but for those that a harness names."""
    # In a row of few distinct numbers in no fixed order, each of many findings could extend over the whole row.
    budget = WorkBudget()
    grown = [
        _grown(finding, row, budget)
        if budget.is_left and finding.kind is not Kind.STOPPED
        else finding
        for finding in merged(findings)
    ]
    return merged(grown)


def merged(findings: Sequence[Finding]) -> list[Finding]:
    """Merge overlapping findings."""
    groups: list[list[Finding]] = []
    end = -1
    for finding in sorted(findings, key=lambda finding: finding.indices[0]):
        if groups and finding.indices[0] <= end:
            groups[-1].append(finding)
        else:
            groups.append([finding])
        end = max(end, finding.indices[-1])
    return [_one(group) for group in groups]


def _one(group: list[Finding]) -> Finding:
    """Merge findings into one of the kind that covers the most indices, preferably a kind with a period.

    Few further indices are left out of a kind whose entries are equal, because those there are not.
    """
    indices = {index for finding in group for index in finding.indices}
    held: dict[tuple[Kind, int | None], set[int]] = defaultdict(set)
    for finding in group:
        held[finding.kind, finding.period].update(finding.indices)
    ordered = [kind for kind in held if kind[1]]
    kind = max(ordered or held, key=lambda kind: (len(held[kind]), -(kind[1] or 0)))
    if kind[1] and len(held[kind]) < _MOST * len(indices):
        mixed = (Kind.INTERLEAVED, None)
        kind = mixed if mixed in held else max(held, key=lambda kind: len(held[kind]))
    elif kind[1] and kind[0] is not Kind.NEAR_IDENTICAL:
        indices = held[kind]
    of_kind = [finding for finding in group if (finding.kind, finding.period) == kind]
    return Finding(*kind, tuple(sorted(indices)), max(of_kind, key=_enough).measure)


def _enough(finding: Finding) -> tuple[bool, int]:
    """Return a key for the finding whose rule was enough for a merged one: that with the most entries.

    A rule of another kind found only a part of its finding.
    """
    return finding.kind in finding.measure.rule.kinds, len(finding.indices)


def _grown(finding: Finding, row: Sequence[int], budget: WorkBudget) -> Finding:
    """Extend a finding by the entries inside it and near its ends that have one of its numbers."""
    first, last = finding.indices[0], finding.indices[-1]
    own = {row[index] for index in finding.indices}
    first = _reached(range(first - 1, -1, -1), first, own, row)
    last = _reached(range(last + 1, len(row)), last, own, row)
    budget.count_pass(last - first)
    indices = {index for index in range(first, last + 1) if row[index] in own}.union(
        finding.indices
    )
    grown = replace(finding, indices=tuple(sorted(indices)))
    if finding.period and len(indices) <= last - first:
        return replace(grown, kind=Kind.INTERLEAVED, period=None)
    return grown


def _reached(indices: range, reached: int, own: set[int], row: Sequence[int]) -> int:
    for index in indices:
        if row[index] < 0 or abs(index - reached) > ABSORBED_GAP + 1:
            break
        if row[index] in own:
            reached = index
    return reached


def rounds(finding: Finding, row: Sequence[int]) -> int:
    """Return the number of full rounds of a finding, or else the count of its most frequent step."""
    if finding.kind is Kind.REPEATED_PASSAGES:
        return finding.measure.counted
    if finding.kind in KINDS_OF_SIMILAR_STEPS:
        return len(finding.indices)
    if finding.period:
        return len(finding.indices) // finding.period
    return max(Counter(row[index] for index in finding.indices).values())
