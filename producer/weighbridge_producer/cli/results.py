"""`weighbridge results`: all or selected results of a batch or file, in any output form."""

from __future__ import annotations

import tempfile
from collections import deque
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import orjson
import typer

from weighbridge.errors import InputError, InterruptionError, WeighbridgeError
from weighbridge.jobs.result_line_parts import line_number_of
from weighbridge.text import pluralize
from weighbridge_producer.cli import gate_options as gate_opt
from weighbridge_producer.cli import options as opt
from weighbridge_producer.cli.completed_values import batch_ids
from weighbridge_producer.cli.result_selection import ResultSelection
from weighbridge_producer.cli.run_names import result_file
from weighbridge_producer.cli.show import (
    err,
    error_value,
    exit_with,
    out,
    print_error,
    print_json,
    print_waiting,
    shown,
    stdout_bytes,
)
from weighbridge_producer.cli.slices_text import print_slice_notes
from weighbridge_producer.gating.gates import ERROR
from weighbridge_producer.reports.report import Report

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from weighbridge.jobs.batch_state import BatchState
    from weighbridge_producer.cli.results_summary import Summarised
    from weighbridge_producer.client.batch import Batch
    from weighbridge_producer.reports.report import CasesOf

_COPY_BYTES = 1024 * 1024
_BATCH = "wb_"  #: begins the id of every batch


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(results)


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
            help="Only jobs that did not pass for this reason, as summaries name it: 'string_match: case',"
            " or 'string_match' for all its kinds. Repeatable.",
            callback=opt.all_utf8,
        ),
    ] = None,
    label: Annotated[str | None, typer.Option(help="Only this label's results.")] = None,
    causes: Annotated[
        bool,
        typer.Option("--causes", help="Show why jobs did not pass, with an example of each cause."),
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
    min_pass_rate: gate_opt.MinPassRate = None,
    min_gradable: gate_opt.MinGradable = None,
    max_vacuous: gate_opt.MaxVacuous = None,
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

    Exit status: without a gate, 0 when the results were read, whatever they are. With a gate, as for `run`; `run --help`
    has the details.
    """
    from weighbridge_producer.cli.results_summary import (
        show_summary,
        summarised,
        summary_as_dict,
    )
    from weighbridge_producer.reports.forms import STDOUT, goes_to_stdout
    from weighbridge_producer.run.outputs import check_source, check_targets, write_each

    gating = gate_opt.parse_gate_options(min_pass_rate, min_gradable, max_vacuous, by)
    is_part = any((custom_id, failed, errored, cause, cursor))
    if gating.gates and is_part:
        raise typer.BadParameter(
            "a gate is for all results, or with --label for one label's: leave out --id, --failed, --errored, --cause"
            " and --cursor"
        )
    shows_summary = bool(causes or gating.fields or gating.gates)
    outputs = output or ([] if shows_summary else [STDOUT])
    if as_json and output and any(map(goes_to_stdout, output)):
        raise typer.BadParameter(
            "--json and -o - both write to standard output", param_hint="--json"
        )
    check_source(source, check_targets(outputs))
    wanted = ResultSelection(
        *(custom_id, cause or [], label), failed=failed, errored=errored, of_cases=by_case
    )
    # Of a selection, every form has the results of all labels of its cases.
    opt.check_case_options(outputs, by_case=by_case and wanted.takes_all, with_cases=with_cases)
    cases_of: CasesOf | None = None
    state: BatchState | None = None
    summary: Summarised | None = None
    with ExitStack() as stack:
        if Path(source).is_file():
            if follow or cursor:
                raise typer.BadParameter("--follow and --cursor are for batches")
            if with_cases:
                raise typer.BadParameter(
                    "it is for batches: a file's lines keep the cases that they have",
                    param_hint="--with-cases",
                )
            lines = wanted.lines_in(result_file(source), counts_repeats=outputs != [STDOUT])
        else:
            batch = _batch_id(source)
            handle = stack.enter_context(opt.client(url)).batch(batch)
            if sort or (follow and gating.gates):
                handle.wait()
            # Read before the results, because a batch that ends meanwhile has more of them.
            state = handle.status() if gating.gates else None
            lines = wanted.lines_of(handle, cursor, follow=follow)
            cases_of = partial(_cases_of, handle)
            if with_cases:
                lines = _with_cases(handle, lines)
        if as_json and outputs == [STDOUT]:
            _write_one_value(_sorted(lines, stack) if sort else lines, wanted)
            return
        if outputs == [STDOUT] and not (sort or shows_summary):
            _stream_lines(lines)
        else:
            counted = _Counted(lines, has_cases=by_case)
            if wanted.takes_all and not sort and _is_plain(source):
                file = Path(source)
                deque(counted, maxlen=0)  # raises for a line that is not a result
            else:
                file = _gathered(counted, stack, sort=sort)
            report = Report(file, source, by_case, cases_of=cases_of)
            if shows_summary:
                summary = summarised(report, gating, state)
                slices = tuple(summary.slices.slices())
                report = replace(report, gates=summary.gates, slices=slices)
            write_each(report, outputs, stdout_bytes(), print_waiting)
            if not as_json:
                _print_written(counted, outputs)
    cursor = wanted.cursor or None
    if (note := wanted.note(source)) and (cause or not shows_summary):
        err.print(shown(note))
    if wanted.repeated:
        again = pluralize(wanted.repeated, "result")
        err.print(
            f"{shown(source)}: {again} with the custom_id and label of an earlier one, counted too",
            soft_wrap=True,
        )
    if as_json:
        fields = summary_as_dict(summary, causes=causes) if summary else {}
        print_json(({"outputs": outputs, "cursor": cursor} if outputs else {}) | fields)
    elif summary:
        show_summary(
            summary, source, err if any(map(goes_to_stdout, outputs)) else out, causes=causes
        )
    if summary:
        print_slice_notes(summary.slices)
    if summary and summary.decision:
        exit_with(summary.decision)
    if cursor and not sort and not as_json:
        err.print(f"cursor: {cursor}")


class _Counted:
    """Blocks of result lines, and the number of results, and of their cases if wanted, in those that were read."""

    def __init__(self, blobs: Iterable[bytes], *, has_cases: bool) -> None:
        self._blobs = blobs
        self._cases: set[int] | None = set() if has_cases else None  #: by their line numbers
        self.results = 0

    def __iter__(self) -> Iterator[bytes]:
        for blob in self._blobs:
            lines = blob.splitlines()
            self.results += len(lines)
            if self._cases is not None:
                self._cases.update(map(line_number_of, lines))
            yield blob

    def __str__(self) -> str:
        """Return the numbers."""
        cases = "" if self._cases is None else f" of {pluralize(len(self._cases), 'case')}"
        return f"{pluralize(self.results, 'result')}{cases}"


def _print_written(counted: _Counted, outputs: Iterable[str]) -> None:
    """Print on standard error what was written to files, and in which form."""
    from weighbridge_producer.reports.forms import STDOUT, output_of

    written = [
        f"{output.target} ({output.description})"
        for output in map(output_of, outputs)
        if output.target != STDOUT
    ]
    if written:
        err.print(f"{counted} written to {shown(', '.join(written))}")


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


def _stream_lines(blobs: Iterable[bytes]) -> None:
    stdout = stdout_bytes()
    for blob in blobs:
        stdout.write(blob)
        stdout.flush()


def _cases_of(handle: Batch, wanted: Mapping[int, str]) -> Iterator[tuple[int, bytes]]:
    for line, custom_id in wanted.items():
        if case := handle.case(custom_id):
            yield line, case


def _write_one_value(blobs: Iterable[bytes], wanted: ResultSelection) -> None:
    """Stream result lines as one JSON object, followed by the cursor."""
    target, between = stdout_bytes(), b""
    target.write(b'{"results":[')
    try:
        for rows in filter(None, (blob.splitlines() for blob in blobs)):
            target.write(between + b",".join(rows))
            between = b","
    except (WeighbridgeError, KeyboardInterrupt) as error:
        failure = (
            error
            if isinstance(error, WeighbridgeError)
            else InterruptionError("the command was interrupted")
        )
        target.write(b'],"error":%b}\n' % orjson.dumps(error_value(failure.fault)))
        target.flush()
        print_error(failure)
        raise typer.Exit(ERROR) from None
    target.write(b'],"cursor":%b}\n' % orjson.dumps(wanted.cursor or None))
    target.flush()


def _gathered(blobs: Iterable[bytes], stack: ExitStack, *, sort: bool) -> Path:
    """Return a temporary file with the results, which is deleted when the stack closes."""
    from weighbridge_producer.run.result_file import sort_by_line

    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="weighbridge-"))
    gathered = Path(folder) / "results.jsonl"
    with gathered.open("wb") as file:
        file.writelines(blobs)
    if sort:
        sort_by_line(gathered)
    return gathered


def _sorted(blobs: Iterable[bytes], stack: ExitStack) -> Iterator[bytes]:
    return stack.enter_context(_gathered(blobs, stack, sort=True).open("rb"))


def _is_plain(source: str) -> bool:
    """Return whether a source is an uncompressed file that no output of this command overwrites."""
    return Path(source).is_file() and source.endswith(".jsonl")
