"""Worker that waits instead of grading: `python -m benchmarks.waiting_worker`, with the worker's own options.

Otherwise it does what a worker does: it claims chunks, unpacks them, counts, packs result lines and records them. For
each line it sleeps for the seconds set in the environment, and repeats the result of a line graded before, with the
line's own id and number. Therefore there may be more workers than cores.
"""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING

from weighbridge.grading.line_grader import LineGrader
from weighbridge.grading.tally import Tally
from weighbridge.jobs.line import peek_custom_id
from weighbridge_worker.__main__ import main
from weighbridge_worker.child.child import Child

if TYPE_CHECKING:
    from weighbridge.jobs.chunk import Chunk, ChunkId, Line
    from weighbridge.store.records import ClaimResult

SECONDS_VARIABLE = "WEIGHBRIDGE_BENCHMARK_LINE_SECONDS"


class _Replay:
    """Result of the one graded line, repeated for all others."""

    def __init__(self, grader: LineGrader, first: Line) -> None:
        tally = Tally()
        self._rows = grader.grade(first, tally)
        [*self._counted] = tally.jobs_by.items()
        self._versions = tally.versions_used
        self._old_id = f'"{peek_custom_id(first.raw)}"'.encode()
        self._old_line = b'"line":%d,' % first.number

    def rows(self, line: Line) -> bytes:
        """Return the result lines of a line."""
        own_id = f'"{peek_custom_id(line.raw)}"'.encode()
        return self._rows.replace(self._old_id, own_id).replace(
            self._old_line, b'"line":%d,' % line.number
        )

    def count(self, lines: int, tally: Tally) -> None:
        """Count a number of lines."""
        for job, count in self._counted:
            tally.jobs_by[job] += count * lines
        tally.versions_used |= self._versions


_replays: list[_Replay] = []  #: at most one, because there is only one batch


def wait_instead(
    child: Child, claim: ClaimResult, stored: Chunk
) -> tuple[bytes, Tally, list[tuple[ChunkId, int]]]:
    """Do the same as `Child._grade_lines`, except for the grading."""
    started = time.perf_counter()
    lines = list(stored.lines(claim.chunk))
    if not _replays:
        _replays.append(_Replay(child._grader_for(claim)[0], lines[0]))  # noqa: SLF001
    tally = Tally()
    blob = b"".join(map(_replays[0].rows, lines))
    _replays[0].count(len(lines), tally)
    seconds = len(lines) * float(os.environ[SECONDS_VARIABLE])
    time.sleep(max(0.0, seconds - (time.perf_counter() - started)))
    tally.grade_us = int(seconds * 1e6)
    return blob, tally, []


if __name__ == "__main__":
    Child._grade_lines = wait_instead  # type: ignore[method-assign,assignment]  # noqa: SLF001
    sys.exit(main())
