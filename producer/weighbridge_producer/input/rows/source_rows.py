"""Rows: the records of a table or JSON document, to be converted to cases by a mapping."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import orjson

from weighbridge.errors import Fault, InputError
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge_producer.input.files.decompress import DAMAGE, ExpansionError
from weighbridge_producer.input.files.lines import bomb_fault, damage_fault

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from weighbridge.settings import Settings


class SourceRow(msgspec.Struct, gc=False):
    """One row of input, or a fault in its place."""

    number: int  #: number of the row's first line or, in formats without lines, of the row; from 1
    values: dict[str, Any]
    fault: Fault | None = None
    size: int = 0  #: number of bytes of input
    #: Fault of a number in the row; it counts if an ID or an input uses the number.
    doubt: Fault | None = None
    #: Such faults of joined rows, by the name of the joined file.
    joined_doubts: dict[str, Fault] | None = None
    place: int = 0  #: number of the row among the file's rows with a value, from 1, in all formats


class LeftOut(NamedTuple):
    """Functions to call for each row of a table that is not a case."""

    blanks: Callable[[], None] = lambda: None  #: called for a row without any value
    #: Called for a repeated header, such as that of an appended file.
    headers: Callable[[], None] = lambda: None


UNCOUNTED = LeftOut()


class RowError(Exception):
    """Error for a file whose rest cannot be read as rows."""

    def __init__(self, fault: Fault, number: int) -> None:
        super().__init__(fault.message)
        self.fault = fault
        self.number = number


def invalid_row(message: str, hint: str) -> Fault:
    """Return the fault for a row that cannot be converted to a case."""
    return Fault(ErrorCode.INVALID_ROW, message, hint)


def until_damage(
    rows: Iterable[SourceRow], settings: Settings, name: str = ""
) -> Iterator[SourceRow]:
    """Yield rows with their places; if the input is damaged, the last row is a fault with the reason.

    An InputError gets the name of the file, if given.
    """
    number = 0
    try:
        for place, row in enumerate(rows, 1):
            number = row.number
            row.place = place
            yield row
    except InputError as error:
        if not name or repr(name) in error.message:
            raise
        raise type(error)(f"{name}: {error.message}", error.hint) from None
    except RowError as error:
        yield SourceRow(max(error.number, number + 1), {}, error.fault)
    except ExpansionError:
        yield SourceRow(number + 1, {}, bomb_fault(settings.expansion_limit))
    except DAMAGE as error:
        yield SourceRow(number + 1, {}, damage_fault(error))


def plain_value(value: object) -> object:
    """Convert a value that JSON lacks, such as a decimal, bytes or a duration."""
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            raise TypeError("the row has bytes that are not text") from None
    return str(value)


def excerpt_of(values: object, most: int = 200) -> str:
    """Return the beginning of a row's values as JSON, or if JSON lacks some of them, as Python prints them."""
    try:
        return orjson.dumps(values, plain_value).decode()[:most]
    except TypeError:
        return repr(values)[:most]
