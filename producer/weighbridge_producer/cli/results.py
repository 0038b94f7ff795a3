"""`weighbridge results`: the results of a batch or of a file, all or some, in any form of output."""

from __future__ import annotations

import sys
import tempfile
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import orjson
import typer

from weighbridge.errors import InputError
from weighbridge.jobs.outcome import Outcome
from weighbridge.jobs.result import ResultRow, is_kind_of
from weighbridge.settings import read_settings
from weighbridge_producer.cli import options as opt
from weighbridge_producer.cli.completed_values import batch_ids
from weighbridge_producer.cli.show import err, out, print_causes, print_json, shown
from weighbridge_producer.reports.report import Report

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from weighbridge_producer.client.client import Batch
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
        typer.Option(
            "--causes", help="Show why jobs did not pass, with an example of each cause, instead."
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
            help=f"Where results go: {opt.OUTPUT_HELP} Default: JSON Lines on standard output.",
        ),
    ] = None,
    by_case: opt.ByCase = False,
    with_cases: opt.WithCases = False,
    url: opt.Url = None,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json",
            help="Write one JSON value: the results, with --causes the causes, or with -o the files; and the cursor.",
        ),
    ] = False,
) -> None:
    """Write the results of a batch or of a file, and on standard error the cursor to continue a batch from."""
    from weighbridge_producer.reports.forms import STDOUT, goes_to_stdout
    from weighbridge_producer.run.outputs import check_source, check_targets

    outputs = [] if causes else output or [STDOUT]
    if as_json and output and any(map(goes_to_stdout, output)):
        raise typer.BadParameter(
            "--json and -o - both write to standard output", param_hint="--json"
        )
    check_source(source, check_targets(outputs))
    wanted = _Wanted(custom_id, cause or [], label, failed=failed, errored=errored)
    cases_of: CasesOf | None = None
    with ExitStack() as stack:
        if Path(source).is_file():
            if follow or cursor:
                raise typer.BadParameter("--follow and --cursor are for batches")
            if with_cases:
                raise typer.BadParameter(
                    "it is for batches: a file's lines keep the cases that they have",
                    param_hint="--with-cases",
                )
            lines = wanted.lines_in(Path(source))
        else:
            batch = _batch_id(source)
            handle = stack.enter_context(opt.client(url)).batch(batch)
            if sort:
                handle.wait()
            lines = wanted.lines_of(handle, cursor, follow=follow)
            cases_of = partial(_cases_of, handle)
            if with_cases:
                lines = _with_cases(handle, lines)
        if as_json and outputs == [STDOUT]:
            _write_one_value(_sorted(lines, stack) if sort else lines, wanted)
            return
        if outputs == [STDOUT] and not sort:
            _write_as_they_come(lines)
        elif wanted.takes_all and not sort and _is_plain(source):
            _write(Report(Path(source), source, by_case), outputs, as_json=as_json)
        else:
            report = Report(_gathered(lines, stack, sort=sort), source, by_case, cases_of=cases_of)
            _write(report, outputs, as_json=as_json)
    if as_json and outputs:
        print_json({"outputs": outputs, "cursor": wanted.cursor or None})
    elif wanted.cursor and not sort:
        err.print(f"cursor: {wanted.cursor}")


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


class _Wanted:
    """Which results to write."""

    def __init__(
        self,
        custom_id: str | None,
        causes: list[str],
        label: str | None,
        *,
        failed: bool,
        errored: bool,
    ) -> None:
        wanted = {Outcome.FAILED: failed, Outcome.ERRORED: errored}
        self._outcomes = {outcome for outcome, is_wanted in wanted.items() if is_wanted}
        self._custom_id = custom_id
        self._causes = causes
        self._label = label
        self.takes_all = not (self._outcomes or causes) and custom_id is None and label is None
        self.cursor = ""

    def takes(self, row: ResultRow) -> bool:
        """Whether a result is wanted."""
        if self._label is not None and row.label != self._label:
            return False
        if self._custom_id is not None and row.custom_id != self._custom_id:
            return False
        if self._causes and row.outcome is Outcome.PASSED:
            return False
        if self._causes and not any(is_kind_of(row.cause, cause) for cause in self._causes):
            return False
        return not self._outcomes or row.outcome in self._outcomes

    def lines_of(self, handle: Batch, cursor: str | None, *, follow: bool) -> Iterator[bytes]:
        """Yield the wanted lines of a batch, many at a time."""
        if self._custom_id is not None:
            for result in handle.result(self._custom_id):
                line = orjson.dumps(result, option=orjson.OPT_APPEND_NEWLINE)
                if self.takes(ResultRow.from_bytes(line)):
                    yield line
            return
        for page in handle.pages(cursor, follow=follow):
            self.cursor = str(page.cursor)
            if self.takes_all:
                yield page.lines
            else:
                rows = page.lines.splitlines(keepends=True)
                yield b"".join(row for row in rows if self.takes(ResultRow.from_bytes(row)))

    def lines_in(self, file: Path) -> Iterator[bytes]:
        """Yield the wanted lines of a file; raise InputError for one that is not a result."""
        from weighbridge_producer.reports.source import result_lines

        for line in result_lines(file, read_settings()):
            if self.takes(line.row):
                yield line.raw


def _write_as_they_come(blobs: Iterable[bytes]) -> None:
    for blob in blobs:
        sys.stdout.buffer.write(blob)
        sys.stdout.buffer.flush()


def _cases_of(handle: Batch, wanted: Mapping[int, str]) -> Iterator[tuple[int, bytes]]:
    for line, custom_id in wanted.items():
        if case := handle.case(custom_id):
            yield line, case


def _write_one_value(blobs: Iterable[bytes], wanted: _Wanted) -> None:
    """Write result lines as one JSON object, as they come, and the cursor after them."""
    target, between = sys.stdout.buffer, b""
    target.write(b'{"results":[')
    for rows in filter(None, (blob.splitlines() for blob in blobs)):
        target.write(between + b",".join(rows))
        between = b","
    target.write(b'],"cursor":%b}\n' % orjson.dumps(wanted.cursor or None))
    target.flush()


def _gathered(blobs: Iterable[bytes], stack: ExitStack, *, sort: bool) -> Path:
    """Return a file with the results, which is gone with the stack."""
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


def _write(report: Report, outputs: list[str], *, as_json: bool) -> None:
    """Make every output of results; without any, show the causes."""
    from weighbridge_producer.run.outputs import write_each

    if outputs:
        write_each(report, outputs, sys.stdout.buffer)
    else:
        _show_causes(report, report.name, as_json=as_json)


def _is_plain(source: str) -> bool:
    """Whether a source is a file that is read as it is, which no output of this command changes meanwhile."""
    return Path(source).is_file() and source.endswith(".jsonl")


def _show_causes(report: Report, name: str, *, as_json: bool) -> None:
    from weighbridge_producer.reports.overview import survey

    found = survey(report)
    causes = found.causes()
    if as_json:
        print_json({"results": found.total, "causes": [cause._asdict() for cause in causes]})
        return
    if not causes:
        out.print("all of these jobs passed" if found.total else "no results")
        return
    print_causes(causes)
    out.print(f"\nresults of one cause: weighbridge results {shown(name)} --cause CAUSE")
