"""Cursors: positions in a batch's results, which all interfaces share."""

from __future__ import annotations

import re
from dataclasses import dataclass

from weighbridge.errors import StaleCursorError
from weighbridge.store.records import LogEntry

_CURSOR = re.compile(
    r"([0-9]{1,9})\.([0-9]{1,9})\.([0-9]{1,15}-[0-9]{1,15})"
    r"\.([0-9]{1,9})([_~])([0-9]{1,12}-[0-9]{1,12}\.[0-9a-f]{16})(?:~([0-9]{1,9}))?\.([0-9]{1,12}|end)"
)


@dataclass(frozen=True, slots=True)
class ResultsVersion:
    """How often results of a batch were withdrawn to be graded again."""

    epoch: int = 0  #: number of retries of the batch
    reopened: int = 0  #: number of chunks that they reopened


@dataclass(frozen=True, slots=True)
class Cursor:
    """A position in a batch's results, which are in the order of the log."""

    results_version: ResultsVersion
    position: str  #: position of the chunk's log entry
    chunk: str
    offset: int | None = None  #: offset of the next line in the chunk's results; None: its end

    @classmethod
    def parse(cls, text: str) -> Cursor:
        """Parse the form that `str` returns. Raises StaleCursorError."""
        found = _CURSOR.fullmatch(text)
        if not found:
            raise not_a_cursor(text, "use one that came with results of this batch")
        epoch, reopened, position, number, kind, lines, retry, offset = found.groups()
        chunk = f"{number}{kind.replace('_', ':')}{lines}{f'@{retry}' if retry else ''}"
        results_version = ResultsVersion(int(epoch), int(reopened))
        return cls(results_version, position, chunk, None if offset == "end" else int(offset))

    @property
    def entry(self) -> LogEntry:
        """The chunk's log entry."""
        return LogEntry(self.position, self.chunk)

    def __str__(self) -> str:
        # Only characters that need no escaping in a URL.
        epoch, reopened = self.results_version.epoch, self.results_version.reopened
        offset = "end" if self.offset is None else self.offset
        chunk = self.chunk.replace(":", "_").replace("@", "~")
        return f"{epoch}.{reopened}.{self.position}.{chunk}.{offset}"


def not_a_cursor(text: str, hint: str = "use the one of the previous page") -> StaleCursorError:
    """Return the error for a text that cannot be a cursor of the list or batch in question."""
    return StaleCursorError(f"{text[:80]!r} is not a cursor", hint)


def results_withdrawn(batch: str) -> StaleCursorError:
    """Return the error for a cursor from before a retry."""
    return StaleCursorError(f"batch {batch} was retried since", "read its results from the start")


def position_lost(batch: str) -> StaleCursorError:
    """Return the error for a cursor whose position is not in the batch's log, or not in the chunk's results."""
    return StaleCursorError(
        f"batch {batch} no longer has, or never had, this position in its results",
        "read them from the start",
    )
