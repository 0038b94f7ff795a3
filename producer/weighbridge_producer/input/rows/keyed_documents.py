"""JSON documents that are one object: with rows under keys, or with columns, which cannot be read as rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from weighbridge.errors import InputError
from weighbridge_producer.input.mapping.missing_paths import listed
from weighbridge_producer.input.mapping.row_values import KEY, MISSING, Path
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
#: Command that writes a row for each object in the rows under keys.
_EACH_OF_ROWS = "jq -c 'to_entries[] | {run: .key} + (.value | objects | to_entries[] | {id: .key} + (.value | objects))' FILE > COPY"
#: Minimum share of objects that have a name, for a name of rows; failed rows may lack it.
_MINIMUM_SHARE = 0.25
_KEYS_NAMED = 5  #: number of keys shown of objects with the same names
_RESPONSE = "agent_response"
_TEXTS = (str, int, float, type(None))


def document_of(rows: Sequence[Row]) -> dict[str, Any]:
    """Return the document whose members were read as rows."""
    return {row[KEY]: _without_key(row) for row in rows}


def refuse_columns(file: str, document: Any, needed: Sequence[str] = ()) -> None:
    """Raise InputError if a document, or the object in it with all needed inputs, has a column under each name."""
    if not isinstance(document, Mapping):
        return
    pointer = "" if _are_columns(list(document.values())) else _columns_within(document, needed)
    if pointer is not None:
        where = f" at {pointer}" if pointer else ""
        raise InputError(
            f"{file!r} is one JSON object with a column under each name{where}, and not a list of rows",
            f"write a row on each line; in pandas: {_HINT_FRAME}",
        )


def _columns_within(document: Mapping[str, Any], needed: Sequence[str]) -> str | None:
    """Return the pointer to the object of columns that has all needed inputs, by the proposed mapping; None if none has."""
    proposal = propose([document], needed)
    if proposal.parallel:  # columns beside values for all rows, such as the model's name
        return _pointer_to_parallel(document, proposal.parallel)
    found = proposal.fields
    paths = [Path(found[name]).parts for name in needed if name in found]
    around: Any = document
    if len(paths) < max(2, len(needed)):
        return None
    for depth, key in enumerate(paths[0][:-1], 1):
        if any(parts[:depth] != paths[0][:depth] for parts in paths):
            return None
        inner = around.get(key)
        if not isinstance(inner, Mapping):
            return None
        if not _are_alike(around, inner) and _are_columns(list(inner.values())):
            return pointer_of(paths[0][:depth])
        around = inner
    return None


def _pointer_to_parallel(document: Mapping[str, Any], lists: Sequence[str]) -> str | None:
    """Return the pointer to the object with two lists of equal length; None if there may be a row under each key."""
    first, second = (Path(path).parts[:-1] for path in lists)
    around: Any = document
    for key in first:
        inner = around.get(key)
        if not isinstance(inner, Mapping) or _are_alike(around, inner):
            return None
        around = inner
    return pointer_of(first) if first == second else ""


def _are_alike(around: Mapping[str, Any], inner: Mapping[str, Any]) -> bool:
    """Return whether several objects in `around` share a name of `inner`: they may be rows, which may have equal lists."""
    return any(len(_having(around, Path(pointer_of([name])))) > 1 for name in inner)


def refuse_list(file: str, start: bytes) -> None:
    """Raise InputError for a document that is a list without an object; `start` is its beginning without whitespace."""
    if start.startswith(b"[]"):
        raise InputError(f"{file!r} is an empty JSON list", "write at least one row or case in it")
    are_lists = start.startswith(b"[[")
    of_what = "lists, whose values have no names" if are_lists else "values that are not objects"
    raise InputError(
        f"{file!r} is a JSON list of {of_what}",
        f"write a row or case as an object; in pandas: {_HINT_FRAME}",
    )


def row_keys(document: Mapping[str, Any], needed: Sequence[str], apart: str = "") -> list[str]:
    """Return the keys of the members that are rows: objects that share the name of a needed input, or a name of the first.

    Return none if they are not most of the members, or if one of the keys is the usual name of a column. Other members, such
    as a total or the settings, stand beside the rows. `apart` is the name of a list that may have the rows instead; it is
    ignored.
    """
    objects = {key: value for key, value in document.items() if isinstance(value, Mapping)}
    if not objects:
        return []
    counts = Counter(name for value in objects.values() for name in value if name != apart)
    least = max(min(2, len(objects)), len(objects) * _MINIMUM_SHARE)
    shared = [name for name, count in counts.items() if count >= least]
    found = propose([_only(value, shared) for value in objects.values()], needed)
    named = [
        Path(found.fields[name]) for name in needed if name in {*found.fields} - {*found.guessed}
    ]
    keys = [key for key, value in objects.items() if any(_has(value, path) for path in named)]
    if keys:  # rows of failed runs lack the answer
        names = objects[keys[0]].keys() - {apart}
        keys = [key for key, value in objects.items() if names & value.keys()]
    fewest = 2 if apart or len(keys) < len(document) else 1
    is_most = len(keys) >= fewest and len(keys) * 2 > len(document)
    return keys if is_most and not any(map(is_usual, keys)) else []


def has_values(document: Mapping[str, Any], needed: Sequence[str]) -> bool:
    """Return whether the members are at least two texts, numbers or lists of texts, none with the name of an input."""
    if not may_have_rows(document) or not {_RESPONSE, "expected_output"}.intersection(needed):
        return False
    found = propose([document], needed).fields.keys() & {*needed}
    return not found and all(map(_is_answer, document.values()))


def may_have_rows(document: Mapping[str, Any]) -> bool:
    """Return whether a document has at least two members of one kind, under keys that are not usual names of columns."""
    values = list(document.values())
    if len(values) < 2 or any(map(is_usual, document)):
        return False
    return all(isinstance(value, Mapping) for value in values) or all(map(_is_answer, values))


def inner_rows_hint(rows: Sequence[Row], fields: Mapping[str, str]) -> str:
    """Return a hint on reading the rows under the keys of an object in the only row; empty if there are no such rows.

    The paths of the inputs then lead to the first of these rows.
    """
    paths = {name: Path(path).parts for name, path in fields.items() if name != "custom_id"}
    heads = {parts[:2] for parts in paths.values()}
    if len(rows) != 1 or len(heads) != 1 or len(head := heads.pop()) < 2:
        return ""
    outer = rows[0].get(head[0])
    if not isinstance(outer, Mapping) or len(keys := row_keys(outer, [*paths])) < 2:
        return ""
    inputs = ", ".join(f"{name}: {'.'.join(parts[2:])}" for name, parts in paths.items())
    pointer = pointer_of(head[:1])
    return (
        f"only the first of {len(keys):,} objects under the keys of {pointer} is graded; to make each a row, give a mapping file (--mapping):"
        f' {{rows: {pointer}, custom_id: "{KEY}", inputs: {{{inputs}}}}}'
    )


def sibling_hint(rows: Sequence[Row], fields: Mapping[str, str]) -> str:
    """Return a note if inputs are read from only one of several objects with the same names, with a hint on reading all."""
    if len(rows) > 1:
        return _cases_within(rows, fields)
    for name, text in fields.items():
        parts = Path(text).parts
        for depth in range(len(parts) - 1 if name != "custom_id" else 0):
            around = Path(pointer_of(parts[:depth])).of(rows[0], 1) if depth else rows[0]
            keys = _siblings(around, Path(pointer_of(parts[depth + 1 :])))
            if parts[depth] in keys and len(keys) > 1:
                return _only_one_of(name, parts[depth], keys, may_be_rows=not depth)
    return ""


def _cases_within(rows: Sequence[Row], fields: Mapping[str, str]) -> str:
    """Return a note if each row has several objects with all inputs, of which only one is graded."""
    paths = [Path(text).parts for name, text in fields.items() if name != "custom_id"]
    heads = {parts[0] for parts in paths}
    if len(heads) != 1 or any(len(parts) < 2 for parts in paths):
        return ""
    inner = [Path(pointer_of(parts[1:])) for parts in paths]
    for row in rows:
        keys = [
            key for key in _siblings(row, inner[0]) if all(_has(row[key], path) for path in inner)
        ]
        if heads < {*keys}:
            hint = _only_one_of("in each row", heads.pop(), keys, may_be_rows=False)
            how = f": {_EACH_OF_ROWS}" if all(KEY in row for row in rows) else ""
            return f"{hint}; write a row for each, with its key in the custom_id{how}"
    return ""


def _only_one_of(name: str, key: str, keys: Sequence[str], *, may_be_rows: bool) -> str:
    named = listed([repr(each) for each in keys[:_KEYS_NAMED]])
    more = ", ..." if len(keys) > _KEYS_NAMED else ""
    how = (
        f"; to make each a row, map custom_id={KEY} and the names within the objects"
        if may_be_rows
        else ""
    )
    return f"{name}: only {key!r} of {len(keys):,} objects with the same names is graded: {named}{more}{how}"


def _siblings(around: Any, path: Path) -> list[str]:
    """Return the keys of the objects that have a value at a path; none if a key is the usual name of a column."""
    if not isinstance(around, Mapping):
        return []
    keys = _having(around, path)
    return [] if any(map(is_usual, keys)) else keys


def _having(around: Mapping[str, Any], path: Path) -> list[str]:
    return [key for key, each in around.items() if isinstance(each, Mapping) and _has(each, path)]


def join_hint(rows: Sequence[Row]) -> str:
    """Return a hint on joining rows that stand under keys; empty if the only row is not such a document."""
    if len(rows) != 1 or not may_have_rows(rows[0]):
        return ""
    return f"if the file is one object with a row under each key, {KEY} names the key: --on id={KEY}, or --on {KEY}=id"


def value_under_key(rows: Sequence[Row], needed: Sequence[str]) -> dict[str, str]:
    """Return the path of the agent's answer in rows that have only a key and a value."""
    are_values = bool(rows) and all(row.keys() == {KEY, VALUE} for row in rows)
    return {_RESPONSE: VALUE} if are_values and _RESPONSE in needed else {}


def _only(value: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return {name: value[name] for name in names if name in value}


def _has(value: Mapping[str, Any], path: Path) -> bool:
    return path.of(value, 1) is not MISSING


def _without_key(row: Row) -> Any:
    inner = {name: value for name, value in row.items() if name != KEY}
    return inner[VALUE] if inner.keys() == {VALUE} else inner


def _are_columns(values: list[Any]) -> bool:
    """Return whether values are lists of equal length, or objects with the same row numbers as keys."""
    if len(values) < 2:
        return False
    if all(isinstance(value, list) for value in values):
        lengths = {len(value) for value in values}
        has_objects = any(isinstance(each, Mapping) for value in values for each in value)
        has_plain = not all(any(isinstance(each, list) for each in value) for value in values)
        return len(lengths) == 1 and lengths.pop() > 1 and has_plain and not has_objects
    keys = [tuple(value) if isinstance(value, Mapping) else () for value in values]
    is_numbered = bool(keys[0]) and all(key.isdecimal() for key in keys[0])
    return (
        is_numbered and len(set(keys)) == 1 and not all(_has_only_objects(each) for each in values)
    )


def _is_answer(value: Any) -> bool:
    texts = value if isinstance(value, list) else [value]
    return all(isinstance(text, _TEXTS) and not isinstance(text, bool) for text in texts)


def _has_only_objects(value: Mapping[str, Any]) -> bool:
    return all(isinstance(each, Mapping) for each in value.values())
