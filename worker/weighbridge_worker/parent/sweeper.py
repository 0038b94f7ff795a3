"""The sweeper: puts back chunks of lost workers, replaces lost messages, and closes cancelled or expired batches.

One worker at a time runs the sweep; if two overlap for a moment, nothing is done twice.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from contextlib import nullcontext, suppress
from typing import TYPE_CHECKING

from weighbridge.batch_closing import finish_open_chunks
from weighbridge.errors import (
    BatchExpiredError,
    BatchLostError,
    BatchNotFoundError,
    ServerFullError,
    ServerUnavailableError,
)
from weighbridge.jobs.batch_state import BatchStatus
from weighbridge.jobs.capabilities import Lane
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge_worker.parent.liveness import Liveness
from weighbridge_worker.poison_isolation import Death, put_back_after_death
from weighbridge_worker.scoreboard import Assignment

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from weighbridge.broker.publisher import Publisher
    from weighbridge.settings import Settings
    from weighbridge.store import HeldChunk, Store
    from weighbridge.store.worker_registry import WorkerInfo, WorkerRegistry

BATCHES_AT_ONCE = 100  #: batches per sweep
_MESSAGES_AT_ONCE = 1_000
_LEAD_SECONDS = 2.5  #: lease of the sweeper's role
_CLOSING_SECONDS = 0.5  #: per sweep, for closing the jobs of a cancelled or expired batch
_LOOK_AGAIN_SECONDS = 1.0  #: between checks of a chunk that waits for a capability
#: period in which all active batches are checked, independent of the due index
_AUDIT_SECONDS = 300.0
#: delay of a chunk after the second death of a whole worker, doubled each time
_SUSPECT_PAUSE_SECONDS = 1.0
_SUSPECT_PAUSES = 5  #: limit of doublings
_log = logging.getLogger("weighbridge.worker")


class Sweeper:
    """Maintains the batches of one store that are due."""

    def __init__(
        self,
        name: str,
        settings: Settings,
        store: Store,
        worker_registry: WorkerRegistry,
        publisher: Publisher,
        no_forks: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        """Create the sweeper of a worker; `no_forks` prevents forks while its context is open."""
        self._name = name
        self._settings = settings
        self._store = store
        self._worker_registry = worker_registry
        self._publisher = publisher
        self._no_forks = no_forks
        self._liveness = Liveness(settings.heartbeat_ttl_seconds)
        self._failing: set[str] = set()  #: batches whose failure has been logged
        self._declared_dead: set[str] = set()  #: at the last check
        self._visited_for: set[str] = set()  #: those of them whose chunks were all looked at
        self._missing_messages: Counter[str] = Counter()  #: by queue, at the last check
        self._audited, self._audited_at = 0, time.monotonic()

    def sweep(self) -> int:
        """Visit the batches that are due, if this worker has the sweeper's role; return their number."""
        with self._no_forks():
            if not self._has_sweep_lease():
                self._liveness.forget()
                return 0
            workers = self._worker_registry.alive()
            gone = self._liveness.note({worker.name for worker in workers})
            self._declared_dead = self._worker_registry.declared_dead()
            gone |= self._declared_dead - self._visited_for
            # Check a lost worker's chunks before their leases expire.
            ahead = self._settings.lease_seconds if gone else 0.0
            due = self._store.due_batches(self._store.now() + ahead, BATCHES_AT_ONCE)
            due += self._missing_in_due_index(len(due))
            unended = self._store.retire_ended(due)
            self._failing -= {*due} - {*unended}
        for batch in unended:
            with self._no_forks():
                self._visit_safely(batch, workers)
        self._visited_for = self._declared_dead
        with self._no_forks():
            self._wake_workers(workers)
        return len(due)

    def _has_sweep_lease(self) -> bool:
        try:
            return self._store.lead_sweep(self._name, _LEAD_SECONDS)
        except ServerFullError:
            return True  # the role cannot be taken: sweeping twice is better than not at all

    def _missing_in_due_index(self, found: int) -> list[str]:
        """Return some batches missing in the due index, which a failover can cause."""
        if found >= BATCHES_AT_ONCE:
            return []
        seconds = time.monotonic() - self._audited_at
        active = self._store.active_count()
        most = int(active * seconds / _AUDIT_SECONDS)
        if not most:
            return []
        self._audited_at = time.monotonic()
        first = self._audited if self._audited < active else 0
        self._audited = first + most
        return self._store.without_due_time(first, most)

    def _visit_safely(self, batch: str, workers: list[WorkerInfo]) -> None:
        try:
            self._visit(batch, workers)
        except (ServerUnavailableError, ServerFullError):
            raise  # affects all batches
        except Exception:  # noqa: BLE001 - a failing batch must not block the others
            if batch not in self._failing:
                self._failing.add(batch)
                _log.exception(
                    "batch %r cannot be swept, and is tried again every %.0f s; other batches are not affected",
                    *(batch, _AUDIT_SECONDS),
                )
            self._store.postpone_check(batch, _AUDIT_SECONDS)
        else:
            self._failing.discard(batch)

    def _visit(self, batch: str, workers: list[WorkerInfo]) -> None:
        store = self._store
        try:
            state = store.state(batch)
        except (BatchLostError, BatchExpiredError, BatchNotFoundError):
            store.retire(batch)
            return
        if state.status.final:
            store.retire(batch)
            return
        held = store.held(batch)
        if not state.closing and state.expires_at < held.now:
            reason = "" if state.sealed else "its producer never finished submitting it"
            store.close_batch(batch, BatchStatus.EXPIRED, reason)
            state = store.state(batch)
        if state.closing:
            deadline = time.monotonic() + _CLOSING_SECONDS
            while finish_open_chunks(store, batch, state.closing):
                if time.monotonic() > deadline:
                    return  # continued in the next sweep
            store.retire(batch)
            return
        for chunk in held.chunks:
            self._check_chunk(batch, chunk, held.now, workers)
        store.reschedule_check(batch)

    def _check_chunk(
        self, batch: str, held: HeldChunk, now: float, workers: list[WorkerInfo]
    ) -> None:
        """Put back a chunk whose worker is lost."""
        info = held.info
        if info.token:
            if info.worker in self._declared_dead or self._liveness.is_gone(info.worker):
                died = not self._worker_registry.was_asked_to_stop(info.worker)
                self._put_back(batch, held, died=died)
            # Without a heartbeat, it is unknown whether the whole worker has died.
            elif held.until <= now and self._liveness.was_alive(info.worker):
                self._put_back(batch, held, died=False)
        elif held.until > now:
            return
        elif info.lane:
            self._check_lane(batch, held, workers)
        else:
            self._store.release(batch, str(held.chunk), "")

    def _put_back(self, batch: str, held: HeldChunk, *, died: bool) -> None:
        """Reopen a chunk after a lost execution, in which the whole worker may have died."""
        info, name = held.info, str(held.chunk)
        if not died:
            self._store.release(batch, name, info.token)
        elif info.at:
            line, job = map(int, info.at.split())
            work = Assignment(batch, name, info.token)
            how = "the loss of its whole worker"
            death = Death(work, line, job, ErrorCode.WORKER_KILLED, how)
            put_back_after_death(death, self._store, self._settings.observed_deaths_limit)
        else:
            doublings = min(info.suspicions - 1, _SUSPECT_PAUSES)
            pause = _SUSPECT_PAUSE_SECONDS * 2**doublings if info.suspicions else 0.0
            self._store.release(batch, name, info.token, suspect=True, pause_seconds=pause)
        _log.info("put back chunk %s of batch %s: its worker %s lost it", name, batch, info.worker)
        self._wake(self._store.options(batch).queue)

    def _check_lane(self, batch: str, held: HeldChunk, workers: list[WorkerInfo]) -> None:
        """Wake the workers for which a chunk was set aside; if none has been alive for long, let any worker grade it."""
        info, name = held.info, str(held.chunk)
        lane, queue = Lane.parse(info.lane), self._store.options(batch).queue
        able = any(
            lane.is_met_by(worker.graders, worker.schema_version)
            for worker in workers
            if worker.queue == queue
        )
        if able or self._worker_registry.has_had(
            queue, lane, self._settings.capability_timeout_seconds
        ):
            self._store.set_aside(batch, name, "", queue, info.lane, _LOOK_AGAIN_SECONDS)
            if able:
                self._wake(queue, info.lane)
            return
        self._store.set_aside(batch, name, "", queue, "")
        self._wake(queue)

    def _wake(self, queue: str, lane: str = "") -> None:
        # Messages are sent again later if the broker is full; chunks must be put back now.
        with suppress(ServerFullError):
            self._publisher.wake(queue, lane)

    def _wake_workers(self, workers: list[WorkerInfo]) -> None:
        """Replace lost messages: those missing in two consecutive checks compared with the waiting chunks."""
        hands: Counter[str] = Counter()
        for worker in workers:
            hands[worker.queue] += worker.concurrency
        missing: Counter[str] = Counter()
        for queue, children in hands.items():
            messages = self._publisher.queue_length(queue)
            if messages > children:
                continue
            chunks = self._store.waiting_chunks(queue, _MESSAGES_AT_ONCE)
            missing[queue] = max(chunks - messages, 0)
            for _ in range(min(missing[queue], self._missing_messages[queue])):
                self._wake(queue)
        self._missing_messages = missing
