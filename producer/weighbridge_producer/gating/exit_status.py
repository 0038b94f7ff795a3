"""The exit status of a batch or of a set of results, and its reason: one rule for all commands."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from weighbridge.jobs.batch_state import BatchStatus
from weighbridge.jobs.error_codes import UNREAD_INPUT
from weighbridge.text import pluralize
from weighbridge_producer.gating.gates import (
    EACH,
    ERROR,
    FAILED,
    PASSED,
    Gate,
    GateKind,
    GateResult,
    added,
    check_gates,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge.jobs.batch_state import BatchState
    from weighbridge.jobs.outcome import GraderSummary
    from weighbridge_producer.gating.slices import SliceTally


@dataclass(frozen=True, slots=True)
class Decision:
    """An exit status, its reason, and the result of each gate."""

    status: int
    reason: str = ""  #: empty if the gates' results explain the status
    gates: list[GateResult] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """Return the decision in its JSON form."""
        return {
            "exit_status": self.status,
            "exit_reason": self.reason,
            "gates": [gate.as_dict() for gate in self.gates],
        }


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


def decide(
    gates: Sequence[Gate],
    labels: Sequence[GraderSummary],
    slices: SliceTally | None = None,
    *,
    incomplete: str = "",
) -> Decision:
    """Return the exit status for the results.

    The status is 1 if the evaluation is incomplete: it did not end (`incomplete` gives the reason), there was nothing
    to grade, the input was not read to its end, a job errored or was ungradable and no --min-gradable allows that, or a
    gate cannot be decided. Otherwise it is 100 if a gate is not met, or a job failed that no --min-pass-rate covers.
    Otherwise it is 0. A gate for all jobs, for each label or for one label covers the jobs of these; a gate for a slice
    covers none, because a job has both labels and slices.
    """
    if incomplete:
        return Decision(ERROR, incomplete)
    if not added(labels).finished:
        return Decision(ERROR, "there was nothing to grade")
    results = check_gates(gates, labels, slices)
    if unread := sorted({cause for row in labels for cause, _ in row.causes} & UNREAD_INPUT):
        reason = f"the input was not read to its end ({', '.join(unread)}), so the gates do not count all cases"
        return Decision(ERROR, reason, results)
    statuses = {result.status for result in results}
    ungraded = added(_uncovered(GateKind.MIN_GRADABLE, gates, labels))
    if ungraded.errored:
        also = f", {ungraded.ungradable:,} ungradable" if ungraded.ungradable else ""
        reason = f"{pluralize(ungraded.errored, 'job')} errored{also}; --min-gradable allows some"
        return Decision(ERROR, reason, results)
    if ERROR in statuses:
        return Decision(ERROR, "", results)
    failed = [row for row in _uncovered(GateKind.MIN_PASS_RATE, gates, labels) if row.failed]
    if failed or FAILED in statuses:
        return Decision(FAILED, _uncovered_failures(failed, gates), results)
    if ungraded.ungradable:
        jobs = pluralize(ungraded.ungradable, "job was", "jobs were")
        return Decision(ERROR, f"{jobs} ungradable; --min-gradable allows some", results)
    return Decision(PASSED, "", results)


def _uncovered(
    kind: GateKind, gates: Sequence[Gate], labels: Sequence[GraderSummary]
) -> list[GraderSummary]:
    """Return the labels whose jobs are not covered by any gate of a kind."""
    covering = [gate for gate in gates if gate.kind is kind and not gate.field]
    if any(gate.is_whole for gate in covering):
        return []
    named = {gate.label for gate in covering}
    return [row for row in labels if not (row.label in named or (EACH in named and row.label))]


def _uncovered_failures(failed: list[GraderSummary], gates: Sequence[Gate]) -> str:
    if not failed or not any(gate.kind is GateKind.MIN_PASS_RATE for gate in gates):
        return ""  # without a gate all jobs have to pass, and the summary shows the failed ones
    jobs, names = added(failed).failed, ", ".join(row.label or "bad lines" for row in failed[:5])
    return f"{pluralize(jobs, 'job')} failed that no --min-pass-rate covers ({names}); add one for all jobs, or for the label"
