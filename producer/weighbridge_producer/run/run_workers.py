"""The workers of a run: waiting for them, and releasing the chunks of those that are gone."""

from __future__ import annotations

import socket
import time
from typing import TYPE_CHECKING

from weighbridge.errors import ServerError

if TYPE_CHECKING:
    from pathlib import Path

    from weighbridge_producer.client.redis_batch import RedisBatch
    from weighbridge_producer.client.redis_client import RedisClient
    from weighbridge_producer.run.local_worker import LocalWorker

_READY_SECONDS = 60.0


def await_ready(worker: LocalWorker, client: RedisClient, log: Path) -> None:
    """Wait until a worker can take chunks, and restart it if it dies; ServerError if that takes too long."""
    deadline = time.monotonic() + _READY_SECONDS
    here = socket.gethostname()
    while not any((info.host, info.pid) == (here, worker.pid) for info in client.workers()):
        worker.revive()
        if time.monotonic() > deadline:
            raise ServerError(
                f"the workers were not ready in {_READY_SECONDS:g} s",
                f"see {log}",
            )
        time.sleep(0.02)


def release_chunks_of_run_before(
    batch: RedisBatch, client: RedisClient, worker: LocalWorker
) -> None:
    """Release the chunks that an interrupted run was grading: its workers ended with it, by no job's fault."""
    # In a container, an earlier worker may have had the same process id.
    workers = [info for info in client.workers() if info.pid == worker.pid]
    ours = max(workers, key=lambda info: info.started_at, default=None)
    for name in batch.holders() - {ours.name if ours else ""}:
        client.worker_registry.note_shutdown_of(name)
        client.worker_registry.declare_dead(name)


def release_chunks_of_dead_workers(client: RedisClient, worker: LocalWorker) -> None:
    """Release the chunks of all workers but the run's own at once, instead of after their heartbeats time out."""
    for info in client.workers():
        if info.pid != worker.pid:
            client.worker_registry.declare_dead(info.name)
