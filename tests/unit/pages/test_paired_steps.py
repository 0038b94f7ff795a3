"""The steps of two traces side by side: each step once, equal ones in one row, and what differs marked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from weighbridge.traces import read_trace
from weighbridge_producer.pages.paired_steps import paired_timeline
from weighbridge_producer.trace_view.timeline import WINDOW, timeline_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge_producer.pages.paired_steps import PairedTimeline

FIND = ("find", "x", "none")
STEPS = st.lists(
    st.tuples(*map(st.sampled_from, (("find", "ask"), ("x", "y"), ("none", "one")))), max_size=12
)


def paired(
    before: Sequence[tuple[str, str, str]],
    after: Sequence[tuple[str, str, str]],
    first: int | None = None,
) -> PairedTimeline:
    """Pair two traces of calls, each given as tool, query and output."""
    sides = (
        read_trace(
            {
                "format": "weighbridge",
                "steps": [
                    {"type": "tool", "name": name, "arguments": {"q": query}, "output": output}
                    for name, query, output in calls
                ],
            }
        )
        for calls in (before, after)
    )
    return paired_timeline(*(timeline_of(each, None, first=first) for each in sides), first)


def numbers(found: PairedTimeline) -> list[tuple[int | None, int | None]]:
    """Return the numbers of the steps in each row."""
    return [
        (row.before and row.before.number, row.after and row.after.number)
        for section in found.sections
        for row in section.rows
    ]


@given(STEPS, STEPS)
def test_each_step_stands_in_one_row_in_order_and_equal_rows_have_equal_steps(before, after):
    found = paired(before, after)
    for side, calls in enumerate((before, after)):
        shown = [row[side] for row in numbers(found) if row[side]]
        assert shown == list(range(1, len(calls) + 1))
    for section in found.sections:
        for row in section.rows:
            assert row.is_equal == section.is_equal
            is_equal = (
                row.before
                and row.after
                and before[row.before.number - 1] == after[row.after.number - 1]
            )
            assert row.is_equal == bool(is_equal)


def test_a_step_that_only_one_trace_has_shifts_none_of_the_others():
    found = paired([("a", "1", ""), FIND, ("b", "2", "")], [("a", "1", ""), ("b", "2", "")])
    assert numbers(found) == [(1, 1), (2, None), (3, 2)]


def test_what_differs_between_two_steps_that_do_the_same_is_marked():
    [section] = paired([("find", "x", "one lamp")], [("find", "x", "no lamp")]).sections
    [row] = section.rows
    [text] = row.differences
    assert text.name == "output"
    marked = [
        [piece.text for piece in side if piece.is_changed] for side in (text.before, text.after)
    ]
    assert marked == [["one"], ["no"]]


def test_a_call_with_other_arguments_stands_beside_the_call_of_the_same_tool():
    found = paired([FIND, ("ask", "x", "")], [("find", "y", "none"), ("tell", "x", "")])
    assert numbers(found) == [(1, 1), (2, None), (None, 2)]
    [text] = found.sections[0].rows[0].differences
    assert text.name == "arguments"


def test_many_equal_rows_are_collapsed_and_few_are_not():
    same = [("find", str(number), "") for number in range(5)]
    [before, changed, after] = paired([*same, FIND, *same[:3]], [*same, *same[:3]]).sections
    assert (before.is_collapsed, changed.is_collapsed, after.is_collapsed) == (True, False, False)


def test_both_traces_are_shown_from_the_same_step_on():
    long, short = [FIND] * (2 * WINDOW), [FIND] * 10
    found = paired(long, short, first=WINDOW + 1)
    assert (found.window.first, found.window.last, found.window.total) == (101, 200, 200)
    assert numbers(found)[0] == (101, None)
    assert paired(short, short, first=50).window.first == 10
    assert paired([], []).sections == []
