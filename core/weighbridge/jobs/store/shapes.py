"""What goes into the store and comes out of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import orjson

from weighbridge.jobs.model import GraderSpec, parse_specs

Claim = Literal["work", "done", "leased", "stop", "lost"]
Recorded = Literal["new", "recorded", "late"]
ID_BYTES = 12  #: that a packed id takes


@dataclass(frozen=True, slots=True)
class BatchOptions:
    """What a batch was submitted with."""

    graders: tuple[GraderSpec, ...] = ()
    source: str = ""  #: what the input was called
    metadata: dict[str, str] | None = None
    queue: str = ""  #: of the broker, whose workers grade it
    project: str = "default"  #: whose API keys may see it
    submitted_by: str = ""  #: an API key's name, `cli:USER@HOST`, or `local` where keys are off
    submitter_key: str = ""  #: id of the API key that opened it, which alone may resume it

    def pack(self) -> bytes:
        """Return the options as the store keeps them."""
        graders = [spec.as_dict() for spec in self.graders]
        return orjson.dumps(
            {
                "graders": graders,
                "source": self.source,
                "metadata": self.metadata or {},
                "queue": self.queue,
                "project": self.project,
                "submitted_by": self.submitted_by,
                "submitter_key": self.submitter_key,
            }
        )

    @classmethod
    def unpack(cls, data: bytes) -> BatchOptions:
        """Undo `pack`."""
        value = orjson.loads(data)
        return cls(
            parse_specs(value["graders"]),
            *(value["source"], value["metadata"], value["queue"]),
            *(value["project"], value["submitted_by"], value["submitter_key"]),
        )


def project_in(options: bytes | None) -> str:
    """Return the project that packed options name; empty where they cannot be read."""
    try:
        return str(orjson.loads(options or b"")["project"])
    except (ValueError, KeyError, TypeError):
        return ""


@dataclass(frozen=True, slots=True)
class Position:
    """How far a batch's producer has come."""

    chunks: int = 0
    offset: int = 0  #: bytes of input, decompressed
    lines: int = 0
    prefix: str = ""  #: digest of the lines so far, without the space around each
    sealed: bool = False


@dataclass(frozen=True, slots=True)
class Submission:
    """One chunk on its way in, and where the producer stands after it."""

    number: int
    digest: str
    jobs: int
    after: Position
    payload: bytes
    ids: bytes  #: packed: ID_BYTES each, 8 of the id's digest, 4 of its line's
    duplicates: int


@dataclass(frozen=True, slots=True)
class Taken:
    """An id that an earlier chunk has already."""

    position: int  #: among the ids asked about
    same_line: bool


@dataclass(frozen=True, slots=True)
class Pace:
    """What grading took so far."""

    grade_us: int = 0
    jobs: int = 0


class Charge(NamedTuple):
    """What a death at a job counts towards."""

    job: int  #: its place on its line
    limit: int  #: deaths at which it is condemned
    verdict: str  #: then; code, message and hint, a line each


class GapError(Exception):
    """The server lacks chunks before the one submitted; `expected` is the first of them."""

    def __init__(self, expected: int) -> None:
        super().__init__(f"the server expects chunk {expected}")
        self.expected = expected


@dataclass(frozen=True, slots=True)
class LogEntry:
    """A chunk that got its results, or, with no chunk, the end of the batch."""

    position: str
    chunk: str | None


@dataclass(frozen=True, slots=True)
class Looked:
    """How far a look through the log came, and what it found."""

    position: str  #: of the last entry looked at
    passed: LogEntry | None  #: the last chunk among those
    #: Chunks with their records; {} for what cannot be read.
    found: list[tuple[LogEntry, dict[str, Any]]]
