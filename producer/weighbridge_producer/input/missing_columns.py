"""Columns of a mapping that the header of a table lacks, before the table is read as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weighbridge_producer.input.mapping.missing_paths import (
    refuse_missing_paths,
    refuse_part_of_answer,
)
from weighbridge_producer.input.mapping.row_values import ADDED
from weighbridge_producer.input.rows.row_formats import (
    RowFormat,
    RowReader,
    beginning_of,
    table_format,
)
from weighbridge_producer.input.unmapped_rows import table_name

if TYPE_CHECKING:
    from weighbridge.settings import Settings
    from weighbridge_producer.input.files.kept_streams import KeptStream
    from weighbridge_producer.input.files.table_form import TableForm
    from weighbridge_producer.input.mapping.field_mapping import FieldMapping

_HEADER_LINES = 100  #: in which a table's header and its first row are looked for


def refuse_missing_columns(
    stream: KeptStream, name: str, mapping: FieldMapping, settings: Settings, form: TableForm
) -> None:
    """Raise MappingError for a column that a table of text does not have, by its header.

    Of other rows any may have what the first lack, and they are mapped as they arrive.
    """
    with stream.beginning() as begun:
        head = beginning_of(begun, settings)
    if mapping.each or table_format(table_name(name, head, ".csv")) is not RowFormat.CSV:
        return
    reader = RowReader(name, settings, mapping.rows, most_lines=_HEADER_LINES, form=form)
    with stream.beginning() as begun:
        row = next((row.values for row in reader.read(begun) if not row.fault), None)
    if row is None or reader.layout is None or reader.layout.dialect is None:
        return
    refuse_part_of_answer(mapping, [row])
    for _, value in mapping.fields():
        columns = [name for path in value.paths() for name in (path.text, path.parts[0])]
        if columns and not any(column in row or column in ADDED for column in columns):
            refuse_missing_paths(mapping, [row], name)
