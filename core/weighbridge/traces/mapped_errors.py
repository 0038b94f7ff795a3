"""Errors of traces that a mapping does not fit: what was found where, and what would work."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge.errors import TraceError
from weighbridge.traces.mapped_types import NOTHING, OTHERWISE, SKIP, word_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_SHOWN = 40  #: characters of a word
_KINDS = {dict: "an object", list: "an array", str: "a text", bool: "a boolean"}


def no_steps(pointer: str, found: Any) -> TraceError:
    """Return the error for a trace without an array at the pointer of the steps, where something else may be."""
    what = "" if found is None else f", but {_KINDS.get(type(found), 'a number')}"
    return TraceError(
        f"there is no array of steps at {pointer!r}{what}", how_to_point("steps", pointer)
    )


def how_to_point(name: str, pointer: str) -> str:
    """Return what the pointer to the array of steps or traces may be, as a hint."""
    only = " only" if "*" in pointer.split("/")[:-1] else ""
    return (
        f"correct `{name}` in the trace mapping: the JSON Pointer of an array, or, with /* at its end{only}, of an object whose"
        f" values are the {name}"
    )


def no_type(step: int, pointers: Sequence[str]) -> TraceError:
    """Return the error for a step without a word at any of the pointers of its type."""
    named = " or ".join(map(repr, pointers)) or "''"
    return _of_step(
        step,
        f"step {step} has nothing at {named}, the pointer of step.type",
        f'correct the pointer, or write `"{NOTHING}": {SKIP}` in step.types to leave out such steps, or `"{NOTHING}": other`',
    )


def unknown_type(step: int, word: Any, pointers: Sequence[str]) -> TraceError:
    """Return the error for a step whose word is not in the mapping."""
    text = word_text(word)
    shown = repr(str(word if text is None else text)[:_SHOWN])
    named = " or ".join(map(repr, filter(None, pointers)))
    at = f" at {named}" if named else ""
    key = OTHERWISE if text is None else text[:_SHOWN]
    return _of_step(
        step,
        f"step {step} has the type {shown}{at}, which is not in the mapping",
        f'write `"{key}": other` in step.types, or `"{key}": {SKIP}` to leave out such steps;'
        f' `"{OTHERWISE}": other` is for all words that are not listed',
    )


def wrong_field(
    error: TraceError, origins: Sequence[tuple[int, str]], pointers: Mapping[str, str]
) -> TraceError:
    """Return the error of the native form in terms of the mapping and of the steps of the source.

    `origins` has for each native step the number of the step in the source, and the section of the mapping that made it.
    """
    if error.path is None:
        return error
    step, section = (None, "") if error.step is None else origins[error.step - 1]
    names = (f"{section}.{error.path}", f"results.{error.path}") if section else (error.path,)
    found = [(name, at) for name in names for each, at in pointers.items() if _is_of(each, name)]
    name = found[0][0] if found else names[0]
    at = " or ".join(repr(at) for each, at in found if each == name)
    what = f"{error.path} must {error.message.partition(' must ')[2]}"
    return _of_step(
        step,
        f"{'the trace' if step is None else f'step {step}'}: {what}{at and f', at {at}'}",
        f"point {name} of the trace mapping to such a value, or leave it out of the mapping",
    )


def _is_of(pointer: str, name: str) -> bool:
    """Return whether a pointer, given by its name, is one of a field or of a part of it."""
    return pointer == name or pointer.startswith(f"{name}.")


def _of_step(step: int | None, message: str, hint: str) -> TraceError:
    error = TraceError(message, hint)
    error.step = step
    return error
