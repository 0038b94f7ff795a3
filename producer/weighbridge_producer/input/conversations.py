"""Conversations in rows: lists of messages, each with its author."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

TEXTS = ("content", "value", "text")  #: keys of a message's text
_AUTHORS = ("role", "from")
_AGENTS = frozenset({"assistant", "gpt", "model", "ai", "bot"})


def is_conversation(value: Any) -> bool:
    """Return whether a value is a list of messages."""
    return isinstance(value, list) and bool(value) and all(map(_is_message, value))


def is_by_agent(message: Any) -> bool:
    """Return whether a message is the agent's."""
    return isinstance(message, Mapping) and not _AGENTS.isdisjoint(_authors(message))


def _is_message(value: Any) -> bool:
    return (
        isinstance(value, Mapping) and bool(_authors(value)) and not value.keys().isdisjoint(TEXTS)
    )


def _authors(message: Mapping[str, Any]) -> list[str]:
    return [name for key in _AUTHORS if isinstance(name := message.get(key), str)]
