"""The options for reading CASES, as one object: how rows and traces are mapped, which cases are read, and what tables are like."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated, get_args, get_type_hints

import typer

from weighbridge_producer.cli import options as opt

Map = Annotated[
    list[str] | None,
    typer.Option(
        "--map",
        metavar="FIELD=PATH,...",
        help="The columns or paths of a row that are the fields of a case, such as"
        " custom_id=id,agent_response=output.text,metadata=topic. FIELD:=JSON is a constant. For a file of a"
        " recognised tool, leave out custom_id to add to or override its built-in mapping. Repeatable.",
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
JoinedFiles = Annotated[
    list[str] | None,
    typer.Option(
        "--join",
        metavar="NAME=FILE",
        help="Another file with rows, such as expected answers: each row of CASES gets the row with the same key under"
        " NAME, for --map expected_output=NAME.answer. Repeatable.",
    ),
]
JoinKeys = Annotated[
    list[str] | None,
    typer.Option(
        "--on",
        metavar="FIELD|LEFT=RIGHT",
        help="The field with the key of --join; LEFT=RIGHT if it has one name in CASES and another in FILE. Once for all"
        " --join, or once for each, in their order.",
        callback=opt.all_utf8,
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
SkipWithout = Annotated[
    list[str] | None,
    typer.Option(
        "--skip-without",
        metavar="INPUT",
        help="Leave out rows that have no value for this input, such as expected_output, in place of errored jobs; a note"
        " counts them. Repeatable.",
        callback=opt.all_utf8,
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
TableEncoding = Annotated[
    str | None,
    typer.Option(
        "--encoding",
        metavar="NAME",
        help="The encoding of CASES that are CSV or TSV, such as cp1252, cp1250, utf-16 or shift_jis. Default: the one that"
        " their first bytes suggest, which is printed.",
        callback=opt.utf8,
    ),
]
NoHeader = Annotated[
    bool,
    typer.Option(
        "--no-header",
        help="The first row of CASES that are CSV or TSV is data. The columns are called 1, 2, 3 and so on. This"
        " applies to a joined table too if its key is such a number or @row.",
    ),
]
HeaderLine = Annotated[
    int | None,
    typer.Option(
        "--header-line",
        metavar="N",
        min=1,
        help="The line of the header in CASES that are CSV or TSV; the lines above it are skipped. Default: the one that the"
        " first lines suggest, which is printed if it is not the first.",
    ),
]


@dataclass(frozen=True, slots=True)
class ReadingOptions:
    """The options for reading CASES; each field is an option of every command that takes them."""

    maps: Map = None
    mapping: MappingFile = None
    joins: JoinedFiles = None
    join_keys: JoinKeys = None
    skip_without: SkipWithout = None
    sample: SampleSize = None
    trace_mapping: TraceMappingFile = None
    encoding: TableEncoding = None
    no_header: NoHeader = False
    header_line: HeaderLine = None

    def as_arguments(self) -> list[str]:
        """Return the options that were given, as arguments of a command."""
        found: list[str] = []
        for name, option in _names().items():
            given = getattr(self, name)
            for value in given if isinstance(given, list) else [given]:
                if value:
                    found += [option] if value is True else [option, str(value)]
        return found


USUAL_READING = ReadingOptions()


def _names() -> dict[str, str]:
    """Return the names of the options on the command line, by their fields."""
    hints = get_type_hints(ReadingOptions, include_extras=True)
    return {field.name: get_args(hints[field.name])[1].default for field in fields(ReadingOptions)}
