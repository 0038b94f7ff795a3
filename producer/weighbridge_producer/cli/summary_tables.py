"""Tables of outcomes by label, and of why jobs did not pass."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from weighbridge.graders.difference_reason import shorten_reason
from weighbridge.jobs.outcome import RATED, Outcome
from weighbridge.text import percent, pluralize, printable
from weighbridge_producer.cli.expected_hints import (
    several_answers_hint,
    unknown_words_hint,
    wrapped_hint,
)
from weighbridge_producer.cli.show import TrimmedTable, cell, out, share, shown, table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from weighbridge.jobs.outcome import Counts, GraderSummary
    from weighbridge_producer.reports.overview import Cause
    from weighbridge_producer.reports.recorded_verdicts import RecordedVerdicts
    from weighbridge_producer.reports.weak_passes import WeakPasses

#: Columns of the outcomes of a label; that without a name is the pass rate.
RATE_COLUMNS = (RATED[0], "", *RATED[1:])
_ROWS_SHOWN = 50
_CAUSES_SHOWN = 5  #: per label
_NAME_WIDTH = 30
_WIDTH = 80  #: of tables on a terminal, in columns, if it is not wider
_EXAMPLE_WIDTH = 140  #: of an example when the output is a file


def print_summary(
    summary: Iterable[GraderSummary],
    counts: Counts,
    console: Console = out,
    examples: Mapping[tuple[str, str], str] | None = None,
    *,
    names_words: bool = True,
    weak: WeakPasses | None = None,
    recorded: RecordedVerdicts | None = None,
) -> None:
    """Print a table of outcomes by label, and a table of causes with examples.

    Without `names_words`, it is not said how to name words for true and false. `weak` passes are noted, and verdicts
    unlike the `recorded` ones.
    """
    everything = list(summary)
    rows = everything[:_ROWS_SHOWN]
    outcomes = _outcomes(rows, console, closed=bool(counts.cut_short))
    if console.measure(outcomes).maximum <= console.width:
        console.print(outcomes)
    else:
        _print_blocks(outcomes, console)
    if more := len(everything) - len(rows):
        console.print(f"... and {pluralize(more, 'more label')}")
    for row in rows:
        if row.vacuous:
            vacuous = share(row.vacuous, row.passed)
            console.print(f"{_name(row, console)}: vacuous passes (nothing to check): {vacuous}")
        for what, jobs in weak.of(row.label) if weak else ():
            console.print(f"{_name(row, console)}: {what}: {share(jobs, row.passed)}")
        if unlike := recorded.of(row.label) if recorded else "":
            console.print(f"{_name(row, console)}: {shown(unlike)}", soft_wrap=True)
        words = unknown_words_hint(row) if names_words else ""
        if hint := words or several_answers_hint(row, examples or {}) or wrapped_hint(row):
            console.print(f"{_name(row, console)}: {shown(hint)}", soft_wrap=True)
    if any(row.causes for row in rows):
        console.print()
        console.print(_causes(rows, examples or {}, console))


def _outcomes(rows: list[GraderSummary], console: Console, *, closed: bool) -> Table:
    numbers = [*RATE_COLUMNS, *(["cut short"] if closed else [])]
    made = table("grader", *numbers, right=numbers)
    for row in rows:
        cut_short = [f"{row.cut_short:,}/{row.finished:,}"] if closed else []
        made.add_row(_name(row, console), *rates(row), *cut_short)
    return made


def rates(row: GraderSummary) -> Iterator[str]:
    """Yield the cells of RATE_COLUMNS."""
    for outcome in RATED:
        yield f"{row.jobs(outcome):,}/{row.whole_of(outcome):,}"
        if outcome is Outcome.PASSED:
            yield percent(row.passed, row.judged)


def _print_blocks(outcomes: Table, console: Console) -> None:
    """Print the rows of a table that is too wide as blocks."""
    names, *columns = outcomes.columns
    for index, name in enumerate(names.cells):
        block = TrimmedTable(box=None, pad_edge=False, show_header=False)
        block.add_column(no_wrap=True)
        block.add_column(no_wrap=True, justify="right")
        console.print(name)
        for column in columns:
            block.add_row(f"  {column.header}", list(column.cells)[index])
        console.print(block)


def _causes(
    rows: list[GraderSummary], examples: Mapping[tuple[str, str], str], console: Console
) -> Table:
    made = table("not passed", "jobs", "why", right=["jobs"])
    width = max(console.width if console.is_terminal else _EXAMPLE_WIDTH, _WIDTH)
    names = min(max(cell_len(_name(row, console)) for row in rows), _NAME_WIDTH)
    numbers = max(len(f"{count:,}") for row in rows for _, count in row.causes)
    room = _WIDTH - max(names, len("not passed")) - max(numbers, len("jobs")) - 2 * len("  ")
    for row in rows:
        name = _name(row, console)
        for cause, count in row.causes[:_CAUSES_SHOWN]:
            made.add_row(name, f"{count:,}", cell(cause, room, console))
            name = ""
            if example := examples.get((row.label, cause)):
                cut = shorten_reason(printable(example), room + width - _WIDTH)
                made.add_row("", "", f"[dim]{escape(cut)}[/]")
        if rest := row.causes[_CAUSES_SHOWN:]:
            made.add_row(
                "", f"{sum(count for _, count in rest):,}", pluralize(len(rest), "other cause")
            )
    return made


def print_causes(causes: Sequence[Cause], console: Console = out) -> None:
    """Print the causes of jobs that did not pass, the commonest first, each with an example."""
    width = max(console.width if console.is_terminal else _EXAMPLE_WIDTH, _WIDTH)
    made = table("jobs", "grader", "why", right=["jobs"])
    names = max(min(cell_len(printable(cause.label)), _NAME_WIDTH) for cause in causes)
    numbers = max(len(f"{cause.jobs:,}") for cause in causes)
    room = width - max(names, len("grader")) - max(numbers, len("jobs")) - 2 * len("  ")
    for cause in causes[:_ROWS_SHOWN]:
        name = cell(cause.label or "(bad lines)", _NAME_WIDTH, console)
        made.add_row(f"{cause.jobs:,}", name, cell(cause.cause, room, console))
        example = printable(f"{cause.example_and_file}: {cause.reason}")
        example = shorten_reason(example, room) if console.is_terminal else example
        made.add_row("", "", f"[dim]{escape(example)}[/]")
    console.print(made)
    if rest := causes[_ROWS_SHOWN:]:
        console.print(f"... and {pluralize(len(rest), 'more cause')}")


def _name(row: GraderSummary, console: Console) -> str:
    label = cell(row.label or "(bad lines)", _NAME_WIDTH, console)
    if row.grader in ("", row.label):
        return label
    if not console.is_terminal:
        return f"{label} ({shown(row.grader)})"
    # Labels distinguish the rows, so the grader's id is truncated first.
    room = _NAME_WIDTH - cell_len(label) - 3
    return f"{label} ({shown(row.grader, room)})" if room > 8 else label
