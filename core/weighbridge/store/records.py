"""What goes into the store and comes out of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, dataclass, field
from typing import Any, Literal, NamedTuple

import msgspec
import orjson

from weighbridge.errors import Fault
from weighbridge.jobs.chunk import ChunkId
from weighbridge.jobs.model import GraderSpec, Priority, parse_specs

Recorded = Literal["new", "recorded", "late"]
#: The shares of workers' time that batches of each priority get beside each other.
WEIGHTS: dict[Priority, int] = {"low": 1, "normal": 10, "high": 100}
ID_BYTES = 12  #: that a packed id takes


@dataclass(frozen=True, slots=True)
class BatchOptions:
    """What a batch was submitted with."""

    graders: tuple[GraderSpec, ...] = ()
    source: str = ""  #: what the input was called
    metadata: dict[str, str] | None = None
    queue: str = ""  #: of the broker, whose workers grade it
    priority: Priority = "normal"
    #: grader id -> the version that workers must have at least: the producer's own
    versions: Mapping[str, int] = field(default_factory=dict)
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
                "priority": self.priority,
                "versions": dict(self.versions),
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
            *(parse_specs(value["graders"]), value["source"], value["metadata"], value["queue"]),
            *(value["priority"], value["versions"]),
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
class ChunkUpload:
    """One chunk on its way in, and where the producer stands after it."""

    id: ChunkId
    jobs: int
    after: Position
    payload: bytes
    ids: bytes  #: packed: ID_BYTES each, 8 of the id's digest, 4 of its line's
    duplicates: int


@dataclass(frozen=True, slots=True)
class DuplicateId:
    """An id that an earlier chunk has already."""

    position: int  #: among the ids asked about
    same_line: bool


@dataclass(frozen=True, slots=True)
class Pace:
    """What grading took so far."""

    grade_us: int = 0
    jobs: int = 0


class FailureCount(NamedTuple):
    """What a failure at a job counts towards."""

    job: int  #: its index on its line
    limit: int  #: failures of one code at which it is not tried again
    fault: Fault  #: that it is errored with then

    def as_arguments(self) -> tuple[int, int, str]:
        """Return what scripts take: the fault is packed."""
        return self.job, self.limit, _packed_fault(self.fault)


def _packed_fault(fault: Fault) -> str:
    """Return a fault as its code, message and hint, a line each."""
    return "\n".join(" ".join(text.split()) for text in astuple(fault))


class ChunkInfo(msgspec.Struct, frozen=True):
    """What the store knows of a chunk without results."""

    jobs: int = 0  #: that it is counted as
    token: str = ""  #: of the execution that has it, `<worker>/<random>`
    at: str = ""  #: "line job": what a suspect chunk was at, as last noted
    suspicions: int = 0  #: how often a whole worker died with it
    failures: dict[str, int] = {}  #: deaths of children, by "job code"
    #: The packed faults of jobs that are not tried again, by index on the line.
    quarantined: dict[str, str] = {}
    lane: str = ""  #: the capability that its workers need
    anyway: bool = False  #: no worker has that: it is graded, and errors, all the same
    prior: bool = False  #: whether it has results of before a retry

    @property
    def worker(self) -> str:
        """The worker that has the lease."""
        return self.token.rpartition("/")[0]

    @property
    def faults(self) -> dict[int, Fault]:
        """The faults of jobs that are not tried again, by index on the line."""
        return {int(job): Fault(*fault.split("\n")) for job, fault in self.quarantined.items()}


@dataclass(frozen=True, slots=True)
class ClaimResult:
    """A chunk leased to one execution."""

    batch: str
    chunk: ChunkId
    token: str
    info: ChunkInfo
    payload: bytes | None  #: as submitted; None when the server has it no more
    contended: bool  #: whether other batches wait for their turn


@dataclass(frozen=True, slots=True)
class HeldChunk:
    """An open chunk that may not be claimed for now."""

    chunk: ChunkId
    until: float  #: when its lease or its pause ends, in seconds of the server's clock
    info: ChunkInfo


@dataclass(frozen=True, slots=True)
class HeldChunks:
    """What is held back in a batch at one moment."""

    now: float  #: seconds of the server's clock
    waiting: bool  #: whether any other chunk waits to be claimed
    chunks: list[HeldChunk]  #: soonest first


class GapError(Exception):
    """The server lacks chunks before the one submitted; `expected` is the first of them."""

    def __init__(self, expected: int) -> None:
        super().__init__(f"the server expects chunk {expected}")
        self.expected = expected


def is_recorded(held: bytes | None) -> bool:
    """Whether a chunk's field holds the record of its results, not what is known of it while it is open."""
    return held is not None and "digest" in orjson.loads(held)


@dataclass(frozen=True, slots=True)
class LogEntry:
    """A chunk that got its results, or, with no chunk, the end of the batch."""

    position: str
    chunk: str | None
    after: str = ""  #: position of the entry before it
    epoch: int = 0  #: how often the batch had been retried


@dataclass(frozen=True, slots=True)
class ScanResult:
    """How far a look through the log came, and what it found."""

    position: str  #: of the last entry looked at
    passed: LogEntry | None  #: the last chunk among those
    #: Chunks with their records; {} for what cannot be read.
    found: list[tuple[LogEntry, dict[str, Any]]]
