"""`weighbridge run`: grade a file on this machine, with a private Redis server and workers."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from weighbridge.settings import read_settings
from weighbridge_producer.cli import gate_options as gate_opt
from weighbridge_producer.cli import options as opt
from weighbridge_producer.cli.chosen_outputs import chosen_outputs
from weighbridge_producer.cli.completed_values import runs as completed_runs
from weighbridge_producer.cli.gate_labels import check_labels
from weighbridge_producer.cli.option_groups import takes_option_groups
from weighbridge_producer.cli.reading import source_of
from weighbridge_producer.cli.reading_notes import (
    print_chosen,
    print_empty_expected,
    print_notes,
    print_unused,
)
from weighbridge_producer.cli.reading_options import USUAL_READING, ReadingOptions
from weighbridge_producer.cli.run_names import RUN_HELP, failed_ids, no_case, no_failed_case
from weighbridge_producer.cli.run_report import print_report, report_as_dict
from weighbridge_producer.cli.run_to_end import run_to_end
from weighbridge_producer.cli.show import err, exit_with, print_json, shown
from weighbridge_producer.cli.slices_text import print_slice_notes
from weighbridge_producer.input.lost_rows import NOTHING_LOST, lost_rows
from weighbridge_producer.reports.forms import goes_to_stdout
from weighbridge_producer.run.options import RunOptions, default_output
from weighbridge_producer.run.outputs import check_outputs, check_source, check_targets

if TYPE_CHECKING:
    from collections.abc import Mapping

    from weighbridge_producer.input.source import Source
    from weighbridge_producer.run.run_report import RunReport


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(run)


@takes_option_groups
def run(
    cases: Annotated[list[str] | None, typer.Argument(metavar="CASES", help=opt.CASES_HELP)] = None,
    grader: opt.Graders = None,
    config: opt.Configs = None,
    graders: opt.GradersFile = None,
    reading: ReadingOptions = USUAL_READING,
    output: Annotated[
        list[str] | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help=f"Where results go: {opt.OUTPUT_HELP}"
            " Default: NAME.results.jsonl in the current folder, NAME being the name of CASES without its endings, or"
            " weighbridge for a pipe or a pattern.",
        ),
    ] = None,
    workers: Annotated[
        int, typer.Option(min=1, help="Worker processes.", show_default=opt.ONE_PER_CORE)
    ] = os.cpu_count() or 1,
    sort: Annotated[
        bool, typer.Option("--sort", help="Write results in the order of the input.")
    ] = False,
    by_case: opt.ByCase = False,
    with_cases: opt.WithCases = False,
    only_failed: Annotated[
        str,
        typer.Option(
            "--only-failed",
            metavar="RUN",
            autocompletion=completed_runs,
            help="Grade only the cases with a job that failed, errored, expired or was cancelled in an earlier run:"
            f" {RUN_HELP}.",
            callback=opt.utf8,
        ),
    ] = "",
    strict: opt.Strict = False,
    gates: gate_opt.GateOptions = gate_opt.NO_GATES,
    by: gate_opt.By = None,
    fail_fast: Annotated[
        int | None,
        typer.Option(
            "--fail-fast",
            min=1,
            metavar="N",
            help="Cancel the rest once N jobs have failed, and exit 100. Chunks of up to 256 jobs that have begun are graded to"
            " their end, so that more may fail.",
        ),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Read and check everything, show the first cases, and grade nothing."
        ),
    ] = False,
    redis_url: Annotated[
        str | None,
        typer.Option(
            "--redis-url",
            metavar="URL",
            help="A Redis server to use instead of a private one. Default: WEIGHBRIDGE_REDIS_URL if it is set; prefer it"
            " for a URL with a password, because `ps` shows arguments.",
            callback=opt.utf8,
        ),
    ] = None,
    clean: Annotated[
        bool,
        typer.Option(
            "--clean",
            help="Remove the saved state of your interrupted runs, or with CASES only of the runs that read these files; list"
            " the removed runs, and exit.",
        ),
    ] = False,
    as_json: opt.AsJson = False,
) -> None:
    """Grade CASES on this machine and write the results; no Redis server has to be running.

    Exit status, by the first rule that applies: 2 for a usage error. 1 after an error or an interruption. 100 when
    --fail-fast ended the run. 1 when the batch was cancelled or expired, there was nothing to grade, the input was not
    read to its end, a job errored (--min-gradable allows some), --min-gradable is not met, or a gate cannot be decided.
    100 when jobs failed (--min-pass-rate allows some) or another gate is not met. 1 when a job was ungradable
    (--min-gradable allows some). Otherwise 0.

    If all passes are vacuous, --min-pass-rate is not met, unless --max-vacuous accepts them.
    """
    if clean:
        from weighbridge_producer.cli.clean_runs import clean_runs

        clean_runs(cases or [], as_json=as_json)
        return
    if not cases:
        raise typer.BadParameter("name a file of cases, or - for a pipe", param_hint="CASES")
    settings = read_settings()
    gating = gates.parse(by)
    specs = opt.specs(grader, config, graders)
    opt.check_here(specs, graders)
    chosen = chosen_outputs(output or [default_output(cases)])
    outputs = tuple(chosen.writable)
    only = (lambda: failed_ids(only_failed, settings, redis_url)) if only_failed else None
    source = source_of(cases, specs, settings, reading, only)
    if source.only is not None and not len(source.only):
        _print_nothing_to_grade(only_failed, as_json=as_json)
        return
    if dry_run:
        from weighbridge_producer.cli.dry_run import dry_run as show_cases

        lacks_output = bool(chosen.left_out)
        show_cases(source, specs, only_failed, as_json=as_json, lacks_output=lacks_output)
    options = RunOptions(
        source,
        specs,
        outputs,
        workers,
        sort=sort,
        by_case=by_case,
        with_cases=with_cases,
        url=redis_url or settings.store_address,
        fail_fast=fail_fast or 0,
        by=gating.fields,
        gates=tuple(gating.gates),
    )
    read_files = {
        "the run of --only-failed": only_failed,
        "the file of --graders": graders,
        "the file of --mapping": reading.mapping,
        "the file of --trace-mapping": reading.trace_mapping,
    }
    _check(options, read_files, as_json=as_json)
    with opt.readable(source, specs, settings, strict=strict) as readable:
        given = replace(options, source=readable, once=readable is not source)
        report = run_to_end(given, settings, cases, quiet=as_json)
    if not report.state.counts.total:
        _check_has_cases(source, only_failed)
    decision = chosen.decide(report.decide(options.gates))
    if not report.fail_fast:
        print_chosen(source, only_failed)
        print_unused(source)
        print_empty_expected(source, specs)
        print_notes(source, specs)
    lost = lost_rows(source) if report.state.duplicates else NOTHING_LOST
    if as_json:
        print_json(report_as_dict(report, outputs, lost) | decision.as_dict())
    else:
        print_report(report, outputs, source, lost)
    _print_further_notes(report, source)
    exit_with(decision)


def _print_nothing_to_grade(only_failed: str, *, as_json: bool) -> None:
    err.print(
        f"every job in {shown(only_failed)} passed or was ungradable: there is nothing to grade"
    )
    if as_json:
        print_json({"batch": None, "graders": [], "outputs": []})


def _check(options: RunOptions, read_files: Mapping[str, str | None], *, as_json: bool) -> None:
    """Refuse options that contradict each other, and outputs that cannot be written or are among `read_files`.

    These are the files that are read beside CASES, by what they are called in the error.
    """
    check_outputs(options.outputs, options.source)
    for what, file in read_files.items():
        check_source(file or "", check_targets(options.outputs), what)
    opt.check_graded(options.source, options.graders)
    check_labels(options.gates, options.graders, options.source)
    opt.check_case_options(options.outputs, by_case=options.by_case, with_cases=options.with_cases)
    if as_json and any(map(goes_to_stdout, options.outputs)):
        raise typer.BadParameter(
            "--json and -o - both write to standard output", param_hint="--json"
        )
    if options.with_cases and not options.source.rereadable:
        raise typer.BadParameter("a pipe cannot be read again", param_hint="--with-cases")


def _check_has_cases(source: Source, only_failed: str) -> None:
    """Raise the error of a run without a job, if it is known why the source has no case."""
    if source.only is not None:
        raise no_failed_case(source, only_failed)
    if source.notes.leaves_out:
        raise no_case(source)


def _print_further_notes(report: RunReport, source: Source) -> None:
    """Print what to know of the slices, and limits on tools that were never called."""
    from weighbridge_producer.run.uncalled_tools import not_offered

    print_slice_notes(report.slices, source.mapping)
    for limit in not_offered(report.uncalled, source):
        err.print(shown(limit.note))
