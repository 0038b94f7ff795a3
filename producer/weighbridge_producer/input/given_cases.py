"""Refusal of what is given as cases and is none, before anything is opened for it."""

from __future__ import annotations

from collections.abc import AsyncIterable, Iterable, Mapping

from weighbridge.errors import InputError

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
