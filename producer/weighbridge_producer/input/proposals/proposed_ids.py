"""The ids that are proposed for rows: a column, or one that repeats together with what differs each time."""

from __future__ import annotations

import re
from collections import Counter
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

from weighbridge.jobs.line import is_valid_name
from weighbridge.text import shorten
from weighbridge_producer.input.mapping.row_values import KEY, Path
from weighbridge_producer.input.proposals.column_names import (
    ID_NAMES,
    ITEM_NAMES,
    REPEAT_NAMES,
    VARIANT_NAMES,
    id_names_of,
    normal,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge_producer.input.proposals.column_values import Columns

#: In a mapping, names with these are not read as the names of columns.
IS_SYNTAX = re.compile(r"[=|]|\{[^{}]+\}")
#: In a template, names with one are not read as the names of columns.
IS_BRACE = re.compile("[{}]")
_ENDS_IN_ID = re.compile(r"^[^./]+(?:[\W_](?i:id)|[a-z](?:Id|ID))$")
#: Names of ids that are also names of something else, or ids of something around the item.
_NOT_OF_ITEMS = re.compile(
    "^(?:name|number|no|key)$"
    "|(?:user|session|thread|conversation|customer|account|tenant|org|organization|team|project|trace|span|parent|model)id$"
)
_VALUE_SHOWN = 40  #: characters
_VARIANT_CHARACTERS = 64  #: a longer value, such as a prompt, makes no id
_VARIANTS_MOST = 3  #: in an id
_VARIANTS_TRIED = 8


class UnusedId(NamedTuple):
    """A column that is named like an id, but does not identify each row."""

    path: str
    why: str

    @property
    def note(self) -> str:
        """Why rows are numbered in place of it, and what follows."""
        what = f"{self.path!r} {self.why}, so rows are numbered"
        return f"custom_id: {what}; `weighbridge compare` then pairs rows by their position"


def id_paths(columns: Columns, rows: int) -> tuple[str, ...]:
    """Return the path to an id; before those of what differs each time, such as the model, if the id repeats.

    The id of an item comes before the id of a row, which another run does not share. The key of rows in a document comes
    first: a mapping without it would not read them as rows.
    """
    if len(set(map(str, columns.get(KEY, ())))) == rows:
        return (KEY,)
    names = ID_NAMES[: ID_NAMES.index("id")]
    if path := _unique(columns, rows):
        rank = next((rank for rank, name in enumerate(names) if name in id_names_of(path)), None)
        return _with_variants(columns, rows, names[:rank]) or (path,)
    return _with_variants(columns, rows, ID_NAMES) or _with_repeats(columns, rows)


def unused_id(columns: Columns, rows: int) -> UnusedId | None:
    """Return the likeliest column that is named like an id of items, of rows without an id; None if there is none."""
    for path in _named_ids(columns):
        present = [value for value in columns[path] if value is not None and value != ""]
        is_named = not (_NOT_OF_ITEMS.search(normal(Path(path).name)) or IS_SYNTAX.search(path))
        if is_named and present and all(map(_is_plain, present)):
            return UnusedId(path, _why_unused(present, rows))
    return None


def _why_unused(present: list[Any], rows: int) -> str:
    value, times = Counter(map(str, present)).most_common(1)[0]
    if times > 1:
        return f"repeats, such as {shorten(value, _VALUE_SHOWN)!r}"
    return "is empty in some rows" if len(present) < rows else "has values that are not ids"


def _unique(columns: Columns, rows: int) -> str | None:
    """Return the path to a unique value with a name typical of an id."""
    named = _named_ids(columns) if rows > 1 else _usual_ids(columns)
    return next(
        (path for path in named if len(columns[path]) == rows and _are_ids(columns[path])), None
    )


def _named_ids(columns: Columns) -> Iterator[str]:
    """Yield the paths with names typical of an id, the likeliest first."""
    yield from _usual_ids(columns)
    yield from filter(_ENDS_IN_ID.search, columns)


def _usual_ids(columns: Columns) -> Iterator[str]:
    for name in ID_NAMES:
        yield from (path for path in columns if name in id_names_of(path))


def _with_variants(columns: Columns, rows: int, names: Sequence[str]) -> tuple[str, ...]:
    """Return the path to an id with one of some names, and to what differs each time, as few as make it unique.

    What only counts repeats comes last, so that all before it is common to the repeats.
    """
    complete = {
        path: values
        for path, values in columns.items()
        if len(values) == rows > 1
        and not (IS_SYNTAX.search(path) or IS_BRACE.search(path))
        and all(map(_is_plain, values))
    }
    varying = [
        path
        for path, values in complete.items()
        if normal(Path(path).name) in VARIANT_NAMES
        and len(set(values)) > 1
        and all(map(_is_short, values))
    ]
    varying = sorted(varying, key=_counts_repeats)[:_VARIANTS_TRIED]
    ids = [path for name in names for path in complete if name in id_names_of(path)]
    for path in ids:
        others = [variant for variant in varying if variant != path]
        for number in range(1, _VARIANTS_MOST + 1):
            for variants in combinations(others, number):
                values = zip(*(complete[each] for each in (path, *variants)), strict=True)
                if _are_ids(["/".join(map(str, each)) for each in values]):
                    return path, *variants
    return ()


def _with_repeats(columns: Columns, rows: int) -> tuple[str, ...]:
    """Return the path to an item that is repeated, such as `task`, and to what differs each time, which counts repeats too."""
    items = {
        path: values
        for path, values in columns.items()
        if normal(Path(path).name) in VARIANT_NAMES
        or (len({*map(str, values)}) < len(values) and all(map(_is_short, values)))
    }
    found = _with_variants(items, rows, ITEM_NAMES)
    return found if any(map(_counts_repeats, found[1:])) else ()


def _counts_repeats(path: str) -> bool:
    return normal(Path(path).name) in REPEAT_NAMES


def _is_short(value: Any) -> bool:
    return len(str(value)) <= _VARIANT_CHARACTERS and str(value).isprintable()


def _is_plain(value: Any) -> bool:
    return isinstance(value, (str, int, float)) and not isinstance(value, bool) and value != ""


def _are_ids(values: list[Any]) -> bool:
    texts = [str(value) if type(value) is int else value for value in values]
    valid = all(isinstance(text, str) and is_valid_name(text) for text in texts)
    return valid and len(set(texts)) == len(texts)
