"""A server at its memory limit: running workers stay visible, and operations that free memory continue."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from support.cases import assert_graded_right, results_by_id, sleepy_cases, true_false_cases
from support.chunks import FAILURE, a_batch, claimed, filled, recorded
from support.servers import TcpServer
from support.waiting import eventually
from weighbridge.errors import RateLimitedError, ServerFullError
from weighbridge.jobs.batch_state import BatchStatus
from weighbridge.jobs.limits import SCHEMA_VERSION
from weighbridge.settings import Settings
from weighbridge.store import Store
from weighbridge.store.key_names import key
from weighbridge.store.worker_registry import WorkerInfo, WorkerRegistry
from weighbridge_producer.client.redis_client import RedisClient
from weighbridge_producer.service.limits.rate_limit import RateLimit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from support.workers import StartWorker
    from weighbridge.store import ClaimResult

JOBS = 4_000
SERVERS = {"found": None, "redis 7": Path("/usr/bin/redis-server")}


@pytest.fixture(params=SERVERS)
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[TcpServer]:
    binary = SERVERS[request.param]
    if binary and not binary.exists():
        pytest.skip(f"there is no {binary}")
    with TcpServer(tmp_path / "server", program=binary) as server:
        yield server


def test_workers_live_leave_and_are_drained_on_a_full_server(server: TcpServer) -> None:
    store = Store(server.url)
    worker_registry = WorkerRegistry(store.redis)
    worker = WorkerInfo("one", "host", 1, 2, "queue", SCHEMA_VERSION)
    with server.full():
        assert not worker_registry.heartbeat(worker, 8)
        assert worker_registry.alive() == [worker]
        worker_registry.drain("one")
        assert worker_registry.heartbeat(worker, 8)
        worker_registry.leave("one")
        assert worker_registry.alive() == []
    store.close()


def test_requests_are_counted_on_a_full_server(server: TcpServer) -> None:
    store = Store(server.url)
    limit = RateLimit(store.redis)
    with server.full():
        limit.count("reads", "somebody", 2)
        limit.count("reads", "somebody", 2)
        with pytest.raises(RateLimitedError):
            limit.count("reads", "somebody", 2)
    store.close()


def test_a_batch_is_cancelled_on_a_full_server(server: TcpServer) -> None:
    with RedisClient(server.url) as client:
        batch = client.submit(true_false_cases(JOBS))
        with server.full():
            batch.cancel()
            assert batch.status().status == BatchStatus.CANCELLED


def test_a_chunk_claimed_on_a_full_server_expires_with_its_batch(server: TcpServer) -> None:
    with closing(Store(server.url)) as store:
        batch = a_batch(store, "queue")
        filled(store, batch, [1])
        with server.full():
            claimed(store, "queue")
        assert store.redis.pttl(key(batch, "open")) > 0


STEPS: dict[str, Callable[[Store, ClaimResult], object]] = {
    "renew": lambda store, it: store.renew(it.batch, str(it.chunk), it.token, 60, "1 0"),
    "release": lambda store, it: store.release(it.batch, str(it.chunk), it.token),
    "set aside": lambda store, it: store.set_aside(
        it.batch, str(it.chunk), it.token, "queue", "grader:other@0"
    ),
    "count a failure": lambda store, it: store.count_failure(it.batch, it.chunk, it.token, FAILURE),
    "split": lambda store, it: store.split(
        it.batch, it.chunk, it.token, [(it.chunk.part(1, 2), 1)], "", FAILURE
    ),
    "record": lambda store, it: recorded(store, it.batch, it.chunk) == "new",
    "schedule a sweep": lambda store, it: store.reschedule_check(it.batch) is None,
    "pause": lambda store, it: store.pause_batch(it.batch, paused=True),
    "seal": lambda store, it: store.seal(it.batch, 1, store.position(it.batch).prefix) is None,
    "close": lambda store, it: store.close_batch(it.batch, BatchStatus.CANCELLED),
    "delete": lambda store, it: store.delete(it.batch),
}


@pytest.mark.parametrize("step", STEPS)
def test_what_goes_on_with_a_batch_goes_on_on_a_full_server(server: TcpServer, step: str) -> None:
    with closing(Store(server.url)) as store:
        filled(store, a_batch(store, "queue"), [1], seal=step != "seal")
        claim = claimed(store, "queue")
        with server.full():
            assert STEPS[step](store, claim)


@pytest.mark.slow
def test_a_full_server_costs_no_worker_and_what_is_submitted_is_graded(
    server: TcpServer, start_worker: StartWorker
) -> None:
    worker = start_worker(server.url, heartbeat_seconds=0.5, heartbeat_ttl_seconds=2)
    children = {child.pid for child in worker.await_children(2)}
    with RedisClient(server.url) as client:
        # The sleepy ones take longer than a heartbeat lasts.
        batch = client.submit([*true_false_cases(JOBS), *sleepy_cases(6, 1.0)])
        with server.full():
            watch_worker(client, worker.pid, until=lambda: batch.status().status.final)
        assert_graded_right(results_by_id(batch), JOBS)
        assert {child.pid for child in worker.children()} == children
    assert "reconnecting to the broker" not in worker.log
    assert "the heartbeat failed" not in worker.log


@pytest.mark.slow
def test_a_worker_that_starts_on_a_full_server_takes_what_waits(
    server: TcpServer, start_worker: StartWorker
) -> None:
    with RedisClient(server.url) as client:
        batch = client.submit(true_false_cases(JOBS))
        with server.full():
            start_worker(server.url)
            batch.wait(30)
        assert_graded_right(results_by_id(batch), JOBS)


@pytest.mark.slow
def test_messages_that_are_missing_are_sent_on_a_full_server(
    server: TcpServer, start_worker: StartWorker
) -> None:
    worker = start_worker(server.url, sweep_seconds=0.3)
    children = {child.pid for child in worker.await_children(2)}
    with RedisClient(server.url) as client:
        batch = client.batch(a_batch(client.store, client.settings.queue))
        filled(client.store, batch.id, [JOBS])  # without a message
        with server.full():
            assert batch.wait(30).counts.passed == JOBS
        assert {child.pid for child in worker.children()} == children


def test_a_batch_whose_first_cases_found_no_room_is_not_said_to_be_resumable(
    server: TcpServer,
) -> None:
    impatient = Settings(full_server_timeout_seconds=0.1)
    with RedisClient(server.url, settings=impatient) as client:
        with server.full(), pytest.raises(ServerFullError, match="no memory was freed") as full:
            client.submit([*true_false_cases(1)])
        assert full.value.hint == "nothing was submitted; make room, then submit the cases again"
        assert client.batches() == []


@pytest.mark.slow
def test_a_producer_waits_for_room_that_deleting_makes(
    server: TcpServer, start_worker: StartWorker
) -> None:
    worker, waits = start_worker(server.url), threading.Event()
    with RedisClient(server.url) as client, server.client() as redis:
        old = client.submit(true_false_cases(40_000))
        old.wait(60)
        batch = client.open("cases", ())
        # Over the limit by more than what the server frees by itself, and by less than what deleting frees, 1 MB.
        redis.config_set("maxmemory", redis.info("memory")["used_memory"] - 400_000)
        with ThreadPoolExecutor(1) as pool:
            cases = true_false_cases(JOBS)
            filling = pool.submit(batch.fill, cases, on_wait=lambda _: waits.set())
            assert waits.wait(20)
            assert [info.pid for info in client.workers()] == [worker.pid]
            assert not filling.done()
            old.delete()
            filling.result(30)
        batch.wait(60)
        assert_graded_right(results_by_id(batch), JOBS)


def watch_worker(client: RedisClient, pid: int, until: Any) -> None:
    """Wait for something while the worker stays listed at every look."""

    def look() -> bool:
        assert [info.pid for info in client.workers()] == [pid]
        return bool(until())

    eventually(look, 15, "the end of the batch")
