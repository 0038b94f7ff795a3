"""Paths as texts: dotted, or JSON Pointers where a dotted path would part a name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weighbridge_producer.input.mapping.row_values import Path

if TYPE_CHECKING:
    from collections.abc import Sequence

_FIRST = "0"


def path_of(parts: Sequence[str]) -> str:
    """Return the path to a value by the names that lead to it; a column alone is its own path, whatever its name."""
    if len(parts) <= 1:
        return "".join(parts)
    if all(part and "." not in part and "/" not in part for part in parts):
        return ".".join(parts)
    return "".join(f"/{part.replace('~', '~0').replace('/', '~1')}" for part in parts)


def around(path: str) -> str:
    """Return the path of the object or list that a value is in; empty for a column. `a.b` is in `a`, even if it is a column."""
    return path_of(Path(path).parts[:-1])


def levels(path: str) -> int:
    """Return in how many objects and lists a value is."""
    return len(Path(path).parts) - 1


def last_part(path: str) -> str:
    """Return the last name of a path, or the index in a list."""
    return Path(path).parts[-1]


def is_within(path: str, outer: str) -> bool:
    """Return whether a path leads into the value at another one."""
    return bool(_length_in(path, outer))


def rest_within(path: str, outer: str) -> tuple[str, ...]:
    """Return the names that lead on from the value at a path into which another one leads."""
    return Path(path).parts[_length_in(path, outer) :]


def is_first_entry(path: str) -> bool:
    """Return whether a path ends with the first entry of a list."""
    return levels(path) > 0 and last_part(path) == _FIRST


def first_entry_of(path: str, *, is_column: bool) -> str:
    """Return the path of the first entry of the list at a path, which may be the name of a column that has dots."""
    return path_of((*((path,) if is_column else Path(path).parts), _FIRST))


def lists_on(path: str) -> list[str]:
    """Return the paths of all lists of which a path takes the first entry, the outermost first."""
    parts = Path(path).parts
    return [path_of(parts[:place]) for place, part in enumerate(parts) if place and part == _FIRST]


def without_firsts(path: str) -> str:
    """Return a path that leads to the same values of all entries of its lists, as `@each` takes it."""
    parts = Path(path).parts
    return path_of([part for place, part in enumerate(parts) if not place or part != _FIRST])


def _length_in(path: str, outer: str) -> int:
    """Return how many names of a path lead to the value at another one; 0 if it does not lead there."""
    parts = Path(path).parts
    return next((size for size in range(1, len(parts)) if path_of(parts[:size]) == outer), 0)
