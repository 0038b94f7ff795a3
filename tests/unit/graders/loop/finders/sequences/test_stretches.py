"""Rows of entries that pass a test, and ranges of known results with few new ones between."""

from __future__ import annotations

from itertools import groupby, product

import pytest

from weighbridge.graders.loop.finders.sequences.stretches import long_rows, ranges


@pytest.mark.parametrize("least", [1, 2, 3])
def test_all_rows_that_are_long_enough_are_found(least):
    for entries in product((True, False), repeat=9):
        rows = [[*row] for passes, row in groupby(range(9), entries.__getitem__) if passes]
        long = [row for row in rows if len(row) >= least]
        assert [[*row] for row in long_rows(entries, bool, least)] == long


def test_most_entries_that_fail_are_not_tested():
    tested = []
    assert [*long_rows(range(100), tested.append, 10)] == []
    assert tested == [*range(9, 100, 10)]


@pytest.mark.parametrize(
    ("known", "per_new", "found"),
    [
        ("-++-", 4, []),
        ("-+++-", 4, [(1, 4)]),
        ("+++", 4, [(0, 3)]),
        ("++-+--", 4, []),
        ("+++-+++", 3, [(0, 3), (4, 7)]),
        ("++++-++--", 3, [(0, 7)]),
    ],
)
def test_a_range_has_enough_known_results_in_all_and_for_each_new_one(known, per_new, found):
    assert [*ranges([each == "+" for each in known], per_new, 3)] == found
