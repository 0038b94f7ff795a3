"""Recording on a real server: the first results of a chunk are counted once, and later ones are ignored."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from support.chunks import (
    DAY,
    FAILURE,
    assert_counts_sum,
    claimed,
    filled,
    graded,
    keys_of,
    recorded,
)
from weighbridge.batch_closing import finish_open_chunks
from weighbridge.grading.tally import Tally
from weighbridge.jobs.batch_state import BatchStatus
from weighbridge.jobs.outcome import VACUOUS, Outcome
from weighbridge.store.key_names import key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge.jobs.chunk import ChunkId
    from weighbridge.store import Store


def test_results_recorded_twice_count_once(store: Store, batch: str) -> None:
    [chunk] = filled(store, batch, [3])
    results, tally = graded(store, batch, chunk)
    assert store.record(batch, chunk, results, tally) == "new"
    before = store.state(batch), store.summary(batch)
    assert store.record(batch, chunk, results, tally) == "recorded"
    assert (store.state(batch), store.summary(batch)) == before
    assert before[0].status == BatchStatus.COMPLETED
    assert before[0].counts.passed == before[0].counts.total == 3
    assert [entry.chunk for entry in store.read_log(batch, "", 0)] == [str(chunk), None]
    assert_counts_sum(store, batch)


def test_other_results_of_the_same_graders_are_counted_as_nondeterministic(
    store: Store, batch: str
) -> None:
    [chunk] = filled(store, batch, [3])
    results, tally = graded(store, batch, chunk)
    store.record(batch, chunk, results, tally)
    counts = store.state(batch).counts
    assert store.record(batch, chunk, b"other", tally) == "late"
    assert store.state(batch).nondeterministic == 1
    # A newer grader may well judge otherwise.
    newer = replace(tally, versions_used={"true-false=999"})
    assert store.record(batch, chunk, b"other", newer) == "late"
    assert store.state(batch).nondeterministic == 1
    assert store.state(batch).counts == counts
    assert list(store.results(batch, [str(chunk)])) == [results]


@pytest.mark.parametrize("outcome", [Outcome.ERRORED, Outcome.CANCELLED, Outcome.EXPIRED])
@pytest.mark.parametrize("which", ["first", "second"])
def test_results_with_a_job_that_no_grader_judged_say_nothing_about_determinism(
    store: Store, batch: str, outcome: Outcome, which: str
) -> None:
    [chunk] = filled(store, batch, [3])
    results, judged = graded(store, batch, chunk)
    other = Tally(versions_used=judged.versions_used)
    for _ in range(3):
        other.count(None, None, outcome)
    order = [(b"other", other), (results, judged)]
    if which == "second":
        order.reverse()
    assert [store.record(batch, chunk, *given) for given in order] == ["new", "late"]
    assert store.state(batch).nondeterministic == 0


def test_a_batch_whose_last_chunk_is_recorded_is_looked_at_at_once(
    store: Store, batch: str
) -> None:
    [chunk] = filled(store, batch, [1])
    assert batch not in store.due_batches(store.now() + 3600, 10_000)
    recorded(store, batch, chunk)
    assert batch in store.due_batches(store.now(), 10_000)


def test_new_results_of_a_reopened_chunk_take_the_place_of_its_previous_ones(
    store: Store, batch: str
) -> None:
    [chunk] = filled(store, batch, [1])
    recorded(store, batch, chunk)
    store.reopen(batch, chunk, 1, DAY)
    recorded(store, batch, chunk.of_epoch(1))
    fields = store.redis.hkeys(key(batch, "chunks"))
    assert [field for field in fields if field.startswith(b"prior ")] == []
    assert [field for field in fields if field.endswith(b" results")] == [
        f"{chunk.of_epoch(1)} results".encode()
    ]


def test_each_entry_of_the_log_names_the_one_before_it_and_the_epoch(
    store: Store, batch: str
) -> None:
    chunks = filled(store, batch, [1, 1])
    for chunk in chunks:
        recorded(store, batch, chunk)
    store.reopen(batch, chunks[0], 1, DAY)
    recorded(store, batch, chunks[0].of_epoch(1))
    log = store.read_log(batch, "", 0)
    assert [entry.after for entry in log] == ["", *(entry.position for entry in log[:-1])]
    assert [entry.epoch for entry in log] == [0, 0, 0, 1, 1]


def test_a_cancelled_batch_of_which_not_all_had_arrived_is_cancelled_although_all_is_graded(
    store: Store, batch: str
) -> None:
    [chunk] = filled(store, batch, [3], seal=False)
    recorded(store, batch, chunk)
    assert store.state(batch).status == BatchStatus.IN_PROGRESS
    store.close_batch(batch, BatchStatus.CANCELLED, "somebody asked")
    state = store.state(batch)
    assert (state.status, state.reason) == (BatchStatus.CANCELLED, "somebody asked")
    assert state.ended_at


def test_a_batch_closed_before_it_was_sealed_ends_with_its_last_chunk(
    store: Store, batch: str
) -> None:
    [chunk] = filled(store, batch, [3], seal=False)
    store.close_batch(batch, BatchStatus.CANCELLED)
    assert recorded(store, batch, chunk) == "new"
    assert store.state(batch).status == BatchStatus.CANCELLED


def test_a_batch_that_is_closed_is_looked_at_at_once_and_the_first_to_close_it_decides(
    store: Store, batch: str, queue: str
) -> None:
    filled(store, batch, [3])
    claimed(store, queue)
    assert batch not in store.due_batches(store.now() + 5, 10_000)
    assert store.close_batch(batch, BatchStatus.CANCELLED, "somebody asked")
    assert batch in store.due_batches(store.now(), 10_000)
    assert store.close_batch(batch, BatchStatus.EXPIRED, "it took too long")
    state = store.state(batch)
    assert (state.status, state.closing) == (BatchStatus.CANCELLING, BatchStatus.CANCELLED)
    assert state.reason == "somebody asked"


def test_a_batch_that_has_ended_cannot_be_closed(store: Store, batch: str) -> None:
    [chunk] = filled(store, batch, [3])
    recorded(store, batch, chunk)
    before = store.state(batch)
    assert not store.close_batch(batch, BatchStatus.CANCELLED)
    assert store.state(batch) == before


def test_an_empty_batch_that_is_cancelled_has_ended(store: Store, batch: str) -> None:
    store.close_batch(batch, BatchStatus.CANCELLED)
    assert store.state(batch).status == BatchStatus.CANCELLED
    assert store.state(batch).ended_at


def test_freeing_drops_what_is_recorded_and_keeps_the_lines_of_what_is_to_be_graded(
    store: Store, batch: str
) -> None:
    # A server that came back with an older state has chunks open that were collected before.
    done, again = filled(store, batch, [3, 2])
    recorded(store, batch, done)
    store.free(batch, [str(done), str(again)])
    assert list(store.results(batch, [str(done)])) == [None]
    assert not store.redis.hexists(key(batch, "chunks"), f"{done.number} lines")
    assert recorded(store, batch, again) == "new"
    assert store.state(batch).counts.passed == 5


def test_a_chunk_whose_lines_are_lost_keeps_its_results(store: Store, batch: str) -> None:
    [chunk] = filled(store, batch, [2])
    recorded(store, batch, chunk)
    store.redis.hdel(key(batch, "chunks"), f"{chunk.number} lines")
    assert not store.reopen(batch, chunk, 1, DAY)
    assert store.state(batch).counts.passed == 2


def test_a_retry_whose_client_dies_at_once_expires_all_the_same(store: Store, batch: str) -> None:
    [chunk] = filled(store, batch, [2])
    recorded(store, batch, chunk)
    store.retire(batch)
    expires_ms = int((store.now() + 60) * 1000)
    assert store._run("reopen", batch, str(chunk), str(chunk.of_epoch(1)), 1, expires_ms) == 1
    assert batch not in store.due_batches(store.now() + 55, 10_000)
    assert batch in store.due_batches(store.now() + 61, 10_000)


def test_a_server_whose_log_lacks_an_entry_is_behind_and_one_that_opened_its_chunk_again_is_not(
    store: Store, batch: str
) -> None:
    [chunk] = filled(store, batch, [1])
    recorded(store, batch, chunk)
    entry = store.read_log(batch, "", 0)[0]
    # It is asked where the results were not there: now they are.
    assert store.is_behind(batch, entry)
    assert store.is_behind(batch, replace(entry, position="9999999999999-0"))
    store.reopen(batch, chunk, 1, DAY)
    assert not store.is_behind(batch, entry)
    assert store.is_behind(batch, replace(entry, position="9999999999999-0"))


def test_freeing_a_part_keeps_the_lines_that_the_rest_of_its_chunk_is_graded_from(
    store: Store, batch: str
) -> None:
    [chunk] = filled(store, batch, [5])
    part, rest = chunk.part(1, 3), chunk.part(3, 6)
    store.record(batch, chunk, *graded(store, batch, part), [(rest, 3)])
    store.free(batch, [str(part)])
    assert list(store.results(batch, [str(part)])) == [None]
    assert recorded(store, batch, rest) == "new"
    assert store.state(batch).counts.passed == 5


def test_a_part_whose_results_were_freed_is_not_opened_again(store: Store, batch: str) -> None:
    [chunk] = filled(store, batch, [5])
    part, rest = chunk.part(1, 3), chunk.part(3, 6)
    store.record(batch, chunk, *graded(store, batch, part), [(rest, 3)])
    store.free(batch, [str(part)])
    assert not store.reopen(batch, part, 1, DAY)
    assert store.open_chunks(batch) == [rest]
    assert store.state(batch).counts.passed == 2


def test_a_chunk_that_a_rollback_opened_again_is_neither_finished_nor_freed(
    store: Store, batch: str
) -> None:
    """A client that has read the older log requests the chunk's results again."""
    done, again = filled(store, batch, [3, 2])
    recorded(store, batch, done)
    store.redis.xadd(key(batch, "log"), {"chunk": str(again), "after": "", "epoch": 0})
    both = [str(done), str(again)]
    assert store.freed(batch, both) == []
    assert store.finished(batch, both) == [str(done)]
    assert [chunk for chunk, _ in store.records(batch)] == [done]
    store.free(batch, both)
    assert store.freed(batch, both) == [str(done)]


def test_the_chunks_whose_results_were_freed_are_named(store: Store, batch: str) -> None:
    chunks = filled(store, batch, [1] * 4)
    for chunk in chunks:
        recorded(store, batch, chunk)
    names = list(map(str, chunks))
    store.free(batch, names[1::2])
    assert store.freed(batch, names) == names[1::2]


def test_results_that_come_after_the_cancellation_are_late(store: Store, batch: str) -> None:
    [chunk] = filled(store, batch, [3])
    results, tally = graded(store, batch, chunk)
    store.close_batch(batch, BatchStatus.CANCELLED)
    finish_open_chunks(store, batch, BatchStatus.CANCELLED)
    finish_open_chunks(store, batch, BatchStatus.CANCELLED)
    before = store.state(batch)
    assert store.record(batch, chunk, results, tally) == "late"
    assert store.state(batch) == before
    assert before.counts.cancelled == before.counts.total == 3
    assert (before.status, before.nondeterministic) == (BatchStatus.CANCELLED, 0)


def test_a_batch_whose_last_chunk_was_graded_before_it_could_be_cancelled_is_completed(
    store: Store, batch: str
) -> None:
    [chunk] = filled(store, batch, [3])
    results, tally = graded(store, batch, chunk)
    store.close_batch(batch, BatchStatus.CANCELLED, "somebody asked")
    assert store.state(batch).status == BatchStatus.CANCELLING
    assert store.record(batch, chunk, results, tally) == "new"
    finish_open_chunks(store, batch, BatchStatus.CANCELLED)
    state = store.state(batch)
    assert (state.status, state.closing, state.reason) == (BatchStatus.COMPLETED, None, "")
    assert state.counts.graded == state.counts.total == 3


def test_what_comes_after_the_deletion_leaves_nothing_behind(
    store: Store, batch: str, queue: str
) -> None:
    [chunk] = filled(store, batch, [3])
    name, token = str(chunk), claimed(store, queue).token
    results, tally = graded(store, batch, chunk)
    store.delete(batch)
    assert store.record(batch, chunk, results, tally) == "late"
    assert not store.release(batch, name, token)
    assert not store.release(batch, name, "")
    assert not store.renew(batch, name, token, 60)
    assert not store.set_aside(batch, name, token, queue, "grader:other@0")
    assert not store.split(batch, chunk, token, [(chunk.part(1, 2), 1)], "", FAILURE)
    assert store.count_failure(batch, chunk, token, FAILURE) == 0
    store.reschedule_check(batch)
    assert not store.reopen(batch, chunk, 1, DAY)
    assert store.claim_next(queue, "w/2", 60) is None
    assert keys_of(store, batch) == {"deleted"}


def test_a_part_recorded_in_time_leaves_the_rest_open(store: Store, batch: str) -> None:
    [chunk] = filled(store, batch, [5])
    done, rest = chunk.part(1, 3), [(chunk.part(3, 5), 2), (chunk.part(5, 6), 1)]
    results, tally = graded(store, batch, done)
    assert store.record(batch, chunk, results, tally, rest) == "new"
    assert store.record(batch, chunk, results, tally, rest) == "recorded"
    counts = store.state(batch).counts
    assert (counts.total, counts.passed, counts.pending) == (5, 2, 3)
    assert store.open_chunks(batch) == [part for part, _ in rest]
    assert store.info(batch, chunk) is None
    # Another execution of the whole chunk is late, and does not count as nondeterministic.
    assert recorded(store, batch, chunk) == "late"
    for part, _ in rest:
        assert recorded(store, batch, part) == "new"
    state = store.state(batch)
    assert (state.status, state.nondeterministic) == (BatchStatus.COMPLETED, 0)
    assert state.counts.passed == state.counts.total == 5
    assert_counts_sum(store, batch)


def test_the_rest_of_a_chunk_is_handed_out_at_once_although_nothing_waited_before(
    store: Store, batch: str, queue: str
) -> None:
    [chunk] = filled(store, batch, [5])
    first, rest = claimed(store, queue), chunk.part(3, 6)
    assert store.claim_next(queue, "w/2", 60) is None  # the batch gives up its turn
    results, tally = graded(store, batch, chunk.part(1, 3))
    assert store.record(batch, first.chunk, results, tally, [(rest, 3)]) == "new"
    assert claimed(store, queue, "w/2").chunk == rest


def test_a_rest_that_was_estimated_is_corrected_when_it_is_recorded(
    store: Store, batch: str
) -> None:
    [chunk] = filled(store, batch, [5])
    rest = chunk.part(3, 6)
    store.record(batch, chunk, *graded(store, batch, chunk.part(1, 3)), [(rest, 7)])
    assert store.state(batch).counts.total == 9
    assert recorded(store, batch, rest) == "new"
    assert store.state(batch).counts.total == store.state(batch).counts.passed == 5
    assert_counts_sum(store, batch)


def labelled(labels: Sequence[str]) -> Tally:
    """Return a tally of one job that passed for each label."""
    tally = Tally()
    for label in labels:
        tally.count(label, "g", Outcome.PASSED)
    return tally


@pytest.fixture
def crowded(store: Store, batch: str) -> list[ChunkId]:
    """The chunks of a batch whose summary is full: the first chunk has all rows, and the second's jobs share a row."""
    chunks = filled(store, batch, [2500, 2, 1], seal=False)
    # Two rows for each label: its outcome, and its tenth of the score.
    store.record(batch, chunks[0], b"", labelled([str(number) for number in range(2500)]))
    store.record(batch, chunks[1], b"", labelled(["past", "bound"]))
    return chunks


def passed(store: Store, batch: str) -> dict[str, int]:
    return {group.label: group.passed for group in store.summary(batch)}


def rows(store: Store, batch: str) -> int:
    return int(store.redis.hget(key(batch, "meta"), "rows"))


def test_each_of_more_rows_than_are_read_at_once_is_counted(store: Store, batch: str) -> None:
    labels = [str(number) for number in range(1500)]
    for chunk in filled(store, batch, [1500, 1500, 1500]):
        store.record(batch, chunk, b"", labelled(labels))
    assert passed(store, batch) == dict.fromkeys(labels, 3)


def test_labels_past_the_bound_of_a_summary_are_counted_together_and_those_within_go_on(
    store: Store, batch: str, crowded: list[ChunkId]
) -> None:
    store.record(batch, crowded[2], b"", labelled(["7"]))
    found = passed(store, batch)
    assert (found["(other labels)"], found["7"], found["8"], rows(store, batch)) == (2, 2, 1, 5000)
    assert_counts_sum(store, batch)


def test_causes_past_the_bound_of_a_summary_leave_room_for_outcomes_that_come_later(
    store: Store, batch: str
) -> None:
    first, later = filled(store, batch, [6000, 2], seal=False)
    failed = Tally()
    for number in range(6000):
        failed.count("label", "g", Outcome.FAILED, f"cause {number}")
    store.record(batch, first, b"", failed)
    assert rows(store, batch) == 4001  # with the tenth of the score, which comes last
    passed_later = Tally()
    passed_later.count("label", "g", Outcome.PASSED)
    passed_later.count("label", "g", Outcome.PASSED, VACUOUS)
    store.record(batch, later, b"", passed_later)
    shared, own = store.summary(batch)
    assert (own.label, own.failed, own.passed, own.vacuous) == ("label", 6000, 2, 1)
    assert (shared.finished, sum(jobs for _, jobs in (*own.causes, *shared.causes))) == (0, 6000)


def test_a_retry_takes_out_of_the_summary_what_was_counted_past_its_bound(
    store: Store, batch: str, crowded: list[ChunkId]
) -> None:
    store.reopen(batch, crowded[0], 1, DAY)
    assert rows(store, batch) == 0
    # There is room again, and new rows are not confused with jobs counted in the shared row.
    store.record(batch, crowded[2], b"", labelled(["past"]))
    assert rows(store, batch) == 2
    assert passed(store, batch) == {"(other labels)": 2, "past": 1}
    store.reopen(batch, crowded[1], 2, DAY)
    assert sum(passed(store, batch).values()) == 1
    assert_counts_sum(store, batch)
    store.reopen(batch, crowded[2], 3, DAY)
    assert passed(store, batch) == {}
    assert rows(store, batch) == 0


def test_a_reopened_part_is_graded_again_without_the_rest_of_its_chunk(
    store: Store, batch: str, queue: str
) -> None:
    [chunk] = filled(store, batch, [5])
    part, rest = chunk.part(1, 3), chunk.part(3, 6)
    store.record(batch, chunk, *graded(store, batch, part), [(rest, 3)])
    recorded(store, batch, rest)
    assert [found for found, _ in store.records(batch)] == [part, rest]
    assert store.reopen(batch, part, 1, DAY)
    assert not store.reopen(batch, part, 1, DAY)
    state = store.state(batch)
    assert (state.status, state.epoch) == (BatchStatus.IN_PROGRESS, 1)
    assert (state.counts.total, state.counts.passed, state.counts.pending) == (5, 3, 2)
    assert [group.passed for group in store.summary(batch)] == [3]
    again = claimed(store, queue).chunk
    assert again == part.of_epoch(1)
    assert recorded(store, batch, again) == "new"
    assert store.state(batch).counts.passed == 5
    assert store.state(batch).status == BatchStatus.COMPLETED
    assert_counts_sum(store, batch)
