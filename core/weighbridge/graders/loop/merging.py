"""What was found: the places of a row that repeat, and how."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from weighbridge.graders.loop.work_budget import WorkBudget

_MOST = 0.8  #: of a loop's places, for the loop to be named after a part of it
ABSORBED_GAP = 3  #: places between a loop and one more of its steps


@dataclass(frozen=True, slots=True)
class Finding:
    """Places of a row that repeat each other."""

    kind: str
    period: int | None  #: None where there is no order
    places: tuple[int, ...]  #: in order


def joined(findings: list[Finding], row: Sequence[int]) -> list[Finding]:
    """Make one finding of those that overlap, and add what repeats them close by."""
    # Where few numbers come in no order, each of many findings could grow over the whole row.
    effort = WorkBudget()
    grown = [
        _grown(finding, row, effort) if effort.is_left else finding for finding in _merged(findings)
    ]
    return _merged(grown)


def _merged(findings: list[Finding]) -> list[Finding]:
    groups: list[list[Finding]] = []
    end = -1
    for finding in sorted(findings, key=lambda finding: finding.places[0]):
        if groups and finding.places[0] <= end:
            groups[-1].append(finding)
        else:
            groups.append([finding])
        end = max(end, finding.places[-1])
    return [_one(group) for group in groups]


def _one(group: list[Finding]) -> Finding:
    """Return all places of some findings, named after the one that tells most of them."""
    places = {place for finding in group for place in finding.places}
    held: dict[tuple[str, int | None], set[int]] = defaultdict(set)
    for finding in group:
        held[finding.kind, finding.period].update(finding.places)
    ordered = [kind for kind in held if kind[1]]
    kind = max(ordered or held, key=lambda kind: (len(held[kind]), -(kind[1] or 0)))
    if kind[1] and len(held[kind]) < _MOST * len(places):
        kind = ("interleaved", None) if ("interleaved", None) in held else kind
    return Finding(*kind, tuple(sorted(places)))


def _grown(finding: Finding, row: Sequence[int], effort: WorkBudget) -> Finding:
    """Add the places within a finding, and a little before and after it, that hold numbers of its own."""
    first, last = finding.places[0], finding.places[-1]
    own = {row[place] for place in finding.places}
    first = _reached(range(first - 1, -1, -1), first, own, row)
    last = _reached(range(last + 1, len(row)), last, own, row)
    effort.walk(last - first)
    places = {place for place in range(first, last + 1) if row[place] in own}.union(finding.places)
    grown = replace(finding, places=tuple(sorted(places)))
    if finding.period and len(places) <= last - first:
        return replace(grown, kind="interleaved", period=None)
    return grown


def _reached(places: range, reached: int, own: set[int], row: Sequence[int]) -> int:
    for place in places:
        if row[place] < 0 or abs(place - reached) > ABSORBED_GAP + 1:
            break
        if row[place] in own:
            reached = place
    return reached


def rounds(finding: Finding, row: Sequence[int]) -> int:
    """Return how often a finding's steps came: its full rounds, or how often the most frequent came."""
    if finding.period:
        return len(finding.places) // finding.period
    return max(Counter(row[place] for place in finding.places).values())
