"""What stands beside the steps of a run, and a draft does not read: answers of models, messages, numbers of tokens."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from weighbridge.traces.json_pointers import escaped
from weighbridge_producer.input.trace_drafts.fact_names import TOKEN_OBJECTS, normal
from weighbridge_producer.input.trace_drafts.observed import is_count

_DEPTH = 3
_RUNS = 50
_KEYS = 60
_LISTED = 4
_LOOKED_AT = 20
_TOKENS = TOKEN_OBJECTS | {"token"}
_CONTENTS = frozenset({"content", "tool_calls", "parts"})
_ROLES = frozenset({"assistant", "user", "system", "tool"})


def note_beside(owners: Sequence[Any], steps: str, read: Collection[str]) -> str:
    """Return a note on what the objects with the steps have elsewhere, except at pointers that are read; empty if nothing."""
    found: dict[str, str] = {}
    for owner in owners[:_RUNS]:
        if type(owner) is dict:
            found |= dict(_calls_in(owner, "", steps, _DEPTH))
    kept = [
        f"{pointer} ({what})"
        for pointer, what in found.items()
        if not any(f"{each}/".startswith(f"{pointer}/") for each in read)
    ]
    if not kept:
        return ""
    more = f", and {len(kept) - _LISTED:,} more" if len(kept) > _LISTED else ""
    return f"Beside the steps, and not read: {', '.join(kept[:_LISTED])}{more}. If calls, or failures of calls, are recorded there, the counts are too low."  # fmt: skip


def _calls_in(
    value: dict[str, Any], pointer: str, steps: str, depth: int
) -> Iterator[tuple[str, str]]:
    for key in list(value)[:_KEYS]:
        held, at = value[key], f"{pointer}/{escaped(key)}"
        if at == steps:
            continue
        what = _what_is(key, held)
        if what:
            yield at, what
        elif type(held) is dict and depth > 1:
            yield from _calls_in(held, at, steps, depth - 1)


def _what_is(key: str, held: Any) -> str:
    """Return what a value is, if it is of the calls of a model."""
    if type(held) is dict:
        if type(held.get("choices")) is list or (
            type(held.get("usage")) is dict and "model" in held
        ):
            return "an answer of a model"
        if normal(key) in _TOKENS and _has_counts(held):
            return "numbers of tokens"
    if type(held) is list and held and all(map(_is_message, held[:_LOOKED_AT])):
        return f"{len(held):,} messages"
    if type(held) is list and any(map(_is_failure, held[:_LOOKED_AT])):
        return "results with errors"
    return ""


def _has_counts(value: dict[str, Any]) -> bool:
    parts = list(value.values())[:_KEYS]
    inner = (part for each in parts if type(each) is dict for part in list(each.values())[:_KEYS])
    return any(is_count(part) and part for part in (*parts, *inner))


def _is_failure(value: Any) -> bool:
    if type(value) is not dict:
        return False
    error = value.get("error")
    return (type(error) is str and error != "") or value.get("ok") is False or value.get("success") is False  # fmt: skip


def _is_message(value: Any) -> bool:
    if type(value) is not dict or not _CONTENTS & value.keys():
        return False
    role = value.get("role")
    return type(role) is str and role in _ROLES
