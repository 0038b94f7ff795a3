"""Rows of an input's files after the first ones, which are read only if a mapping may be wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from weighbridge.settings import MIB
from weighbridge_producer.input.mapping.list_entries import present_entries
from weighbridge_producer.input.rows.row_formats import RowReader

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from weighbridge.settings import Settings
    from weighbridge_producer.input.first_rows import Opened
    from weighbridge_producer.input.joins import Joins
    from weighbridge_producer.input.mapping.row_values import Path, Row

_ROWS = 10_000  #: of all files together, each of which may have the same share
_BYTES = 256 * MIB


@dataclass(slots=True)
class FurtherRows:
    """The rows of files up to a limit; each iteration reads them again."""

    files: Sequence[Opened]
    settings: Settings
    pointer: str = ""  #: JSON Pointer to the rows in a document
    joined: Joins | None = None
    added: Collection[str] = ()  #: what is added to the rows, as by the mapping
    each: Path | None = None  #: the list in a row whose entries are the rows
    most: int = 0  #: number of rows read from a file in the last iteration, at most
    is_whole: bool = False  #: True if the last iteration reached the end of each file

    def __iter__(self) -> Iterator[Row]:
        """Yield the rows that can be read, with the fields of joined files."""
        self.most, self.is_whole = 0, True
        for opened in self.files[:_ROWS]:
            yield from self._rows_of(opened)
        self.is_whole = self.is_whole and len(self.files) <= _ROWS

    def _rows_of(self, opened: Opened) -> Iterator[Row]:
        most_rows = max(1, _ROWS // len(self.files))
        most_bytes = _BYTES // len(self.files)
        reader = RowReader(
            *(opened.name, self.settings, self.pointer), added=self.added, form=opened.form
        )
        size = 0
        with opened.open() as stream:
            for read, row in enumerate(reader.read(stream), 1):
                self.most = max(read, self.most)
                size += row.size
                if not row.fault:
                    found = present_entries(row.values, self.each)
                    yield from self.joined.of_first(list(found)) if self.joined else found
                if read >= most_rows or size > most_bytes:
                    self.is_whole = False
                    return

    def all_that(self, lack: Callable[[Row], bool]) -> str:
        """Return the subject of a sentence on rows that all lack something; empty if one of them has it."""
        if not all(map(lack, self)):
            return ""
        of_each = " of each file" if len(self.files) > 1 else ""
        return "no row" if self.is_whole else f"none of the first {self.most:,} rows{of_each}"
