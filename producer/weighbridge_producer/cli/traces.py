"""Commands about traces: look at one, and rewrite any in the native form."""

from __future__ import annotations

import re
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from weighbridge.errors import InputError, OutputError, TraceError
from weighbridge.settings import read_settings
from weighbridge.text import closest, did_you_mean
from weighbridge.traces.own_id import own_ids
from weighbridge_producer.cli import options as opt
from weighbridge_producer.cli.reading import trace_mapping_of
from weighbridge_producer.cli.reading_options import Map, TraceMappingFile
from weighbridge_producer.cli.show import (
    err,
    out,
    print_json,
    print_waiting,
    shown,
    stdout_bytes,
    table,
)
from weighbridge_producer.cli.timeline import print_steps, print_trace
from weighbridge_producer.cli.trace_check import check
from weighbridge_producer.cli.trace_map import draft_mapping
from weighbridge_producer.gating.gates import ERROR

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import BinaryIO

    from weighbridge.traces.importer import Importer
    from weighbridge_producer.cli.trace_input import NamedTrace, Traces

_NAMES_SHOWN = 5
_is_number = re.compile(r"[1-9][0-9]{0,8}", re.ASCII).fullmatch

File = Annotated[str, typer.Argument(metavar="FILE", help=opt.CASES_HELP)]


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(
        help="Show, check and convert traces, and draft trace mappings.",
        no_args_is_help=True,
    )
    for command in (show, check, convert, formats):
        group.command()(command)
    group.command("map")(draft_mapping)
    app.add_typer(group, name="trace")


def show(
    file: File,
    trace_id: Annotated[
        str | None,
        typer.Option(
            "--id",
            metavar="ID",
            help="The id of the trace to show, also that in its source, or a beginning that no other id has (default: the first).",
            callback=opt.utf8,
        ),
    ] = None,
    step_ids: Annotated[
        list[str] | None,
        typer.Option(
            "--step",
            metavar="ID",
            help="Show only the step with this id, number or unique beginning of an id, in full; may be repeated.",
            callback=opt.all_utf8,
        ),
    ] = None,
    trace_mapping: TraceMappingFile = None,
    maps: Map = None,
    as_json: opt.AsJson = False,
) -> None:
    """Show a trace of FILE as a timeline of its steps, and what its format does not record.

    Exit status: 0 when it was shown, 1 when there is none or something went wrong.
    """
    from weighbridge_producer.cli.native_lines import native_line
    from weighbridge_producer.cli.trace_input import FirstFaults, Traces

    with FirstFaults() as faults:
        traces = Traces(file, trace_mapping_of(trace_mapping), faults.add, maps)
        if trace_id is None:
            found = next(iter(traces), None)
        else:
            found = _trace_named(trace_id, traces, file)
        if found is None and (fault := traces.fault_of_all()):
            faults.clear()
            raise InputError(f"{file!r}: {fault.message}", fault.hint)
    if found is None:
        raise InputError(f"{file!r} has no trace")
    found = _with_steps(found, step_ids) if step_ids else found
    if as_json:
        stdout = stdout_bytes()
        stdout.write(native_line(found, found.name))
        stdout.flush()
    elif step_ids:
        print_steps(found.trace.steps)
    else:
        print_trace(found.name, found.trace, found.location)
    if trace_id is None and (of := traces.about_how_many()):
        err.print(f"1 of {of} traces; --id picks another")


def _trace_named(trace_id: str, traces: Traces, file: str) -> NamedTrace | None:
    """Return the first trace with an id, else the only one whose id begins so; None of a file without traces.

    Raises InputError if none of its traces has the id.

    The id is the one that the trace has here or, where no trace has that, the one that it has in its source.
    """
    by_source: NamedTrace | None = None
    begun: NamedTrace | None = None
    alike: dict[str, None] = {}  #: the names of traces with an id that begins so
    others: list[str] = []
    for found in traces:
        if found.name == trace_id:
            return found
        others.append(found.name)
        ids = [own for own in own_ids(found.trace) if type(own) is str]
        if by_source is None and trace_id in ids:
            by_source = found
        if _beginning_with(trace_id, [found.name, *ids]):
            begun = begun or found
            alike[found.name] = None
    wanted = by_source or (begun if len(alike) == 1 else None)
    if wanted:
        return wanted
    if alike:
        raise InputError(
            f"{file!r} has {len(alike):,} traces whose id begins with {trace_id!r}",
            _listed_names(list(alike)),
        )
    if not others:
        return None
    raise InputError(f"{file!r} has no trace {trace_id!r}", _listed_names(others))


def _beginning_with(beginning: str, ids: Iterable[str]) -> list[str]:
    """Return the distinct ids that begin with a text, which is not empty."""
    return [each for each in dict.fromkeys(ids) if beginning and each.startswith(beginning)]


def _with_steps(found: NamedTrace, step_ids: Sequence[str]) -> NamedTrace:
    """Return a trace with some of its steps alone, by their ids or unique beginnings; raises InputError if it lacks one of them."""
    ids = [step.id for step in found.trace.steps]
    wanted = set()
    for step_id in step_ids:
        alike = _steps_meant(step_id, ids)
        if not alike:
            hint = f"{did_you_mean(closest(step_id, ids), before='', after=' ')}the steps' numbers and ids are in the first columns without --step"
            raise InputError(f"{found.name!r} has no step {step_id!r}", hint)
        if len(alike) > 1:
            raise InputError(
                f"{found.name!r} has {len(alike):,} steps whose id begins with {step_id!r}",
                _listed_names(alike),
            )
        wanted.update(alike)
    steps = tuple(step for step in found.trace.steps if step.id in wanted)
    return found._replace(trace=replace(found.trace, steps=steps))


def _steps_meant(text: str, ids: Sequence[str]) -> list[str]:
    """Return the ids of the steps that a text may mean: an id, else a step's number from 1, else the beginning of ids."""
    if text in ids:
        return [text]
    number = int(text) if _is_number(text) else 0
    return [ids[number - 1]] if 1 <= number <= len(ids) else _beginning_with(text, ids)


def _listed_names(names: list[str]) -> str:
    more = len(names) - _NAMES_SHOWN
    return f"it has {', '.join(names[:_NAMES_SHOWN])}" + (f" and {more:,} more" if more > 0 else "")


def convert(
    file: File,
    output: Annotated[
        str,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="The file to write, one trace per line; - for standard output.",
        ),
    ] = "-",
    trace_mapping: TraceMappingFile = None,
    maps: Map = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Write the counts of traces written and lost as JSON.")
    ] = False,
) -> None:
    """Write every trace of FILE in the native form, one per line, with the id that `run` gives it.

    Exit status: 0 when all were written, 1 when one could not be read (the others are written), or something went wrong.
    """
    from weighbridge_producer.cli.trace_input import Traces
    from weighbridge_producer.input.source import Source
    from weighbridge_producer.reports.forms import FORMS, Output
    from weighbridge_producer.run.outputs import check_output, opened_output
    from weighbridge_producer.run.terminal import safe_for_terminals

    mapping = trace_mapping_of(trace_mapping)
    if output == "-":
        if as_json:
            raise typer.BadParameter(
                "the traces go to standard output; name a file with -o", param_hint="--json"
            )
        _, failed = _write_all(Traces(file, mapping, maps=maps), stdout_bytes())
    else:
        check_output(output, Source(file, read_settings()))
        try:
            with opened_output(Output(output, FORMS["jsonl"]), print_waiting) as target:
                traces = Traces(file, mapping, maps=maps)
                written, failed = _write_all(traces, safe_for_terminals(target))
        except OSError as error:
            raise OutputError(f"{output!r} cannot be written: {error.strerror}") from None
        if as_json:
            print_json({"output": output, "written": written, "lost": failed})
    if failed:
        raise typer.Exit(ERROR)


def formats(
    format_id: Annotated[
        str | None,
        typer.Argument(
            metavar="FORMAT", help="A format's id: show where its fields are read from."
        ),
    ] = None,
    as_json: opt.AsJson = False,
) -> None:
    """List the trace formats that are detected, and what each does not record; or describe one."""
    from weighbridge.traces.known_formats import installed_formats

    importers = installed_formats().importers
    known = {known.id: known for known in importers}
    if format_id is not None and format_id not in known:
        raise typer.BadParameter(_unknown_format(format_id, importers), param_hint="FORMAT")
    if as_json:
        chosen = [known[format_id]] if format_id else importers
        print_json({"formats": [_as_dict(importer) for importer in chosen]})
    elif format_id:
        _print_format(known[format_id])
    else:
        rows = table("id", "format", "not recorded")
        for importer in importers:
            rows.add_row(importer.id, importer.name, importer.lacks or "-")
        out.print(rows)
        out.print("\nweighbridge trace formats ID shows where the fields of one are read from")
        for name, reason in installed_formats().failures.items():
            err.print(f"[red]the plug-in {shown(name)} was not loaded[/]: {shown(reason)}")


def _unknown_format(text: str, importers: Sequence[Importer]) -> str:
    from weighbridge_producer.cli.format_names import formats_meant

    meant = ", ".join(formats_meant(text, importers))
    mean = f"it may mean {meant}; " if meant else ""
    return f"no format has the id {text[:80]!r}; {mean}`weighbridge trace formats` lists all {len(importers)}"


def _as_dict(importer: Importer) -> dict[str, object]:
    return {
        "id": importer.id,
        "name": importer.name,
        "fields": dict(importer.fields),
        "lacks": importer.lacks,
        "tried_on": importer.tried_on,
    }


def _print_format(importer: Importer) -> None:
    out.print(f"[bold]{importer.id}[/]  {shown(importer.name)}")
    if importer.lacks:
        out.print(f"Not recorded: {shown(importer.lacks)}")
    if importer.tried_on:
        out.print(f"Tried on: {shown(importer.tried_on)}")
    rows = table("field", "where it comes from")
    for ours, theirs in importer.fields:
        rows.add_row(shown(ours), shown(theirs))
    out.print()
    out.print(rows)


def _write_all(traces: Traces, target: BinaryIO) -> tuple[int, int]:
    """Write all traces; return how many were written, and how many could not be written."""
    from weighbridge_producer.cli.native_lines import UniqueLines
    from weighbridge_producer.input.duplicates import DuplicateIndex

    written = 0
    with closing(DuplicateIndex()) as ids:
        lines = UniqueLines(ids)
        for found in traces:
            try:
                target.write(lines.line(found, traces.location))
            except TraceError as error:
                traces.lose(error)
                continue
            written += 1
            for lost in found.trace.not_carried:
                err.print(f"{shown(found.name)}: not carried over: {shown(lost)}")
    return written, traces.lost
