"""Redis backend of the client: submits batches, and finds batches, graders and workers."""

from __future__ import annotations

import logging
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from weighbridge.broker.publisher import Publisher
from weighbridge.errors import (
    NoCasesError,
    NoGraderError,
    NoSuchQueueError,
    NoSuchWorkerError,
    ServerError,
    UnknownGraderError,
)
from weighbridge.graders.registry import default_registry
from weighbridge.jobs.batch_state import Priority
from weighbridge.jobs.grader_spec import GraderSpec
from weighbridge.settings import read_settings
from weighbridge.store import BatchOptions, Store
from weighbridge.store.api_keys import ApiKey, ApiKeys, KeyList, Role
from weighbridge.store.audit import Action, AuditLog, Entry, command_line_actor
from weighbridge.store.health import Health, HealthCheck
from weighbridge.store.projects import DEFAULT_PROJECT, check_project
from weighbridge.store.worker_registry import WorkerInfo, WorkerRegistry
from weighbridge.text import pluralize, printable
from weighbridge_producer.client.address import address_of
from weighbridge_producer.client.backend import Backend, ListedBatch, specs_of
from weighbridge_producer.client.batch import check_same_graders
from weighbridge_producer.client.given_source import given_source
from weighbridge_producer.client.redis_batch import RedisBatch
from weighbridge_producer.submit.strict_submission import checked

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from weighbridge.settings import Settings
    from weighbridge.store import PlannedBatch
    from weighbridge.store.audit import Actor
    from weighbridge_producer.client.backend import Graders
    from weighbridge_producer.input.source import Cases

_log = logging.getLogger("weighbridge.client")

_KNOWN_WORKERS_SECONDS = 1.0  #: how long the running workers are remembered for the next batch
_BATCHES_WITH_QUEUES = 200  #: the newest batches, whose queues are known


class RedisClient(Backend):
    """A connection to the Redis that stores the batches, by default WEIGHBRIDGE_REDIS_URL.

    With `retry`, commands wait while Redis restarts.
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        settings: Settings | None = None,
        retry: bool = True,
    ) -> None:
        self.settings = settings or read_settings()
        address = url or self.settings.store_address or address_of(None, self.settings)
        self.url = address
        self.store = Store(address, retry=retry)
        own_broker = self.settings.broker_url
        self.publisher = Publisher(
            self.settings,
            own_broker.get_secret_value() if own_broker else address,
            retry=retry,
        )
        self.worker_registry = WorkerRegistry(self.store.redis)
        self.actor = command_line_actor()  #: default actor for the audit log
        self._was_policy_read = False

    def close(self) -> None:
        self.store.close()
        self.publisher.close()

    def submit(
        self,
        cases: Cases,
        *,
        graders: Graders = (),
        metadata: dict[str, str] | None = None,
        resume: str | None = None,
        strict: bool = False,
        priority: Priority = "normal",
        project: str | None = None,
    ) -> RedisBatch:
        specs = specs_of(graders)
        if resume:
            check_same_graders(self.batch(resume), specs)
            specs = self.batch(resume).options().graders
        given = given_source(cases, specs, self.settings, is_resumed=bool(resume))
        readable = checked(given, specs, self.settings) if strict else nullcontext(given)
        with readable as source:
            if resume:
                batch = self.batch(resume)
            else:
                planned = self._plan(
                    source.name, specs, metadata=metadata, priority=priority, project=project
                )
                if not source.is_at_hand:
                    self.store.create_batch(planned)
                batch = self._new_batch(planned, is_created=not source.is_at_hand)
            try:
                batch.fill(source, resumed=bool(resume))
            except NoGraderError:
                batch.delete()
                raise
            except ServerError as error:
                error.add_note(
                    f"batch {batch.id} may have been stored, in part or whole: submit the same cases with"
                    f" resume={batch.id!r} to continue it"
                )
                raise
            if not (resume or batch.has_jobs):
                batch.delete()
                raise NoCasesError(source.name)
        return batch

    def open(
        self,
        name: str,
        graders: Graders = (),
        *,
        metadata: dict[str, str] | None = None,
        priority: Priority = "normal",
        project: str | None = None,
        actor: Actor | None = None,
    ) -> RedisBatch:
        """Create an empty batch in a project; raises UnknownGraderError, ConfigError, InvalidProjectError."""
        planned = self._plan(
            name, graders, metadata=metadata, priority=priority, project=project, actor=actor
        )
        self.store.create_batch(planned)
        return self._new_batch(planned, actor)

    def _plan(
        self,
        name: str,
        graders: Graders,
        *,
        metadata: dict[str, str] | None,
        priority: Priority,
        project: str | None,
        actor: Actor | None = None,
    ) -> PlannedBatch:
        """Return a batch that can be created; raises UnknownGraderError, ConfigError, InvalidProjectError."""
        specs = specs_of(graders)
        self._warn_of_eviction()
        workers, now = self.worker_registry.alive_at(most_seconds_ago=_KNOWN_WORKERS_SECONDS)
        try:
            versions = _checked_versions(specs, workers)
        except UnknownGraderError:  # unless a worker that has just started has it
            versions = self.check_graders(specs)
        actor = actor or self.actor
        options = BatchOptions(
            *(specs, name, metadata, self.settings.queue, priority, versions),
            *(check_project(project or DEFAULT_PROJECT), actor.name, actor.key_id),
        )
        return self.store.plan_batch(
            options,
            expiry_seconds=self.settings.batch_expiry_seconds,
            ttl_seconds=self.settings.result_ttl_seconds,
            actor=actor,
            now=now,
        )

    def _warn_of_eviction(self) -> None:
        """Log a warning before the first batch if the server drops keys when it is full."""
        if self._was_policy_read:
            return
        policy = self.store.evicting_policy()
        self._was_policy_read = True
        if policy:
            _log.warning(
                "maxmemory-policy of Redis is %s: when its memory is full, it drops batches and their results; set it to noeviction",
                printable(policy),
            )

    def _new_batch(
        self, planned: PlannedBatch, actor: Actor | None = None, *, is_created: bool = True
    ) -> RedisBatch:
        return RedisBatch(
            *(self.store, self.publisher, self.settings, planned.id, actor or self.actor),
            opened_with=planned.options,
            planned=None if is_created else planned,
        )

    def check_graders(self, specs: Sequence[GraderSpec]) -> dict[str, int]:
        """Check that graders are known, that a running worker has them, and that their configs are valid.

        Returns by grader id the minimum version that workers must have, which is the version installed here.
        """
        return _checked_versions(specs, self.worker_registry.alive())

    def batch(self, batch_id: str, actor: Actor | None = None) -> RedisBatch:
        """Return a handle to a batch; `actor` is named in the audit log and defaults to the client's."""
        return RedisBatch(self.store, self.publisher, self.settings, batch_id, actor or self.actor)

    def listed(self, most: int = 100, *, project: str | None = None) -> list[ListedBatch]:
        return [
            ListedBatch(state, options.source, options.project, options.submitted_by)
            for state, options in self.store.listed(self.store.batches(most, project=project))
        ]

    def workers(self) -> list[WorkerInfo]:
        return self.worker_registry.alive()

    def health(self, *, project: str | None = None) -> Health:
        workers = self.worker_registry.alive()
        length = self.publisher.queue_length()
        check = HealthCheck(self.store.redis, workers, self.publisher.queue, length)
        return check.health(project)

    def drain(self, worker: str, actor: Actor | None = None) -> None:
        running = [info.name for info in self.workers()]
        if worker not in running:
            raise NoSuchWorkerError(
                f"no running worker is called {worker[:80]!r}",
                f"running: {', '.join(running) or 'none'}",
            )
        self.worker_registry.drain(worker)
        entry = Entry(Action.DRAIN, actor or self.actor, details={"worker": worker[:200]})
        AuditLog(self.store.redis).record(entry)

    def queues(self) -> set[str]:
        """Return the queues of the settings, of the running workers and of the newest batches."""
        newest = self.store.listed(self.store.batches(_BATCHES_WITH_QUEUES))
        workers = (worker.queue for worker in self.workers())
        return {self.settings.queue, *workers, *(options.queue for _, options in newest)}

    def _check_queue(self, queue: str) -> None:
        """Raise NoSuchQueueError for a queue that is neither known nor paused."""
        known = self.queues()
        if queue not in known and not self.store.is_queue_paused(queue):
            raise NoSuchQueueError(queue, known)

    def pause_queue(self, queue: str, actor: Actor | None = None) -> None:
        self._check_queue(queue)
        self.store.pause_queue(queue, paused=True)
        self._record_of_queue(Action.PAUSE, queue, actor)

    def unpause_queue(self, queue: str, actor: Actor | None = None) -> None:
        self._check_queue(queue)
        self.store.pause_queue(queue, paused=False)
        self._record_of_queue(Action.UNPAUSE, queue, actor)
        self.publisher.wake(queue)

    def _record_of_queue(self, action: Action, queue: str, actor: Actor | None) -> None:
        entry = Entry(action, actor or self.actor, details={"queue": queue[:200]})
        AuditLog(self.store.redis).record(entry)

    def audit(
        self,
        *,
        batch: str | None = None,
        project: str | None = None,
        since: float = 0.0,
        most: int = 100,
    ) -> list[Entry]:
        log = AuditLog(self.store.redis)
        return list(log.entries(project=project, batch=batch, since=since, most=most))

    def keys(self) -> KeyList:
        return ApiKeys(self.store.redis).listed()

    def make_key(
        self,
        name: str,
        role: Role,
        lives_seconds: float | None = None,
        *,
        project: str = DEFAULT_PROJECT,
        actor: Actor | None = None,
    ) -> tuple[ApiKey, str]:
        keys = ApiKeys(self.store.redis, actor or self.actor)
        return keys.make(name, role, lives_seconds, project=project)

    def revoke_key(self, key_id: str, actor: Actor | None = None) -> bool:
        return ApiKeys(self.store.redis, actor or self.actor).revoke(key_id)

    def graders(self) -> list[dict[str, Any]]:
        """Return the catalogue of the graders installed here."""
        return default_registry().catalogue()


def _checked_versions(specs: Sequence[GraderSpec], workers: Sequence[WorkerInfo]) -> dict[str, int]:
    registry = default_registry()
    advertised: dict[str, int] = {}
    for worker in workers:
        for grader, version in worker.graders.items():
            advertised[grader] = max(version, advertised.get(grader, 0))
    versions: dict[str, int] = {}
    for spec in specs:
        installed = spec.grader in registry.ids()
        if not installed and spec.grader not in advertised:
            raise UnknownGraderError(
                spec.grader, known=dict.fromkeys([*registry.ids(), *advertised])
            )
        if installed:
            registry.create(spec.grader, dict(spec.config) if spec.config is not None else None)
            versions[spec.grader] = registry.get(spec.grader).version
        if workers and spec.grader not in advertised:
            raise _missing_grader(spec.grader, workers, advertised)
    return versions


def _missing_grader(
    grader: str, workers: Sequence[WorkerInfo], advertised: Iterable[str]
) -> UnknownGraderError:
    failures = [worker.broken_plug_ins.get(grader) for worker in workers]
    why = next((f" (it failed to load there: {failure})" for failure in failures if failure), "")
    return UnknownGraderError(
        grader,
        known=sorted(advertised),
        hint=f"none of {pluralize(len(workers), 'running worker')} has it{why}; install the plug-in where they run",
    )
