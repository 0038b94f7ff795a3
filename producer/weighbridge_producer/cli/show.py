"""How things are shown to people, and what exit status a batch has."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Self

import orjson
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from weighbridge.jobs.model import BatchStatus

if TYPE_CHECKING:
    from collections.abc import Iterable

    from weighbridge.errors import WeighbridgeError
    from weighbridge.jobs.model import BatchState, Counts, GraderSummary

EXIT_PASSED, EXIT_TROUBLE, EXIT_FAILED = 0, 1, 100
_CAUSES_SHOWN = 5

out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, soft_wrap=True)


def complain(error: WeighbridgeError) -> None:
    """Show an error with its code and what would work."""
    err.print(f"[bold red]{error.code}[/]: {escape(error.message)}")
    if error.hint:
        err.print(f"  {escape(error.hint)}")


def print_json(value: Any) -> None:
    """Write one JSON value for machines."""
    sys.stdout.buffer.write(orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE))
    sys.stdout.buffer.flush()


def exit_status(
    state: BatchState, min_pass_rate: float | None = None, min_gradable: float | None = None
) -> int:
    """Return the exit status that a batch's end deserves.

    1 when the evaluation itself is incomplete: the batch did not complete, jobs errored or were ungradable (more than
    `min_gradable` allows), or there was nothing to grade. Else 100 when jobs failed (more than `min_pass_rate`
    allows), else 0. Rates are of jobs: gradable = (passed + failed) / total, pass rate = passed / (passed + failed).
    """
    counts = state.counts
    judged = counts.passed + counts.failed
    if state.status is not BatchStatus.COMPLETED or not counts.total:
        return EXIT_TROUBLE
    if min_gradable is not None:
        if judged < min_gradable * counts.total:
            return EXIT_TROUBLE
    elif counts.errored:
        return EXIT_TROUBLE
    if min_pass_rate is not None:
        enough = judged > 0 and counts.passed >= min_pass_rate * judged
    else:
        enough = counts.failed == 0
    if not enough:
        return EXIT_FAILED if judged else EXIT_TROUBLE
    return EXIT_TROUBLE if min_gradable is None and counts.ungradable else EXIT_PASSED


def share(part: int, whole: int) -> str:
    """Return a count with its denominator and percentage."""
    return f"{part:,}/{whole:,} ({part / whole:.1%})" if whole else f"{part:,}/0"


def print_summary(summary: Iterable[GraderSummary], counts: Counts) -> None:
    """Show a table of what each grader's jobs came to, and why the others did not pass."""
    rows = list(summary)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("grader", "passed", "failed", "ungradable", "errored"):
        table.add_column(name, justify="left" if name == "grader" else "right")
    show_cancelled = counts.cancelled or counts.expired
    if show_cancelled:
        table.add_column("cancelled, expired", justify="right")
    for row in rows:
        whole = row.graded + row.errored + row.cancelled + row.expired
        cells = [
            escape(_name(row)),
            share(row.passed, row.passed + row.failed),
            share(row.failed, row.passed + row.failed),
            share(row.ungradable, row.graded),
            share(row.errored, whole),
        ]
        table.add_row(
            *cells, *([share(row.cancelled + row.expired, whole)] if show_cancelled else [])
        )
    out.print(table)
    for row in rows:
        if row.vacuous:
            out.print(
                f"{escape(_name(row))}: {share(row.vacuous, row.passed)} passes rest on no facts"
            )
        if row.causes:
            shown = ", ".join(
                f"{count:,} {escape(cause)}" for cause, count in row.causes[:_CAUSES_SHOWN]
            )
            more = (
                f", and {len(row.causes) - _CAUSES_SHOWN} other causes"
                if len(row.causes) > _CAUSES_SHOWN
                else ""
            )
            out.print(f"{escape(_name(row))}, most common: {shown}{more}")


def _name(row: GraderSummary) -> str:
    if not row.grader:
        return row.label or "(bad lines)"
    return row.label if row.label == row.grader else f"{row.label} ({row.grader})"


def print_state(state: BatchState) -> None:
    """Show a batch's state in a few lines."""
    counts = state.counts
    out.print(
        f"[bold]{state.batch_id}[/]  {state.status}"
        + (f": {escape(state.reason)}" if state.reason else "")
    )
    out.print(
        f"  {share(counts.finished, counts.total)} finished: {counts.passed:,} passed, {counts.failed:,} failed,"
        f" {counts.ungradable:,} ungradable, {counts.errored:,} errored, {counts.cancelled:,} cancelled,"
        f" {counts.expired:,} expired; {counts.pending:,} pending"
    )
    if state.duplicates:
        out.print(f"  {state.duplicates:,} repeated lines were left out")
    if state.nondeterministic:
        out.print(
            f"  [red]{state.nondeterministic:,} chunks were graded twice with different results[/]"
        )


class Bar:
    """A live progress bar on standard error; nothing when that is no terminal."""

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

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def update(
        self, state: BatchState | None, note: str = "", read_share: float | None = None
    ) -> None:
        """Show how a batch stands; the whole is guessed from the share of the input read until all of it is."""
        if state is None:
            self._progress.update(self._task, description=escape(note))
            return
        done, total = state.counts.finished, state.counts.total
        if not state.sealed and read_share:
            total = max(total, int(total / read_share))
        elapsed = self._progress.tasks[0].elapsed or 0.0
        rate = done / elapsed if elapsed else 0.0
        left = f", {_duration((total - done) / rate)} left" if rate and total > done else ""
        about = "" if state.sealed else "about "
        numbers = f"{done:,} of {about}{total:,} jobs, {rate:,.0f}/s{left}"
        self._progress.update(
            self._task,
            total=total or None,
            completed=done,
            numbers=numbers,
            description=escape(note),
        )


def _duration(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
