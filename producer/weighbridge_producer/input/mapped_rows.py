"""The rows of one file that become cases: with the fields of joined files, and without what stands beside the rows."""

from __future__ import annotations

from itertools import chain, islice
from typing import TYPE_CHECKING, cast

from weighbridge_producer.input.mapping.list_entries import NoListError
from weighbridge_producer.input.mapping.row_values import KEY
from weighbridge_producer.input.rows.keyed_rows import only_rows
from weighbridge_producer.input.rows.source_rows import SourceRow, invalid_row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import BinaryIO

    from weighbridge_producer.input.joins import Joins
    from weighbridge_producer.input.mapping.field_mapping import FieldMapping
    from weighbridge_producer.input.rows.given_rows import GivenRows
    from weighbridge_producer.input.rows.row_formats import Layout, RowReader
    from weighbridge_producer.input.rows.row_notes import RowNotes


def mapped_rows(
    reader: RowReader | GivenRows,
    stream: BinaryIO | None,
    mapping: FieldMapping,
    joins: Joins | None,
    notes: RowNotes,
    on_layout: Callable[[Layout], None] | None,
    *,
    is_one_of_several: bool,
    reads_all: bool,
) -> Iterator[SourceRow]:
    """Return the rows of a file for a mapping, and note what is to be said of the file.

    `on_layout` is called with the layout as soon as it is detected; `reads_all` reads also columns that nothing needs.
    """
    columns = None if reads_all else mapping.columns
    if columns and joins:
        columns = sorted({*columns, *joins.columns})
    rows = reader.read(cast("BinaryIO", stream), columns)
    first = list(islice(rows, 1))
    rows = chain(first, rows)
    if mapping.each:
        rows = _entries(rows, mapping, notes)
    if on_layout and reader.layout:
        on_layout(reader.layout)
    if first:
        notes.begin_file(reader.name, reader.layout)
    elif is_one_of_several:
        notes.count_empty_file(reader.name)
    if reader.layout and reader.layout.others:
        notes.count_other_lists(reader.name, reader.layout.others)
    if KEY in mapping.added and reader.layout and reader.layout.by_key:
        rows = only_rows(rows, mapping, notes, joins.names if joins else ())
    return joins.of(rows) if joins else rows


def _entries(
    rows: Iterator[SourceRow], mapping: FieldMapping, notes: RowNotes
) -> Iterator[SourceRow]:
    """Yield a row for each entry of a row's list; those without one in a document of keys may be none of its rows."""
    for row in rows:
        size, count = row.size, 0
        try:
            for values in () if row.fault else mapping.rows_of(row.values):
                yield SourceRow(row.number, values, None, size, row.doubt, place=row.place)
                size, count = 0, count + 1
        except NoListError:
            if KEY not in mapping.added:
                what = f"the row has no list at {str(mapping.each)!r}"
                row.fault = invalid_row(what, "give each row a list, [] for no entries")
            yield row
        else:
            if row.fault:
                yield row
            elif not count:
                notes.count_without_entries()
