"""The progress bar of a batch or a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from weighbridge.text import pluralize
from weighbridge_producer.cli.show import err, shown

if TYPE_CHECKING:
    from weighbridge.jobs.batch_state import BatchState


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
