"""The filter of ids: never silent about one that it has seen, and rarely wrong about a new one."""

from __future__ import annotations

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weighbridge_producer.submit.bloom_filter import BloomFilter
from weighbridge_producer.submit.digests import Digester

_shared = BloomFilter()


@given(st.lists(st.integers(0, (1 << 64) - 1), max_size=50))
def test_an_id_that_was_seen_is_always_known(digests: list[int]) -> None:
    for digest in digests:
        _shared.add(digest)
    assert all(map(_shared.add, digests))


@pytest.mark.slow
def test_of_300_000_new_ids_next_to_none_is_doubted() -> None:
    seen = BloomFilter()
    ids = [f"case-{number}" for number in range(300_000)]
    digests = array("Q", Digester("a-batch-of-this-test").of_ids(ids))
    assert sum(map(seen.add, digests)) <= 2
    assert all(map(seen.add, digests[::1000]))
