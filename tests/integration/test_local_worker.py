"""A local worker that is started before its arguments are known."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from support.waiting import eventually
from support.workers import has_ended
from weighbridge.store import Store
from weighbridge.store.worker_registry import WorkerRegistry
from weighbridge_producer.run import local_worker
from weighbridge_producer.run.local_worker import (
    LocalWorker,
    discard_prepared_worker,
    prepare_worker,
)

if TYPE_CHECKING:
    from weighbridge.embedded.server import EmbeddedServer


def await_heartbeat(url: str, worker: LocalWorker) -> None:
    store = Store(url)
    registry = WorkerRegistry(store.redis)
    eventually(
        lambda: worker.pid in {info.pid for info in registry.alive()}, 60, "the worker's heartbeat"
    )
    store.close()


def prepared() -> psutil.Process:
    [worker] = local_worker._prepared
    return psutil.Process(worker.process.pid)


def lose_starter(worker: LocalWorker) -> None:
    """Close this process's end of a worker's lifeline, as its own end would."""
    with Path(os.devnull).open("wb") as null:
        os.dup2(null.fileno(), worker._worker.held_end)


def test_a_prepared_worker_is_taken_over_once_and_workers_end_when_whoever_started_them_has(
    own_server: EmbeddedServer, tmp_path: Path
) -> None:
    prepare_worker()
    waiting = prepared()
    with (
        LocalWorker(own_server.url, 1, tmp_path / "first.log") as first,
        LocalWorker(own_server.url, 1, tmp_path / "second.log") as second,
    ):
        assert first.pid == waiting.pid != second.pid
        for worker in (first, second):
            await_heartbeat(own_server.url, worker)
        log = tmp_path / "first.log"
        eventually(lambda: "is ready" in log.read_text(), 30, "its log")
        assert waiting.environ().get("TMPDIR") != str(tmp_path)  # it was passed later
        for worker in (first, second):
            lose_starter(worker)
            assert worker._worker.process.wait(20) == -signal.SIGKILL


def test_a_prepared_worker_that_has_died_is_started_again(
    own_server: EmbeddedServer, tmp_path: Path
) -> None:
    prepare_worker()
    killed = prepared()
    killed.kill()
    eventually(lambda: killed.status() == psutil.STATUS_ZOMBIE, 10, "its death")
    with LocalWorker(own_server.url, 1, tmp_path / "worker.log") as worker:
        eventually(worker.revive, 10, "that its death is noticed")
        assert worker.pid != killed.pid
        await_heartbeat(own_server.url, worker)


def test_a_prepared_worker_that_is_not_needed_ends() -> None:
    prepare_worker()
    waiting = prepared()
    discard_prepared_worker()
    assert has_ended(waiting)
    assert not local_worker._prepared


def test_a_prepared_worker_ends_when_whoever_started_it_has() -> None:
    prepare_worker()
    worker = local_worker._prepared.pop()
    os.close(worker.held_end)  # as its end would
    assert worker.process.wait(60) == 0
