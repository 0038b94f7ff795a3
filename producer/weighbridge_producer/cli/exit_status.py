"""What exit status a batch's end deserves, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import typer

from weighbridge.jobs.model import BatchStatus
from weighbridge.text import pluralize
from weighbridge_producer.cli.show import err

if TYPE_CHECKING:
    from weighbridge.jobs.model import BatchState
    from weighbridge.jobs.outcome import Counts

EXIT_PASSED, EXIT_TROUBLE, EXIT_FAILED = 0, 1, 100


def exit_status(
    state: BatchState, min_pass_rate: float | None = None, min_gradable: float | None = None
) -> int:
    """Return the exit status that a batch's end deserves.

    1 when the evaluation itself is incomplete: the batch did not complete, jobs errored or were ungradable (more than
    `min_gradable` allows), or there was nothing to grade. Else 100 when jobs failed (more than `min_pass_rate`
    allows), else 0. Rates are of jobs: gradable = (passed + failed) / total, pass rate = passed / (passed + failed).
    """
    if incomplete_reason(state, min_pass_rate, min_gradable):
        return EXIT_TROUBLE
    return EXIT_FAILED if _too_many_failed(state.counts, min_pass_rate) else EXIT_PASSED


def incomplete_reason(
    state: BatchState, min_pass_rate: float | None = None, min_gradable: float | None = None
) -> str:
    """Return why a batch's exit status is 1; nothing when it is not."""
    counts = state.counts
    judged = counts.passed + counts.failed
    if state.status is not BatchStatus.COMPLETED:
        return f"the batch is {state.status}"
    if not counts.total:
        return "there was nothing to grade"
    if min_gradable is None and counts.errored:
        also = f", {counts.ungradable:,} ungradable" if counts.ungradable else ""
        return f"{pluralize(counts.errored, 'job')} errored{also}; --min-gradable allows some"
    if min_gradable is not None and judged / counts.total < min_gradable:
        return f"of {pluralize(counts.total, 'job')}, {judged:,} could be judged; --min-gradable requires a share of {min_gradable:.4g}"
    if min_pass_rate is not None and not judged:
        return "no job was judged, so there is no pass rate"
    if min_gradable is None and counts.ungradable and not _too_many_failed(counts, min_pass_rate):
        return f"{pluralize(counts.ungradable, 'job')} {'was' if counts.ungradable == 1 else 'were'} ungradable; --min-gradable allows some"
    return ""


def _too_many_failed(counts: Counts, min_pass_rate: float | None) -> bool:
    if min_pass_rate is None:
        return counts.failed > 0
    # Divided, not multiplied: 0.55 is not exactly 0.55, but 55 / 100 is rounded to the same number.
    return counts.passed / (counts.passed + counts.failed) < min_pass_rate


def exit_with(
    state: BatchState, min_pass_rate: float | None, min_gradable: float | None
) -> NoReturn:
    """Leave with a batch's exit status, and say on standard error why it is 1 when it is."""
    if why := incomplete_reason(state, min_pass_rate, min_gradable):
        err.print(f"exit status {EXIT_TROUBLE}: {why}")
    raise typer.Exit(exit_status(state, min_pass_rate, min_gradable))
