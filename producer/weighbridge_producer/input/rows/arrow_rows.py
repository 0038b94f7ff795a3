"""Rows of Arrow files, as Hugging Face's `save_to_disk` writes them; requires the optional pyarrow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, BinaryIO

from weighbridge.errors import Fault, InputError
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge_producer.input.rows.arrow_maps import rows_of
from weighbridge_producer.input.rows.source_rows import RowError, SourceRow
from weighbridge_producer.input.temporary import seekable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_ROWS_AT_ONCE = 200


def arrow_rows(
    stream: BinaryIO,
    columns: Sequence[str] | None = None,
    on_blank: Callable[[], None] = lambda: None,
    *,
    has_index: bool = False,
) -> Iterator[SourceRow]:
    """Yield the rows of an Arrow stream or, if it has an index at its end, of an Arrow file.

    With all or given columns; nested values and maps become objects and lists. Rows whose columns are all null are left out, and
    `on_blank` is called for each.
    """
    pyarrow = _pyarrow()
    number = 0
    try:
        for batch in _batches(pyarrow, stream, has_index=has_index):
            names = batch.schema.names
            wanted = names if columns is None else [name for name in names if name in columns]
            chosen = batch.select(wanted)
            for first in range(0, chosen.num_rows, _ROWS_AT_ONCE):
                rows = rows_of(chosen.slice(first, _ROWS_AT_ONCE))
                for index, values in enumerate(rows, first):
                    number += 1
                    if is_null(values) and is_null(batch.slice(index, 1).to_pylist()[0]):
                        on_blank()
                    else:
                        yield SourceRow(number, values)
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        fault = Fault(
            ErrorCode.INPUT_TRUNCATED,
            f"the Arrow file is damaged: {str(error).splitlines()[0][:200]}",
            "create the file again",
        )
        raise RowError(fault, number + 1) from None


def is_null(values: dict[str, Any]) -> bool:
    """Return whether all values of a row are null."""
    return all(value is None for value in values.values())


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
