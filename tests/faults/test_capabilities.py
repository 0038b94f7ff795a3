"""Workers without a grader leave its jobs to workers that have it, as long as one is running."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from support.cases import assert_graded_right, hazard_case, results_by_id, true_false_cases
from support.waiting import eventually
from weighbridge.jobs.capabilities import Lane, Need
from weighbridge.jobs.chunk import Chunk, ChunkId, compress, decompress
from weighbridge.settings import Settings
from weighbridge.store import ChunkUpload, Position
from weighbridge_producer.client.redis_client import RedisClient

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.cases import Case
    from support.workers import StartWorker
    from weighbridge.embedded.server import EmbeddedServer

PLUG_IN = Lane.of([Need("sleeps", 1)])
TIMEOUT_SECONDS = 4
FEW_A_CHUNK = Settings(chunk_limit_jobs=20)


@pytest.fixture
def client(own_server: EmbeddedServer) -> Iterator[RedisClient]:
    """A client that splits its input into small chunks."""
    with RedisClient(own_server.url, settings=FEW_A_CHUNK) as client:
        yield client


def mixed_cases(count: int, of_plug_in: int) -> list[Case]:
    """Return ordinary cases with some of the plug-in among them."""
    cases = list(true_false_cases(count))
    step = count // of_plug_in
    for number in reversed(range(of_plug_in)):
        cases.insert(number * step, hazard_case(f"p{number}", "sleeps", "stay"))
    return cases


def await_capability(client: RedisClient, queue: str = "") -> None:
    queue = queue or client.settings.queue
    eventually(
        lambda: client.worker_registry.has_had(queue, PLUG_IN, 60), 20, "a worker with the plug-in"
    )


def test_jobs_of_a_plug_in_wait_for_the_worker_that_has_it(
    client: RedisClient, start_worker: StartWorker
) -> None:
    start_worker(client.url, 1)
    start_worker(client.url, 3, plug_ins=False)
    await_capability(client)
    batch = client.submit(mixed_cases(600, 60))
    batch.wait(60)
    results = results_by_id(batch)
    assert len(results) == 660
    assert_graded_right(results, 600)
    errors = [row["error"] for row in results.values() if row["error"]]
    assert errors == []


def test_a_grader_of_the_whole_batch_that_most_workers_lack_is_no_error(
    client: RedisClient, start_worker: StartWorker
) -> None:
    start_worker(client.url, 1)
    start_worker(client.url, 3, plug_ins=False)
    await_capability(client)
    cases = [hazard_case(f"p{number}", "", "stay") for number in range(400)]
    for case in cases:
        del case["grader"]
    batch = client.submit(cases, graders=["sleeps"])
    assert batch.wait(60).counts.passed == 400


@pytest.mark.slow
def test_jobs_wait_out_a_deploy_of_the_only_worker_that_has_their_grader(
    client: RedisClient, start_worker: StartWorker
) -> None:
    capable = start_worker(client.url, 1)
    await_capability(client)
    capable.ask_to_stop()
    capable.await_end()
    other = start_worker(client.url, 2, plug_ins=False, sweep_seconds=0.2)
    batch = client.submit(mixed_cases(200, 20))
    eventually(lambda: "is left to workers with grader:sleeps" in other.log, 20)
    # It is looked at after a second, and left to them for another one.
    soon = client.store.now() + 1.2
    eventually(
        lambda: any(held.until > soon for held in client.store.held(batch.id).chunks), 10, "a look"
    )
    start_worker(client.url, 1)
    batch.wait(60)
    results = results_by_id(batch)
    assert len(results) == 220
    assert {row["status"] for row in results.values()} == {"graded"}


@pytest.mark.slow
def test_jobs_are_errored_once_no_worker_has_had_their_grader_for_the_stated_time(
    client: RedisClient, start_worker: StartWorker
) -> None:
    capable = start_worker(client.url, 1, capability_timeout_seconds=TIMEOUT_SECONDS)
    await_capability(client)
    start_worker(client.url, 2, plug_ins=False, capability_timeout_seconds=TIMEOUT_SECONDS)
    capable.kill()
    gone_at = time.monotonic()
    batch = client.submit(mixed_cases(200, 20))
    batch.wait(60)
    waited = time.monotonic() - gone_at
    print(f"given up {waited:.1f} s after the worker was killed")
    results = results_by_id(batch)
    assert len(results) == 220
    assert_graded_right(results, 200)
    errors = [row["error"] for name, row in results.items() if name.startswith("p")]
    assert {error["code"] for error in errors} == {"UNKNOWN_GRADER"}
    assert len(errors) == 20
    assert waited > TIMEOUT_SECONDS - 2  # its last advertisement was up to one sweep before its end


@pytest.mark.slow
def test_a_chunk_of_a_newer_release_waits_for_the_workers_of_that_release(
    client: RedisClient, start_worker: StartWorker
) -> None:
    worker = start_worker(client.url, 1, capability_timeout_seconds=TIMEOUT_SECONDS)
    client.worker_registry.advertise(
        client.settings.queue, {}, 2
    )  # a worker of that release was running recently
    batch = client.open("cases", ())
    packed = decompress(Chunk(1, b"{}\n{}\n", 2).pack()).replace(b'"v":1', b'"v":2')
    chunk = ChunkId(0, 1, 3, "0123456789abcdef")
    after = Position(1, 6, 2, "prefix")
    client.store.submit_chunk(batch.id, ChunkUpload(chunk, 2, after, compress(packed), b"", 0))
    client.store.seal(batch.id, 1, "prefix")
    client.publisher.wake()
    eventually(lambda: "is left to workers with schema:2" in worker.log, 20)
    batch.wait(30)
    codes = [row["error"]["code"] for row in batch.results(follow=False)]
    assert codes == ["SCHEMA_VERSION", "SCHEMA_VERSION"]


def test_a_name_that_no_worker_has_is_an_error_at_once(
    client: RedisClient, start_worker: StartWorker
) -> None:
    worker = start_worker(client.url, 1)
    await_capability(client)
    batch = client.submit([*true_false_cases(50), hazard_case("typo", "sleep", "stay")])
    batch.wait(15)
    assert results_by_id(batch)["typo"]["error"]["code"] == "UNKNOWN_GRADER"
    assert "is left to workers" not in worker.log


@pytest.mark.slow
def test_a_worker_of_another_queue_is_not_waited_for(
    client: RedisClient, start_worker: StartWorker
) -> None:
    start_worker(client.url, 1, queue="elsewhere")
    await_capability(client, "elsewhere")
    start_worker(client.url, 1, plug_ins=False, capability_timeout_seconds=TIMEOUT_SECONDS)
    batch = client.submit(mixed_cases(40, 4))
    batch.wait(25)
    assert batch.status().counts.errored == 4
