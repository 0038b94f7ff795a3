"""Registry of running workers, kept up to date by heartbeats that expire."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any

import orjson
from pydantic import Field, TypeAdapter, ValidationError
from redis.exceptions import NoPermissionError

from weighbridge.jobs.capabilities import Lane, Need
from weighbridge.store.connection import server_time, translate_errors
from weighbridge.store.key_names import SWEEPER, shared_key

_SHUTDOWN_SECONDS = 600
_REMEMBERED_SECONDS = 3600  #: how long capabilities are kept after the last worker has stopped
_WORKERS = shared_key("workers")  #: names of workers, scored by the end of their heartbeat (ms)
_REPORTS = shared_key("beats")  #: each worker's report by its name
_DRAINS = shared_key("drains")  #: names of workers that were asked to drain
_KEYS = [_WORKERS, _REPORTS, _DRAINS]
_DEAD = shared_key("dead")  #: names of workers that were declared dead, scored by when (ms)
_LISTED_LIMIT = 5000  #: running workers that are listed
_KEPT_MS = 60_000  #: how long a worker's entry is kept after its last heartbeat has expired

_PRELUDE = """
local workers, beats, drains = unpack(KEYS)
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
-- A full server refuses HSET and ZADD, but not in a script that has begun with a write that frees.
local function write_first_so_oom_is_allowed() redis.call('HDEL', beats, '') end
"""
#: ARGV: name, report, time until the heartbeat expires, time that the entry is kept after that (ms)
_BEAT_SCRIPT = (
    _PRELUDE
    + """
write_first_so_oom_is_allowed()
redis.call('ZADD', workers, now + ARGV[3], ARGV[1])
redis.call('HSET', beats, ARGV[1], ARGV[2])
local gone = redis.call('ZRANGEBYSCORE', workers, '-inf', now - ARGV[4], 'LIMIT', 0, 100)
for _, name in ipairs(gone) do
  redis.call('ZREM', workers, name)
  redis.call('HDEL', beats, name)
  redis.call('HDEL', drains, name)
end
for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, ARGV[3] + ARGV[4]) end
return redis.call('HEXISTS', drains, ARGV[1])
"""
)
#: KEYS: the requests to drain. ARGV: name, how long the request is kept if no worker is running (ms)
_DRAIN_SCRIPT = """
redis.call('HDEL', KEYS[1], '')  -- frees memory, so that a full server does not refuse the next write
redis.call('HSET', KEYS[1], ARGV[1], 1)
if redis.call('PTTL', KEYS[1]) < 0 then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
"""
#: KEYS also: the declared dead, the sweeper. ARGV: name, how long the declaration is kept (ms)
_DECLARE_DEAD_SCRIPT = (
    _PRELUDE
    + """
write_first_so_oom_is_allowed()
local dead, sweeper = KEYS[4], KEYS[5]
redis.call('ZREM', workers, ARGV[1])
redis.call('HDEL', beats, ARGV[1])
redis.call('HDEL', drains, ARGV[1])
redis.call('ZREMRANGEBYSCORE', dead, '-inf', now - ARGV[2])
redis.call('ZADD', dead, now, ARGV[1])
redis.call('PEXPIRE', dead, ARGV[2])
if redis.call('GET', sweeper) == ARGV[1] then redis.call('DEL', sweeper) end
"""
)


@dataclass(frozen=True, slots=True)
class WorkerInfo:
    """Report that a worker sends with each heartbeat."""

    name: Annotated[str, Field(description="unique: host, process id and a random part")]
    host: Annotated[str, Field(description="the name of the machine")]
    pid: Annotated[int, Field(description="the process id of the worker")]
    concurrency: Annotated[int, Field(description="processes that grade")]
    queue: Annotated[str, Field(description="the queue of the broker that it reads")]
    schema_version: Annotated[int, Field(description="the version of the job format that it reads")]
    graders: Annotated[
        Mapping[str, int], Field(description="the versions of its graders by their ids")
    ] = field(default_factory=dict)
    broken_plug_ins: Annotated[
        Mapping[str, str], Field(description="plug-ins that failed to load, and why")
    ] = field(default_factory=dict)
    started_at: Annotated[float, Field(description="seconds since the epoch")] = 0.0
    jobs: Annotated[int, Field(description="jobs graded since the worker started")] = 0
    chunks: Annotated[int, Field(description="chunks graded since the worker started")] = 0
    draining: Annotated[
        bool, Field(description="whether it stops once its work in progress is completed")
    ] = False
    clock_skew_seconds: Annotated[
        float, Field(description="seconds by which its clock is ahead of that of Redis")
    ] = 0.0


_reports: TypeAdapter[WorkerInfo] = TypeAdapter(WorkerInfo)


class WorkerRegistry:
    """The workers of one server, whose clock decides which ones are running."""

    def __init__(self, redis: Any) -> None:
        scripts = (_BEAT_SCRIPT, _DRAIN_SCRIPT, _DECLARE_DEAD_SCRIPT)
        self._run_beat, self._run_drain, self._run_declare_dead = map(
            redis.register_script, scripts
        )
        self._redis = redis
        #: The running workers, the server's time, and this machine's time, when they were last asked for.
        self._seen: tuple[list[WorkerInfo], float, float] = [], 0.0, 0.0

    def heartbeat(self, worker: WorkerInfo, ttl_seconds: float) -> bool:
        """Store a worker's heartbeat; return whether the worker was asked to drain."""
        args = [worker.name, orjson.dumps(asdict(worker)), int(ttl_seconds * 1000), _KEPT_MS]
        with translate_errors():
            return bool(self._run_beat(_KEYS, args))

    def leave(self, name: str) -> None:
        """Remove a worker that has stopped."""
        with translate_errors():
            pipe = self._redis.pipeline(transaction=False)
            pipe.zrem(_WORKERS, name)
            pipe.hdel(_REPORTS, name)
            pipe.hdel(_DRAINS, name)
            pipe.execute()

    def declare_dead(self, name: str) -> None:
        """Remove a worker whose process has certainly ended, so that the next sweep puts back its chunks."""
        with translate_errors():
            self._run_declare_dead([*_KEYS, _DEAD, SWEEPER], [name, _KEPT_MS])

    def declared_dead(self) -> set[str]:
        """Return the workers that were recently declared dead; none where an older access list does not have their key."""
        with translate_errors():
            try:
                return {name.decode() for name in self._redis.zrange(_DEAD, 0, -1)}
            except NoPermissionError:
                return set()

    def alive(self) -> list[WorkerInfo]:
        """Return the running workers, sorted by name; heartbeats that cannot be read are skipped."""
        return self.alive_at()[0]

    def alive_at(self, most_seconds_ago: float = 0.0) -> tuple[list[WorkerInfo], float]:
        """Return the running workers, as of now or a moment ago, and the server's time now in seconds since the epoch."""
        workers, server_time_then, then = self._seen
        if 0 <= (passed := time.time() - then) < most_seconds_ago:
            return workers, server_time_then + passed
        with translate_errors():
            now, reports = self._reports()
        workers = sorted(_read(reports), key=lambda worker: worker.name)
        self._seen = workers, now, time.time()
        return workers, now

    def _reports(self) -> tuple[float, list[bytes | None]]:
        """Return the server's time and the reports of running workers, without a script: it would need the right to write."""
        now = server_time(self._redis)
        running = self._redis.zrangebyscore(_WORKERS, now * 1000, "+inf", 0, _LISTED_LIMIT)
        return now, self._redis.hmget(_REPORTS, running) if running else []

    def note_shutdown_of(self, name: str) -> None:
        """Record that a worker was asked to stop, so that its death counts against no job if it is killed before it stops."""
        with translate_errors():
            self._redis.set(_shutdown_key(name), 1, ex=_SHUTDOWN_SECONDS)

    def was_asked_to_stop(self, name: str) -> bool:
        """Return whether a worker was recently asked to stop."""
        with translate_errors():
            return bool(self._redis.exists(_shutdown_key(name)))

    def advertise(self, queue: str, graders: Mapping[str, int], schema_version: int) -> None:
        """Record a worker's capabilities, which keep chunks in their lane for a while after it has stopped."""
        needs = [Need(grader, version) for grader, version in graders.items()]
        needs.append(Need(version=schema_version))
        with translate_errors():
            now = server_time(self._redis)
            self._redis.zadd(_capabilities(queue), {str(need): now for need in needs})
            self._redis.expire(_capabilities(queue), _REMEMBERED_SECONDS)

    def has_had(self, queue: str, lane: Lane, within_seconds: float) -> bool:
        """Return whether a queue's workers, running or seen within a time, have all capabilities of a lane."""
        living = (worker for worker in self.alive() if worker.queue == queue)
        if any(lane.is_met_by(worker.graders, worker.schema_version) for worker in living):
            return True
        with translate_errors():
            since = server_time(self._redis) - within_seconds
            names = self._redis.zrangebyscore(_capabilities(queue), since, "+inf")
        seen = [need for name in names for need in Lane.parse(name.decode()).needs]
        graders: dict[str, int] = {}
        for need in seen:
            if need.grader:
                graders[need.grader] = max(need.version, graders.get(need.grader, 0))
        schemas = {need.version for need in seen if not need.grader}
        return any(lane.is_met_by(graders, schema) for schema in schemas)

    def drain(self, name: str) -> None:
        """Ask a worker to finish its work and stop."""
        with translate_errors():
            self._run_drain([_DRAINS], [name, _KEPT_MS])


def _read(reports: list[bytes | None]) -> Iterator[WorkerInfo]:
    for report in reports:
        # A worker of another release may send a report that is invalid here; it is skipped.
        with suppress(ValidationError):
            if report:
                yield _reports.validate_json(report)


def _capabilities(queue: str) -> str:
    """Return the key of the times at which each capability was last seen in a queue's workers."""
    return shared_key(f"capabilities:{queue}")


def _shutdown_key(name: str) -> str:
    return shared_key(f"ending:{name}")
