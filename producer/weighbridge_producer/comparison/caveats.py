"""Notes: what a reader of a comparison has to know of how its results came about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weighbridge.text import pluralize

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from weighbridge_producer.comparison.runs import Run
    from weighbridge_producer.comparison.tallies import Conditions

_NOTES_LIMIT = 50


def notes_of(conditions: Iterable[tuple[str | None, Conditions]], runs: Iterable[Run]) -> list[str]:
    """Return where results were graded under different conditions, and which were not compared, a sentence each."""
    notes = [*_of_conditions(conditions), *(note for run in runs for note in _of_run(run))]
    return notes[:_NOTES_LIMIT]


def _of_conditions(conditions: Iterable[tuple[str | None, Conditions]]) -> Iterator[str]:
    """Say where one custom_id and label was graded under different conditions."""
    for label, found in conditions:
        for (before, after), jobs in found.graders.most_common(3):
            yield f"{label}: {pluralize(jobs, 'pair')} graded by {before} before, and by {after} after"
        if found.limits:
            yield (
                f"{label}: {pluralize(found.limits, 'pair')} with other limits or expected values:"
                " the cases or the configuration changed"
            )
        if found.receipts:
            yield (
                f"{label}: {pluralize(found.receipts, 'pair')} with equal results but different receipts:"
                " the inputs or the configuration changed"
            )


def _of_run(run: Run) -> Iterator[str]:
    if run.unnamed:
        yield f"{run.name}: {pluralize(run.unnamed, 'result')} without a custom_id, not compared"
    if run.repeated:
        yield f"{run.name}: {pluralize(run.repeated, 'result')} with the custom_id and label of an earlier one, not compared"
