"""Commands about traces: look at one, and rewrite any in the native form."""

from __future__ import annotations

import sys
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import orjson
import typer

from weighbridge.errors import InputError, LineError, OutputError, TraceError, counted
from weighbridge.settings import read_settings
from weighbridge_producer.cli import options as opt
from weighbridge_producer.cli.show import EXIT_TROUBLE, err, out, print_json, shown, table

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

    from weighbridge.traces import Step, Trace

_STYLES = {"llm": "cyan", "tool": "yellow", "agent": "magenta", "user": "green", "system": "dim"}
_TEXT_WIDTH = 100
_ERROR_WIDTH = 800
_MOST_READ = 4 * _TEXT_WIDTH  #: characters of a text that are looked at, however long it is

File = Annotated[str, typer.Argument(metavar="FILE", help=opt.CASES_HELP)]


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(help="Look at traces, and convert them.", no_args_is_help=True)
    for command in (show, convert, formats):
        group.command()(command)
    app.add_typer(group, name="trace")


def show(
    file: File,
    trace_id: Annotated[
        str | None,
        typer.Option(
            "--id", help="Which trace, by its id (default: the first).", callback=opt.utf8
        ),
    ] = None,
    as_json: opt.AsJson = False,
) -> None:
    """Show a trace of FILE as a timeline of its steps, and what its format could not tell.

    Exit status: 0 when it was shown, 1 when there is none or something went wrong.
    """
    from weighbridge.traces.native import to_native

    for name, trace in _traces(file):
        if trace_id in (None, name):
            if as_json:
                sys.stdout.buffer.write(_line(to_native(trace)))
                sys.stdout.buffer.flush()
            else:
                _print_trace(name, trace)
            return
    raise InputError(
        f"{file!r} has no trace {trace_id!r}" if trace_id else f"{file!r} has no trace"
    )


def convert(
    file: File,
    output: Annotated[
        str,
        typer.Option(
            "-o", "--output", help="Where the traces go, one a line; - for standard output."
        ),
    ] = "-",
) -> None:
    """Write every trace of FILE in the native form, one a line.

    Exit status: 0 when all were written, 1 when one could not be read (the others are written), or something went wrong.
    """
    from weighbridge.traces.native import to_native
    from weighbridge_producer.outputs import check_output
    from weighbridge_producer.reading import Source

    if output == "-":
        failed = _write_all(file, sys.stdout.buffer, to_native)
    else:
        check_output(output, Source(file, read_settings()))
        try:
            with Path(output).open("wb") as target:
                failed = _write_all(file, target, to_native)
        except OSError as error:
            raise OutputError(f"{output!r} cannot be written: {error.strerror}") from None
    if failed:
        raise typer.Exit(EXIT_TROUBLE)


def formats(as_json: opt.AsJson = False) -> None:
    """List the formats that are known by their shape, and what each cannot carry."""
    from weighbridge.traces import FORMATS

    if as_json:
        print_json(
            {
                "formats": [
                    {
                        "id": known.id,
                        "name": known.name,
                        "fields": dict(known.fields),
                        "lacks": known.lacks,
                    }
                    for known in FORMATS
                ]
            }
        )
        return
    rows = table("id", "format", "cannot carry")
    for known in FORMATS:
        rows.add_row(known.id, known.name, known.lacks)
    out.print(rows)


def _traces(file: str) -> Iterator[tuple[str, Trace]]:
    """Yield the traces of cases or of bare traces, each with its id."""
    for number, name, value in _values(file):
        try:
            yield from _read(name, value)
        except TraceError as error:
            err.print(f"[red]{error.code}[/]: trace {number}: {shown(str(error), _ERROR_WIDTH)}")


def _read(name: str, value: Any) -> Iterator[tuple[str, Trace]]:
    from weighbridge.traces import read_traces

    found = read_traces(value)
    for trace in found:
        yield (name if len(found) == 1 else trace.id or name), trace


def _values(file: str, bad_lines: list[int] | None = None) -> Iterator[tuple[int, str, Any]]:
    """Yield the traces of the input as JSON; tell of lines that hold none, and note them."""
    from weighbridge.jobs.codec import decode_line
    from weighbridge_producer.reading import Source

    numbers = count(1)
    for line in Source(file, read_settings()):
        if line.fault:
            err.print(f"[red]{line.fault.code}[/]: {shown(line.fault.message)}")
            if bad_lines is not None:
                bad_lines.append(next(numbers))
        elif line.raw.strip():
            number = next(numbers)
            try:
                case = decode_line(line.raw)  # as those do who grade it
                yield number, str(case["custom_id"]), case["inputs"]["trace"]
                continue
            except LineError as fault:
                why = f": {shown(fault.message)}; {shown(fault.hint)}"
            except (TypeError, KeyError):
                why = ""
            err.print(f"[red]line {number}[/] of the input holds no trace{why}")
            if bad_lines is not None:
                bad_lines.append(number)


def _write_all(file: str, target: BinaryIO, to_native: Any) -> int:
    """Write every trace; return how many could not be read."""
    bad_lines: list[int] = []
    failed = 0
    for number, name, value in _values(file, bad_lines):
        try:
            for trace_name, trace in _read(name, value):
                data = {**to_native(trace), "id": trace.id or trace_name}
                target.write(_line(data))
                for lost in trace.not_carried:
                    err.print(f"{shown(trace_name)}: not carried over: {shown(lost)}")
        except TraceError as error:
            failed += 1
            err.print(f"[red]{error.code}[/]: trace {number}: {shown(str(error), _ERROR_WIDTH)}")
    return failed + len(bad_lines)


def _line(data: dict[str, Any]) -> bytes:
    """Return a trace as a line; raise TraceError for one that no line of the input could be."""
    try:
        return orjson.dumps(data, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError as error:
        raise TraceError(
            f"it cannot be written: {error}",
            "integers of more than 64 bits and halves of surrogate pairs are refused in input, too",
        ) from None


def _print_trace(name: str, trace: Trace) -> None:
    tools, calls = trace.steps_of("tool"), trace.steps_of("llm")
    whole = trace.usage.total if trace.usage else None
    tokens = whole or sum((step.usage.total or 0) for step in calls if step.usage)
    facts = [
        trace.format,
        counted(len(trace.steps), "step"),
        counted(len(calls), "model call"),
        counted(len(tools), "tool call"),
    ]
    if tokens:
        facts.append(counted(tokens, "token"))
    out.print(f"[bold]{shown(name, _TEXT_WIDTH)}[/]  {', '.join(facts)}\n")
    start = min((step.started_at for step in trace.steps if step.started_at), default=None)
    width = min(24, max((len(step.id) for step in trace.steps), default=2))
    for step in trace.steps:
        _print_step(step, start, width)
    for capability, reason in trace.missing.items():
        out.print(f"[dim]no {capability.replace('_', ' ')}: {shown(reason)}[/]")
    for lost in trace.not_carried:
        out.print(f"[dim]not carried over: {shown(lost)}[/]")


def _print_step(step: Step, start: int | None, width: int) -> None:
    moment = f"{(step.started_at - start) / 1e9:+9.2f}s " if step.started_at and start else ""
    kind = f"[{_STYLES.get(step.type, 'white')}]{step.type:6}[/]"
    ident = shown(step.id, width)
    name = f"[bold]{shown(step.name, 40)}[/] " if step.name else ""
    what = name + _brief(step.arguments if step.type == "tool" else step.output)
    usage = (
        f" [dim]{counted(step.usage.total, 'token')}[/]" if step.usage and step.usage.total else ""
    )
    out.print(f"{moment}{ident:{width}}  {kind} {what}{usage}".rstrip())
    indent = " " * (len(moment.strip()) + 1 + width + 9 if moment else width + 9)
    if step.error:
        out.print(f"{indent}[red]✗ {_brief(step.error)}[/]")
    elif step.type == "tool" and step.output is not None:
        out.print(f"{indent}[dim]→ {_brief(step.output)}[/]")


def _brief(value: Any) -> str:
    """Return any value in one line."""
    if value is None:
        return ""
    text = value if isinstance(value, str) else _json(value)
    line = " ".join(text[:_MOST_READ].split())
    return shown(line if len(text) <= _MOST_READ else f"{line} …", _TEXT_WIDTH)


def _json(value: Any) -> str:
    try:
        return orjson.dumps(value).decode()
    except TypeError:  # an integer beyond 64 bits, or very deep
        try:
            return repr(value)
        except RecursionError:
            return "…"
