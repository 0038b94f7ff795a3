"""Rows of a file after its first ones, which are read only if a mapping may be wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from weighbridge.settings import MIB
from weighbridge_producer.input.rows.row_formats import RowReader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from weighbridge.settings import Settings
    from weighbridge_producer.input.joins import Joins
    from weighbridge_producer.input.mapping.row_values import Row
    from weighbridge_producer.input.recognition import Opened

_ROWS = 10_000
_BYTES = 256 * MIB


@dataclass(slots=True)
class FurtherRows:
    """The rows of a file up to a limit; each iteration reads them again."""

    opened: Opened
    settings: Settings
    pointer: str = ""  #: JSON Pointer to the rows in a document
    joined: Joins | None = None
    read: int = 0  #: number of rows in the last iteration
    is_whole: bool = False  #: True if the last iteration reached the end of the file

    def __iter__(self) -> Iterator[Row]:
        """Yield the rows that can be read, with the fields of joined files."""
        self.read, self.is_whole = 0, False
        reader, size = RowReader(self.opened.name, self.settings, self.pointer), 0
        with self.opened.open() as stream:
            for row in reader.read(stream):
                self.read += 1
                size += row.size
                if not row.fault:
                    yield self.joined.of_first([row.values])[0] if self.joined else row.values
                if self.read >= _ROWS or size > _BYTES:
                    return
        self.is_whole = True

    def all_that(self, lack: Callable[[Row], bool]) -> str:
        """Return the subject of a sentence on rows that all lack something; empty if one of them has it."""
        if not all(map(lack, self)):
            return ""
        return "no row" if self.is_whole else f"none of the first {self.read:,} rows"
