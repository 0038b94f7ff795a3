"""What exit status a batch's end deserves, and why; the rule itself is in `gating.rule`."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import typer

from weighbridge.jobs.model import BatchStatus
from weighbridge.text import pluralize
from weighbridge_producer.cli.show import err, shown
from weighbridge_producer.gating.exit_rule import Decision, decide
from weighbridge_producer.gating.gates import FAILED, PASSED, TROUBLE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from weighbridge.jobs.model import BatchState
    from weighbridge.jobs.outcome import GraderSummary
    from weighbridge_producer.gating.gates import Gate, GateResult
    from weighbridge_producer.gating.slices import SliceTally

EXIT_PASSED, EXIT_TROUBLE, EXIT_FAILED = PASSED, TROUBLE, FAILED


def decide_on(
    state: BatchState,
    labels: Sequence[GraderSummary],
    gates: Sequence[Gate] = (),
    slices: SliceTally | None = None,
    *,
    cut_short: bool = False,
) -> Decision:
    """Return the exit status that a batch's end deserves; `cut_short` is one that --fail-fast ended."""
    if cut_short:
        why = f"{pluralize(state.counts.failed, 'job')} failed, and --fail-fast cancelled the rest"
        return Decision(EXIT_FAILED, why)
    completed = state.status is BatchStatus.COMPLETED
    incomplete = "" if completed else f"the batch is {state.status}"
    return decide(gates, labels, slices, incomplete=incomplete)


def print_gates(results: Iterable[GateResult], name: str = "") -> None:
    """Say on standard error what became of each gate, of the run of that name where there are several."""
    for result in results:
        err.print(shown(f"{name}: {result.line}" if name else result.line))


def exit_with(decision: Decision) -> NoReturn:
    """Leave with the exit status decided on, and say on standard error why."""
    print_gates(decision.gates)
    if decision.reason:
        err.print(shown(f"exit status {decision.status}: {decision.reason}"))
    raise typer.Exit(decision.status)
