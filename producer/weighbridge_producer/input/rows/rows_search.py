"""The search for the list of rows in a JSON document."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from weighbridge.errors import LineError
from weighbridge.grading.strict_json import decode_line
from weighbridge.settings import MIB
from weighbridge_producer.input.files.decompress import DAMAGE, ExpansionError
from weighbridge_producer.input.rows.json_places import (
    COLUMNS,
    COLUMNS_BYTES,
    keys_of,
    names_in,
    pointer_of,
    step_into,
)
from weighbridge_producer.input.rows.json_scanner import JsonScanner, ScanError

if TYPE_CHECKING:
    from collections.abc import Callable

_DEPTH_LOOKED_AT = 4  #: number of levels of a document that are searched for its list of rows
_ITEMS_LOOKED_AT = 100  #: number of a list's items that are examined to find an object
_SEARCHED_BYTES = 32 * MIB  #: number of bytes that are searched in a document with lists of objects
_LISTS_LOOKED_AT = 20  #: number of lists whose first rows are searched for answers
_LISTS_KEPT = 100
_NAMES_COMPARED = 100  #: maximum number of names of a list's first row that are compared
_ANSWERS = ("agent_response", "expected_output")
_ROW_BYTES = 32 * MIB  #: maximum length of a row whose shape is examined
#: Usual names of lists of rows. Other lists describe columns (Hugging Face), or plans and scores (Inspect).
USUAL_NAMES = frozenset(
    {"rows", "data", "results", "samples", "examples", "records", "items", "instances", "cases"}
)
_TABLES = (["data"], ["rows"])  #: paths of the rows in tables with `columns`, whose rows are lists


@dataclass(frozen=True, slots=True)
class ListsOfRows:
    """Places of the lists of objects in a document."""

    pointer: str | None  #: JSON Pointer to the list of rows; None if there is none
    others: tuple[str, ...] = ()  #: JSON Pointers to other lists that may be rows as well


def rows_pointer(read: Callable[[int], bytes]) -> str | None:
    """Return the JSON Pointer to the list of rows in a document; None if there is none."""
    return lists_of_rows(read).pointer


def lists_of_rows(read: Callable[[int], bytes], *, only_known: bool = False) -> ListsOfRows:
    """Return the places of the rows in a document, and of other lists like them.

    The rows are the list of a known shape, or else the best list of objects. A list with an answer and an expected answer is
    better than one without; among equals, a list with a usual name is better, then the longer one. The search ends at the
    rows of a known shape, or after 32 MiB if a list of objects was found. Other lists may be rows as well if they have most
    names of the rows, or answers, or if the rows have no answers.

    `only_known` restricts the search to lists of a known shape, because the document may itself be a row.
    """
    search = _Search(read)
    with suppress(ScanError, ExpansionError, *DAMAGE):  # reading the document reports the error
        search.look_into(JsonScanner(search.read, depth_limit=None), [])
    if search.is_over:
        return ListsOfRows(search.pointer)
    return ListsOfRows(None) if only_known else search.lists()


def has_all_rows(read: Callable[[int], bytes], pointer: str) -> bool:
    """Return whether the list at a JSON Pointer ends in this part of a document."""
    with suppress(ScanError, ExpansionError, *DAMAGE):
        scanner = JsonScanner(read, depth_limit=None)
        step_into(scanner, keys_of(pointer))
        scanner.skip()
        return True
    return False


def _decoded(text: bytes | None) -> dict[str, Any]:
    """Return the object in a text; an empty one if the text was too long or is not strict JSON."""
    try:
        return decode_line(text or b"")
    except LineError:
        return {}


@dataclass(frozen=True, slots=True)
class _List:
    """A list of objects in a document."""

    pointer: str
    names: frozenset[str]  #: names of the values in its first row
    size: int  #: length in bytes
    has_answers: bool

    @property
    def rank(self) -> tuple[bool, bool, int]:
        name = self.pointer.rpartition("/")[2]
        return self.has_answers, name in USUAL_NAMES, self.size

    def may_be_beside(self, other: _List) -> bool:
        """Return whether another list may also have rows: it has most of the names, or answers, or this list has none."""
        shared = self.names & other.names
        are_alike = len(shared) * 2 >= max(len(self.names), len(other.names))
        return are_alike or other.has_answers or not self.has_answers


class _Search:
    """A search for the list of rows in a document."""

    def __init__(self, read: Callable[[int], bytes]) -> None:
        self._read = read
        self._left = _SEARCHED_BYTES
        self._has_list = False
        self.pointer: str | None = None  #: JSON Pointer to the best list so far
        self.is_over = False  #: True if no other list can be better
        self._best: _List | None = None
        self._lists: list[_List] = []
        self._columns: list[str] | None = None  # names of the values, for rows that are lists

    def read(self, size: int) -> bytes:
        """Read on; return nothing if enough has been searched."""
        if self._left <= 0 and self._has_list:
            return b""
        data = self._read(size)
        self._left -= len(data)
        return data

    def look_into(self, scanner: JsonScanner, keys: list[str]) -> None:
        """Look for lists of objects in the next value, which is at a path of keys."""
        first = scanner.peek()
        if first == b"[":
            self._look_at_list(scanner, keys)
        elif first == b"{" and len(keys) < _DEPTH_LOOKED_AT - 1:
            for name in scanner.members():
                if name == COLUMNS and not keys:
                    self._columns = names_in(scanner.cut(COLUMNS_BYTES))
                elif name is None:
                    scanner.skip()
                else:
                    self.look_into(scanner, [*keys, name])
                if self.is_over:
                    return
        else:
            scanner.skip()

    def _look_at_list(self, scanner: JsonScanner, keys: list[str]) -> None:
        start = scanner.offset
        for count, _ in enumerate(scanner.items(), 1):
            first = scanner.peek()
            if first == b"{":
                self._look_at_rows(scanner, keys, start)
                return
            if first == b"[" and self._columns and keys in _TABLES:
                self._end_at(keys)
                return
            scanner.skip()
            if count == _ITEMS_LOOKED_AT:
                scanner.skip_rest()
                return

    def _look_at_rows(self, scanner: JsonScanner, keys: list[str], start: int) -> None:
        first = _decoded(scanner.cut(_ROW_BYTES)) if keys else {}
        if not keys or self._are_known(first, keys):
            self._end_at(keys)
            return
        self._has_list = True
        try:
            scanner.skip_rest()
        finally:  # a list that is cut off has rows, too
            size, has_answers = scanner.offset - start, self._answers_in(first)
            self._add(
                _List(
                    pointer_of(keys), frozenset(islice(first, _NAMES_COMPARED)), size, has_answers
                )
            )

    def _answers_in(self, row: dict[str, Any]) -> bool:
        """Return whether a row has both answers, by their names; only the first lists of a document are searched."""
        from weighbridge_producer.input.proposals.mapping_proposals import propose

        found = propose([row], _ANSWERS) if row and len(self._lists) < _LISTS_LOOKED_AT else None
        return found is not None and {*_ANSWERS} <= found.fields.keys() - {*found.guessed}

    def _add(self, found: _List) -> None:
        if len(self._lists) < _LISTS_KEPT:
            self._lists.append(found)
        if self._best is None or found.rank > self._best.rank:
            self._best, self.pointer = found, found.pointer

    def lists(self) -> ListsOfRows:
        """Return the best list, and those that may be rows as well."""
        best = self._best
        if best is None:
            return ListsOfRows(None)
        others = (each for each in self._lists if each.pointer != best.pointer)
        return ListsOfRows(best.pointer, tuple(e.pointer for e in others if best.may_be_beside(e)))

    def _are_known(self, row: dict[str, Any], keys: list[str]) -> bool:
        """Return whether rows have a known shape, by the first row and the place of their list."""
        from weighbridge_producer.input.mapping.known_datasets import shape_of

        shape = shape_of([row]) if row else None
        return shape is not None and pointer_of(keys) in {shape.rows, shape.more_rows}

    def _end_at(self, keys: list[str]) -> None:
        self.pointer, self.is_over = pointer_of(keys), True
