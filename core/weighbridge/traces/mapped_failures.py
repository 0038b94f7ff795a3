"""Failures of steps, calls and results in a mapped trace: an error that is recorded, or a value that shows one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_NO_ERRORS = frozenset({"", "0", "false", "none", "null"})  #: texts

FailingValues = dict[str, tuple[Any, ...]]
"""Values that show a failure, such as `false`, `timeout` or the beginning `Error*`, by the JSON Pointers of where they stand."""
_SHOWN = 200  #: characters of a text that is a failure by its beginning


def first_error(recorded: Iterable[Any]) -> str | bool | None:
    """Return the first of the values at the pointers of an error that is one, as a text or true.

    An exit code of 0, false, and an empty text, array or object are no errors, nor are texts that say so.
    """
    held = next(filter(_may_be_error, recorded), None)
    if held is None or held is True or isinstance(held, str):
        return held
    if isinstance(held, int | float):
        return f"code {held}"
    message = held.get("message") if isinstance(held, dict) else None
    if isinstance(message, str) and message:
        return message
    try:
        return json.dumps(held)
    except RecursionError:
        return True


def _may_be_error(held: Any) -> bool:
    return bool(held) and not (isinstance(held, str) and held.strip().lower() in _NO_ERRORS)


def shown_failure(found: Mapping[str, Any], failing: FailingValues) -> str | None:
    """Return the first value that shows a failure, in words such as `success: false`; `found` has the values at the pointers."""
    for pointer, values in failing.items():
        held = found.get(pointer)
        if any(_shows(held, value) for value in values):
            name = pointer.rpartition("/")[2] or "value"
            return f"{name}: {held[:_SHOWN] if isinstance(held, str) else json.dumps(held)}"
    return None


def _shows(held: Any, value: Any) -> bool:
    """Return whether a value is one that shows a failure, or a text with the beginning of one that ends with `*`."""
    if isinstance(value, str) and isinstance(held, str) and value.endswith("*") and value != "*":
        return held.startswith(value[:-1])
    return _are_equal(held, value)


def _are_equal(held: Any, value: Any) -> bool:
    # False equals 0 in Python, but is another value in JSON.
    return bool(held == value) and isinstance(held, bool) == isinstance(value, bool)
