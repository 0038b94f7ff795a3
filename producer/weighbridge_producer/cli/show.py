"""Terminal output: consoles, escaping, tables, and the reason for the exit status."""

from __future__ import annotations

import json
import os
import sys
import time
from bisect import bisect_right
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, BinaryIO, NoReturn, cast

import orjson
import typer
from rich.cells import cell_len
from rich.console import Console
from rich.markup import escape
from rich.segment import Segment
from rich.table import Table

from weighbridge.errors import OutputError
from weighbridge.text import encodable, encodable_json, pluralize, printable
from weighbridge_producer.gating.listed_gates import listed_gates
from weighbridge_producer.run.terminal import safe_for_terminals

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import ConsoleOptions, RenderResult

    from weighbridge.errors import Fault, WeighbridgeError
    from weighbridge.jobs.batch_state import BatchState
    from weighbridge_producer.client.batch import Batch
    from weighbridge_producer.client.client import Client
    from weighbridge_producer.gating.exit_status import Decision
    from weighbridge_producer.gating.gates import GateResult

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
    """Print one JSON value on standard output; U+FFFD stands for what is not UTF-8, as in names of files."""
    try:
        raw = orjson.dumps(value)
    except TypeError:
        raw = encodable_json(json.dumps(value).encode())
    stdout = stdout_bytes()
    stdout.write(raw + b"\n")
    stdout.flush()


def left_out(repeats: int) -> str:
    """Return a note on the number of lines that repeat earlier ones."""
    return f"{pluralize(repeats, 'repeated line was', 'repeated lines were')} left out"


class TrimmedTable(Table):
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
    made = TrimmedTable(box=None, pad_edge=False, header_style="bold")
    numbers = set(right)
    for name in columns:
        made.add_column(name, justify="right" if name in numbers else "left", no_wrap=True)
    return made


def print_state(state: BatchState) -> None:
    """Print a batch's state in a few lines."""
    counts = state.counts
    out.print(
        f"[bold]{shown(state.batch_id)}[/]  {state.status}"
        + (f": {shown(state.reason)}" if state.reason else "")
    )
    for note in filter(None, (paused_note(state), input_note(state))):
        out.print(f"  {note}", soft_wrap=True)
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


def print_paused_queues(client: Client, batch: Batch | None = None) -> None:
    """Print that the queue of a batch is paused, or which queues are, and how each is continued.

    A service does not tell the queue of a batch, so that all paused ones are named.
    """
    paused = client.health().paused_queues
    if batch is not None and paused and not client.url.startswith("http"):
        paused = [queue for queue in paused if queue == batch.options().queue]
    for queue in map(shown, paused):
        err.print(
            f"the queue {queue} is paused; `weighbridge unpause --queue {queue}` continues it",
            soft_wrap=True,
        )


def input_note(state: BatchState) -> str:
    """Return that a batch lacks a part of its input, and what becomes of it; empty if it has all of it, or has ended."""
    if state.fails_again:
        return "its input broke off; when the jobs that it has are graded again, it is failed again"
    now = time.time()
    lacking = state.lacking_input(now)
    if state.idle_seconds(now):
        return (
            f"{lacking}; if its producer has ended, `weighbridge submit CASES --resume {shown(state.batch_id)}`"
            " continues it"
        )
    return f"{lacking}: more jobs are arriving" if lacking else ""


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
