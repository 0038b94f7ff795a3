"""Health: whether work is progressing, and what blocks it."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import orjson
from pydantic import Field
from redis.exceptions import ResponseError

from weighbridge.grading.tally import SummaryRow
from weighbridge.jobs.damaged_data import DAMAGED_DATA
from weighbridge.jobs.error_codes import DEADLY
from weighbridge.jobs.outcome import Outcome
from weighbridge.store.connection import translate_errors
from weighbridge.store.key_names import ACTIVE, PAUSED, key, listing
from weighbridge.store.leasing import decoded_info
from weighbridge.store.records import ChunkInfo
from weighbridge.store.worker_registry import WorkerInfo

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


STUCK_SECONDS = 30.0  #: a chunk waiting longer is stuck if workers are idle
BUSY_STUCK_SECONDS = 900.0  #: a chunk waiting longer is stuck if workers are busy
_LATE_SECONDS = 5.0  #: time the sweeper may take to handle an ended lease
BATCHES_LIMIT = 100  #: batches examined: the oldest active ones, and the newest of all
CHUNKS_LIMIT = 100  #: per batch: waiting chunks, leased chunks, and labels of dead letters
_SCAN = 10_000  #: summary fields scanned in one step, enough for all of them
#: HSCAN options for the summary rows that count dead letters, and a few others.
_DEADLY_ROWS = {"match": SummaryRow.pattern(Outcome.ERRORED, DEADLY), "count": _SCAN}
_FIRST = {"start": 0, "num": CHUNKS_LIMIT, "withscores": True}
_OF_BATCH = ("options", "created_ms", "paused")
_NOTHING = ChunkInfo()

_Scored = list[tuple[bytes, float]]


@dataclass(frozen=True, slots=True)
class StuckChunk:
    """A chunk without progress."""

    batch_id: Annotated[str, Field(description="the id of the batch")]
    chunk: Annotated[str, Field(description="the id of the chunk")]
    jobs: Annotated[int, Field(description="jobs in the chunk")]
    state: Annotated[
        Literal["waiting", "leased"],
        Field(description="`waiting` for a worker, or `leased` to one"),
    ]
    since_seconds: Annotated[
        float,
        Field(
            description="seconds since the batch's last finished chunk or since the lease ended; 0 if only the worker is gone"
        ),
    ]
    worker: Annotated[str, Field(description="holder of the lease; empty if waiting")]


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """Jobs of one label that crashed their worker process, timed out or used too much memory."""

    batch_id: Annotated[str, Field(description="the id of the batch")]
    label: Annotated[str, Field(description="the label of the jobs")]
    grader: Annotated[str, Field(description="the id of the grader")]
    code: Annotated[str, Field(description="the error code of the jobs")]
    jobs: Annotated[int, Field(description="jobs that were given up")]


@dataclass(frozen=True, slots=True)
class Health:
    """The state of the work on one store, at one moment."""

    queue_length: Annotated[int, Field(description="messages waiting for a worker")]
    workers: Annotated[list[WorkerInfo], Field(description="running workers")]
    stuck: Annotated[
        list[StuckChunk],
        Field(description="chunks without progress, by batch, the longest active first"),
    ]
    dead_letters: Annotated[
        list[DeadLetter], Field(description="jobs that were given up, by batch, newest first")
    ]
    active_batches: Annotated[
        int, Field(description="batches that have not ended; for one project, among its newest 100")
    ]
    paused_batches: Annotated[
        list[str],
        Field(
            description="ids of those that are paused, among the 100 active longest; for one project, among its newest 100"
        ),
    ]
    paused_queues: Annotated[
        list[str],
        Field(description="paused queues: that of the settings, and those of these 100 batches"),
    ]


class _Ask(NamedTuple):
    """A command for the Redis client."""

    command: str
    arguments: tuple[Any, ...]
    options: Mapping[str, Any] = {}


class HealthCheck:
    """Health check of one store; the amount of data read is bounded, and unreadable data is skipped."""

    def __init__(
        self, redis: Any, workers: Sequence[WorkerInfo], queue: str, queue_length: int
    ) -> None:
        self._redis = redis
        self._workers = list(workers)
        self._queue = queue
        self._queue_length = queue_length

    def health(self, project: str | None = None) -> Health:
        """Return the health of all batches, or of one project's newest batches."""
        with translate_errors():
            newest = self._redis.zrevrange(listing(project), 0, BATCHES_LIMIT - 1)
            if project is None:
                active = self._redis.zrange(ACTIVE, 0, BATCHES_LIMIT - 1)
                count = int(self._redis.zcard(ACTIVE))
            else:
                scores = self._ask([_Ask("zscore", (ACTIVE, batch)) for batch in newest])
                found = zip(reversed(newest), reversed(scores), strict=True)
                active = [batch for batch, score in found if score is not None]
                count = len(active)
            batches = [_shown(batch) for batch in active]
            metas = self._ask([_Ask("hmget", (key(batch, "meta"), _OF_BATCH)) for batch in batches])
            return Health(
                self._queue_length,
                self._workers,
                list(self._stuck(batches, metas)),
                list(self._dead_letters([_shown(batch) for batch in newest])),
                count,
                _paused(batches, metas),
                self._paused_queues({self._queue, *(_queue(meta[0]) for meta in metas if meta)}),
            )

    def _paused_queues(self, queues: set[str]) -> list[str]:
        names = sorted(filter(None, queues))
        [marks] = self._ask([_Ask("hmget", (PAUSED, names))]) if names else [None]
        return [queue for queue, mark in zip(names, marks or (), strict=False) if mark]

    def _stuck(self, batches: list[str], metas: list[Any]) -> Iterator[StuckChunk]:
        seconds, micros = self._redis.time()
        now = seconds + micros / 1e6
        last = self._ask(
            [_Ask("xrevrange", (key(batch, "log"),), {"count": 1}) for batch in batches]
        )
        waiting = self._ask(
            [_Ask("zrangebyscore", (key(batch, "open"), "-inf", "(0"), _FIRST) for batch in batches]
        )
        held = self._ask(
            [_Ask("zrangebyscore", (key(batch, "open"), 0, "+inf"), _FIRST) for batch in batches]
        )
        for batch, meta, entry, waits, leases in zip(
            batches, metas, last, waiting, held, strict=True
        ):
            if waits or leases:
                moved = _moved_at(meta, entry)
                long = now - moved > self._stuck_after(_queue(meta[0] if meta else None))
                stuck = [(name, moved) for name, _ in waits or ()] if long else []
                yield from self._stuck_of(batch, stuck, leases or [], now)

    def _stuck_after(self, queue: str) -> float:
        """Return how long a queue's chunks may wait without progress, depending on whether its workers are busy."""
        at_work = [worker for worker in self._workers if worker.queue == queue]
        hands = sum(worker.concurrency for worker in at_work if not worker.draining)
        length = self._queue_length if queue == self._queue else inf
        return STUCK_SECONDS if not hands or length <= hands else BUSY_STUCK_SECONDS

    def _stuck_of(
        self, batch: str, waiting: _Scored, held: _Scored, now: float
    ) -> Iterator[StuckChunk]:
        names = [name for name, _ in (*waiting, *held)]
        found = self._ask([_Ask("hmget", (key(batch, "chunks"), names))])[0] if names else []
        infos = dict(zip(names, map(_info, found or ()), strict=False))
        alive = {worker.name for worker in self._workers}
        for name, moved in waiting:
            jobs = infos.get(name, _NOTHING).jobs
            yield StuckChunk(batch, _shown(name), jobs, "waiting", now - moved, "")
        for name, until in held:
            info = infos.get(name, _NOTHING)
            since = max(now - until / 1000, 0.0)
            if since > _LATE_SECONDS or (info.token and info.worker not in alive):
                worker = info.worker
                yield StuckChunk(batch, _shown(name), info.jobs, "leased", since, worker)

    def _dead_letters(self, batches: list[str]) -> Iterator[DeadLetter]:
        errored = self._ask([_Ask("hget", (key(batch, "meta"), "errored")) for batch in batches])
        worth = [batch for batch, count in zip(batches, errored, strict=True) if _number(count)]
        scans = self._ask([_Ask("hscan", (key(batch, "meta"),), _DEADLY_ROWS) for batch in worth])
        for batch, scanned in zip(worth, scans, strict=True):
            counts: Counter[tuple[str, str, str]] = Counter()
            for field, count in scanned[1].items() if scanned else ():
                with suppress(*DAMAGED_DATA):
                    label, grader, outcome, code = SummaryRow.parse(field)
                    if outcome == Outcome.ERRORED and code in DEADLY:
                        counts[label or "", grader or "", code] += _number(count)
            for (label, grader, code), jobs in counts.most_common(CHUNKS_LIMIT):
                yield DeadLetter(batch, label, grader, code, jobs)

    def _ask(self, asks: list[_Ask]) -> list[Any]:
        """Run commands in one round trip; the reply is None if the server refuses one, such as for a wrong key type."""
        pipe = self._redis.pipeline(transaction=False)
        for ask in asks:
            getattr(pipe, ask.command)(*ask.arguments, **ask.options)
        answers = pipe.execute(raise_on_error=False)
        return [None if isinstance(answer, ResponseError) else answer for answer in answers]


def _paused(batches: list[str], metas: list[Any]) -> list[str]:
    return [batch for batch, meta in zip(batches, metas, strict=True) if meta and meta[2] == b"1"]


def _moved_at(meta: list[bytes | None] | None, last: list[tuple[bytes, Any]] | None) -> float:
    """Return when a batch's last chunk was finished or, without one, when it was opened, in seconds."""
    opened = _number(meta[1]) if meta else 0
    finished = _number(last[0][0].partition(b"-")[0]) if last else 0
    return max(opened, finished) / 1000


def _info(raw: bytes | None) -> ChunkInfo:
    with suppress(*DAMAGED_DATA):
        return decoded_info(raw or b"{}")
    return _NOTHING


def _queue(options: bytes | None) -> str:
    with suppress(*DAMAGED_DATA):
        return str(orjson.loads(options or b"")["queue"])
    return ""


def _shown(value: bytes) -> str:
    return value.decode(errors="replace")


def _number(value: bytes | None) -> int:
    try:
        return int(value or 0)
    except ValueError:
        return 0
