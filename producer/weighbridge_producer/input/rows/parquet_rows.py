"""Rows of Parquet files, read batch by batch; requires the optional pyarrow."""

from __future__ import annotations

from functools import cached_property, partial
from itertools import accumulate, islice
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from weighbridge.errors import Fault, InputError
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge.settings import KIB, MIB, Settings
from weighbridge_producer.input.files.decompress import ExpansionError, check_expansion
from weighbridge_producer.input.files.lines import bomb_fault
from weighbridge_producer.input.rows.arrow_values import Columns, is_null, rows_in
from weighbridge_producer.input.rows.dictionary_pages import longest_value
from weighbridge_producer.input.rows.source_rows import RowError, SourceRow
from weighbridge_producer.input.temporary import seekable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_BATCH_BYTES = 4 * MIB  #: maximum encoded size of a batch
_DECODED_BYTES = 16 * MIB  #: maximum size of a batch if all values were as long as the longest
_UNCHECKED_BYTES = 64 * MIB  #: size up to which a column in a row group may expand without a check
_BATCH_ROWS = 500
_EXPANSION_LIMIT: int = Settings.model_fields["expansion_limit"].default
_NUMBER_BYTES = 8
_REFERENCE_BYTES = 4
#: Size up to which a column's dictionary is not searched for the longest value.
_SHORT_BYTES = 16 * KIB


def parquet_rows(
    stream: BinaryIO,
    columns: Sequence[str] | None = None,
    on_blank: Callable[[], None] = lambda: None,
    expansion_limit: int = _EXPANSION_LIMIT,
) -> Iterator[SourceRow]:
    """Yield the rows of a Parquet file, with all or given columns; nested values and maps become objects and lists.

    Columns with the same name get numbers. Rows whose columns are all null are left out; `on_blank` is called for each.
    """
    pyarrow, parquet = _pyarrow()
    number = 0
    with seekable(stream) as file:
        try:
            table = _Table(pyarrow, parquet, file, expansion_limit)
            wanted = Columns(table.names, columns)
            rest = _NullRows(table, wanted.read)
            for batch in table.batches(wanted.read):
                for rows, fault in rows_in(batch, wanted):
                    for values in rows:
                        number += 1
                        if not fault and is_null(values) and rest.has(number):
                            on_blank()
                        else:
                            yield SourceRow(number, values, fault)
        except ExpansionError:
            raise RowError(bomb_fault(expansion_limit), number + 1) from None
        except (pyarrow.ArrowException, OSError, ValueError) as error:
            fault = Fault(
                ErrorCode.INPUT_TRUNCATED,
                f"the Parquet file is damaged: {str(error).splitlines()[0][:200]}",
                "create the file again",
            )
            raise RowError(fault, number + 1) from None


class _Table:
    """A Parquet file, read a few rows at a time: so few that they fit into memory even if all have the maximum length."""

    def __init__(self, pyarrow: Any, parquet: Any, file: BinaryIO, expansion_limit: int) -> None:
        self._pyarrow = pyarrow
        self._file = file
        self._open = partial(parquet.ParquetFile, file, pre_buffer=False, buffer_size=MIB)
        self._table = self._open()
        self._limit = expansion_limit
        self.names: list[str] = self._table.schema_arrow.names

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        """Yield record batches; raises ExpansionError for a decompression bomb."""
        leaves = self._leaves(set(columns))
        for number in range(self._table.num_row_groups):
            group = self._table.metadata.row_group(number)
            size = self._size(group, leaves)
            if size.texts > _UNCHECKED_BYTES and _have_dictionaries(group, leaves):
                table, rows = self._sharing, size.shared_rows_at_once
            else:
                table, rows = self._table, size.rows_at_once
            yield from table.iter_batches(
                rows, row_groups=[number], columns=columns, use_threads=False
            )

    @cached_property
    def _sharing(self) -> Any:
        """The file, opened so that texts that it stores once for several rows are not copied for each row."""
        leaves = self._leaves(set(self.names))
        return self._open(read_dictionary=[leaf.path for _, leaf in leaves if _is_text(leaf)])

    def _leaves(self, columns: set[str]) -> list[tuple[int, Any]]:
        """Return the stored columns with their numbers; a nested column is stored as several."""
        schema = self._table.schema
        found = ((number, schema.column(number)) for number in range(len(schema.names)))
        return [
            (number, leaf)
            for number, leaf in found
            if not columns.isdisjoint(accumulate(leaf.path.split("."), "{}.{}".format))
        ]

    def _size(self, group: Any, leaves: Sequence[tuple[int, Any]]) -> _Size:
        rows = max(group.num_rows, 1)
        encoded = packed = texts = references = others = 0
        for number, leaf in leaves:
            chunk = group.column(number)
            if chunk.total_uncompressed_size > _UNCHECKED_BYTES:
                check_expansion(
                    chunk.total_uncompressed_size, chunk.total_compressed_size, self._limit
                )
            encoded += chunk.total_uncompressed_size
            packed += chunk.total_compressed_size
            values = -(-chunk.num_values // rows) if leaf.max_repetition_level else 1
            longest = values * self._longest_value(chunk, leaf)
            if _is_text(leaf):
                texts += longest
                references += values * _REFERENCE_BYTES
            else:
                others += longest
        if texts + others > _UNCHECKED_BYTES:
            check_expansion(texts + others, packed, self._limit)
        return _Size(rows, encoded, texts, references, others)

    def _longest_value(self, chunk: Any, leaf: Any) -> int:
        """Return the length in bytes of the longest value that the column may repeat without storing it again."""
        if leaf.physical_type == "FIXED_LEN_BYTE_ARRAY":
            return int(leaf.length)
        if leaf.physical_type != "BYTE_ARRAY":
            return _NUMBER_BYTES
        size = int(chunk.total_uncompressed_size)
        if size < _SHORT_BYTES or "DELTA_BYTE_ARRAY" in chunk.encodings:
            return size
        return longest_value(self._file, chunk, self._pyarrow)


class _Size(NamedTuple):
    """Sizes in bytes: the encoded row group, and parts of a row whose values are all as long as the longest one."""

    rows: int
    encoded: int
    texts: int
    references: int  #: size of references to a dictionary, in place of the texts
    others: int

    @property
    def rows_at_once(self) -> int:
        """The number of rows that fit."""
        return min(_BATCH_ROWS, self._fitting(self.texts + self.others))

    @property
    def shared_rows_at_once(self) -> int:
        """The number of rows that fit if they share their texts; each batch gets a copy of these."""
        return self._fitting(self.references + self.others)

    def _fitting(self, longest: int) -> int:
        encoded = _BATCH_BYTES * self.rows // max(self.encoded, 1)
        return max(1, min(encoded, _DECODED_BYTES // max(longest, 1)))


def _is_text(leaf: Any) -> bool:
    kinds: tuple[str, str] = leaf.physical_type, leaf.logical_type.type
    return kinds in {("BYTE_ARRAY", "STRING"), ("BYTE_ARRAY", "NONE")}


def _have_dictionaries(group: Any, leaves: Sequence[tuple[int, Any]]) -> bool:
    """Return whether all texts of a row group are stored plainly or in dictionaries."""
    chunks = [group.column(number) for number, leaf in leaves if _is_text(leaf)]
    return not any(name.startswith("DELTA") for chunk in chunks for name in chunk.encodings)


class _NullRows:
    """The rows that are null in all unrequested columns; these columns are read only when `has` is called."""

    def __init__(self, table: _Table, columns: Sequence[str]) -> None:
        others = sorted(set(table.names).difference(columns))
        self._flags = (
            not any(valid)
            for batch in (table.batches(others) if others else ())
            for valid in zip(*(each.is_valid().to_pylist() for each in batch.columns), strict=True)
        )
        self._read = 0

    def has(self, number: int) -> bool:
        """Return whether the row with this number is one of them; numbers must increase from call to call."""
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
