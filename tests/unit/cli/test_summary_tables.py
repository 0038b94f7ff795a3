import io

import pytest
from rich.console import Console
from rich.text import Text

from weighbridge.jobs.outcome import Counts, GraderSummary
from weighbridge_producer.cli.summary_tables import print_causes, print_summary
from weighbridge_producer.reports.overview import Cause

MANY = 10_000_000


def summary_of(*rows, terminal=False):
    width = 80 if terminal else 100_000
    console = Console(
        file=io.StringIO(), width=width, emoji=False, soft_wrap=True, force_terminal=terminal
    )
    console.no_color = terminal
    print_summary(rows, Counts(), console)
    return console.file.getvalue()


@pytest.mark.parametrize(
    "row",
    [
        GraderSummary("true-false", "true-false", 259, 39, 2, causes=(("a: b", 39),)),
        GraderSummary("x" * 256, "string-match", MANY, MANY, MANY, MANY, causes=(("c" * 120, 9),)),
        GraderSummary("名" * 256, "g" * 256, cancelled=MANY, expired=MANY),
        GraderSummary("", "", errored=MANY, causes=tuple((f"CODE_{n}", n) for n in range(9))),
    ],
)
def test_a_summary_fits_a_terminal_of_80_columns_whatever_the_labels_and_numbers(row):
    lines = Text.from_ansi(summary_of(row, terminal=True)).plain.splitlines()
    assert [line for line in lines if Console().measure(line.rstrip()).maximum > 80] == []


def test_a_summary_in_a_file_has_every_name_and_cause_in_full():
    label, grader, cause = "l" * 256, "g" * 256, "c" * 120
    text = summary_of(GraderSummary(label, grader, 1, 9, causes=((cause, 9),)))
    assert text.splitlines()[1].startswith(f"{label} ({grader})  ")
    assert cause in text


@pytest.mark.parametrize("terminal", [False, True])
def test_no_line_of_a_summary_ends_in_spaces(terminal):
    row = GraderSummary("true-false", "true-false", 259, 39, causes=(("a: b", 30), ("c", 9)))
    wide = GraderSummary("x" * 256, "string-match", MANY, MANY, MANY, MANY)
    for rows in ((row,), (row, wide)):
        text = summary_of(*rows, terminal=terminal)
        assert "a: b" in text
        assert [line for line in Text.from_ansi(text).plain.splitlines() if line[-1:] == " "] == []


@pytest.mark.parametrize("terminal", [False, True])
def test_an_example_shows_what_differs_of_both_texts(terminal):
    long = "the committee decided after a long debate that "
    reason = f"Expected '{long}it is accepted' but got '{long}it is rejected'"
    row = GraderSummary("match", "match", failed=1, causes=(("other", 1),))
    width = 80 if terminal else 100_000
    made = Console(file=io.StringIO(), width=width, force_terminal=terminal, no_color=True)
    print_summary([row], Counts(), made, {("match", "other"): f"q1: {reason}"})
    print_causes([Cause("match", "match", "other", 1, "q1", reason)], made)
    lines = Text.from_ansi(made.file.getvalue()).plain.splitlines()
    examples = [line.split() for line in lines if "q1: " in line]
    assert len(examples) == 2
    for words in examples:
        assert [word for word in words if word.endswith("ted'")] == ["accepted'", "rejected'"]
    if terminal:
        assert max(map(len, lines)) <= 80
        assert [line.split() for line in lines].count(["1", "match", "other"]) == 1


@pytest.mark.parametrize("terminal", [False, True])
def test_in_files_the_reasons_of_causes_are_whole(terminal):
    made = Console(file=io.StringIO(), width=80 if terminal else 100_000, force_terminal=terminal)
    print_causes(
        [Cause("budget", "budget", "max_tokens", 1, "q1", "used " * 50 + "too much")], made
    )
    assert ("too much" in made.file.getvalue()) is not terminal


def test_a_summary_gives_every_count_its_denominator():
    row = GraderSummary("true-false", "true-false", 259, 39, 2, 1)
    text = " ".join(summary_of(row).split())
    assert "true-false 259/298 86.9% 39/298 2/300 1/301" in text


def test_only_all_is_shown_as_100_percent_and_only_none_as_0():
    nearly, hardly = GraderSummary("a", "a", 999_999, 1), GraderSummary("b", "b", 1, 999_999)
    text = summary_of(nearly, hardly)
    assert "99.9%" in text
    assert "100.0%" not in text
    assert "0.1%" in text
    assert " 0.0%" not in text


def test_long_labels_that_differ_at_their_end_stay_apart():
    text = summary_of(*(GraderSummary("l" * 200 + end, "g", 1) for end in "ab"))
    assert len({line.split()[0] for line in text.splitlines()[1:]}) == 2


def test_markup_in_a_strangers_text_is_literal():
    row = GraderSummary("[red]x[/red] :smile:", "g", 1)
    assert "[red]x[/red] :smile:" in summary_of(row)


def test_a_summary_shows_at_most_50_labels_and_says_how_many_more_there_are():
    rows = [GraderSummary(f"label-{n:03}", "g", 1, 1, causes=(("why", 1),)) for n in range(62)]
    lines = summary_of(*rows).splitlines()
    assert sum(line.startswith("label-") for line in lines) == 100
    assert "... and 12 more labels" in lines
    assert "more label" not in summary_of(*rows[:50])
