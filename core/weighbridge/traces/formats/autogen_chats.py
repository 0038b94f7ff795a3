"""Chats of AutoGen 0.2 and AG2 by the name of the other agent, as an agent keeps them (`chat_messages`) and autogenbench writes them.

What the agent itself said has the role `assistant`, and what the other one said `user`, whichever of the two has a model. A
message of a group chat has its speaker's name; of others, the speaker with the model is inferred.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from weighbridge.traces.chat.calls import calls_of
from weighbridge.traces.fields import string_of
from weighbridge.traces.formats.agent_history_reader import is_report

_LOOKED_AT = 20  #: messages of a chat, and chats, by which the form is recognised
_ROLES = frozenset({"assistant", "user", "system", "tool", "function"})
_FIELDS = frozenset(
    {
        *("role", "content", "name", "tool_calls", "tool_call_id", "tool_responses"),
        *("function_call", "context", "metadata"),
    }
)
#: Words in names that agents of AutoGen usually have.
_AGENT_WORDS = frozenset({"agent", "assistant", "executor", "manager", "proxy"})
#: Words in names of agents that speak for a person, or run code, without a model.
_PERSON_WORDS = frozenset({"admin", "executor", "human", "proxy", "user"})
_words_in = re.compile(r"[A-Z]?[a-z]+|[A-Z]+").findall
_NAME_CHARACTERS = 100  #: number of characters of a name in which words are searched
AMBIGUOUS = "messages without a name are of a person, or of an agent with a model"


def are_chats(value: Any) -> bool:
    """Return whether a value has chats of an agent by the names of others: one has such a name, or speaks under its own."""
    if type(value) is not dict or not value:
        return False
    some = list(value.items())[:_LOOKED_AT]
    return all(type(name) is str and _is_chat(chat) for name, chat in some) and any(
        not _AGENT_WORDS.isdisjoint(_words_of(name)) or _speaks(name, chat)
        for name, chat in some
        if chat
    )


def _is_chat(value: Any) -> bool:
    return type(value) is list and all(map(_is_message, value[:_LOOKED_AT]))


def _is_message(value: Any) -> bool:
    return (
        type(value) is dict
        and value.keys() >= {"role", "content"}
        and value.keys() <= _FIELDS
        and type(value["role"]) is str
        and value["role"] in _ROLES
    )


def _speaks(name: str, chat: list[dict[str, Any]]) -> bool:
    return any(message.get("name") == name for message in chat[:_LOOKED_AT])


def _words_of(name: str) -> set[str]:
    return {word.lower() for word in _words_in(name[:_NAME_CHARACTERS])}


def chats_in(value: dict[str, Any]) -> list[tuple[str, list[Any]]]:
    """Return the chats that are not empty, each with the other agent's name; what all members of a group heard is one chat."""
    seen: set[bytes] = set()
    found = []
    for name, chat in value.items():
        if type(chat) is not list or not chat:
            continue
        said = [message.get("content") if type(message) is dict else message for message in chat]
        key = msgspec.json.encode(said)
        if key not in seen:
            seen.add(key)
            found.append((name, chat))
    return found


def with_speakers(other: str, chat: list[Any]) -> tuple[list[dict[str, Any]], bool]:
    """Return a chat in which the messages of the model are the assistant's, and whether that is uncertain.

    An agent without a model begins a chat, or has a name that says so.
    """
    is_person = not _PERSON_WORDS.isdisjoint(_words_of(other))
    messages = [message for message in chat if _is_message(message)]
    is_turned = not is_person and bool(messages) and messages[0]["role"] == "assistant"
    spoken: list[dict[str, Any]] = []
    is_uncertain = False
    for number, message in enumerate(messages):
        role = message["role"]
        if string_of(message.get("name")) or role not in {"assistant", "user"} or calls_of(message):
            spoken.append(message)
            continue
        by_model = role == ("user" if is_turned else "assistant")
        spoken.append({**message, "role": "assistant" if by_model else "user"})
        text = string_of(message.get("content")) or ""
        is_free = bool(text.strip()) and not is_report(text)
        is_uncertain |= number > 0 and not (by_model or is_person) and is_free
    return spoken, is_uncertain
