"""`weighbridge run`: grade a file on this machine, with a private Redis server and workers."""

from __future__ import annotations

import os
import shlex
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

import typer

from weighbridge.errors import InterruptionError, OutputError, WeighbridgeError
from weighbridge.settings import read_settings
from weighbridge.text import pluralize, printable
from weighbridge_producer.cli import gate_options as gate_opt
from weighbridge_producer.cli import options as opt
from weighbridge_producer.cli.completed_values import runs as completed_runs
from weighbridge_producer.cli.interruption import ignore_interruption
from weighbridge_producer.cli.reading import source_of
from weighbridge_producer.cli.reading_notes import (
    print_chosen,
    print_empty_expected,
    print_notes,
    print_unused,
)
from weighbridge_producer.cli.reading_options import (
    USUAL_READING,
    ReadingOptions,
    takes_reading_options,
)
from weighbridge_producer.cli.run_names import RUN_HELP, failed_ids, no_case, no_failed_case
from weighbridge_producer.cli.show import (
    Bar,
    err,
    error_value,
    exit_with,
    left_out,
    out,
    print_error,
    print_json,
    print_summary,
    print_waiting,
    shown,
    silence_stdout,
    stdout_bytes,
)
from weighbridge_producer.cli.slices_text import print_slice_notes, print_slices
from weighbridge_producer.gating.gates import ERROR
from weighbridge_producer.reports.forms import goes_to_stdout
from weighbridge_producer.run.outputs import check_outputs, check_source, check_targets
from weighbridge_producer.run.run_folder import RunState, state_root

if TYPE_CHECKING:
    from weighbridge.settings import Settings
    from weighbridge_producer.run.local_run import LocalRun, Progress, RunReport
    from weighbridge_producer.run.options import RunOptions

_ERROR_WIDTH = 800
_INTERRUPTED = "interrupted"


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(run)


@takes_reading_options
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
    min_pass_rate: gate_opt.MinPassRate = None,
    min_gradable: gate_opt.MinGradable = None,
    max_vacuous: gate_opt.MaxVacuous = None,
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
    from weighbridge_producer.run.options import RunOptions, default_output
    from weighbridge_producer.run.uncalled_tools import not_offered

    settings = read_settings()
    gating = gate_opt.parse_gate_options(min_pass_rate, min_gradable, max_vacuous, by)
    specs = opt.specs(grader, config, graders)
    opt.check_here(specs, graders)
    outputs = tuple(output or [default_output(cases)])
    source = source_of(
        cases,
        specs,
        settings,
        reading,
        only=(lambda: failed_ids(only_failed, settings, redis_url)) if only_failed else None,
    )
    if source.only is not None and not len(source.only):
        err.print(
            f"every job in {shown(only_failed)} passed or was ungradable: there is nothing to grade"
        )
        if as_json:
            print_json({"batch": None, "graders": [], "outputs": []})
        return
    if dry_run:
        from weighbridge_producer.cli.dry_run import dry_run as show_cases

        show_cases(source, specs, only_failed, as_json=as_json)
    check_outputs(outputs, source)
    for read, what in (
        (only_failed, "the run of --only-failed"),
        (graders, "the file of --graders"),
        (reading.mapping, "the file of --mapping"),
        (reading.trace_mapping, "the file of --trace-mapping"),
    ):
        check_source(read or "", check_targets(outputs), what)
    opt.check_graded(source, specs)
    opt.check_case_options(outputs, by_case=by_case, with_cases=with_cases)
    if as_json and any(map(goes_to_stdout, outputs)):
        raise typer.BadParameter(
            "--json and -o - both write to standard output", param_hint="--json"
        )
    if with_cases and not source.rereadable:
        raise typer.BadParameter("a pipe cannot be read again", param_hint="--with-cases")
    url = redis_url or settings.store_address
    with opt.readable(source, specs, settings, strict=strict) as readable:
        options = RunOptions(
            readable,
            specs,
            outputs,
            workers,
            sort=sort,
            by_case=by_case,
            with_cases=with_cases,
            url=url,
            fail_fast=fail_fast or 0,
            once=readable is not source,
            by=gating.fields,
            gates=tuple(gating.gates),
        )
        report = _go(options, settings, cases, quiet=as_json)
    if source.only is not None and not report.state.counts.total:
        raise no_failed_case(source, only_failed)
    if source.notes.leaves_out and not report.state.counts.total:
        raise no_case(source)
    decision = report.decide(gating.gates)
    if not report.fail_fast:
        print_chosen(source, only_failed)
        print_unused(source)
        print_empty_expected(source, specs)
        print_notes(source)
    if as_json:
        print_json(_as_dict(report, outputs) | decision.as_dict())
    else:
        sample = str(source.sample or "")
        _print_report(report, outputs, sample, names_words=not source.notes.wants_integers)
    print_slice_notes(report.slices, source.mapping)
    for limit in not_offered(report.uncalled, source):
        err.print(shown(limit.note))
    exit_with(decision)


def _go(options: RunOptions, settings: Settings, cases: list[str], *, quiet: bool) -> RunReport:
    from weighbridge_producer.run.local_run import LocalRun

    stdout = stdout_bytes() if any(map(goes_to_stdout, options.outputs)) else None
    with Bar(quiet=quiet) as bar:

        def show(progress: Progress) -> None:
            bar.update(progress.state, progress.note, progress.read_share)

        run = LocalRun(options, settings, show, stdout, print_waiting)
        _mention_interrupted(run, settings)
        try:
            return run.go()
        except KeyboardInterrupt:
            ignore_interruption()
            left = _INTERRUPTED
        except BrokenPipeError:
            silence_stdout()
            left = "the program that read the output has ended"
        except WeighbridgeError as error:
            print_error(error, as_json=quiet)
            left = "stopped"
        except OSError as error:
            fault = OutputError(f"{error.strerror}: {error.filename or 'the results'}")
            print_error(fault, as_json=quiet)
            left = "stopped"
    _print_how_to_continue(run, left, cases, as_json=quiet and left == _INTERRUPTED)
    if run.stuck:
        # A thread blocked on a pipe cannot be stopped, and would block the interpreter's exit.
        os._exit(ERROR)
    raise typer.Exit(ERROR)


def _print_how_to_continue(run: LocalRun, left: str, cases: list[str], *, as_json: bool) -> None:
    """Print why a run has ended, and what becomes of its work, also as a JSON error if that is wanted."""
    hint = ""
    if run.state.resumable and run.state.batch:
        message = f"{left}; the finished work is kept in {run.state.folder}"
        discard = shlex.join(["weighbridge", "run", *cases, "--clean"])
        hint = f"to continue, run the same command again; to discard it, {discard}"
        run.state.release()
    else:
        run.state.remove()
        why = "" if run.state.resumable else ", because the input cannot be read a second time"
        message = f"{left}; the finished work is not kept{why}"
    err.print(shown(message))
    if hint:
        err.print(f"  {shown(hint)}", soft_wrap=True)
    if as_json:
        print_json({"error": error_value(InterruptionError(message, hint).fault)})


def _mention_interrupted(run: LocalRun, settings: Settings) -> None:
    if run.state.batch:
        err.print(f"continuing the interrupted run in {shown(str(run.state.folder))}")
    kept = []
    with suppress(OSError):
        for state in RunState.interrupted(state_root(settings)):
            kept.append(state.folder)
            state.release()
    if kept:
        others = (
            "another interrupted run is"
            if len(kept) == 1
            else f"{len(kept)} other interrupted runs are"
        )
        where = kept[0] if len(kept) == 1 else kept[0].parent
        err.print(
            f"[dim]{others} kept in {shown(str(where))}; `weighbridge run --clean` removes {'it' if len(kept) == 1 else 'them'}[/]"
        )


def _print_report(
    report: RunReport, outputs: tuple[str, ...], sample: str, *, names_words: bool
) -> None:
    console = err if any(map(goes_to_stdout, outputs)) else out
    counts = report.state.counts
    if report.byte_order_mark:
        console.print("BYTE_ORDER_MARK: line 1 starts with a byte-order mark, which was ignored")
    print_summary(report.summary, counts, console, report.examples, names_words=names_words)
    print_slices(report.slices, console)
    if report.errored:
        console.print()
    for text in report.errored:
        console.print("\n".join(shown(line, _ERROR_WIDTH) for line in text.splitlines()))
    if counts.errored > len(report.errored):
        console.print(f"... the output lists all {pluralize(counts.errored, 'errored job')}")
    if report.state.duplicates:
        console.print(left_out(report.state.duplicates))
    if not counts.total:
        of = f"the sample of {sample} of " if sample else ""
        console.print(
            f"[red]NO_CASES[/]: {of}{shown(report.source)} has no cases; nothing was written"
        )
    resumed = ", resumed" if report.resumed else ""
    rate = counts.total / report.seconds if report.seconds else 0
    console.print(
        f"\n{pluralize(counts.total, 'job')} in {report.seconds:.1f} s ({rate:,.0f}/s) on {shown(report.server)}{resumed}"
    )
    if counts.total:
        console.print(f"results: {shown(', '.join(outputs))}")


def _as_dict(report: RunReport, outputs: tuple[str, ...]) -> dict[str, object]:
    return {
        "batch": report.state.as_dict(),
        "graders": [row.as_dict() for row in report.summary],
        "slices": [row.as_dict() for row in report.slices.slices()],
        "examples": [
            {"label": label, "cause": cause, "example": example}
            for (label, cause), example in report.examples.items()
        ],
        "seconds": report.seconds,
        "server": report.server,
        "resumed": report.resumed,
        "outputs": [printable(output) for output in outputs],
    }
