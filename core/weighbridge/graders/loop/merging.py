"""Findings: the entries of a row that repeat, and how; those that overlap are merged."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from weighbridge.graders.loop.work_budget import WorkBudget

_MOST = 0.8  #: of a loop's entries, for the loop to be named after a part of it
ABSORBED_GAP = 3  #: entries of the row between a loop and one more of its steps


#: The kinds of findings whose entries are alike, though each has a number of its own.
SAME_FAILURE = "same_failure"
REFUSED = "refused"
NOTHING_NEW = "nothing_new"
LIKE_EACH_OTHER = frozenset((SAME_FAILURE, REFUSED, NOTHING_NEW))


@dataclass(frozen=True, slots=True)
class Finding:
    """Entries of a row that repeat each other."""

    kind: str
    period: int | None  #: None where there is no order
    indices: tuple[int, ...]  #: in order


def joined(findings: list[Finding], row: Sequence[int]) -> list[Finding]:
    """Make one finding of those that overlap, and add what repeats them close by."""
    # Where few numbers come in no order, each of many findings could grow over the whole row.
    budget = WorkBudget()
    grown = [
        _grown(finding, row, budget) if budget.is_left else finding for finding in _merged(findings)
    ]
    return _merged(grown)


def _merged(findings: list[Finding]) -> list[Finding]:
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
    """Return all indices of some findings, named after the one that tells most of them."""
    indices = {index for finding in group for index in finding.indices}
    held: dict[tuple[str, int | None], set[int]] = defaultdict(set)
    for finding in group:
        held[finding.kind, finding.period].update(finding.indices)
    ordered = [kind for kind in held if kind[1]]
    kind = max(ordered or held, key=lambda kind: (len(held[kind]), -(kind[1] or 0)))
    if kind[1] and len(held[kind]) < _MOST * len(indices):
        kind = ("interleaved", None) if ("interleaved", None) in held else kind
    return Finding(*kind, tuple(sorted(indices)))


def _grown(finding: Finding, row: Sequence[int], budget: WorkBudget) -> Finding:
    """Add the entries within a finding, and a little before and after it, that hold numbers of its own."""
    first, last = finding.indices[0], finding.indices[-1]
    own = {row[index] for index in finding.indices}
    first = _reached(range(first - 1, -1, -1), first, own, row)
    last = _reached(range(last + 1, len(row)), last, own, row)
    budget.walk(last - first)
    indices = {index for index in range(first, last + 1) if row[index] in own}.union(
        finding.indices
    )
    grown = replace(finding, indices=tuple(sorted(indices)))
    if finding.period and len(indices) <= last - first:
        return replace(grown, kind="interleaved", period=None)
    return grown


def _reached(indices: range, reached: int, own: set[int], row: Sequence[int]) -> int:
    for index in indices:
        if row[index] < 0 or abs(index - reached) > ABSORBED_GAP + 1:
            break
        if row[index] in own:
            reached = index
    return reached


def rounds(finding: Finding, row: Sequence[int]) -> int:
    """Return how often a finding's steps came: its full rounds, or how often the most frequent came."""
    if finding.kind in LIKE_EACH_OTHER:
        return len(finding.indices)
    if finding.period:
        return len(finding.indices) // finding.period
    return max(Counter(row[index] for index in finding.indices).values())
