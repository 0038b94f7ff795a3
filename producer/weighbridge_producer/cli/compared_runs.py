"""The runs of a `compare`, and what both of its forms do with them: open, check, name what was written, exit."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from weighbridge.errors import InvalidFilterError, OutputError
from weighbridge.settings import read_settings
from weighbridge.text import closest, did_you_mean
from weighbridge_producer.cli.run_names import open_run
from weighbridge_producer.cli.show import exit_with, out, shown
from weighbridge_producer.comparison.regression_gates import incomplete_runs
from weighbridge_producer.gating.exit_status import Decision
from weighbridge_producer.gating.gates import ERROR
from weighbridge_producer.reports.comparison_forms import comparison_output
from weighbridge_producer.reports.forms import STDOUT
from weighbridge_producer.run.outputs import check_differ, check_folder, check_source

if TYPE_CHECKING:
    from collections.abc import Iterable
    from contextlib import ExitStack

    from weighbridge_producer.cli.chosen_outputs import ChosenOutputs
    from weighbridge_producer.comparison.regression_gates import RegressionGates
    from weighbridge_producer.comparison.runs import Run
    from weighbridge_producer.gating.gates import GateResult
    from weighbridge_producer.reports.forms import Output


@dataclass(frozen=True, slots=True)
class ComparedRuns:
    """The runs to compare, and what is wanted of the comparison."""

    names: list[str]
    label: str | None  #: None for the results of all labels
    url: str | None  #: of the server with the runs that are batches
    outputs: list[Output]
    chosen: ChosenOutputs  #: by the options, with those that are left out
    gates: RegressionGates
    as_json: bool

    def opened(self, stack: ExitStack) -> list[Run]:
        """Return the runs, which are closed with the stack."""
        opened = [open_run(name, read_settings(), self.url, stack) for name in self.names]
        for run in opened:
            run.label = self.label
        return opened

    def check_label(self, runs: Iterable[Run]) -> None:
        """Raise InvalidFilterError if a run that was read has no result with the label."""
        label = self.label
        for run in runs:
            if label is not None and run.labels and label not in run.labels:
                meant = did_you_mean(closest(label, run.labels))
                raise InvalidFilterError(
                    f"no result of {run.name} has the label {label[:80]!r}{meant}",
                    f"its labels: {', '.join(sorted(run.labels))}",
                )

    def print_written(self) -> None:
        """Print the outputs that were written, unless standard output is JSON."""
        if self.outputs and not self.as_json:
            out.print(f"\nwritten: {shown(', '.join(each.target for each in self.outputs))}")

    def exit_by(self, gates: Iterable[GateResult]) -> NoReturn:
        """Exit with the status that the gates determine, or 1 if an output was left out."""
        results = list(gates)
        statuses = {gate.status for gate in results}
        status = ERROR if ERROR in statuses else max(statuses, default=0)
        decision = self.chosen.decide(Decision(status, gates=results))
        exit_with(replace(decision, gates=[]))  # the gates are printed already


def comparison_outputs(texts: list[str], runs: list[str]) -> list[Output]:
    """Return the outputs; raises OutputError if one cannot be written or is one of the runs."""
    outputs = list(map(_output, texts))
    check_differ(outputs)
    for run in runs:
        check_source(run, [output.target for output in outputs])
    return outputs


def _output(text: str) -> Output:
    output = comparison_output(text)
    if output.target == STDOUT:
        raise OutputError("a comparison is written to files", "name a file; --json writes JSON")
    check_folder(output.target)
    return output


def temporary_file(name: str, stack: ExitStack) -> Path:
    """Return the path of a new file, whose folder is deleted when the stack closes."""
    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="weighbridge-"))
    return Path(folder) / name


def with_completeness(gates: list[GateResult], runs: Iterable[Run]) -> list[GateResult]:
    """Add to gates that were asked for what keeps them from being decided."""
    return gates + incomplete_runs(runs) if gates else []
