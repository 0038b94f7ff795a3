"""A worker's work done in the test's own process, so that the test decides what happens when."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weighbridge.jobs.grading import LineGrader, Tally, digest_of

if TYPE_CHECKING:
    from weighbridge.jobs.store import Store


def grade_open_chunks(store: Store, batch: str, most: int | None = None) -> None:
    """Grade and record every open chunk of a batch, or so many of them."""
    grader = LineGrader(store.options(batch).graders)
    for chunk in store.open_chunks(batch)[:most]:
        store.claim(batch, chunk, "here/1", 60)
        tally = Tally()
        lines = store.chunk(batch, chunk).lines(chunk)
        results = b"".join(grader.grade(line, tally) for line in lines)
        tally.digest = digest_of(results)
        store.record(batch, chunk, results, tally)
