"""What becomes of a dead child's chunk: others grade it, and the death counts if a job is to blame."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from weighbridge.jobs.model import ErrorCode
from weighbridge_worker.blame import excuse_for
from weighbridge_worker.poison_isolation import Death, handle

if TYPE_CHECKING:
    from collections.abc import Callable

    from weighbridge.store import Store
    from weighbridge_worker.memory_watch import Overrun
    from weighbridge_worker.scoreboard import Assignment, SlotSnapshot

_log = logging.getLogger("weighbridge.worker")


class ChunkRecovery:
    """Settles chunks in one store."""

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
        excuse: str,
        is_ending: bool,
    ) -> None:
        """Settle what a child was at.

        `overrun` and `killed_for` say why its parent killed it, `excuse` why that is no job's doing;
        `is_ending` says whether its worker was asked to end.
        """
        if overrun and overrun.is_of(seen):
            # A job that grew this much does so every time: once is enough.
            limit = 1 if overrun.by_job else self._limit
            cause, known = ErrorCode.OUT_OF_MEMORY, overrun.error()
            death = Death(work, seen.line, seen.job, cause, how, known)
            self._count(death, limit)
            return
        if overrun:
            excuse = "the job that held too much memory had just ended"
        if excuse := excuse or excuse_for(how, is_ending=is_ending):
            self._give_back(work, f"a child ended by {how} at {work.batch}/{work.chunk}", excuse)
            return
        cause = killed_for or ErrorCode.WORKER_KILLED
        self._count(Death(work, seen.line, seen.job, cause, how), self._limit)

    def _count(self, death: Death, limit: int) -> None:
        if handle(death, self._store, limit):
            self._wake()

    def _give_back(self, work: Assignment, what: str, excuse: str) -> None:
        _log.info("%s, which counts against no job: %s", what, excuse)
        if self._store.release(work.batch, work.chunk, work.token):
            self._wake()
