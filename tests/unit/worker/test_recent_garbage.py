"""Cycles that jobs leave are collected between jobs, also those that Python counts as old."""

import gc
from collections.abc import Iterator
from weakref import ref

import pytest

from weighbridge.child_process import RecentGarbage


class Node:
    """An object that refers to itself."""

    def __init__(self) -> None:
        self.me = self


@pytest.fixture(autouse=True)
def only_explicit_collections() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


def test_a_new_cycle_is_collected_without_a_full_collection() -> None:
    garbage = RecentGarbage()
    garbage.collect()
    full = gc.get_stats()[2]["collections"]
    for _ in range(3):
        left = ref(Node())
        garbage.collect()
        assert left() is None
    assert gc.get_stats()[2]["collections"] == full


def test_a_cycle_that_automatic_collections_moved_to_the_old_objects_is_collected() -> None:
    garbage = RecentGarbage()
    garbage.collect()
    node = Node()
    gc.collect(1)
    left = ref(node)
    del node
    garbage.collect()
    assert left() is None


def test_the_calls_after_a_full_collection_are_short_again() -> None:
    garbage = RecentGarbage()
    garbage.collect_all()
    full = gc.get_stats()[2]["collections"]
    garbage.collect()
    assert gc.get_stats()[2]["collections"] == full
