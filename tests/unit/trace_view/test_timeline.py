"""The terminal timeline of a trace: aligned columns, unchanged text, and a cost proportional to the steps."""

from __future__ import annotations

import io
import sys

import pytest
from rich.console import Console

from weighbridge.traces import read_traces
from weighbridge_producer.cli import timeline


@pytest.fixture
def drawn(monkeypatch):
    """Return a function that draws the trace of the given steps and returns the lines below its title."""

    def draw(*steps, **options):
        console = Console(file=io.StringIO(), width=1000, emoji=False, soft_wrap=True, **options)
        monkeypatch.setattr(timeline, "out", console)
        [trace] = read_traces({"steps": list(steps)})
        timeline.print_trace("t", trace)
        return console.file.getvalue().splitlines()[2:]

    return draw


def tool(**facts):
    return {"type": "tool", "name": "find", "arguments": {}, "output": "ok", **facts}


def test_steps_without_a_time_leave_the_column_of_times_blank(drawn):
    lines = drawn(
        tool(id="a"),
        tool(id="b", started_at="2026-03-04T10:00:00Z"),
        tool(id="c", started_at="2026-03-04T10:00:05Z"),
    )
    assert lines[:6] == [
        "1             a  tool   find {}",
        "                        → ok",
        "2      +0.00s b  tool   find {}",
        "                        → ok",
        "3      +5.00s c  tool   find {}",
        "                        → ok",
    ]


def test_a_very_late_step_widens_the_column_of_times_for_all(drawn):
    early, late = drawn(
        {"type": "user", "output": "x", "started_at": 1},
        {"type": "user", "output": "x", "started_at": 2_000_000_000},
    )[:2]
    assert early.index("s1 ") == late.index("s2 ")


def test_there_is_no_column_of_times_where_no_step_has_one(drawn):
    assert drawn(tool(id="a"))[:2] == ["1  a  tool   find {}", "             → ok"]


def test_wide_and_long_ids_keep_the_columns_in_line(drawn):
    wide, long = drawn(
        {"type": "user", "output": "x", "id": "名前"},
        {"type": "user", "output": "x", "id": "i" * 100},
    )[:2]
    assert wide == f"1  名前{' ' * 20}  user   x"
    assert long == f"2  {'i' * 12}…{'i' * 11}  user   x"


def test_text_that_reads_like_markup_or_moves_a_terminal_is_shown_as_it_is(drawn):
    [line] = drawn({"type": "user", "output": "[red]a[/] \x1b[31m :smile:"})[:1]
    assert line == r"1  s1  user   [red]a[/] \x1b[31m :smile:"


def test_a_terminal_gets_colours_and_none_where_it_wants_none(drawn):
    assert "\x1b[33mtool" in drawn(tool(), force_terminal=True, color_system="standard")[0]
    plain = drawn(tool(), force_terminal=True, color_system="standard", no_color=True)[0]
    assert "\x1b[33m" not in plain


def test_drawing_a_step_costs_few_calls_however_long_its_texts_are(drawn):
    steps = [tool(output="long text " * 1000, arguments={"text": "x" * 5000})] * 300
    calls = 0

    def count(*_):
        nonlocal calls
        calls += 1

    drawn(*steps[:1])  # includes everything that is done only once
    sys.setprofile(count)
    try:
        drawn(*steps)
    finally:
        sys.setprofile(None)
    assert calls / len(steps) < 1000


@pytest.mark.parametrize(
    ("output", "error", "shown"),
    [
        ("none", "E1", ["✗ E1", "→ none"]),
        (None, "E1", ["✗ E1"]),
        ("boom", "boom", ["✗ boom"]),
        ("boom\n", "it said: boom", ["✗ it said: boom"]),
        ("it said: boom", "boom", ["✗ it said: boom"]),
        ({"rows": 3}, "E1", ["✗ E1", '→ {"rows":3}']),
        ("none", None, ["→ none"]),
    ],
)
def test_a_call_with_an_error_and_an_output_shows_both_unless_one_says_it_all(
    drawn, output, error, shown
):
    lines = drawn(tool(id="a", output=output, error=error), tool(id="b"))
    assert [line.strip() for line in lines[1 : lines.index("2  b  tool   find {}")]] == shown
