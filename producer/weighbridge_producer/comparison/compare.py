"""Comparing two or more runs, pair by pair."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weighbridge.jobs.outcome import Outcome
from weighbridge.settings import read_settings
from weighbridge_producer.comparison.caveats import notes_of
from weighbridge_producer.comparison.pairs import Group, by_case, pairs_of
from weighbridge_producer.comparison.partitions import Partitions
from weighbridge_producer.comparison.rates import Rates, adjusted
from weighbridge_producer.comparison.runs import (
    HasPages,
    Run,
    run_of_batch,
    run_of_file,
    run_of_lines,
)
from weighbridge_producer.comparison.tallies import Tallies, paired_counts
from weighbridge_producer.gating.fields import parse_field
from weighbridge_producer.gating.slices import OTHER_VALUES, SLICES_SHOWN, SliceTally, summary_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from weighbridge.jobs.outcome import GraderSummary
    from weighbridge_producer.comparison.pairs import Pair
    from weighbridge_producer.comparison.tallies import LabelTally
    from weighbridge_producer.gating.fields import FieldPath

Results = str | Path | HasPages | Iterable[bytes]  #: see `compare`
EXAMPLES = 20  #: kept of each group
_CAUSES_SHOWN = 50  #: of each label


@dataclass(frozen=True, slots=True)
class Slice:
    """The rates of the pairs whose metadata have one value of a field."""

    field: str  #: `metadata.topic`
    value: str
    rates: Rates

    def as_dict(self) -> dict[str, Any]:
        """Return the slice as JSON shows it."""
        return {"field": self.field, "value": self.value, **self.rates.as_dict()}


class LabelComparison:
    """What changed under one label."""

    def __init__(self, label: str | None, tally: LabelTally, rates: Rates) -> None:
        self.label = label
        self.tally = tally
        self.rates = rates
        self.slices: list[Slice] = []

    def jobs(self, group: Group) -> int:
        """Return how many pairs are in a group."""
        return self.tally.groups[group]

    def as_dict(self) -> dict[str, Any]:
        """Return the label as JSON shows it."""
        conditions = self.tally.conditions
        return {
            "label": self.label,
            "groups": _groups(self.tally.groups),
            "rates": self.rates.as_dict(),
            "slices": [each.as_dict() for each in self.slices],
            "causes": [
                {"group": str(group), "before": before, "after": after, "jobs": jobs}
                for (group, before, after), jobs in self.tally.causes.most_common(_CAUSES_SHOWN)
            ],
            "conditions": {
                "different": [
                    {
                        "condition": str(condition),
                        "jobs": jobs,
                        "first": conditions.named(condition),
                    }
                    for condition, jobs in conditions.jobs.most_common()
                ],
                "changes": [
                    {"condition": str(condition), "before": before, "after": after, "jobs": jobs}
                    for (condition, before, after), jobs in conditions.sides.most_common(
                        _CAUSES_SHOWN
                    )
                ],
                "identical_receipts": conditions.identical,
            },
        }


class Comparison:
    """What changed from one run to another."""

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
        """Give each label its slices, with p-values adjusted for all of them together."""
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
        """Pairs by group, over all labels."""
        total: Counter[Group] = Counter()
        for label in self.labels:
            total.update(label.tally.groups)
        return total

    @property
    def pairs(self) -> int:
        """How many results both runs have."""
        groups = self.groups
        return groups.total() - groups[Group.NEW] - groups[Group.GONE]

    @property
    def judged_pairs(self) -> int:
        """How many results passed or failed in both runs."""
        return sum(label.rates.counts.pairs for label in self.labels)

    @property
    def lost_verdicts(self) -> int:
        """How many results the first run judged and the second did not."""
        return sum(label.tally.lost_verdicts for label in self.labels)

    @property
    def notes(self) -> list[str]:
        """Where results were graded under different conditions, and which were not compared, a sentence each."""
        conditions = ((label.label, label.tally.conditions) for label in self.labels)
        return notes_of(conditions, (self.before, self.after))

    @property
    def after_labels(self) -> list[GraderSummary]:
        """What the second run's results came to, label by label; those without a custom_id have errored."""
        rows = [summary_of(label.label or "", label.tally.after) for label in self.labels]
        unnamed = self.after.unnamed
        return [*rows, summary_of("", {Outcome.ERRORED: unnamed})] if unnamed else rows

    @property
    def after_slices(self) -> SliceTally:
        """The same by the fields of the metadata that the comparison tells apart."""
        return self._tallies.after_slices

    def examples(self, group: Group) -> list[Pair]:
        """Return the first pairs of a group, in the order of the input."""
        return self._tallies.examples.of(group)

    def as_dict(self) -> dict[str, Any]:
        """Return the comparison as JSON shows it."""
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
    before: Results, after: Results, *, by: Sequence[str] = (), examples: int = EXAMPLES
) -> Comparison:
    """Return what changed from one run to another, paired by custom_id and label.

    A run is the path of a file of results (`.jsonl`, plain, .gz or .zst), a batch of a `Client`, of which the results
    that there are now count, or an iterable of result lines. `by` are fields such as `metadata.topic` to tell rates
    apart by. `examples` is how many pairs of each group are kept.

    Raises InputError for what is not results, InvalidFilterError for an invalid field.
    """
    runs = [_run(before, "before"), _run(after, "after")]
    [comparison] = compare_runs(runs, by=tuple(map(parse_field, by)), examples=examples)
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
    examples: int = EXAMPLES,
    on_change: Callable[[Run, Pair], None] | None = None,
) -> list[Comparison]:
    """Compare every further run with the first, and return what changed, run by run.

    `by` are the fields of the metadata to tell rates apart by. `on_change` gets each pair that did not stay as it was,
    and the run it is of. Memory does not grow with the results; a temporary file has some 100 bytes of each.
    """
    reference, *others = runs
    tallies = [Tallies(by, examples) for _ in others]
    with Partitions() as partitions:
        for number, run in enumerate(runs):
            for entry in run.entries(by):
                partitions.add(number, entry.custom_id or "", entry)
        for numbered in partitions.read():
            for custom_id, (first, *rest) in by_case(numbered, list(runs)):
                for run, tally, second in zip(others, tallies, rest, strict=True):
                    for pair in pairs_of(custom_id, first, second):
                        group = tally.count(pair)
                        if on_change and group is not Group.UNCHANGED:
                            on_change(run, pair)
    return [Comparison(reference, run, tally) for run, tally in zip(others, tallies, strict=True)]


def _largest(
    values: dict[str, Counter[tuple[bool, bool]]],
) -> list[tuple[str, Counter[tuple[bool, bool]]]]:
    """Return the slices with most pairs, and the rest as one."""
    rest = values.pop(OTHER_VALUES, Counter())
    ordered = sorted(values.items(), key=lambda item: (-item[1].total(), item[0]))
    for _, cells in islice(ordered, SLICES_SHOWN, None):
        rest.update(cells)
    return ordered[:SLICES_SHOWN] + ([(OTHER_VALUES, rest)] if rest else [])


def _groups(groups: Counter[Group]) -> dict[str, int]:
    return {_key(group): groups[group] for group in Group}


def _key(group: Group) -> str:
    return str(group).replace(" ", "_")
