"""Selection of the members of a JSON document that are rows for a mapping; others, such as a total, are left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weighbridge_producer.input.mapping.row_values import KEY, MISSING
from weighbridge_producer.input.rows.json_rows import VALUE

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from weighbridge_producer.input.mapping.field_mapping import FieldMapping
    from weighbridge_producer.input.mapping.row_values import Row, Value
    from weighbridge_producer.input.rows.row_notes import RowNotes
    from weighbridge_producer.input.rows.source_rows import SourceRow

_HELD_LIMIT = 100  #: maximum number of members that are held until the first row
#: Values of members for which nothing is recorded; they count as rows.
_WITHOUT_VALUE: tuple[Row, ...] = (
    {},
    {VALUE: None},
)


def only_rows(
    rows: Iterable[SourceRow], mapping: FieldMapping, notes: RowNotes, joined: Collection[str] = ()
) -> Iterator[SourceRow]:
    """Yield the members of a document that are rows for a mapping, and note the others.

    A row has an input of the mapping, or a name that the first row with an input has, since rows of failed runs lack the
    answer. Members that cannot be read or have no value are rows, too; otherwise their cases would be missed. If no member
    has an input, the last members are rows, so that their errors say what they lack. `joined` are the names of joined files;
    the members do not have the fields of these files yet.
    """
    inputs = [value for value in mapping.inputs.values() if _is_own(value, joined)]
    names: frozenset[str] = frozenset() if inputs else frozenset({KEY})
    held: list[SourceRow] = []  # members before the first row
    for row in rows:
        if not names and _has_one(row.values, inputs):
            names = frozenset(row.values) - {KEY}
            yield from _like(held, names, notes)
            held = []
        if names or len(held) >= _HELD_LIMIT:
            yield from _like(held, names, notes)
            held = []
        held.append(row)
    yield from _like(held, names, notes) if names else held


def _like(rows: Iterable[SourceRow], names: frozenset[str], notes: RowNotes) -> Iterator[SourceRow]:
    for row in rows:
        is_row = row.fault or not names.isdisjoint(row.values) or _is_empty(row.values)
        if is_row:
            yield row
        else:
            notes.count_no_row(str(row.values.get(KEY)))


def _is_own(value: Value, joined: Collection[str]) -> bool:
    paths = list(value.paths())
    return bool(paths) and not all(path.parts[0] in joined for path in paths)


def _has_one(row: Row, inputs: Iterable[Value]) -> bool:
    return any(value.of(row, 1) is not MISSING for value in inputs)


def _is_empty(row: Row) -> bool:
    return {name: value for name, value in row.items() if name != KEY} in _WITHOUT_VALUE
