"""Lanes on a real server: chunks wait there for workers with the capabilities that others lack."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from support.chunks import (
    FAILURE,
    a_batch,
    assert_counts_sum,
    claimed,
    filled,
    keys_of,
    recorded,
)
from weighbridge.batch_closing import finish_open_chunks
from weighbridge.jobs.batch_state import BatchStatus
from weighbridge.jobs.capabilities import Lane, Need
from weighbridge.store.key_names import turns
from weighbridge.store.records import WEIGHTS
from weighbridge.store.worker_registry import WorkerInfo, WorkerRegistry

if TYPE_CHECKING:
    from weighbridge.store import ClaimResult, Store

LANE = str(Lane.of([Need("elsewhere", 2)]))


def aside(
    store: Store, queue: str, chunks: int = 1, lane: str = LANE
) -> tuple[str, list[ClaimResult]]:
    """Return a batch whose chunks were all claimed and set aside."""
    batch = a_batch(store, queue)
    filled(store, batch, [2] * chunks)
    claims = [claimed(store, queue, f"lacks/{number}") for number in range(chunks)]
    for claim in claims:
        assert store.set_aside(batch, str(claim.chunk), claim.token, queue, lane)
    return batch, claims


def test_a_chunk_set_aside_is_handed_to_its_lane_alone(store: Store, queue: str) -> None:
    batch, [claim] = aside(store, queue)
    assert store.claim_next(queue, "lacks/2", 60) is None
    assert store.claim_next(queue, "lacks/3", 60, str(Lane.of([Need("other", 1)]))) is None
    found = store.claim_next(queue, "has/1", 60, LANE)
    assert found
    assert (found.batch, found.chunk, found.token) == (batch, claim.chunk, "has/1")
    assert found.payload == claim.payload
    assert found.info.lane == LANE
    assert store.claim_next(queue, "has/2", 60, LANE) is None
    assert recorded(store, batch, found.chunk) == "new"
    assert_counts_sum(store, batch)


def test_a_chunk_set_aside_is_looked_at_when_it_was_asked(store: Store, queue: str) -> None:
    batch = a_batch(store, queue)
    filled(store, batch, [1])
    claim = claimed(store, queue, "lacks/1", 60)
    store.set_aside(batch, str(claim.chunk), claim.token, queue, LANE, 4)
    assert batch not in store.due_batches(store.now() + 3, 10_000)
    assert batch in store.due_batches(store.now() + 5, 10_000)


def test_a_further_chunk_in_a_lane_does_not_move_its_batch_to_the_front(
    store: Store, queue: str
) -> None:
    batch = a_batch(store, queue)
    filled(store, batch, [1, 1])
    for number in range(2):
        claim = claimed(store, queue, f"lacks/{number}")
        store.set_aside(batch, str(claim.chunk), claim.token, queue, LANE)
        store.charge(batch, queue, 10, LANE)
    assert store.redis.zscore(turns(queue, LANE), batch) == 2 * 10 / WEIGHTS["normal"]


def test_the_others_chunks_of_its_batch_go_on(store: Store, queue: str) -> None:
    batch = a_batch(store, queue)
    chunks = filled(store, batch, [1, 1])
    first = claimed(store, queue)
    store.set_aside(batch, str(first.chunk), first.token, queue, LANE)
    assert claimed(store, queue).chunk == chunks[1]


def test_a_chunk_of_a_lane_that_is_given_back_waits_in_its_lane(store: Store, queue: str) -> None:
    batch, [claim] = aside(store, queue)
    store.claim_next(queue, "has/1", 60, LANE)
    assert store.release(batch, str(claim.chunk), "has/1")
    assert store.claim_next(queue, "lacks/2", 60) is None
    # The sweeper looks at it soon, and gives the batch its turn there again.
    [held] = store.held(batch).chunks
    assert held.until - store.now() <= 1.5
    assert store.set_aside(batch, str(claim.chunk), "", queue, LANE)
    again = store.claim_next(queue, "has/2", 60, LANE)
    assert again
    assert again.chunk == claim.chunk


def test_without_a_lane_a_chunk_goes_to_anybody_who_then_grades_it_as_it_is(
    store: Store, queue: str
) -> None:
    batch, [claim] = aside(store, queue)
    assert store.set_aside(batch, str(claim.chunk), "", queue, "")
    again = claimed(store, queue, "lacks/2")
    assert (again.chunk, again.info.anyway, again.info.lane) == (claim.chunk, True, "")
    assert store.claim_next(queue, "has/1", 60, LANE) is None


@pytest.mark.parametrize("ending", ["recorded", "split", "failed"])
def test_a_chunk_that_left_its_lane_is_not_handed_out_there_again(
    store: Store, queue: str, ending: str
) -> None:
    batch, [claim] = aside(store, queue)
    found = store.claim_next(queue, "has/1", 60, LANE)
    assert found
    chunk = found.chunk
    match ending:
        case "recorded":
            assert recorded(store, batch, chunk) == "new"
        case "split":
            parts = [(chunk.part(1, 2), 1), (chunk.part(2, 3), 1)]
            assert store.split(batch, chunk, "has/1", parts, "", FAILURE)
        case "failed":
            assert store.count_failure(batch, chunk, "has/1", FAILURE) == 1
    assert store.claim_next(queue, "has/2", 60, LANE) is None
    assert_counts_sum(store, batch)
    assert claim.chunk == chunk


def test_results_for_a_chunk_in_a_lane_take_it_out(store: Store, queue: str) -> None:
    """The execution that set it aside may have sent its results too, and its reply was lost."""
    batch, [claim] = aside(store, queue)
    assert recorded(store, batch, claim.chunk) == "new"
    assert store.claim_next(queue, "has/1", 60, LANE) is None


class TestWhatIsStopped:
    def test_a_paused_batch_hands_out_nothing_of_its_lanes(self, store: Store, queue: str) -> None:
        batch, [claim] = aside(store, queue)
        store.pause_batch(batch, paused=True)
        assert store.claim_next(queue, "has/1", 60, LANE) is None
        store.pause_batch(batch, paused=False)
        store.set_aside(batch, str(claim.chunk), "", queue, LANE)  # as the sweeper does
        assert store.claim_next(queue, "has/1", 60, LANE)

    def test_a_paused_queue_hands_out_nothing_of_its_lanes(self, store: Store, queue: str) -> None:
        batch, [claim] = aside(store, queue)
        store.pause_queue(queue, paused=True)
        assert store.claim_next(queue, "has/1", 60, LANE) is None
        store.pause_queue(queue, paused=False)
        store.set_aside(batch, str(claim.chunk), "", queue, LANE)
        assert store.claim_next(queue, "has/1", 60, LANE)

    def test_a_cancelled_batch_hands_out_nothing_of_its_lanes(
        self, store: Store, queue: str
    ) -> None:
        batch, _ = aside(store, queue, chunks=2)
        store.close_batch(batch, BatchStatus.CANCELLED)
        assert store.claim_next(queue, "has/1", 60, LANE) is None
        while finish_open_chunks(store, batch, BatchStatus.CANCELLED):
            continue
        assert store.state(batch).counts.cancelled == 4
        assert f"lane:{LANE}" not in keys_of(store, batch)


class TestWhoHasWhat:
    """Capabilities advertised by running workers; on a separate server, because all workers of a server share them."""

    def test_a_capability_is_had_for_as_long_as_was_asked(self, store: Store) -> None:
        worker_registry = WorkerRegistry(store.redis)
        worker_registry.advertise("q", {"here": 3}, 1)
        assert worker_registry.has_had("q", Lane.of([Need("here", 3)]), 60)
        assert worker_registry.has_had("q", Lane.of([Need("here", 2), Need(version=1)]), 60)
        assert not worker_registry.has_had("q", Lane.of([Need("here", 4)]), 60)
        assert not worker_registry.has_had("q", Lane.of([Need("nowhere", 0)]), 60)
        assert not worker_registry.has_had("elsewhere", Lane.of([Need("here", 3)]), 60)
        assert not worker_registry.has_had("q", Lane.of([Need("here", 3), Need("nowhere")]), 60)
        assert not worker_registry.has_had("q", Lane.of([Need("here", 3)]), -1)

    def test_a_worker_that_is_running_has_its_capabilities_in_its_own_queue(
        self, store: Store
    ) -> None:
        worker_registry = WorkerRegistry(store.redis)
        worker = WorkerInfo("w", "host", 1, 1, "running", 1, {"here": 3})
        worker_registry.heartbeat(worker, ttl_seconds=60)
        assert worker_registry.has_had("running", Lane.of([Need("here", 3)]), -1)
        assert not worker_registry.has_had("running", Lane.of([Need("here", 4)]), -1)
        assert not worker_registry.has_had("elsewhere", Lane.of([Need("here", 3)]), -1)
        [reported] = worker_registry.alive()
        assert (reported.jobs, reported.chunks) == (0, 0)

    @pytest.mark.parametrize(
        "needs",
        [
            [Need("a", 1)],
            [Need("a", 1), Need("b", 0)],
            [Need(version=3), Need("a-b", 2)],
        ],
        ids=str,
    )
    def test_a_lane_is_read_as_it_is_written(self, needs: list[Need]) -> None:
        assert Lane.parse(str(Lane.of(needs))) == Lane.of(needs)
