"""Chats of several sessions: in an object under their ids, `{"session-1": {"messages": [...]}}`, or as messages that name theirs."""

from __future__ import annotations

from typing import Any

from weighbridge.traces.chat.roles import MODEL_ROLES
from weighbridge.traces.recognition import recognised
from weighbridge.traces.wrappers import names_text

#: Keys under which the messages of a log name their session; a run may be one answer.
_SESSION_KEYS = (
    *("session_id", "sessionId", "session", "conversation_id", "conversationId", "conversation"),
    *("conv_id", "conv", "thread_id", "threadId", "thread", "chat_id", "chatId"),
    *("dialogue_id", "dialog_id"),
)
_LOOKED_AT = 20  #: number of chats that are recognised, before the others are taken for chats, too


def traces_by_id(value: Any) -> list[tuple[str, Any]] | None:
    """Return the chats in an object, each with its id; the ids may be below one further level of keys. None for any other value.

    Sessions without a message are left out. An object in a known format is not looked into; the caller has tried this.
    """
    sessions = _sessions_by_id(value)
    return sessions and [(name, chat) for name, chat in sessions if not _is_empty(chat)]


def chats_by_session(messages: list[Any]) -> list[tuple[str, list[Any]]] | None:
    """Return the messages of each session, with its id, if all messages name theirs and it is not the same one; else None.

    Each session begins with a message of another role than the model's, so that the id of an answer is none of a session.
    """
    if not all(type(each) is dict and type(each.get("role")) is str for each in messages):
        return None
    for key in _SESSION_KEYS:
        if not all(type(each.get(key)) in {str, int} for each in messages):
            continue
        sessions: dict[str, list[Any]] = {}
        for message in messages:
            sessions.setdefault(str(message[key]), []).append(message)
        are_begun = all(first["role"] not in MODEL_ROLES for first, *_ in sessions.values())
        if are_begun and 1 < len(sessions) <= len(messages) / 2:
            return list(sessions.items())
    return None


def empty_sessions(value: Any) -> int:
    """Return the number of sessions without a message that stand among chats under ids."""
    return sum(_is_empty(chat) for _, chat in _sessions_by_id(value) or ())


def _sessions_by_id(value: Any) -> list[tuple[str, Any]] | None:
    if not _has_names(value):
        return None
    if _are_chats(value):
        return list(value.items())
    users = {outer: held for outer, held in value.items() if held != {}}
    if not users or not all(_has_names(held) and _are_chats(held) for held in users.values()):
        return None
    return [
        (key if len(value) == 1 else f"{outer}/{key}", chat)
        for outer, held in users.items()
        for key, chat in held.items()
    ]


def _has_names(value: Any) -> bool:
    return type(value) is dict and bool(value) and all(type(name) is str for name in value)


def _are_chats(value: dict[str, Any]) -> bool:
    is_listed = any(type(held) is list for held in value.values())
    chats = [held for held in value.values() if not _is_empty(held)]
    return (
        bool(chats)
        and all(map(_may_be_chat, chats))
        and not any(map(names_text, value))
        # A plain name may also be that of a column.
        and ((len(chats) > 1 and not is_listed) or all(map(_has_digit, value)))
        and all(map(recognised, chats[:_LOOKED_AT]))
    )


def _is_empty(held: Any) -> bool:
    """Return whether a session has no message; one that is null has none, either."""
    if type(held) is dict and "messages" in held:
        held = held["messages"]
    return held is None or held == []


def _may_be_chat(held: Any) -> bool:
    messages = held.get("messages") if type(held) is dict else held
    return type(messages) is list and bool(messages)


def _has_digit(key: str) -> bool:
    return any(map(str.isdigit, key))
