"""A server with a sweeper in the test's own process, and simulated workers with real heartbeats."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from support.waiting import eventually
from weighbridge.broker.publisher import Publisher
from weighbridge.jobs.limits import SCHEMA_VERSION
from weighbridge.settings import Settings
from weighbridge.store import Store
from weighbridge.store.key_names import shared_key
from weighbridge.store.worker_registry import WorkerInfo, WorkerRegistry
from weighbridge_worker.parent.sweeper import Sweeper

if TYPE_CHECKING:
    from contextlib import ExitStack

    from weighbridge.store import ClaimResult

QUEUE = "weighbridge"
SETTINGS = Settings(lease_seconds=60, heartbeat_ttl_seconds=4)


class Site:
    """A server with a sweeper and simulated workers, controlled by the test."""

    def __init__(self, url: str, stack: ExitStack) -> None:
        self.store = Store(url)
        stack.callback(self.store.close)
        self.worker_registry = WorkerRegistry(self.store.redis)
        self.publisher = Publisher(SETTINGS, url)
        stack.callback(self.publisher.close)
        self.sweeper = self.a_sweeper("sweeper")
        self._living: set[str] = set()

    def a_sweeper(self, name: str) -> Sweeper:
        return Sweeper(name, SETTINGS, self.store, self.worker_registry, self.publisher)

    def live(self, name: str, ttl_seconds: float = 60) -> None:
        """Send one heartbeat of a worker with two children."""
        self.worker_registry.heartbeat(
            WorkerInfo(name, "host", 1, 2, QUEUE, SCHEMA_VERSION), ttl_seconds
        )

    def die(self, name: str) -> None:
        """Expire a worker's heartbeat, as if it had been killed."""
        self.store.redis.zrem(shared_key("workers"), name)

    def next_claim(self, token: str, seconds: float = 10) -> ClaimResult:
        """Sweep until a chunk can be claimed, and claim it."""

        def claim() -> ClaimResult | None:
            self.sweeper.sweep()
            return self.store.claim_next(QUEUE, token, SETTINGS.lease_seconds)

        found = eventually(claim, seconds, "a chunk to claim")
        assert found
        return found

    def sweep_for(self, seconds: float) -> None:
        """Sweep repeatedly for a number of seconds."""
        until = time.monotonic() + seconds
        eventually(lambda: self.sweeper.sweep() < 0 or time.monotonic() > until, seconds + 5)
