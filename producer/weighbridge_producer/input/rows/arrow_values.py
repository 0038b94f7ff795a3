"""Conversion of the values of Arrow tables to Python values, a bounded number of bytes at a time."""

from __future__ import annotations

import datetime as dt
from collections import deque
from typing import TYPE_CHECKING, Any

from weighbridge.errors import Fault
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge.settings import MIB
from weighbridge_producer.input.rows.arrow_maps import conversion_of
from weighbridge_producer.input.rows.csv_tables import told_apart

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_ROWS_AT_ONCE = 500
_BYTES_AT_ONCE = 4 * MIB
_ROW_BYTES = 256 * MIB
#: Exceptions of pyarrow for dates that Python lacks, nanoseconds, unknown zones and fields with the same name.
_NOT_IN_PYTHON = (ArithmeticError, LookupError, ValueError)
_DIGITS = {"s": 0, "ms": 3, "us": 6, "ns": 9}
_DAY_SECONDS = 86_400
_DAYS_OF_400_YEARS = 146_097  #: number of days after which the calendar repeats
_EPOCH = dt.date(1970, 1, 1).toordinal()


class Columns:
    """The wanted columns of a table; columns with the same name get a number after the name."""

    def __init__(self, names: Sequence[str], wanted: Sequence[str] | None) -> None:
        #: Names of columns with their numbers, by the name in the file.
        shown: dict[str, list[str]] = {}
        for name, own in zip(names, told_apart(list(names)), strict=True):
            shown.setdefault(name, []).append(own)
        self._shown = shown
        self._wanted = None if wanted is None else frozenset(wanted)
        #: Names in the file of the columns that have to be read.
        self.read = [name for name, own in shown.items() if any(map(self._is_wanted, own))]

    def of(self, batch: Any) -> tuple[Any, list[str]]:
        """Return the wanted columns of a record batch, and their names."""
        left = {name: iter(own) for name, own in self._shown.items()}
        names = [next(left[name]) for name in batch.schema.names]
        places = [place for place, name in enumerate(names) if self._is_wanted(name)]
        return batch.select(places), [names[place] for place in places]

    def _is_wanted(self, name: str) -> bool:
        return self._wanted is None or name in self._wanted


def is_null(values: dict[str, Any]) -> bool:
    """Return whether all values of a row are null."""
    return all(value is None for value in values.values())


def rows_in(batch: Any, wanted: Columns) -> Iterator[tuple[list[dict[str, Any]], Fault | None]]:
    """Yield the rows of a record batch, some at a time, with the wanted columns; a row that is too long becomes a fault."""
    batch, names = wanted.of(batch)
    conversions = [conversion_of(kind) for kind in batch.schema.types]
    kinds = list(map(_written_out, batch.schema.types))
    for first in range(0, batch.num_rows, _ROWS_AT_ONCE):
        parts = deque([batch.slice(first, _ROWS_AT_ONCE)])
        while parts:
            part = parts.popleft()
            size = sum(map(_bytes_in, part.columns))
            if size > _BYTES_AT_ONCE and part.num_rows > 1:
                half = part.num_rows // 2
                parts.extendleft((part.slice(half), part.slice(0, half)))
            elif size > _ROW_BYTES:
                yield [{}], _long_row(size)
            else:
                plain = map(_cast, part.columns, kinds)
                columns = [
                    list(map(convert, _values(column))) if convert else _values(column)
                    for column, convert in zip(plain, conversions, strict=True)
                ]
                rows = zip(*columns, strict=True) if columns else [()] * part.num_rows
                yield [dict(zip(names, cells, strict=False)) for cells in rows], None


def _long_row(size: int) -> Fault:
    return Fault(
        ErrorCode.LINE_TOO_LONG,
        f"the row may take {size // MIB:,} MiB, at most {_ROW_BYTES // MIB} are allowed",
        "split the case",
    )


def _shares(kind: Any) -> bool:
    """Return whether values of a type may be stored once for many rows."""
    from pyarrow import types

    return (
        types.is_dictionary(kind)
        or types.is_run_end_encoded(kind)
        or types.is_string_view(kind)
        or types.is_binary_view(kind)
        or types.is_list_view(kind)
        or types.is_large_list_view(kind)
        or any(_shares(kind.field(n).type) for n in range(kind.num_fields))
        or (hasattr(kind, "storage_type") and _shares(kind.storage_type))
    )


def _written_out(kind: Any) -> Any:
    """Return a type with plain texts instead of dictionary texts; plain ones are converted to Python ten times as fast."""
    import pyarrow as pa
    from pyarrow import types

    if types.is_dictionary(kind):
        plain = kind.value_type
        is_text = types.is_string(plain) or types.is_binary(plain)
        return plain if is_text else kind
    if types.is_struct(kind):
        return pa.struct([_field_written_out(kind.field(n)) for n in range(kind.num_fields)])
    if types.is_map(kind):
        fields = map(_field_written_out, (kind.key_field, kind.item_field))
        return pa.map_(*fields, keys_sorted=kind.keys_sorted)
    return pa.list_(_field_written_out(kind.value_field)) if types.is_list(kind) else kind


def _field_written_out(field: Any) -> Any:
    return field.with_type(_written_out(field.type))


def _cast(column: Any, kind: Any) -> Any:
    import pyarrow as pa

    if column.type == kind:
        return column
    # A slice of a list array refers to the elements of all lists, which would all be cast.
    return pa.concat_arrays([column]).cast(kind)


def _bytes_in(array: Any) -> int:
    """Return the number of bytes of all values in an array if each is written out, or an upper bound."""
    from pyarrow import types

    kind = array.type
    if not len(array) or not _shares(kind):
        return int(array.nbytes)
    if types.is_dictionary(kind):
        return _bytes_of_shared(array.indices, array.dictionary)
    if types.is_string_view(kind) or types.is_binary_view(kind):
        # A view is four numbers of 32 bits; the first one is the length.
        views = memoryview(array.buffers()[1]).cast("b").cast("i")
        return sum(map(abs, views[4 * array.offset : 4 * (array.offset + len(array)) : 4]))
    if types.is_struct(kind):
        return sum(map(_bytes_in, array.flatten()))
    if types.is_map(kind):
        start, end = array.offsets[0].as_py(), array.offsets[-1].as_py()
        return sum(_bytes_in(each.slice(start, end - start)) for each in (array.keys, array.items))
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return _bytes_in(array.flatten())
    if types.is_list_view(kind) or types.is_large_list_view(kind):
        return _sum(array.sizes) * _most_bytes(array.values)
    if types.is_run_end_encoded(kind):
        return len(array) * _bytes_in(array.values)
    if hasattr(kind, "storage_type"):
        return _bytes_in(array.storage)
    return int(array.get_total_buffer_size()) * len(array)


def _bytes_of_shared(indices: Any, dictionary: Any) -> int:
    from pyarrow import compute, types

    used = indices.unique()
    taken = dictionary.take(used)
    if not (types.is_string(taken.type) or types.is_binary(taken.type)):
        return len(indices) * _bytes_in(taken)
    return _sum(compute.binary_length(taken).take(compute.index_in(indices, used)))


def _most_bytes(array: Any) -> int:
    """Return an upper bound of the number of bytes of one value in an array."""
    from pyarrow import types

    is_number = types.is_primitive(array.type)
    return (array.type.bit_width + 7) // 8 if is_number else _bytes_in(array)


def _sum(numbers: Any) -> int:
    from pyarrow import compute

    return compute.sum(numbers).as_py() or 0


def _values(column: Any) -> list[Any]:
    """Return the values of a column; dates and times that Python cannot represent become texts."""
    from pyarrow import types

    kind = column.type
    try:
        if types.is_timestamp(kind) and kind.unit == "ns":
            # For nanoseconds, pyarrow raises an error without pandas, and returns pandas' values with it.
            return list(_microseconds(column).to_pylist())
        return list(column.to_pylist())
    except _NOT_IN_PYTHON:
        return [_value(scalar) for scalar in column]


def _microseconds(column: Any) -> Any:
    import pyarrow as pa

    return column.cast(pa.timestamp("us", column.type.tz))


def _value(scalar: Any) -> Any:
    """Return a value; dates and times in it that Python cannot represent become texts."""
    from pyarrow import types

    kind = scalar.type
    try:
        return scalar.as_py()
    except _NOT_IN_PYTHON:
        if types.is_struct(kind):
            names = told_apart([kind.field(n).name for n in range(kind.num_fields)])
            return {name: _value(scalar[n]) for n, name in enumerate(names)}
        if types.is_map(kind):
            return [(_value(pair[0]), _value(pair[1])) for pair in scalar.values]
        if hasattr(scalar, "values"):
            return [_value(each) for each in scalar.values]
        if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
            return scalar.as_buffer().to_pybytes()
        if (
            types.is_dictionary(kind)
            or types.is_run_end_encoded(kind)
            or hasattr(kind, "storage_type")
        ):
            return _value(scalar.value)
        if types.is_temporal(kind):
            return _time_text(kind, scalar.value)
        raise


def _time_text(kind: Any, number: int) -> str:
    """Return a date, time, timestamp or duration in the form of ISO 8601, with all its digits."""
    from pyarrow import types

    if types.is_date32(kind):
        return _date_text(number)
    digits = _DIGITS["ms" if types.is_date64(kind) else kind.unit]
    seconds, part = divmod(abs(number) if types.is_duration(kind) else number, 10**digits)
    fraction = f".{part:0{digits}}" * bool(part)
    if types.is_duration(kind):
        return f"{'-' * (number < 0)}PT{seconds}{fraction}S"
    days, second = divmod(seconds, _DAY_SECONDS)
    clock = f"{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}{fraction}"
    if types.is_date64(kind):
        return _date_text(days)
    if types.is_time(kind):
        return clock if not days else f"PT{seconds}{fraction}S"
    return f"{_date_text(days)}T{clock}{'Z' * bool(kind.tz)}"


def _date_text(days: int) -> str:
    """Return the date that many days after the epoch; a year without exactly four digits gets a sign."""
    cycles, day = divmod(days + _EPOCH - 1, _DAYS_OF_400_YEARS)
    date = dt.date.fromordinal(day + 1)
    year = date.year + 400 * cycles
    return f"{year:04}{date:-%m-%d}" if 0 <= year <= 9999 else f"{year:+05}{date:-%m-%d}"
