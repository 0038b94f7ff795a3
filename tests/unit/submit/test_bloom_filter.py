"""The filter of ids: never silent about one that it has seen, and rarely wrong about a new one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weighbridge_producer.submit.bloom_filter import BloomFilter

_shared = BloomFilter()


@given(st.lists(st.text(min_size=1), max_size=50))
def test_an_id_that_was_seen_is_always_known(ids: list[str]) -> None:
    for custom_id in ids:
        _shared.add(custom_id)
    assert all(map(_shared.add, ids))


@pytest.mark.slow
def test_of_300_000_new_ids_next_to_none_is_doubted() -> None:
    seen = BloomFilter()
    doubted = sum(seen.add(f"case-{number}") for number in range(300_000))
    assert doubted <= 2
    assert all(seen.add(f"case-{number}") for number in range(0, 300_000, 1000))
