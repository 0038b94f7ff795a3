"""The record of ids: never silent about one that was seen, whatever the order in which ids come."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from weighbridge_producer.submit import seen_ids
from weighbridge_producer.submit.digests import Digester
from weighbridge_producer.submit.seen_ids import SeenIds

_IDS = st.lists(st.text(st.characters(codec="utf-8"), min_size=1, max_size=4), unique=True)


def added(record: SeenIds, ids: list[str]) -> list[int]:
    """Add ids with the digests of a batch, and return the indices of the doubted ones."""
    return record.add(ids, Digester("a-batch-of-this-test").of_ids(ids))


def ordered(ids: list[str]) -> list[str]:
    return sorted(ids, key=lambda name: (len(name), name))


@given(st.lists(st.one_of(_IDS, _IDS.map(ordered)), max_size=8))
def test_every_id_of_an_earlier_chunk_is_doubted(chunks: list[list[str]]) -> None:
    record, seen = SeenIds(), set[str]()
    for ids in chunks:
        doubted = {ids[index] for index in added(record, ids)}
        assert seen.intersection(ids) <= doubted
        seen.update(ids)


def test_ids_that_count_up_are_new() -> None:
    record = SeenIds()
    for first in range(0, 30_000, 1_000):
        assert added(record, [f"q{number}" for number in range(first, first + 1_000)]) == []


def test_an_id_that_goes_back_is_compared_with_those_before() -> None:
    record = SeenIds()
    assert added(record, ["a1", "a2", "a9"]) == []
    assert added(record, ["a3", "a10"]) == []
    assert added(record, ["a11", "a9", "a1", "b"]) == [1, 2]
    assert added(record, ["a10", "a3", "a11", "c"]) == [0, 1, 2]


def test_a_chunk_that_repeats_the_last_id_is_doubted() -> None:
    record = SeenIds()
    assert added(record, ["a1", "a2"]) == []
    assert added(record, ["a2", "a3"]) == [0]


def test_more_ids_than_are_kept_are_put_into_the_filter(monkeypatch) -> None:
    monkeypatch.setattr(seen_ids, "_MOST_ASCENDING", 5)
    record = SeenIds()
    assert added(record, ["a1", "a2", "a3"]) == []
    assert added(record, ["a4", "a5", "a6"]) == []
    assert added(record, ["a1", "a6", "a7"]) == [0, 1]
