"""Counts of the pairs of two runs, by label and slice, in bounded memory."""

from __future__ import annotations

from bisect import insort
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from heapq import heappush, heapreplace
from typing import TYPE_CHECKING, TypeVar

from weighbridge.jobs.outcome import VACUOUS, Outcome
from weighbridge_producer.comparison.pairs import FILE, Condition, Group, Pair, condition_of
from weighbridge_producer.gating.fields import OTHER_VALUES, field_name, values_in
from weighbridge_producer.gating.slices import SLICES_LIMIT, SliceTally
from weighbridge_producer.statistics import PairedCounts

if TYPE_CHECKING:
    from weighbridge_producer.comparison.compared_results import Entry
    from weighbridge_producer.gating.fields import FieldPath

_LABELS_LIMIT = 1_000
_FILES_LIMIT = 10_000
_EXAMPLES = 3  #: example cases kept per condition
_CAUSES_LIMIT = 300  #: kinds of change per label; others are counted together
OTHER_LABELS = "(other labels)"
OTHER_CAUSES = "(other causes)"

Counted = TypeVar("Counted", Condition, tuple[Condition, str, str], tuple[Group, str, str])
Cell = tuple[bool, bool]  #: whether the first and the second result of a pair passed


@dataclass(slots=True)
class Conditions:
    """The pairs of a label that were graded under different conditions."""

    jobs: Counter[Condition] = field(default_factory=Counter)
    #: Versions or configurations before and after.
    sides: Counter[tuple[Condition, str, str]] = field(default_factory=Counter)
    examples: dict[Condition, list[tuple[int, str]]] = field(default_factory=dict)
    #: pairs with equal receipts: the same inputs, configuration, grader and result
    identical: int = 0

    def count(self, pair: Pair) -> None:
        """Count a pair of results."""
        before, after = pair.before, pair.after
        if not before or not after or not before.receipt:
            return
        if before.receipt == after.receipt:
            self.identical += 1
            return
        condition = condition_of(before, after)
        if condition is Condition.NONE:
            return
        self.jobs[condition] += 1
        self._keep_example(condition, (before.line, pair.custom_id))
        if named := _SIDES.get(condition):
            key = (condition, named(before), named(after))
            if key in self.sides or len(self.sides) < _LABELS_LIMIT:
                self.sides[key] += 1

    def _keep_example(self, condition: Condition, example: tuple[int, str]) -> None:
        """Keep the first cases in input order; pairs arrive in any order."""
        kept = self.examples.setdefault(condition, [])
        if len(kept) < _EXAMPLES or example < kept[-1]:
            insort(kept, example)
            del kept[_EXAMPLES:]

    def named(self, condition: Condition) -> list[str]:
        """Return the custom_ids of the first cases with a condition."""
        return [custom_id for _, custom_id in self.examples.get(condition, ())]


_SIDES: dict[Condition, Callable[[Entry], str]] = {
    Condition.VERSION: lambda entry: f"{entry.grader} {entry.grader_version}",
    Condition.CONFIGURATION: lambda entry: entry.config,
}


@dataclass(slots=True)
class SliceAllowance:
    """The remaining number of slices that may be counted separately, over all labels."""

    left: int = 2 * SLICES_LIMIT


@dataclass(slots=True)
class LabelTally:
    """The counts of the pairs of one label."""

    room: SliceAllowance = field(default_factory=SliceAllowance)
    groups: Counter[Group] = field(default_factory=Counter)
    cells: Counter[Cell] = field(default_factory=Counter)
    slices: dict[str, dict[str, Counter[Cell]]] = field(default_factory=dict)  #: by field, by value
    causes: Counter[tuple[Group, str, str]] = field(default_factory=Counter)  #: before and after
    conditions: Conditions = field(default_factory=Conditions)
    after: Counter[str] = field(default_factory=Counter)  #: the second run's results by outcome
    lost_verdicts: int = 0  #: judged in the first run only
    still_ungradable: int = 0  #: in both runs, for the same reason

    def count(self, pair: Pair, group: Group, by: tuple[FieldPath, ...]) -> None:
        """Count a pair."""
        before, after = pair.before, pair.after
        self.groups[group] += 1
        self.lost_verdicts += pair.lost_verdict
        if after:
            self.after[after.outcome] += 1
            self.after[VACUOUS] += after.cause == VACUOUS
        if before and after:
            self.conditions.count(pair)
            is_same = group is Group.UNCHANGED
            self.still_ungradable += is_same and after.outcome == Outcome.UNGRADABLE
            if not is_same:
                self._count_causes(group, _shown(before), _shown(after))
        if pair.is_judged and before and after:
            cell = (before.outcome == Outcome.PASSED, after.outcome == Outcome.PASSED)
            self.cells[cell] += 1
            for path in by:
                self._count_slice(field_name(path), before, after, cell)

    def _count_causes(self, group: Group, before: str, after: str) -> None:
        known = (group, before, after) in self.causes or len(self.causes) < _CAUSES_LIMIT
        self.causes[(group, before, after) if known else (group, OTHER_CAUSES, OTHER_CAUSES)] += 1

    def _count_slice(self, name: str, before: Entry, after: Entry, cell: Cell) -> None:
        values = self.slices.setdefault(name, {})
        for value in values_in(name, after.fields.get(name) or before.fields.get(name)):
            kept = value
            if kept not in values:
                if self.room.left > 0:
                    self.room.left -= 1
                else:
                    kept = OTHER_VALUES
            values.setdefault(kept, Counter())[cell] += 1


def _shown(entry: Entry) -> str:
    """Return a result's outcome and cause for display in a table."""
    return f"{entry.outcome}: {entry.cause}" if entry.cause else entry.outcome


def commonest(counts: Counter[Counted], most: int | None = None) -> list[tuple[Counted, int]]:
    """Return what was counted most often, in the order of its names where counts are equal."""
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:most]


def paired_counts(cells: Counter[Cell]) -> PairedCounts:
    """Return counts by cell as the 2 x 2 table used by the statistics."""
    return PairedCounts(
        *(cells[cell] for cell in ((True, True), (True, False), (False, True), (False, False)))
    )


class Examples:
    """The first pairs of each group, in input order."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: dict[Group, list[tuple[int, str, str, Pair]]] = {}

    def add(self, pair: Pair, group: Group) -> None:
        """Keep a pair if it is one of the first of its group."""
        entry = pair.before or pair.after
        if group is Group.UNCHANGED or not self._most or entry is None:
            return
        kept = self._kept.setdefault(group, [])
        # A heap with the last pair in input order on top, to be replaced by an earlier one.
        item = (-entry.line, pair.custom_id, pair.label or "", pair)
        if len(kept) < self._most:
            heappush(kept, item)
        elif item[0] > kept[0][0]:
            heapreplace(kept, item)

    def of(self, group: Group) -> list[Pair]:
        """Return the pairs kept for a group, in input order."""
        kept = self._kept.get(group, [])
        return [item[-1] for item in sorted(kept, key=lambda item: (-item[0], item[2]))]


class Tallies:
    """The counts of all pairs of two runs."""

    def __init__(self, by: tuple[FieldPath, ...], examples: int) -> None:
        self.by = by
        self._room = SliceAllowance()
        self.labels: dict[str | None, LabelTally] = {}
        self.examples = Examples(examples)
        self.after_slices = SliceTally(by)  #: the second run's results
        #: The first files found of results that are in one run only.
        self._files: dict[Group, set[str]] = {Group.NEW: set(), Group.GONE: set()}

    def count(self, pair: Pair) -> Group:
        """Count a pair, and return its group."""
        group = pair.group
        label = pair.label
        if label not in self.labels and len(self.labels) >= _LABELS_LIMIT:
            label = OTHER_LABELS
        tally = self.labels.get(label)
        if tally is None:
            tally = self.labels[label] = LabelTally(self._room)
        tally.count(pair, group, self.by)
        self.examples.add(pair, group)
        files = self._files.get(group)
        if files is not None and len(files) < _FILES_LIMIT and (file := pair.fields.get(FILE)):
            files.add(str(file))
        if self.by and pair.after:
            after = pair.after
            vacuous = after.cause == VACUOUS
            self.after_slices.add(after.label, after.outcome, after.fields, vacuous=vacuous)
        return group

    @property
    def files_of_both(self) -> list[str]:
        """The files that have both new and gone results, as those of traces with other ids in each run."""
        return sorted(self._files[Group.NEW] & self._files[Group.GONE])
