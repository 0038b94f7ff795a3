"""Health reports exactly the stuck chunks and dead letters; on real servers with real workers."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from support.cases import hazard_case, true_false_cases
from support.chunks import claimed, opened
from support.grading import grade_open_chunks
from support.waiting import eventually
from weighbridge.jobs.limits import SCHEMA_VERSION
from weighbridge.settings import Settings
from weighbridge.store import BatchOptions
from weighbridge.store.health import CHUNKS_LIMIT, DeadLetter, StuckChunk
from weighbridge.store.worker_registry import WorkerInfo
from weighbridge_producer.client.redis_client import RedisClient

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.workers import StartWorker
    from weighbridge.embedded.server import EmbeddedServer
    from weighbridge_producer.client.redis_batch import RedisBatch

FEW_A_CHUNK = Settings(chunk_limit_jobs=10)


@pytest.fixture
def lone(own_server: EmbeddedServer) -> Iterator[RedisClient]:
    """A client on a server without workers."""
    with RedisClient(own_server.url, settings=FEW_A_CHUNK) as client:
        yield client


def waited(client: RedisClient, batch: RedisBatch, seconds: float) -> None:
    """Let a batch have been opened that long ago, and nothing of it been finished since."""
    opened = int((time.time() - seconds) * 1000)
    client.store.redis.hset(f"wb:{{{batch.id}}}:meta", "created_ms", opened)


def names_of(client: RedisClient, batch: RedisBatch) -> list[str]:
    """Return the names of a batch's open chunks in input order."""
    return list(map(str, client.store.open_chunks(batch.id)))


def worker_of(client: RedisClient, name: str, *, draining: bool = False) -> None:
    """Store the heartbeat of a worker with four children."""
    queue = client.settings.queue
    client.worker_registry.heartbeat(
        WorkerInfo(name, "host", 1, 4, queue, SCHEMA_VERSION, draining=draining), ttl_seconds=60
    )


class TestStuck:
    def test_a_batch_just_submitted_is_not_stuck(self, lone: RedisClient) -> None:
        lone.submit(true_false_cases(30))
        health = lone.health()
        assert (health.stuck, health.dead_letters, health.workers) == ([], [], [])
        assert health.queue_length >= 3
        assert health.active_batches == 1

    def test_without_workers_what_waits_is_stuck_after_half_a_minute(
        self, lone: RedisClient
    ) -> None:
        batch = lone.submit(true_false_cases(30))
        waited(lone, batch, 29)
        assert lone.health().stuck == []
        waited(lone, batch, 45)
        found = lone.health().stuck
        assert [chunk.chunk for chunk in found] == names_of(lone, batch)
        assert sum(chunk.jobs for chunk in found) == 30
        assert found[0].since_seconds == pytest.approx(45, abs=5)
        assert (found[0].batch_id, found[0].state, found[0].worker) == (batch.id, "waiting", "")

    def test_a_batch_of_which_chunks_are_finished_is_not_stuck(self, lone: RedisClient) -> None:
        batch = lone.submit(true_false_cases(30))
        waited(lone, batch, 45)
        grade_open_chunks(lone.store, batch.id, 1)
        assert lone.health().stuck == []

    def test_behind_a_long_queue_waiting_is_no_fault_until_nobody_sends_it_again(
        self, lone: RedisClient
    ) -> None:
        worker_of(lone, "busy")
        batch = lone.submit(true_false_cases(100))
        assert lone.health().queue_length > 4
        waited(lone, batch, 120)
        assert lone.health().stuck == []
        waited(lone, batch, 1000)
        assert {stuck.state for stuck in lone.health().stuck} == {"waiting"}

    def test_idle_workers_leave_nothing_waiting_so_long(self, lone: RedisClient) -> None:
        worker_of(lone, "idle")
        batch = lone.submit(true_false_cases(100))
        lone.store.redis.delete(lone.settings.queue)
        waited(lone, batch, 60)
        assert [stuck.chunk for stuck in lone.health().stuck] == names_of(lone, batch)

    def test_workers_that_only_finish_what_they_have_are_no_help(self, lone: RedisClient) -> None:
        worker_of(lone, "leaving", draining=True)
        batch = lone.submit(true_false_cases(100))
        waited(lone, batch, 60)
        assert [stuck.chunk for stuck in lone.health().stuck] == names_of(lone, batch)

    def test_a_lease_of_a_worker_that_is_gone_is_stuck_and_a_living_ones_is_not(
        self, lone: RedisClient
    ) -> None:
        batch = lone.submit(true_false_cases(30))
        worker_of(lone, "lives")
        claimed(lone.store, lone.settings.queue, "lives/1")
        name = str(claimed(lone.store, lone.settings.queue, "gone/1").chunk)
        assert lone.health().stuck == [StuckChunk(batch.id, name, 10, "leased", 0.0, "gone")]

    def test_a_lease_past_its_end_is_stuck(self, lone: RedisClient) -> None:
        lone.submit(true_false_cases(30))
        worker_of(lone, "lives")
        name = str(claimed(lone.store, lone.settings.queue, "lives/1", 0.001).chunk)
        stuck = eventually(lambda: lone.health().stuck, 15)[0]
        assert (stuck.chunk, stuck.state, stuck.worker) == (name, "leased", "lives")
        assert 0 < stuck.since_seconds < 30

    def test_the_longest_waiting_come_first_and_there_is_an_end_to_them(
        self, lone: RedisClient
    ) -> None:
        with RedisClient(lone.url, settings=Settings(chunk_limit_jobs=1)) as client:
            batches = [client.submit(true_false_cases(CHUNKS_LIMIT + 20)) for _ in range(2)]
        lone.store.redis.zadd("wb:{fleet}:active", {batches[1].id: 1})
        waited(lone, batches[0], 100)
        waited(lone, batches[1], 200)
        stuck = lone.health().stuck
        assert [chunk.batch_id for chunk in stuck] == [
            *[batches[1].id] * CHUNKS_LIMIT,
            *[batches[0].id] * CHUNKS_LIMIT,
        ]
        assert stuck[0].since_seconds > 150 > stuck[-1].since_seconds

    def test_no_more_batches_than_the_limit_are_examined(
        self, lone: RedisClient, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("weighbridge.store.health.BATCHES_LIMIT", 2)
        for batch in [lone.submit(true_false_cases(1)) for _ in range(4)]:
            waited(lone, batch, 100)
        health = lone.health()
        assert len(health.stuck) == 2
        assert health.active_batches == 4

    def test_the_newest_batches_of_a_project_are_examined(
        self, lone: RedisClient, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("weighbridge.store.health.BATCHES_LIMIT", 2)
        for _ in range(4):
            options = BatchOptions(project="ours")
            opened(lone.store, options, expiry_seconds=60, ttl_seconds=60)
        assert lone.health(project="ours").active_batches == 2
        assert lone.health(project="theirs").active_batches == 0
        assert lone.health().active_batches == 4

    def test_what_is_paused_is_named(self, lone: RedisClient) -> None:
        assert (lone.health().paused_batches, lone.health().paused_queues) == ([], [])
        batches = [lone.submit(true_false_cases(3)) for _ in range(3)]
        lone.batch(batches[1].id).pause()
        lone.pause_queue(lone.settings.queue)
        health = lone.health()
        assert (health.paused_batches, health.paused_queues) == (
            [batches[1].id],
            [lone.settings.queue],
        )
        lone.batch(batches[1].id).unpause()
        lone.unpause_queue(lone.settings.queue)
        assert (lone.health().paused_batches, lone.health().paused_queues) == ([], [])

    def test_a_worker_that_grades_leaves_nothing_stuck(
        self, lone: RedisClient, start_worker: StartWorker
    ) -> None:
        worker = start_worker(lone.url, 2)
        lone.submit(true_false_cases(300)).wait(30)
        health = lone.health()
        assert (health.stuck, health.queue_length) == ([], 0)
        assert [info.pid for info in health.workers] == [worker.pid]


class TestDeadLetters:
    def test_jobs_that_killed_or_outlasted_their_workers_are_counted_by_label_and_code(
        self, lone: RedisClient, start_worker: StartWorker
    ) -> None:
        start_worker(lone.url, 2, job_deadline_seconds=1)
        cases = [hazard_case("k1", "kills-itself"), hazard_case("k2", "kills-itself")]
        cases += [hazard_case("l1", "loops"), hazard_case("r1", "raises"), *true_false_cases(3)]
        batch = lone.submit(cases)
        batch.wait(90)
        letters = lone.health().dead_letters
        assert letters[0] == DeadLetter(
            batch.id, "kills-itself", "kills-itself", "WORKER_KILLED", 2
        )
        assert letters[1:] == [DeadLetter(batch.id, "loops", "loops", "TIMEOUT", 1)]

    def test_other_errors_are_none(self, lone: RedisClient) -> None:
        batch = lone.submit([b"nonsense\n", *true_false_cases(3)])
        grade_open_chunks(lone.store, batch.id)
        assert batch.status().counts.errored == 1
        assert lone.health().dead_letters == []

    def test_the_newest_batch_comes_first_and_labels_are_told_as_they_are(
        self, lone: RedisClient
    ) -> None:
        batches = [lone.submit(true_false_cases(1)) for _ in range(2)]
        redis = lone.store.redis
        label = '","errored","TIMEOUT"]*'
        for score, batch in enumerate(batches):
            redis.zadd("wb:{fleet}:batches", {batch.id: score})
            redis.hset(f"wb:{{{batch.id}}}:meta", "errored", 5)
            redis.hset(
                f"wb:{{{batch.id}}}:meta",
                '["\\",\\"errored\\",\\"TIMEOUT\\"]*","g","errored","OUT_OF_MEMORY"]',
                5,
            )
        letters = lone.health().dead_letters
        assert [letter.batch_id for letter in letters] == [batches[1].id, batches[0].id]
        assert {(letter.label, letter.code, letter.jobs) for letter in letters} == {
            (label, "OUT_OF_MEMORY", 5)
        }


def test_whatever_lies_in_the_store_health_is_reported(lone: RedisClient) -> None:
    sound = lone.submit(true_false_cases(10))
    waited(lone, sound, 60)
    redis = lone.store.redis
    for number, forged in enumerate([b"\xff", b"", b"x", b"wb_0_0_0", b"a}b"]):
        redis.zadd("wb:{fleet}:active", {forged: number})
        redis.zadd("wb:{fleet}:batches", {forged: number})
    prefix = "wb:{x}:"
    redis.hset(prefix + "meta", mapping={"errored": "many", "options": "[]"})
    redis.set(prefix + "open", "no list")
    odd = lone.submit(true_false_cases(10)).id
    names = lone.store.open_chunks(odd)
    prefix = f"wb:{{{odd}}}:"
    redis.hset(prefix + "meta", mapping={"errored": "7", "options": "{"})
    redis.hset(prefix + "meta", '[[1],{},"errored","TIMEOUT"]', "no number")
    redis.hset(prefix + "meta", '[1,"errored","TIMEOUT', "1")
    redis.hset(prefix + "meta", '["l","g","errored",["TIMEOUT"]]', "1")
    redis.zadd(prefix + "open", {b"\xff": 5, "-1": float("inf"), "": -1})
    redis.hset(prefix + "chunks", b"\xff", "x")
    for name, forged in zip(names, [b"", b"[]", b'{"jobs": "x"}'], strict=False):
        redis.hset(prefix + "chunks", str(name), forged)
    odder = lone.submit(true_false_cases(10)).id
    redis.set(f"wb:{{{odder}}}:chunks", "no hash")
    redis.set(f"wb:{{{odder}}}:log", "no stream")
    health = lone.health()
    assert sound.id in {stuck.batch_id for stuck in health.stuck}
    assert all(isinstance(letter.label, str) for letter in health.dead_letters)
