"""Sets of line numbers: whatever is put in, and in whatever order, they answer as a plain set does."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from weighbridge_producer.client.line_intervals import IntervalSet

interval = st.tuples(st.integers(1, 40), st.integers(1, 40))


@given(st.lists(interval), interval)
def test_an_interval_set_answers_as_a_set_of_the_same_numbers_does(
    added: list[tuple[int, int]], asked: tuple[int, int]
) -> None:
    found = IntervalSet(added)
    plain = {number for start, end in added for number in range(start, end)}
    numbers = set(range(*asked))
    assert {number for number in range(45) if number in found} == plain
    assert found.covers(*asked) == (numbers <= plain)
    assert found.overlaps(*asked) == bool(numbers & plain)


@given(st.lists(interval))
def test_the_intervals_are_as_few_as_can_be(added: list[tuple[int, int]]) -> None:
    intervals = IntervalSet(added).intervals()
    ends = [end for _, end in intervals[:-1]]
    assert all(end < start for end, (start, _) in zip(ends, intervals[1:], strict=True))
    assert all(start < end for start, end in intervals)


@given(st.lists(interval))
def test_a_set_made_of_its_intervals_is_the_same_set(added: list[tuple[int, int]]) -> None:
    intervals = IntervalSet(added).intervals()
    assert IntervalSet(intervals).intervals() == intervals


def test_chunks_that_come_out_of_order_leave_one_interval_when_all_have_come() -> None:
    found = IntervalSet()
    for start in (201, 1, 301, 101):
        found.add(start, start + 100)
    assert found.intervals() == [(1, 401)]
