"""The store's scripts on a real server: each may be called twice, at any moment, and counts once."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from hashlib import blake2b
from typing import TYPE_CHECKING

import pytest

from support.waiting import eventually
from weighbridge.errors import (
    BatchClosedError,
    BatchExpiredError,
    BatchLostError,
    BatchNotFoundError,
    ChunkConflictError,
)
from weighbridge.jobs.chunk import Chunk, ChunkId
from weighbridge.jobs.closing import close_open_chunks
from weighbridge.jobs.grading import LineGrader, Tally, digest_of
from weighbridge.jobs.model import BatchStatus
from weighbridge.jobs.store import (
    ID_BYTES,
    BatchOptions,
    Charge,
    GapError,
    Pace,
    Position,
    Store,
    Submission,
    Taken,
    new_batch_id,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from weighbridge.embedded import EmbeddedServer

DAY = 86400
FIRST = ChunkId(0)


@pytest.fixture
def batch(store: Store) -> str:
    return store.open_batch(BatchOptions(source="cases"), expiry_seconds=DAY, ttl_seconds=7 * DAY)


def a_line(name: str, response: str = "yes") -> bytes:
    return (
        f'{{"custom_id": "{name}", "grader": "true-false", '
        f'"inputs": {{"agent_response": "{response}", "expected_output": "true"}}}}\n'
    ).encode()


def a_chunk(batch: str, number: int, lines: Sequence[bytes], first: int = 1) -> Submission:
    """Return lines as a chunk on its way in."""
    raw, key = b"".join(lines), batch.encode()[-64:]
    names = [line.split(b'"')[3] for line in lines]
    ids = b"".join(
        blake2b(name, digest_size=8, key=key).digest()
        + blake2b(line, digest_size=4, key=key).digest()
        for name, line in zip(names, lines, strict=True)
    )
    digest = digest_of(raw)
    after = Position(number + 1, len(raw), first + len(lines) - 1, digest)
    payload = Chunk(first, raw, len(lines)).pack()
    return Submission(number, digest, len(lines), after, payload, ids, 0)


def graded(store: Store, batch: str, chunk: ChunkId) -> tuple[bytes, Tally]:
    """Grade a chunk as a worker does."""
    tally, grader = Tally(), LineGrader()
    lines = store.chunk(batch, chunk).lines(chunk)
    results = b"".join(grader.grade(line, tally) for line in lines)
    tally.digest = digest_of(results)
    return results, tally


def submitted(store: Store, batch: str, names: Sequence[str] = ("a", "b", "c")) -> None:
    """Store one chunk and seal the batch."""
    store.submit_chunk(batch, a_chunk(batch, 0, [a_line(name) for name in names]))
    store.seal(batch, 1)


class TestSubmitting:
    def test_a_batch_opened_twice_is_the_same_batch(self, store: Store, batch: str) -> None:
        submitted(store, batch)
        before = store.state(batch)
        again = store.open_batch(
            BatchOptions(source="other"), expiry_seconds=1, ttl_seconds=1, batch=batch
        )
        assert again == batch
        assert store.state(batch) == before
        assert store.options(batch).source == "cases"

    def test_a_chunk_submitted_twice_is_there_once(self, store: Store, batch: str) -> None:
        chunk = a_chunk(batch, 0, [a_line("a"), a_line("b")])
        assert store.submit_chunk(batch, chunk) == Pace()
        before = store.state(batch)
        assert store.submit_chunk(batch, chunk) == Pace()
        assert store.state(batch) == before
        assert before.counts.total == 2

    def test_another_chunk_under_the_same_number_is_a_conflict(
        self, store: Store, batch: str
    ) -> None:
        store.submit_chunk(batch, a_chunk(batch, 0, [a_line("a")]))
        with pytest.raises(ChunkConflictError, match="with other lines") as raised:
            store.submit_chunk(batch, a_chunk(batch, 0, [a_line("b")]))
        assert raised.value.code == "CHUNK_CONFLICT"
        assert store.state(batch).counts.total == 1

    def test_a_chunk_out_of_order_says_which_is_expected(self, store: Store, batch: str) -> None:
        store.submit_chunk(batch, a_chunk(batch, 0, [a_line("a")]))
        with pytest.raises(GapError) as raised:
            store.submit_chunk(batch, a_chunk(batch, 2, [a_line("b")]))
        assert raised.value.expected == 1

    def test_ids_that_earlier_chunks_have_are_named(self, store: Store, batch: str) -> None:
        store.submit_chunk(batch, a_chunk(batch, 0, [a_line("a"), a_line("b")]))
        store.submit_chunk(batch, a_chunk(batch, 1, [a_line("c")], first=3))
        asked = a_chunk(batch, 2, [a_line("d"), a_line("b"), a_line("a", "no"), a_line("c")])
        before = store.state(batch)
        for _ in range(2):  # from the chunks first, then from the index
            assert store.taken(batch, asked.ids) == [
                Taken(1, True),
                Taken(2, False),
                Taken(3, True),
            ]
        assert store.state(batch) == before

    def test_the_chunks_of_an_id_are_found_before_and_after_it_is_in_the_index(
        self, store: Store, batch: str
    ) -> None:
        first = a_chunk(batch, 0, [a_line("a"), a_line("b")])
        store.submit_chunk(batch, first)
        b = first.ids[ID_BYTES : ID_BYTES + 8]
        assert store.chunks_of_id(batch, b) == ["0"]
        store.taken(batch, first.ids)
        assert store.chunks_of_id(batch, b) == ["0"]
        store.submit_chunk(batch, a_chunk(batch, 1, [a_line("c")], first=3))
        assert store.chunks_of_id(batch, b) == ["0"]
        assert store.chunks_of_id(batch, os.urandom(8)) == []
        assert store.chunks_of_id(batch, first.ids[1:9]) == []  # bytes across two digests

    def test_sealing_with_chunks_missing_says_how_many_there_are(
        self, store: Store, batch: str
    ) -> None:
        store.submit_chunk(batch, a_chunk(batch, 0, [a_line("a")]))
        with pytest.raises(GapError) as raised:
            store.seal(batch, 3)
        assert raised.value.expected == 1
        assert not store.position(batch).sealed

    def test_a_sealed_batch_takes_no_more_and_can_be_sealed_again(
        self, store: Store, batch: str
    ) -> None:
        submitted(store, batch)
        store.seal(batch, 1)
        with pytest.raises(BatchClosedError):
            store.submit_chunk(batch, a_chunk(batch, 1, [a_line("d")]))
        # But the reply to its last chunk may have been lost, too.
        lines = [a_line(name) for name in "abc"]
        assert store.submit_chunk(batch, a_chunk(batch, 0, lines)) == Pace()

    def test_a_cancelled_batch_takes_no_more(self, store: Store, batch: str) -> None:
        store.submit_chunk(batch, a_chunk(batch, 0, [a_line("a")]))
        assert store.close_batch(batch, BatchStatus.CANCELLED)
        with pytest.raises(BatchClosedError, match="takes no more jobs"):
            store.submit_chunk(batch, a_chunk(batch, 1, [a_line("b")], first=2))

    def test_a_batch_of_nothing_is_completed_when_it_is_sealed(
        self, store: Store, batch: str
    ) -> None:
        assert store.state(batch).status == BatchStatus.VALIDATING
        store.seal(batch, 0)
        state = store.state(batch)
        assert (state.status, state.counts.total) == (BatchStatus.COMPLETED, 0)
        assert state.ended_at is not None


class TestClaiming:
    def test_a_lease_keeps_every_other_execution_out(self, store: Store, batch: str) -> None:
        submitted(store, batch)
        assert store.claim(batch, FIRST, "w/1", 60) == "work"
        assert store.claim(batch, FIRST, "w/1", 60) == "work"  # the reply was lost
        assert store.claim(batch, FIRST, "w/2", 60) == "leased"
        assert store.renew(batch, "0", "w/1", 60)
        assert not store.renew(batch, "0", "w/2", 60)
        assert not store.release(batch, "0", "w/2")

    def test_a_released_lease_is_anyones(self, store: Store, batch: str) -> None:
        submitted(store, batch)
        store.claim(batch, FIRST, "w/1", 60)
        assert store.release(batch, "0", "w/1")
        assert not store.release(batch, "0", "w/1")
        assert not store.renew(batch, "0", "w/1", 60)
        assert store.claim(batch, FIRST, "w/2", 60) == "work"

    def test_an_ended_lease_is_anyones_and_is_no_longer_renewed_once_taken(
        self, store: Store, batch: str
    ) -> None:
        submitted(store, batch)
        store.claim(batch, FIRST, "w/1", 0.05)
        eventually(lambda: store.claim(batch, FIRST, "w/2", 60) == "work", 5)
        assert not store.renew(batch, "0", "w/1", 60)

    def test_the_sweep_finds_ended_leases_and_those_of_the_dead(
        self, store: Store, batch: str
    ) -> None:
        for number in range(3):
            store.submit_chunk(
                batch, a_chunk(batch, number, [a_line(f"{number}")], first=number + 1)
            )
        store.claim(batch, ChunkId(0), "alive/1", 0.05)
        store.claim(batch, ChunkId(1), "alive/2", 60)
        store.claim(batch, ChunkId(2), "dead/1", 60)
        found: set[str] = set()

        def swept() -> bool:
            found.update(str(chunk) for chunk in store.sweep(batch, ["alive"], None))
            return found == {"0", "2"}

        eventually(swept, 5)
        assert store.sweep(batch, ["alive"], None) == []

    def test_what_is_done_cancelled_or_gone_is_not_claimed(self, store: Store, batch: str) -> None:
        store.submit_chunk(batch, a_chunk(batch, 0, [a_line("a")]))
        store.submit_chunk(batch, a_chunk(batch, 1, [a_line("b")], first=2))
        store.record(batch, FIRST, *graded(store, batch, FIRST))
        assert store.claim(batch, FIRST, "w/1", 60) == "done"
        assert store.claim(batch, ChunkId(7), "w/1", 60) == "done"
        store.close_batch(batch, BatchStatus.CANCELLED)
        assert store.claim(batch, ChunkId(1), "w/1", 60) == "stop"
        store.delete(batch)
        assert store.claim(batch, ChunkId(1), "w/1", 60) == "lost"


class TestRecording:
    def test_results_recorded_twice_count_once(self, store: Store, batch: str) -> None:
        submitted(store, batch)
        results, tally = graded(store, batch, FIRST)
        assert store.record(batch, FIRST, results, tally) == "new"
        before = store.state(batch), store.summary(batch)
        assert store.record(batch, FIRST, results, tally) == "recorded"
        assert (store.state(batch), store.summary(batch)) == before
        assert before[0].status == BatchStatus.COMPLETED
        assert before[0].counts.passed == before[0].counts.total == 3
        chunks = [entry.chunk for entry in store.read_log(batch, "", 0)]
        assert chunks == ["0", None]

    def test_other_results_of_the_same_graders_are_counted_as_nondeterministic(
        self, store: Store, batch: str
    ) -> None:
        submitted(store, batch)
        results, tally = graded(store, batch, FIRST)
        store.record(batch, FIRST, results, tally)
        counts = store.state(batch).counts
        assert store.record(batch, FIRST, results, replace(tally, digest="other")) == "late"
        assert store.state(batch).nondeterministic == 1
        # A newer grader may well judge otherwise.
        newer = replace(tally, digest="other", versions_used={"true-false=2"})
        assert store.record(batch, FIRST, results, newer) == "late"
        assert store.state(batch).nondeterministic == 1
        assert store.state(batch).counts == counts
        assert list(store.results(batch, ["0"])) == [results]

    def test_results_that_come_after_the_cancellation_are_late(
        self, store: Store, batch: str
    ) -> None:
        submitted(store, batch)
        results, tally = graded(store, batch, FIRST)
        store.close_batch(batch, BatchStatus.CANCELLED)
        close_open_chunks(store, batch, BatchStatus.CANCELLED)
        close_open_chunks(store, batch, BatchStatus.CANCELLED)
        before = store.state(batch)
        assert store.record(batch, FIRST, results, tally) == "late"
        assert store.state(batch) == before
        assert before.counts.cancelled == before.counts.total == 3
        assert (before.status, before.nondeterministic) == (BatchStatus.CANCELLED, 0)

    def test_results_that_come_after_the_deletion_leave_nothing_behind(
        self, store: Store, batch: str
    ) -> None:
        submitted(store, batch)
        store.claim(batch, FIRST, "w/1", 60)
        results, tally = graded(store, batch, FIRST)
        store.delete(batch)
        assert store.record(batch, FIRST, results, tally) == "late"
        assert not store.release(batch, "0", "w/1")
        assert not store.renew(batch, "0", "w/1", 60)
        assert not store.split(
            batch, FIRST, "w/1", [(FIRST.part(0, 1), 1)], "0:0-1", Charge(0, 3, "verdict")
        )
        assert store.strike(batch, FIRST, "w/1", Charge(0, 3, "verdict")) == 0
        assert keys_of(store, batch) == {f"wb:{{{batch}}}:deleted"}

    def test_a_part_recorded_in_time_leaves_the_rest_open(self, store: Store, batch: str) -> None:
        submitted(store, batch, "abcde")
        store.claim(batch, FIRST, "w/1", 60)
        done, rest = FIRST.part(0, 2), [(FIRST.part(2, 4), 2), (FIRST.part(4, 5), 1)]
        results, tally = graded(store, batch, done)
        assert store.record(batch, FIRST, results, tally, rest) == "new"
        assert store.record(batch, FIRST, results, tally, rest) == "recorded"
        counts = store.state(batch).counts
        assert (counts.total, counts.passed, counts.pending) == (5, 2, 3)
        assert list(map(str, store.open_chunks(batch))) == ["0:2-4", "0:4-5"]
        # Another execution that did all of it comes too late, and says nothing about determinism.
        assert store.record(batch, FIRST, *graded(store, batch, FIRST)) == "late"
        for part, _ in rest:
            assert store.record(batch, part, *graded(store, batch, part)) == "new"
        state = store.state(batch)
        assert (state.status, state.nondeterministic) == (BatchStatus.COMPLETED, 0)
        assert state.counts.passed == state.counts.total == 5

    def test_a_reopened_part_is_graded_again_without_the_rest_of_its_chunk(
        self, store: Store, batch: str
    ) -> None:
        submitted(store, batch, "abcde")
        rest = [(FIRST.part(2, 5), 3)]
        store.record(batch, FIRST, *graded(store, batch, FIRST.part(0, 2)), rest)
        store.record(batch, rest[0][0], *graded(store, batch, rest[0][0]))
        finished = [chunk for chunk, _ in store.records(batch)]
        assert sorted(map(str, finished)) == ["0:0-2", "0:2-5"]
        part = FIRST.part(0, 2)
        assert store.reopen(batch, part, 1, DAY)
        assert not store.reopen(batch, part, 1, DAY)
        state = store.state(batch)
        assert (state.status, state.epoch) == (BatchStatus.IN_PROGRESS, 1)
        assert (state.counts.total, state.counts.passed, state.counts.pending) == (5, 3, 2)
        assert [group.passed for group in store.summary(batch)] == [3]
        assert store.claim(batch, part, "w/1", 60) == "work"
        assert store.record(batch, part, *graded(store, batch, part)) == "new"
        assert store.state(batch).counts.passed == 5
        assert store.state(batch).status == BatchStatus.COMPLETED


class TestPoison:
    def test_a_split_made_twice_is_made_once(self, store: Store, batch: str) -> None:
        submitted(store, batch, "abcde")
        store.claim(batch, FIRST, "w/1", 60)
        parts = [(FIRST.part(0, 2), 2), (FIRST.part(2, 3), 1), (FIRST.part(3, 5), 2)]
        assert not store.split(batch, FIRST, "w/other", parts, "0:2-3", Charge(0, 3, "verdict"))
        assert store.split(batch, FIRST, "w/1", parts, "0:2-3", Charge(0, 3, "verdict"))
        assert not store.split(batch, FIRST, "w/1", parts, "0:2-3", Charge(0, 3, "verdict"))
        assert sorted(map(str, store.open_chunks(batch))) == ["0:0-2", "0:2-3", "0:3-5"]
        assert store.state(batch).counts.total == 5
        # The whole is a duplicate now, wherever it still comes from.
        assert store.claim(batch, FIRST, "w/2", 60) == "done"
        assert store.record(batch, FIRST, *graded(store, batch, FIRST)) == "late"
        assert store.state(batch).counts.pending == 5

    def test_deaths_count_once_each_and_condemn_at_the_limit(
        self, store: Store, batch: str
    ) -> None:
        submitted(store, batch, "a")
        for death in (1, 2, 3):
            assert store.condemned(batch, FIRST) == {}
            token = f"w/{death}"
            assert store.claim(batch, FIRST, token, 60) == "work"
            assert store.strike(batch, FIRST, token, Charge(0, 3, "verdict")) == death
            assert store.strike(batch, FIRST, token, Charge(0, 3, "verdict")) == 0
        assert store.condemned(batch, FIRST) == {0: "verdict"}

    def test_a_retry_forgives_what_was_condemned(self, store: Store, batch: str) -> None:
        submitted(store, batch, "a")
        store.claim(batch, FIRST, "w/1", 60)
        store.strike(batch, FIRST, "w/1", Charge(0, 1, "verdict"))
        store.record(batch, FIRST, *graded(store, batch, FIRST))
        store.reopen(batch, FIRST, 1, DAY)
        assert store.condemned(batch, FIRST) == {}
        store.claim(batch, FIRST, "w/2", 60)
        assert store.strike(batch, FIRST, "w/2", Charge(0, 3, "verdict")) == 1


class TestMissing:
    def test_a_deleted_batch_is_not_found(self, store: Store, batch: str) -> None:
        submitted(store, batch)
        assert store.delete(batch)
        assert not store.delete(batch)
        assert batch not in store.batches()
        for ask in (store.state, store.position, store.options):
            with pytest.raises(BatchNotFoundError, match="was deleted"):
                ask(batch)

    def test_an_emptied_server_has_lost_the_batch(self, own_server: EmbeddedServer) -> None:
        store = Store(own_server.url)
        batch = store.open_batch(BatchOptions(), expiry_seconds=DAY, ttl_seconds=DAY)
        store.redis.flushall()
        with pytest.raises(BatchLostError, match="is its append-only file on") as raised:
            store.state(batch)
        assert raised.value.code == "BATCH_LOST"
        with pytest.raises(BatchLostError):
            store.submit_chunk(batch, a_chunk(batch, 0, [a_line("a")]))
        with pytest.raises(BatchLostError):
            store.seal(batch, 0)
        with pytest.raises(BatchLostError):
            store.close_batch(batch, BatchStatus.CANCELLED)
        store.close()

    def test_an_id_that_says_it_has_expired_has(self, store: Store) -> None:
        with pytest.raises(BatchExpiredError) as raised:
            store.state(new_batch_id(int(time.time()) - 100, 50))
        assert raised.value.code == "BATCH_EXPIRED"

    def test_a_batch_dies_with_all_its_keys_when_its_id_says(self, store: Store) -> None:
        batch = store.open_batch(BatchOptions(), expiry_seconds=1, ttl_seconds=1)
        submitted(store, batch)
        assert keys_of(store, batch)
        eventually(lambda: not keys_of(store, batch), 10)
        with pytest.raises(BatchExpiredError):
            store.state(batch)

    @pytest.mark.parametrize(
        "name",
        [
            *("", "wb", "x_1_2_3", "wb_zz_1_2", "wb_1_2", "wb_1_2_3_4", "☃"),
            *(
                "wb_ffffffffffffffff_1_x",
                f"wb_6b000000_1_{'0' * 21}",
                f"wb_6b000000_1_{'0' * 20}\n",
            ),
        ],
    )
    def test_what_is_no_batch_id_is_not_found(self, store: Store, name: str) -> None:
        with pytest.raises(BatchNotFoundError, match="is no batch id"):
            store.state(name)


def keys_of(store: Store, batch: str) -> set[str]:
    return {key.decode() for key in store.redis.keys(f"*{batch}*")}


def test_every_key_of_a_batch_dies_when_the_batch_does(store: Store, batch: str) -> None:
    store.submit_chunk(batch, a_chunk(batch, 0, [a_line(name) for name in "abcde"]))
    store.submit_chunk(batch, a_chunk(batch, 1, [a_line(name) for name in "fghij"], first=6))
    store.submit_chunk(batch, a_chunk(batch, 2, [a_line("k")], first=11))
    store.seal(batch, 3)
    for number in range(3):
        store.claim(batch, ChunkId(number), f"w/{number}", 60)
    store.record(batch, FIRST, *graded(store, batch, FIRST))
    parts = [(ChunkId(1, 0, 2), 2), (ChunkId(1, 2, 3), 1), (ChunkId(1, 3, 5), 2)]
    store.split(batch, ChunkId(1), "w/1", parts, "1:2-3", Charge(0, 3, "verdict"))
    store.record(batch, parts[0][0], *graded(store, batch, parts[0][0]))
    store.claim(batch, parts[2][0], "w/9", 60)
    store._run("taken", batch, b"")  # puts one chunk's ids in the index, and leaves the others
    named = {name.rpartition(":")[2] for name in keys_of(store, batch) if "chunk" not in name}
    assert {"meta", "open", "claims", "sizes", "records", "log", "summary"} <= named
    assert {"ids", "fresh", "digests", "parts", "strikes"} <= named
    created, lives = (int(part, 16) for part in batch.split("_")[1:3])
    dies = {key: store.redis.pexpiretime(key) for key in keys_of(store, batch)}
    assert set(dies.values()) == {(created + lives) * 1000}, dies


def test_the_keys_of_a_batch_share_a_slot_of_a_cluster(store: Store, batch: str) -> None:
    submitted(store, batch)
    slots = {store.redis.execute_command("CLUSTER KEYSLOT", key) for key in keys_of(store, batch)}
    assert len(slots) == 1


@pytest.mark.slow
def test_the_index_of_a_million_ids_takes_at_most_20_bytes_an_id(
    store: Store, batch: str, record_property: Callable[[str, object], None]
) -> None:
    def bytes_an_id(key: str) -> float:
        return (store.redis.memory_usage(f"wb:{{{batch}}}:{key}", samples=0) or 0) / ids

    ids, each = 1_000_000, 5_000
    for number in range(ids // each):
        after = Position(number + 1, 0, 0, str(number))
        chunk = Submission(number, str(number), each, after, b"", os.urandom(12 * each), 0)
        store.submit_chunk(batch, chunk)
    as_submitted = bytes_an_id("fresh")
    assert store.taken(batch, os.urandom(12)) == []
    indexed = bytes_an_id("ids")
    assert bytes_an_id("fresh") == 0
    record_property("bytes_an_id_as_submitted", as_submitted)
    record_property("bytes_an_id_indexed", indexed)
    print(f"{as_submitted:.1f} bytes an id as submitted, {indexed:.1f} in the index")
    store.delete(batch)
    assert 12 <= as_submitted <= 20
    assert 13 <= indexed <= 20
