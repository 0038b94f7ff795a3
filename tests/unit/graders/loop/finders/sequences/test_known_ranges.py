"""Ranges of known results, with few new ones between."""

from __future__ import annotations

import pytest

from weighbridge.graders.loop.finders.sequences.known_ranges import ranges


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
