"""The living workers: each says so with a heartbeat that ends soon after it does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import Any

import orjson
from pydantic import TypeAdapter, ValidationError

from weighbridge.jobs.capabilities import Lane, Need
from weighbridge.store.connection import server_time, translate_errors


def fleet_key(name: str) -> str:
    """Return the key of that name of what belongs to no batch; all of them lie together on a cluster."""
    return f"wb:{{fleet}}:{name}"


_FAREWELL_SECONDS = 600
_REMEMBERED_SECONDS = 3600  #: what workers can grade, after the last of them
#: Names by when their heartbeat ends (ms); name -> what the worker said of itself; names of those asked to drain.
_KEYS = _WORKERS, _BEATS, _DRAINS = [fleet_key(name) for name in ("workers", "beats", "drains")]
_KEPT_MS = 60_000  #: that a worker is remembered after its last heartbeat ended

_PRELUDE = """
local workers, beats, drains = unpack(KEYS)
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
-- A full server refuses HSET and ZADD, but not in a script that has begun with a write that frees.
local function write_first_so_oom_is_allowed() redis.call('HDEL', beats, '') end
"""
#: ARGV: name, what it says of itself, how long that holds, how long it is remembered (ms)
_BEAT = (
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
_ALIVE = (
    _PRELUDE
    + """
local names = redis.call('ZRANGEBYSCORE', workers, now + 1, '+inf', 'LIMIT', 0, 5000)
if #names == 0 then return {now, {}} end
return {now, redis.call('HMGET', beats, unpack(names))}
"""
)
#: ARGV: name, how long the request is kept where nobody lives (ms)
_DRAIN = (
    _PRELUDE
    + """
write_first_so_oom_is_allowed()
redis.call('HSET', drains, ARGV[1], 1)
if redis.call('PTTL', drains) < 0 then redis.call('PEXPIRE', drains, ARGV[2]) end
"""
)


@dataclass(frozen=True, slots=True)
class WorkerInfo:
    """What a worker reports about itself with every heartbeat."""

    name: str  #: unique: host, process id and a random part
    host: str
    pid: int
    concurrency: int
    queue: str
    schema_version: int
    graders: Mapping[str, int] = field(default_factory=dict)  #: id -> version
    #: name -> why it failed to load
    broken_plug_ins: Mapping[str, str] = field(default_factory=dict)
    started_at: float = 0.0
    jobs: int = 0  #: graded since it started
    chunks: int = 0
    draining: bool = False
    clock_skew_seconds: float = 0.0  #: of its machine, ahead of the server's


_beat: TypeAdapter[WorkerInfo] = TypeAdapter(WorkerInfo)


class WorkerRegistry:
    """The workers on one store's server; its clock alone says who lives."""

    def __init__(self, redis: Any) -> None:
        scripts = (_BEAT, _ALIVE, _DRAIN)
        self._beat, self._alive, self._drain = map(redis.register_script, scripts)
        self._redis = redis

    def heartbeat(self, worker: WorkerInfo, ttl_seconds: float) -> bool:
        """Say that a worker lives; return whether somebody asked it to drain."""
        said = orjson.dumps(asdict(worker))
        with translate_errors():
            return bool(self._beat(_KEYS, [worker.name, said, int(ttl_seconds * 1000), _KEPT_MS]))

    def leave(self, name: str) -> None:
        """Say that a worker has ended."""
        with translate_errors():
            pipe = self._redis.pipeline(transaction=False)
            pipe.zrem(_WORKERS, name)
            pipe.hdel(_BEATS, name)
            pipe.hdel(_DRAINS, name)
            pipe.execute()

    def alive(self) -> list[WorkerInfo]:
        """Return the living workers, by name; whose heartbeat cannot be read is none of ours."""
        return self.alive_at()[0]

    def alive_at(self) -> tuple[list[WorkerInfo], float]:
        """Return the living workers, and the server's time at which they are, in seconds since the epoch."""
        with translate_errors():
            now_ms, beats = self._alive(_KEYS)
        return sorted(_read(beats), key=lambda worker: worker.name), now_ms / 1000

    def say_farewell(self, name: str) -> None:
        """Note that a worker was asked to end: if it is killed before it has, no job is to blame."""
        with translate_errors():
            self._redis.set(_farewell(name), 1, ex=_FAREWELL_SECONDS)

    def has_said_farewell(self, name: str) -> bool:
        """Whether a worker was asked to end, lately."""
        with translate_errors():
            return bool(self._redis.exists(_farewell(name)))

    def advertise(self, queue: str, graders: Mapping[str, int], schema_version: int) -> None:
        """Note what a living worker can grade: for a while after it has gone, others leave that to its like."""
        needs = [Need(grader, version) for grader, version in graders.items()]
        needs.append(Need(version=schema_version))
        with translate_errors():
            now = server_time(self._redis)
            self._redis.zadd(_capabilities(queue), {str(need): now for need in needs})
            self._redis.expire(_capabilities(queue), _REMEMBERED_SECONDS)

    def has_had(self, queue: str, lane: Lane, within_seconds: float) -> bool:
        """Whether workers of a queue that live, or did within a time, have all the capabilities of a lane."""
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
        """Ask a worker to finish what it has and leave."""
        with translate_errors():
            self._drain(_KEYS, [name, _KEPT_MS])


def _read(beats: list[bytes | None]) -> Iterator[WorkerInfo]:
    for beat in beats:
        # A newer release may say more of itself: what is not known here is left out.
        with suppress(ValidationError):
            if beat:
                yield _beat.validate_json(beat)


def _capabilities(queue: str) -> str:
    """Return the key of when a worker of a queue was last seen that had each capability."""
    return fleet_key(f"capabilities:{queue}")


def _farewell(name: str) -> str:
    return fleet_key(f"ending:{name}")
