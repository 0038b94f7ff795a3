"""Options for reading CASES: `--map`, `--mapping`, `--trace-mapping`, `--sample`, and the proposed mapping."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from weighbridge.errors import InputError, MappingNeededError
from weighbridge.text import shorten
from weighbridge_producer.cli import options as opt
from weighbridge_producer.cli.show import err, shown
from weighbridge_producer.input.files import Paths
from weighbridge_producer.input.mapping import FieldMapping
from weighbridge_producer.input.source import Source

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge.jobs.grader_spec import GraderSpec
    from weighbridge.settings import Settings
    from weighbridge_producer.input.recognition import Recognised
    from weighbridge_producer.input.trace_mapping_file import TraceMapping

Map = Annotated[
    list[str] | None,
    typer.Option(
        "--map",
        metavar="FIELD=PATH,...",
        help="The columns or paths of a row that are the fields of a case, such as"
        " custom_id=id,agent_response=output.text,metadata=topic. FIELD:=JSON is a constant. Repeatable.",
        callback=opt.all_utf8,
    ),
]
MappingFile = Annotated[
    str | None,
    typer.Option(
        "--mapping",
        metavar="FILE",
        help="A YAML or JSON file with the mapping; --map adds to it and overrides it.",
        callback=opt.utf8,
    ),
]
TraceMappingFile = Annotated[
    str | None,
    typer.Option(
        "--trace-mapping",
        metavar="FILE",
        help="A YAML or JSON file that says, by JSON Pointers, where traces of a format of your own have their steps,"
        " calls, results and usage.",
        callback=opt.utf8,
    ),
]

SampleSize = Annotated[
    str | None,
    typer.Option(
        "--sample",
        metavar="N|N%",
        help="Only this number or share of the cases, chosen by a hash of their ids: the same ones each time.",
    ),
]

_ANY = FieldMapping.from_text(["custom_id=@row,row=*"])  #: a pattern for files of all known types
_WIDTH = 400
_EXAMPLE_WIDTH = 160


def source_of(
    cases: list[str],
    graders: Sequence[GraderSpec],
    settings: Settings,
    *,
    maps: list[str] | None = None,
    mapping_file: str | None = None,
    trace_mapping: str | None = None,
    sample: str | None = None,
) -> Source:
    """Return the source for CASES and the options for reading them.

    If neither the options nor the shape or column names of the rows determine a mapping, one is proposed, and used if
    the user at the terminal accepts it. Raises MappingError, and MappingNeededError without a terminal.
    """
    from weighbridge_producer.input.sampling import Sample

    if "-" in cases and len(cases) > 1:
        raise typer.BadParameter(
            "- (a pipe) cannot be combined with other input", param_hint="CASES"
        )
    named = Paths.of(cases)
    is_rereadable = Source(named, settings, _ANY).rereadable
    house = trace_mapping_of(trace_mapping)
    mapping: FieldMapping | None
    if house:
        mapping = None
    elif maps or mapping_file:
        mapping = _given_mapping(
            maps or [], mapping_file, named if is_rereadable else None, settings
        )
    elif is_rereadable:
        mapping = _recognised_mapping(named, graders, settings)
    else:
        mapping = None
    if not sample:
        return Source(named, settings, mapping, trace_mapping=house)
    chosen = Sample.parse(sample)
    if chosen.below is None and not is_rereadable:
        raise InputError("a pipe cannot be read twice", "give the sample as a share: --sample 5%")
    every = Source(named, settings, mapping, trace_mapping=house)
    return Source(named, settings, mapping, chosen.bounded(every), trace_mapping=house)


def _given_mapping(
    texts: Sequence[str], file: str | None, looked_at: Paths | None, settings: Settings
) -> FieldMapping:
    base = None
    if file:
        from weighbridge_producer.input.mapping_file import read_mapping

        base = read_mapping(file)
    mapping = FieldMapping.from_text(texts, base) if texts or base is None else base
    if looked_at:
        from weighbridge_producer.input.recognition import Opened, first_rows

        seen = first_rows(Opened.first_of(looked_at), settings, mapping.rows)
        mapping.check(seen.rows, seen.file)
        _print_layout(seen, mapping)
    return mapping


def _recognised_mapping(
    cases: Paths, graders: Sequence[GraderSpec], settings: Settings
) -> FieldMapping | None:
    """Return the mapping that was recognised, or that the user accepted; None for cases and traces."""
    from weighbridge_producer.input.recognition import Opened, recognise

    seen = recognise(Opened.first_of(cases), graders, settings)
    if seen is None:
        return None
    mapping = seen.mapping or _confirmed_mapping(seen)
    _print_layout(seen, mapping)
    return mapping


def trace_mapping_of(file: str | None) -> TraceMapping | None:
    """Return the trace mapping in a file; raises MappingError if it is invalid."""
    if file is None:
        return None
    from weighbridge_producer.input.trace_mapping_file import read_trace_mapping

    return read_trace_mapping(file)


def _print_layout(seen: Recognised, mapping: FieldMapping) -> None:
    what = [str(seen.layout)] if seen.layout else []
    if mapping.name:
        what.insert(0, mapping.name)
    err.print(f"{shown(seen.file)}: {', '.join(what)}", soft_wrap=True)
    err.print(f"  mapped: {shown(str(mapping), _WIDTH)}", soft_wrap=True)


def _confirmed_mapping(seen: Recognised) -> FieldMapping:
    """Show the proposed mapping and return it if the user accepts it; otherwise raise MappingNeededError."""
    proposal = seen.proposal
    assert proposal is not None
    from weighbridge_producer.input.mapping import listed

    columns = listed(dict.fromkeys(column for row in seen.rows for column in row))
    what = f"{seen.layout} with the columns {columns}"
    option, caution = f"--map {shlex.quote(proposal.text)}", shown(proposal.caution)
    if proposal.mapping is None:
        missing = " and ".join(proposal.missing)
        hint = f"{option}, with the column that has {missing}"
        raise MappingNeededError(seen.file, what, "\n  ".join(filter(None, (hint, caution))))
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        hint = f"its columns suggest {option}"
        raise MappingNeededError(seen.file, what, "\n  ".join(filter(None, (hint, caution))))
    err.print(f"{shown(seen.file)} is {shown(what, _WIDTH)}", soft_wrap=True)
    err.print(f"Its columns suggest: {shown(option, _WIDTH)}", soft_wrap=True)
    if caution:
        err.print(caution, soft_wrap=True)
    err.print(f"The first row would be: {shown(_first_case(seen, proposal.mapping))}")
    if not typer.confirm("Grade with this mapping?", default=True, err=True):
        raise MappingNeededError(seen.file, what)
    return proposal.mapping


def _first_case(seen: Recognised, mapping: FieldMapping) -> str:
    from weighbridge_producer.input.rows import excerpt_of

    return shorten(excerpt_of(mapping.case(seen.rows[0], 1), 10 * _EXAMPLE_WIDTH), _EXAMPLE_WIDTH)
