"""JSON documents that are one object: of rows under their keys, or of columns, which cannot be read as rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from weighbridge.errors import InputError
from weighbridge_producer.input.mapping.row_values import KEY, Path
from weighbridge_producer.input.proposals.column_names import is_usual
from weighbridge_producer.input.proposals.mapping_proposals import propose
from weighbridge_producer.input.rows.json_places import pointer_of
from weighbridge_producer.input.rows.json_rows import VALUE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge_producer.input.mapping.row_values import Row

_HINT_FRAME = 'df.to_json("rows.jsonl", orient="records", lines=True)'
HINT_KEY = (
    f"if the document has a row under each key, write {KEY} for the key, as in custom_id={KEY}"
)
_RESPONSE = "agent_response"
_TEXTS = (str, int, float, type(None))


def document_of(rows: Sequence[Row]) -> dict[str, Any]:
    """Return the document whose members were read as rows."""
    return {row[KEY]: _without_key(row) for row in rows}


def refuse_columns(file: str, document: Any) -> None:
    """Raise InputError if a document is an object with a column under each name."""
    if isinstance(document, Mapping) and _are_columns(list(document.values())):
        raise InputError(
            f"{file!r} is one JSON object with a column under each name, and not a list of rows",
            f"write a row on each line; in pandas: {_HINT_FRAME}",
        )


def has_rows(document: Mapping[str, Any], needed: Sequence[str], apart: str = "") -> bool:
    """Return whether the members are objects that share the name of a needed input, under keys that are no such names.

    The value named `apart` is not looked at; it is a list that may have the rows instead.
    """
    values = list(document.values())
    if any(map(is_usual, document)) or not all(isinstance(value, Mapping) for value in values):
        return False
    if len(values) < (2 if apart else 1):
        return False
    shared = [name for name in values[0] if name != apart and all(name in each for each in values)]
    found = propose([{name: value[name] for name in shared} for value in values], needed)
    return bool(found.fields.keys() - {"custom_id", *found.guessed})


def has_values(document: Mapping[str, Any], needed: Sequence[str]) -> bool:
    """Return whether the members are at least two texts, numbers or lists of texts, and none is named like an input."""
    if not may_have_rows(document) or not {_RESPONSE, "expected_output"}.intersection(needed):
        return False
    found = propose([document], needed).fields.keys() & {*needed}
    return not found and all(map(_is_answer, document.values()))


def may_have_rows(document: Mapping[str, Any]) -> bool:
    """Return whether the members of a document are at least two values of one kind, under keys that are no usual names."""
    values = list(document.values())
    if len(values) < 2 or any(map(is_usual, document)):
        return False
    return all(isinstance(value, Mapping) for value in values) or all(map(_is_answer, values))


def inner_rows_hint(rows: Sequence[Row], fields: Mapping[str, str]) -> str:
    """Return how to read the rows under the keys of an object in the only row, if the paths of its inputs lead to the first."""
    paths = {name: Path(path).parts for name, path in fields.items() if name != "custom_id"}
    heads = {parts[:2] for parts in paths.values()}
    if len(rows) != 1 or len(heads) != 1 or len(head := heads.pop()) < 2:
        return ""
    outer = rows[0].get(head[0])
    if not isinstance(outer, Mapping) or not may_have_rows(outer) or not has_rows(outer, [*paths]):
        return ""
    inputs = ", ".join(f"{name}: {'.'.join(parts[2:])}" for name, parts in paths.items())
    pointer = pointer_of(head[:1])
    return (
        f"only the first of {len(outer):,} objects under the keys of {pointer}; a mapping file (--mapping) that makes each a row:"
        f' {{rows: {pointer}, custom_id: "{KEY}", inputs: {{{inputs}}}}}'
    )


def join_hint(rows: Sequence[Row]) -> str:
    """Return how to join rows that stand under keys; empty if the only row is no such document."""
    if len(rows) != 1 or not may_have_rows(rows[0]):
        return ""
    return f"if the file is one object with a row under each key, {KEY} names the key: --on id={KEY}, or --on {KEY}=id"


def value_under_key(rows: Sequence[Row], needed: Sequence[str]) -> dict[str, str]:
    """Return the path of the agent's answer in rows that have only a key and a value."""
    are_values = bool(rows) and all(row.keys() == {KEY, VALUE} for row in rows)
    return {_RESPONSE: VALUE} if are_values and _RESPONSE in needed else {}


def _without_key(row: Row) -> Any:
    inner = {name: value for name, value in row.items() if name != KEY}
    return inner[VALUE] if inner.keys() == {VALUE} else inner


def _are_columns(values: list[Any]) -> bool:
    """Return whether values are lists of one length, or objects with the same row numbers as keys."""
    if len(values) < 2:
        return False
    if all(isinstance(value, list) for value in values):
        lengths = {len(value) for value in values}
        return len(lengths) == 1 and lengths.pop() > 1 and not any(map(_has_objects, values))
    keys = [tuple(value) if isinstance(value, Mapping) else () for value in values]
    return len(set(keys)) == 1 and bool(keys[0]) and all(key.isdecimal() for key in keys[0])


def _is_answer(value: Any) -> bool:
    texts = value if isinstance(value, list) else [value]
    return all(isinstance(text, _TEXTS) and not isinstance(text, bool) for text in texts)


def _has_objects(values: list[Any]) -> bool:
    return any(isinstance(value, (Mapping, list)) for value in values)
