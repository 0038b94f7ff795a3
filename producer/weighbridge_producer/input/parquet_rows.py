"""Rows of Parquet files, read batch by batch; requires the optional pyarrow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, BinaryIO

from weighbridge.errors import Fault, InputError
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge.settings import MIB
from weighbridge_producer.input.rows import RowError, SourceRow
from weighbridge_producer.input.temporary import seekable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_BATCH_BYTES = 4 * MIB
_BATCH_ROWS = 1_000


def parquet_rows(stream: BinaryIO, columns: Sequence[str] | None = None) -> Iterator[SourceRow]:
    """Yield the rows of a Parquet file, with all or given columns; nested values become objects and lists."""
    pyarrow, parquet = _pyarrow()
    number = 0
    with seekable(stream) as file:
        try:
            table = parquet.ParquetFile(file, pre_buffer=False, buffer_size=MIB)
            batch_rows = _rows_at_once(table.metadata)
            wanted = (
                None if columns is None else [c for c in columns if c in table.schema_arrow.names]
            )
            for batch in table.iter_batches(batch_rows, columns=wanted, use_threads=False):
                for values in batch.to_pylist():
                    number += 1
                    yield SourceRow(number, values)
        except (pyarrow.ArrowException, OSError, ValueError) as error:
            fault = Fault(
                ErrorCode.INPUT_TRUNCATED,
                f"the Parquet file is damaged: {str(error).splitlines()[0][:200]}",
                "create the file again",
            )
            raise RowError(fault, number + 1) from None


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise InputError(
            "reading Parquet needs pyarrow, which is not installed",
            "pip install 'weighbridge[parquet]'",
        ) from None
    return pa, parquet


def _rows_at_once(metadata: Any) -> int:
    """Return the number of rows that take a few megabytes."""
    size = max(
        (metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups)), default=0
    )
    rows = max((metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)), default=1)
    return int(max(1, min(_BATCH_ROWS, _BATCH_BYTES * rows // max(size, 1))))
