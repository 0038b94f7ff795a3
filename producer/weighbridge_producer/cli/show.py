"""Terminal output: consoles, escaping, tables, progress bars, and the reason for the exit status."""

from __future__ import annotations

import os
import sys
from bisect import bisect_right
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, BinaryIO, NoReturn, Self, cast

import orjson
import typer
from rich.cells import cell_len
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.segment import Segment
from rich.table import Table

from weighbridge.errors import OutputError
from weighbridge.graders.difference_reason import shorten_reason
from weighbridge.jobs.outcome import RATED, Outcome
from weighbridge.text import encodable, percent, pluralize, printable
from weighbridge_producer.cli.expected_hints import (
    several_answers_hint,
    unknown_words_hint,
    wrapped_hint,
)
from weighbridge_producer.gating.listed_gates import listed_gates
from weighbridge_producer.run.terminal import safe_for_terminals

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rich.console import ConsoleOptions, RenderResult

    from weighbridge.errors import Fault, WeighbridgeError
    from weighbridge.jobs.batch_state import BatchState
    from weighbridge.jobs.outcome import Counts, GraderSummary
    from weighbridge_producer.gating.exit_status import Decision
    from weighbridge_producer.gating.gates import GateResult
    from weighbridge_producer.reports.overview import Cause

#: Columns of the outcomes of a label; that without a name is the pass rate.
RATE_COLUMNS = (RATED[0], "", *RATED[1:])
_ROWS_SHOWN = 50
CAUSES_SHOWN = 5  #: per label
_NAME_WIDTH = 30
_WIDTH = 80  #: of tables on a terminal, in columns, if it is not wider
_EXAMPLE_WIDTH = 140  #: of an example when the output is a file
_PIPE_WIDTH = 100_000  #: wide enough to keep all of a table's row in files and pipes


def _console(*, stderr: bool) -> Console:
    console = Console(stderr=stderr, highlight=False, soft_wrap=True, emoji=False)
    if not console.is_terminal:
        console.width = _PIPE_WIDTH
    return console


out = _console(stderr=False)
err = _console(stderr=True)


def shown(text: str, most: int | None = None) -> str:
    """Return untrusted text escaped for the console's markup, with its middle cut out if it is wider than `most`."""
    return escape(printable(text) if most is None else truncated(text, most))


def cell(text: str, most: int, console: Console = out) -> str:
    """Return untrusted text for a table or a line; on a terminal, with its middle cut out if it is wider than `most`."""
    return shown(text, most if console.is_terminal else None)


def truncated(text: str, most: int) -> str:
    """Return a printable text with its middle cut out if it is wider than `most` cells."""
    text = printable(text)
    if cell_len(text) <= most:
        return text
    lengths = range(len(text))
    kept = bisect_right(lengths, most - 1, key=lambda length: cell_len(_ends(text, length))) - 1
    return _ends(text, kept, "…")


def _ends(text: str, length: int, between: str = "") -> str:
    """Return the beginning and end of a text, `length` characters together, joined by `between`."""
    return text[: (length + 1) // 2] + between + text[len(text) - length // 2 :]


def print_error(error: WeighbridgeError, *, as_json: bool = False) -> None:
    """Print an error with its code and hint on standard error, and as JSON on standard output if that is wanted."""
    print_fault(error.fault)
    if as_json:
        print_json({"error": error_value(error.fault)})


def print_fault(fault: Fault) -> None:
    """Print a fault with its code and hint on standard error."""
    message, hint = (
        "\n".join(map(shown, text.splitlines())) for text in (fault.message, fault.hint)
    )
    err.print(f"[bold red]{fault.code}[/]: {message}")
    if hint:
        err.print(f"  {hint}")


def error_value(fault: Fault) -> dict[str, str]:
    """Return an error as `{"code", "message", "hint"}`."""
    return {name: encodable(text) for name, text in asdict(fault).items()}


def silence_stdout() -> None:
    """Discard pending output after the reader has closed standard output."""
    # Otherwise Python reports the broken pipe again while it shuts down.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def stdout_bytes() -> BinaryIO:
    """Return standard output for bytes, which files and pipes get unchanged, and terminals with control characters escaped.

    Raises OutputError if it is closed.
    """
    if sys.stdout is None:
        raise OutputError("standard output is closed", "open it, or name a file with -o")
    return safe_for_terminals(sys.stdout.buffer)


def print_waiting(why: str) -> None:
    """Print on standard error why a command waits."""
    err.print(f"waiting: {shown(why)}", soft_wrap=True)


def print_json(value: Any) -> None:
    """Print one JSON value on standard output."""
    stdout = stdout_bytes()
    stdout.write(orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE))
    stdout.flush()


def left_out(repeats: int) -> str:
    """Return a note on the number of lines that repeat earlier ones."""
    return f"{pluralize(repeats, 'repeated line was', 'repeated lines were')} left out"


class _Table(Table):
    """A table without spaces at the ends of its lines."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        # Without a title, a table is made of segments only.
        segments = cast("Iterable[Segment]", super().__rich_console__(console, options))
        for line in Segment.split_lines(segments):
            while line and not line[-1].text.strip(" "):
                line.pop()
            if line:
                line[-1] = line[-1]._replace(text=line[-1].text.rstrip(" "))
            yield from (*line, Segment.line())


def share(part: int, whole: int) -> str:
    """Return a count with its denominator and percentage."""
    return f"{part:,}/{whole:,} ({part / whole:.1%})" if whole else f"{part:,}/0"


def table(*columns: str, right: Iterable[str] = ()) -> Table:
    """Return an empty table whose cells are never folded."""
    made = _Table(box=None, pad_edge=False, header_style="bold")
    numbers = set(right)
    for name in columns:
        made.add_column(name, justify="right" if name in numbers else "left", no_wrap=True)
    return made


def print_summary(
    summary: Iterable[GraderSummary],
    counts: Counts,
    console: Console = out,
    examples: Mapping[tuple[str, str], str] | None = None,
    *,
    names_words: bool = True,
    passes_by_names: Mapping[str, int] | None = None,
) -> None:
    """Print a table of outcomes by label, and a table of causes with examples.

    Without `names_words`, it is not said how to name words for true and false. `passes_by_names` has, by label, the number
    of passes in which only lists of names judged the calls.
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
        if passes_by_names and passes_by_names.get(row.label):
            names = share(passes_by_names[row.label], row.passed)
            console.print(
                f"{_name(row, console)}: passes by names alone (no schema for the tools called): {names}"
            )
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
        block = _Table(box=None, pad_edge=False, show_header=False)
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
        for cause, count in row.causes[:CAUSES_SHOWN]:
            made.add_row(name, f"{count:,}", cell(cause, room, console))
            name = ""
            if example := examples.get((row.label, cause)):
                cut = shorten_reason(printable(example), room + width - _WIDTH)
                made.add_row("", "", f"[dim]{escape(cut)}[/]")
        if rest := row.causes[CAUSES_SHOWN:]:
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


def print_state(state: BatchState) -> None:
    """Print a batch's state in a few lines."""
    counts = state.counts
    out.print(
        f"[bold]{shown(state.batch_id)}[/]  {state.status}"
        + (f": {shown(state.reason)}" if state.reason else "")
    )
    if note := paused_note(state):
        out.print(f"  {note}")
    out.print(f"  {share(counts.finished, counts.total)} finished, {counts.pending:,} pending")
    if counts.cancelled or counts.expired:
        out.print(f"  {counts.cancelled:,} cancelled, {counts.expired:,} expired")
    if state.duplicates:
        out.print(f"  {left_out(state.duplicates)}")
    if state.nondeterministic:
        chunks = pluralize(state.nondeterministic, "chunk was", "chunks were")
        out.print(f"  [red]{chunks} graded twice with different results[/]")


def paused_note(state: BatchState) -> str:
    """Return how a paused batch is continued; empty if it is not paused, or has ended."""
    if not state.paused or state.status.final:
        return ""
    return f"paused; `weighbridge unpause {shown(state.batch_id)}` continues it"


class Bar:
    """A live progress bar on standard error; hidden if that is not a terminal."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._progress = Progress(
            BarColumn(bar_width=32),
            TextColumn("{task.fields[numbers]}"),
            TimeElapsedColumn(),
            TextColumn("{task.description}"),
            console=err,
            transient=True,
            disable=quiet or not err.is_terminal,
        )
        self._task = self._progress.add_task("", total=None, numbers="")
        #: job count and time at the first update with finished jobs
        self._first: tuple[int, float] | None = None

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def update(
        self, state: BatchState | None, note: str = "", read_share: float | None = None
    ) -> None:
        """Show a batch's progress; until all input is read, the total is estimated from the fraction read."""
        if state is None:
            self._progress.update(self._task, description=shown(note))
            return
        done, total = state.counts.finished, state.counts.total
        if not state.sealed and read_share:
            total = max(total, int(total / read_share))
        rate = self._rate(done)
        left = f", {_clock((total - done) / rate)} left" if rate and total > done else ""
        about = "" if state.sealed else "about "
        numbers = f"{done:,} of {about}{pluralize(total, 'job')}, {rate:,.0f}/s{left}"
        self._progress.update(
            self._task,
            total=total or None,
            completed=done,
            numbers=numbers,
            description=shown(note),
        )

    def _rate(self, done: int) -> float:
        """Return jobs per second since the first update, because a resumed batch starts with finished jobs."""
        now = self._progress.tasks[0].elapsed or 0.0
        self._first = self._first or (done, now)
        jobs, seconds = done - self._first[0], now - self._first[1]
        return jobs / seconds if seconds > 0 else 0.0


def _clock(seconds: float) -> str:
    """Return a duration in the bar's format: `1:05`, `2:00:00`."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def print_gates(results: Iterable[GateResult], name: str = "") -> None:
    """Print the result of each gate on standard error, prefixed with the run's name if there are several runs."""
    for gate in listed_gates(results):
        for line in gate.lines():
            err.print(shown(f"{name}: {line}" if name else line))


def exit_with(decision: Decision) -> NoReturn:
    """Print the reason on standard error, and exit with the status of the decision."""
    # The reason says what an implied gate says.
    print_gates(gate for gate in decision.gates if not gate.is_implied)
    if decision.reason:
        err.print(shown(f"exit status {decision.status}: {decision.reason}"))
    raise typer.Exit(decision.status)
