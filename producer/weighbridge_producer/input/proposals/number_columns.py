"""Columns of numbers and booleans, which beside texts are judgements or measurements of them and no answers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

_NUMBER = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?").fullmatch
_BOOLEANS = frozenset({"true", "false", "yes", "no"})


def are_numbers(values: Iterable[Any]) -> bool:
    """Return whether there are values, all of them numbers or texts that are numbers."""
    present = _present(values)
    return bool(present) and all(map(is_number, present))


def are_numbers_or_booleans(values: Iterable[Any]) -> bool:
    """Return whether all values are numbers or booleans, also as texts."""
    return all(is_number(value) or _is_boolean(value) for value in _present(values))


def are_fractions(values: Iterable[Any]) -> bool:
    """Return whether all values are numbers, and one of them is not whole."""
    present = _present(values)
    return are_numbers(present) and not all(float(value).is_integer() for value in present)


def are_shares(values: Iterable[Any]) -> bool:
    """Return whether all values are numbers from 0.0 to 1.0, written with a decimal point."""
    present = _present(values)
    return are_numbers(present) and all(
        "." in str(value) and 0 <= float(value) <= 1 for value in present
    )


def is_number(value: Any) -> bool:
    """Return whether a value is a number, or a text that is one."""
    if isinstance(value, str):
        return _NUMBER(value.strip()) is not None
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_boolean(value: Any) -> bool:
    is_word = isinstance(value, str) and value.strip().casefold() in _BOOLEANS
    return isinstance(value, bool) or is_word


def _present(values: Iterable[Any]) -> list[Any]:
    return [value for value in values if value is not None and value != ""]
