"""Diagnosis of a server, its workers and its batches: what is wrong, and how to fix it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from redis.exceptions import ResponseError

from weighbridge.errors import CertificateError, ServiceUnavailableError, WeighbridgeError
from weighbridge.jobs.limits import SCHEMA_VERSION
from weighbridge.settings import MIB
from weighbridge.store.connection import translate_errors
from weighbridge.text import duration, pluralize
from weighbridge_producer.client.address import is_service

if TYPE_CHECKING:
    from weighbridge.settings import Settings
    from weighbridge.store.health import Health
    from weighbridge.store.worker_registry import WorkerInfo
    from weighbridge_producer.client.redis_client import RedisClient

Severity = Literal["problem", "warning"]

OLDEST_VERSION = (6, 2)
#: Versions of Valkey whose WAITAOF does not wait for the sync of appendfsync everysec.
_CONFIRMS_TOO_EARLY = "9.1."
SKEW_SECONDS = 5.0  #: clock skew above which displayed times are misleading
BATCHES_LIMIT = 200  #: the newest batches are examined


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem, or a warning of one."""

    severity: Severity
    subject: str  #: service, server, persistence, memory, clock, workers, versions, queue, chunks, dead letters or batches
    what: str
    advice: str


@dataclass(frozen=True, slots=True)
class _Findings:
    findings: list[Finding]


def examine(client: RedisClient) -> Iterator[Finding]:
    """Yield the problems of a client's server, workers and batches, in this order.

    Raises ServerUnavailableError if the server does not answer.
    """
    server = _Server(client)
    for check in (_role, _version, _persistence, _eviction, _memory, _unchecked, _clock):
        yield from check(server)
    health = client.health()  # not earlier: it fails on a replica, or without the broker
    for look in (_workers, _versions, _stuck, _dead_letters):
        yield from look(health)
    yield from _queues(client)
    yield from _batches(client)


class _Server:
    """Information that the server reports about itself."""

    def __init__(self, client: RedisClient) -> None:
        self.redis = client.store.redis
        self.high_water = client.settings.memory_high_water
        with translate_errors():
            self.info: dict[str, Any] = _of_one_node(self.redis.info("all"))
        self.now = client.store.now()
        self.refused: list[str] = []  #: settings that Redis did not tell

    def setting(self, name: str) -> str | None:
        """Return one of the server's settings; None if it is not accessible."""
        try:
            found = _of_one_node(self.redis.config_get(name))
        except ResponseError:  # managed servers and access rules may forbid CONFIG
            self.refused.append(name)
            return None
        return str(found[name]) if name in found else None


def _of_one_node(answer: dict[str, Any]) -> dict[str, Any]:
    """Return the first node's answer from a cluster; other answers are returned unchanged."""
    first = next(iter(answer.values()), None)
    return first if isinstance(first, dict) and ":" in str(next(iter(answer))) else answer


def _role(server: _Server) -> Iterator[Finding]:
    if server.info.get("role") not in {"master", None}:
        yield Finding(
            "problem",
            "server",
            "this Redis server is a replica: it accepts no writes",
            "point WEIGHBRIDGE_REDIS_URL at the primary, or use a redis+sentinel:// URL",
        )


def _version(server: _Server) -> Iterator[Finding]:
    if _redis_version(server) < OLDEST_VERSION:
        oldest = ".".join(map(str, OLDEST_VERSION))
        yield Finding(
            "problem",
            "server",
            f"the version of Redis is {server.info.get('redis_version', 'unknown')}",
            f"upgrade it to {oldest} or newer",
        )


def _redis_version(server: _Server) -> tuple[int, ...]:
    return tuple(map(int, str(server.info.get("redis_version", "0")).split(".")[:2]))


def _persistence(server: _Server) -> Iterator[Finding]:
    info = server.info
    if not info.get("aof_enabled"):
        yield Finding(
            "problem",
            "persistence",
            "the append-only file is off: a restart loses every batch",
            "set appendonly yes (and appendfsync everysec)",
        )
    elif info.get("aof_last_write_status") != "ok":
        yield Finding(
            "problem",
            "persistence",
            "the last write to the append-only file failed",
            "look at the log of Redis and at its disk; until then no new data is saved",
        )
    if info.get("rdb_last_bgsave_status") not in {"ok", None}:
        yield Finding(
            "warning",
            "persistence",
            "the last snapshot failed",
            "look at the log of Redis and at its disk; with stop-writes-on-bgsave-error Redis refuses writes",
        )
    if info.get("aof_enabled"):
        yield from _syncing(server)


def _syncing(server: _Server) -> Iterator[Finding]:
    policy = server.setting("appendfsync")
    if policy == "no":
        yield Finding(
            "warning",
            "persistence",
            "appendfsync is no: a crash of the machine that Redis runs on may lose many seconds of work",
            "set appendfsync everysec",
        )
    version = str(server.info.get("valkey_version", ""))
    if policy not in {"no", "always"} and not version and _redis_version(server) < (7, 2):
        yield Finding(
            "warning",
            "persistence",
            "this version of Redis cannot confirm that a batch is synced to its disk: `submit` reports one as stored that a"
            " crash of the machine in the next second loses",
            "upgrade to Redis 7.2 or newer, or Valkey; or set appendfsync always",
        )
    if policy == "everysec" and version.startswith(_CONFIRMS_TOO_EARLY):
        yield Finding(
            "warning",
            "persistence",
            f"Valkey {version} under appendfsync everysec answers WAITAOF up to a second before the sync: a batch that"
            " `submit` reports as synced can be lost if the machine crashes in that second",
            "set appendfsync always, or accept that second",
        )


def _eviction(server: _Server) -> Iterator[Finding]:
    policy = server.info.get("maxmemory_policy") or server.setting("maxmemory-policy")
    if policy not in {"noeviction", None}:
        yield Finding(
            "problem",
            "memory",
            f"maxmemory-policy is {policy}: a full Redis drops batches",
            "set maxmemory-policy noeviction",
        )
    if server.setting("lazyfree-lazy-expire") == "no":
        yield Finding(
            "warning",
            "memory",
            "lazyfree-lazy-expire is no: Redis is blocked while a large batch expires",
            "set lazyfree-lazy-expire yes",
        )


def _unchecked(server: _Server) -> Iterator[Finding]:
    if server.refused:
        yield Finding(
            "warning",
            "server",
            f"not checked: {' and '.join(server.refused)}, because Redis refuses CONFIG GET to this user",
            "run doctor with --url of a user that may, such as weighbridge-operator of deploy/redis-acl.conf; on a managed"
            " server, see its settings",
        )


def _memory(server: _Server) -> Iterator[Finding]:
    used, most = int(server.info.get("used_memory", 0)), int(server.info.get("maxmemory") or 0)
    if not most:
        yield Finding(
            "warning",
            "memory",
            "maxmemory is not set: when memory runs out, the kernel may kill Redis; with a limit, Redis only refuses writes",
            "set maxmemory to about three quarters of the machine's memory",
        )
    elif used > most * server.high_water:
        severity: Severity = "problem" if used > most * 0.95 else "warning"
        yield Finding(
            severity,
            "memory",
            f"Redis is {used / most:.0%} full ({used / MIB:,.0f} of {most / MIB:,.0f} MiB); "
            f"producers pause at {server.high_water:.0%}",
            "collect and delete finished batches, or raise maxmemory",
        )


def _clock(server: _Server) -> Iterator[Finding]:
    skew = time.time() - server.now
    if abs(skew) > SKEW_SECONDS:
        ahead = "ahead of" if skew > 0 else "behind"
        yield Finding(
            "warning",
            "clock",
            f"this machine's clock is {abs(skew):,.0f} s {ahead} that of Redis",
            "synchronise both (NTP): batches use the clock of Redis; ages in lists and the expiry of API keys use the clock of"
            " the machine that shows or checks them",
        )


def _workers(health: Health) -> Iterator[Finding]:
    if not health.workers and health.active_batches:
        yield Finding(
            "problem",
            "workers",
            f"no worker is running; batches that have not ended: {health.active_batches:,}",
            "start one: weighbridge worker",
        )
    for worker in health.workers:
        for name, why in worker.broken_plug_ins.items():
            yield Finding(
                "problem",
                "workers",
                f"on {worker.name} the plug-in {name} failed to load: {why}",
                "correct or remove it there, and restart the worker",
            )
        if abs(worker.clock_skew_seconds) > SKEW_SECONDS:
            yield Finding(
                "warning",
                "clock",
                f"the clock of {worker.host} is {abs(worker.clock_skew_seconds):,.0f} s off that of Redis",
                "synchronise it (NTP)",
            )


def _versions(health: Health) -> Iterator[Finding]:
    strange = [worker.name for worker in health.workers if worker.schema_version != SCHEMA_VERSION]
    if strange:
        yield Finding(
            "problem",
            "versions",
            f"workers of another release than this command's: {', '.join(strange[:5])}",
            "install the same release for producers and workers",
        )
    for queue in sorted({worker.queue for worker in health.workers}):
        yield from _grader_versions([it for it in health.workers if it.queue == queue])


def _grader_versions(workers: list[WorkerInfo]) -> Iterator[Finding]:
    """Report different grader versions among the workers of a queue."""
    found: dict[str, Counter[int]] = {}
    for worker in workers:
        for grader, version in worker.graders.items():
            found.setdefault(grader, Counter())[version] += 1
    for grader, versions in sorted(found.items()):
        if len(versions) > 1 or sum(versions.values()) < len(workers):
            listed = ", ".join(
                f"version {version} on {pluralize(count, 'worker')}"
                for version, count in sorted(versions.items())
            )
            yield Finding(
                "warning",
                "versions",
                f"the grader {grader} is not installed in the same version on all {pluralize(len(workers), 'worker')}: {listed}",
                "finish the deployment; until then, jobs may wait for workers with the version that they need",
            )


def _stuck(health: Health) -> Iterator[Finding]:
    for batch, count in Counter(chunk.batch_id for chunk in health.stuck).items():
        longest = max(chunk.since_seconds for chunk in health.stuck if chunk.batch_id == batch)
        yield Finding(
            "problem",
            "chunks",
            f"{pluralize(count, 'chunk')} of {batch} stuck, for up to {longest:,.0f} s",
            "see the workers' logs, and check that a worker of its queue runs and that neither the queue nor the batch is paused",
        )


def _dead_letters(health: Health) -> Iterator[Finding]:
    for letter in health.dead_letters:
        yield Finding(
            "warning",
            "dead letters",
            f"{pluralize(letter.jobs, 'job')} of {letter.batch_id} ({letter.label}) ended as {letter.code}",
            f"find the cause with `weighbridge results {letter.batch_id} --errored --cause {letter.code}`, then run:"
            f" weighbridge retry {letter.batch_id}",
        )


def _queues(client: RedisClient) -> Iterator[Finding]:
    for queue in sorted(client.queues()):
        if client.store.is_queue_paused(queue):
            yield Finding(
                "warning",
                "queue",
                f"the queue {queue} is paused",
                f"weighbridge unpause --queue {queue}",
            )


def _batches(client: RedisClient) -> Iterator[Finding]:
    now = client.store.now()
    for state in client.batches(BATCHES_LIMIT):
        name = f"batch {state.batch_id}"
        if state.paused and not state.status.final:
            advice = f"weighbridge unpause {state.batch_id}"
            yield Finding("warning", "batches", f"{name} is paused", advice)
        if idle := state.idle_seconds(now):
            yield Finding(
                "warning",
                "batches",
                f"the input of {name} is not complete, and no jobs have arrived for {duration(idle)}",
                f"if its producer has ended, continue it: weighbridge submit CASES --resume {state.batch_id}; or end it:"
                f" weighbridge cancel {state.batch_id}",
            )
        if state.nondeterministic:
            yield Finding(
                "warning",
                "batches",
                f"{name} has {pluralize(state.nondeterministic, 'chunk')} with different results when graded twice",
                "one of its graders is not deterministic: graders must not use time, randomness or state",
            )


def examine_at(address: str, settings: Settings) -> list[Finding]:
    """Return the findings of `examine_safely`, run here for a Redis server, or on the host of an HTTP service."""
    if is_service(address):
        from weighbridge_producer.client.http_client import HttpClient

        with HttpClient(address, settings=settings) as service:
            try:
                return service.session.request("GET", "api/doctor", _Findings).findings
            except (CertificateError, ServiceUnavailableError) as error:
                return [Finding("problem", "service", str(error.fault), error.hint)]
    from weighbridge_producer.client.redis_client import RedisClient

    with RedisClient(address, settings=settings, retry=False) as client:
        return examine_safely(client)


def examine_safely(client: RedisClient) -> list[Finding]:
    """Return the findings of `examine`; an error while examining is itself a finding."""
    findings: list[Finding] = []
    try:
        findings.extend(examine(client))  # findings before an error are kept
    except WeighbridgeError as error:
        findings.append(Finding("problem", "server", str(error.fault), error.hint))
    return findings
