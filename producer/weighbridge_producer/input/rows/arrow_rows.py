"""Rows of Arrow files, as Hugging Face's `save_to_disk` writes them; requires the optional pyarrow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, BinaryIO

from weighbridge.errors import Fault, InputError
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge_producer.input.rows.arrow_values import Columns, is_null, rows_in
from weighbridge_producer.input.rows.source_rows import RowError, SourceRow
from weighbridge_producer.input.temporary import seekable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


def arrow_rows(
    stream: BinaryIO,
    columns: Sequence[str] | None = None,
    on_blank: Callable[[], None] = lambda: None,
    *,
    has_index: bool = False,
) -> Iterator[SourceRow]:
    """Yield the rows of an Arrow stream or, if it has an index at its end, of an Arrow file, with all or given columns.

    Columns with the same name get numbers; nested values and maps become objects and lists. Rows whose columns are all null
    are left out, and `on_blank` is called for each.
    """
    pyarrow = _pyarrow()
    number = 0
    wanted: Columns | None = None
    try:
        for batch in _batches(pyarrow, stream, has_index=has_index):
            wanted = wanted or Columns(batch.schema.names, columns)
            index = -1
            for rows, fault in rows_in(batch, wanted):
                for values in rows:
                    index += 1
                    number += 1
                    is_blank = not fault and is_null(values)
                    if is_blank and not any(each[index].is_valid for each in batch):
                        on_blank()
                    else:
                        yield SourceRow(number, values, fault)
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        fault = Fault(
            ErrorCode.INPUT_TRUNCATED,
            f"the Arrow file is damaged: {str(error).splitlines()[0][:200]}",
            "create the file again",
        )
        raise RowError(fault, number + 1) from None


def _batches(pyarrow: Any, stream: BinaryIO, *, has_index: bool) -> Iterator[Any]:
    if not has_index:
        yield from pyarrow.ipc.open_stream(stream)
        return
    with seekable(stream) as file:
        table = pyarrow.ipc.open_file(file)
        for number in range(table.num_record_batches):
            yield table.get_batch(number)


def _pyarrow() -> Any:
    try:
        import pyarrow as pa
        import pyarrow.ipc
    except ImportError:
        raise InputError(
            "reading Arrow files needs pyarrow, which is not installed",
            "pip install 'weighbridge[parquet]'",
        ) from None
    return pa
