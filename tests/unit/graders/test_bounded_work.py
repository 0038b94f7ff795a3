"""No large input takes a grader long, nor memory out of proportion: what would is given up before it begins."""

from __future__ import annotations

from time import process_time

import pytest

from support.grading_costs import cost_of, costs_of
from support.hostile_inputs import HOSTILE, OPENINGS

pytestmark = pytest.mark.slow

SIZE_BYTES = 200_000
#: Inputs that a limit on the size of a schema, of aliases or of a pattern rejects only at this size, one per limit.
AT_A_MEGABYTE = ("not_nest", "pattern_lookahead", "patternprops_many", "refs_chain", "tf_aliases")
MEGABYTE_BYTES = 900_000
LARGER_BYTES = (450_000, 600_000, MEGABYTE_BYTES)
SECONDS_LIMIT = 2.0  #: for a megabyte
SECONDS_PER_BYTE = SECONDS_LIMIT / MEGABYTE_BYTES
MEMORY_BYTES_PER_BYTE = 450
_TRIES = 3


def slowness():
    """Return how much slower this machine is now than one whose core adds ten million numbers in half a second."""
    begun, total = process_time(), 0
    for number in range(1_000_000):
        total += number
    return max(1.0, (process_time() - begun) / 0.05)


@pytest.mark.parametrize(
    ("name", "size_bytes"),
    [(name, SIZE_BYTES) for name in HOSTILE] + [(name, MEGABYTE_BYTES) for name in AT_A_MEGABYTE],
)
def test_a_large_input_takes_neither_long_nor_much_memory(name, size_bytes):
    line = whole(HOSTILE[name](size_bytes), size_bytes)
    cost = cost_of(line)
    assert_is_bounded(cost, size_bytes)
    if not is_in_proportion(cost, size_bytes):
        # Work with a fixed bound may take more than a small input's share. A limit may reject the largest.
        for larger in LARGER_BYTES:
            assert ends_in_time(whole(HOSTILE[name](larger), larger)), larger


@pytest.mark.parametrize("name", OPENINGS)
def test_texts_that_only_begin_what_is_searched_for_take_neither_long_nor_much_memory(name):
    lines = [whole(line, SIZE_BYTES) for line in OPENINGS[name](SIZE_BYTES)]
    for place, cost in enumerate(costs_of(lines)):
        assert_is_bounded(cost, SIZE_BYTES)
        if not is_in_proportion(cost, SIZE_BYTES):
            for larger in LARGER_BYTES:
                assert ends_in_time(whole(OPENINGS[name](larger)[place], larger)), (place, larger)


def assert_is_bounded(cost, size_bytes):
    assert cost.memory_bytes < size_bytes * MEMORY_BYTES_PER_BYTE
    assert b'"status":"' in cost.result


def is_in_proportion(cost, size_bytes):
    return cost.seconds < size_bytes * SECONDS_PER_BYTE


def whole(line, size_bytes):
    assert len(line) < 1.4 * size_bytes
    return line


def ends_in_time(line):
    """Tell whether one of several tries does, because other processes slow even CPU time down."""
    return any(cost_of(line).seconds < SECONDS_LIMIT * slowness() for _ in range(_TRIES))


def test_ordinary_calls_are_all_judged():
    cost = cost_of(HOSTILE["many_ordinary_calls"](SIZE_BYTES))
    assert b'"verdict":"pass"' in cost.result
