"""Health: stuck chunks and dead letters are named, and nothing else is; on real servers with real workers."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from support.cases import hazard_case, true_false_cases
from support.grading import grade_open_chunks
from support.waiting import eventually
from weighbridge.jobs.chunk import ChunkId
from weighbridge.jobs.fleet import WorkerInfo
from weighbridge.jobs.health import CHUNKS_LIMIT, DeadLetter, StuckChunk
from weighbridge.jobs.model import SCHEMA_VERSION
from weighbridge.settings import Settings
from weighbridge_producer.client import RedisClient

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.workers import StartWorker
    from weighbridge.embedded import EmbeddedServer
    from weighbridge_producer.batch import RedisBatch

FEW_A_CHUNK = Settings(chunk_limit_jobs=10)


@pytest.fixture
def lone(own_server: EmbeddedServer) -> Iterator[RedisClient]:
    """A client on a server without workers."""
    with RedisClient(own_server.url, settings=FEW_A_CHUNK) as client:
        yield client


def waited(client: RedisClient, batch: RedisBatch, seconds: float, chunks: int = 10_000) -> None:
    """Let a batch's first chunks have been sent out that long ago."""
    sent = -(time.time() - seconds) * 1000
    numbers = sorted(chunk.number for chunk in client.store.open_chunks(batch.id))
    names = list(map(str, numbers[:chunks]))
    client.store.redis.zadd(f"wb:{{{batch.id}}}:open", dict.fromkeys(names, sent))


def worker_of(client: RedisClient, name: str, *, draining: bool = False) -> None:
    """Let a worker with four hands say that it lives."""
    queue = client.settings.queue
    client.fleet.beat(
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
        waited(lone, batch, 45, chunks=1)
        [stuck] = lone.health().stuck
        assert stuck.since_seconds == pytest.approx(45, abs=5)
        sizes = {chunk.chunk: chunk.jobs for chunk in lone.health().stuck}
        assert sizes == {"0": 10}
        assert (stuck.batch_id, stuck.state, stuck.worker) == (batch.id, "waiting", "")

    def test_behind_a_long_queue_waiting_is_no_fault_until_nobody_sends_it_again(
        self, lone: RedisClient
    ) -> None:
        worker_of(lone, "busy")
        batch = lone.submit(true_false_cases(100))
        assert lone.health().queue_length > 4
        waited(lone, batch, 120)
        assert lone.health().stuck == []
        waited(lone, batch, 1000, chunks=1)
        assert [stuck.state for stuck in lone.health().stuck] == ["waiting"]

    def test_idle_workers_leave_nothing_waiting_so_long(self, lone: RedisClient) -> None:
        worker_of(lone, "idle")
        batch = lone.submit(true_false_cases(100))
        lone.store.redis.delete(lone.settings.queue)
        waited(lone, batch, 60, chunks=2)
        assert {stuck.chunk for stuck in lone.health().stuck} == {"0", "1"}

    def test_workers_that_only_finish_what_they_have_are_no_help(self, lone: RedisClient) -> None:
        worker_of(lone, "leaving", draining=True)
        batch = lone.submit(true_false_cases(100))
        waited(lone, batch, 60, chunks=1)
        assert len(lone.health().stuck) == 1

    def test_a_lease_of_a_worker_that_is_gone_is_stuck_and_a_living_ones_is_not(
        self, lone: RedisClient
    ) -> None:
        batch = lone.submit(true_false_cases(30))
        worker_of(lone, "lives")
        lone.store.claim(batch.id, ChunkId(0), "lives/1", 60)
        lone.store.claim(batch.id, ChunkId(1), "gone/1", 60)
        assert lone.health().stuck == [StuckChunk(batch.id, "1", 10, "leased", 0.0, "gone")]

    def test_a_lease_past_its_end_is_stuck(self, lone: RedisClient) -> None:
        batch = lone.submit(true_false_cases(30))
        worker_of(lone, "lives")
        lone.store.claim(batch.id, ChunkId(0), "lives/1", 0.001)
        stuck = eventually(lambda: lone.health().stuck, 5)[0]
        assert (stuck.chunk, stuck.state, stuck.worker) == ("0", "leased", "lives")
        assert 0 < stuck.since_seconds < 30

    def test_the_longest_waiting_come_first_and_there_is_an_end_to_them(
        self, lone: RedisClient
    ) -> None:
        with RedisClient(lone.url, settings=Settings(chunk_limit_jobs=1)) as client:
            batch = client.submit(true_false_cases(CHUNKS_LIMIT + 20))
        waited(lone, batch, 100)
        waited(lone, batch, 200, chunks=1)
        stuck = lone.health().stuck
        assert len(stuck) == CHUNKS_LIMIT
        assert stuck[0].since_seconds > 150 > stuck[1].since_seconds

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
            redis.zadd("wb:batches", {batch.id: score})
            redis.hset(f"wb:{{{batch.id}}}:meta", "errored", 5)
            redis.hset(
                f"wb:{{{batch.id}}}:summary",
                '["\\",\\"errored\\",\\"TIMEOUT\\"]*","g","errored","OUT_OF_MEMORY"]',
                5,
            )
        letters = lone.health().dead_letters
        assert [letter.batch_id for letter in letters] == [batches[1].id, batches[0].id]
        assert {(letter.label, letter.code, letter.jobs) for letter in letters} == {
            (label, "OUT_OF_MEMORY", 5)
        }


def test_whatever_lies_in_the_store_health_is_told(lone: RedisClient) -> None:
    sound = lone.submit(true_false_cases(10))
    waited(lone, sound, 60)
    redis = lone.store.redis
    for number, forged in enumerate([b"\xff", b"", b"x", b"wb_0_0_0", b"a}b"]):
        redis.zadd("wb:active", {forged: number})
        redis.zadd("wb:batches", {forged: number})
    prefix = "wb:{x}:"
    redis.hset(prefix + "meta", mapping={"errored": "many", "options": "[]"})
    redis.set(prefix + "open", "no list")
    odd = lone.submit(true_false_cases(10)).id
    prefix = f"wb:{{{odd}}}:"
    redis.hset(prefix + "meta", mapping={"errored": "7", "options": "{"})
    redis.hset(prefix + "summary", '[[1],{},"errored","TIMEOUT"]', "no number")
    redis.hset(prefix + "summary", '[1,"errored","TIMEOUT', "1")
    redis.hset(prefix + "summary", '["l","g","errored",["TIMEOUT"]]', "1")
    redis.zadd(prefix + "open", {b"\xff": 5, "-1": float("inf"), "": -1})
    redis.hset(prefix + "sizes", b"\xff", "x")
    redis.delete(prefix + "claims")
    redis.set(prefix + "claims", "no hash")
    health = lone.health()
    assert sound.id in {stuck.batch_id for stuck in health.stuck}
    assert all(isinstance(letter.label, str) for letter in health.dead_letters)
