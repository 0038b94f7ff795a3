"""Messages that are lost, doubled or strange: they are hints, and the store knows better."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from support.cases import (
    assert_graded_right,
    hazard_case,
    results_by_id,
    true_false_cases,
)
from support.waiting import eventually
from weighbridge.jobs.broker import GRADE_TASK
from weighbridge.jobs.chunk import Chunk, ChunkId, compress, decompress
from weighbridge.jobs.store import Store
from weighbridge_producer import Client

if TYPE_CHECKING:
    from support.workers import StartWorker, WorkerProcess
    from weighbridge.embedded import EmbeddedServer

MANY = 50_000


def test_every_message_delivered_five_times_counts_every_job_once(
    own_server: EmbeddedServer, start_worker: StartWorker
) -> None:
    with Client(own_server.url) as client:
        batch = client.submit(true_false_cases(MANY))
        # What was sent once is sent four times more, and all of it waits for the worker.
        for _ in range(4):
            for chunk in client.store.open_chunks(batch.id):
                client.publisher.publish(batch.id, chunk)
        chunks = batch.status().chunks
        assert client.publisher.queue_length() == 5 * chunks
        worker = start_worker(own_server.url)
        batch.wait(60)
        results = results_by_id(batch)
        assert len(results) == MANY
        assert_graded_right(results, MANY)
        assert batch.status().nondeterministic == 0
        eventually(lambda: client.publisher.queue_length() == 0, 30, "an empty queue")
        # Counted once although delivered five times: what was done is known without grading it again.
        eventually(lambda: (info := worker.info()) and info.jobs == MANY, 10, "the worker's count")


def test_a_deleted_queue_is_filled_again(
    own_server: EmbeddedServer, start_worker: StartWorker
) -> None:
    with Client(own_server.url) as client:
        batch = client.submit(true_false_cases(MANY))
        assert client.store.redis.delete(client.settings.queue) == 1
        assert client.publisher.queue_length() == 0
        start_worker(own_server.url, sweep_seconds=0.5)
        batch.wait(60)
        results = results_by_id(batch)
        assert len(results) == MANY
        assert_graded_right(results, MANY)


@pytest.mark.parametrize("lost", ["message", "worker"])
def test_sweepers_at_once_share_the_work_and_send_no_chunk_twice(
    own_server: EmbeddedServer, lost: str
) -> None:
    with Client(own_server.url) as client:
        batch = client.submit(true_false_cases(MANY))
        chunks = client.store.open_chunks(batch.id)
        for chunk in chunks:
            if lost == "worker":
                assert client.store.claim(batch.id, chunk, "dead-worker/1", 600) == "work"
            else:  # as if it had waited since 1970
                client.store.redis.zadd(f"wb:{{{batch.id}}}:open", {str(chunk): -1})
        stores = [Store(own_server.url) for _ in range(4)]
        with ThreadPoolExecutor(4) as pool:
            answers = list(
                pool.map(
                    lambda store: store.sweep(batch.id, ["other-worker"], 60, most=5), stores * 6
                )
            )
        for store in stores:
            store.close()
        sent = [str(chunk) for answer in answers for chunk in answer]
        assert sorted(sent) == sorted(map(str, chunks))
        assert len(sent) > 10


def test_many_workers_sweeping_at_once_count_every_job_once(
    own_server: EmbeddedServer, start_worker: StartWorker
) -> None:
    with Client(own_server.url) as client:
        batch = client.submit(true_false_cases(20_000))
        client.store.redis.delete(client.settings.queue)
        for chunk in client.store.open_chunks(batch.id)[:10]:
            client.store.claim(batch.id, chunk, "dead-worker/1", 600)
        for _ in range(3):
            start_worker(own_server.url, 1, sweep_seconds=0.1)
        batch.wait(60)
        results = results_by_id(batch)
        assert len(results) == 20_000
        assert_graded_right(results, 20_000)
        assert batch.status().nondeterministic == 0


def test_a_message_of_an_unknown_schema_version_errors_its_jobs_and_stops_nothing(
    client: Client, worker: WorkerProcess
) -> None:
    batch = client.open("cases", ())
    lines = [b'{"custom_id": "a", "inputs": {}}\n', b"\n", b'{"custom_id": "b", "inputs": {}}\n']
    submit_raw(client, batch.id, Chunk(1, b"".join(lines), 3).pack(), jobs=2)
    client.publisher.app.send_task(
        GRADE_TASK, kwargs={"schema_version": 99, "batch": batch.id, "chunk": "0"}
    )
    batch.wait(30)
    results = results_by_id(batch)
    assert set(results) == {"a", "b"}
    for result in results.values():
        assert result["error"]["code"] == "SCHEMA_VERSION"
        assert "schema version 99, this worker knows 1" in result["error"]["message"]
    still_works(client)


def test_a_stored_chunk_of_an_unknown_schema_version_errors_its_jobs_and_stops_nothing(
    client: Client, worker: WorkerProcess
) -> None:
    batch = client.open("cases", ())
    packed = decompress(Chunk(1, b"{}\n{}\n", 2).pack()).replace(b'"v":1', b'"v":2')
    submit_raw(client, batch.id, compress(packed), jobs=2)
    client.publisher.publish(batch.id, ChunkId(0))
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
        {"schema_version": 1, "batch": "nonsense", "chunk": "0"},
        {"schema_version": 1, "batch": "wb_6b000000_ffffff_00", "chunk": "not a number"},
        {"schema_version": None, "batch": None, "chunk": None},
        {"schema_version": 1, "batch": {"a": 1}, "chunk": ["0"], "extra": True},
    ],
)
def test_a_message_that_makes_no_sense_stops_nothing(
    client: Client, worker: WorkerProcess, kwargs: dict[str, object]
) -> None:
    client.publisher.app.send_task(GRADE_TASK, kwargs=kwargs)
    still_works(client)


def test_an_unknown_grader_errors_its_own_jobs_only(client: Client, worker: WorkerProcess) -> None:
    unknown = hazard_case("unknown", "true-fals")
    batch = client.submit([*true_false_cases(50), unknown])
    batch.wait(30)
    results = results_by_id(batch)
    assert_graded_right(results, 50)
    assert results["unknown"]["error"]["code"] == "UNKNOWN_GRADER"
    assert "did you mean 'true-false'?" in results["unknown"]["error"]["message"]


def submit_raw(client: Client, batch: str, payload: bytes, jobs: int) -> None:
    """Store one chunk as it is, and seal its batch; nothing is sent."""
    from weighbridge.jobs.store import Position, Submission

    after = Position(1, 100, jobs, "prefix")
    client.store.submit_chunk(batch, Submission(0, "digest", jobs, after, payload, b"", 0))
    client.store.seal(batch, 1)


def still_works(client: Client) -> None:
    """Make sure that a worker still grades."""
    batch = client.submit(true_false_cases(10))
    batch.wait(30)
    assert_graded_right(results_by_id(batch), 10)
