"""The search for the list of rows in a JSON document."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

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

_DEPTH_LOOKED_AT = 4  #: levels of a document that are searched for its list of rows
_ITEMS_LOOKED_AT = 100  #: of a list, to find an object
_SEARCHED_BYTES = 32 * MIB  #: at the beginning of a document with lists of objects
_ROW_BYTES = 32 * MIB  #: of a row whose shape is looked at
#: Names of lists of rows. Other lists describe columns (Hugging Face), or plans and scores (Inspect).
USUAL_NAMES = frozenset(
    {"rows", "data", "results", "samples", "examples", "records", "items", "instances", "cases"}
)
_TABLES = (["data"], ["rows"])  #: where such tables have their rows, which are lists


def rows_pointer(read: Callable[[int], bytes], *, only_known: bool = False) -> str | None:
    """Return the JSON Pointer to the list of rows in a document; None if there is none, or none that is of a known shape.

    It is the list of a known shape, or else the longest list of objects, those with usual names first. The search ends
    where the rows of a known shape begin, or after 32 MiB if there has been a list of objects.

    `only_known` restricts it to lists of a known shape, because the document may be a row itself.
    """
    search = _Search(read)
    with suppress(ScanError, ExpansionError, *DAMAGE):  # reading the document reports the error
        search.look_into(JsonScanner(search.read, depth_limit=None), [])
    return None if only_known and not search.is_over else search.pointer


def has_all_rows(read: Callable[[int], bytes], pointer: str) -> bool:
    """Return whether the list at a JSON Pointer ends in this part of a document."""
    with suppress(ScanError, ExpansionError, *DAMAGE):
        scanner = JsonScanner(read, depth_limit=None)
        step_into(scanner, keys_of(pointer))
        scanner.skip()
        return True
    return False


class _Search:
    """A search for the list of rows in a document."""

    def __init__(self, read: Callable[[int], bytes]) -> None:
        self._read = read
        self._left = _SEARCHED_BYTES
        self._has_list = False
        self.pointer: str | None = None  #: of the best list so far
        self.is_over = False  #: True if no other list can be better
        self._rank = (False, 0)  # of that list: whether its name is usual, and its bytes
        self._columns: list[str] | None = None  # names of the values of rows that are lists

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
        if not keys or self._are_known(scanner.cut(_ROW_BYTES), keys):
            self._end_at(keys)
            return
        self._has_list = True
        try:
            scanner.skip_rest()
        finally:  # a list that is cut off has rows too
            rank = (keys[-1] in USUAL_NAMES, scanner.offset - start)
            if rank > self._rank:
                self._rank, self.pointer = rank, pointer_of(keys)

    def _are_known(self, first: bytes | None, keys: list[str]) -> bool:
        """Return whether rows are of a known shape, by the first of them and the place of their list."""
        from weighbridge_producer.input.mapping.known_datasets import shape_of

        try:
            shape = shape_of([decode_line(first or b"")])
        except LineError:
            return False
        return shape is not None and shape.rows == pointer_of(keys)

    def _end_at(self, keys: list[str]) -> None:
        self.pointer, self.is_over = pointer_of(keys), True
