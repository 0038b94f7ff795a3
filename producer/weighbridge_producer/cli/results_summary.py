"""The summary that `results` can print instead of result lines: causes, slices, and gates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from weighbridge.jobs.outcome import Counts, Outcome
from weighbridge.text import pluralize
from weighbridge_producer.cli.show import shown
from weighbridge_producer.cli.slices_text import print_slices
from weighbridge_producer.cli.summary_tables import print_causes, print_summary
from weighbridge_producer.gating.exit_status import decide, decide_on
from weighbridge_producer.gating.slices import SliceTally
from weighbridge_producer.input.files.input_paths import repeatable_name
from weighbridge_producer.reports.overview import Survey, survey

if TYPE_CHECKING:
    from rich.console import Console

    from weighbridge.jobs.batch_state import BatchState
    from weighbridge_producer.cli.gate_options import Gating
    from weighbridge_producer.gating.exit_status import Decision
    from weighbridge_producer.gating.gates import GateResult
    from weighbridge_producer.reports.report import Report


class Summarised(NamedTuple):
    """A summary of results, with a decision if there are gates."""

    found: Survey
    slices: SliceTally
    decision: Decision | None

    @property
    def gates(self) -> tuple[GateResult, ...]:
        """The result of each gate."""
        return tuple(self.decision.gates) if self.decision else ()


def summarised(report: Report, gating: Gating, state: BatchState | None) -> Summarised:
    """Count the results of a batch or file, and check the gates; `state` is the batch's state."""
    slices = SliceTally(gating.fields)
    found = survey(report, slices)
    if not gating.gates:
        return Summarised(found, slices, None)
    labels = found.labels()
    if state:
        return Summarised(found, slices, decide_on(state, labels, gating.gates, slices))
    return Summarised(found, slices, decide(gating.gates, labels, slices))


def summary_as_dict(summary: Summarised, *, causes: bool) -> dict[str, Any]:
    """Return the summary in its JSON form."""
    found, slices, decision = summary
    fields: dict[str, Any] = {"results": found.total}
    if causes:
        fields["causes"] = [cause._asdict() for cause in found.causes()]
    if slices.by or decision:
        fields["graders"] = [row.as_dict() for row in found.labels()]
        fields["slices"] = [row.as_dict() for row in slices.slices()]
    return fields | (decision.as_dict() if decision else {})


def show_summary(summary: Summarised, name: str, console: Console, *, causes: bool) -> None:
    """Print the summary for people."""
    found, slices, decision = summary
    if causes:
        _show_causes(found, name, console)
    elif found.total:
        counts = {str(outcome): jobs for outcome, jobs in found.counts.items()}
        print_summary(
            *(found.labels(), Counts(found.total, **counts), console, _examples(found)),
            weak=found.weak_passes,
            recorded=found.recorded_verdicts,
        )
    elif not decision:
        console.print("no results")
    if slices.by:
        print_slices(slices, console)


def _examples(found: Survey) -> dict[tuple[str, str], str]:
    """Return an example for each cause, as `run` shows them."""
    return {
        (cause.label, cause.cause): f"{cause.example_and_file}: {cause.reason}"
        for cause in found.causes()
        if cause.reason
    }


def _show_causes(found: Survey, name: str, console: Console) -> None:
    causes = found.causes()
    if not causes:
        all_passed = found.counts[Outcome.PASSED]
        console.print("all of these jobs passed" if all_passed else "no results")
        return
    print_causes(causes, console)
    again = shown(repeatable_name(name, "FILE"))
    console.print(f"\nresults of one cause: weighbridge results {again} --cause CAUSE")
    if found.further_causes:
        jobs = pluralize(found.further_causes, "job")
        console.print(
            f"{jobs} failed further checks: a job is counted by the first one, and --cause finds it by each"
        )
