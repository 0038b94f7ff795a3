"""`weighbridge compare`: what changed from one run to another."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO, NoReturn

import typer

from weighbridge.errors import InvalidFilterError, InvalidGateError, OutputError
from weighbridge.settings import read_settings
from weighbridge.text import closest, did_you_mean
from weighbridge_producer.cli import gate_options as gate_opt
from weighbridge_producer.cli import options as opt
from weighbridge_producer.cli.compare_text import print_comparison, print_unpaired
from weighbridge_producer.cli.completed_values import runs as completed_runs
from weighbridge_producer.cli.repeats_text import print_repeats
from weighbridge_producer.cli.run_names import RUN_HELP, open_run
from weighbridge_producer.cli.show import out, print_gates, print_json, print_waiting, shown
from weighbridge_producer.cli.slices_text import print_slice_notes
from weighbridge_producer.comparison.compare import EXAMPLES, compare_runs
from weighbridge_producer.comparison.notes import notes_of_repeats
from weighbridge_producer.comparison.regression_gates import RegressionGates, incomplete_runs
from weighbridge_producer.comparison.repeats import RepeatKey, compare_repeats
from weighbridge_producer.gating.gates import ERROR, check_gates
from weighbridge_producer.reports.comparison_forms import (
    ComparisonData,
    change_line,
    comparison_blocks,
    comparison_output,
)
from weighbridge_producer.reports.forms import STDOUT
from weighbridge_producer.reports.repeats_forms import RepeatsData, case_line, repeats_blocks
from weighbridge_producer.run.outputs import (
    check_differ,
    check_folder,
    check_source,
    write_blocks,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from weighbridge_producer.comparison.pairs import Pair
    from weighbridge_producer.comparison.repeats import RepeatedCase
    from weighbridge_producer.comparison.runs import Run
    from weighbridge_producer.gating.gates import GateResult
    from weighbridge_producer.reports.forms import Output

_EXAMPLES_SHOWN = 3


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(compare)


def compare(
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN",
            autocompletion=completed_runs,
            help=f"Two or more runs, each {RUN_HELP}. The others are compared with the first.",
            callback=opt.all_utf8,
        ),
    ],
    label: Annotated[
        str | None,
        typer.Option(help="Compare only this label's results.", callback=opt.utf8),
    ] = None,
    by: gate_opt.By = None,
    repeats_by: Annotated[
        str | None,
        typer.Option(
            metavar="FIELD",
            help="Treat results with the same value of FIELD as repeats of one case, and show pass@k, pass^k and flaky cases;"
            " one RUN is enough. FIELD is metadata.FIELD, custom_id, or custom_id:SEPARATOR for ids such as q1#2.",
            callback=opt.utf8,
        ),
    ] = None,
    examples: Annotated[
        int | None,
        typer.Option(
            min=0, help="How many results of each group to list. Default: 3, and 20 with --json."
        ),
    ] = None,
    output: Annotated[
        list[str] | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="Write the comparison too: every result that changed (with --repeats-by, every case) as .jsonl, .csv, .tsv,"
            " .parquet or OpenTelemetry events (.otlp.jsonl), a page as .html, a summary for a pull request as .md, or JUnit as"
            " .xml; or FORM=FILE, as in md=$GITHUB_STEP_SUMMARY. Repeatable.",
            callback=opt.all_utf8,
        ),
    ] = None,
    max_regressions: Annotated[
        str,
        typer.Option(
            metavar="N|P%",
            help="Exit 100 if more results regressed: a number, or a share of pairs.",
        ),
    ] = "",
    fail_on_regression: Annotated[
        bool,
        typer.Option(
            "--fail-on-regression",
            help="Exit 100 if a label's pass rate is significantly lower (adjusted p of 0.05 or less).",
        ),
    ] = False,
    min_effect: Annotated[
        str,
        typer.Option(
            metavar="SHARE",
            help="With --fail-on-regression: ignore losses of less than this share (0.02 or 2%).",
        ),
    ] = "",
    allow_lost: Annotated[
        bool,
        typer.Option(
            "--allow-lost",
            help="With a gate: accept results that the first run judged and another did not.",
        ),
    ] = False,
    min_pass_rate: gate_opt.MinPassRate = None,
    min_gradable: gate_opt.MinGradable = None,
    max_vacuous: gate_opt.MaxVacuous = None,
    url: opt.Url = None,
    as_json: opt.AsJson = False,
) -> None:
    """Compare RUNs by custom_id and label: what regressed, what was repaired, and whether the pass rates differ.

    Rates are those of the results that passed or failed in both runs, with Wilson's 95 % intervals. Their difference
    has Newcombe's paired 95 % interval (method 10) and the p-value of McNemar's exact test, adjusted for the number
    of labels after Benjamini and Hochberg.

    --min-pass-rate, --min-gradable and --max-vacuous are for the results of each further run, as for `run`.

    Exit status: 0 without a gate, or when each is met. 100 when a gate is not met. 1 when two runs have no result in
    common, or a gate cannot be decided: no pair was judged, a batch is not completed, or results that the first run
    judged are missing, errored or ungradable (--allow-lost accepts that). 2 for a usage error.
    """
    try:
        gates = RegressionGates(max_regressions, fail_on_regression, min_effect, allow_lost)
        key = RepeatKey.parse(repeats_by) if repeats_by else None
    except (InvalidGateError, InvalidFilterError) as error:
        raise typer.BadParameter(str(error)) from None
    if key:
        pairwise = (by, examples, max_regressions, min_pass_rate, min_gradable, max_vacuous)
        if any(pairwise):
            raise typer.BadParameter(
                "it can be combined with --output, --fail-on-regression, --min-effect, --allow-lost and --json only",
                param_hint="--repeats-by",
            )
        _compare_repeats(runs, key, gates, output or [], url, label, as_json=as_json)
    if len(runs) < 2:
        raise typer.BadParameter("name two runs or more", param_hint="RUN")
    gating = gate_opt.parse_gate_options(min_pass_rate, min_gradable, max_vacuous, by)
    outputs = _outputs(output or [], runs)
    with ExitStack() as stack:
        opened = _opened(runs, label, url, stack)
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="weighbridge-"))
        changes = Path(folder) / "changes.jsonl"
        most = max(_EXAMPLES_SHOWN, EXAMPLES) if examples is None else examples
        with changes.open("wb") as file:
            on_change = _written_to(file) if outputs else None
            found = compare_runs(
                opened,
                by=gating.fields,
                examples=most,
                on_change=on_change,
                in_full=bool(outputs) or as_json,
            )
        _check_label(opened, label)
        results = [
            (
                comparison,
                _with_completeness(
                    check_gates(gating.gates, comparison.after_labels, comparison.after_slices)
                    + gates.check(comparison),
                    (comparison.before, comparison.after),
                ),
            )
            for comparison in found
        ]
        for each in outputs:
            blocks = comparison_blocks(ComparisonData(results, changes), each)
            write_blocks(blocks, each, print_waiting)
    if as_json:
        print_json(
            {
                "comparisons": [
                    comparison.as_dict() | {"gates": [gate.as_dict() for gate in checked]}
                    for comparison, checked in results
                ]
            }
        )
    for comparison, checked in results:
        if not as_json:
            print_comparison(comparison, _EXAMPLES_SHOWN if examples is None else examples)
        print_slice_notes(comparison.after_slices)
        print_gates(checked, comparison.after.name if len(results) > 1 else "")
    _print_written(outputs, as_json=as_json)
    unpaired = [comparison for comparison, _ in results if not comparison.pairs]
    for comparison in unpaired:
        print_unpaired(comparison)
    if unpaired:
        raise typer.Exit(ERROR)
    _exit(gate for _, checked in results for gate in checked)


def _compare_repeats(
    runs: list[str],
    key: RepeatKey,
    gates: RegressionGates,
    output: list[str],
    url: str | None,
    label: str | None,
    *,
    as_json: bool,
) -> NoReturn:
    outputs = _outputs(output, runs)
    with ExitStack() as stack:
        opened = _opened(runs, label, url, stack)
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="weighbridge-"))
        cases = Path(folder) / "cases.jsonl"
        with cases.open("wb") as file:

            def write(case: RepeatedCase) -> None:
                file.write(case_line(case))

            labels = compare_repeats(opened, key, write if outputs else None)
        _check_label(opened, label)
        checked = [
            _with_completeness(gates.check_repeats(labels, run), (opened[0], opened[run]))
            for run in range(1, len(runs))
        ]
        every_gate = [gate for of_run in checked for gate in of_run]
        for each in outputs:
            written = RepeatsData(opened, labels, every_gate, cases)
            write_blocks(repeats_blocks(written, each), each, print_waiting)
    if as_json:
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
    for run, of_run in zip(opened[1:], checked, strict=True):
        print_gates(of_run, run.name if len(runs) > 2 else "")
    _print_written(outputs, as_json=as_json)
    _exit(every_gate)


def _with_completeness(gates: list[GateResult], runs: tuple[Run, Run]) -> list[GateResult]:
    """Add to gates that were asked for what keeps them from being decided."""
    return gates + incomplete_runs(runs) if gates else []


def _opened(names: list[str], label: str | None, url: str | None, stack: ExitStack) -> list[Run]:
    opened = [open_run(name, read_settings(), url, stack) for name in names]
    for run in opened:
        run.label = label
    return opened


def _check_label(runs: Iterable[Run], label: str | None) -> None:
    """Raise InvalidFilterError if a run that was read has no result with the label."""
    for run in runs:
        if label is not None and run.labels and label not in run.labels:
            meant = did_you_mean(closest(label, run.labels))
            raise InvalidFilterError(
                f"no result of {run.name} has the label {label[:80]!r}{meant}",
                f"its labels: {', '.join(sorted(run.labels))}",
            )


def _print_written(outputs: list[Output], *, as_json: bool) -> None:
    if outputs and not as_json:
        out.print(f"\nwritten: {shown(', '.join(each.target for each in outputs))}")


def _exit(gates: Iterable[GateResult]) -> NoReturn:
    """Exit with the status that the gates determine."""
    statuses = {gate.status for gate in gates}
    raise typer.Exit(ERROR if ERROR in statuses else max(statuses, default=0))


def _outputs(texts: list[str], runs: list[str]) -> list[Output]:
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


def _written_to(file: BinaryIO) -> Callable[[Run, Pair], None]:
    """Return a function that writes a changed pair to a file."""

    def write(run: Run, pair: Pair) -> None:
        file.write(change_line(run, pair))

    return write
