"""Clocks of workers and producers that are an hour off: the server's clock is the only one that counts."""

from __future__ import annotations

import subprocess
import sys
import time
from datetime import datetime
from typing import TYPE_CHECKING

import pytest

from support.cases import results_by_id, sleepy_cases, true_false_cases
from support.waiting import eventually
from support.workers import BY_MODULE, environment
from weighbridge.jobs.batch_state import BatchStatus
from weighbridge.settings import Settings
from weighbridge_producer.client.redis_client import RedisClient

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from support.workers import StartWorker
    from weighbridge.embedded.server import EmbeddedServer

HOUR = 3600
EXPIRY_SECONDS = 1800  #: less than a clock is off
JOBS = 100

SKEWED = """
import time
real, real_ns = time.time, time.time_ns
time.time = lambda: real() + {offset}
time.time_ns = lambda: real_ns() + {offset} * 10**9
"""

PRODUCER = """
import sys
from support.cases import true_false_cases
from weighbridge_producer.client.redis_client import RedisClient

with RedisClient() as client:
    sys.stdout.write(client.submit(true_false_cases(int(sys.argv[1]))).id)
"""


@pytest.fixture
def with_clock_off_by(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Shift the clock of Python processes started from now on by some seconds."""

    def skew(offset: int) -> None:
        (tmp_path / "sitecustomize.py").write_text(SKEWED.format(offset=offset))
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    return skew


@pytest.mark.slow
def test_workers_whose_clocks_are_off_expire_nothing_and_stay_listed(
    own_server: EmbeddedServer,
    start_worker: StartWorker,
    with_clock_off_by: Callable[[int], None],
) -> None:
    started = [start_worker(own_server.url, 1, sweep_seconds=0.2)]
    for offset in (HOUR, -HOUR):
        with_clock_off_by(offset)
        # Not forked from a process with the right clock.
        wrong = start_worker(own_server.url, 1, command=BY_MODULE, sweep_seconds=0.2)
        assert datetime.fromisoformat(
            wrong.log[: len("2026-01-01 00:00:00")]
        ).timestamp() == pytest.approx(time.time() + offset, abs=60)
        started.append(wrong)
    pids = {worker.pid for worker in started}
    settings = Settings.model_validate({"batch_expiry_seconds": EXPIRY_SECONDS})
    with RedisClient(own_server.url, settings=settings) as client:
        batch = client.submit(sleepy_cases(JOBS, 0.05))

        def has_ended() -> bool:
            assert {info.pid for info in client.workers()} == pids
            return batch.status().status.final

        eventually(has_ended, 60, "the batch's end")
        assert batch.status().status == BatchStatus.COMPLETED
        assert len(results_by_id(batch)) == JOBS
        for wrong in started[1:]:
            wrong.kill()
        eventually(lambda: [info.pid for info in client.workers()] == [started[0].pid], 20)


@pytest.mark.parametrize("offset", [HOUR, -HOUR])
def test_a_batch_of_a_producer_whose_clock_is_off_lives_as_long_as_it_should(
    own_server: EmbeddedServer,
    start_worker: StartWorker,
    with_clock_off_by: Callable[[int], None],
    offset: int,
) -> None:
    start_worker(own_server.url, 1, sweep_seconds=0.2)
    with_clock_off_by(offset)
    env = environment(own_server.url, batch_expiry_seconds=EXPIRY_SECONDS)
    made = subprocess.run(
        [sys.executable, "-c", PRODUCER, str(JOBS)], env=env, stdout=subprocess.PIPE, check=True
    )
    with RedisClient(own_server.url) as client:
        batch = client.batch(made.stdout.decode())
        state = batch.wait(30)
        assert state.status == BatchStatus.COMPLETED
        assert state.expires_at - state.created_at == EXPIRY_SECONDS
        seconds, _ = client.store.redis.time()
        assert abs(state.created_at - seconds) < 60


@pytest.mark.parametrize("offset", [HOUR, -HOUR])
def test_a_retry_by_a_producer_whose_clock_is_off_is_graded(
    own_server: EmbeddedServer,
    start_worker: StartWorker,
    monkeypatch: pytest.MonkeyPatch,
    offset: int,
) -> None:
    settings = Settings.model_validate({"batch_expiry_seconds": EXPIRY_SECONDS})
    with RedisClient(own_server.url, settings=settings) as client:
        batch = client.submit(true_false_cases(JOBS))
        batch.cancel()
        real = time.time
        with monkeypatch.context() as patched:
            patched.setattr(time, "time", lambda: real() + offset)
            batch.retry()
        start_worker(own_server.url, 1, sweep_seconds=0.2)
        state = batch.wait(30)
        assert state.status == BatchStatus.COMPLETED
        seconds, _ = client.store.redis.time()
        assert abs(state.expires_at - seconds - EXPIRY_SECONDS) < 60
