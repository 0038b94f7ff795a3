"""Recovery of a dead child's chunk: it is put back, and the death is counted if a job may have caused it."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from weighbridge.jobs.error_codes import ErrorCode
from weighbridge_worker.parent.death_causes import external_cause_of
from weighbridge_worker.poison_isolation import Death, put_back_after_death

if TYPE_CHECKING:
    from collections.abc import Callable

    from weighbridge.store import Store
    from weighbridge_worker.parent.memory_watch import Overrun
    from weighbridge_worker.scoreboard import Assignment, SlotSnapshot

_log = logging.getLogger("weighbridge.worker")


class DeadChildRecovery:
    """Recovers the chunks of dead children in one store."""

    def __init__(self, store: Store, wake: Callable[[], None], limit: int) -> None:
        self._store = store
        self._wake = wake
        self._limit = limit

    def recover(
        self,
        work: Assignment,
        seen: SlotSnapshot,
        how: str,
        *,
        overrun: Overrun | None,
        killed_for: ErrorCode | None,
        external_cause: str,
        is_ending: bool,
    ) -> None:
        """Put back a dead child's chunk.

        `overrun` and `killed_for` are the reason why the parent killed it, `external_cause` the reason why that was not caused
        by a job; `is_ending` means that the worker was asked to stop.
        """
        if overrun and overrun.is_of(seen):
            # A job that used this much memory would do so again: do not retry.
            limit = 1 if overrun.by_job else self._limit
            cause, known = ErrorCode.OUT_OF_MEMORY, overrun.error()
            death = Death(work, seen.line, seen.job, cause, how, known)
            self._count(death, limit)
            return
        if overrun:
            external_cause = "the job that held too much memory had just ended"
        if external_cause := external_cause or external_cause_of(how, is_ending=is_ending):
            self._release(work, f"a child ended by {how} at {work}", external_cause)
            return
        cause = killed_for or ErrorCode.WORKER_KILLED
        self._count(Death(work, seen.line, seen.job, cause, how), self._limit)

    def _count(self, death: Death, limit: int) -> None:
        if put_back_after_death(death, self._store, limit):
            self._wake()

    def _release(self, work: Assignment, what: str, external_cause: str) -> None:
        _log.info("%s; no job's failure count changes: %s", what, external_cause)
        if self._store.release(work.batch, work.chunk, work.token):
            self._wake()
