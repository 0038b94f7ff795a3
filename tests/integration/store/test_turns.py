"""Turns on a real server: batches of one queue share its workers, by priority, whatever their size."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from support.chunks import (
    DAY,
    FAILURE,
    a_batch,
    a_chunk,
    a_line,
    claimed,
    filled,
    recorded,
)
from weighbridge.batch_closing import finish_open_chunks
from weighbridge.jobs.batch_state import BatchStatus
from weighbridge.store.key_names import key, turns

if TYPE_CHECKING:
    from weighbridge.jobs.batch_state import Priority
    from weighbridge.jobs.chunk import ChunkId
    from weighbridge.store import Store


def a_batch_of(store: Store, queue: str, chunks: int, priority: Priority = "normal") -> str:
    batch = a_batch(store, queue, priority)
    filled(store, batch, [1] * chunks)
    return batch


def claims(store: Store, queue: str, count: int) -> list[str]:
    """Claim and record `count` chunks, and return their batches in order."""
    found = []
    for _ in range(count):
        claim = claimed(store, queue)
        recorded(store, claim.batch, claim.chunk)
        found.append(claim.batch)
    return found


def add_chunk(store: Store, batch: str) -> ChunkId:
    """Store one more chunk of one line."""
    position = store.position(batch)
    first = position.lines + 1
    chunk = a_chunk(batch, position.chunks, [a_line(f"c{first}")], first, position.prefix)
    store.submit_chunk(batch, chunk)
    return chunk.id


def test_the_chunks_of_a_batch_go_out_in_the_order_of_its_input(store: Store, queue: str) -> None:
    batch = a_batch(store, queue)
    chunks = filled(store, batch, [2] * 12)
    assert [claimed(store, queue, f"w/{number}").chunk for number in range(12)] == chunks
    assert store.claim_next(queue, "w/12", 60) is None


def test_a_claim_brings_what_a_worker_needs(store: Store, queue: str) -> None:
    batch = a_batch(store, queue)
    lines = [a_line("a"), a_line("b")]
    chunk = a_chunk(batch, 0, lines)
    store.submit_chunk(batch, chunk)
    claim = claimed(store, queue, "w/1")
    assert (claim.batch, claim.chunk, claim.token) == (batch, chunk.id, "w/1")
    assert claim.payload == chunk.payload
    assert (claim.info.jobs, claim.info.suspicions, claim.info.anyway) == (2, 0, False)
    assert not claim.contended


def test_two_batches_share_in_turn(store: Store, queue: str) -> None:
    one, two = a_batch_of(store, queue, 10), a_batch_of(store, queue, 10)
    found = claims(store, queue, 20)
    assert Counter(found) == {one: 10, two: 10}
    assert all(first != second for first, second in zip(found[:16:2], found[1:16:2], strict=True))


def test_priorities_share_by_their_weights(store: Store, queue: str) -> None:
    low, normal = a_batch_of(store, queue, 10, "low"), a_batch_of(store, queue, 40, "normal")
    high = a_batch_of(store, queue, 250, "high")
    counts = Counter(claims(store, queue, 222))
    assert counts[high] == pytest.approx(200, abs=4)
    assert counts[normal] == pytest.approx(20, abs=3)
    assert 1 <= counts[low] <= 4


@pytest.mark.parametrize(("priority", "weight"), [("low", 1), ("normal", 10), ("high", 100)])
def test_the_weight_of_a_priority_is_that_of_the_protocol(
    store: Store, queue: str, priority: Priority, weight: int
) -> None:
    batch = a_batch(store, queue, priority)
    assert int(store.redis.hget(key(batch, "meta"), "weight")) == weight


def test_a_small_batch_beside_a_large_one_is_served_at_once(store: Store, queue: str) -> None:
    large = a_batch_of(store, queue, 300)
    claims(store, queue, 100)
    small = a_batch_of(store, queue, 10)
    found = claims(store, queue, 22)
    assert small in found[:2]
    assert Counter(found) == {small: 10, large: 12}


def test_a_newcomer_gets_no_more_than_its_share_of_two_old_batches(
    store: Store, queue: str
) -> None:
    old = [a_batch_of(store, queue, 100) for _ in range(2)]
    claims(store, queue, 60)
    new = a_batch_of(store, queue, 100)
    counts = Counter(claims(store, queue, 60))
    assert all(counts[batch] == pytest.approx(20, abs=2) for batch in (*old, new))


def test_a_batch_that_empties_and_comes_back_does_not_jump_the_queue(
    store: Store, queue: str
) -> None:
    busy = a_batch_of(store, queue, 200)
    trickling = a_batch(store, queue)
    counts: Counter[str] = Counter()
    for _ in range(100):
        # It is found empty after each of its turns, and has a chunk again before the next claim.
        if not store.open_chunks(trickling):
            add_chunk(store, trickling)
        counts.update(claims(store, queue, 1))
    assert counts[trickling] <= 51
    assert counts[busy] >= 49


def test_a_batch_that_had_more_than_its_share_waits_although_it_was_empty_meanwhile(
    store: Store, queue: str
) -> None:
    greedy = a_batch(store, queue)
    add_chunk(store, greedy)
    retry = a_batch_of(store, queue, 100)
    claim = claimed(store, queue)
    while claim.batch != greedy:
        claim = claimed(store, queue)
    recorded(store, greedy, claim.chunk)
    store.charge(greedy, queue, 10.0)
    # Its turn comes, and it has nothing.
    assert set(claims(store, queue, 5)) == {retry}
    add_chunk(store, greedy)
    assert set(claims(store, queue, 20)) == {retry}


def test_a_batch_that_comes_back_after_its_queue_was_empty_pays_for_nothing_it_had_before(
    store: Store, queue: str
) -> None:
    streaming, other = a_batch(store, queue), a_batch(store, queue)
    for batch in (streaming, other):
        add_chunk(store, batch)
    assert set(claims(store, queue, 2)) == {streaming, other}
    for batch in (streaming, other):
        store.charge(batch, queue, 1000.0)
    assert store.claim_next(queue, "w/1", 60) is None
    new = a_batch_of(store, queue, 50)
    for _ in range(10):
        add_chunk(store, streaming)
    assert claims(store, queue, 20).count(new) == 10


def test_time_that_a_chunk_took_is_charged_to_its_batch(store: Store, queue: str) -> None:
    slow, quick = a_batch_of(store, queue, 50), a_batch_of(store, queue, 200)
    counts: Counter[str] = Counter()
    for _ in range(100):
        claim = claimed(store, queue)
        recorded(store, claim.batch, claim.chunk)
        counts[claim.batch] += 1
        assert claim.contended
        if claim.batch == slow:
            store.charge(slow, queue, 0.8 - 0.2)  # it took 0.8 s, and was taken for 0.2
    assert counts[slow] == pytest.approx(20, abs=2)
    assert counts[quick] == pytest.approx(80, abs=2)


def test_queues_do_not_share(store: Store, queue: str) -> None:
    batch = a_batch_of(store, queue, 1)
    assert store.claim_next(f"{queue}-other", "w/1", 60) is None
    assert claimed(store, queue).batch == batch


class TestPausing:
    def test_a_paused_batch_hands_out_nothing_until_it_resumes(
        self, store: Store, queue: str
    ) -> None:
        paused, other = a_batch_of(store, queue, 3), a_batch_of(store, queue, 1)
        assert store.pause_batch(paused, paused=True)
        assert claims(store, queue, 1) == [other]
        assert store.claim_next(queue, "w/1", 60) is None
        assert store.pause_batch(paused, paused=False)
        assert claims(store, queue, 3) == [paused] * 3

    def test_nothing_that_happens_to_a_paused_batch_resumes_it(
        self, store: Store, queue: str
    ) -> None:
        batch = a_batch(store, queue)
        [whole, single, finished, aside] = filled(store, batch, [3, 1, 1, 1], seal=False)
        held = [claimed(store, queue, f"w/{number}") for number in range(4)]
        recorded(store, batch, finished)
        store.pause_batch(batch, paused=True)
        store.split(
            batch, whole, "w/0", [(whole.part(1, 2), 1), (whole.part(2, 4), 2)], "", FAILURE
        )
        store.count_failure(batch, single, "w/1", FAILURE)
        store.set_aside(batch, str(aside), "w/3", queue, "")
        add_chunk(store, batch)
        store.reschedule_check(batch)
        position = store.position(batch)
        store.seal(batch, position.chunks, position.prefix)
        assert store.reopen(batch, finished, 1, DAY)
        assert len(held) == 4
        assert len(store.open_chunks(batch)) == 6
        assert store.claim_next(queue, "w/9", 60) is None
        store.pause_batch(batch, paused=False)
        assert claims(store, queue, 6) == [batch] * 6

    def test_what_is_graded_when_a_batch_is_paused_is_recorded(
        self, store: Store, queue: str
    ) -> None:
        batch = a_batch_of(store, queue, 1)
        claim = claimed(store, queue)
        store.pause_batch(batch, paused=True)
        assert store.renew(batch, str(claim.chunk), claim.token, 60)
        assert recorded(store, batch, claim.chunk) == "new"
        assert store.state(batch).status == BatchStatus.COMPLETED
        assert not store.pause_batch(batch, paused=False)

    def test_a_paused_queue_hands_out_nothing_until_it_resumes(
        self, store: Store, queue: str
    ) -> None:
        one = a_batch_of(store, queue, 2)
        store.pause_queue(queue, paused=True)
        store.pause_queue(queue, paused=True)
        assert store.is_queue_paused(queue)
        two = a_batch_of(store, queue, 2)
        assert store.claim_next(queue, "w/1", 60) is None
        assert store.waiting_chunks(queue, 10) == 0
        store.pause_queue(queue, paused=False)
        assert not store.is_queue_paused(queue)
        assert Counter(claims(store, queue, 4)) == {one: 2, two: 2}

    def test_a_batch_opened_while_its_queue_was_paused_shares_with_the_others(
        self, store: Store, queue: str
    ) -> None:
        one = a_batch_of(store, queue, 10)
        store.pause_queue(queue, paused=True)
        two = a_batch_of(store, queue, 10)
        store.pause_queue(queue, paused=False)
        assert Counter(claims(store, queue, 10)) == {one: 5, two: 5}

    def test_a_batch_paused_on_a_paused_queue_stays_so(self, store: Store, queue: str) -> None:
        batch = a_batch_of(store, queue, 2)
        store.pause_queue(queue, paused=True)
        store.pause_batch(batch, paused=True)
        store.pause_queue(queue, paused=False)
        assert store.claim_next(queue, "w/1", 60) is None


@pytest.mark.parametrize("ending", [BatchStatus.CANCELLED, BatchStatus.EXPIRED, BatchStatus.FAILED])
def test_a_closed_batch_hands_out_nothing(store: Store, queue: str, ending: BatchStatus) -> None:
    batch = a_batch_of(store, queue, 3)
    claim = claimed(store, queue)
    store.close_batch(batch, ending)
    assert store.claim_next(queue, "w/2", 60) is None
    # Releasing a chunk or scheduling a sweep does not change that.
    assert store.release(batch, str(claim.chunk), claim.token)
    store.reschedule_check(batch)
    store.pause_batch(batch, paused=False)
    assert store.claim_next(queue, "w/2", 60) is None


def test_a_batch_that_a_retry_opens_has_its_turn_again(store: Store, queue: str) -> None:
    batch = a_batch(store, queue)
    [chunk] = filled(store, batch, [1])
    assert claims(store, queue, 1) == [batch]
    assert store.claim_next(queue, "w/1", 60) is None
    assert store.reopen(batch, chunk, 1, DAY)
    assert claimed(store, queue).chunk == chunk.of_epoch(1)


def test_a_cancelled_batch_that_a_retry_opens_has_its_turn_again(store: Store, queue: str) -> None:
    batch = a_batch(store, queue)
    [chunk] = filled(store, batch, [1])
    store.close_batch(batch, BatchStatus.CANCELLED, "somebody asked")
    while finish_open_chunks(store, batch, BatchStatus.CANCELLED):
        continue
    assert store.reopen(batch, chunk, 1, DAY)
    state = store.state(batch)
    assert (state.status, state.closing, state.reason) == (BatchStatus.IN_PROGRESS, None, "")
    assert claimed(store, queue).chunk == chunk.of_epoch(1)


def test_a_deleted_batch_gives_its_turn_up(store: Store, queue: str) -> None:
    deleted, other = a_batch_of(store, queue, 3), a_batch_of(store, queue, 2)
    store.delete(deleted)
    assert claims(store, queue, 2) == [other] * 2
    assert store.claim_next(queue, "w/1", 60) is None


def test_a_turn_that_a_failover_lost_is_given_back_by_the_next_look(
    store: Store, queue: str
) -> None:
    batch = a_batch_of(store, queue, 3)
    store.redis.delete(f"wb:{{fleet}}:ready:{queue}")
    assert store.claim_next(queue, "w/1", 60) is None
    store.reschedule_check(batch)
    assert claims(store, queue, 3) == [batch] * 3


def test_a_look_gives_no_turn_to_a_batch_of_which_nothing_waits(store: Store, queue: str) -> None:
    batch = a_batch_of(store, queue, 1)
    claimed(store, queue)
    assert store.claim_next(queue, "w/2", 60) is None
    store.reschedule_check(batch)
    assert store.redis.zscore(turns(queue), batch) is None


@pytest.mark.parametrize("damaged", ["meta", "open", "chunks", "all", "info"])
def test_a_damaged_batch_keeps_no_other_of_its_queue_waiting(
    store: Store, queue: str, damaged: str
) -> None:
    broken = a_batch_of(store, queue, 3)
    prefix = f"wb:{{{broken}}}:"
    if damaged == "info":
        for chunk in store.open_chunks(broken):
            store.redis.hset(f"{prefix}chunks", str(chunk), "{")
    else:
        for name in ("meta", "open", "chunks", "log") if damaged == "all" else (damaged,):
            store.redis.set(f"{prefix}{name}", "x")
    sound = a_batch_of(store, queue, 3)
    assert claims(store, queue, 3) == [sound] * 3
    assert store.claim_next(queue, "w/1", 60) is None
    assert store.waiting_chunks(queue, 10) == 0


def test_waiting_chunks_are_counted_up_to_a_bound(store: Store, queue: str) -> None:
    a_batch_of(store, queue, 3)
    a_batch_of(store, queue, 4)
    assert store.waiting_chunks(queue, 100) == 7
    claimed(store, queue)
    assert store.waiting_chunks(queue, 100) == 6
    assert store.waiting_chunks(queue, 5) == 5
