"""The exit status for an ended batch, and the reason; the rule itself is in `gating.exit_rule`."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import typer

from weighbridge.jobs.batch_state import BatchStatus
from weighbridge.text import pluralize
from weighbridge_producer.cli.show import err, shown
from weighbridge_producer.gating.exit_rule import Decision, decide
from weighbridge_producer.gating.gates import FAILED

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from weighbridge.jobs.batch_state import BatchState
    from weighbridge.jobs.outcome import GraderSummary
    from weighbridge_producer.gating.gates import Gate, GateResult
    from weighbridge_producer.gating.slices import SliceTally


def decide_on(
    state: BatchState,
    labels: Sequence[GraderSummary],
    gates: Sequence[Gate] = (),
    slices: SliceTally | None = None,
    *,
    cut_short: bool = False,
) -> Decision:
    """Return the exit status for an ended batch; `cut_short` means that --fail-fast ended it."""
    if cut_short:
        why = f"{pluralize(state.counts.failed, 'job')} failed, and --fail-fast cancelled the rest"
        return Decision(FAILED, why)
    completed = state.status is BatchStatus.COMPLETED
    incomplete = "" if completed else f"the batch is {state.status}"
    return decide(gates, labels, slices, incomplete=incomplete)


def print_gates(results: Iterable[GateResult], name: str = "") -> None:
    """Print the result of each gate on standard error, prefixed with the run's name if there are several runs."""
    for result in results:
        err.print(shown(f"{name}: {result.line}" if name else result.line))


def exit_with(decision: Decision) -> NoReturn:
    """Print the reason on standard error, and exit with the status of the decision."""
    print_gates(decision.gates)
    if decision.reason:
        err.print(shown(f"exit status {decision.status}: {decision.reason}"))
    raise typer.Exit(decision.status)
