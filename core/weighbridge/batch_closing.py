"""Closes the open jobs of a cancelled, expired or abandoned batch with results that say so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weighbridge.grading.line_grader import LineGrader
from weighbridge.grading.tally import Tally
from weighbridge.jobs.batch_state import BatchStatus
from weighbridge.jobs.outcome import Outcome

if TYPE_CHECKING:
    from weighbridge.store import Store


CHUNKS_AT_ONCE = 16


def finish_open_chunks(store: Store, batch: str, ending: BatchStatus) -> bool:
    """Record some open chunks of a closed batch as cancelled or expired; return whether there may be more.

    A chunk reopened by a retry gets its earlier results back. Several callers may close a batch at the same time, and a
    retry may reopen it before the last of them notices: what it has opened stays open.
    """
    if not store.is_closing(batch, ending):
        return False
    outcome = Outcome.EXPIRED if ending is BatchStatus.EXPIRED else Outcome.CANCELLED
    grader = LineGrader(store.options(batch).graders)
    chunks = store.open_chunks(batch, CHUNKS_AT_ONCE)
    for chunk in chunks:
        if store.restore(batch, chunk, closing=ending):
            continue
        tally = Tally()
        lines = store.chunk(batch, chunk).lines(chunk)
        results = b"".join(grader.close(line, tally, outcome) for line in lines)
        store.record(batch, chunk, results, tally, closing=ending)
    return bool(chunks)
