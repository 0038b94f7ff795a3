"""Options for reading CASES: `--map`, `--mapping`, `--join`, `--trace-mapping`, `--sample`, `--encoding`, `--no-header` and `--header-line`."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from weighbridge.errors import InputError
from weighbridge.text import pluralize
from weighbridge_producer.cli import options as opt
from weighbridge_producer.cli.mapping_choice import choose_mapping, print_layout, print_unmapped
from weighbridge_producer.cli.show import err, shown
from weighbridge_producer.input.files.input_files import InputFiles
from weighbridge_producer.input.files.input_paths import Paths
from weighbridge_producer.input.files.read_as import ReadAs
from weighbridge_producer.input.files.table_form import TableForm
from weighbridge_producer.input.mapping.expected_answers import with_accepted_answers
from weighbridge_producer.input.mapping.mapping_text import mapped_fields
from weighbridge_producer.input.rows.text_encodings import checked_encoding
from weighbridge_producer.input.source import Source, fingerprint_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from weighbridge.jobs.grader_spec import GraderSpec
    from weighbridge.settings import Settings
    from weighbridge_producer.input.chosen_ids import ChosenIds
    from weighbridge_producer.input.joins import JoinSpec
    from weighbridge_producer.input.mapping_file import SavedMapping
    from weighbridge_producer.input.traces.trace_mapping_file import TraceMapping

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

_NOTE_WIDTH = 600


def source_of(
    cases: list[str],
    graders: Sequence[GraderSpec],
    settings: Settings,
    *,
    maps: list[str] | None = None,
    mapping_file: str | None = None,
    joins: list[str] | None = None,
    join_keys: list[str] | None = None,
    trace_mapping: str | None = None,
    sample: str | None = None,
    only: Callable[[], ChosenIds] | None = None,
    encoding: str | None = None,
    no_header: bool = False,
    header_line: int | None = None,
) -> Source:
    """Return the source for CASES and the options for reading them; a sample is one of the cases of `only`.

    If neither the options nor the shape or column names of the rows determine a mapping, one is proposed, and used if
    the user at the terminal accepts it. Raises MappingError, JoinError, and MappingNeededError without a terminal; an
    option that is not well formed is a usage error.
    """
    from weighbridge_producer.input.sampling import Sample

    with _usage_of("--map"):
        mapped_fields(maps or [])
    if "-" in cases and len(cases) > 1:
        raise typer.BadParameter(
            "- (a pipe) cannot be combined with other input", param_hint="CASES"
        )
    if no_header and header_line:
        raise typer.BadParameter(
            "with --no-header there is no header line; give only one of them",
            param_hint="--header-line",
        )
    with _usage_of("--encoding"):
        name = checked_encoding(encoding) if encoding else ""
    form = TableForm(name, has_header=not no_header, header_line=header_line or 0)
    named = Paths.of(cases)
    is_rereadable = str(named) != "-" and _files(named).size() is not None
    with _usage_of("--sample"):
        chosen = Sample.parse(sample) if sample else None
    if chosen and chosen.below is None and not is_rereadable:
        raise InputError("a pipe cannot be read twice", "give the sample as a share: --sample 5%")
    house = trace_mapping_of(trace_mapping)
    saved = None if house else _saved_mapping(mapping_file)
    specs = _join_specs(saved, joins, join_keys)
    mapping, joined = None, None
    if house and specs:
        raise typer.BadParameter("traces have no rows to join", param_hint="--trace-mapping")
    if not house:
        mapping, joined = choose_mapping(
            named if is_rereadable else None,
            graders,
            settings,
            texts=maps or [],
            saved=saved and saved.mapping,
            joins=specs,
            form=form,
        )
    mapping = with_accepted_answers(replace(mapping, table=form), graders) if mapping else None
    if str(form) and not mapping:
        raise typer.BadParameter(
            "it is for CSV and TSV, which are read with a mapping",
            param_hint="--encoding"
            if encoding
            else "--no-header"
            if no_header
            else "--header-line",
        )
    source = Source(named, settings, mapping, trace_mapping=house, joins=joined)
    if mapping and not is_rereadable:
        source.on_layout = lambda layout: print_layout(source.name, layout, mapping, joined)
    elif not (mapping or house or is_rereadable):
        source.on_beginning = lambda head: print_unmapped(source.name, head, graders, settings)
    if note := source.skipped_note():
        err.print(f"{shown(source.name)}: {shown(note)}", soft_wrap=True)
    if only:
        source.only = only()
    if chosen:
        source.sample = chosen.bounded(source)
    return source


def files_of(cases: list[str]) -> list[str]:
    """Return the paths and URLs of all files that CASES name, whatever they hold; InputError if there are none."""
    if "-" in cases:
        return []
    return [str(path) for path, *_ in map(fingerprint_of, _files(Paths.of(cases)).files)]


def _files(named: Paths) -> InputFiles:
    """Return the files of all known types."""
    return InputFiles(named, ReadAs.ANYTHING)


def print_chosen(source: Source, run: str) -> None:
    """Print how many of the cases to grade again a source does not have, and how many of its cases the earlier run did not have."""
    only = source.only if source.is_read_to_end else None
    if only is not None and only.missing:
        missing = f"{only.missing:,} of {pluralize(len(only), 'case')} to grade again"
        err.print(f"{missing} from {shown(run)} are not in the input", soft_wrap=True)
    if only is not None and only.unknown:
        left_out = pluralize(only.unknown, "case was", "cases were")
        they_are = "it is" if only.unknown == 1 else "they are"
        err.print(f"{left_out} left out, because {they_are} not in {shown(run)}", soft_wrap=True)
    if only is not None and only.unnamed:
        left_out = pluralize(only.unnamed, "line was", "lines were")
        err.print(
            f"{left_out} left out, without a custom_id to find in {shown(run)}", soft_wrap=True
        )


def print_unused(source: Source) -> None:
    """Print the number of rows of each joined file that no row of a source, read to its end, was joined with."""
    joins = source.joins if source.is_read_to_end else None
    for join in joins or ():
        if unused := join.index.unused:
            rows = f"{unused:,} of {join.index.rows:,} rows unused"
            why = f"without a key, or with one that no row of {shown(source.name)} has"
            err.print(f"{shown(str(join.index.file))}: {rows}: {why}", soft_wrap=True)


def print_empty_expected(source: Source, graders: Sequence[GraderSpec] = ()) -> None:
    """Print the number of rows with an empty expected output, which only an empty answer matches, or none of a boolean."""
    if empty := source.notes.empty_expected:
        has = "has" if empty == 1 else "have"
        are_booleans = graders and all(spec.grader == "true-false" for spec in graders)
        what = (
            "which is not a boolean, so true-false cannot grade it"
            if are_booleans
            else "which only an empty answer matches"
        )
        err.print(
            f"{pluralize(empty, 'row')} of {shown(source.name)} {has} an empty expected_output, {what}",
            soft_wrap=True,
        )


def print_notes(source: Source) -> None:
    """Print how many rows are no cases, and what looks wrong in the values of the others."""
    joined = {join.spec.name: join.spec.file for join in source.joins or ()}
    for note in source.notes.notes(joined):
        err.print(f"{shown(source.name)}: {shown(note)}", soft_wrap=True)
    if source.is_read_to_end and (pointers := source.pointers_without_value()):
        from weighbridge_producer.input.traces.trace_mapping_file import without_value_note

        note = without_value_note(pointers)
        err.print(f"{shown(source.name)}: {shown(note, _NOTE_WIDTH)}", soft_wrap=True)
    for join in source.joins or ():
        if note := join.index.header_note():
            how = (
                "if it is data, write header: false for the join in a mapping file,"
                " or give --no-header if the input has no header either"
            )
            err.print(f"{shown(str(join.index.file))}: {shown(note)}; {how}", soft_wrap=True)


def _saved_mapping(file: str | None) -> SavedMapping | None:
    if file is None:
        return None
    from weighbridge_producer.input.mapping_file import read_mapping

    return read_mapping(file)


def _join_specs(
    saved: SavedMapping | None, joins: list[str] | None, keys: list[str] | None
) -> list[JoinSpec]:
    """Return the joins of a mapping file and of the options, which override those of the same name."""
    specs = {spec.name: spec for spec in saved.joins} if saved else {}
    if keys and not joins:
        why = "it names the key of --join, which is not given"
        own = "; the joins of the mapping file have keys of their own" if specs else ""
        raise typer.BadParameter(f"{why}{own}", param_hint="--on")
    if joins:
        from weighbridge_producer.input.joins import parse_joins

        with _usage_of("--join, --on"):
            specs |= {spec.name: spec for spec in parse_joins(joins, keys or [], specs)}
    return list(specs.values())


@contextmanager
def _usage_of(option: str) -> Iterator[None]:
    """Make an error in the text of an option a usage error, as for the options that typer checks."""
    try:
        yield
    except InputError as error:
        raise typer.BadParameter(str(error), param_hint=option) from None


def trace_mapping_of(file: str | None) -> TraceMapping | None:
    """Return the trace mapping in a file; raises MappingError if it is invalid."""
    if file is None:
        return None
    from weighbridge_producer.input.traces.trace_mapping_file import read_trace_mapping

    return read_trace_mapping(file)
