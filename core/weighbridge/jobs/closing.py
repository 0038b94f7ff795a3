"""Ending what is left of a batch that is cancelled, expired or given up: its open jobs get results that say so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weighbridge.jobs.grading import LineGrader, Tally, digest_of
from weighbridge.jobs.model import BatchStatus, JobStatus

if TYPE_CHECKING:
    from weighbridge.jobs.store import Store


def close_open_chunks(store: Store, batch: str, ending: BatchStatus) -> None:
    """Record every open chunk of a closed batch as cancelled or expired; any number of callers may do so at once."""
    status = JobStatus.EXPIRED if ending is BatchStatus.EXPIRED else JobStatus.CANCELLED
    grader = LineGrader(store.options(batch).graders)
    for chunk in store.open_chunks(batch):
        tally = Tally()
        lines = store.chunk(batch, chunk.number).lines(chunk)
        results = b"".join(grader.close(line, tally, status) for line in lines)
        tally.digest = digest_of(results)
        store.record(batch, chunk, results, tally)
