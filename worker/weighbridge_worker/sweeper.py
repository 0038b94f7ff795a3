"""The sweeper: sends lost chunks out again, and ends batches that are cancelled or out of time. Any number may run."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from weighbridge.errors import (
    BatchExpiredError,
    BatchLostError,
    BatchNotFoundError,
    ServerFullError,
    ServerUnavailableError,
)
from weighbridge.jobs.closing import close_open_chunks
from weighbridge.jobs.model import BatchStatus

if TYPE_CHECKING:
    from weighbridge.jobs.broker import Publisher
    from weighbridge.jobs.fleet import Fleet
    from weighbridge.jobs.store import Store

#: How long a chunk waits, the queue being empty, until its message is thought lost.
WAITING_SECONDS = 5.0
LONG_WAITING_SECONDS = 600.0  #: and whatever the queue holds
_log = logging.getLogger("weighbridge.worker")


class Sweeper:
    """Looks after the active batches of one store."""

    def __init__(self, store: Store, fleet: Fleet, publisher: Publisher) -> None:
        self._store = store
        self._fleet = fleet
        self._publisher = publisher
        self._failing: set[str] = set()  #: batches whose failure is in the log already

    def sweep(self) -> int:
        """Look through every active batch once; return how many chunks were sent out again."""
        batches = self._store.active_batches()
        self._failing.intersection_update(batches)
        if not batches:
            return 0
        workers = self._fleet.alive()
        # Waiting chunks go out again only when the queue is nearly empty: otherwise they are in it.
        idle = self._publisher.queue_length() <= sum(worker.concurrency for worker in workers)
        names = [worker.name for worker in workers]
        now = self._store.now()
        return sum(self._sweep_one(batch, names, now, idle=idle) for batch in batches)

    def _sweep_one(self, batch: str, workers: list[str], now: float, *, idle: bool) -> int:
        try:
            sent = _sweep_batch(self._store, self._publisher, batch, workers, now, idle=idle)
        except (ServerUnavailableError, ServerFullError):
            raise  # no other batch would fare better
        except Exception:  # noqa: BLE001 - one batch that cannot be swept must not keep the others waiting
            if batch not in self._failing:
                self._failing.add(batch)
                _log.exception("batch %r cannot be swept; the others are", batch)
            return 0
        self._failing.discard(batch)
        return sent


def _sweep_batch(
    store: Store, publisher: Publisher, batch: str, workers: list[str], now: float, *, idle: bool
) -> int:
    try:
        state = store.state(batch)
    except (BatchLostError, BatchExpiredError, BatchNotFoundError):
        store.retire(batch)
        return 0
    if state.status.final:
        store.retire(batch)
        return 0
    if not state.closing and state.expires_at < now:
        reason = "" if state.sealed else "its producer never finished submitting it"
        store.close_batch(batch, BatchStatus.EXPIRED, reason)
        state = store.state(batch)
    if state.closing:
        close_open_chunks(store, batch, state.closing)
        return 0
    if store.options(batch).queue != publisher.queue:
        return 0  # the workers of that queue send its chunks out again
    due = store.sweep(batch, workers, WAITING_SECONDS if idle else LONG_WAITING_SECONDS)
    for chunk in due:
        publisher.publish(batch, chunk)
    if due:
        _log.info("sent %d chunks of %s out again", len(due), batch)
    return len(due)
