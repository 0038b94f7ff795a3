"""The worker process: its heartbeats, how it stops, and other ways to start it."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import orjson
import pytest

from support.cases import assert_graded_right, hazard_case, results_by_id, true_false_cases
from support.chunks import blamed
from support.cli import Cli
from support.preloaded import WORKER
from support.servers import TcpServer
from support.waiting import eventually
from support.workers import BY_CELERY, BY_MODULE, WorkerProcess, environment, has_ended
from weighbridge.settings import Settings
from weighbridge.store import Store
from weighbridge.store.key_names import shared_key
from weighbridge_producer.client.redis_client import RedisClient

if TYPE_CHECKING:
    from pathlib import Path

    from support.cases import Case
    from support.workers import StartWorker
    from weighbridge.embedded.server import EmbeddedServer

WAYS = {"python -m weighbridge_worker": BY_MODULE, "celery -A weighbridge_worker": BY_CELERY}


def slow_cases(count: int, seconds: float = 0.02) -> list[Case]:
    return [hazard_case(f"slow-{n}", "sleeps", expected=seconds) for n in range(count)]


@pytest.mark.parametrize("way", WAYS)
def test_a_worker_started_either_way_grades_and_asked_to_stop_finishes_what_it_has_and_leaves(
    own_server: EmbeddedServer, start_worker: StartWorker, way: str
) -> None:
    worker = start_worker(own_server.url, command=WAYS[way], chunk_budget_seconds=0.3)
    with RedisClient(own_server.url) as client:
        batch = client.submit(true_false_cases(5000))
        batch.wait(30)
        results = results_by_id(batch)
        assert len(results) == 5000
        assert_graded_right(results, 5000)
        assert len(worker.children()) == 2
        batch = client.submit([*slow_cases(400), *true_false_cases(1000)])
        eventually(lambda: batch.status().counts.finished, 30)
        children = worker.children()
        asked_at = time.monotonic()
        worker.ask_to_stop()
        assert worker.await_end() == 0
        print(f"stopped after {time.monotonic() - asked_at:.1f} s")
        eventually(lambda: all(map(has_ended, children)), 5, "the children's end")
        assert client.workers() == []
        state = batch.status()
        assert 0 < state.counts.finished < 1400
        # No chunk is leased, and no attempt is counted.
        assert client.store.held(batch.id).chunks == []
        assert blamed(client.store, batch.id) == []
        start_worker(own_server.url, 4, sweep_seconds=0.3)
        batch.wait(60)
        results = results_by_id(batch)
        assert len(results) == 1400
        assert_graded_right(results, 1000)
        assert batch.status().counts.errored == 0


def test_a_worker_drains_when_a_client_asks(
    own_server: EmbeddedServer, start_worker: StartWorker
) -> None:
    leaving = start_worker(own_server.url, 1, heartbeat_seconds=0.2)
    staying = start_worker(own_server.url, 1, heartbeat_seconds=0.2)
    with RedisClient(own_server.url) as client:
        batch = client.submit(slow_cases(100))
        info = leaving.info()
        assert info
        client.drain(info.name)
        assert leaving.await_end() == 0
        assert "drain requested: completing the chunks in progress, then exiting" in leaving.log
        assert [worker.pid for worker in client.workers()] == [staying.pid]
        batch.wait(30)
        assert len(results_by_id(batch)) == 100
        # A new worker of the same name would not be drained by an old wish.
        assert not client.store.redis.exists(shared_key("drains"))


def test_the_heartbeat_says_who_lives_and_what_it_can(
    own_server: EmbeddedServer, start_worker: StartWorker
) -> None:
    worker = start_worker(own_server.url, 3, heartbeat_seconds=0.2, heartbeat_ttl_seconds=2)
    with RedisClient(own_server.url) as client:
        client.submit(true_false_cases(500)).wait(30)
        eventually(lambda: (info := worker.info()) and info.jobs == 500, 10)
        (info,) = client.workers()
        assert info.name.startswith(f"{socket.gethostname()}:{worker.pid}:")
        assert (info.host, info.pid) == (socket.gethostname(), worker.pid)
        assert (info.concurrency, info.queue, info.schema_version) == (3, "weighbridge", 1)
        assert (info.graders["true-false"], info.graders["string-match"]) == (3, 7)
        assert info.graders["kills-itself"] == 1
        assert list(info.broken_plug_ins) == ["broken"]
        assert "ModuleNotFoundError" in info.broken_plug_ins["broken"]
        assert info.chunks >= 1
        assert time.time() - 60 < info.started_at < time.time()
        assert not info.draining
        seconds, micros = client.store.redis.time()
        ends = client.store.redis.zscore(shared_key("workers"), info.name)
        assert 0 < ends - (seconds * 1000 + micros / 1000) <= 2000
        worker.kill()
        eventually(lambda: client.workers() == [], 10)


def test_every_record_of_a_json_log_is_json(
    own_server: EmbeddedServer, start_worker: StartWorker
) -> None:
    worker = start_worker(own_server.url, log_format="json", sweep_seconds=0.2)
    with RedisClient(own_server.url) as client:
        batch = client.submit([*true_false_cases(100), hazard_case("deadly", "kills-itself")])
        batch.wait(30)
    worker.ask_to_stop()
    worker.await_end()
    records = [orjson.loads(line) for line in worker.log.splitlines()]
    for record in records:
        assert {"time", "level", "logger", "message", "pid"} <= record.keys()
    messages = [record["message"] for record in records if record["logger"] == "weighbridge.worker"]
    assert any("is ready: graders string-match, true-false" in message for message in messages)
    assert any("a child died by signal 9 (SIGKILL)" in message for message in messages)
    assert {record["level"] for record in records} <= {"info", "warning", "error"}


@pytest.mark.slow
def test_children_that_are_replaced_cost_no_job_and_no_slot(
    own_server: EmbeddedServer, start_worker: StartWorker
) -> None:
    command = [*BY_CELERY[:-1], "--max-tasks-per-child=3", BY_CELERY[-1]]
    worker = start_worker(own_server.url, command=command, sweep_seconds=0.5)
    first = {child.pid for child in worker.await_children(2)}
    with RedisClient(own_server.url, settings=Settings(chunk_limit_jobs=20)) as client:
        batch = client.submit(true_false_cases(400))
        batch.wait(90)
        results = results_by_id(batch)
        assert len(results) == 400
        assert_graded_right(results, 400)
    assert "a child died" not in worker.log
    assert first.isdisjoint(child.pid for child in worker.children())
    eventually(lambda: (info := worker.info()) and info.jobs == 400, 20)


def test_the_health_command_finds_the_workers_of_this_host(
    own_server: EmbeddedServer, start_worker: StartWorker, tmp_path: Path
) -> None:
    cli = Cli(tmp_path, preloaded=True)
    cli.main = WORKER
    try:
        nobody = cli("health", redis_url=own_server.url)
    finally:
        cli.clean_up()
    assert (nobody.status, nobody.out) == (1, "no worker is running on this host\n")
    worker = start_worker(own_server.url, 1)
    command = [sys.executable, "-m", "weighbridge_worker", "health"]
    env = environment(own_server.url)
    found = subprocess.run(
        command, env=env, capture_output=True, text=True, timeout=30, check=False
    )
    assert found.returncode == 0
    assert f":{worker.pid}:" in found.stdout


def test_a_worker_without_a_server_waits_for_one_and_says_so(tmp_path: Path) -> None:
    server = TcpServer(tmp_path)
    log = tmp_path / "worker.log"
    worker = WorkerProcess(server.url, 1, environment(server.url), log)
    try:
        eventually(lambda: "Cannot connect" in worker.log, 30)
        with server, RedisClient(server.url) as client:
            worker.await_heartbeat()
            client.submit(true_false_cases(10)).wait(60)
    finally:
        worker.clean_up()


def test_no_child_outlives_a_killed_worker(
    own_server: EmbeddedServer, start_worker: StartWorker
) -> None:
    worker = start_worker(own_server.url)
    children = worker.await_children(2)
    worker.kill()
    eventually(lambda: all(map(has_ended, children)), 10, "the children's end")
    store = Store(own_server.url)
    store.close()


@pytest.mark.slow
def test_a_worker_none_of_whose_children_begins_what_waits_connects_again_and_takes_new_ones(
    own_server: EmbeddedServer, start_worker: StartWorker
) -> None:
    worker = start_worker(own_server.url, 1)
    with RedisClient(own_server.url, settings=Settings(chunk_limit_jobs=50)) as client:
        client.submit(true_false_cases(1)).wait(30)
        # Neither starting nor at work, a stopped child looks from outside as a lost connection does:
        # messages wait, nothing happens. A result is there before its chunk is left.
        eventually(lambda: (info := worker.info()) and info.chunks == 1)
        (child,) = worker.children()
        child.suspend()
        batch = client.submit(true_false_cases(500))
        batch.wait(60)
        assert "reconnecting to the broker with new children" in worker.log
        assert has_ended(child)
        results = results_by_id(batch)
        assert len(results) == 500
        assert_graded_right(results, 500)
        client.submit(true_false_cases(10)).wait(30)
