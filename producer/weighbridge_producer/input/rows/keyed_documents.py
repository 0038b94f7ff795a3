"""JSON documents that are one object of rows or of columns, as pandas writes them, which cannot be read as rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from weighbridge.errors import InputError
from weighbridge_producer.input.proposals.column_names import is_usual
from weighbridge_producer.input.proposals.mapping_proposals import propose

if TYPE_CHECKING:
    from collections.abc import Sequence

_ROWS_LOOKED_AT = 100
_HINT_ROWS = "jq -c 'to_entries[] | {id: .key} + .value' FILE > rows.jsonl"
_HINT_FRAME = 'df.to_json("rows.jsonl", orient="records", lines=True)'


def refuse_keyed(file: str, document: Any, needed: Sequence[str]) -> None:
    """Raise InputError if a document is an object with a row under each key, or with a column under each name."""
    if not isinstance(document, Mapping) or not document:
        return
    values = list(document.values())[:_ROWS_LOOKED_AT]
    if _are_columns(values):
        what = "one JSON object with a column under each name"
        raise InputError(
            f"{file!r} is {what}, and not a list of rows",
            f"write a row on each line; in pandas: {_HINT_FRAME}",
        )
    if _are_rows(document, values, needed):
        what = "one JSON object with a row under each key"
        raise InputError(
            f"{file!r} is {what}, and not a list of rows",
            f"write a row on each line: {_HINT_ROWS}; in pandas: {_HINT_FRAME}",
        )


def _are_columns(values: list[Any]) -> bool:
    """Return whether values are lists of one length, or objects with the same row numbers as keys."""
    if len(values) < 2:
        return False
    if all(isinstance(value, list) for value in values):
        lengths = {len(value) for value in values}
        return len(lengths) == 1 and lengths.pop() > 1 and not any(map(_has_objects, values))
    keys = [tuple(value) if isinstance(value, Mapping) else () for value in values]
    return len(set(keys)) == 1 and bool(keys[0]) and all(key.isdecimal() for key in keys[0])


def _are_rows(document: Mapping[str, Any], values: list[Any], needed: Sequence[str]) -> bool:
    """Return whether values are objects with the same keys, of which one is a field of a case, under other names."""
    if any(map(is_usual, document)) or not all(isinstance(value, Mapping) for value in values):
        return False
    if not values[0] or any(value.keys() != values[0].keys() for value in values):
        return False
    found = propose(values, needed)
    return bool(found.fields.keys() - {"custom_id", *found.guessed})


def _has_objects(values: list[Any]) -> bool:
    return any(isinstance(value, (Mapping, list)) for value in values)
