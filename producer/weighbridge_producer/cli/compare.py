"""`weighbridge compare`: what changed from one run to another."""

from __future__ import annotations

from typing import Annotated

import typer

from weighbridge.errors import InvalidFilterError, InvalidGateError
from weighbridge_producer.cli import gate_options as gate_opt
from weighbridge_producer.cli import options as opt
from weighbridge_producer.cli.chosen_outputs import chosen_outputs
from weighbridge_producer.cli.compared_runs import ComparedRuns, comparison_outputs
from weighbridge_producer.cli.completed_values import runs as completed_runs
from weighbridge_producer.cli.option_groups import takes_option_groups
from weighbridge_producer.cli.pair_comparison import compare_pairs
from weighbridge_producer.cli.repeats_comparison import compare_repeated_cases
from weighbridge_producer.cli.run_names import RUN_HELP
from weighbridge_producer.comparison.pairing import PairKey
from weighbridge_producer.comparison.regression_gates import RegressionGates
from weighbridge_producer.comparison.repeat_gates import RepeatGates
from weighbridge_producer.comparison.repeat_key import RepeatKey


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(compare)


@takes_option_groups
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
    pair_by: Annotated[
        str,
        typer.Option(
            metavar="FIELD",
            help="Pair results by a metadata field instead of the custom_id, such as metadata.file for traces whose ids are new in each run.",
            callback=opt.utf8,
        ),
    ] = "",
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
            help="With a gate: accept results that the first run judged and another did not, and unjudged repeats.",
        ),
    ] = False,
    max_flaky: Annotated[
        str,
        typer.Option(
            metavar="N|P%",
            help="With --repeats-by: exit 100 if more cases are flaky (some of their repeats passed, and some failed).",
        ),
    ] = "",
    min_pass_hat_k: Annotated[
        list[str] | None,
        typer.Option(
            metavar="K=SHARE",
            help="With --repeats-by: exit 100 if a label's pass^K is lower, as in 3=0.9. Repeatable.",
            callback=opt.all_utf8,
        ),
    ] = None,
    gates: gate_opt.GateOptions = gate_opt.NO_GATES,
    url: opt.Url = None,
    as_json: opt.AsJson = False,
) -> None:
    """Compare RUNs by custom_id (or --pair-by) and label: what regressed, what was repaired, and whether the pass rates differ.

    Rates are those of the results that passed or failed in both runs, with Wilson's 95 % intervals. Their difference
    has Newcombe's paired 95 % interval (method 10) and the p-value of McNemar's exact test, adjusted for the number
    of labels after Benjamini and Hochberg.

    --min-pass-rate, --min-gradable and --max-vacuous are for the results of each further run, as for `run`, and --max-flaky
    and --min-pass-hat-k for its repeats, or for those of the only run.

    Exit status: 0 without a gate, or when each is met. 100 when a gate is not met. 1 when two runs have no result in
    common, or a gate cannot be decided: no pair was judged, a batch is not completed, or results that the first run
    judged are missing, errored or ungradable (--allow-lost accepts that). 2 for a usage error.
    """
    try:
        regression_gates = RegressionGates(
            max_regressions, fail_on_regression, min_effect, allow_lost
        )
        repeat_gates = RepeatGates.parse(max_flaky, min_pass_hat_k or (), allow_unjudged=allow_lost)
        key = RepeatKey.parse(repeats_by) if repeats_by else None
        pair_key = PairKey.parse(pair_by)
    except (InvalidGateError, InvalidFilterError) as error:
        raise typer.BadParameter(str(error)) from None
    chosen = chosen_outputs(output or [])
    if key:
        if any((by, pair_by, examples, max_regressions, gates.are_given)):
            raise typer.BadParameter(
                "its gates are --max-flaky and --min-pass-hat-k, and --fail-on-regression for two runs or more;"
                " besides them it can be combined with --min-effect, --allow-lost, --label, --output and --json only",
                param_hint="--repeats-by",
            )
        if fail_on_regression and len(runs) < 2:
            raise typer.BadParameter(
                "--fail-on-regression compares two runs or more; --max-flaky and --min-pass-hat-k apply to one",
                param_hint="RUN",
            )
        outputs = comparison_outputs(chosen.writable, runs)
        compare_repeated_cases(
            ComparedRuns(runs, label, url, outputs, chosen, regression_gates, as_json),
            key,
            repeat_gates,
        )
    if repeat_gates.are_given:
        raise typer.BadParameter(
            "--max-flaky and --min-pass-hat-k are for repeats: say which results are repeats of one case",
            param_hint="--repeats-by",
        )
    if len(runs) < 2:
        raise typer.BadParameter("name two runs or more", param_hint="RUN")
    gating = gates.parse(by)
    outputs = comparison_outputs(chosen.writable, runs)
    compared = ComparedRuns(runs, label, url, outputs, chosen, regression_gates, as_json)
    compare_pairs(compared, gating, examples, pair_key)
