"""Lists of several answers, of which a path takes the first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge_producer.input.mapping.row_values import MISSING, Path, json_within

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from weighbridge_producer.input.mapping.row_values import Row

_FIRST = "0"


def list_of_several(path: str, rows: Sequence[Row]) -> str | None:
    """Return the path of the outermost list of which a path takes the first entry, if the entries differ in one of the rows.

    Entries are compared by what the path takes of them.
    """
    parts = path.split(".")
    for place, part in enumerate(parts):
        around, rest = ".".join(parts[:place]), parts[place + 1 :]
        if part == _FIRST and any(_differ(Path(around).of(row, 0), rest) for row in rows):
            return around
    return None


def list_of_answers(path: str, columns: Mapping[str, list[Any]]) -> tuple[str, bool]:
    """Return the path to the list of texts of which a path is the first, and whether one has several; empty if there is none."""
    around, _, index = path.rpartition(".")
    lists = columns.get(around, []) if index == "0" else []
    are_texts = all(
        isinstance(each, list) and all(isinstance(text, str) for text in each) for each in lists
    )
    if not (lists and are_texts):
        return "", False
    return around, any(len(set(each)) > 1 for each in lists)


def _differ(entries: Any, rest: list[str]) -> bool:
    entries = json_within(entries)
    if not isinstance(entries, list):
        return False
    taken = (Path(".".join(["of", *rest])).of({"of": entry}, 0) for entry in entries)
    return len({str(each) for each in taken if each is not MISSING and each not in (None, "")}) > 1
