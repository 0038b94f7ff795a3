"""`weighbridge results`: all or selected results of a batch or file, in any output form."""

from __future__ import annotations

import time
from collections import deque
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from weighbridge.errors import BatchError, InputError
from weighbridge.jobs.batch_state import BatchStatus
from weighbridge.text import pluralize
from weighbridge_producer.cli import gate_options as gate_opt
from weighbridge_producer.cli import options as opt
from weighbridge_producer.cli.chosen_outputs import chosen_outputs
from weighbridge_producer.cli.completed_values import batch_ids
from weighbridge_producer.cli.option_groups import takes_option_groups
from weighbridge_producer.cli.result_output import (
    CountedResults,
    gathered,
    print_written,
    sorted_lines,
    stream_lines,
    write_one_value,
)
from weighbridge_producer.cli.result_selection import ResultSelection
from weighbridge_producer.cli.results_summary import show_summary, summarised, summary_as_dict
from weighbridge_producer.cli.run_names import result_file
from weighbridge_producer.cli.show import (
    err,
    exit_with,
    input_note,
    out,
    print_json,
    print_waiting,
    shown,
    stdout_bytes,
)
from weighbridge_producer.cli.slices_text import print_slice_notes
from weighbridge_producer.gating.exit_status import Decision
from weighbridge_producer.reports.forms import STDOUT, goes_to_stdout
from weighbridge_producer.reports.report import Report
from weighbridge_producer.run.outputs import check_source, check_targets, write_each

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rich.console import Console

    from weighbridge.jobs.batch_state import BatchState
    from weighbridge_producer.cli.chosen_outputs import ChosenOutputs
    from weighbridge_producer.cli.gate_options import Gating
    from weighbridge_producer.cli.results_summary import Summarised
    from weighbridge_producer.client.batch import Batch
    from weighbridge_producer.reports.report import CasesOf

_BATCH = "wb_"  #: begins the id of every batch


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(results)


@takes_option_groups
def results(
    source: Annotated[
        str,
        typer.Argument(
            metavar="BATCH|FILE",
            autocompletion=batch_ids,
            help="A batch id, or a file of result lines as `run` writes it (.jsonl, plain, .gz or .zst).",
            callback=opt.utf8,
        ),
    ],
    custom_id: Annotated[
        str | None,
        typer.Option(
            "--id", metavar="CUSTOM_ID", help="Only this case's results.", callback=opt.utf8
        ),
    ] = None,
    failed: Annotated[bool, typer.Option("--failed", help="Only jobs that failed.")] = False,
    errored: Annotated[bool, typer.Option("--errored", help="Only jobs that errored.")] = False,
    cause: Annotated[
        list[str] | None,
        typer.Option(
            "--cause",
            metavar="CAUSE",
            help="Only jobs that did not pass for this reason, as summaries name it, or also failed this check: 'string_match: case',"
            " or 'string_match' for all its kinds. What follows a comma may be left out: 'loop: same_call'. Repeatable.",
            callback=opt.all_utf8,
        ),
    ] = None,
    label: Annotated[str | None, typer.Option(help="Only this label's results.")] = None,
    causes: Annotated[
        bool,
        typer.Option(
            "--causes",
            help="Show why jobs did not pass, each counted by its first failed check, with an example of each cause.",
        ),
    ] = False,
    sort: Annotated[
        bool, typer.Option("--sort", help="Wait for the batch to end, and write in input order.")
    ] = False,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Continue until the batch has ended.")
    ] = False,
    cursor: Annotated[
        str | None,
        typer.Option(
            help="Continue after this cursor; each call prints the cursor to continue from.",
            callback=opt.utf8,
        ),
    ] = None,
    output: Annotated[
        list[str] | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help=f"Where results go: {opt.OUTPUT_HELP} Default: JSON Lines on standard output, or with --causes, --by or a"
            " gate only what these show.",
        ),
    ] = None,
    by_case: opt.ByCase = False,
    with_cases: opt.WithCases = False,
    gates: gate_opt.GateOptions = gate_opt.NO_GATES,
    by: gate_opt.By = None,
    url: opt.Url = None,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json",
            help="Write one JSON value: the results and the cursor; with -o, the names of the files instead of the results; with"
            " --causes, --by or a gate, what these show.",
        ),
    ] = False,
) -> None:
    """Write the results of a batch or of a file, and on standard error the cursor to continue a batch from.

    Exit status: without a gate, 0 when the results were read, whatever they are, and 1 if the batch has failed without any. With a gate, as for `run`; `run --help`
    has the details.
    """
    gating = gates.parse(by)
    shows_summary = bool(causes or gating.fields or gating.gates)
    chosen = chosen_outputs(output or ([] if shows_summary else [STDOUT]))
    outputs = chosen.writable
    is_part = any((custom_id, failed, errored, cause, cursor))
    _check(source, gating, output or [], outputs, is_part=is_part, as_json=as_json)
    wanted = ResultSelection(
        *(custom_id, cause or [], label), failed=failed, errored=errored, of_cases=by_case
    )
    # Of a selection, every form has the results of all labels of its cases.
    opt.check_case_options(outputs, by_case=by_case and wanted.takes_all, with_cases=with_cases)
    summary: Summarised | None = None
    with ExitStack() as stack:
        if Path(source).is_file():
            _check_file_options(is_read_on=bool(follow or cursor), with_cases=with_cases)
            counts_repeats = outputs != [STDOUT]
            found = _Found(wanted.lines_in(result_file(source), counts_repeats=counts_repeats))
        else:
            batch = _batch_id(source)
            handle = stack.enter_context(opt.client(url)).batch(batch)
            # Read before the results, because a batch that ends meanwhile has more of them.
            state = _state_of(handle, waits=sort or (follow and bool(gating.gates)))
            lines = _or_failure(handle, wanted.lines_of(handle, cursor, follow=follow))
            lines = _with_cases(handle, lines) if with_cases else lines
            found = _Found(lines, state if gating.gates else None, partial(_cases_of, handle))
        if as_json and outputs == [STDOUT]:
            lines = sorted_lines(found.lines, stack) if sort else found.lines
            write_one_value(lines, wanted)
            return
        if outputs == [STDOUT] and not (sort or shows_summary):
            stream_lines(found.lines)
        else:
            counted = CountedResults(found.lines, has_cases=by_case)
            file = _file_of(source, counted, stack, wanted, sort=sort)
            report = Report(file, source, by_case, cases_of=found.cases_of)
            if shows_summary:
                summary, report = _summarised(report, gating, found.state, chosen)
            write_each(report, outputs, stdout_bytes(), print_waiting)
            if not as_json:
                print_written(counted, outputs)
    _print_selection_notes(
        wanted, source, says_if_none=bool(cause or label is not None or not shows_summary)
    )
    next_cursor = wanted.cursor or None
    if as_json:
        _print_as_json(summary, chosen, next_cursor, causes=causes)
    if summary:
        console = err if any(map(goes_to_stdout, outputs)) else out
        _end_with_summary(summary, source, None if as_json else console, causes=causes)
    if next_cursor and not sort and not as_json:
        err.print(f"cursor: {next_cursor}")
    if chosen.left_out:
        exit_with(chosen.decide(Decision(0)))


class _Found(NamedTuple):
    """The selected results of a file or a batch."""

    lines: Iterator[bytes]  #: several at a time
    state: BatchState | None = None  #: of a batch with a gate
    cases_of: CasesOf | None = None  #: None for a file, which has no other cases than its lines do


def _check(
    source: str,
    gating: Gating,
    given: Sequence[str],
    outputs: Sequence[str],
    *,
    is_part: bool,
    as_json: bool,
) -> None:
    """Refuse options that contradict each other, and outputs that cannot be written; `given` are those of the user."""
    if gating.gates and is_part:
        raise typer.BadParameter(
            "a gate is for all results, or with --label for one label's: leave out --id, --failed, --errored, --cause"
            " and --cursor"
        )
    if as_json and any(map(goes_to_stdout, given)):
        raise typer.BadParameter(
            "--json and -o - both write to standard output", param_hint="--json"
        )
    check_source(source, check_targets(outputs))


def _check_file_options(*, is_read_on: bool, with_cases: bool) -> None:
    """Refuse options for batches, given with a file."""
    if is_read_on:
        raise typer.BadParameter("--follow and --cursor are for batches")
    if with_cases:
        raise typer.BadParameter(
            "it is for batches: a file's lines keep the cases that they have",
            param_hint="--with-cases",
        )


def _state_of(handle: Batch, *, waits: bool) -> BatchState:
    """Return the state of a batch, or the one in which it ended; say first if its input is not complete."""
    state = handle.status()
    if state.idle_seconds(time.time()):
        err.print(input_note(state), soft_wrap=True)
    return handle.wait() if waits else state


def _file_of(
    source: str,
    counted: CountedResults,
    stack: ExitStack,
    wanted: ResultSelection,
    *,
    sort: bool,
) -> Path:
    """Return a file with the results, which have been read to their end: the source itself, if it is what is wanted."""
    # No output of this command overwrites its source.
    is_plain = Path(source).is_file() and source.endswith(".jsonl")
    if wanted.takes_all and not sort and is_plain:
        deque(counted, maxlen=0)  # raises for a line that is not a result
        return Path(source)
    return gathered(counted, stack, sort=sort)


def _summarised(
    report: Report, gating: Gating, state: BatchState | None, chosen: ChosenOutputs
) -> tuple[Summarised, Report]:
    """Return the summary of a report, and the report with the gates and slices of it."""
    summary = summarised(report, gating, state)
    if summary.decision:
        summary = summary._replace(decision=chosen.decide(summary.decision))
    slices = tuple(summary.slices.slices())
    return summary, replace(report, gates=summary.gates, slices=slices)


def _print_selection_notes(wanted: ResultSelection, source: str, *, says_if_none: bool) -> None:
    """Print what to try if no result was selected, and how many repeat an earlier one."""
    if (note := wanted.note(source)) and says_if_none:
        err.print(shown(note))
    if wanted.repeated:
        again = pluralize(wanted.repeated, "result")
        err.print(
            f"{shown(source)}: {again} with the custom_id and label of an earlier one, counted too",
            soft_wrap=True,
        )


def _print_as_json(
    summary: Summarised | None, chosen: ChosenOutputs, cursor: str | None, *, causes: bool
) -> None:
    """Print the names of the outputs, the cursor, and a summary, as one JSON value."""
    fields = summary_as_dict(summary, causes=causes) if summary else {}
    if chosen.left_out and not (summary and summary.decision):
        fields |= chosen.decide(Decision(0)).as_dict()
    outputs = chosen.writable
    print_json(({"outputs": outputs, "cursor": cursor} if outputs else {}) | fields)


def _end_with_summary(
    summary: Summarised, source: str, console: Console | None, *, causes: bool
) -> None:
    """Print a summary, unless it was printed as JSON, and exit by its gates if there are any."""
    if console:
        show_summary(summary, source, console, causes=causes)
    print_slice_notes(summary.slices)
    if summary.decision:
        exit_with(summary.decision)


def _or_failure(handle: Batch, blobs: Iterable[bytes]) -> Iterator[bytes]:
    """Yield selected lines; raises BatchError at their end if the batch has failed without the result of any job."""
    yield from blobs
    state = handle.status()
    if state.status is BatchStatus.FAILED and not state.counts.finished:
        raise BatchError(
            f"batch {state.batch_id} has failed, and no job of it has a result: {state.reason}",
            "submit its cases again",
        )


def _with_cases(handle: Batch, blobs: Iterable[bytes]) -> Iterator[bytes]:
    from weighbridge_producer.reports.case_lines import with_cases

    case_at, graders = handle.case_finder(), handle.options().graders
    for blob in blobs:
        yield from with_cases(blob.splitlines(keepends=True), case_at, graders)


def _batch_id(source: str) -> str:
    if source.startswith(_BATCH):
        return source
    raise InputError(
        f"{source!r} is neither a file of results nor a batch id",
        "give a .jsonl file that `run -o` wrote, or an id that `weighbridge batches` lists",
    )


def _cases_of(handle: Batch, wanted: Mapping[int, str]) -> Iterator[tuple[int, bytes]]:
    for line, custom_id in wanted.items():
        if case := handle.case(custom_id):
            yield line, case
