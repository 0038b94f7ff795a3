"""`compare` without repeats: each further run is compared with the first, result by result."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, BinaryIO, NoReturn

import typer

from weighbridge_producer.cli.compare_text import print_comparison, print_unpaired
from weighbridge_producer.cli.compared_runs import (
    temporary_file,
    with_completeness,
)
from weighbridge_producer.cli.show import print_gates, print_json, print_waiting
from weighbridge_producer.cli.slices_text import print_slice_notes
from weighbridge_producer.comparison.compare import EXAMPLES, compare_runs
from weighbridge_producer.gating.gates import ERROR, check_gates
from weighbridge_producer.reports.comparison_forms import (
    ComparisonData,
    change_line,
    comparison_blocks,
)
from weighbridge_producer.run.outputs import write_blocks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from weighbridge_producer.cli.compared_runs import ComparedRuns
    from weighbridge_producer.cli.gate_options import Gating
    from weighbridge_producer.comparison.compare import Comparison
    from weighbridge_producer.comparison.pairing import PairKey
    from weighbridge_producer.comparison.pairs import Pair
    from weighbridge_producer.comparison.runs import Run
    from weighbridge_producer.gating.gates import GateResult

    _Checked = tuple[Comparison, list[GateResult]]

_EXAMPLES_SHOWN = 3


def compare_pairs(
    runs: ComparedRuns, gating: Gating, examples: int | None, pair_by: PairKey | None
) -> NoReturn:
    """Compare runs, write and print the comparisons, and exit by the gates; `examples` of each group are listed."""
    with ExitStack() as stack:
        results = _compared(runs, gating, examples, pair_by, stack)
    if runs.as_json:
        print_json({"comparisons": [_as_dict(*each) for each in results]})
    for comparison, checked in results:
        if not runs.as_json:
            print_comparison(comparison, _EXAMPLES_SHOWN if examples is None else examples)
        print_slice_notes(comparison.after_slices)
        print_gates(checked, comparison.after.name if len(results) > 1 else "")
    runs.print_written()
    _exit_if_unpaired(comparison for comparison, _ in results)
    runs.exit_by(gate for _, checked in results for gate in checked)


def _compared(
    runs: ComparedRuns,
    gating: Gating,
    examples: int | None,
    pair_by: PairKey | None,
    stack: ExitStack,
) -> list[_Checked]:
    """Return the comparisons with the results of their gates, after writing them to the outputs."""
    opened = runs.opened(stack)
    changes = temporary_file("changes.jsonl", stack)
    with changes.open("wb") as file:
        found = compare_runs(
            opened,
            by=gating.fields,
            pair_by=pair_by,
            examples=max(_EXAMPLES_SHOWN, EXAMPLES) if examples is None else examples,
            on_change=_written_to(file) if runs.outputs else None,
            in_full=bool(runs.outputs) or runs.as_json,
        )
    runs.check_label(opened)
    results = [(comparison, _gates_of(comparison, runs, gating)) for comparison in found]
    for each in runs.outputs:
        blocks = comparison_blocks(ComparisonData(results, changes), each)
        write_blocks(blocks, each, print_waiting)
    return results


def _gates_of(comparison: Comparison, runs: ComparedRuns, gating: Gating) -> list[GateResult]:
    """Return the results of all gates for a comparison."""
    of_rates = check_gates(gating.gates, comparison.after_labels, comparison.after_slices)
    gates = of_rates + runs.gates.check(comparison)
    return with_completeness(gates, (comparison.before, comparison.after))


def _written_to(file: BinaryIO) -> Callable[[Run, Pair], None]:
    """Return a function that writes a changed pair to a file."""

    def write(run: Run, pair: Pair) -> None:
        file.write(change_line(run, pair))

    return write


def _as_dict(comparison: Comparison, gates: list[GateResult]) -> dict[str, object]:
    return comparison.as_dict() | {"gates": [gate.as_dict() for gate in gates]}


def _exit_if_unpaired(comparisons: Iterable[Comparison]) -> None:
    """Print which runs have no result in common, and exit if there are such."""
    unpaired = [comparison for comparison in comparisons if not comparison.pairs]
    for comparison in unpaired:
        print_unpaired(comparison)
    if unpaired:
        raise typer.Exit(ERROR)
