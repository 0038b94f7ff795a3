"""opencode's event log: rows of its database, each with the state of a session, a message or a part at that time."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from weighbridge.traces.fields import id_of, json_in, object_of, objects_of, word_of

if TYPE_CHECKING:
    from weighbridge.traces.fields import Notes

_is_type = re.compile(r"(?:session|message)(?:\.[a-z_]{1,40}){1,5}\.\d{1,3}").fullmatch
_SESSION = frozenset({"session.created", "session.updated"})
_MESSAGE, _PART = "message.updated", "message.part.updated"
#: Types of parts that only answers have.
_OF_ANSWERS = frozenset({"step-start", "step-finish", "tool", "reasoning"})


def is_row(value: Any) -> bool:
    """Return whether a value is a row of an event log."""
    return (
        type(value) is dict
        and _is_type(word_of(value.get("type"))) is not None
        and type(value.get("aggregate_id")) is str
        and type(value.get("data")) in {dict, str}
    )


def sessions_in(rows: Any) -> list[tuple[str | None, list[dict[str, Any]]]]:
    """Return the rows of each session in order, with the session's ID."""
    sessions: dict[str | None, list[dict[str, Any]]] = {}
    for row in objects_of(rows):
        sessions.setdefault(id_of(row.get("aggregate_id")), []).append(row)
    for listed in sessions.values():
        if all(type(row.get("seq")) is int for row in listed):
            listed.sort(key=lambda row: row["seq"])
    return list(sessions.items())


def session_of(rows: list[dict[str, Any]], notes: Notes) -> dict[str, Any]:
    """Return the rows of a session in the form of opencode's export, with each message and part in its last state."""
    about: dict[str, Any] = {}
    infos: dict[str | None, dict[str, Any]] = {}  #: data of messages, by ID
    parts: dict[str | None, dict[str | None, dict[str, Any]]] = {}  #: parts by ID, for each message
    for row in rows:
        kind, data = word_of(row.get("type")).rpartition(".")[0], _data_of(row)
        info, part = object_of(data.get("info")), object_of(data.get("part"))
        if kind in _SESSION:
            about |= info
        elif kind == _MESSAGE:
            name = id_of(info.get("id"))
            infos[name] = info
            parts.setdefault(name, {})
        elif kind == _PART:
            parts.setdefault(id_of(part.get("messageID")), {})[id_of(part.get("id"))] = part
        else:
            notes.add_kind("events", kind or row.get("type"))
    messages = [
        {"info": infos.get(name) or unknown_info(list(held.values())), "parts": list(held.values())}
        for name, held in parts.items()
    ]
    return {"info": about, "messages": messages}


def _data_of(row: dict[str, Any]) -> dict[str, Any]:
    """Return the data of an event, which SQLite keeps as text."""
    data = row.get("data")
    try:
        return object_of(json_in(data) if type(data) is str else data)
    except ValueError:
        return {}


def unknown_info(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the data of a message that its parts show, if no row has the message itself."""
    is_answer = any(word_of(part.get("type")) in _OF_ANSWERS for part in parts)
    return {"role": "assistant" if is_answer else "user"}
