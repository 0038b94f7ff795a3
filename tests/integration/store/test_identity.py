"""A chunk is identified by its name: a real server refuses results for a name that a split or a retry has replaced."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from support.backups import Backup
from support.cases import results_by_id, true_false_cases, write_cases
from support.chunks import (
    DAY,
    FAILURE,
    a_batch,
    assert_counts_sum,
    claimed,
    filled,
    graded,
    recorded,
)
from support.grading import grade_open_chunks
from support.servers import TcpServer
from weighbridge.jobs.batch_state import BatchStatus
from weighbridge.settings import Settings
from weighbridge_producer.client.redis_client import RedisClient
from weighbridge_producer.input.source import Source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from weighbridge.jobs.chunk import ChunkId
    from weighbridge.store import ClaimResult, Store

    Do = Callable[[Store, ClaimResult, str], object]


@pytest.fixture
def durable(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TcpServer]:
    """A server whose files have all that it has acknowledged."""
    with TcpServer(tmp_path_factory.mktemp("durable"), appendfsync="always") as server:
        yield server


@pytest.mark.parametrize(("before", "after"), [(60, 30), (30, 60), (40, 39)])
def test_a_chunk_cut_anew_after_a_rollback_refuses_the_results_of_the_old_cut(
    durable: TcpServer, tmp_path: Path, before: int, after: int
) -> None:
    cases = write_cases(tmp_path / "cases.jsonl", true_false_cases(700))
    with RedisClient(durable.url, settings=Settings(chunk_limit_jobs=before)) as client:
        store = client.store
        batch = client.open("cases", ())

        def feed(chunks: int) -> None:
            batch.feed(
                Source(cases, client.settings),
                should_stop=lambda: store.position(batch.id).chunks >= chunks,
            )

        feed(1)
        backup = Backup(durable)
        feed(3)
        old = [claimed(store, client.settings.queue, f"old/{number}") for number in range(3)]
        results = [graded(store, batch.id, claim.chunk) for claim in old]
        backup.restore()
    with RedisClient(durable.url, settings=Settings(chunk_limit_jobs=after)) as client:
        store = client.store
        assert store.position(batch.id).chunks == 1
        client.submit(cases, resume=batch.id)
        assert store.record(batch.id, old[0].chunk, *results[0]) == "new"  # it was not lost
        for claim, result in zip(old[1:], results[1:], strict=True):
            assert claim.chunk not in store.open_chunks(batch.id)
            assert not store.renew(batch.id, str(claim.chunk), claim.token, 60)
            assert not store.release(batch.id, str(claim.chunk), claim.token)
            assert store.record(batch.id, claim.chunk, *result) == "late"
            assert_counts_sum(store, batch.id)
        grade_open_chunks(store, batch.id)
        batch = client.batch(batch.id)
        assert batch.status().status == BatchStatus.COMPLETED
        assert sorted(results_by_id(batch)) == sorted(f"c{number}" for number in range(700))


def test_a_chunk_of_the_same_lines_is_the_same_after_a_rollback(
    durable: TcpServer, tmp_path: Path
) -> None:
    """Results graded before the rollback count, because the chunk's lines have not changed."""
    cases = write_cases(tmp_path / "cases.jsonl", true_false_cases(100))
    with RedisClient(durable.url, settings=Settings(chunk_limit_jobs=10)) as client:
        store, batch = client.store, client.open("cases", ())
        backup = Backup(durable)
        client.submit(cases, resume=batch.id)
        old = claimed(store, client.settings.queue)
        result = graded(store, batch.id, old.chunk)
        backup.restore()
        client.submit(cases, resume=batch.id)
        assert store.record(batch.id, old.chunk, *result) == "new"
        grade_open_chunks(store, batch.id)
        assert len(results_by_id(batch)) == 100


def test_results_of_before_a_retry_are_late_after_it(store: Store, batch: str) -> None:
    chunks = filled(store, batch, [2, 3])
    results = [graded(store, batch, chunk) for chunk in chunks]
    for chunk, result in zip(chunks, results, strict=True):
        assert store.record(batch, chunk, *result) == "new"
    assert store.reopen(batch, chunks[0], 1, DAY)
    before = store.state(batch)
    assert store.record(batch, chunks[0], *results[0]) == "late"
    assert store.state(batch) == before
    assert_counts_sum(store, batch)
    again = chunks[0].of_epoch(1)
    assert store.open_chunks(batch) == [again]
    assert recorded(store, batch, again) == "new"
    assert store.reopen(batch, again, 2, DAY)
    assert recorded(store, batch, again) == "late"
    assert recorded(store, batch, again.of_epoch(2)) == "new"
    assert store.state(batch).counts.passed == 5
    assert_counts_sum(store, batch)


def test_results_of_a_whole_that_was_split_are_late(store: Store, batch: str, queue: str) -> None:
    [chunk] = filled(store, batch, [5])
    result = graded(store, batch, chunk)
    token = claimed(store, queue).token
    parts = [(chunk.part(1, 3), 2), (chunk.part(3, 4), 1), (chunk.part(4, 6), 2)]
    assert store.split(batch, chunk, token, parts, str(parts[1][0]), FAILURE)
    assert store.record(batch, chunk, *result) == "late"
    assert store.state(batch).counts.pending == store.state(batch).counts.total == 5
    assert_counts_sum(store, batch)
    # The whole chunk cannot be claimed any more.
    found = [claimed(store, queue, f"w/{number}").chunk for number in range(3)]
    assert found == [part for part, _ in parts]
    assert store.claim_next(queue, "w/9", 60) is None
    for part in found:
        assert recorded(store, batch, part) == "new"
    assert_counts_sum(store, batch)
    assert store.state(batch).status == BatchStatus.COMPLETED


def test_a_part_of_a_part_that_was_split_is_the_only_one_that_counts(
    store: Store, batch: str, queue: str
) -> None:
    [chunk] = filled(store, batch, [4])
    halves = [(chunk.part(1, 3), 2), (chunk.part(3, 5), 2)]
    assert store.split(batch, chunk, claimed(store, queue).token, halves, "", FAILURE)
    first = claimed(store, queue)
    assert first.chunk == halves[0][0]
    late = graded(store, batch, first.chunk)
    lines = [(chunk.part(1, 2), 1), (chunk.part(2, 3), 1)]
    assert store.split(batch, first.chunk, first.token, lines, str(lines[0][0]), FAILURE)
    assert store.record(batch, first.chunk, *late) == "late"
    for part in (*(part for part, _ in lines), halves[1][0]):
        assert recorded(store, batch, part) == "new"
    assert store.state(batch).counts.passed == store.state(batch).counts.total == 4
    assert_counts_sum(store, batch)


@pytest.mark.parametrize("which", ["an earlier line", "a later line", "another digest", "a part"])
def test_a_name_that_is_not_open_is_refused(store: Store, batch: str, which: str) -> None:
    chunks = filled(store, batch, [5, 5])
    results = graded(store, batch, chunks[1])
    other = other_name(chunks[1], which)
    before = store.state(batch)
    assert store.record(batch, other, *results) == "late"
    assert store.info(batch, other) is None
    assert not store.renew(batch, str(other), "", 60)
    assert not store.release(batch, str(other), "")
    assert not store.set_aside(batch, str(other), "", "", "")
    assert store.count_failure(batch, other, "", FAILURE) == 0
    assert not store.split(batch, other, "", [(other.part(6, 7), 1)], "", FAILURE)
    assert not store.reopen(batch, other, 1, DAY)
    assert store.state(batch) == before
    assert store.open_chunks(batch) == chunks


def other_name(chunk: ChunkId, which: str) -> ChunkId:
    from dataclasses import replace

    match which:
        case "an earlier line":
            return replace(chunk, start=chunk.start - 1)
        case "a later line":
            return replace(chunk, end=chunk.end + 1)
        case "another digest":
            return replace(chunk, digest="0" * 16)
        case _:
            return chunk.part(chunk.start, chunk.end)


STEPS: dict[str, Do] = {
    "renew": lambda store, claim, token: store.renew(claim.batch, str(claim.chunk), token, 60),
    "release": lambda store, claim, token: store.release(claim.batch, str(claim.chunk), token),
    "a suspicion": lambda store, claim, token: store.release(
        claim.batch, str(claim.chunk), token, suspect=True, pause_seconds=1
    ),
    "set aside": lambda store, claim, token: store.set_aside(
        claim.batch, str(claim.chunk), token, "", "grader:other@0"
    ),
    "split": lambda store, claim, token: store.split(
        claim.batch, claim.chunk, token, [(claim.chunk.part(1, 2), 1)], "", FAILURE
    ),
    "count failure": lambda store, claim, token: store.count_failure(
        claim.batch, claim.chunk, token, FAILURE
    ),
}


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("token", ["w/2", "", "w/1 "])
def test_only_the_execution_that_holds_a_chunk_may_change_it(
    store: Store, batch: str, queue: str, step: str, token: str
) -> None:
    [chunk] = filled(store, batch, [3])
    claim = claimed(store, queue, "w/1")
    before = store.state(batch), store.info(batch, chunk), store.held(batch).chunks
    assert not STEPS[step](store, claim, token)
    assert (store.state(batch), store.info(batch, chunk), store.held(batch).chunks) == before
    assert STEPS[step](store, claim, "w/1")


@pytest.mark.parametrize("step", STEPS)
def test_an_execution_that_lost_its_lease_may_not_change_the_chunk_of_the_next(
    store: Store, queue: str, step: str
) -> None:
    batch = a_batch(store, queue)
    [chunk] = filled(store, batch, [3])
    first = claimed(store, queue, "w/1")
    assert store.release(batch, str(chunk), "w/1")
    assert claimed(store, queue, "w/2").chunk == chunk
    assert not STEPS[step](store, first, "w/1")
    assert store.renew(batch, str(chunk), "w/2", 60)
    # Results are recorded even without the lease, because they are the same.
    assert recorded(store, batch, chunk) == "new"
