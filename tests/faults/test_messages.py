"""Lost, duplicate or foreign messages do no harm: messages only wake workers, and the store has the work."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

import pytest

from support.cases import (
    assert_graded_right,
    hazard_case,
    results_by_id,
    sleepy_cases,
    true_false_cases,
)
from support.chunks import claimed
from support.waiting import eventually
from weighbridge.broker.wake_up import GRADE_TASK
from weighbridge.jobs.chunk import Chunk, ChunkId, compress, decompress
from weighbridge.settings import Settings
from weighbridge_producer.client.redis_client import RedisClient
from weighbridge_worker.celery_settings import make_celery

if TYPE_CHECKING:
    from support.servers import TcpServer
    from support.workers import StartWorker, WorkerProcess
    from weighbridge.embedded.server import EmbeddedServer

MANY = 3_000
SUPERVISOR_WITHOUT_BROKER = re.compile(
    r"(check of child \d+|handling of dead children) failed.* no answer from the broker"
)
IN_SMALL_CHUNKS = Settings(chunk_limit_jobs=100)


def test_every_message_delivered_five_times_counts_every_job_once(
    own_server: EmbeddedServer, start_worker: StartWorker
) -> None:
    with RedisClient(own_server.url, settings=IN_SMALL_CHUNKS) as client:
        batch = client.submit(true_false_cases(MANY))
        # Each message is sent four more times, and all wait for the worker.
        chunks = batch.status().chunks
        for _ in range(4 * chunks):
            client.publisher.wake()
        assert client.publisher.queue_length() == 5 * chunks
        worker = start_worker(own_server.url)
        batch.wait(60)
        results = results_by_id(batch)
        assert len(results) == MANY
        assert_graded_right(results, MANY)
        assert batch.status().nondeterministic == 0
        eventually(lambda: client.publisher.queue_length() == 0, 30, "an empty queue")
        # Counted once although delivered five times, and not graded again.
        eventually(lambda: (info := worker.info()) and info.jobs == MANY, 10, "the worker's count")


def test_a_deleted_queue_is_filled_again(
    own_server: EmbeddedServer, start_worker: StartWorker
) -> None:
    with RedisClient(own_server.url, settings=IN_SMALL_CHUNKS) as client:
        batch = client.submit(true_false_cases(MANY))
        assert client.store.redis.delete(client.settings.queue) == 1
        assert client.publisher.queue_length() == 0
        start_worker(own_server.url, sweep_seconds=0.5)
        batch.wait(60)
        results = results_by_id(batch)
        assert len(results) == MANY
        assert_graded_right(results, MANY)


@pytest.mark.long
def test_a_batch_whose_messages_are_lost_goes_on_at_once_beside_a_busy_one(
    own_server: EmbeddedServer, start_worker: StartWorker
) -> None:
    start_worker(own_server.url, 1, chunk_budget_seconds=0.2)
    with RedisClient(own_server.url, settings=Settings(chunk_limit_jobs=10)) as client:
        busy = client.submit(sleepy_cases(400, 0.05))
        eventually(lambda: busy.status().counts.finished, 30, "the busy batch's first result")
        client.store.redis.delete(client.settings.queue)
        small = client.submit(true_false_cases(10))
        client.store.redis.delete(client.settings.queue)
        small.wait(10)
        assert_graded_right(results_by_id(small), 10)
        assert not busy.status().status.final
        busy.wait(90)
        assert busy.status().counts.passed == 400


@pytest.mark.long
def test_messages_that_a_killed_worker_had_taken_hold_nothing_up(
    own_server: EmbeddedServer, start_worker: StartWorker
) -> None:
    """The messages are not redelivered; other workers are woken for the waiting chunks."""
    first, second = start_worker(own_server.url, 4), start_worker(own_server.url, 2)
    name = first.await_heartbeat().name
    with RedisClient(own_server.url, settings=Settings(chunk_limit_jobs=5)) as client:
        batch = client.submit([*true_false_cases(400), *sleepy_cases(100, 0.4)])

        def at_work() -> bool:
            held = client.store.held(batch.id).chunks
            return sum(chunk.info.worker == name for chunk in held) >= 2

        eventually(at_work, 30, "chunks at work")
        first.kill()
        killed_at = time.monotonic()
        batch.wait(60)
        print(f"all done {time.monotonic() - killed_at:.1f} s after the worker's death")
        results = results_by_id(batch)
        assert len(results) == 500
        assert_graded_right(results, 400)
        assert batch.status().counts.errored == 0
        assert "a child died" not in second.log


def test_many_workers_with_quick_sweeps_count_every_job_once(
    own_server: EmbeddedServer, start_worker: StartWorker
) -> None:
    with RedisClient(own_server.url, settings=IN_SMALL_CHUNKS) as client:
        batch = client.submit(true_false_cases(MANY))
        client.store.redis.delete(client.settings.queue)
        for number in range(5):
            claimed(client.store, client.settings.queue, f"dead-worker/{number}", 3)
        for _ in range(3):
            start_worker(own_server.url, 1, sweep_seconds=0.1)
        batch.wait(60)
        results = results_by_id(batch)
        assert len(results) == MANY
        assert_graded_right(results, MANY)
        assert batch.status().nondeterministic == 0


def test_a_worker_is_alive_while_its_broker_is_not_although_a_child_dies(
    own_server: EmbeddedServer, tcp_server: TcpServer, start_worker: StartWorker
) -> None:
    worker = start_worker(own_server.url, 1, broker_url=tcp_server.url)
    settings = Settings(broker_url=tcp_server.url)  # type: ignore[arg-type]
    with RedisClient(own_server.url, settings=settings) as client:
        batch = client.submit(sleepy_cases(1, 3.0))
        eventually(batch.holders, 10, "a claim")
        tcp_server.kill()
        [child] = worker.await_children(1)
        child.kill()
        # In less time than a heartbeat is valid, the thread that sends heartbeats has put back the chunk.
        eventually(
            lambda: SUPERVISOR_WITHOUT_BROKER.search(worker.log), 4, "the end of the attempt"
        )
        tcp_server.start()
        assert batch.wait(60).counts.passed == 1


@pytest.mark.parametrize("schema_version", [0, 2, 99])
def test_a_message_of_another_schema_version_wakes_a_worker_all_the_same(
    own_server: EmbeddedServer, start_worker: StartWorker, schema_version: int
) -> None:
    """Only the chunk's schema version matters, which is stored with the chunk."""
    with RedisClient(own_server.url) as client:
        batch = client.submit(true_false_cases(10))
        client.store.redis.delete(client.settings.queue)
        make_celery(client.settings, client.url).send_task(
            GRADE_TASK, kwargs={"schema_version": schema_version, "lane": "", "hops": 0}
        )
        start_worker(own_server.url, 1, sweep_seconds=600)
        batch.wait(30)
        assert_graded_right(results_by_id(batch), 10)


def test_a_stored_chunk_of_an_unknown_schema_version_errors_its_jobs_and_stops_nothing(
    client: RedisClient, worker: WorkerProcess
) -> None:
    batch = client.open("cases", ())
    packed = decompress(Chunk(1, b"{}\n{}\n", 2).pack()).replace(b'"v":1', b'"v":2')
    submit_raw(client, batch.id, compress(packed), jobs=2)
    client.publisher.wake()
    batch.wait(30)
    results = list(batch.results(follow=False))
    assert [(r["line"], r["error"]["code"]) for r in results] == [
        (1, "SCHEMA_VERSION"),
        (2, "SCHEMA_VERSION"),
    ]
    still_works(client)


@pytest.mark.parametrize(
    "kwargs",
    [
        {},
        {"schema_version": 1},
        {"schema_version": 1, "lane": "nonsense", "hops": 0},
        {"schema_version": 1, "lane": "grader:nobody-has@7", "hops": 0},
        {"schema_version": 1, "lane": "grader:x@1+schema:9", "hops": -(2**62)},
        {"schema_version": 1, "lane": "x" * 9000, "hops": 2**62},
        {"schema_version": None, "lane": None, "hops": None},
        {"schema_version": 1, "lane": {"a": 1}, "hops": ["0"], "extra": True},
    ],
)
def test_a_message_that_makes_no_sense_stops_nothing(
    client: RedisClient, worker: WorkerProcess, kwargs: dict[str, object]
) -> None:
    make_celery(client.settings, client.url).send_task(GRADE_TASK, kwargs=kwargs)
    still_works(client)


def test_an_unknown_grader_errors_its_own_jobs_only(
    client: RedisClient, worker: WorkerProcess
) -> None:
    unknown = hazard_case("unknown", "true-fals")
    batch = client.submit([*true_false_cases(50), unknown])
    batch.wait(10)  # without a delay, because no worker has ever had the grader
    results = results_by_id(batch)
    assert_graded_right(results, 50)
    assert results["unknown"]["error"]["code"] == "UNKNOWN_GRADER"
    assert "did you mean 'true-false'?" in results["unknown"]["error"]["message"]


def submit_raw(client: RedisClient, batch: str, payload: bytes, jobs: int) -> None:
    """Store one chunk unchanged and seal its batch, without sending a message."""
    from weighbridge.store import ChunkUpload, Position

    after = Position(1, 100, jobs, "prefix")
    chunk = ChunkId(0, 1, jobs + 1, "0123456789abcdef")
    client.store.submit_chunk(batch, ChunkUpload(chunk, jobs, after, payload, b"", 0))
    client.store.seal(batch, 1, "prefix")


def still_works(client: RedisClient) -> None:
    """Assert that a worker still grades."""
    batch = client.submit(true_false_cases(10))
    batch.wait(30)
    assert_graded_right(results_by_id(batch), 10)
