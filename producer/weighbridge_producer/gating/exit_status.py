"""The exit status of a batch or of a set of results, and its reason: one rule for all commands."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

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
    fail_fast: int = 0,
) -> Decision:
    """Return the exit status for an ended batch; `fail_fast` is the N of --fail-fast if it ended the batch."""
    if fail_fast:
        return _failed_fast(state, fail_fast)
    completed = state.status is BatchStatus.COMPLETED
    lacking = ", and its input is not complete" if state.lacks_input else ""
    incomplete = "" if completed else f"the batch is {state.status}{lacking}"
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
    if not (incomplete or added(labels).finished):
        incomplete = "there was nothing to grade"
    if incomplete:
        rule = _rule("complete results", "a result of each job", incomplete, ERROR)
        return Decision(ERROR, incomplete, [rule])
    results = check_gates(gates, labels, slices)
    if broken := _broken_rule(gates, labels, results):
        return Decision(broken.result.status, broken.reason, [*results, broken.result])
    statuses = {result.status for result in results}
    status = next((each for each in (ERROR, FAILED) if each in statuses), PASSED)
    return Decision(status, "", results)


def _failed_fast(state: BatchState, most: int) -> Decision:
    counts = state.counts
    unread = "" if state.sealed else "; the rest of the input was not read"
    reason = (
        f"{pluralize(counts.failed, 'job')} failed, and --fail-fast cancelled {counts.cancelled:,} of"
        f" {counts.total:,} submitted until then{unread}"
    )
    seen = (
        f"{counts.failed:,} failed, {counts.cancelled:,} of {counts.total:,} jobs cancelled{unread}"
    )
    required = f"fewer than {pluralize(most, 'failed job')}"
    return Decision(FAILED, reason, [_rule(f"--fail-fast {most}", required, seen, FAILED)])


class _BrokenRule(NamedTuple):
    """A rule that holds where no gate replaces it, and is not met."""

    result: GateResult
    reason: str  #: of the exit status


def _broken_rule(
    gates: Sequence[Gate], labels: Sequence[GraderSummary], results: list[GateResult]
) -> _BrokenRule | None:
    """Return the rule that decides the exit status besides the gates, if there is one."""
    if unread := ", ".join(
        sorted({cause for row in labels for cause, _ in row.causes} & UNREAD_INPUT)
    ):
        reason = (
            f"the input was not read to its end ({unread}), so the gates do not count all cases"
        )
        return _BrokenRule(_rule("complete input", "input read to its end", unread, ERROR), reason)
    statuses = {result.status for result in results}
    uncovered = added(_uncovered(GateKind.MIN_GRADABLE, gates, labels))
    if uncovered.errored:
        return _not_gradable(uncovered, "errored", uncovered.errored)
    if ERROR in statuses:
        return None
    unrated = _uncovered(GateKind.MIN_PASS_RATE, gates, labels)
    if any(row.failed for row in unrated):
        return _failures(unrated, gates)
    if uncovered.ungradable and FAILED not in statuses:
        return _not_gradable(uncovered, "ungradable", uncovered.ungradable)
    return None


def _rule(name: str, required: str, seen: str, status: int) -> GateResult:
    return GateResult(name, "", required, seen, status, is_implied=True)


def _not_gradable(rows: GraderSummary, outcome: str, jobs: int) -> _BrokenRule:
    allows = "--min-gradable allows some"
    seen = f"{jobs:,} of {rows.finished:,} {outcome}"
    result = _rule(f"no {outcome} job", f"none ({allows})", seen, ERROR)
    if outcome == "ungradable":
        told = f"{pluralize(jobs, 'job was', 'jobs were')} ungradable"
    else:
        also = f", {rows.ungradable:,} ungradable" if rows.ungradable else ""
        told = f"{pluralize(jobs, 'job')} errored{also}"
    return _BrokenRule(result, f"{told}; {allows}")


def _failures(unrated: list[GraderSummary], gates: Sequence[Gate]) -> _BrokenRule:
    rows = added(unrated)
    seen = f"{rows.failed:,} of {rows.finished:,} failed"
    allows = "--min-pass-rate allows some"
    rate_gates = [gate for gate in gates if gate.kind is GateKind.MIN_PASS_RATE]
    names = ", ".join([row.label or "bad lines" for row in unrated if row.failed][:5])
    if any(gate.field for gate in rate_gates):
        seen += f" ({names})"
        allows = (
            "a --min-pass-rate for a field is an additional requirement: add one for all jobs, or for the label, to"
            " allow some"
        )
    elif rate_gates:
        seen += f" that no --min-pass-rate covers ({names})"
        allows = "add a --min-pass-rate for all jobs, or for the label"
    rule = _rule("no failed job", f"none ({allows})", seen, FAILED)
    return _BrokenRule(rule, f"{seen}, and none may fail; {allows}")


def _uncovered(
    kind: GateKind, gates: Sequence[Gate], labels: Sequence[GraderSummary]
) -> list[GraderSummary]:
    """Return the labels whose jobs are not covered by any gate of a kind."""
    covering = [gate for gate in gates if gate.kind is kind and not gate.field]
    if any(gate.is_whole for gate in covering):
        return []
    named = {gate.label for gate in covering}
    return [row for row in labels if not (row.label in named or (EACH in named and row.label))]
