"""Health: whether work goes on, and what holds it up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from weighbridge.jobs.connection import plain_errors
from weighbridge.jobs.model import ErrorCode
from weighbridge.jobs.store.keys import ACTIVE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge.jobs.fleet import WorkerInfo
    from weighbridge.jobs.store import Store

STUCK_SECONDS = 30.0  #: that a chunk may wait while workers are idle
BATCHES_LIMIT = 100  #: batches looked at: the oldest active ones, and the newest of all
CHUNKS_LIMIT = 100  #: of a batch
_LEASES_LIMIT = 1_000  #: of a batch; more than workers have at once
_SCAN = 10_000  #: fields of a summary looked at in one step, which is all there are
_DEADLY = (ErrorCode.WORKER_KILLED, ErrorCode.TIMEOUT, ErrorCode.OUT_OF_MEMORY)


@dataclass(frozen=True, slots=True)
class StuckChunk:
    """A chunk that nobody seems to work on."""

    batch_id: str
    chunk: str
    jobs: int
    state: Literal["waiting", "leased"]
    since_seconds: float  #: waiting since it was last sent out; leased: since the lease ended, 0 when its worker is gone
    worker: str  #: that has the lease; empty when waiting


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """Jobs of one label that were given up, because each try ended badly."""

    batch_id: str
    label: str
    grader: str
    code: str
    jobs: int


@dataclass(frozen=True, slots=True)
class Health:
    """How work stands on one store, at one moment."""

    queue_length: int  #: messages that wait for a worker
    workers: list[WorkerInfo]  #: the living
    stuck: list[StuckChunk]
    dead_letters: list[DeadLetter]
    active_batches: int  #: that may still have something to do


class HealthCheck:
    """Looks at the batches of one store; what it reads is bounded, whatever they hold."""

    def __init__(
        self, store: Store, workers: Sequence[WorkerInfo], queue: str, queue_length: int
    ) -> None:
        self._redis: Any = store.redis
        self._store = store
        self._workers = list(workers)
        self._queue = queue
        self._queue_length = queue_length

    def health(self) -> Health:
        """Return how work stands."""
        with plain_errors():
            return Health(self._queue_length, self._workers, [], [], int(self._redis.zcard(ACTIVE)))
