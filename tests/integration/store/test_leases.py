"""Leases on a real server: one execution has a chunk at a time, and failures count against the job they belong to."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from support.chunks import DAY, FAILURE, a_batch, claimed, filled, opened, recorded
from support.proxy import Proxy
from support.waiting import eventually
from weighbridge.errors import Fault
from weighbridge.store import BatchOptions, Store
from weighbridge.store.key_names import key

if TYPE_CHECKING:
    from collections.abc import Callable

    from support.servers import TcpServer
    from weighbridge.store import ClaimResult


def test_a_lease_keeps_every_other_execution_out(store: Store, batch: str, queue: str) -> None:
    [chunk] = filled(store, batch, [3])
    assert claimed(store, queue, "w/1").chunk == chunk
    assert store.claim_next(queue, "w/2", 60) is None
    assert store.renew(batch, str(chunk), "w/1", 60)
    assert not store.renew(batch, str(chunk), "w/2", 60)
    assert not store.release(batch, str(chunk), "w/2")
    assert store.claim_next(queue, "w/2", 60) is None


def test_a_released_lease_is_anyones(store: Store, batch: str, queue: str) -> None:
    [chunk] = filled(store, batch, [3])
    claimed(store, queue, "w/1")
    assert store.release(batch, str(chunk), "w/1")
    assert not store.release(batch, str(chunk), "w/1")
    assert not store.renew(batch, str(chunk), "w/1", 60)
    again = claimed(store, queue, "w/2")
    assert (again.chunk, again.info.failures, again.info.suspicions) == (chunk, {}, 0)


def test_a_released_chunk_goes_out_before_those_after_it(
    store: Store, batch: str, queue: str
) -> None:
    chunks = filled(store, batch, [1] * 4)
    for number in range(3):
        claimed(store, queue, f"w/{number}")
    store.release(batch, str(chunks[1]), "w/1")
    assert [claimed(store, queue, f"w/{number}").chunk for number in (8, 9)] == [
        chunks[1],
        chunks[3],
    ]


def test_a_claim_whose_reply_is_lost_leases_another_chunk_and_keeps_the_first(
    tcp_server: TcpServer, queue: str
) -> None:
    with (
        closing(Store(tcp_server.url)) as store,
        Proxy(tcp_server.port) as proxy,
        closing(Store(proxy.url)) as far,
        ThreadPoolExecutor() as threads,
    ):
        batch = a_batch(store, queue)
        chunks = filled(store, batch, [3, 3])
        assert far.claim_next("empty", "w/0", 60) is None  # connects, and loads the script
        proxy.drops_replies = True
        claiming = threads.submit(far.claim_next, queue, "w/1", 60)
        eventually(lambda: store.held(batch).chunks, 10, "the lease")
        proxy.drops_replies = False
        proxy.cut()
        claim = claiming.result(30)
        assert claim
        assert claim.chunk == chunks[1]
        held = store.held(batch).chunks
        assert [(chunk.chunk, chunk.info.token) for chunk in held] == [
            (chunks[0], "w/1"),
            (chunks[1], "w/1"),
        ]


def test_what_is_held_tells_who_has_it_and_until_when(store: Store, batch: str, queue: str) -> None:
    chunks = filled(store, batch, [3, 3, 3])
    claimed(store, queue, "host:1:abc/late", 50)
    claimed(store, queue, "host:2:def/soon", 10)
    held = store.held(batch)
    assert [found.chunk for found in held.chunks] == [chunks[1], chunks[0]]
    assert [found.until - held.now for found in held.chunks] == [
        pytest.approx(10, abs=2),
        pytest.approx(50, abs=2),
    ]
    assert [found.info.worker for found in held.chunks] == ["host:2:def", "host:1:abc"]
    assert held.waiting
    claimed(store, queue)
    assert not store.held(batch).waiting
    assert len(store.held(batch, most=2).chunks) == 2


def test_what_is_held_is_told_at_the_servers_time(store: Store, batch: str) -> None:
    for _ in range(3):  # a time in whole seconds might be right once
        before = store.now()
        assert before - 0.001 <= store.held(batch).now <= store.now()


def test_a_held_chunk_whose_state_is_lost_is_told(store: Store, batch: str, queue: str) -> None:
    [chunk] = filled(store, batch, [3])
    claimed(store, queue, "w/1")
    store.redis.hdel(key(batch, "chunks"), str(chunk))
    [held] = store.held(batch).chunks
    assert (held.chunk, held.info.token) == (chunk, "")


def test_a_renewed_lease_ends_later(store: Store, batch: str, queue: str) -> None:
    [chunk] = filled(store, batch, [3])
    claimed(store, queue, "w/1", 5)
    assert store.renew(batch, str(chunk), "w/1", 60, at="2 0")
    [held] = store.held(batch).chunks
    assert held.until - store.now() == pytest.approx(60, abs=2)
    assert held.info.at == "2 0"
    assert store.release(batch, str(chunk), "w/1")
    assert claimed(store, queue, "w/2").info.at == ""


def test_a_renewal_that_names_no_job_keeps_the_job_that_was_named(
    store: Store, batch: str, queue: str
) -> None:
    [chunk] = filled(store, batch, [3])
    claimed(store, queue, "w/1")
    store.renew(batch, str(chunk), "w/1", 60, at="2 0")
    store.renew(batch, str(chunk), "w/1", 60)
    [held] = store.held(batch).chunks
    assert held.info.at == "2 0"


def test_what_is_recorded_is_not_handed_out(store: Store, batch: str, queue: str) -> None:
    chunks = filled(store, batch, [1, 1])
    recorded(store, batch, chunks[0])
    assert claimed(store, queue).chunk == chunks[1]
    recorded(store, batch, chunks[1])
    assert store.claim_next(queue, "w/2", 60) is None
    assert store.held(batch).chunks == []


def test_a_suspect_chunk_waits_for_its_pause_to_end(store: Store, batch: str, queue: str) -> None:
    [chunk] = filled(store, batch, [3])
    claimed(store, queue, "w/1")
    assert store.release(batch, str(chunk), "w/1", suspect=True, pause_seconds=30)
    assert store.claim_next(queue, "w/2", 60) is None
    [held] = store.held(batch).chunks
    assert held.until - store.now() == pytest.approx(30, abs=2)
    assert (held.info.suspicions, held.info.token) == (1, "")
    # The sweeper ends the pause.
    assert store.release(batch, str(chunk), "")
    assert claimed(store, queue, "w/2").info.suspicions == 1


def test_one_look_at_a_batch_follows_its_earliest_lease(store: Store, queue: str) -> None:
    batch = a_batch(store, queue)
    filled(store, batch, [1] * 10)
    assert batch not in store.due_batches(store.now() + 60, 10_000)
    for number in range(10):
        claimed(store, queue, f"w/{number}", 8)
    assert batch not in store.due_batches(store.now() + 5, 10_000)
    assert batch in store.due_batches(store.now() + 9, 10_000)


def test_a_chunk_claimed_after_a_look_that_found_nothing_held_is_looked_at_in_time(
    store: Store, batch: str, queue: str
) -> None:
    filled(store, batch, [1, 1])
    store.reschedule_check(batch)
    assert batch not in store.due_batches(store.now() + 3600, 10_000)
    claimed(store, queue, "w/1", 8)
    assert batch in store.due_batches(store.now() + 9, 10_000)


def test_a_longer_lease_than_one_that_is_over_is_looked_at_in_time(
    store: Store, batch: str, queue: str
) -> None:
    chunks = filled(store, batch, [1, 1])
    claimed(store, queue, "w/1", 8)
    recorded(store, batch, chunks[0])
    store.reschedule_check(batch)
    claimed(store, queue, "w/1", 60)
    assert batch not in store.due_batches(store.now() + 55, 10_000)
    assert batch in store.due_batches(store.now() + 61, 10_000)


def test_a_batch_expires_in_time_although_a_lease_in_it_is_longer(store: Store, queue: str) -> None:
    options = BatchOptions(queue=queue)
    batch = opened(store, options, expiry_seconds=60, ttl_seconds=DAY)
    filled(store, batch, [1])
    claimed(store, queue, "w/1", 3600)
    store.reschedule_check(batch)
    assert batch in store.due_batches(store.now() + 61, 10_000)


def test_a_chunk_claimed_while_the_sweeper_looks_is_looked_at_in_time(
    store: Store, batch: str, queue: str
) -> None:
    filled(store, batch, [1, 1])
    assert store.held(batch).chunks == []
    claimed(store, queue, "w/1", 8)
    store.reschedule_check(batch)
    assert batch in store.due_batches(store.now() + 9, 10_000)


def test_a_chunk_that_waits_out_a_pause_is_looked_at_when_it_ends(
    store: Store, batch: str, queue: str
) -> None:
    chunks = filled(store, batch, [1, 1])
    for number in range(2):
        claimed(store, queue, f"w/{number}", 60)
    store.release(batch, str(chunks[0]), "w/0", suspect=True, pause_seconds=4)
    store.reschedule_check(batch)
    assert batch not in store.due_batches(store.now() + 2, 10_000)
    assert batch in store.due_batches(store.now() + 5, 10_000)


def test_a_release_does_not_put_off_the_look_at_another_lease(
    store: Store, batch: str, queue: str
) -> None:
    filled(store, batch, [1, 1])
    claimed(store, queue, "w/1", 8)
    later = claimed(store, queue, "w/2", 60)
    store.release(batch, str(later.chunk), "w/2", pause_seconds=30)
    assert batch in store.due_batches(store.now() + 9, 10_000)


@pytest.mark.parametrize(("pause", "soon"), [(0, 1), (4, 4)])
def test_a_release_brings_the_next_look_at_its_batch_forward(
    store: Store, batch: str, queue: str, pause: int, soon: int
) -> None:
    filled(store, batch, [1])
    claim = claimed(store, queue, "w/1", 60)
    store.release(batch, str(claim.chunk), "w/1", pause_seconds=pause)
    assert batch not in store.due_batches(store.now() + soon - 0.9, 10_000)
    assert batch in store.due_batches(store.now() + soon + 0.1, 10_000)


@pytest.mark.parametrize(
    "give_back",
    [
        lambda store, claim: store.release(claim.batch, str(claim.chunk), claim.token),
        lambda store, claim: store.set_aside(claim.batch, str(claim.chunk), claim.token, "", ""),
        lambda store, claim: store.count_failure(claim.batch, claim.chunk, claim.token, FAILURE),
        lambda store, claim: store.split(
            claim.batch, claim.chunk, claim.token, [(claim.chunk.part(1, 2), 1)], "", FAILURE
        ),
    ],
    ids=["released", "set aside for anybody", "failed", "split"],
)
def test_what_is_given_back_to_a_batch_that_gave_up_its_turn_is_handed_out_at_once(
    store: Store, batch: str, queue: str, give_back: Callable[[Store, ClaimResult], object]
) -> None:
    filled(store, batch, [1])
    claim = claimed(store, queue, "w/1")
    assert store.claim_next(queue, "w/2", 60) is None
    assert give_back(store, claim)
    assert claimed(store, queue, "w/2").chunk.start == 1


class TestFailures:
    def test_a_split_made_twice_is_made_once(self, store: Store, batch: str, queue: str) -> None:
        [chunk] = filled(store, batch, [5])
        token = claimed(store, queue).token
        parts = [(chunk.part(1, 3), 2), (chunk.part(3, 4), 1), (chunk.part(4, 6), 2)]
        suspect = str(parts[1][0])
        assert not store.split(batch, chunk, "w/other", parts, suspect, FAILURE)
        assert store.split(batch, chunk, token, parts, suspect, FAILURE)
        assert not store.split(batch, chunk, token, parts, suspect, FAILURE)
        assert store.open_chunks(batch) == [part for part, _ in parts]
        assert store.info(batch, chunk) is None
        assert store.state(batch).counts.total == 5
        failures = [store.info(batch, part).failures for part, _ in parts]  # type: ignore[union-attr]
        assert failures == [{}, {"0 WORKER_KILLED": 1}, {}]

    def test_a_split_of_an_unknown_suspect_blames_nobody(
        self, store: Store, batch: str, queue: str
    ) -> None:
        [chunk] = filled(store, batch, [4])
        token = claimed(store, queue).token
        parts = [(chunk.part(1, 3), 2), (chunk.part(3, 5), 2)]
        assert store.split(batch, chunk, token, parts, "", FAILURE)
        for _ in parts:
            info = claimed(store, queue).info
            assert (info.failures, info.quarantined, info.suspicions) == ({}, {}, 0)

    def test_the_part_with_the_suspect_job_stays_suspect(
        self, store: Store, batch: str, queue: str
    ) -> None:
        [chunk] = filled(store, batch, [3])
        claimed(store, queue, "w/1")
        store.release(batch, str(chunk), "w/1", suspect=True)
        token = claimed(store, queue, "w/2").token
        parts = [(chunk.part(at, at + 1), 1) for at in (1, 2, 3)]
        assert store.split(batch, chunk, token, parts, str(parts[1][0]), FAILURE)
        assert [claimed(store, queue).info.suspicions for _ in parts] == [0, 1, 0]

    def test_failures_count_once_each_and_quarantine_the_job_at_the_limit(
        self, store: Store, batch: str, queue: str
    ) -> None:
        [chunk] = filled(store, batch, [1])
        for failure in (1, 2, 3):
            claim = claimed(store, queue, f"w/{failure}")
            assert claim.info.quarantined == {}
            assert store.count_failure(batch, chunk, claim.token, FAILURE) == failure
            assert store.count_failure(batch, chunk, claim.token, FAILURE) == 0
        assert claimed(store, queue).info.faults == {0: FAILURE.fault}

    def test_a_counted_failure_forgets_the_job_that_was_running(
        self, store: Store, batch: str, queue: str
    ) -> None:
        [chunk] = filled(store, batch, [1])
        claimed(store, queue, "w/1")
        assert store.renew(batch, str(chunk), "w/1", 60, at="1 0")
        assert store.count_failure(batch, chunk, "w/1", FAILURE) == 1
        assert claimed(store, queue, "w/2").info.at == ""

    def test_each_job_of_a_line_has_failures_of_its_own(
        self, store: Store, batch: str, queue: str
    ) -> None:
        [chunk] = filled(store, batch, [1])
        for job, count in ((0, 1), (4, 1), (0, 2), (-1, 1), (0, 3)):
            token = claimed(store, queue).token
            assert store.count_failure(batch, chunk, token, FAILURE._replace(job=job)) == count
        info = claimed(store, queue).info
        assert info.failures == {
            "0 WORKER_KILLED": 3,
            "4 WORKER_KILLED": 1,
            "-1 WORKER_KILLED": 1,
        }
        assert list(info.quarantined) == ["0"]

    def test_a_quarantined_job_stays_so_when_another_of_its_line_joins_it(
        self, store: Store, batch: str, queue: str
    ) -> None:
        [chunk] = filled(store, batch, [1])
        for job in (0, 4):
            token = claimed(store, queue).token
            store.count_failure(batch, chunk, token, FAILURE._replace(job=job, limit=1))
        assert set(claimed(store, queue).info.faults) == {0, 4}

    def test_a_job_is_quarantined_for_what_it_did_each_time_not_for_what_befell_its_worker_once(
        self, store: Store, batch: str, queue: str
    ) -> None:
        [chunk] = filled(store, batch, [1])
        hung = FAILURE._replace(fault=Fault("TIMEOUT", "the job did not end", "hint"))
        for failure_count, count in ((hung, 1), (FAILURE, 1), (hung, 2), (FAILURE, 2)):
            claim = claimed(store, queue)
            assert claim.info.quarantined == {}
            assert store.count_failure(batch, chunk, claim.token, failure_count) == count
        store.count_failure(batch, chunk, claimed(store, queue).token, hung)
        assert claimed(store, queue).info.faults == {0: hung.fault}

    def test_a_retry_forgives_what_was_quarantined(
        self, store: Store, batch: str, queue: str
    ) -> None:
        [chunk] = filled(store, batch, [1])
        claimed(store, queue, "w/1")
        store.count_failure(batch, chunk, "w/1", FAILURE._replace(limit=1))
        recorded(store, batch, chunk)
        store.reopen(batch, chunk, 1, DAY)
        claim = claimed(store, queue, "w/2")
        assert (claim.info.quarantined, claim.info.failures) == ({}, {})
        assert store.count_failure(batch, claim.chunk, "w/2", FAILURE) == 1
