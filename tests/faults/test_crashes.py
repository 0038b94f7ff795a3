"""Processes are killed in the middle of a batch: every job is still counted once, without long delays."""

from __future__ import annotations

import os
import signal
import time
from typing import TYPE_CHECKING

import psutil
import pytest

from support.cases import (
    assert_graded_right,
    hazard_case,
    results_by_id,
    sleepy_cases,
    true_false_cases,
    write_cases,
)
from support.chunks import blamed
from support.producing import submitting
from support.unhurried import CHUNK_JOBS, QUICK, SLEEPY, unhurried_cases
from support.waiting import eventually
from support.workers import environment
from weighbridge.jobs.batch_state import BatchStatus
from weighbridge.settings import Settings
from weighbridge_producer.client.redis_client import RedisClient

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from support.servers import TcpServer
    from support.workers import StartWorker
    from weighbridge.embedded.server import EmbeddedServer
    from weighbridge_producer import Batch

MANY = 8_000  #: enough jobs to interrupt their submission half-way
IN_SMALL_CHUNKS = Settings(chunk_limit_jobs=CHUNK_JOBS)
RECOVERY_LIMIT_SECONDS = 30  #: guaranteed with default settings


def all_there_and_right(batch: Batch, quick: int, sleepy: int = 0) -> None:
    assert batch.status().status == BatchStatus.COMPLETED
    results = results_by_id(batch)
    assert len(results) == quick + sleepy
    assert_graded_right(results, quick)


def when_finished(batch: Batch, jobs: int) -> None:
    """Wait until some but not all of a batch's jobs are finished."""
    eventually(lambda: batch.status().counts.finished >= jobs, 60, f"{jobs} finished jobs")
    assert batch.status().counts.pending


def measured(report: Callable[[str, object], None], since: float) -> float:
    seconds = time.monotonic() - since
    report("recovery_seconds", round(seconds, 2))
    print(f"recovered after {seconds:.1f} s")
    return seconds


@pytest.mark.slow
def test_a_killed_worker_child_costs_no_job(
    own_server: EmbeddedServer,
    start_worker: StartWorker,
    record_property: Callable[[str, object], None],
) -> None:
    worker = start_worker(own_server.url)
    with RedisClient(own_server.url, settings=IN_SMALL_CHUNKS) as client:
        batch = client.submit(unhurried_cases())
        when_finished(batch, 1)
        killed_at = time.monotonic()
        for child in worker.children():
            child.kill()
        batch.wait(60)
        assert measured(record_property, killed_at) < RECOVERY_LIMIT_SECONDS
        all_there_and_right(batch, QUICK, SLEEPY)


@pytest.mark.slow
def test_another_worker_takes_over_from_a_killed_one(
    own_server: EmbeddedServer,
    start_worker: StartWorker,
    record_property: Callable[[str, object], None],
) -> None:
    first = start_worker(own_server.url)
    with RedisClient(own_server.url, settings=IN_SMALL_CHUNKS) as client:
        # Slow jobs, so that the worker certainly dies while it grades.
        slow = sleepy_cases(200, 0.05)
        batch = client.submit([*true_false_cases(QUICK), *slow])
        when_finished(batch, 1)
        second = start_worker(own_server.url)
        first.kill()
        killed_at = time.monotonic()
        assert psutil.wait_procs(first.children(), timeout=10)[1] == []
        batch.wait(60)
        assert measured(record_property, killed_at) < RECOVERY_LIMIT_SECONDS
        results = results_by_id(batch)
        assert len(results) == QUICK + len(slow)
        assert_graded_right(results, QUICK)
        assert batch.status().counts.errored == 0
        assert "a child died" not in second.log


@pytest.mark.slow
def test_a_killed_producer_is_resumed_where_the_server_has_its_batch(
    own_server: EmbeddedServer, start_worker: StartWorker, tmp_path: Path
) -> None:
    start_worker(own_server.url)
    cases = write_cases(tmp_path / "cases.jsonl", true_false_cases(MANY))
    # Small chunks, so that the producer can be killed half-way.
    env = environment(own_server.url, chunk_limit_jobs=50)
    with (
        RedisClient(own_server.url) as client,
        submitting(cases, env, tmp_path) as producer,
    ):
        batch = client.batch(eventually(client.batches, 30, "the batch")[0].batch_id)
        eventually(lambda: client.store.position(batch.id).chunks >= 20, 30)
        producer.kill()
        producer.wait(10)
        position = client.store.position(batch.id)
        assert not position.sealed
        assert 0 < position.lines < MANY
        assert client.submit(cases, resume=batch.id).id == batch.id
        batch.wait(60)
        all_there_and_right(batch, MANY)
        assert batch.status().lines == MANY
        # Submitting again changes nothing, because the batch is complete.
        client.submit(cases, resume=batch.id)
        assert batch.status().counts.total == MANY


@pytest.mark.slow
@pytest.mark.parametrize("outage_seconds", [0, 3])
def test_a_server_killed_and_restarted_on_its_log_loses_nothing(
    tcp_server: TcpServer,
    start_worker: StartWorker,
    record_property: Callable[[str, object], None],
    outage_seconds: float,
) -> None:
    start_worker(tcp_server.url)
    with RedisClient(tcp_server.url, settings=IN_SMALL_CHUNKS) as client:
        batch = client.submit(unhurried_cases())
        when_finished(batch, 1)
        tcp_server.kill()
        time.sleep(outage_seconds)
        tcp_server.start()
        back_at = time.monotonic()
        batch.wait(60)
        assert measured(record_property, back_at) < RECOVERY_LIMIT_SECONDS
        all_there_and_right(batch, QUICK, SLEEPY)


@pytest.mark.slow
def test_a_producer_waits_out_a_server_that_is_killed_and_restarted(
    tcp_server: TcpServer, start_worker: StartWorker, tmp_path: Path
) -> None:
    start_worker(tcp_server.url)
    cases = write_cases(tmp_path / "cases.jsonl", true_false_cases(MANY))
    env = environment(tcp_server.url, chunk_limit_jobs=50)
    with (
        RedisClient(tcp_server.url) as client,
        submitting(cases, env, tmp_path) as producer,
    ):
        batch = client.batch(eventually(client.batches, 30, "the batch")[0].batch_id)
        eventually(lambda: client.store.position(batch.id).chunks >= 20, 30)
        assert not client.store.position(batch.id).sealed
        tcp_server.kill()
        tcp_server.start()
        assert producer.wait(60) == 0
        batch.wait(60)
        all_there_and_right(batch, MANY)


@pytest.mark.slow
def test_a_server_that_stalls_costs_no_job_an_attempt(
    tcp_server: TcpServer, start_worker: StartWorker
) -> None:
    settings = {"lease_seconds": 1, "heartbeat_seconds": 0.3, "heartbeat_ttl_seconds": 1}
    workers = [start_worker(tcp_server.url, 1, sweep_seconds=0.3, **settings) for _ in range(2)]
    with RedisClient(tcp_server.url) as client:
        batch = client.submit(
            [
                *(hazard_case(f"slow-{n}", "sleeps", expected=0.02) for n in range(100)),
                *true_false_cases(1000),
            ]
        )
        when_finished(batch, 1)
        os.kill(tcp_server.pid, signal.SIGSTOP)
        try:
            time.sleep(2.5)  # all leases and heartbeats expire meanwhile
        finally:
            os.kill(tcp_server.pid, signal.SIGCONT)

        def ended_without_blame() -> bool:
            assert blamed(client.store, batch.id) == []
            return batch.status().status.final

        eventually(ended_without_blame, 60, "the batch's end")
        results = results_by_id(batch)
        assert len(results) == 1100
        assert_graded_right(results, 1000)
        state = batch.status()
        assert (state.counts.errored, state.nondeterministic) == (0, 0)
    assert all("a child died" not in worker.log for worker in workers)
