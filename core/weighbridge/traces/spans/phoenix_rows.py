"""Conversion of Phoenix's dataframes, with a column for each attribute (`attributes.llm.model_name`), to spans of its API."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

_IDS = "context."
_ATTRIBUTES = "attributes."
_TRACE_ID, _SPAN_ID = "context.trace_id", "context.span_id"
_DEPTH = 12  #: maximum depth of lists and objects in a cell
_NAME_CHARACTERS = 200  #: maximum length of the name of a value that is divided further
ROW_KEYS = frozenset({_TRACE_ID})  #: keys that every row has


def is_row(value: dict[str, Any]) -> bool:
    """Return whether a value is a row of a dataframe of spans."""
    return type(value.get(_TRACE_ID)) is str and type(value.get("name")) is str


def rows_of_columns(value: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the rows of a dataframe stored by column, which is pandas' default."""
    columns = {name: held for name, held in value.items() if type(held) is dict}
    for index in columns.get(_TRACE_ID, ()):
        row = {name: held.get(index) for name, held in columns.items()}
        row.setdefault(_SPAN_ID, index)  # the IDs of spans may be in the index only
        if is_row(row):
            yield row


def flat_attributes(nested: dict[str, Any]) -> dict[str, Any]:
    """Return attributes that are objects in objects, as Phoenix stores them, by their whole names."""
    recorded: dict[str, Any] = {}
    for name, held in nested.items():
        recorded |= _flat(name, held, 1)
    return recorded


def _flat(name: str, cell: Any, depth: int = 0) -> dict[str, Any]:
    """Return a cell as attributes: lists of messages, calls and tools become the numbered attributes of the span again."""
    recorded: dict[str, Any] = {}
    pending: list[tuple[str, Any, int]] = [(name, cell, depth)]
    while pending:
        key, held, depth = pending.pop()
        is_list = type(held) is list and any(type(item) is dict for item in held)
        is_deep = depth >= _DEPTH or len(key) > _NAME_CHARACTERS
        if is_deep or not (is_list or (depth and type(held) is dict)):
            recorded[key] = held
        elif is_list:
            pending += [(f"{key}.{number}", item, depth + 1) for number, item in enumerate(held)]
        else:
            pending += [(f"{key}.{inner}", item, depth + 1) for inner, item in held.items()]
    return {key: held for key, held in recorded.items() if held is not None}


def span_of_row(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row as a span, without the empty cells of attributes that only other spans have."""
    span: dict[str, Any] = {"context": {}, "attributes": {}}
    for name, cell in row.items():
        if cell is None or (type(cell) is float and math.isnan(cell)):
            continue
        if name.startswith(_ATTRIBUTES):
            span["attributes"] |= _flat(name.removeprefix(_ATTRIBUTES), cell)
        elif name.startswith(_IDS):
            span["context"][name.removeprefix(_IDS)] = cell
        else:
            span[name] = cell
    span["context"].setdefault("span_id", row.get("id"))
    return span
