"""The living workers: each says so with a key that dies soon after it does."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import Any

import orjson
from pydantic import TypeAdapter, ValidationError

from weighbridge.jobs.capabilities import Lane, Need
from weighbridge.jobs.connection import plain_errors

_WORKERS = "wb:{fleet}:workers"
_FAREWELL_SECONDS = 600
_CAPABILITIES = "wb:{fleet}:capabilities"  #: when a worker was last seen that had each


@dataclass(frozen=True, slots=True)
class WorkerInfo:
    """What a worker says of itself with every heartbeat."""

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


class Fleet:
    """The workers on one store's server."""

    def __init__(self, redis: Any) -> None:
        self._redis = redis

    def beat(self, worker: WorkerInfo, ttl_seconds: float) -> bool:
        """Say that a worker lives; return whether somebody asked it to drain."""
        with plain_errors():
            pipe = self._redis.pipeline(transaction=False)
            pipe.set(_worker(worker.name), orjson.dumps(asdict(worker)), px=int(ttl_seconds * 1000))
            pipe.zadd(_WORKERS, {worker.name: time.time()})
            pipe.exists(_drain(worker.name))
            return bool(pipe.execute()[2])

    def leave(self, name: str) -> None:
        """Say that a worker has ended."""
        with plain_errors():
            self._redis.delete(_worker(name), _drain(name))
            self._redis.zrem(_WORKERS, name)

    def alive(self) -> list[WorkerInfo]:
        """Return the living workers, by name; whose heartbeat cannot be read is none of ours."""
        with plain_errors():
            names = [name.decode(errors="replace") for name in self._redis.zrange(_WORKERS, 0, -1)]
            beats = self._redis.mget([_worker(name) for name in names]) if names else []
            gone = [name for name, beat in zip(names, beats, strict=True) if beat is None]
            if gone:
                # Only those silent for a minute: another worker's first beat may be on its way.
                self._redis.zremrangebyscore(_WORKERS, "-inf", time.time() - 60)
        return sorted(_read(beats), key=lambda worker: worker.name)

    def say_farewell(self, name: str) -> None:
        """Note that a worker was asked to end: if it is killed before it has, no job is to blame."""
        with plain_errors():
            self._redis.set(_farewell(name), 1, ex=_FAREWELL_SECONDS)

    def has_said_farewell(self, name: str) -> bool:
        """Whether a worker was asked to end, lately."""
        with plain_errors():
            return bool(self._redis.exists(_farewell(name)))

    def advertise(self, graders: Mapping[str, int], schema_version: int) -> None:
        """Note what a living worker can grade: for a while after it has gone, others leave that to its like."""
        needs = [Need(grader, version) for grader, version in graders.items()]
        needs.append(Need(version=schema_version))
        with plain_errors():
            self._redis.zadd(_CAPABILITIES, {str(need): time.time() for need in needs})

    def has_had(self, lane: Lane, within_seconds: float) -> bool:
        """Whether workers that live, or did within a time, have all the capabilities of a lane."""
        with plain_errors():
            since = time.time() - within_seconds
            names = self._redis.zrangebyscore(_CAPABILITIES, since, "+inf")
        seen = [need for name in names for need in Lane.parse(name.decode()).needs]
        graders: dict[str, int] = {}
        for need in seen:
            if need.grader:
                graders[need.grader] = max(need.version, graders.get(need.grader, 0))
        schemas = {need.version for need in seen if not need.grader}
        return any(lane.is_met_by(graders, schema) for schema in schemas)

    def drain(self, name: str) -> None:
        """Ask a worker to finish what it has and leave."""
        with plain_errors():
            self._redis.set(_drain(name), 1, ex=3600)


def _read(beats: list[bytes | None]) -> Iterator[WorkerInfo]:
    for beat in beats:
        # A newer release may say more of itself: what is not known here is left out.
        with suppress(ValidationError):
            if beat:
                yield _beat.validate_json(beat)


def _worker(name: str) -> str:
    return f"wb:{{fleet}}:worker:{name}"


def _farewell(name: str) -> str:
    return f"wb:{{fleet}}:ending:{name}"


def _drain(name: str) -> str:
    return f"wb:{{fleet}}:drain:{name}"
