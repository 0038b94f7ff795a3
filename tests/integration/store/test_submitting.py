"""Submitting on a real server: each step may be made twice, at any moment, and counts once."""

from __future__ import annotations

import os
from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING

import pytest
from redis import Redis

from support.chunks import DAY, a_chunk, a_line, filled, graded, opened, recorded
from weighbridge.errors import (
    BatchClosedError,
    BatchNotFoundError,
    ChunkConflictError,
    ServerError,
)
from weighbridge.jobs.batch_state import BatchStatus
from weighbridge.jobs.chunk import ChunkId
from weighbridge.store import (
    ID_BYTES,
    BatchOptions,
    ChunkUpload,
    DuplicateId,
    GapError,
    Pace,
    Position,
    Push,
)
from weighbridge.store.key_names import BATCHES, LISTED_SECONDS, key, listing

if TYPE_CHECKING:
    from collections.abc import Callable

    from weighbridge.store import Store


def test_a_batch_opened_twice_is_the_same_batch(store: Store, batch: str) -> None:
    filled(store, batch, [3])
    before = store.state(batch)
    other = BatchOptions(source="other")
    assert opened(store, other, expiry_seconds=1, ttl_seconds=1, batch=batch) == batch
    assert store.state(batch) == before
    assert store.options(batch).source == "cases"


def test_a_batch_and_its_entries_in_the_lists_are_written_at_once(store: Store) -> None:
    """A server that is emptied between two writes would keep list entries of a batch that it does not have."""
    opened(store, BatchOptions(), expiry_seconds=60, ttl_seconds=60)  # so the server has the script
    with store.redis.monitor() as monitor:
        batch = opened(store, BatchOptions(project="p"), expiry_seconds=60, ttl_seconds=60)
        store.redis.echo("done")
        commands = takewhile(lambda one: one["command"] != "ECHO done", monitor.listen())
        by_client = [
            one for one in commands if batch in one["command"] and one["client_type"] != "lua"
        ]
    assert len(by_client) == 1
    assert batch in store.batches(project="p")
    assert batch in store.batches()
    assert batch in store.active_batches()


def test_batches_are_listed_by_the_millisecond_in_which_they_were_opened(store: Store) -> None:
    now = int(store.now())
    options = BatchOptions(project="listed")
    batches = [
        opened(store, options, expiry_seconds=60, ttl_seconds=60, now=now + number / 1000)
        for number in range(8)
    ]
    assert store.batches(project="listed") == batches[::-1]
    page = store.batch_page(3, batches[5], project="listed")
    assert page.batches == [batches[4], batches[3], batches[2]]


def test_a_batch_that_nothing_happens_to_is_looked_at_when_it_expires(store: Store) -> None:
    batch = opened(store, BatchOptions(), expiry_seconds=60, ttl_seconds=60)
    assert batch not in store.due_batches(store.now() + 55, 10_000)
    assert batch in store.due_batches(store.now() + 61, 10_000)


def test_a_new_batch_takes_those_out_of_the_lists_that_are_no_longer_found(store: Store) -> None:
    long_ago = int(store.now()) - LISTED_SECONDS
    names = {b"before": long_ago - 1, b"then": long_ago + 60}
    for name in (BATCHES, listing("old")):
        store.redis.zadd(name, names)
    opened(store, BatchOptions(project="old"), expiry_seconds=60, ttl_seconds=60)
    for name in (BATCHES, listing("old")):
        assert store.redis.zscore(name, b"before") is None
        assert store.redis.zrem(name, b"then") == 1


def test_a_batch_tells_its_options_as_they_were_given(store: Store) -> None:
    options = BatchOptions(
        source="cases", queue="q", priority="high", versions={"true-false": 3}, metadata={"a": "b"}
    )
    batch = opened(store, options, expiry_seconds=60, ttl_seconds=60)
    assert store.options(batch) == options


def test_a_chunk_submitted_twice_is_there_once(store: Store, batch: str) -> None:
    chunk = a_chunk(batch, 0, [a_line("a"), a_line("b")])
    assert store.submit_chunk(batch, chunk) == Pace()
    before = store.state(batch)
    assert store.submit_chunk(batch, chunk) == Pace()
    assert store.state(batch) == before
    assert before.counts.total == 2
    assert store.open_chunks(batch) == [chunk.id]


@pytest.mark.parametrize(
    "lines",
    [[a_line("b")], [a_line("a"), a_line("b")], []],
    ids=["other bytes", "more lines", "no line"],
)
def test_another_chunk_under_the_same_number_is_a_conflict(
    store: Store, batch: str, lines: list[bytes]
) -> None:
    store.submit_chunk(batch, a_chunk(batch, 0, [a_line("a")]))
    with pytest.raises(ChunkConflictError, match="is already stored with other lines") as raised:
        store.submit_chunk(batch, a_chunk(batch, 0, lines))
    assert raised.value.code == "CHUNK_CONFLICT"
    assert store.state(batch).counts.total == 1


def test_a_stored_chunk_is_answered_with_the_pace_of_the_workers(store: Store, batch: str) -> None:
    first = a_chunk(batch, 0, [a_line("a"), a_line("b")])
    store.submit_chunk(batch, first)
    results, tally = graded(store, batch, first.id)
    store.record(batch, first.id, results, replace(tally, grade_us=7_000))
    assert store.submit_chunk(batch, a_chunk(batch, 1, [a_line("c")], first=3)) == Pace(7_000, 2)


def test_a_chunk_out_of_order_says_which_is_expected(store: Store, batch: str) -> None:
    store.submit_chunk(batch, a_chunk(batch, 0, [a_line("a")]))
    with pytest.raises(GapError) as raised:
        store.submit_chunk(batch, a_chunk(batch, 2, [a_line("b")]))
    assert raised.value.expected == 1


def test_ids_that_earlier_chunks_have_are_named(store: Store, batch: str) -> None:
    store.submit_chunk(batch, a_chunk(batch, 0, [a_line("a"), a_line("b")]))
    store.submit_chunk(batch, a_chunk(batch, 1, [a_line("c")], first=3))
    asked = a_chunk(batch, 2, [a_line("d"), a_line("b"), a_line("a", "no"), a_line("c")])
    before = store.state(batch)
    for _ in range(2):  # from the chunks first, then from the index
        assert store.find_duplicates(batch, asked.ids) == [
            DuplicateId(1, True),
            DuplicateId(2, False),
            DuplicateId(3, True),
        ]
    assert store.state(batch) == before


def test_an_id_is_not_found_in_the_bytes_of_two_others(store: Store, batch: str) -> None:
    # Ids with the same first two bytes lie side by side in the index: six bytes, four of the line, three of the chunk.
    packed = b"--abcdefghij" + b"--uvwxyz1234"
    chunk = replace(a_chunk(batch, 0, [a_line("a"), a_line("b")]), ids=packed)
    store.submit_chunk(batch, chunk)
    asked = [
        b"--bcdefghij\0",
        b"--ij\0\0\0uvwxy",
        b"--\0uvwxyz123",
        b"--uvwxyz1234",
        b"--abcdefghiX",
    ]
    assert store.find_duplicates(batch, b"".join(asked)) == [
        DuplicateId(3, True),
        DuplicateId(4, False),
    ]


@pytest.mark.parametrize("number", [0, 255, 256, 65_535, 65_536, 2**24 - 1])
def test_the_index_names_the_chunk_of_an_id_whatever_the_chunks_number(
    store: Store, batch: str, number: int
) -> None:
    store.redis.hset(key(batch, "meta"), mapping={"chunks": number, "indexed": number})
    chunk = a_chunk(batch, number, [a_line("a")])
    store.submit_chunk(batch, chunk)
    assert store.find_duplicates(batch, chunk.ids) == [DuplicateId(0, True)]
    assert store.chunks_of_id(batch, chunk.ids[:8]) == [str(chunk.id)]


def test_each_of_thousands_of_ids_in_two_chunks_is_found(store: Store, batch: str) -> None:
    # More ids than one HMGET or HSET takes; the chunks share all buckets of the index.
    packed = [
        b"".join(
            bytes([at % 40, at // 40]) + chunk + at.to_bytes(5) + b"line" for at in range(3_000)
        )
        for chunk in (b"x", b"y")
    ]
    for number, ids in enumerate(packed):
        chunk = a_chunk(batch, number, [a_line(f"c{number}")], first=number + 1)
        store.submit_chunk(batch, replace(chunk, ids=ids))
    for ids in packed:
        assert store.find_duplicates(batch, ids) == [DuplicateId(at, True) for at in range(3_000)]
    assert store.find_duplicates(batch, packed[0].replace(b"x", b"z")) == []


def test_the_chunks_of_an_id_are_found_before_and_after_it_is_in_the_index(
    store: Store, batch: str
) -> None:
    first = a_chunk(batch, 0, [a_line("a"), a_line("b")])
    store.submit_chunk(batch, first)
    b = first.ids[ID_BYTES : ID_BYTES + 8]
    assert store.chunks_of_id(batch, b) == [str(first.id)]
    assert store.chunks_of_id(batch, first.ids[1:9]) == []  # bytes across two digests
    store.find_duplicates(batch, first.ids)
    assert store.chunks_of_id(batch, b) == [str(first.id)]
    store.submit_chunk(batch, a_chunk(batch, 1, [a_line("c")], first=3))
    assert store.chunks_of_id(batch, b) == [str(first.id)]
    assert store.chunks_of_id(batch, os.urandom(8)) == []
    recorded(store, batch, first.id)
    store.reopen(batch, first.id, 1, DAY)
    recorded(store, batch, first.id.of_epoch(1))
    assert str(first.id.of_epoch(1)) in store.chunks_of_id(batch, b)
    assert store.chunks_of_id(batch, first.ids[1:9]) == []  # bytes across two digests


def test_no_chunk_of_an_empty_batch_has_an_id(store: Store, batch: str) -> None:
    assert store.chunks_of_id(batch, os.urandom(8)) == []


def test_a_chunk_of_many_lines_is_found_by_an_id_before_it_is_in_the_index(
    store: Store, batch: str
) -> None:
    chunk = a_chunk(batch, 0, [a_line(f"c{number}") for number in range(200)])
    store.submit_chunk(batch, chunk)
    last = chunk.ids[-ID_BYTES:][:8]
    assert store.chunks_of_id(batch, last) == [str(chunk.id)]
    # More lines than are searched at once.
    store.redis.hset(key(batch, "meta"), "lines", 10**6)
    assert store.chunks_of_id(batch, last) == [str(chunk.id)]


def test_sealing_with_chunks_missing_says_how_many_there_are(store: Store, batch: str) -> None:
    chunk = a_chunk(batch, 0, [a_line("a")])
    store.submit_chunk(batch, chunk)
    with pytest.raises(GapError) as raised:
        store.seal(batch, 3, chunk.after.prefix)
    assert raised.value.expected == 1
    assert not store.position(batch).sealed


def test_sealing_other_lines_than_are_there_is_a_conflict(store: Store, batch: str) -> None:
    """A rolled-back server may have been filled by another producer, with as many chunks."""
    chunk = a_chunk(batch, 0, [a_line("a")])
    store.submit_chunk(batch, chunk)
    with pytest.raises(ChunkConflictError, match="are not those submitted here"):
        store.seal(batch, 1, a_chunk(batch, 0, [a_line("b")]).after.prefix)
    assert not store.position(batch).sealed
    store.seal(batch, 1, chunk.after.prefix)
    assert store.position(batch) == Position(1, *_place(chunk.after), sealed=True)


def _place(position: Position) -> tuple[int, int, str]:
    return position.offset, position.lines, position.prefix


def test_a_sealed_batch_takes_no_more_and_can_be_sealed_again(store: Store, batch: str) -> None:
    chunk = a_chunk(batch, 0, [a_line("a")])
    store.submit_chunk(batch, chunk)
    for _ in range(2):
        store.seal(batch, 1, chunk.after.prefix)
    with pytest.raises(BatchClosedError):
        store.submit_chunk(batch, a_chunk(batch, 1, [a_line("d")], first=2))
    # But the reply to its last chunk may have been lost, too.
    assert store.submit_chunk(batch, chunk) == Pace()


def test_the_last_chunk_travels_with_the_seal_and_both_may_come_twice(
    store: Store, batch: str
) -> None:
    chunk = a_chunk(batch, 0, [a_line("a")])
    for _ in range(2):
        store.submit(batch, chunk, is_last=True)
    assert store.position(batch) == Position(1, *_place(chunk.after), sealed=True)
    assert store.state(batch).counts.total == 1


def test_the_last_chunk_is_sealed_on_a_server_that_has_forgotten_every_script(
    store: Store, batch: str
) -> None:
    store.redis.script_flush()
    chunk = a_chunk(batch, 0, [a_line("a")])
    store.submit(batch, chunk, is_last=True)
    assert store.position(batch) == Position(1, *_place(chunk.after), sealed=True)


@pytest.fixture
def loaded_in_vain(store: Store, batch: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return a batch on a server that forgets each script right after it was loaded on its own."""
    load = Redis.script_load

    def load_and_flush(client: Redis, source: str) -> object:
        loaded = load(client, source)
        store.redis.script_flush()
        return loaded

    monkeypatch.setattr(Redis, "script_load", load_and_flush)
    store.redis.script_flush()
    return batch


def test_results_are_read_from_a_server_that_forgets_each_script_right_after_it_was_loaded(
    store: Store, loaded_in_vain: str
) -> None:
    [chunk] = filled(store, loaded_in_vain, [1])
    results, tally = graded(store, loaded_in_vain, chunk)
    store.record(loaded_in_vain, chunk, results, tally)
    page = store.read_results(loaded_in_vain, "0", wait_seconds=0, most=9)
    assert next(page.results) == results


def test_the_error_of_a_script_is_raised_on_a_server_that_forgets_it_right_after_it_was_loaded(
    store: Store, loaded_in_vain: str
) -> None:
    store.redis.unlink(key(loaded_in_vain, "meta"))
    store.redis.set(key(loaded_in_vain, "meta"), "x")
    with pytest.raises(ServerError, match="WRONGTYPE"):
        store.submit_chunk(loaded_in_vain, a_chunk(loaded_in_vain, 0, [a_line("a")]))


def test_all_of_a_small_batch_is_submitted_in_one_pipeline(store: Store) -> None:
    planned = store.plan_batch(BatchOptions(project="small"), expiry_seconds=60, ttl_seconds=60)
    chunk = a_chunk(planned.id, 0, [a_line("a")])
    push = Push("a-queue", b"wake up")
    store.submit(planned.id, chunk, planned=planned, is_last=True)  # so the server has the scripts
    store.redis.unlink(key(planned.id, "meta"))
    for _ in range(2):  # as a client does that has lost the first reply
        submitted = store.submit(planned.id, chunk, planned=planned, is_last=True, push=push)
        assert submitted.is_announced
    assert store.position(planned.id) == Position(1, *_place(chunk.after), sealed=True)
    assert store.batches(project="small") == [planned.id]
    assert store.redis.lrange("a-queue", 0, -1) == [b"wake up"] * 2


def test_a_batch_that_was_deleted_is_not_created_again_when_its_creation_is_repeated(
    store: Store,
) -> None:
    planned = store.plan_batch(BatchOptions(), expiry_seconds=60, ttl_seconds=60)
    store.create_batch(planned)
    store.delete(planned.id)
    with pytest.raises(BatchNotFoundError, match="was deleted"):
        store.submit(planned.id, a_chunk(planned.id, 0, [a_line("a")]), planned=planned)
    assert planned.id not in store.batches()


def test_a_message_sent_before_its_chunk_was_stored_does_not_announce_it(
    store: Store, batch: str
) -> None:
    """A server that has forgotten a script stores the chunk only after it has sent the message."""
    push = Push("early-queue", b"wake up")
    store.submit(batch, a_chunk(batch, 0, [a_line("a")]))
    store.redis.script_flush()
    chunk = a_chunk(batch, 1, [a_line("b")], first=2)
    assert not store.submit(batch, chunk, push=push).is_announced
    assert store.position(batch).chunks == 2


def test_a_message_is_not_sent_with_a_script_that_the_server_may_not_have(
    store: Store, batch: str
) -> None:
    push, chunk = Push("first-queue", b"wake up"), a_chunk(batch, 0, [a_line("a")])
    assert not store.submit(batch, chunk, push=push).is_announced
    assert store.redis.llen("first-queue") == 0
    assert store.submit(batch, chunk, push=push).is_announced
    assert store.redis.llen("first-queue") == 1


def test_a_message_that_the_server_refuses_does_not_announce_the_chunk(
    store: Store, batch: str
) -> None:
    store.submit(batch, a_chunk(batch, 0, [a_line("a")]))
    store.redis.set("no-list", "x")
    chunk = a_chunk(batch, 1, [a_line("b")], first=2)
    assert not store.submit(batch, chunk, push=Push("no-list", b"wake up")).is_announced
    assert store.position(batch).chunks == 2


def test_a_last_chunk_behind_a_gap_is_refused_and_seals_nothing(store: Store, batch: str) -> None:
    with pytest.raises(GapError):
        store.submit(batch, a_chunk(batch, 1, [a_line("b")], first=2), is_last=True)
    assert store.position(batch) == Position()


def test_a_last_chunk_with_other_lines_is_a_conflict_and_seals_nothing(
    store: Store, batch: str
) -> None:
    store.submit_chunk(batch, a_chunk(batch, 0, [a_line("a")]))
    with pytest.raises(ChunkConflictError):
        store.submit(batch, a_chunk(batch, 0, [a_line("b")]), is_last=True)
    assert not store.position(batch).sealed


def test_a_cancelled_batch_takes_no_more(store: Store, batch: str) -> None:
    store.submit_chunk(batch, a_chunk(batch, 0, [a_line("a")]))
    assert store.close_batch(batch, BatchStatus.CANCELLED)
    with pytest.raises(BatchClosedError, match="accepts no more jobs"):
        store.submit_chunk(batch, a_chunk(batch, 1, [a_line("b")], first=2))


def test_a_cancelled_batch_cannot_be_sealed(store: Store, batch: str) -> None:
    chunk = a_chunk(batch, 0, [a_line("a")])
    store.submit_chunk(batch, chunk)
    store.close_batch(batch, BatchStatus.CANCELLED)
    before = store.state(batch)
    with pytest.raises(BatchClosedError, match="accepts no more jobs"):
        store.seal(batch, 1, chunk.after.prefix)
    assert store.state(batch) == before


def test_sealing_a_batch_that_has_ended_changes_nothing(store: Store, batch: str) -> None:
    [chunk] = filled(store, batch, [1])
    recorded(store, batch, chunk)
    before = store.state(batch), store.read_log(batch, "", 0)
    store.seal(batch, 1, store.position(batch).prefix)
    assert (store.state(batch), store.read_log(batch, "", 0)) == before


def test_a_batch_of_nothing_is_completed_when_it_is_sealed(store: Store, batch: str) -> None:
    assert store.state(batch).status == BatchStatus.VALIDATING
    store.seal(batch, 0, "")
    state = store.state(batch)
    assert (state.status, state.counts.total) == (BatchStatus.COMPLETED, 0)
    assert state.ended_at is not None


@pytest.mark.slow
def test_the_index_of_many_ids_takes_at_most_20_bytes_an_id(
    store: Store, batch: str, record_property: Callable[[str, object], None]
) -> None:
    def bytes_an_id(key: str) -> float:
        return (store.redis.memory_usage(f"wb:{{{batch}}}:{key}", samples=0) or 0) / ids

    ids, each = 400_000, 5_000
    for number in range(ids // each):
        after = Position(number + 1, 0, 0, str(number))
        chunk = ChunkId(number, 1 + number * each, 1 + (number + 1) * each, f"{number:016x}")
        store.submit_chunk(batch, ChunkUpload(chunk, each, after, b"", os.urandom(12 * each), 0))
    as_submitted = bytes_an_id("chunks")
    assert store.find_duplicates(batch, os.urandom(12)) == []
    indexed = bytes_an_id("ids")
    assert bytes_an_id("chunks") < 1
    record_property("bytes_an_id_as_submitted", as_submitted)
    record_property("bytes_an_id_indexed", indexed)
    print(f"{as_submitted:.1f} bytes an id as submitted, {indexed:.1f} in the index")
    store.delete(batch)
    assert 12 <= as_submitted <= 20
    assert 13 <= indexed <= 20
