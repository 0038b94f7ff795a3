"""Parquet files of which only the beginning and the end have arrived, for a preview of the first rows."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from weighbridge.settings import MIB
from weighbridge_producer.input.rows.row_formats import RowFormat, table_format

if TYPE_CHECKING:
    from collections.abc import Mapping

HEAD_BYTES = 4 * MIB  #: at the beginning of a file; usually contains the first row group
#: at the end of a file; contains the footer with the schema and the places of the columns
END_BYTES = MIB
_DEPTH = 6


def is_parquet_name(name: str) -> bool:
    """Return whether a file name is that of a Parquet file."""
    return table_format(name) is RowFormat.PARQUET


class ParquetParts(io.BytesIO):
    """A seekable file of `size` bytes with its first `HEAD_BYTES` and its end; reading between them raises OSError."""

    def __init__(self, content: bytes, size: int, name: str) -> None:
        super().__init__(content)
        self.name = name
        self._size = size
        self._gap = max(0, size - len(content))  #: bytes that are missing after the head
        self._head = HEAD_BYTES if self._gap else len(content)
        self._at = 0

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Set the position in the whole file."""
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        self._at = max(0, start + offset)
        return self._at

    def tell(self) -> int:
        """Return the position in the whole file."""
        return self._at

    def read(self, size: int | None = -1) -> bytes:
        """Return bytes from the position; raises OSError if they have not arrived."""
        end = self._size if size is None or size < 0 else min(self._at + size, self._size)
        start, self._at = self._at, max(self._at, end)
        if start >= end:
            return b""
        if self._gap and start < self._head + self._gap and end > self._head:
            raise OSError("this part of the file has not arrived")
        moved = self._gap if start >= self._head else 0
        super().seek(start - moved)
        return super().read(end - start)

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer from the position."""
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    read1 = read


def row_of_schema(stream: io.BytesIO) -> dict[str, Any] | None:
    """Return a row with a placeholder for each column, from a Parquet file's footer; None if it cannot be read."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        schema = parquet.ParquetFile(stream).schema_arrow
    except (pa.ArrowException, OSError, ValueError):
        return None
    return {field.name: _placeholder(field.type, 1) for field in schema}


def _placeholder(kind: Any, depth: int) -> Any:
    from pyarrow import types

    if depth < _DEPTH and types.is_struct(kind):
        fields: Mapping[str, Any] = {field.name: field.type for field in kind}
        return {name: _placeholder(inner, depth + 1) for name, inner in fields.items()}
    if depth < _DEPTH and (types.is_list(kind) or types.is_large_list(kind)):
        return [_placeholder(kind.value_type, depth + 1)]
    return 0 if types.is_integer(kind) else "-"
