"""Retrying: errors get another try, and nothing that was finished is lost to whatever comes between."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from support.cases import assert_counts_agree, write_cases
from support.chunks import FAILURE, a_chunk, a_line, claimed, graded, keys_of
from support.grading import grade_open_chunks
from weighbridge.batch_closing import finish_open_chunks
from weighbridge.errors import BatchClosedError, ChunkConflictError, WeighbridgeError
from weighbridge.jobs.batch_state import BatchStatus
from weighbridge.settings import Settings
from weighbridge.store.key_names import DUE
from weighbridge_producer.client.redis_client import RedisClient
from weighbridge_producer.input.source import Source

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from weighbridge.embedded.server import EmbeddedServer
    from weighbridge.store import Store
    from weighbridge_producer import Batch
    from weighbridge_producer.client.redis_batch import RedisBatch

DAY = 24 * 3600


@pytest.fixture
def lone_client(own_server: EmbeddedServer) -> Iterator[RedisClient]:
    """A client on a server without workers, so that a test decides what happens next."""
    with RedisClient(own_server.url, settings=Settings(chunk_limit_jobs=10)) as client:
        yield client


def case(number: int, grader: str = "true-false") -> dict[str, object]:
    inputs = {"agent_response": "yes", "expected_output": "true"}
    return {"custom_id": f"c{number}", "grader": grader, "inputs": inputs}


def nine_good_and_one_unknown() -> list[dict[str, object]]:
    return [*(case(number) for number in range(9)), case(9, "not-installed")]


def grade_all(store: Store, batch: Batch) -> None:
    grade_open_chunks(store, batch.id)


def fields(store: Store, batch: Batch) -> list[bytes]:
    """Return all field names in a batch's hash of chunks."""
    names: list[bytes] = store.redis.hkeys(f"wb:{{{batch.id}}}:chunks")
    return names


def outcome(batch: Batch) -> tuple[int, int, int]:
    """Return passed, errored and cancelled, after comparing the counts with the results."""
    state = batch.status()
    assert_counts_agree(state, batch.results(follow=False))
    return state.counts.passed, state.counts.errored, state.counts.cancelled


def test_a_retry_that_is_cancelled_gives_finished_work_back(lone_client: RedisClient) -> None:
    batch = lone_client.submit(nine_good_and_one_unknown())
    grade_all(lone_client.store, batch)
    assert outcome(batch) == (9, 1, 0)
    before = list(batch.results(follow=False))
    assert batch.retry() == 1
    assert batch.status().counts.pending == 10
    assert batch.cancel().status == BatchStatus.COMPLETED
    assert outcome(batch) == (9, 1, 0)
    assert list(batch.results(follow=False)) == before


def test_a_retry_that_is_cancelled_gives_finished_work_back_to_the_rest_of_a_chunk(
    lone_client: RedisClient,
) -> None:
    """A worker records what is done of a chunk with a slow job, and opens the rest in parts."""
    store = lone_client.store
    batch = lone_client.submit(nine_good_and_one_unknown())
    grade_all(store, batch)
    before = list(batch.results(follow=False))
    batch.retry()
    [chunk] = store.open_chunks(batch.id)
    done, *rest = chunk.part(1, 3), (chunk.part(3, 7), 4), (chunk.part(7, 11), 4)
    store.record(batch.id, chunk, *graded(store, batch.id, done), rest)
    assert batch.cancel().status == BatchStatus.COMPLETED
    assert outcome(batch) == (9, 1, 0)
    after = sorted(batch.results(follow=False), key=lambda result: result["line"])
    assert after == before
    assert not [name for name in fields(store, batch) if name.startswith(b"prior")]


def test_a_retry_that_is_cancelled_gives_finished_work_back_to_the_parts_of_a_chunk_that_killed_a_child(
    lone_client: RedisClient,
) -> None:
    store = lone_client.store
    batch = lone_client.submit(nine_good_and_one_unknown())
    grade_all(store, batch)
    batch.retry()
    claim = claimed(store, batch.options().queue)
    parts = [(claim.chunk.part(1, 10), 9), (suspect := claim.chunk.part(10, 11), 1)]
    assert store.split(batch.id, claim.chunk, claim.token, parts, str(suspect), FAILURE)
    again = claimed(store, batch.options().queue)
    halves = [(again.chunk.part(1, 6), 5), (again.chunk.part(6, 10), 4)]
    assert store.split(batch.id, again.chunk, again.token, halves, "", FAILURE)
    assert batch.cancel().status == BatchStatus.COMPLETED
    assert outcome(batch) == (9, 1, 0)
    assert not [name for name in fields(store, batch) if name.startswith(b"prior")]


def test_parts_whose_earlier_results_are_damaged_are_cancelled(lone_client: RedisClient) -> None:
    store = lone_client.store
    batch = lone_client.submit(nine_good_and_one_unknown())
    grade_all(store, batch)
    batch.retry()
    [chunk] = store.open_chunks(batch.id)
    done, rest = chunk.part(1, 3), chunk.part(3, 11)
    store.record(batch.id, chunk, *graded(store, batch.id, done), [(rest, 8)])
    store.redis.hset(f"wb:{{{batch.id}}}:chunks", f"prior {chunk} results", b"rubbish")
    assert batch.cancel().status == BatchStatus.CANCELLED
    assert outcome(batch) == (2, 0, 8)


def test_two_retries_at_the_same_time_give_each_result_once(
    lone_client: RedisClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = lone_client.store
    batch = lone_client.submit(nine_good_and_one_unknown())
    grade_all(store, batch)
    read, others = store.records, [lone_client.batch(batch.id)]

    def records_after_another_retry(batch_id: str) -> object:
        while others:
            others.pop().retry()
            grade_all(store, batch)
        return read(batch_id)

    with monkeypatch.context() as patched:
        patched.setattr(store, "records", records_after_another_retry)
        batch.retry()
    grade_all(store, batch)
    assert outcome(batch) == (9, 1, 0)
    assert len(batch.result("c1")) == 1


def test_a_retry_does_not_open_what_a_later_one_has_graded_again(lone_client: RedisClient) -> None:
    store = lone_client.store
    batch = lone_client.submit(nine_good_and_one_unknown())
    grade_all(store, batch)
    for _ in range(2):
        batch.retry()
        grade_all(store, batch)
    [chunk] = [chunk for chunk, _ in store.records(batch.id)]
    assert chunk.epoch == 2
    assert not store.reopen(batch.id, chunk, 1, DAY)
    assert batch.status().epoch == 2
    assert outcome(batch) == (9, 1, 0)


def test_a_retry_that_succeeds_replaces_what_was_there(lone_client: RedisClient) -> None:
    batch = lone_client.submit(nine_good_and_one_unknown())
    batch.cancel()
    assert outcome(batch) == (0, 0, 10)
    assert batch.retry() == 10
    grade_all(lone_client.store, batch)
    assert batch.status().status == BatchStatus.COMPLETED
    assert outcome(batch) == (9, 1, 0)
    assert not [name for name in fields(lone_client.store, batch) if name.startswith(b"prior")]


def test_a_cancel_in_the_middle_of_a_retry_stands(lone_client: RedisClient) -> None:
    store = lone_client.store
    batch = lone_client.submit(case(number) for number in range(20))
    assert batch.status().chunks == 2
    batch.cancel()
    first, second = [chunk for chunk, _ in store.records(batch.id)]
    assert store.reopen(batch.id, first, 1, DAY)
    store.close_batch(batch.id, BatchStatus.CANCELLED)
    with pytest.raises(BatchClosedError, match="while it was retried"):
        store.reopen(batch.id, second, 1, DAY)
    while finish_open_chunks(store, batch.id, BatchStatus.CANCELLED):
        continue
    assert batch.status().status == BatchStatus.CANCELLED
    assert outcome(batch) == (0, 0, 20)


def test_a_cancel_in_the_middle_of_a_retry_stands_although_all_jobs_have_their_results_back(
    lone_client: RedisClient,
) -> None:
    store = lone_client.store
    batch = lone_client.submit(case(number, "not-installed") for number in range(20))
    grade_all(store, batch)
    first, second = [chunk for chunk, _ in store.records(batch.id)]
    assert store.reopen(batch.id, first, 1, DAY)
    assert batch.cancel().status == BatchStatus.COMPLETED
    with pytest.raises(BatchClosedError, match="while it was retried"):
        store.reopen(batch.id, second, 1, DAY)
    assert (batch.status().status, outcome(batch)) == (BatchStatus.COMPLETED, (0, 20, 0))
    assert batch.retry() == 20


def test_whoever_still_closes_a_batch_leaves_what_a_retry_has_opened(
    lone_client: RedisClient,
) -> None:
    """The sweeper and the one who cancels close the same chunks, and one of them is done first."""
    store = lone_client.store
    batch = lone_client.submit(case(number) for number in range(20))
    batch.cancel()
    assert batch.retry() == 20
    assert not finish_open_chunks(store, batch.id, BatchStatus.CANCELLED)
    [first, second] = store.open_chunks(batch.id)
    store.restore(batch.id, first, closing=BatchStatus.CANCELLED)
    results, tally = graded(store, batch.id, second)
    late = store.record(batch.id, second, results, tally, closing=BatchStatus.CANCELLED)
    assert (late, batch.status().counts.pending) == ("late", 20)
    grade_all(store, batch)
    assert (batch.status().status, outcome(batch)) == (BatchStatus.COMPLETED, (20, 0, 0))


def test_a_chunk_whose_lines_are_freed_is_not_retried(lone_client: RedisClient) -> None:
    batch = lone_client.submit(nine_good_and_one_unknown())
    grade_all(lone_client.store, batch)
    batch.free([str(chunk) for chunk, _ in lone_client.store.records(batch.id)])
    assert batch.retry() == 0
    assert batch.status().status == BatchStatus.COMPLETED


def test_a_deleted_batch_is_not_retried_back_into_being(lone_client: RedisClient) -> None:
    batch = lone_client.submit(nine_good_and_one_unknown())
    grade_all(lone_client.store, batch)
    [chunk] = [chunk for chunk, _ in lone_client.store.records(batch.id)]
    batch.delete()
    assert not lone_client.store.reopen(batch.id, chunk, 1, DAY)
    assert keys_of(lone_client.store, batch.id) == {"deleted"}
    assert batch.id not in lone_client.store.active_batches()


def test_a_retried_batch_is_swept_although_it_was_just_retired(lone_client: RedisClient) -> None:
    store = lone_client.store
    batch = lone_client.submit(nine_good_and_one_unknown())
    grade_all(store, batch)
    batch.retry()
    store.retire(batch.id)
    assert batch.id in store.active_batches()


def test_a_batch_that_is_retried_while_the_ended_ones_are_retired_stays_active(
    lone_client: RedisClient,
) -> None:
    store = lone_client.store
    ended, retried = (lone_client.submit(nine_good_and_one_unknown()) for _ in range(2))
    running = lone_client.submit(nine_good_and_one_unknown())
    for batch in (ended, retried):
        grade_all(store, batch)
    ended_among = store._ended_among

    def retried_after_the_first_look(batches: Sequence[str]) -> list[str]:
        found = ended_among(batches)
        store._ended_among = ended_among  # type: ignore[method-assign]
        retried.retry()
        return found

    store._ended_among = retried_after_the_first_look  # type: ignore[method-assign]
    lost = "wb_0_0_0"
    due = [running.id, ended.id, lost, retried.id]
    assert store.retire_ended(due) == [running.id, lost]
    assert set(store.active_batches()) == {running.id, retried.id}
    assert set(store.due_batches(store.now() + DAY, 10)) >= {retried.id}
    assert store.retire_ended([]) == []


def test_a_batch_that_is_damaged_while_the_ended_ones_are_retired_does_not_keep_the_others(
    lone_client: RedisClient,
) -> None:
    store = lone_client.store
    damaged, retried, ended = (lone_client.submit(nine_good_and_one_unknown()) for _ in range(3))
    for batch in (damaged, retried, ended):
        grade_all(store, batch)
    ended_among = store._ended_among

    def damaged_after_the_first_look(batches: Sequence[str]) -> list[str]:
        found = ended_among(batches)
        retried.retry()
        store.redis.set(f"wb:{{{damaged.id}}}:meta", "rubbish")
        return found

    store._ended_among = damaged_after_the_first_look  # type: ignore[method-assign]
    assert store.retire_ended([damaged.id, retried.id, ended.id]) == [damaged.id]
    assert set(store.active_batches()) == {damaged.id, retried.id}


def test_a_removal_that_the_server_refuses_retires_no_batch(lone_client: RedisClient) -> None:
    store = lone_client.store
    batch = lone_client.submit(nine_good_and_one_unknown())
    grade_all(store, batch)
    store.redis.set(DUE, "rubbish")
    with pytest.raises(WeighbridgeError):
        store.retire_ended([batch.id])


@pytest.mark.parametrize("payload", [None, b"rubbish"])
def test_lines_that_the_server_lost_are_errored_and_hold_nothing_up(
    lone_client: RedisClient, payload: bytes | None
) -> None:
    store = lone_client.store
    batch = lone_client.submit(case(number) for number in range(20))
    key = f"wb:{{{batch.id}}}:chunks"
    if payload is None:
        assert store.redis.hdel(key, "0 lines") == 1
    else:
        store.redis.hset(key, "0 lines", payload)
    grade_all(store, batch)
    assert outcome(batch) == (10, 10, 0)
    codes = {(row["error"] or {}).get("code") for row in batch.results(follow=False)}
    assert codes == {None, "INPUT_LOST"}


def test_a_batch_whose_lines_are_lost_can_be_cancelled(lone_client: RedisClient) -> None:
    batch = lone_client.submit(case(number) for number in range(20))
    assert lone_client.store.redis.hdel(f"wb:{{{batch.id}}}:chunks", "1 lines") == 1
    assert batch.cancel().status == BatchStatus.CANCELLED
    assert outcome(batch) == (0, 0, 20)


class TestWhatWasGivenUp:
    """A batch that ended as failed, because the rest of its input will never come."""

    @pytest.fixture
    def batch(self, lone_client: RedisClient, tmp_path: Path) -> RedisBatch:
        """Return a batch that has 20 of 100 lines, given up and retried."""
        write_cases(tmp_path / "cases.jsonl", (case(number) for number in range(100)))
        batch = lone_client.open("cases", ())
        source = Source(tmp_path / "cases.jsonl", lone_client.settings)
        batch.feed(source, should_stop=lambda: batch.status().chunks == 2)
        assert batch.give_up("").reason == ""
        assert batch.retry() == 20
        return batch

    def test_it_takes_no_more_chunks(self, lone_client: RedisClient, batch: RedisBatch) -> None:
        position = lone_client.store.position(batch.id)
        chunk = a_chunk(batch.id, position.chunks, [a_line("more")], 21, position.prefix)
        with pytest.raises(BatchClosedError, match="ended as failed"):
            lone_client.store.submit_chunk(batch.id, chunk)
        with pytest.raises(BatchClosedError, match="ended as failed"):
            lone_client.store.seal(batch.id, position.chunks, position.prefix)

    def test_a_cancel_of_the_retry_stands_until_the_next_one(
        self, lone_client: RedisClient, batch: RedisBatch
    ) -> None:
        assert batch.cancel().status == BatchStatus.CANCELLED
        assert batch.retry() == 20
        assert batch.status().fails_again
        grade_all(lone_client.store, batch)
        state = batch.status()
        assert (state.status, state.reason) == (BatchStatus.FAILED, "its input broke off")

    def test_if_all_of_it_had_arrived_a_retry_completes_it(self, lone_client: RedisClient) -> None:
        whole = lone_client.submit(case(number) for number in range(20))
        assert whole.give_up("the service stopped").status == BatchStatus.FAILED
        assert whole.retry() == 20
        assert whole.status().reason == ""
        grade_all(lone_client.store, whole)
        assert whole.status().status == BatchStatus.COMPLETED


class TestResumingWhatWasCancelled:
    """A batch that was cancelled before all of its input had arrived."""

    @pytest.fixture
    def half(self, lone_client: RedisClient, tmp_path: Path) -> Batch:
        """Return a batch that has 20 of 100 lines, cancelled and retried."""
        write_cases(tmp_path / "cases.jsonl", (case(number) for number in range(100)))
        batch = lone_client.open("cases", ())
        source = Source(tmp_path / "cases.jsonl", lone_client.settings)
        batch.feed(source, should_stop=lambda: batch.status().chunks == 2)
        batch.cancel()
        assert batch.retry() == 20
        return batch

    def test_it_waits_for_the_rest(
        self, lone_client: RedisClient, half: Batch, tmp_path: Path
    ) -> None:
        grade_all(lone_client.store, half)
        assert half.status().status == BatchStatus.IN_PROGRESS
        lone_client.submit(tmp_path / "cases.jsonl", resume=half.id)
        grade_all(lone_client.store, half)
        assert half.status().status == BatchStatus.COMPLETED
        assert outcome(half) == (100, 0, 0)

    def test_another_input_is_refused_even_when_all_had_arrived(
        self, lone_client: RedisClient, half: Batch, tmp_path: Path
    ) -> None:
        lone_client.submit(tmp_path / "cases.jsonl", resume=half.id)
        write_cases(tmp_path / "longer.jsonl", (case(number) for number in range(101)))
        write_cases(tmp_path / "other.jsonl", (case(number) for number in range(1, 101)))
        for name in ("longer.jsonl", "other.jsonl"):
            with pytest.raises(ChunkConflictError, match="is not what batch"):
                lone_client.submit(tmp_path / name, resume=half.id)
        lone_client.submit(tmp_path / "cases.jsonl", resume=half.id)
        assert half.status().counts.total == 100
