"""Notes on a comparison: results that were graded under different conditions, and results that were not compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weighbridge.text import pluralize, shorten
from weighbridge_producer.comparison.pairs import FILE, Condition
from weighbridge_producer.comparison.tallies import commonest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from weighbridge_producer.comparison.reliability import RepeatedLabel
    from weighbridge_producer.comparison.runs import Run
    from weighbridge_producer.comparison.tallies import Conditions

_NOTES_LIMIT = 50
_SIDES_SHOWN = 3
_ID_CHARACTERS = 40
_DESCRIPTIONS = {
    Condition.EXPECTED: "other expected values: the cases changed",
    Condition.INPUTS: "equal results of other inputs: the cases, or what the agent did, changed",
}


def notes_of(
    conditions: Iterable[tuple[str | None, Conditions]],
    runs: Iterable[Run],
    files_of_both: Sequence[str],
    ungradable: int,
) -> list[str]:
    """Return notes on results graded under different conditions, and on results not compared, one sentence each.

    `files_of_both` have results that are in the first run only, and others that are in the second run only; `ungradable` is
    the number of results that are so in both runs, unchanged.
    """
    notes = [*_of_conditions(conditions), *_of_files(files_of_both)]
    if ungradable:
        are = pluralize(ungradable, "unchanged result is", "unchanged results are")
        notes.append(f"{are} ungradable in both runs, and in no rate")
    notes += [note for run in runs for note in _of_run(run)]
    return notes[:_NOTES_LIMIT]


def _of_files(files: Sequence[str]) -> Iterator[str]:
    if files:
        named = ", ".join(shorten(file, _ID_CHARACTERS) for file in files[:_SIDES_SHOWN])
        more = ", ..." if len(files) > _SIDES_SHOWN else ""
        have = pluralize(len(files), "file has", "files have")
        yield (
            f"{have} both new and gone results ({named}{more}): if their traces have new ids in each run,"
            f" --pair-by {FILE} pairs them by file"
        )


def notes_of_repeats(labels: Sequence[RepeatedLabel], runs: Sequence[Run]) -> list[str]:
    """Return the same notes on the repeats of several runs; each names its run if several are compared with the first."""
    notes = []
    for number, run in enumerate(runs[1:]):
        conditions = ((label.label, label.conditions[number]) for label in labels)
        prefix = f"{run.name}: " if len(runs) > 2 else ""
        notes += [prefix + note for note in _of_conditions(conditions)]
    return [*notes, *(note for run in runs for note in _of_run(run))][:_NOTES_LIMIT]


def _of_conditions(conditions: Iterable[tuple[str | None, Conditions]]) -> Iterator[str]:
    """Yield notes on pairs that were graded under different conditions."""
    for label, found in conditions:
        for (condition, before, after), jobs in commonest(found.sides, _SIDES_SHOWN):
            what = "configuration " if condition is Condition.CONFIGURATION else ""
            yield (
                f"{label}: {pluralize(jobs, 'pair')} graded by {what}{before} before, and by {what}{after} after"
                f"{_examples(found, condition, jobs)}"
            )
        for condition, text in _DESCRIPTIONS.items():
            if jobs := found.jobs[condition]:
                yield f"{label}: {pluralize(jobs, 'pair')} with {text}{_examples(found, condition, jobs)}"


def _examples(found: Conditions, condition: Condition, jobs: int) -> str:
    named = [shorten(custom_id, _ID_CHARACTERS) for custom_id in found.named(condition)]
    return f" ({', '.join(named)}{', ...' if jobs > len(named) else ''})"


def _of_run(run: Run) -> Iterator[str]:
    if run.unnamed:
        yield f"{run.name}: {pluralize(run.unnamed, 'result')} without a custom_id, not compared"
    if run.repeated:
        yield f"{run.name}: {pluralize(run.repeated, 'result')} with the custom_id and label of an earlier one, not compared"
