"""Rows of Parquet files, read batch by batch; requires the optional pyarrow."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, BinaryIO

from weighbridge.errors import Fault, InputError
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge.settings import MIB
from weighbridge_producer.input.rows.arrow_maps import rows_of
from weighbridge_producer.input.rows.arrow_rows import is_null
from weighbridge_producer.input.rows.source_rows import RowError, SourceRow
from weighbridge_producer.input.temporary import seekable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_BATCH_BYTES = 4 * MIB
_BATCH_ROWS = 1_000


def parquet_rows(
    stream: BinaryIO,
    columns: Sequence[str] | None = None,
    on_blank: Callable[[], None] = lambda: None,
) -> Iterator[SourceRow]:
    """Yield the rows of a Parquet file, with all or given columns; nested values and maps become objects and lists.

    Rows whose columns are all null are left out, and `on_blank` is called for each.
    """
    pyarrow, parquet = _pyarrow()
    number = 0
    with seekable(stream) as file:
        try:
            table = parquet.ParquetFile(file, pre_buffer=False, buffer_size=MIB)
            batch_rows = _rows_at_once(table.metadata)
            wanted = (
                None if columns is None else [c for c in columns if c in table.schema_arrow.names]
            )
            rest = _NullRows(table, batch_rows, wanted or [])
            for batch in table.iter_batches(batch_rows, columns=wanted, use_threads=False):
                for values in rows_of(batch):
                    number += 1
                    if is_null(values) and (wanted is None or rest.has(number)):
                        on_blank()
                    else:
                        yield SourceRow(number, values)
        except (pyarrow.ArrowException, OSError, ValueError) as error:
            fault = Fault(
                ErrorCode.INPUT_TRUNCATED,
                f"the Parquet file is damaged: {str(error).splitlines()[0][:200]}",
                "create the file again",
            )
            raise RowError(fault, number + 1) from None


class _NullRows:
    """The rows that are null in all columns that are not read; these columns are read only when a row is asked for."""

    def __init__(self, table: Any, batch_rows: int, columns: Sequence[str]) -> None:
        others = [name for name in table.schema_arrow.names if name not in columns]
        batches = (batch.to_pylist() for batch in table.iter_batches(batch_rows, columns=others))
        self._flags = (is_null(values) for batch in batches for values in batch)
        self._read = 0

    def has(self, number: int) -> bool:
        """Return whether the row with this number, above all asked for before, is one of them."""
        skipped, self._read = number - self._read - 1, number
        return next(islice(self._flags, skipped, None), True)


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
