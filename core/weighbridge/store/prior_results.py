"""Results of a chunk from before a retry, of which a part of the chunk gets back those of its own lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weighbridge.grading.tally import Tally
from weighbridge.jobs.result_line_parts import profile_of

if TYPE_CHECKING:
    from weighbridge.jobs.chunk import ChunkId


def results_of_part(results: bytes, versions: str, part: ChunkId) -> tuple[bytes, Tally]:
    """Return the result lines of a part of a chunk, and their tally; raises ValueError for damaged ones."""
    tally, rows = Tally(versions_used=set(versions.split())), []
    for row in results.splitlines(keepends=True):
        line, job, score = profile_of(row)
        if part.start <= line < part.end:
            tally.count(job.label, job.grader, job.outcome, job.cause, score or 0.0)
            rows.append(row)
    return b"".join(rows), tally
