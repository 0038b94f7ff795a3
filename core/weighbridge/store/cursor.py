"""Cursors: positions in lists, from which all interfaces continue them."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Self

from weighbridge.errors import BatchLostError, StaleCursorError
from weighbridge.store.key_names import opened_at
from weighbridge.store.records import LogEntry

_RESULT = re.compile(
    r"([0-9]{1,9})\.([0-9]{1,9})\.([0-9]{1,15}-[0-9]{1,15})"
    r"\.([0-9]{1,9})([_~])([0-9]{1,12}-[0-9]{1,12}\.[0-9a-f]{16})(?:~([0-9]{1,9}))?\.([0-9]{1,12}|end)"
)
_STREAM_ID = re.compile(r"([0-9]{1,19})-([0-9]{1,19})")


class Cursor(ABC):
    """A position in a list; `str` returns its text, which needs no escaping in a URL.

    No text is a cursor of two kinds.
    """

    __slots__ = ()

    listing: ClassVar[str]  #: name of the list, for messages
    #: What to do instead of using a text that is not a cursor of this kind.
    hint: ClassVar[str] = "use the cursor of the previous page"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse the text that `str` returned. Raises StaleCursorError for any other, also for another list's cursor."""
        found = cls._parsed(text)
        if found is None:
            others = (kind.listing for kind in _KINDS if kind.reads(text))
            instead = next((f" of {cls.listing}, but one of {other}" for other in others), "")
            raise StaleCursorError(f"{text[:80]!r} is not a cursor{instead}", cls.hint)
        return found

    @classmethod
    def reads(cls, text: str) -> bool:
        """Return whether a text has the form of this kind."""
        return cls._parsed(text) is not None

    @classmethod
    @abstractmethod
    def _parsed(cls, text: str) -> Self | None:
        """Return the cursor that a text stands for; None if the text has another form."""


@dataclass(frozen=True, slots=True)
class ResultsVersion:
    """How often results of a batch were withdrawn to be graded again."""

    epoch: int = 0  #: number of retries of the batch
    reopened: int = 0  #: number of chunks that they reopened


@dataclass(frozen=True, slots=True)
class ResultCursor(Cursor):
    """A position in a batch's results, which are in the order of the log."""

    listing = "a batch's results"
    hint = "use one that came with results of this batch"

    results_version: ResultsVersion
    position: str  #: position of the chunk's log entry
    chunk: str
    offset: int | None = None  #: offset of the next line in the chunk's results; None: its end

    @classmethod
    def _parsed(cls, text: str) -> Self | None:
        found = _RESULT.fullmatch(text)
        if not found:
            return None
        epoch, reopened, position, number, kind, lines, retry, offset = found.groups()
        chunk = f"{number}{kind.replace('_', ':')}{lines}{f'@{retry}' if retry else ''}"
        results_version = ResultsVersion(int(epoch), int(reopened))
        return cls(results_version, position, chunk, None if offset == "end" else int(offset))

    @property
    def entry(self) -> LogEntry:
        """The chunk's log entry."""
        return LogEntry(self.position, self.chunk)

    def __str__(self) -> str:
        epoch, reopened = self.results_version.epoch, self.results_version.reopened
        offset = "end" if self.offset is None else self.offset
        chunk = self.chunk.replace(":", "_").replace("@", "~")
        return f"{epoch}.{reopened}.{self.position}.{chunk}.{offset}"


@dataclass(frozen=True, slots=True)
class _IdCursor(Cursor):
    """A position that is an id."""

    after: str  #: id of the last item before the position; the item may have been deleted since

    def __str__(self) -> str:
        return self.after


class BatchCursor(_IdCursor):
    """A position in a list of batches, newest first: a batch's id."""

    __slots__ = ()
    listing = "a list of batches"

    @classmethod
    def _parsed(cls, text: str) -> Self | None:
        try:
            opened_at(text)
        except ValueError:
            return None
        return cls(text)


class AuditCursor(_IdCursor):
    """A position in the audit log, newest first: an entry's id in the stream."""

    __slots__ = ()
    listing = "the audit log"

    @classmethod
    def _parsed(cls, text: str) -> Self | None:
        found = _STREAM_ID.fullmatch(text)
        # Redis refuses larger numbers.
        return cls(text) if found and max(map(int, found.groups())) < 2**63 else None


_KINDS: tuple[type[Cursor], ...] = (ResultCursor, BatchCursor, AuditCursor)


def results_withdrawn(batch: str) -> StaleCursorError:
    """Return the error for a cursor from before a retry."""
    return StaleCursorError(f"batch {batch} was retried since", "read its results from the start")


def position_lost(batch: str) -> StaleCursorError:
    """Return the error for a cursor whose position is not in the batch's log, or not in the chunk's results."""
    return StaleCursorError(
        f"batch {batch} no longer has, or never had, this position in its results",
        "read them from the start",
    )


def results_lost(batch: str) -> BatchLostError:
    """Return the error for a batch of which the server has only some of the recorded results."""
    return BatchLostError(
        f"Redis has lost results of batch {batch}: those that it still has are not all",
        "grade the input again, on a Redis server whose maxmemory-policy is noeviction: `weighbridge doctor` checks it",
    )
