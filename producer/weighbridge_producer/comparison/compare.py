"""Comparison of two or more runs, pair by pair."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from weighbridge.jobs.outcome import Outcome
from weighbridge.settings import read_settings
from weighbridge_producer.comparison.compared_results import Entry
from weighbridge_producer.comparison.input_order import InputOrder
from weighbridge_producer.comparison.notes import notes_of
from weighbridge_producer.comparison.pairing import PairKey
from weighbridge_producer.comparison.pairs import FILE, Group, Pair, by_case, pairs_of, place_of
from weighbridge_producer.comparison.partitions import Partitions
from weighbridge_producer.comparison.rates import Rates, adjusted
from weighbridge_producer.comparison.runs import (
    HasPages,
    Run,
    run_of_batch,
    run_of_file,
    run_of_lines,
)
from weighbridge_producer.comparison.tallies import Tallies, commonest, paired_counts
from weighbridge_producer.gating.fields import OTHER_VALUES, parse_field
from weighbridge_producer.gating.slices import SLICES_SHOWN, SliceTally, summary_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from weighbridge.jobs.outcome import GraderSummary
    from weighbridge_producer.comparison.tallies import LabelTally
    from weighbridge_producer.gating.fields import FieldPath

Results = str | Path | HasPages | Iterable[bytes]  #: see `compare`
EXAMPLES = 20  #: per group
_CAUSES_SHOWN = 50  #: per label
#: A run's number, and the fields of a pair.
_NumberedPair = tuple[int, str, str | None, Entry | None, Entry | None]
_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(_NumberedPair)


@dataclass(frozen=True, slots=True)
class Slice:
    """The rates of the pairs with one value of a metadata field."""

    field: str  #: `metadata.topic`
    value: str
    rates: Rates

    def as_dict(self) -> dict[str, Any]:
        """Return the slice in its JSON form."""
        return {"field": self.field, "value": self.value, **self.rates.as_dict()}


class LabelComparison:
    """The changes under one label."""

    def __init__(self, label: str | None, tally: LabelTally, rates: Rates) -> None:
        self.label = label
        self.tally = tally
        self.rates = rates
        self.slices: list[Slice] = []

    def jobs(self, group: Group) -> int:
        """Return the number of pairs in a group."""
        return self.tally.groups[group]

    def as_dict(self) -> dict[str, Any]:
        """Return the label's comparison in its JSON form."""
        conditions = self.tally.conditions
        return {
            "label": self.label,
            "groups": _groups(self.tally.groups),
            "rates": self.rates.as_dict(),
            "slices": [each.as_dict() for each in self.slices],
            "causes": [
                {"change": str(group), "before": before, "after": after, "jobs": jobs}
                for (group, before, after), jobs in commonest(self.tally.causes, _CAUSES_SHOWN)
            ],
            "conditions": {
                "different": [
                    {
                        "condition": str(condition),
                        "jobs": jobs,
                        "first": conditions.named(condition),
                    }
                    for condition, jobs in commonest(conditions.jobs)
                ],
                "changes": [
                    {"condition": str(condition), "before": before, "after": after, "jobs": jobs}
                    for (condition, before, after), jobs in commonest(
                        conditions.sides, _CAUSES_SHOWN
                    )
                ],
                "identical_receipts": conditions.identical,
            },
        }


class Comparison:
    """The changes from one run to another."""

    def __init__(self, before: Run, after: Run, tallies: Tallies) -> None:
        self.before = before
        self.after = after
        self._tallies = tallies
        ordered = sorted(tallies.labels.items(), key=lambda item: (item[0] is None, item[0] or ""))
        rates = adjusted(Rates(paired_counts(tally.cells)) for _, tally in ordered)
        self.labels = [
            LabelComparison(label, tally, each)
            for (label, tally), each in zip(ordered, rates, strict=True)
        ]
        self._add_slices()

    def _add_slices(self) -> None:
        """Add the slices to each label, with p-values adjusted over all slices."""
        cut = [
            (label, name, value, cells)
            for label in self.labels
            for name, values in label.tally.slices.items()
            for value, cells in _largest(values)
        ]
        rates = adjusted(Rates(paired_counts(cells)) for *_, cells in cut)
        for (label, name, value, _), each in zip(cut, rates, strict=True):
            label.slices.append(Slice(name, value, each))

    @property
    def groups(self) -> Counter[Group]:
        """Number of pairs by group, over all labels."""
        total: Counter[Group] = Counter()
        for label in self.labels:
            total.update(label.tally.groups)
        return total

    @property
    def pairs(self) -> int:
        """Number of results that are in both runs."""
        groups = self.groups
        return groups.total() - groups[Group.NEW] - groups[Group.GONE]

    @property
    def judged_pairs(self) -> int:
        """Number of results that passed or failed in both runs."""
        return sum(label.rates.counts.pairs for label in self.labels)

    @property
    def lost_verdicts(self) -> int:
        """Number of results that were judged in the first run only."""
        return sum(label.tally.lost_verdicts for label in self.labels)

    @property
    def notes(self) -> list[str]:
        """Notes on results graded under different conditions, and on results not compared, one sentence each."""
        conditions = ((label.label, label.tally.conditions) for label in self.labels)
        files = self._tallies.files_of_both
        ungradable = sum(label.tally.still_ungradable for label in self.labels)
        return notes_of(conditions, (self.before, self.after), files, ungradable)

    @property
    def after_labels(self) -> list[GraderSummary]:
        """The second run's outcomes by label; results without a custom_id are counted as errored."""
        rows = [summary_of(label.label or "", label.tally.after) for label in self.labels]
        unnamed = self.after.unnamed
        return [*rows, summary_of("", {Outcome.ERRORED: unnamed})] if unnamed else rows

    @property
    def after_slices(self) -> SliceTally:
        """The second run's outcomes by the metadata fields of the comparison."""
        return self._tallies.after_slices

    def examples(self, group: Group) -> list[Pair]:
        """Return the first pairs of a group, in input order."""
        return self._tallies.examples.of(group)

    def as_dict(self) -> dict[str, Any]:
        """Return the comparison in its JSON form."""
        shown = [group for group in Group if group is not Group.UNCHANGED]
        return {
            "before": self.before.as_dict(),
            "after": self.after.as_dict(),
            "groups": _groups(self.groups),
            "notes": self.notes,
            "labels": [label.as_dict() for label in self.labels],
            "examples": {
                _key(group): [pair.as_dict() for pair in self.examples(group)] for group in shown
            },
        }


def compare(
    before: Results,
    after: Results,
    *,
    by: Sequence[str] = (),
    pair_by: str = "",
    examples: int = EXAMPLES,
) -> Comparison:
    """Compare two runs, with their results paired by label and custom_id, or else by the metadata field `pair_by`.

    A run is the path of a results file (`.jsonl`, plain, .gz or .zst), a batch of a `Client`, with its results so far,
    or an iterable of result lines. `by` are fields such as `metadata.topic` by which rates are broken down. `examples`
    is the number of pairs to keep from each group.

    Raises InputError for lines that are not results, InvalidFilterError for an invalid field.
    """
    runs = [_run(before, "before"), _run(after, "after")]
    fields = tuple(map(parse_field, by))
    key = PairKey.parse(pair_by)
    [comparison] = compare_runs(runs, by=fields, pair_by=key, examples=examples, in_full=True)
    return comparison


def _run(results: Results, name: str) -> Run:
    if isinstance(results, (str, Path)):
        return run_of_file(Path(results), read_settings())
    if isinstance(results, HasPages):
        return run_of_batch(results)
    return run_of_lines(name, results)


def compare_runs(
    runs: Sequence[Run],
    *,
    by: tuple[FieldPath, ...] = (),
    pair_by: PairKey | None = None,
    examples: int = EXAMPLES,
    on_change: Callable[[Run, Pair], None] | None = None,
    in_full: bool = False,
) -> list[Comparison]:
    """Compare each further run with the first one, and return one comparison per run.

    `by` are the metadata fields by which rates are broken down. With `pair_by`, results are paired by a field instead of
    the custom_id, and its value is the custom_id of their pairs. `on_change` is called with a run and each of its pairs
    that changed, in the order of the first run's input and then of the others'. `in_full` adds to pairs what was expected
    and observed, and all metadata fields. Memory does not grow with the results, except with those that have one value of
    `pair_by`; a temporary file takes about 100 bytes per result, and what `in_full` adds.
    """
    reference, *others = runs
    tallies = [Tallies(by, examples) for _ in others]
    with Partitions() as partitions, InputOrder() as changes:
        for number, run in enumerate(runs):
            for value, entry in _keyed(run, by, pair_by, in_full=in_full):
                partitions.add(number, value, entry)
        for read in partitions.read():
            numbered = pair_by.named(read) if pair_by else read
            for custom_id, (first, *rest) in by_case(numbered, list(runs)):
                for number, (tally, second) in enumerate(zip(tallies, rest, strict=True), start=1):
                    place = place_of(number, first, second) if on_change else None
                    for pair in pairs_of(custom_id, first, second):
                        group = tally.count(pair)
                        if place and group is not Group.UNCHANGED:
                            changes.add(*place, _encoder.encode((number, *pair)))
        if on_change:
            for number, *pair in map(_decoder.decode, changes.read()):
                on_change(runs[number], Pair(*pair))
    for run, tally in zip(others, tallies, strict=True):
        if tally.after_slices.absent:
            for side in (reference, run):
                side.note_fields(tally.after_slices.present)
    return [Comparison(reference, run, tally) for run, tally in zip(others, tallies, strict=True)]


def _keyed(
    run: Run, by: tuple[FieldPath, ...], pair_by: PairKey | None, *, in_full: bool
) -> Iterable[tuple[str, Entry]]:
    """Return the results of a run, each with the value by which it is paired."""
    if pair_by:
        fields = (*by, pair_by.path)
        return pair_by.keyed(run, run.entries(fields, in_full=in_full, with_unnamed=True))
    fields = (*by, parse_field(FILE))
    return ((entry.custom_id or "", entry) for entry in run.entries(fields, in_full=in_full))


def _largest(
    values: dict[str, Counter[tuple[bool, bool]]],
) -> list[tuple[str, Counter[tuple[bool, bool]]]]:
    """Return the largest slices, and the others combined into one."""
    rest = values.pop(OTHER_VALUES, Counter())
    ordered = sorted(values.items(), key=lambda item: (-item[1].total(), item[0]))
    for _, cells in islice(ordered, SLICES_SHOWN, None):
        rest.update(cells)
    return ordered[:SLICES_SHOWN] + ([(OTHER_VALUES, rest)] if rest else [])


def _groups(groups: Counter[Group]) -> dict[str, int]:
    return {_key(group): groups[group] for group in Group}


def _key(group: Group) -> str:
    return str(group).replace(" ", "_")
