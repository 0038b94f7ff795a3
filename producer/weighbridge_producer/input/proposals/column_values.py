"""The values of all columns of the first rows, and of the paths into their objects and lists."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from weighbridge_producer.input.mapping.conversations import (
    is_agent_last,
    is_by_agent,
    is_conversation,
    speakers_in,
)
from weighbridge_producer.input.mapping.path_texts import around, path_of
from weighbridge_producer.input.mapping.row_values import json_within

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge_producer.input.mapping.row_values import Row

Columns = dict[str, list[Any]]  #: the values of the first rows by path

#: What programs write into tables for no value: MySQL, psql, Python and pandas.
_NO_VALUES = frozenset({"\\N", "NULL", "null", "None", "NaN", "nan", "<NA>"})
_DEPTH = 8  #: levels of a row that are searched for values
_PATHS_LIMIT = 200
_NAME_CHARACTERS = 200  #: a longer name is not looked at


def column_values(rows: Sequence[Row]) -> Columns:
    """Return the values of each path of the first rows."""
    found: Columns = {}
    for row in rows:
        for parts, value in _leaves(row, ()):
            path = path_of(parts)
            # An object with many entries must not hide the columns behind it.
            most = 2 * _PATHS_LIMIT if len(parts) == 1 else _PATHS_LIMIT
            if path in found or len(found) < most:
                found.setdefault(path, []).append(value)
    return found


def without_exceptions(columns: Columns) -> Columns:
    """Return columns without paths into values that are objects or lists in a few rows, and plain in most."""
    plain = {path for path, values in columns.items() if _is_mostly_plain(values)}
    return {path: values for path, values in columns.items() if around(path) not in plain}


def _is_mostly_plain(values: Sequence[Any]) -> bool:
    present = [value for value in values if value is not None and value != ""]
    structured = sum(isinstance(json_within(value), (Mapping, list)) for value in present)
    return structured * 2 < len(present)


def without_null_markers(rows: Sequence[Row]) -> list[Row]:
    """Return rows of a table with None in the cells that say that there is no value: two such cells do not agree."""
    return [
        {
            name: None if isinstance(value, str) and value in _NO_VALUES else value
            for name, value in row.items()
        }
        for row in rows
    ]


def _leaves(value: Any, parts: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    if parts:
        yield parts, value
    if len(parts) >= _DEPTH:
        return
    value = json_within(value)
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if len(key) <= _NAME_CHARACTERS:
                yield from _leaves(inner, (*parts, key))
    elif is_conversation(value):
        if is_by_agent(value[-1]):  # what others said is no answer
            yield from _leaves(value[-1], (*parts, "-1"))
    elif speakers := speakers_in(value):
        if is_agent_last(speakers):
            yield from _leaves(value[-1], (*parts, "-1"))
    elif isinstance(value, list) and value and isinstance(value[0], (Mapping, str)):
        yield from _leaves(value[0], (*parts, "0"))
