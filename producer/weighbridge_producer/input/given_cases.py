"""What is given as cases: the rows of tables, several paths, and the refusal of what is none of these, before anything is opened for it."""

from __future__ import annotations

from collections.abc import AsyncIterable, Iterable, Mapping, Sequence
from contextlib import suppress
from math import isnan
from pathlib import Path
from typing import Any

from weighbridge.errors import InputError

_MISSING = ("NAType", "NaTType")  #: types of the values of pandas that stand for no value
_FORMS = "give a path, a binary stream, or an iterable of dicts or of lines as bytes"


def is_asynchronous(cases: object) -> bool:
    """Return whether cases can only be iterated over with `async for`."""
    return isinstance(cases, AsyncIterable) and not isinstance(cases, Iterable)


def check_given(cases: object) -> None:
    """Raise InputError for objects that Python can iterate over, but not by cases, and for those that it cannot."""
    kind = type(cases).__name__
    if isinstance(cases, Mapping):
        raise InputError(f"the cases are a single {kind}", "give a list of cases: [case]")
    if isinstance(cases, (bytes, bytearray, memoryview)):
        raise InputError(
            f"the cases are of the type {kind}",
            "give a stream, io.BytesIO(...), or a list of lines",
        )
    if is_asynchronous(cases):
        raise InputError(
            f"the cases are an asynchronous iterable, {kind}",
            "await AsyncClient.submit or AsyncBatch.fill, which take one, or give a list",
        )
    if not isinstance(cases, Iterable) and not hasattr(cases, "readline"):
        raise InputError(f"the cases are of the type {kind}", _FORMS)


def are_paths(cases: Sequence[Any]) -> bool:
    """Return whether a list has paths and not lines: Path objects, or texts of which the first is the path of a file or folder."""
    if not cases or not all(isinstance(case, (str, Path)) for case in cases):
        return False
    with suppress(OSError, ValueError):  # no path may be that long, or have such characters
        return all(isinstance(case, Path) for case in cases) or Path(cases[0]).exists()
    return False


def rows_of_table(cases: Any) -> list[dict[str, Any]] | None:
    """Return the rows of a data frame of pandas or polars, or of a table of Arrow, with None for missing values; None for others."""
    if not hasattr(cases, "columns"):
        return None
    if callable(to_dict := getattr(cases, "to_dict", None)) and hasattr(cases, "iloc"):
        rows = to_dict("records")
    elif to_rows := getattr(cases, "to_dicts", None) or getattr(cases, "to_pylist", None):
        rows = to_rows()
    else:
        return None
    return [{str(name): _plain(value) for name, value in row.items()} for row in rows]


def _plain(value: Any) -> Any:
    """Return a cell without what stands for a missing value, and without the types of NumPy."""
    if isnan(value) if isinstance(value, float) else type(value).__name__ in _MISSING:
        return None
    return value.tolist() if hasattr(value, "tolist") else value
