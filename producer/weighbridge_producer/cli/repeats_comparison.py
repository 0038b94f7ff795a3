"""`compare --repeats-by`: how often each case passes among its repeats, in each run."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, BinaryIO, NoReturn

from weighbridge_producer.cli.compared_runs import (
    temporary_file,
    with_completeness,
)
from weighbridge_producer.cli.repeats_text import print_repeats
from weighbridge_producer.cli.show import print_gates, print_json, print_waiting
from weighbridge_producer.comparison.notes import notes_of_repeats
from weighbridge_producer.comparison.repeats import compare_repeats
from weighbridge_producer.reports.repeats_forms import RepeatsData, case_line, repeats_blocks
from weighbridge_producer.run.outputs import write_blocks

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from weighbridge_producer.cli.compared_runs import ComparedRuns
    from weighbridge_producer.comparison.regression_gates import RegressionGates
    from weighbridge_producer.comparison.reliability import RepeatedLabel
    from weighbridge_producer.comparison.repeat_gates import RepeatGates
    from weighbridge_producer.comparison.repeat_key import RepeatKey
    from weighbridge_producer.comparison.repeats import RepeatedCase
    from weighbridge_producer.comparison.runs import Run
    from weighbridge_producer.gating.gates import GateResult


def compare_repeated_cases(runs: ComparedRuns, key: RepeatKey, gates: RepeatGates) -> NoReturn:
    """Compare the repeats of each case, write and print them, and exit by the gates; these are for further runs, or the only one."""
    with ExitStack() as stack:
        opened = runs.opened(stack)
        cases = temporary_file("cases.jsonl", stack)
        with cases.open("wb") as file:
            labels = compare_repeats(opened, key, _written_to(file) if runs.outputs else None)
        runs.check_label(opened)
        gated = range(1, len(opened)) or range(1)
        checked = [_gates_of(run, opened, labels, runs.gates, gates) for run in gated]
        every_gate = [gate for of_run in checked for gate in of_run]
        for each in runs.outputs:
            written = RepeatsData(opened, labels, every_gate, cases)
            write_blocks(repeats_blocks(written, each), each, print_waiting)
    if runs.as_json:
        print_json(
            {
                "runs": [run.as_dict() for run in opened],
                "notes": notes_of_repeats(labels, opened),
                "labels": [label.as_dict() for label in labels],
                "gates": [[gate.as_dict() for gate in of_run] for of_run in checked],
            }
        )
    else:
        print_repeats(opened, labels)
    for run, of_run in zip(gated, checked, strict=True):
        print_gates(of_run, opened[run].name if len(gated) > 1 else "")
    runs.print_written()
    runs.exit_by(every_gate)


def _gates_of(
    run: int,
    opened: Sequence[Run],
    labels: Sequence[RepeatedLabel],
    regressions: RegressionGates,
    repeats: RepeatGates,
) -> list[GateResult]:
    """Return the results of the gates for a run, by its number; the first has nothing that it could regress from."""
    of_run = repeats.check(labels, run)
    if run:
        of_run += regressions.check_repeats(labels, run)
    return with_completeness(of_run, [opened[each] for each in sorted({0, run})])


def _written_to(file: BinaryIO) -> Callable[[RepeatedCase], None]:
    """Return a function that writes a case to a file."""

    def write(case: RepeatedCase) -> None:
        file.write(case_line(case))

    return write
