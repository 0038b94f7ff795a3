"""Input: lines from files, folders, pipes, archives or Python objects, in constant memory."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from weighbridge.errors import Fault, MappingNeededError
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge.traces.json_pointers import PointerUse
from weighbridge_producer.input.duplicates import DuplicateIndex
from weighbridge_producer.input.files.databases.sqlite_file import is_database, wal_of
from weighbridge_producer.input.files.file_groups import FileGroup, version_of
from weighbridge_producer.input.files.input_files import InputFiles
from weighbridge_producer.input.files.input_paths import InputFile, Paths, opened_input
from weighbridge_producer.input.files.lines import BLOCK_BYTES, StreamLines
from weighbridge_producer.input.files.read_as import ReadAs
from weighbridge_producer.input.files.remote_files import RemoteFile
from weighbridge_producer.input.given_cases import are_paths, check_given, rows_of_table
from weighbridge_producer.input.mapped_rows import mapped_rows
from weighbridge_producer.input.mapping.expected_answers import with_accepted_answers
from weighbridge_producer.input.rows.case_lines import as_lines, within_expansion
from weighbridge_producer.input.rows.given_rows import GivenRows
from weighbridge_producer.input.rows.numbered_ids import NumberedIds
from weighbridge_producer.input.rows.row_formats import RowReader, table_format
from weighbridge_producer.input.rows.row_notes import RowNotes
from weighbridge_producer.input.rows.source_rows import LeftOut
from weighbridge_producer.input.rows.span_tables import is_span_table, span_lines
from weighbridge_producer.input.rows.table_cells import Cells
from weighbridge_producer.input.skipped_files import results_note, skipped_note
from weighbridge_producer.input.source_lines import SourceLine, encode_case, grouped, length_fault
from weighbridge_producer.input.traces.documents import DOCUMENT_LIMIT_BYTES
from weighbridge_producer.input.traces.long_lines import in_native_form
from weighbridge_producer.input.traces.mapped_traces import NO_TABLES, mapped_cases
from weighbridge_producer.input.traces.trace_cases import as_cases
from weighbridge_producer.input.traces.trace_wrapper import TraceWrapper

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge.jobs.grader_spec import GraderSpec
    from weighbridge.settings import Settings
    from weighbridge_producer.input.chosen_ids import ChosenIds
    from weighbridge_producer.input.joins import Joins
    from weighbridge_producer.input.mapping.field_mapping import FieldMapping
    from weighbridge_producer.input.rows.case_lines import Naming
    from weighbridge_producer.input.rows.row_formats import Layout
    from weighbridge_producer.input.sampling import Sample
    from weighbridge_producer.input.traces.trace_mapping_file import TraceMapping

#: The settings that decide which lines are read.
_LIMITS = ("line_limit_bytes", "expansion_limit", "batch_limit_lines", "batch_limit_bytes")

Reading = Callable[[Iterator["SourceLine"]], Iterator["SourceLine"]]


@dataclass(frozen=True, slots=True)
class Streams:
    """Several streams of bytes, read one after the other."""

    name: str  #: of the whole input
    named: Iterable[tuple[str, BinaryIO]]  #: each stream with its name


Case = Mapping[str, Any] | bytes | str | SourceLine
Cases = str | Path | Paths | BinaryIO | Streams | Iterable[Case] | Iterable[Path]


class Source:
    """A source of cases; each iteration yields all lines if the source is rereadable.

    `cases` are a path, a pattern, several paths, a stream of bytes, Python objects, or a data frame of pandas or polars or a
    table of Arrow, whose rows are Python objects. Files may contain cases or traces, each of which becomes a case. With a
    `mapping`, files and objects are rows. Raises InputError if a path cannot be read, and for
    objects that are no cases.
    """

    def __init__(
        self,
        cases: Cases,
        settings: Settings,
        mapping: FieldMapping | None = None,
        sample: Sample | None = None,
        trace_mapping: TraceMapping | None = None,
        joins: Joins | None = None,
    ) -> None:
        cases = self._cases = _plain(cases)
        self._settings = settings
        self.mapping = mapping  #: mapping of rows to cases; None for cases and traces
        self.sample = sample  #: sample of cases to read; None for all
        self.trace_mapping = trace_mapping  #: mapping of traces in the user's own format
        self.joins = joins  #: files joined with the rows that are mapped
        #: Graders of the batch that the cases are read for, which accept each of several expected answers in a row.
        self.graders: Sequence[GraderSpec] = ()
        #: Called once with the layout of the rows of a stream, as soon as it is detected.
        self.on_layout: Callable[[Layout], None] | None = None
        #: Called with the lines that are read, which it yields or refuses.
        self.on_lines: Callable[[Iterator[SourceLine]], Iterator[SourceLine]] | None = None
        #: Called once with the first bytes that arrive in a pipe which is read without a mapping.
        self.on_beginning: Callable[[bytes], None] | None = None
        #: Called with the id and the whole row of each case that is made of a row, whose id it returns.
        self.on_row: Naming | None = None
        self.is_read_to_end = False  #: True once all lines have been yielded
        self.only: ChosenIds | None = None  #: ids of the cases to read; None for all
        self.byte_order_mark = False  #: True if a BOM was skipped at the start
        self.consumed = 0  #: bytes read, before decompression
        self.notes = RowNotes()  #: on the rows read so far
        self._pointers = PointerUse()  #: of the trace mapping, in the traces read so far
        self.size: int | None = None  #: total bytes, before decompression, if known
        self._found: InputFiles | None = None
        if not isinstance(cases, (str, Path, Paths, Streams)):
            check_given(cases)
        elif not isinstance(cases, Streams) and str(cases) != "-":
            paths = cases if isinstance(cases, Paths) else Paths.of([cases])
            if mapping is not None:
                read_as = ReadAs.ROWS
            else:
                read_as = ReadAs.RUNS if trace_mapping is None else ReadAs.MAPPED_RUNS
            self._found = InputFiles(paths, read_as)
            self.size = self._found.size()

    def identity(self) -> dict[str, Any]:
        """Return a value of JSON that differs for files, and options of reading them, that yield other lines.

        An interrupted run is resumed if its source has the same identity: a new field above that changes the lines belongs
        here.
        """
        settings = self._settings
        return {
            "input": self.fingerprint(),
            # Ids and locations are made of names, which depend on how the files were named.
            "names": [self._found.name_of(file) for file in self.files] if self._found else [],
            "names_locations": self.names_locations,
            "mapping": self.mapping and self.mapping.identity(),
            "joins": self.joins.fingerprint() if self.joins else [],
            "trace_mapping": self.trace_mapping and self.trace_mapping.text,
            "sample": self.sample and str(self.sample),
            "only": None if self.only is None else str(self.only),
            "reading_limits": {limit: getattr(settings, limit) for limit in _LIMITS},
        }

    @classmethod
    def of(cls, cases: Cases, settings: Settings) -> Source:
        """Return the source for cases; a Source is returned unchanged."""
        return cases if isinstance(cases, Source) else cls(cases, settings)

    def mapped(self, mapping: FieldMapping) -> Source:
        """Return a source of the same files or objects, read as rows with a mapping."""
        return Source(self._cases, self._settings, mapping, self.sample)

    def first_objects(self, most: int) -> list[Mapping[str, Any]]:
        """Return the first Python objects of a list if none of them has the `inputs` of a case."""
        first = self._cases[:most] if isinstance(self._cases, (list, tuple)) else ()
        rows = [each for each in first if isinstance(each, Mapping) and "inputs" not in each]
        return rows if len(rows) == len(first) else []

    @property
    def paths(self) -> Paths | None:
        """The paths that are read; None for standard input, streams and Python objects."""
        if not self._found:
            return None
        return (
            self._cases if isinstance(self._cases, Paths) else Paths.of([cast("str", self._cases)])
        )

    @property
    def name(self) -> str:
        """The name of the input."""
        if isinstance(self._cases, (str, Path, Paths)):
            return "standard input" if str(self._cases) == "-" else str(self._cases)
        return str(getattr(self._cases, "name", "cases"))

    @property
    def files(self) -> tuple[InputFile, ...]:
        """The files in reading order; empty for other input."""
        return self._found.files if self._found else ()

    def skipped_note(self) -> str:
        """Return which files in folders are not read, and why; empty if there are none."""
        if self._found is None:
            return ""
        takes_tables = self.mapping is not None
        notes = (
            skipped_note(self._found.skipped, self._found.endings, takes_tables=takes_tables),
            results_note(self._found.results),
        )
        return "; ".join(filter(None, notes))

    def pointers_without_value(self) -> dict[str, str]:
        """Return the pointers of the trace mapping at which no trace read so far has anything, by their names."""
        if self.trace_mapping is None:
            return {}
        return self._pointers.without_value(self.trace_mapping.form.pointers())

    @property
    def names_locations(self) -> bool:
        """True if each line has a file and line number as its location."""
        is_found = self._found is not None and self._found.may_be_several
        return is_found or isinstance(self._cases, Streams)

    @property
    def has_locations(self) -> bool:
        """True if errors name the location of their line, because its number alone does not say where it is."""
        return self.names_locations or bool(self.mapping and self.mapping.each)

    def would_take(self, file: str) -> bool:
        """Return whether a file with this path would be part of the input when it is read again."""
        return self._found is not None and self._found.would_take(file)

    @property
    def rereadable(self) -> bool:
        """True if the source can be read again from its start."""
        # A named pipe has no size.
        return self.size is not None

    @property
    def is_at_hand(self) -> bool:
        """True if all of it is there, so that reading does not wait for more."""
        return self.rereadable or isinstance(self._cases, (list, tuple))

    def fingerprint(self) -> list[list[str | int]]:
        """Return a fingerprint of the files: their paths, sizes and modification times."""
        return [fingerprint_of(file) for file in self.files]

    def __iter__(self) -> Iterator[SourceLine]:
        """Yield all lines; an unreadable line is replaced by a fault.

        If a limit on lines or bytes is exceeded, the last line is a fault that says so.
        """
        return self._limited(in_blocks=False)

    def blocks(self) -> Iterator[SourceLine]:
        """Yield all lines, where possible in blocks, which takes less time."""
        return self._limited(in_blocks=self.is_one_stream or self._is_one_table)

    def _limited(self, *, in_blocks: bool) -> Iterator[SourceLine]:
        settings = self._settings
        most_lines, most_bytes = settings.batch_limit_lines, settings.batch_limit_bytes
        count = total = self.consumed = 0
        self.notes.clear()
        self._pointers = PointerUse()
        numbered = NumberedIds(self.notes.count_numbered)
        with closing(DuplicateIndex()) as ids, closing(numbered):
            reading = self._chosen_lines(ids, numbered, in_blocks=in_blocks)
            for read in self.on_lines(reading) if self.on_lines else reading:
                count += read.count
                total += read.size
                if count <= most_lines and total <= most_bytes:
                    yield read
                    continue
                count, total = count - read.count, total - read.size
                for line in read.lines():
                    count += 1
                    total += line.size
                    if count > most_lines or total > most_bytes:
                        yield self._too_large(line.size)
                        return
                    yield line
        self.is_read_to_end = True

    def _chosen_lines(
        self, ids: DuplicateIndex, numbered: NumberedIds, *, in_blocks: bool
    ) -> Iterator[SourceLine]:
        lines = self._lines_of_all(ids, numbered, in_blocks=in_blocks)
        lines = lines if self.only is None else self.only.of(lines)
        return self.sample.of(lines) if self.sample else lines

    def _lines_of_all(
        self, ids: DuplicateIndex, numbered: NumberedIds, *, in_blocks: bool
    ) -> Iterator[SourceLine]:
        numbers = self.mapping is not None and self.mapping.numbers_repeats
        naming = self.on_row or (numbered.id_of if numbers else None)
        if self._holds_bytes and self.mapping:
            lines = self._mapped_lines(self.mapping, naming)
            return grouped(lines) if in_blocks else lines
        if self._holds_bytes:
            # No generator around each stream: every layer costs time per line.
            streams = self.streams()
            return chain.from_iterable(
                self._lines(stream, name, ids, in_blocks=in_blocks) for name, stream in streams
            )
        given = cast("Iterable[Any]", self._cases)
        return (
            self._mapped_objects(given, self.mapping, naming)
            if self.mapping
            else map(self._encoded, given)
        )

    def _mapped_lines(self, mapping: FieldMapping, naming: Naming | None) -> Iterator[SourceLine]:
        return chain.from_iterable(
            self._mapped(stream, name, mapping, naming) for name, stream in self.streams()
        )

    @property
    def _holds_bytes(self) -> bool:
        if isinstance(self._cases, (str, Path, Paths, Streams)):
            return True
        return hasattr(self._cases, "readline") and not isinstance(self._cases, io.TextIOBase)

    @property
    def is_one_stream(self) -> bool:
        """True if the source is one file or stream of bytes, read without mapping or selection."""
        read_otherwise = self.mapping or self.trace_mapping or self.sample or self.only is not None
        # A service would not receive what stands beside a database.
        read_otherwise = read_otherwise or any(map(_has_log_beside, self.files))
        return self._holds_bytes and not (self.names_locations or read_otherwise)

    @property
    def _is_one_table(self) -> bool:
        """True if all rows of one regular file become lines."""
        reads_all = not (self.sample or self.only is not None or self.names_locations)
        return self.mapping is not None and self.rereadable and reads_all

    def streams(self) -> Iterator[tuple[str, BinaryIO]]:
        """Yield the name of each file or stream, and the open stream of its bytes."""
        if self._found:
            for file in self._found.files:
                with opened_input(file, BLOCK_BYTES) as stream:
                    yield self._found.name_of(file), stream
        elif isinstance(self._cases, (str, Path, Paths)):
            yield "stdin", sys.stdin.buffer
        elif isinstance(self._cases, Streams):
            yield from self._cases.named
        else:
            yield self.name, cast("BinaryIO", self._cases)

    def _lines(
        self, stream: BinaryIO, name: str, ids: DuplicateIndex, *, in_blocks: bool
    ) -> Iterator[SourceLine]:
        if self.on_beginning and isinstance(stream, io.BufferedReader):
            self.on_beginning(stream.peek())
            self.on_beginning = None
        form = table_format(name)
        if form and is_span_table(stream):
            yield from self._reading(name, ids)(span_lines(stream))
            return
        if form:
            hint = NO_TABLES if self.trace_mapping else ""
            raise MappingNeededError(self.name, str(form), hint)
        # Only for files: pipes and uploads must not use that much memory.
        kept = DOCUMENT_LIMIT_BYTES if self._found else 0
        lines = StreamLines(stream, self.name, self._settings, self._count, kept)
        if in_blocks:
            lines.begin_in_blocks()
        fitting = in_native_form(lines, self._settings.line_limit_bytes)
        reading = self._reading(name, ids, lines.read_in_blocks if in_blocks else None)
        found = iter(_located(fitting, name, reading) if self.names_locations else reading(fitting))
        for line in found:
            self.byte_order_mark |= lines.byte_order_mark
            self.notes.count_prefix(lines.log.prefix)
            yield line
            break  # a BOM is only detected with the first line
        else:
            if self.names_locations:
                self.notes.count_empty_file(name)
        yield from found
        self.notes.count_texts(lines.log.texts, lines.log.first_text)
        self.notes.count_empty_sessions(lines.empty_sessions)

    def _reading(
        self, name: str, ids: DuplicateIndex, on_cases: Callable[[], None] | None = None
    ) -> Reading:
        mapping = self.trace_mapping
        on_empty = self.notes.count_empty_sessions
        wrapper = TraceWrapper(name, ids, on_empty, is_one_of_several=self.names_locations)
        if mapping is None:
            return lambda lines: as_cases(lines, wrapper, on_cases)
        on_known = partial(self.notes.count_known_format, name)
        return lambda lines: mapped_cases(lines, wrapper, mapping, self._pointers, on_known)

    def _mapped_objects(
        self, rows: Iterable[Any], mapping: FieldMapping, naming: Naming | None
    ) -> Iterator[SourceLine]:
        """Yield the cases of rows that are Python objects."""
        mapping = with_accepted_answers(mapping, self.graders)
        read = mapped_rows(
            *(GivenRows(rows, self.name), None, mapping, self.joins, self.notes, None),
            is_one_of_several=False,
            reads_all=True,
        )
        lines = as_lines(read, mapping, self._settings, self.notes, naming=naming)
        for line in (
            within_expansion(lines, self._settings.expansion_limit) if mapping.each else lines
        ):
            line.size = len(line.raw)
            yield line

    def _mapped(
        self, stream: BinaryIO, name: str, mapping: FieldMapping, naming: Naming | None
    ) -> Iterator[SourceLine]:
        mapping = with_accepted_answers(mapping, self.graders)
        added = mapping.added | self.joins.added if self.joins else mapping.added
        reader = RowReader(
            *(name, self._settings, mapping.rows, self._count),
            left_out=LeftOut(self.notes.count_blank, self.notes.count_header),
            added=added,
            form=mapping.table,
        )
        on_layout, self.on_layout = self.on_layout, None
        rows = mapped_rows(
            *(reader, stream, mapping, self.joins, self.notes, on_layout),
            is_one_of_several=self.names_locations,
            reads_all=self.on_row is not None,
        )
        # Lines have locations where their numbers are not those of the rows.
        file = name if self.has_locations else None
        is_table = reader.layout is not None and reader.layout.dialect is not None
        cells = Cells(is_table, self.joins.tables if self.joins else ())
        mapping = cells.mapping(mapping)
        lines = as_lines(rows, mapping, self._settings, self.notes, file, cells, naming)
        limit = self._settings.expansion_limit
        yield from within_expansion(lines, limit) if mapping.each else lines

    def _count(self, size: int) -> None:
        self.consumed += size

    def _too_large(self, size: int) -> SourceLine:
        settings = self._settings
        fault = Fault(
            ErrorCode.INPUT_TOO_LARGE,
            f"the batch ends here: at most {settings.batch_limit_lines:,} lines"
            f" and {settings.batch_limit_bytes:,} bytes",
            "submit the rest as another batch",
        )
        return SourceLine(b"\n", fault, size)

    def _encoded(self, case: Case) -> SourceLine:
        if isinstance(case, SourceLine):
            return case
        line = encode_case(case)
        if line.size > self._settings.line_limit_bytes + 1:
            fault = length_fault(line.size - 1, self._settings.line_limit_bytes)
            return SourceLine(b"\n", fault, line.size)
        return line


def _plain(cases: Cases) -> Cases:
    """Return the rows of a table, and several paths as one input; other cases unchanged."""
    if isinstance(cases, (list, tuple)) and not isinstance(cases, Paths) and are_paths(cases):
        return Paths.of(cast("list[str | Path]", cases))
    rows = rows_of_table(cases)
    return cases if rows is None else rows


def fingerprint_of(file: InputFile) -> list[str | int]:
    """Return a value that changes with a file: its path, and the sizes and modification times of what is read."""
    if isinstance(file, (RemoteFile, FileGroup)):
        return file.version()
    read = filter(None, (file, wal_of(file)))
    return [str(file.absolute()), *chain.from_iterable(map(version_of, read))]


def _has_log_beside(file: InputFile) -> bool:
    """Return whether a file is a database whose latest changes are in a log beside it."""
    return isinstance(file, Path) and wal_of(file) is not None and is_database(file)


def _located(lines: Iterable[SourceLine], name: str, reading: Reading) -> Iterator[SourceLine]:
    """Yield the cases of one of several files, each with its location and a trailing newline."""
    in_line, in_item = f"{name}, line", f"{name}, item"
    read = 0

    def numbered() -> Iterator[SourceLine]:
        nonlocal read
        for line in lines:
            read += 1
            line.origin = (in_line, read)
            yield line

    passed_on = 0
    for count, line in enumerate(reading(numbered()), 1):
        if line.origin:
            passed_on += 1
        elif line.fault and line.fault.names_line:
            line.origin = (name, 0)
        elif read == count:
            line.origin = (in_line, count)
        else:
            # Lines of a document that was read as a whole, after any blank lines.
            line.origin = (in_item, count - passed_on)
        if not line.raw.endswith(b"\n"):
            line.raw += b"\n"
        yield line
