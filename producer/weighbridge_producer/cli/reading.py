"""Reading CASES with the options of the command line."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import typer

from weighbridge.errors import InputError
from weighbridge.text import closest, did_you_mean
from weighbridge_producer.cli.mapping_choice import choose_mapping, print_layout, print_unmapped
from weighbridge_producer.cli.reading_options import USUAL_READING
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
    from weighbridge_producer.cli.reading_options import ReadingOptions
    from weighbridge_producer.input.chosen_ids import ChosenIds
    from weighbridge_producer.input.joins import Joins, JoinSpec
    from weighbridge_producer.input.mapping.field_mapping import FieldMapping
    from weighbridge_producer.input.mapping_file import SavedMapping
    from weighbridge_producer.input.sampling import Sample
    from weighbridge_producer.input.traces.trace_mapping_file import TraceMapping


def source_of(
    cases: list[str],
    graders: Sequence[GraderSpec],
    settings: Settings,
    reading: ReadingOptions = USUAL_READING,
    only: Callable[[], ChosenIds] | None = None,
) -> Source:
    """Return the source for CASES and the options for reading them; a sample is one of the cases of `only`.

    If neither the options nor the shape or column names of the rows determine a mapping, one is proposed, and used if
    the user at the terminal accepts it. Raises MappingError, JoinError, and MappingNeededError without a terminal; an
    option that is not well formed is a usage error.
    """
    form = _checked_form(cases, reading)
    paths = Paths.of(cases)
    is_rereadable = str(paths) != "-" and _files(paths).size() is not None
    sample = _checked_sample(reading, is_rereadable=is_rereadable)
    trace_mapping = trace_mapping_of(reading.trace_mapping)
    mapping, joins = None, None
    if trace_mapping:
        _check_has_no_rows(reading)
    else:
        first = paths if is_rereadable else None
        mapping, joins = _row_mapping(first, graders, settings, reading, form)
    _check_reads_tables(reading, form, mapping)
    source = Source(paths, settings, mapping, trace_mapping=trace_mapping, joins=joins)
    if mapping and not is_rereadable:
        source.on_layout = lambda layout: print_layout(source.name, layout, mapping, joins)
    elif not (mapping or trace_mapping or is_rereadable):
        source.on_beginning = lambda head: print_unmapped(source.name, head, graders, settings)
    if note := source.skipped_note():
        err.print(f"{shown(source.name)}: {shown(note)}", soft_wrap=True)
    if only:
        source.only = only()
    if sample:
        source.sample = sample.bounded(source)
    return source


def _checked_form(cases: list[str], reading: ReadingOptions) -> TableForm:
    """Return what the options say of tables; an option that is not well formed, or does not fit the others, is a usage error."""
    with _usage_of("--map"):
        mapped_fields(reading.maps or [])
    if "-" in cases and len(cases) > 1:
        raise typer.BadParameter(
            "- (a pipe) cannot be combined with other input", param_hint="CASES"
        )
    if reading.no_header and reading.header_line:
        raise typer.BadParameter(
            "with --no-header there is no header line; give only one of them",
            param_hint="--header-line",
        )
    with _usage_of("--encoding"):
        encoding = checked_encoding(reading.encoding) if reading.encoding else ""
    has_header = not reading.no_header
    return TableForm(encoding, has_header=has_header, header_line=reading.header_line or 0)


def _checked_sample(reading: ReadingOptions, *, is_rereadable: bool) -> Sample | None:
    """Return the sample to read; InputError if a number of cases is wanted of a pipe."""
    from weighbridge_producer.input.sampling import Sample

    with _usage_of("--sample"):
        sample = Sample.parse(reading.sample) if reading.sample else None
    if sample and sample.below is None and not is_rereadable:
        raise InputError("a pipe cannot be read twice", "give the sample as a share: --sample 5%")
    return sample


def _check_has_no_rows(reading: ReadingOptions) -> None:
    """Raise a usage error for options about rows, given with a mapping of traces."""
    if reading.joins or reading.join_keys:
        raise typer.BadParameter("traces have no rows to join", param_hint="--trace-mapping")
    if reading.maps or reading.mapping:
        raise typer.BadParameter("traces have no rows to map", param_hint="--trace-mapping")


def _row_mapping(
    first: Paths | None,
    graders: Sequence[GraderSpec],
    settings: Settings,
    reading: ReadingOptions,
    form: TableForm,
) -> tuple[FieldMapping | None, Joins | None]:
    """Return the mapping of rows and the files joined with them; `first` are files that can be read again."""
    saved = _saved_mapping(reading.mapping)
    mapping, joins = choose_mapping(
        first,
        graders,
        settings,
        texts=reading.maps or [],
        saved=saved and saved.mapping,
        joins=_join_specs(saved, reading.joins, reading.join_keys),
        form=form,
    )
    if mapping:
        mapping = with_accepted_answers(replace(mapping, table=form), graders)
        mapping = replace(mapping, skips=_checked_skips(reading, mapping))
    return mapping, joins


def _checked_skips(reading: ReadingOptions, mapping: FieldMapping) -> tuple[str, ...]:
    """Return the inputs without which a row is left out; one that is not mapped is a usage error."""
    for name in reading.skip_without or ():
        if name not in mapping.inputs:
            known = f"; it has {', '.join(mapping.inputs)}"
            meant = did_you_mean(closest(name, mapping.inputs)) or known
            raise typer.BadParameter(
                f"the mapping has no input {name[:80]!r}{meant}",
                param_hint="--skip-without",
            )
    return tuple(dict.fromkeys(reading.skip_without or ()))


def _check_reads_tables(
    reading: ReadingOptions, form: TableForm, mapping: FieldMapping | None
) -> None:
    """Raise a usage error for options about rows if the input is not read as rows."""
    if mapping:
        return
    if reading.skip_without:
        raise typer.BadParameter(
            "it is for rows, which are read with a mapping", param_hint="--skip-without"
        )
    if not str(form):
        return
    given = "--no-header" if reading.no_header else "--header-line"
    raise typer.BadParameter(
        "it is for CSV and TSV, which are read with a mapping",
        param_hint="--encoding" if reading.encoding else given,
    )


def files_of(cases: list[str]) -> list[str]:
    """Return the paths and URLs of all files that CASES name, whatever they hold; InputError if there are none."""
    if "-" in cases:
        return []
    return [str(path) for path, *_ in map(fingerprint_of, _files(Paths.of(cases)).files)]


def _files(named: Paths) -> InputFiles:
    """Return the files of all known types."""
    return InputFiles(named, ReadAs.ANYTHING)


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
