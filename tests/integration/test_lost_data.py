"""A batch of which a server that evicts keys has lost one key: no end of it hides that."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from support.cases import true_false_cases
from support.http import HttpServer
from weighbridge.errors import BatchLostError
from weighbridge.grading.line_grader import LineGrader
from weighbridge.grading.tally import Tally
from weighbridge.jobs.batch_state import BatchStatus
from weighbridge.settings import Settings
from weighbridge.store import unpacked
from weighbridge_producer import Client
from weighbridge_producer.client import collector
from weighbridge_producer.client.redis_client import RedisClient

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weighbridge.embedded.server import EmbeddedServer
    from weighbridge_producer.client.redis_batch import RedisBatch

LINES = 35
LOST = "the server has lost data of the batch"


@pytest.fixture
def lone_client(own_server: EmbeddedServer) -> Iterator[RedisClient]:
    """A client on a server without workers."""
    with RedisClient(own_server.url, settings=Settings(chunk_limit_jobs=10)) as client:
        yield client


def lose(client: RedisClient, batch: RedisBatch, name: str) -> None:
    assert client.store.redis.delete(f"wb:{{{batch.id}}}:{name}") == 1


def grade_as_a_worker(client: RedisClient, batch: RedisBatch, most: int = 100) -> None:
    """Claim up to `most` chunks, and record what can be graded of them."""
    store, grader = client.store, LineGrader(client.store.options(batch.id).graders)
    for _ in range(most):
        claim = store.claim_next(client.settings.queue, "worker/1", 30)
        if claim is None:
            return
        tally = Tally()
        lines = unpacked(claim.payload, claim.info.jobs).lines(claim.chunk)
        results = b"".join(grader.grade(line, tally) for line in lines)
        store.record(claim.batch, claim.chunk, results, tally)


def test_a_batch_without_its_chunks_is_not_completed(lone_client: RedisClient) -> None:
    batch = lone_client.submit(true_false_cases(LINES))
    lose(lone_client, batch, "chunks")
    grade_as_a_worker(lone_client, batch)
    state = batch.status()
    assert (state.status, state.reason) == (BatchStatus.FAILED, LOST)


def test_a_batch_without_the_names_of_its_open_chunks_ends_when_it_is_cancelled(
    lone_client: RedisClient,
) -> None:
    batch = lone_client.submit(true_false_cases(LINES))
    lose(lone_client, batch, "open")
    state = batch.cancel()
    assert (state.status, state.reason) == (BatchStatus.FAILED, LOST)


def test_a_batch_without_the_names_of_its_open_chunks_ends_when_it_is_swept(
    lone_client: RedisClient,
) -> None:
    batch = lone_client.submit(true_false_cases(LINES))
    lose(lone_client, batch, "open")
    lone_client.store.reschedule_check(batch.id)
    state = batch.status()
    assert (state.status, state.reason) == (BatchStatus.FAILED, LOST)


def test_a_batch_that_is_still_submitted_does_not_end_when_it_is_swept(
    lone_client: RedisClient,
) -> None:
    batch = lone_client.open("cases", ())
    lone_client.store.reschedule_check(batch.id)
    assert not batch.status().status.final


@pytest.mark.parametrize("name", ["chunks", "log"])
def test_results_that_are_not_all_there_are_not_taken_for_all(
    lone_client: RedisClient, name: str
) -> None:
    batch = lone_client.submit(true_false_cases(LINES))
    grade_as_a_worker(lone_client, batch, most=2)
    lose(lone_client, batch, name)
    grade_as_a_worker(lone_client, batch)
    with pytest.raises(BatchLostError, match="has lost results"):
        list(batch.results())


def test_results_of_a_completed_batch_that_are_lost_are_not_taken_for_none(
    lone_client: RedisClient,
) -> None:
    batch = lone_client.submit(true_false_cases(LINES))
    grade_as_a_worker(lone_client, batch)
    assert batch.status().status == BatchStatus.COMPLETED
    lose(lone_client, batch, "chunks")
    with pytest.raises(BatchLostError, match="has lost results"):
        list(batch.results())


def test_a_search_in_a_log_without_its_beginning_is_refused(lone_client: RedisClient) -> None:
    batch = lone_client.submit(true_false_cases(LINES))
    grade_as_a_worker(lone_client, batch, most=2)
    lose(lone_client, batch, "log")
    grade_as_a_worker(lone_client, batch)
    with pytest.raises(BatchLostError, match="has lost results"):
        batch.search()


def test_a_search_in_a_completed_batch_without_its_chunks_is_refused(
    lone_client: RedisClient,
) -> None:
    batch = lone_client.submit(true_false_cases(LINES))
    grade_as_a_worker(lone_client, batch)
    lose(lone_client, batch, "chunks")
    with pytest.raises(BatchLostError, match="has lost results"):
        batch.search()


def test_a_worker_ends_a_batch_without_the_names_of_its_open_chunks(
    lone_client: RedisClient,
) -> None:
    batch = lone_client.submit(true_false_cases(LINES))
    lose(lone_client, batch, "open")
    grade_as_a_worker(lone_client, batch)
    state = batch.status()
    assert (state.status, state.reason) == (BatchStatus.FAILED, LOST)


def test_results_of_a_completed_batch_without_its_log_are_lost_and_not_late(
    lone_client: RedisClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collector, "_LAG_SECONDS", 0.2)
    batch = lone_client.submit(true_false_cases(LINES))
    grade_as_a_worker(lone_client, batch)
    lose(lone_client, batch, "log")
    with pytest.raises(BatchLostError, match="has lost results"):
        list(batch.results())


def test_a_stream_over_http_ends_with_the_error_that_ended_it(lone_client: RedisClient) -> None:
    batch = lone_client.submit(true_false_cases(LINES))
    grade_as_a_worker(lone_client, batch)
    lose(lone_client, batch, "chunks")
    with HttpServer(lone_client.url) as service, Client(service.url, retry=False) as client:
        with pytest.raises(BatchLostError, match="has lost results") as raised:
            list(client.batch(batch.id).results())
        assert "noeviction" in raised.value.hint


@pytest.mark.parametrize(
    ("limit", "policy", "warnings"),
    [("200mb", "volatile-lru", 1), ("200mb", "noeviction", 0), ("0", "volatile-lru", 0)],
)
def test_a_client_warns_once_of_a_server_that_drops_batches(
    lone_client: RedisClient,
    caplog: pytest.LogCaptureFixture,
    limit: str,
    policy: str,
    warnings: int,
) -> None:
    redis = lone_client.store.redis
    redis.config_set("maxmemory", limit)
    redis.config_set("maxmemory-policy", policy)
    lone_client.submit(true_false_cases(LINES))
    lone_client.open("cases")
    assert len(caplog.messages) == warnings
    assert all("maxmemory-policy of Redis is volatile-lru" in text for text in caplog.messages)


def test_a_server_that_does_not_report_its_policy_is_used(lone_client: RedisClient) -> None:
    redis = lone_client.store.redis
    redis.config_set("maxmemory-policy", "allkeys-lru")
    redis.execute_command("ACL SETUSER default -info")
    assert lone_client.store.evicting_policy() == ""
    assert not lone_client.open("cases").status().status.final
