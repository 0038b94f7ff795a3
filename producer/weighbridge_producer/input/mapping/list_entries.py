"""Entries of a list in a row, each of which is a case: `@each=attempts` in a mapping."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from weighbridge.errors import MappingError
from weighbridge_producer.input.mapping.row_values import ENTRY, Path, json_within

if TYPE_CHECKING:
    from weighbridge_producer.input.mapping.row_values import Row

EACH = "@each"  #: on the left of a mapping, it names the list
_LEVELS = 8  #: of lists within lists


class NoListError(Exception):
    """A row has no list where its entries should be."""


def checked_list_path(path: Path) -> Path:
    """Return the path to a list; raises MappingError if it is too long."""
    if len(path.parts) > _LEVELS:
        raise MappingError(
            f"{EACH} leads through more than {_LEVELS} levels", "name a list nearer to the row"
        )
    return path


def entries_of(row: Row, path: Path, *, numbered: bool) -> Iterator[dict[str, Any]]:
    """Yield the row once for each entry of the list at a path, with the entry in place of the list.

    Lists on the way to it are replaced in the same way: with `paragraphs.qas` for lists of both names, each question
    stands beside its paragraph's other fields, and its id is at `paragraphs.qas.id`. A list may be JSON in a cell.
    `numbered` rows have the number of the entry, from 1, as `@entry`. Raises NoListError at a row that has no list there.
    """
    parts = (path.text,) if path.text in row else path.parts
    for number, entry in enumerate(_entries(row, parts), 1):
        yield {**entry, ENTRY: number} if numbered else entry


def present_entries(row: Row, path: Path | None) -> Iterator[Row]:
    """Yield the rows of the entries of a list; those of a row without one, or without a path, are the row itself."""
    if path is None:
        yield row
        return
    with suppress(NoListError):
        yield from entries_of(row, path, numbered=True)


def has_list(row: Row, path: Path) -> bool:
    """Return whether a row has a list at a path; it may be empty."""
    try:
        deque(entries_of(row, path, numbered=False), maxlen=0)
    except NoListError:
        return False
    return True


def _entries(node: Any, parts: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    node = json_within(node)
    if not isinstance(node, Mapping) or parts[0] not in node:
        raise NoListError
    held = json_within(node[parts[0]])
    if not isinstance(held, list) and len(parts) == 1:
        raise NoListError
    for entry in held if isinstance(held, list) else (held,):
        for inner in _entries(entry, parts[1:]) if len(parts) > 1 else (entry,):
            yield {**node, parts[0]: inner}
