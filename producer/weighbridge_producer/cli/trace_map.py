"""`trace map`: drafts a trace mapping for a file that no importer recognises."""

from __future__ import annotations

import shlex
from dataclasses import asdict, replace
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from weighbridge.errors import (
    InputError,
    MappingNeededError,
    OutputError,
    TraceError,
    UnknownTraceFormatError,
)
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge.text import pluralize
from weighbridge_producer.cli import options as opt
from weighbridge_producer.cli.show import err, out, print_json, shown, stdout_bytes
from weighbridge_producer.cli.trace_check import checked_file, print_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge.errors import Fault
    from weighbridge.traces import Trace
    from weighbridge_producer.cli.trace_check import CheckedFile
    from weighbridge_producer.input.trace_drafts.beginning import Beginning

#: Lines without a trace in a known format, after which the others are taken to have none either.
_LINES_TRIED = 50
#: Errors of files whose format is known.
_OF_KNOWN_FORMATS = frozenset([TraceError.code, ErrorCode.NO_SESSIONS])
_NAME_WIDTH = 300
_MAPPING = "MAPPING.yaml"  #: in commands, if the draft was not written to a file


def draft_mapping(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A JSON or JSON Lines file with recorded runs.")
    ],
    output: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--output",
            metavar="MAPPING.yaml",
            help="The file to write, which must not exist yet (default: standard output).",
            callback=opt.utf8,
        ),
    ] = None,
    as_json: opt.AsJson = False,
) -> None:
    """Draft a trace mapping for a FILE in a format that is not known, and report what it gives.

    The draft is made from the beginning of the file. What is uncertain in it has a remark.

    Exit status: 0 when it was made or the format is known, 1 when none can be made or something went wrong.
    """
    path = Path(file)
    if not path.is_file():
        raise InputError(f"{file!r} is not a file", "a draft is made from one file of JSON")
    if output and Path(output).exists():
        raise OutputError(f"{output!r} exists already; write the draft to another file")
    known = _known_format(file)
    if known and not known.why:
        _print_known(file, known.format, as_json=as_json)
        return
    drafted = _drafted(path, file, known.why if known else "")
    if output:
        _write(Path(output), drafted.text)
    commands = _commands(file, output or _MAPPING)
    if as_json:
        of_draft = {"made_from": drafted.made_from, "mapping": drafted.text, "remarks": drafted.remarks}  # fmt: skip
        given = {"written_to": output, "checked": asdict(drafted.checked), "commands": commands}
        print_json({"file": file, "format": None, **of_draft, **given})
        return
    _print(drafted, output, commands)


class _Drafted(NamedTuple):
    """A draft of a mapping, and what it gives."""

    made_from: str
    is_from_all: bool  #: False if it was made from the beginning of the file only
    text: str
    remarks: int  #: number of remarks in it
    checked: CheckedFile


def _drafted(path: Path, file: str, why: str) -> _Drafted:
    """Return the draft for a file; raises InputError, with the file's name as it was given, if none can be made."""
    from weighbridge_producer.input.trace_drafts.beginning import read_beginning
    from weighbridge_producer.input.trace_drafts.draft_text import comment, remarks_in, text_of
    from weighbridge_producer.input.trace_drafts.drafting import draft_of

    try:
        beginning = read_beginning(path)
        draft = draft_of(beginning)
    except InputError as error:
        raise InputError(f"{file!r}: {error.message}", error.hint) from None
    headers = [
        f"A draft of a trace mapping for {comment(path.name)}, made from {beginning.what} by `weighbridge trace map`.",
        "Check each line that has a remark. docs/how-to/write-an-importer.md explains the keys.",
        *([why] if why else []),
    ]
    text = text_of(draft, headers)
    checked = _checked(path, beginning, text)
    return _Drafted(beginning.what, beginning.is_whole, text, remarks_in(draft), checked)


class _Known(NamedTuple):
    """The format of a file that is known."""

    format: str
    why: str  #: why a mapping may be needed all the same; empty if it is not


def _known_format(file: str) -> _Known | None:
    """Return the known format of the first traces in a file, if one of them is in one.

    Raises InputError if it is a file of cases for graders of answers, or of damaged traces in a known format, and
    MappingNeededError if it is a table.
    """
    from weighbridge_producer.cli.trace_input import Traces

    faults: list[Fault] = []

    def lose(fault: Fault, _where: str) -> None:
        faults.append(fault)
        if len(faults) == _LINES_TRIED:
            raise _EnoughError

    traces = Traces(file, None, lose)
    found: list[Trace] = []
    try:
        found.extend(named.trace for named in islice(traces, _LINES_TRIED))
    except _EnoughError:
        pass
    except MappingNeededError as error:
        if file.lower().endswith((".json", ".jsonl", ".ndjson")):
            return None
        raise error from None
    if found:
        return _Known(found[0].format, _why_mapped(found, faults))
    fault = traces.fault_of_all()
    fault = next((each for each in faults if each.code in _OF_KNOWN_FORMATS), fault)
    if fault and fault.code in {ErrorCode.MISSING_FIELD, *_OF_KNOWN_FORMATS}:
        raise InputError(f"{file!r}: {fault.message}", fault.hint)
    return None


def _why_mapped(traces: Sequence[Trace], faults: Sequence[Fault]) -> str:
    """Return why a mapping may be needed though some traces are in a known format; empty if it is not."""
    known = traces[0].format
    if any(fault.code == UnknownTraceFormatError.code for fault in faults):
        return f"Of the first traces, {len(traces):,} would be read as {known} without a mapping, and others not at all."
    unread = (trace for trace in traces if "tool_calls" in trace.missing)
    if any(all(step.type != "tool" for step in trace.steps) for trace in unread):
        return f"Without a mapping it would be read as {known}, and its tool calls are not known."
    return ""


class _EnoughError(Exception):
    """Enough lines of a file were tried."""


def _checked(path: Path, beginning: Beginning, text: str) -> CheckedFile:
    """Return what a mapping gives on a file or, if only its beginning was read, on that."""
    from weighbridge_producer.input.traces.trace_mapping_file import read_trace_mapping

    with TemporaryDirectory() as folder:
        mapping_file = Path(folder) / _MAPPING
        mapping_file.write_text(text, encoding="utf-8")
        read = path
        if not beginning.is_whole:
            read = Path(folder) / "beginning.jsonl"
            read.write_bytes(beginning.text)
        checked = checked_file(str(read), read_trace_mapping(mapping_file), None, is_only=True)
    return replace(checked, file=str(path))


def _write(path: Path, text: str) -> None:
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise OutputError(f"{str(path)!r} cannot be written: {error.strerror}") from None


def _commands(file: str, mapping: str) -> list[str]:
    named = f"{_argument(file)} --trace-mapping {_argument(mapping)}"
    return [f"weighbridge trace check {named}", f"weighbridge run {named} --grader loop"]


def _argument(file: str) -> str:
    """Return the name of a file as a command takes it, which is no option if it begins like one."""
    return shlex.quote(f"./{file}" if file.startswith("-") else file)


def _print_known(file: str, known: str, *, as_json: bool) -> None:
    command = f"weighbridge trace check {_argument(file)}"
    if as_json:
        fields: dict[str, Any] = {"file": file, "format": known, "mapping": None}
        print_json({**fields, "commands": [command]})
        return
    out.print(
        f"{shown(file, _NAME_WIDTH)} is in a known format, {shown(known)}: it needs no mapping, and none was written"
    )
    out.print(f"what it has: {shown(command)}", soft_wrap=True)


def _print(drafted: _Drafted, output: str | None, commands: list[str]) -> None:
    to = out if output else err
    if not output:
        stdout = stdout_bytes()
        stdout.write(drafted.text.encode())
        stdout.flush()
    where = shown(output, _NAME_WIDTH) if output else "draft"
    remarks = drafted.remarks
    told = f"{pluralize(remarks, 'remark')} to check" if remarks else "no remarks"
    to.print(f"{where}: made from {drafted.made_from}, with {told}")
    checked = drafted.checked
    if not drafted.is_from_all:
        checked = replace(checked, file=f"{checked.file}, {drafted.made_from}")
    print_file(checked, to)
    to.print("next, correct the draft, and")
    for command in commands:
        to.print(f"  {shown(command)}", soft_wrap=True)
