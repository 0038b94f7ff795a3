"""Traces that begin with the whole of another one are counted."""

from __future__ import annotations

import pytest

from weighbridge.traces import read_trace
from weighbridge_producer.trace_view.histories import Histories

HI, HELLO = {"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}
AGAIN, MORE = {"role": "user", "content": "More"}, {"role": "assistant", "content": "No"}


def note_on(*rows):
    histories = Histories()
    for row in rows:
        histories.add(read_trace(row))
    return histories.note()


def test_the_rows_of_a_log_of_requests_that_repeat_earlier_ones_are_counted():
    rows = [
        {"messages": [HI], "output": "Hello"},
        {"messages": [HI, HELLO, AGAIN], "output": "No"},
        {"messages": [HI, HELLO, AGAIN, MORE, HI], "output": "Hello"},
    ]
    told = "begin with the whole of another one, as the rows of a log of requests do; its calls are counted in each"
    assert note_on(*rows) == f"2 of 3 traces {told}"
    assert note_on(*rows[:2]) == f"1 of 2 traces {told.replace('begin', 'begins')}"


@pytest.mark.parametrize(
    "rows",
    [
        [[HI, HELLO], [HI, HELLO]],  # the same run once more
        [[HI], [HI, HELLO], [HI, MORE]],  # the same question, answered otherwise
        [[HI, MORE], [HI, HELLO, AGAIN, MORE]],
        [[HI, HELLO, AGAIN, MORE], [AGAIN, MORE]],
        # Model calls whose answers are not recorded are alike in all runs.
        [{"steps": [{"type": "llm"}]}, {"steps": [{"type": "llm"}, {"type": "llm"}]}],
    ],
)
def test_traces_that_only_resemble_each_other_are_not_counted(rows):
    assert note_on(*rows) == ""
