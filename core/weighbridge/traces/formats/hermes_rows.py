"""Rows of the tables of `state.db`, in which Hermes Agent keeps its sessions, as messages of `hermes sessions export`.

A session that is compacted in place keeps its earlier messages as inactive rows, and repeats the last of them after the summary.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge.traces.fields import Notes, id_of, json_in, objects_of, string_of
from weighbridge.traces.stored_rows import json_cell

if TYPE_CHECKING:
    from collections.abc import Hashable

_COLUMNS = frozenset(
    {"session_id", "role", "content", "tool_call_id", "tool_calls", "tool_name", "timestamp"}
)
_JSON = "\0json:"  #: how a content begins that is not a text
_CALLS = "tool_calls"
_ACTIVE = "active"
#: Columns that are messages' fields; others are about how Hermes shows and sends them.
_CARRIED = frozenset({"id", "finish_reason", "reasoning", *_COLUMNS})


def is_row(value: Any) -> bool:
    """Return whether a value is a row of the table of messages."""
    return (
        type(value) is dict
        and value.keys() >= _COLUMNS
        and type(value["session_id"]) is str
        and type(value["role"]) is str
        and all(value[key] is None or type(value[key]) is str for key in ("content", _CALLS))
    )


def session_of(
    rows: list[dict[str, Any]], about: dict[str, Any], notes: Notes
) -> tuple[dict[str, Any], int]:
    """Return a session as Hermes exports it, from its own row and those of its messages, and how many of these are damaged."""
    messages, damaged = [], 0
    kept = _without_repeats([row for row in rows if is_row(row)], notes)
    for row in kept:
        message, is_whole = _message(row)
        messages.append(message)
        damaged += not is_whole
    damaged += sum(not is_row(row) for row in rows)
    held = {**about, "messages": messages}
    if any(row.get(_ACTIVE) == 0 for row in kept):
        held.pop("tool_call_count", None)  # that of the active messages
    if not about.get("system_prompt") and about.get("system_prompt_hash"):
        notes.add("system prompts that stand in a table of their own")
    return held, damaged


def _message(row: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    """Return the message in a row, and whether its calls can be read."""
    message = {key: cell for key, cell in row.items() if cell is not None and key in _CARRIED}
    content = string_of(row.get("content"))
    if content and content.startswith(_JSON):
        message["content"] = _json_or(content.removeprefix(_JSON), content)
    if not row[_CALLS]:
        message.pop(_CALLS, None)
        return message, True
    calls = json_cell(row, _CALLS)
    message[_CALLS] = objects_of(calls)
    return message, type(calls) is list


def _json_or(text: str, otherwise: Any) -> Any:
    try:
        return json_in(text)
    except ValueError:
        return otherwise


def _without_repeats(rows: list[dict[str, Any]], notes: Notes) -> list[dict[str, Any]]:
    """Return the rows without those that repeat earlier ones of a session that was compacted, with their times."""
    if all(row.get(_ACTIVE) != 0 for row in rows):
        return rows
    seen: set[Hashable] = set()
    kept = []
    for row in rows:
        key = _identity(row)
        if key in seen:
            notes.add("messages that the session repeats after it was compacted")
        else:
            seen.add(key)
            kept.append(row)
    return kept


def _identity(row: dict[str, Any]) -> Hashable:
    """Return a key of a message; Hermes may shorten earlier results when it repeats them."""
    said = id_of(row["tool_call_id"]) or row[_CALLS] or str(row["content"])
    return row["role"], row["timestamp"], said
