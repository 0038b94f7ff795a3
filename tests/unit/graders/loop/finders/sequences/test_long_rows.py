"""Rows of entries that pass a test."""

from __future__ import annotations

from itertools import groupby, product

import pytest

from weighbridge.graders.loop.finders.sequences.long_rows import long_rows


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
