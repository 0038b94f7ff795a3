"""The types of the store's arguments and return values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, dataclass, field
from typing import Any, Literal, NamedTuple

import msgspec
import orjson

from weighbridge.errors import Fault
from weighbridge.jobs.batch_state import Priority
from weighbridge.jobs.chunk import ChunkId
from weighbridge.jobs.damaged_data import DAMAGED_DATA
from weighbridge.jobs.grader_spec import GraderSpec, parse_specs

Recorded = Literal["new", "recorded", "late"]
#: Relative shares of worker time for competing batches of each priority.
WEIGHTS: dict[Priority, int] = {"low": 1, "normal": 10, "high": 100}
ID_BYTES = 12  #: size of a packed id
_TEXTS = ("source", "queue", "priority", "project", "submitted_by", "submitter_key")


@dataclass(frozen=True, slots=True)
class BatchOptions:
    """Options that a batch was submitted with."""

    graders: tuple[GraderSpec, ...] = ()
    source: str = ""  #: displayed name of the input
    metadata: dict[str, str] | None = None
    queue: str = ""  #: Celery queue whose workers grade the batch
    priority: Priority = "normal"
    #: grader id -> minimum version that a worker needs, which is the producer's
    versions: Mapping[str, int] = field(default_factory=dict)
    project: str = "default"  #: project whose API keys give access to the batch
    submitted_by: str = ""  #: an API key's name, `cli:USER@HOST`, or `local` if keys are off
    submitter_key: str = ""  #: id of the API key that opened the batch; only that key may resume it

    def pack(self) -> bytes:
        """Return the options in their stored form."""
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
        """Return the options from the form that `pack` wrote; raises one of DAMAGED_DATA for another."""
        value = orjson.loads(data)
        wrong = [name for name in _TEXTS if not isinstance(value[name], str)]
        if wrong:
            raise TypeError(f"{wrong[0]} is not a string")
        return cls(
            *(parse_specs(value["graders"]), value["source"]),
            *(_as_texts(value["metadata"]), value["queue"]),
            *(value["priority"], value["versions"]),
            *(value["project"], value["submitted_by"], value["submitter_key"]),
        )


def _as_texts(metadata: Any) -> dict[str, str]:
    """Return stored metadata, with what is no text as its JSON, so that lists show the batch whoever wrote it."""
    named = metadata if isinstance(metadata, dict) else {"metadata": metadata}
    return {
        name: value if isinstance(value, str) else orjson.dumps(value).decode()
        for name, value in named.items()
    }


def project_in(options: bytes | None) -> str:
    """Return the project named in packed options, or an empty string if they cannot be read."""
    try:
        return str(orjson.loads(options or b"")["project"])
    except DAMAGED_DATA:
        return ""


class BatchPage(NamedTuple):
    """A page of the list of batches, newest first."""

    batches: list[str]  #: their ids
    next_cursor: str | None  #: cursor for older batches; None if there are none


@dataclass(frozen=True, slots=True)
class Position:
    """Position of a batch's producer in its input."""

    chunks: int = 0
    offset: int = 0  #: bytes of input, decompressed
    lines: int = 0
    prefix: str = ""  #: digest of all lines so far, each stripped of whitespace
    sealed: bool = False
    #: The final status of a batch that was closed, and accepts no more chunks; empty otherwise.
    closed_as: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class ChunkUpload:
    """A chunk to be submitted, and the producer's position after it."""

    id: ChunkId
    jobs: int
    after: Position
    payload: bytes
    ids: bytes  #: packed: ID_BYTES per id, 8 of the id's digest and 4 of its line's digest
    duplicates: int


@dataclass(frozen=True, slots=True)
class DuplicateId:
    """An id that an earlier chunk already contains."""

    position: int  #: index among the ids that were looked up
    same_line: bool


@dataclass(frozen=True, slots=True)
class Pace:
    """Total grading time so far, and the number of jobs graded in it."""

    grade_us: int = 0
    jobs: int = 0


class Push(NamedTuple):
    """A message for the store's server, which is also the broker, to be sent with what it announces."""

    queue: str
    message: bytes


class Submitted(NamedTuple):
    """The reply to a chunk."""

    pace: Pace
    is_announced: bool  #: False unless the message that was to be sent with it was


class FailureCount(NamedTuple):
    """The job that a failure is counted for, and the limit."""

    job: int  #: index of the job on its line
    limit: int  #: number of failures with the same code after which the job is not tried again
    fault: Fault  #: fault that the job is errored with at the limit

    def as_arguments(self) -> tuple[int, int, str]:
        """Return the arguments for the scripts, with the fault packed."""
        return self.job, self.limit, _packed_fault(self.fault)


def _packed_fault(fault: Fault) -> str:
    """Return a fault as text: code, message and hint, one per line."""
    return "\n".join(" ".join(text.split()) for text in astuple(fault))


class ChunkInfo(msgspec.Struct, frozen=True):
    """State of a chunk that has no results yet."""

    jobs: int = 0  #: number of jobs in the chunk
    token: str = ""  #: token of the execution that holds the lease, `<worker>/<random>`
    at: str = ""  #: "line job": the job of a suspect chunk that was last reported as running
    suspicions: int = 0  #: how often a whole worker died while it held the chunk
    failures: dict[str, int] = {}  #: number of child deaths by "job code"
    #: Packed faults of jobs that are not tried again, by index on the line.
    quarantined: dict[str, str] = {}
    lane: str = ""  #: capability that a worker needs for the chunk
    anyway: bool = False  #: no worker has the capability: any worker grades it, with errors
    prior: bool = False  #: whether results from before a retry are kept
    prior_name: str = ""  #: of a part: the chunk that the retry reopened, whose results these are

    @property
    def worker(self) -> str:
        """Name of the worker that holds the lease."""
        return self.token.rpartition("/")[0]

    @property
    def faults(self) -> dict[int, Fault]:
        """Faults of jobs that are not tried again, by index on the line."""
        return {int(job): Fault(*fault.split("\n")) for job, fault in self.quarantined.items()}


@dataclass(frozen=True, slots=True)
class ClaimResult:
    """A chunk leased to one execution."""

    batch: str
    chunk: ChunkId
    token: str
    info: ChunkInfo
    payload: bytes | None  #: as submitted; None if the server no longer has it
    options: bytes  #: packed options of the batch if this is its first chunk; otherwise empty
    contended: bool  #: whether other batches are waiting for their turn


@dataclass(frozen=True, slots=True)
class HeldChunk:
    """An open chunk that cannot be claimed at present."""

    chunk: ChunkId
    until: float  #: end of its lease or pause, in seconds of the server's clock
    info: ChunkInfo


@dataclass(frozen=True, slots=True)
class HeldChunks:
    """The held chunks of a batch at one moment."""

    now: float  #: seconds of the server's clock
    waiting: bool  #: whether any other chunk can be claimed
    chunks: list[HeldChunk]  #: ordered by `until`


class GapError(Exception):
    """Raised if the server lacks chunks before the one submitted; `expected` is the first missing number."""

    def __init__(self, expected: int) -> None:
        super().__init__(f"the server expects chunk {expected}")
        self.expected = expected


def is_recorded(raw: bytes | None) -> bool:
    """Return whether a chunk's field is the record of a finished chunk rather than the ChunkInfo of an open one."""
    return raw is not None and "checksum" in orjson.loads(raw)


@dataclass(frozen=True, slots=True)
class LogEntry:
    """A log entry: a chunk whose results were recorded or, without a chunk, the end of the batch."""

    position: str
    chunk: str | None
    after: str = ""  #: position of the previous entry
    epoch: int = 0  #: number of retries of the batch at that time


@dataclass(frozen=True, slots=True)
class ScanResult:
    """Position that a scan of the log has reached, and the chunks that it found."""

    position: str  #: position of the last entry scanned
    passed: LogEntry | None  #: the last chunk among the entries scanned
    #: Chunks with their records; {} for a record that cannot be read.
    found: list[tuple[LogEntry, dict[str, Any]]]
