"""Rows that are given as Python objects, to be converted to cases by a mapping as those of a file are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from weighbridge_producer.input.rows.source_rows import SourceRow, invalid_row

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


class GivenRows:
    """A reader of mappings, each of which is a row."""

    layout = None  #: of files only

    def __init__(self, rows: Iterable[Any], name: str) -> None:
        self._rows = rows
        self.name = name

    def read(
        self, _stream: object = None, _columns: Sequence[str] | None = None
    ) -> Iterator[SourceRow]:
        """Yield the rows; a fault for an object that is none."""
        for number, row in enumerate(self._rows, 1):
            if isinstance(row, Mapping):
                yield SourceRow(number, dict(row), place=number)
            else:
                fault = invalid_row(f"the row is of the type {type(row).__name__}", "give a dict")
                yield SourceRow(number, {}, fault, place=number)
