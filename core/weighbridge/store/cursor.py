"""Cursors: how far somebody has read a batch's results. Each reader of results takes the cursors of the others."""

from __future__ import annotations

import re
from dataclasses import dataclass

from weighbridge.errors import StaleCursorError

_CURSOR = re.compile(
    r"([0-9]{1,9})\.([0-9]{1,9})\.([0-9]{1,15}-[0-9]{1,15})"
    r"\.([0-9]{1,9})([_~])([0-9]{1,12}-[0-9]{1,12}\.[0-9a-f]{16})(?:~([0-9]{1,9}))?\.([0-9]{1,12}|end)"
)


@dataclass(frozen=True, slots=True)
class ResultsVersion:
    """How often results of a batch were taken back to be graded again."""

    epoch: int = 0  #: retries of the batch
    reopened: int = 0  #: chunks


@dataclass(frozen=True, slots=True)
class Cursor:
    """A position in a batch's results, whose order is that of the log."""

    results_version: ResultsVersion
    position: str  #: of the chunk's entry in the log
    chunk: str
    offset: int | None = None  #: of the next line in the chunk's results; None: after the chunk

    @classmethod
    def parse(cls, text: str) -> Cursor:
        """Read the form that `str` writes. Raises StaleCursorError."""
        found = _CURSOR.fullmatch(text)
        if not found:
            raise StaleCursorError(
                f"{text[:80]!r} is not a cursor", "use one that came with results of this batch"
            )
        epoch, reopened, position, number, kind, lines, retry, offset = found.groups()
        chunk = f"{number}{kind.replace('_', ':')}{lines}{f'@{retry}' if retry else ''}"
        results_version = ResultsVersion(int(epoch), int(reopened))
        return cls(results_version, position, chunk, None if offset == "end" else int(offset))

    def __str__(self) -> str:
        # Of characters that stand for themselves in a URL.
        epoch, reopened = self.results_version.epoch, self.results_version.reopened
        offset = "end" if self.offset is None else self.offset
        chunk = self.chunk.replace(":", "_").replace("@", "~")
        return f"{epoch}.{reopened}.{self.position}.{chunk}.{offset}"
