"""The keys of a batch on a real server: joint expiry, deletion, and the reasons for missing batches."""

from __future__ import annotations

import re
import time
from contextlib import closing, suppress
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from redis.crc import key_slot

from support.chunks import (
    DAY,
    FAILURE,
    a_batch,
    a_chunk,
    a_line,
    claimed,
    filled,
    graded,
    keys_of,
    opened,
    recorded,
)
from support.proxy import Proxy
from support.waiting import eventually
from weighbridge.batch_closing import finish_open_chunks
from weighbridge.errors import (
    BatchExpiredError,
    BatchLostError,
    BatchNotFoundError,
    ServerUnavailableError,
)
from weighbridge.jobs.batch_state import BatchStatus
from weighbridge.store import BatchOptions, Store, new_batch_id
from weighbridge.store.key_names import key

if TYPE_CHECKING:
    from support.servers import TcpServer
    from weighbridge.embedded.server import EmbeddedServer

LANE = "grader:elsewhere@0"
PROTOCOL = Path(__file__).parents[3] / "docs/explanation/protocol.md"


def well_used(store: Store, queue: str) -> str:
    """Return a batch that has every kind of key and field."""
    batch = a_batch(store, queue)
    chunks = filled(store, batch, [5, 5, 1, 1, 1])
    for number in range(5):
        claimed(store, queue, f"w/{number}")
    recorded(store, batch, chunks[0])
    parts = [(chunks[1].part(6, 8), 2), (chunks[1].part(8, 9), 1), (chunks[1].part(9, 11), 2)]
    store.split(batch, chunks[1], "w/1", parts, str(parts[1][0]), FAILURE)
    recorded(store, batch, parts[0][0])
    store.count_failure(batch, chunks[2], "w/2", FAILURE)
    store.set_aside(batch, str(chunks[3]), "w/3", queue, LANE)
    store.set_aside(batch, str(chunks[4]), "w/4", queue, "grader:nowhere@2")
    store.reopen(batch, chunks[0], 1, DAY)
    # Puts one chunk's ids in the index, and leaves the others.
    store._run("find_duplicates", batch, b"")
    return batch


def test_every_key_of_a_batch_dies_when_the_batch_does(store: Store, queue: str) -> None:
    batch = well_used(store, queue)
    assert keys_of(store, batch) == {
        *("meta", "open", "chunks", "log", "ids"),
        *(f"lane:{LANE}", "lane:grader:nowhere@2"),
    }
    created_ms, lives_seconds = (int(part, 16) for part in batch.split("_")[1:3])
    dies = {key: store.redis.pexpiretime(f"wb:{{{batch}}}:{key}") for key in keys_of(store, batch)}
    assert set(dies.values()) == {created_ms + lives_seconds * 1000}, dies


def test_a_key_that_was_emptied_and_made_again_dies_with_the_others(
    store: Store, queue: str
) -> None:
    batch = a_batch(store, queue)
    [chunk] = filled(store, batch, [2])
    recorded(store, batch, chunk)
    assert "open" not in keys_of(store, batch)
    store.reopen(batch, chunk, 1, DAY)
    claimed(store, queue)
    store.set_aside(batch, str(chunk.of_epoch(1)), "w/1", queue, LANE)
    assert store.claim_next(queue, "w/2", 60, LANE)
    assert store.release(batch, str(chunk.of_epoch(1)), "w/2")
    left = {key: store.redis.pttl(f"wb:{{{batch}}}:{key}") for key in keys_of(store, batch)}
    assert min(left.values()) > 0, left


def test_every_field_of_a_batch_is_on_the_page_of_the_protocol(store: Store, queue: str) -> None:
    batch = well_used(store, queue)
    [twice] = filled(store, other := a_batch(store, queue), [2])
    recorded(store, other, twice)
    store.record(other, twice, b"other results\n", graded(store, other, twice)[1])
    broken_off = a_batch(store, queue)
    store.close_batch(broken_off, BatchStatus.FAILED, "its input broke off")
    store.close_batch(batch, BatchStatus.CANCELLED, "cancelled")
    while finish_open_chunks(store, batch, BatchStatus.CANCELLED):
        pass
    assert store.state(batch).status == BatchStatus.CANCELLED
    for name in ("meta", "chunks"):
        section = PROTOCOL.read_text("utf-8").partition(f"### Fields of `{name}`")[2]
        section = section.partition("\n### ")[0]
        cells = [line.split(" | ")[0] for line in section.splitlines() if line.startswith("| `")]
        listed = {field for cell in cells for field in re.findall(r"`([^`]+)`", cell)}
        used = [
            each for b in (batch, other, broken_off) for each in store.redis.hkeys(key(b, name))
        ]
        assert {general(field.decode()) for field in used} - listed == set()


def general(field: str) -> str:
    """Return a field's name as the page of the protocol writes it."""
    if field.startswith("["):
        return '["<label>","<grader>","<outcome>","<cause>"]'
    field = re.sub(r"\b\d+[:~][^ ]+", "<name>", field)
    return re.sub(r"^\d+\b", "<number>", field)


@pytest.mark.parametrize("damage", ["of a chunk", "of a key"])
def test_a_batch_whose_held_chunks_are_damaged_is_deleted(
    store: Store, queue: str, damage: str
) -> None:
    batch = a_batch(store, queue)
    [chunk] = filled(store, batch, [2])
    claimed(store, queue)
    prefix = f"wb:{{{batch}}}:"
    if damage == "of a chunk":
        store.redis.hset(f"{prefix}chunks", str(chunk), '{"jobs": 2, "failures": 7}')
    else:
        store.redis.set(f"{prefix}open", "rubbish")
    assert store.delete(batch)
    assert keys_of(store, batch) == {"deleted"}


@pytest.mark.parametrize("how", ["split", "recorded in part"])
def test_the_parts_of_a_batchs_only_chunk_die_with_the_batch(
    store: Store, queue: str, how: str
) -> None:
    batch = a_batch(store, queue)
    [chunk] = filled(store, batch, [4])
    parts = [(chunk.part(1, 3), 2), (chunk.part(3, 5), 2)]
    if how == "split":
        assert store.split(batch, chunk, claimed(store, queue).token, parts, "", FAILURE)
    else:
        store.record(batch, chunk, *graded(store, batch, parts[0][0]), parts[1:])
    assert store.redis.pttl(f"wb:{{{batch}}}:open") > 0


def test_the_only_chunk_of_a_batch_claimed_on_a_full_server_dies_with_the_batch(
    tcp_server: TcpServer, queue: str
) -> None:
    with closing(Store(tcp_server.url)) as store:
        batch = a_batch(store, queue)
        [chunk] = filled(store, batch, [1])
        with tcp_server.full():
            assert claimed(store, queue).chunk == chunk
        assert store.redis.pttl(f"wb:{{{batch}}}:open") > 0


def test_a_deletion_leaves_a_mark_and_nothing_else(store: Store, queue: str) -> None:
    batch = well_used(store, queue)
    assert store.delete(batch)
    assert keys_of(store, batch) == {"deleted"}
    assert 0 < store.redis.ttl(f"wb:{{{batch}}}:deleted") <= 8 * DAY
    shared = {key: mentions(store, key, batch) for key in store.redis.keys("wb:{fleet}:*")}
    assert [key for key, found in shared.items() if found] == []


def test_the_turns_of_a_lane_that_nobody_looks_at_any_more_die(store: Store, queue: str) -> None:
    batch = well_used(store, queue)
    store.close_batch(batch, BatchStatus.CANCELLED)
    assert 0 < store.redis.ttl(f"wb:{{fleet}}:ready:{queue}/{LANE}") <= 3600


def mentions(store: Store, key: bytes, batch: str) -> bool:
    """Whether a key that batches share has one of them still."""
    if store.redis.type(key) != b"zset":
        return False
    return store.redis.zscore(key, batch) is not None


def test_a_deletion_that_was_interrupted_can_be_made_again(store: Store, queue: str) -> None:
    batch = well_used(store, queue)
    store.redis.unlink(f"wb:{{{batch}}}:open", f"wb:{{{batch}}}:chunks")
    store.redis.set(f"wb:{{{batch}}}:deleted", 1, ex=60)
    assert store.is_deleted(batch)
    assert store.delete(batch)
    assert {"meta", "open", "chunks", "log", "ids"}.isdisjoint(keys_of(store, batch))


def test_a_deletion_that_loses_its_connection_leaves_all_of_a_batch_or_nothing(
    tcp_server: TcpServer, queue: str
) -> None:
    with closing(Store(tcp_server.url)) as store, Proxy(tcp_server.port) as proxy:
        is_deleted, ends = False, set()
        for requests in count():
            batch = well_used(store, queue)
            with closing(Store(proxy.url, retry=False)) as cut:
                cut.now()  # connects
                proxy.requests_left = requests
                with suppress(ServerUnavailableError):
                    is_deleted = cut.delete(batch)
                proxy.requests_left = None
            lists = [store.batches(), store.batches(project="default"), store.active_batches()]
            has_keys = bool(keys_of(store, batch) - {"deleted"})
            assert {batch in listed for listed in lists} == {has_keys}, requests
            ends.add(has_keys)
            assert store.delete(batch) == has_keys
            if is_deleted:
                break
        assert ends == {True, False}


def test_a_claim_creates_no_key_of_a_batch_whose_keys_have_expired(
    store: Store, batch: str, queue: str
) -> None:
    filled(store, batch, [1])
    store.redis.unlink(*(f"wb:{{{batch}}}:{name}" for name in keys_of(store, batch)))
    assert store.claim_next(queue, "w/1", 60) is None
    assert keys_of(store, batch) == set()


def test_the_keys_of_a_batch_share_a_slot_of_a_cluster(store: Store, queue: str) -> None:
    batch = well_used(store, queue)
    slots = {slot_of(f"wb:{{{batch}}}:{key}") for key in keys_of(store, batch)}
    assert len(slots) == 1


def test_the_keys_that_batches_share_lie_in_one_slot_of_a_cluster(store: Store, queue: str) -> None:
    well_used(store, queue)
    names = {key for key in store.redis.keys("*") if b"wb_" not in key and b"{fleet}" in key}
    assert {b"wb:{fleet}:batches", b"wb:{fleet}:active", b"wb:{fleet}:due"} <= names
    assert len({slot_of(name) for name in names}) == 1


def slot_of(key: str | bytes) -> int:
    return key_slot(key.encode() if isinstance(key, str) else key)


class TestMissing:
    def test_a_deleted_batch_is_not_found(self, store: Store, batch: str) -> None:
        filled(store, batch, [3])
        assert store.delete(batch)
        assert not store.delete(batch)
        assert batch not in store.batches()
        assert batch not in store.active_batches()
        for ask in (store.state, store.position, store.options):
            with pytest.raises(BatchNotFoundError, match="was deleted"):
                ask(batch)

    def test_an_emptied_server_has_lost_the_batch(self, own_server: EmbeddedServer) -> None:
        store = Store(own_server.url)
        batch = opened(store, BatchOptions(), expiry_seconds=DAY, ttl_seconds=DAY)
        [chunk] = filled(store, batch, [1])
        results = graded(store, batch, chunk)
        store.redis.flushall()
        with pytest.raises(BatchLostError, match="check that its append-only file is on") as raised:
            store.state(batch)
        assert raised.value.code == "BATCH_LOST"
        assert raised.value.hint.startswith("check each character of the id, and the URL")
        with pytest.raises(BatchLostError):
            store.submit_chunk(batch, a_chunk(batch, 0, [a_line("a")]))
        with pytest.raises(BatchLostError):
            store.find_duplicates(batch, b"")
        with pytest.raises(BatchLostError):
            store.seal(batch, 0, "")
        with pytest.raises(BatchLostError):
            store.close_batch(batch, BatchStatus.CANCELLED)
        with pytest.raises(BatchLostError):
            store.pause_batch(batch, paused=True)
        # Late operations do not recreate any of its keys.
        assert store.record(batch, chunk, *results) == "late"
        assert keys_of(store, batch) == set()
        store.close()

    def test_an_id_that_says_it_has_expired_has(self, store: Store) -> None:
        with pytest.raises(BatchExpiredError) as raised:
            store.state(new_batch_id(int(time.time()) - 100, 50))
        assert raised.value.code == "BATCH_EXPIRED"

    def test_a_batch_dies_with_all_its_keys_when_its_id_says(self, store: Store) -> None:
        batch = opened(store, BatchOptions(), expiry_seconds=1, ttl_seconds=1)
        filled(store, batch, [3])
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
        with pytest.raises(BatchNotFoundError, match="is not a batch id"):
            store.state(name)
