"""The first rows of an input's file, by which a mapping is chosen, and where a document has them."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, BinaryIO

import orjson

from weighbridge.jobs.error_codes import ErrorCode
from weighbridge.jobs.line import BYTE_ORDER_MARK, JSON_SPACE
from weighbridge.settings import MIB
from weighbridge.text import pluralize, shorten
from weighbridge.traces.split import is_trace
from weighbridge_producer.input.files.input_files import InputFiles
from weighbridge_producer.input.files.input_paths import Paths, opened_input
from weighbridge_producer.input.files.read_as import ReadAs
from weighbridge_producer.input.files.table_form import USUAL_FORM, TableForm
from weighbridge_producer.input.mapping.choice_columns import choice_hint
from weighbridge_producer.input.mapping.compared_values import compared_hint
from weighbridge_producer.input.mapping.conversations import last_answer_hint
from weighbridge_producer.input.mapping.known_datasets import GOLDENS
from weighbridge_producer.input.mapping.list_entries import present_entries
from weighbridge_producer.input.mapping.missing_paths import listed
from weighbridge_producer.input.mapping.row_values import KEY, json_within
from weighbridge_producer.input.proposals.mapping_proposals import propose
from weighbridge_producer.input.proposals.proposal import Proposal
from weighbridge_producer.input.rows.header_rows import data_in_header
from weighbridge_producer.input.rows.json_places import keys_of
from weighbridge_producer.input.rows.keyed_documents import (
    HINT_KEY,
    document_of,
    has_values,
    inner_rows_hint,
    may_have_rows,
    refuse_columns,
    refuse_list,
    row_keys,
    sibling_hint,
)
from weighbridge_producer.input.rows.row_formats import (
    Layout,
    RowFormat,
    RowReader,
    beginning_of,
    table_format,
)
from weighbridge_producer.input.rows.row_notes import no_rows_note, other_lists_note
from weighbridge_producer.input.rows.rows_search import rows_pointer

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from contextlib import AbstractContextManager

    from weighbridge.errors import Fault
    from weighbridge.settings import Settings
    from weighbridge_producer.input.mapping.field_mapping import FieldMapping
    from weighbridge_producer.input.mapping.row_values import Path, Row

_ROWS = 100
_FILES_TRIED = 1000  #: to find one with a row
_LINES_OF_ROWS = 10_000  #: including blank lines
_BYTES = 8 * MIB


@dataclass(frozen=True, slots=True)
class SeenRows:
    """The first rows of an input's first file, and their mapping."""

    file: str
    layout: Layout | None  #: None if no row could be read
    rows: list[Row]  #: the first rows
    mapping: FieldMapping | None = None  #: if determined by the shape of the rows
    proposal: Proposal | None = None  #: if the mapping can only be guessed
    faulty: int = 0  #: number of rows among the first that cannot be read
    fault: Fault | None = None  #: of the first of these
    faulty_line: int = 0  #: number of its line or, in formats without lines, of the row
    no_rows: tuple[str, ...] = ()  #: keys of a document's members that are none of the rows
    joined: tuple[str, ...] = ()  #: names of the joined files, whose fields the rows have as well

    @property
    def described(self) -> str:
        """The format of the rows, and their columns."""
        columns = listed(dict.fromkeys(column for row in self.rows for column in row))
        name = "a DeepEval dataset, " if self.layout and self.layout.rows == GOLDENS else ""
        return f"{name}{self.layout} with the columns {columns}"

    def hints(self) -> list[str]:
        """Return what to check in the values of the proposed fields."""
        if self.proposal is None:
            return []
        found, mapping = self.proposal.fields, self.proposal.mapping
        choice = choice_hint(self.rows, found.get("expected_output", ""))
        last = last_answer_hint(self.rows, found.get("agent_response", ""))
        compared = ""
        if mapping and not choice:
            compared = compared_hint(self.rows, mapping, dict.fromkeys(self.joined, "FILE"))
        beside = no_rows_note(self.no_rows, len(self.no_rows)) if self.no_rows else ""
        found_in_rows = (choice, last, compared, self.inner_hint(), beside, self.lists_hint())
        return list(filter(None, (self.header_hint() or self._repeats_hint(), *found_in_rows)))

    def no_traces_hint(self) -> str:
        """Return why no column of a table can be mapped to the traces that are needed, as none has objects of JSON; or empty."""
        is_table = self.layout and self.layout.format not in {RowFormat.JSON, RowFormat.JSON_LINES}
        lacks_trace = self.proposal and "trace" in self.proposal.missing
        if not (is_table and lacks_trace) or self.joined:
            return ""
        if any(_has_object(json_within(value)) for row in self.rows for value in row.values()):
            return ""
        return (
            "none of these columns has traces, which are JSON: export the traces with their steps; "
            "graders of answers, such as string-match, need no trace"
        )

    def inner_hint(self) -> str:
        """Return a note that the proposal takes one of several objects that may each be a case, and how to take each; or empty."""
        if self.proposal is None:
            return ""
        found = self.proposal.fields
        return inner_rows_hint(self.rows, found) or sibling_hint(self.rows, found)

    @property
    def repeated(self) -> tuple[str, ...]:
        """The names that several columns of a table have, to which numbers are added."""
        return self.layout.dialect.repeated if self.layout and self.layout.dialect else ()

    def _repeats_hint(self) -> str:
        """Return how columns with the same name are told apart; empty if there are none."""
        if not self.repeated:
            return ""
        name, *others = self.repeated
        more = f", and those of {pluralize(len(others), 'other name')}," if others else ""
        return f"the columns called {shorten(name, 80)!r}{more} are numbered in their order"

    def header_hint(self) -> str:
        """Return why the first row of a table may be data although it was read as a header; empty if it is none."""
        dialect = self.layout.dialect if self.layout else None
        if dialect is None or not dialect.may_lack_header:
            return ""
        return data_in_header(self.rows, dialect.repeated)

    def lists_hint(self) -> str:
        """Return which other lists of the document may be rows as well; empty if none."""
        others = self.layout.others if self.layout else ()
        return other_lists_note(others) if others else ""

    def document_hint(self) -> str:
        """Return how to read the only line as a document with rows; empty if it seems to be a row."""
        layout = self.layout
        is_line = layout is not None and layout.format is RowFormat.JSON_LINES
        if not is_line or len(self.rows) != 1:
            return ""
        if pointer := rows_pointer(io.BytesIO(orjson.dumps(self.rows[0], str)).read):
            return (
                f"the file is one JSON object; to read the list at {pointer} as its rows, rename the file to end in .json,"
                f" or write `rows: {pointer}` into the mapping file (--mapping)"
            )
        return f"the file is one JSON object; {HINT_KEY}" if may_have_rows(self.rows[0]) else ""

    def wrong_rows_hint(self) -> str:
        """Return where else the rows may be if they lack a path of the mapping; empty if nowhere."""
        layout = self.layout
        if layout and layout.format is RowFormat.JSON and layout.rows.count("/") > 1:
            return f"the rows are those at {layout.rows}; {HINT_KEY}"
        return self.document_hint()


@dataclass(frozen=True, slots=True)
class Opened:
    """A file that can be opened several times."""

    name: str  #: name within the input; its suffix may determine the format
    label: str  #: name for messages
    open: Callable[[], AbstractContextManager[BinaryIO]]
    form: TableForm = USUAL_FORM  #: of tables

    @classmethod
    def first_of(cls, cases: Paths) -> Opened:
        """Return the first file of an input."""
        return cls.all_of(cases)[0]

    @classmethod
    def all_of(
        cls, cases: Paths, form: TableForm = USUAL_FORM, read_as: ReadAs = ReadAs.ROWS
    ) -> list[Opened]:
        """Return the files of an input; those of agents' databases have no rows to map."""
        found = InputFiles(cases, read_as)
        return [
            cls(found.name_of(file), str(file), partial(opened_input, file), form)
            for file in found.files
        ]


def _has_object(value: object) -> bool:
    """Return whether a value is an object of JSON, or a list with one."""
    return any(
        isinstance(each, Mapping) for each in (value if isinstance(value, list) else [value])
    )


def from_first_row_on(files: Sequence[Opened], settings: Settings) -> Sequence[Opened]:
    """Return files without the first ones that have no row; all of them if none seems to have one."""
    tried = enumerate(files[:_FILES_TRIED] if len(files) > 1 else ())
    return files[next((place for place, each in tried if not _is_empty(each, settings)), 0) :]


def _is_empty(opened: Opened, settings: Settings) -> bool:
    """Return whether a file is blank, or a table of one line, its header."""
    with opened.open() as stream:
        head = beginning_of(stream, settings).strip(JSON_SPACE)
    return not head.translate(None, JSON_SPACE + b"[]") or (
        opened.form.has_header
        and table_format(opened.name) is RowFormat.CSV
        and head.count(b"\n") == 0
    )


def first_rows(
    opened: Opened,
    settings: Settings,
    rows: str = "",
    added: Collection[str] = (),
    each: Path | None = None,
) -> SeenRows:
    """Read the first rows of a file; `rows` is the JSON Pointer to their list in a document, if known.

    `added` are the values that are added to the rows, such as `@key`. The entries of the list at `each` are rows.
    """
    reader = RowReader(
        *(opened.name, settings, rows),
        most_lines=_LINES_OF_ROWS,
        added=added,
        form=opened.form,
    )
    found: list[Row] = []
    fault: Fault | None = None
    taken = faulty = faulty_line = 0
    with opened.open() as stream:
        for number, row in enumerate(islice(reader.read(stream), _ROWS)):
            taken += row.size if number else 0  # the first has all that is before it in a document
            faulty += row.fault is not None
            if row.fault and not fault:
                fault, faulty_line = row.fault, row.number
            if not row.fault:
                found += islice(present_entries(row.values, each), _ROWS - len(found))
            if taken > _BYTES or len(found) >= _ROWS:
                break
    return SeenRows(
        *(opened.label, reader.layout, found),
        faulty=faulty,
        fault=fault,
        faulty_line=faulty_line,
    )


def refuse_list_without_rows(opened: Opened, seen: SeenRows, settings: Settings) -> None:
    """Raise InputError if a file without rows is one JSON list that has no objects."""
    if seen.rows or not seen.fault or seen.faulty > 1 or seen.fault.code != ErrorCode.NOT_AN_OBJECT:
        return
    with opened.open() as stream:
        start = beginning_of(stream, settings).removeprefix(BYTE_ORDER_MARK)
    if (tight := start.translate(None, JSON_SPACE)).startswith(b"["):
        refuse_list(seen.file, tight)


def under_keys(
    opened: Opened, seen: SeenRows, needed: Sequence[str], settings: Settings
) -> SeenRows:
    """Return the first rows of a document whose members are its rows; of other files, those that were seen.

    Raises InputError for a document of columns.
    """
    layout = seen.layout
    is_list = layout is not None and layout.format is RowFormat.JSON
    is_line = layout is not None and layout.format is RowFormat.JSON_LINES
    keys = keys_of(layout.rows) if layout and is_list else []
    may_be = keys if is_list else is_line and len(seen.rows) < 2
    if layout is None or layout.by_key or not may_be:
        return seen
    if len(keys) == 1 and not propose(seen.rows, needed).missing:
        return seen
    found = first_rows(opened, settings, added={KEY})
    document = document_of(found.rows) if found.layout and found.layout.by_key else {}
    if not document or is_trace(document):
        return seen
    if is_line:
        refuse_columns(seen.file, document, needed)
    if is_line and has_values(document, needed):
        return found
    rows = frozenset(row_keys(document, needed, keys[1] if len(keys) > 1 else ""))
    if not rows:
        return seen
    others = tuple(key for key in document if key not in rows)
    return replace(found, rows=[row for row in found.rows if row[KEY] in rows], no_rows=others)
