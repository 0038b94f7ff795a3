"""Wrappers of traces: objects with a trace under a common key, or with a chat under one of several names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from weighbridge.traces.chat.conversation import are_messages
from weighbridge.traces.chat.role_words import CHAT_KEYS, CONTENTS, with_known_roles
from weighbridge.traces.fields import json_in
from weighbridge.traces.kept_lines import FIELDS_OF_EVENTS, kept_lines

if TYPE_CHECKING:
    from weighbridge.traces.fields import Notes

#: Key of the number of damaged lines of a session; it stands beside `trace`, which has the other lines.
UNREAD_LINES = "unread_lines"
_MESSAGES = "messages"
_METADATA = "metadata"
#: Keys that people put a trace under, as JSON or as its text.
_WRAPPERS = (
    "record",
    "trace",
    "trajectory",
    "conversation",
    _MESSAGES,
    "values",
    "outputs",
    "loglines",
)
#: Keys of questions and answers: beside a list of messages, they show a row of a data set, which is mapped instead.
_SAID_APART = frozenset(
    {
        *("response", "responses", "answer", "output", "outputs", "completion", "prediction"),
        *("question", "query", "prompt", "instruction", "input", "inputs", "choices", "reply"),
        *("message", "user_input", "user_message", "text", "target", "chosen", "rejected"),
    }
)
#: Words in the names of fields (`model_answer`, `rejected_response`) whose text is a question or an answer of a data set, and
#: not part of the chat beside it. A field that only repeats a message of the chat does not count.
_APART_WORDS = frozenset(
    {
        *("response", "responses", "answer", "answers", "completion", "completions", "prediction"),
        *("question", "questions", "query", "queries", "utterance", "utterances", "continuation"),
        *("generation", "generations", "generated", "candidate", "candidates", "rewrite"),
        *("rewritten", "assistant", "human", "gpt", "positive", "negative", "rejected", "chosen"),
    }
)
#: Further such words where the chat ends with a question: the field then has the answer that is wanted.
_WANTED_WORDS = frozenset(
    {"expected", "target", "reference", "references", "ideal", "gold", "golden", "truth", "label"}
)
#: Last words of names of fields that describe a text (`answer_id`, `response_format`) and do not hold it.
_ABOUT_WORDS = frozenset(
    {"id", "ids", "type", "name", "model", "format", "language", "version", "time"}
)
_words_in = re.compile(r"[A-Z]?[a-z]+|[A-Z]+").findall
_NAME_CHARACTERS = 60  #: number of characters of a field's name in which words are searched


def unwrapped(value: dict[str, Any], notes: Notes, metadata: dict[str, Any]) -> Any:
    """Return the trace that an object holds under a common key, as JSON or as JSON text, or by its lines; None if there is none.

    Messages are returned with the fields beside them, such as the tools. Fields beside any other value are only noted;
    those under `metadata` are added to the argument of that name.
    """
    if lines := kept_lines(value):
        notes.add_fields(value, FIELDS_OF_EVENTS, "wrapper")
        return lines
    for key in _WRAPPERS:
        inner = value.get(key)
        if type(inner) is str:
            try:
                inner = json_in(inner)
            except ValueError:
                continue
        if key == _MESSAGES and (chat := with_known_roles(inner)):
            inner = chat
        if are_messages(inner) and (key == _MESSAGES or _MESSAGES not in value):
            return {_MESSAGES: inner} | {name: held for name, held in value.items() if name != key}
        if type(inner) is dict or type(inner) is list:
            carried = {key, "id", UNREAD_LINES}
            if type(value.get(_METADATA)) is dict:
                metadata.update({**value[_METADATA], **metadata})
                carried.add(_METADATA)
            notes.add_fields(value, frozenset(carried), "wrapper")
            return inner
    chats = [key for key in CHAT_KEYS.intersection(value) if type(value[key]) is list]
    if len(chats) != 1 or not _SAID_APART.isdisjoint(value):
        return None
    key = chats[0]
    chat = value[key] if _is_chat(value[key]) else with_known_roles(value[key])
    if chat is None or _says_more({**value, key: chat}, key):
        return None
    return {_MESSAGES: chat} | {
        name: held for name, held in value.items() if name not in {key, _MESSAGES}
    }


def _says_more(value: dict[str, Any], key: str) -> bool:
    """Return whether a text beside a chat is a question or an answer that is not in it, as in rows of data sets."""
    last = value[key][-1].get("role")
    words = _APART_WORDS | _WANTED_WORDS if last == "user" else _APART_WORDS
    said = {item["content"] for item in value[key] if type(item.get("content")) is str}
    return any(
        bool(held)
        and (type(held) is list or (type(held) is str and held not in said))
        and name != key
        and not words.isdisjoint(named := _words_of(name))
        and named[-1] not in _ABOUT_WORDS
        for name, held in value.items()
    )


def names_text(key: str) -> bool:
    """Return whether a key names a question or an answer, as `rejected` and `response_2` do, rather than being an id."""
    words = _APART_WORDS | _WANTED_WORDS | _SAID_APART
    return key in CHAT_KEYS or not words.isdisjoint(_words_of(key))


def _words_of(name: Any) -> list[str]:
    return (
        [word.lower() for word in _words_in(name[:_NAME_CHARACTERS])] if type(name) is str else []
    )


def _is_chat(listed: list[Any]) -> bool:
    """Return whether each item of a list is a message of a chat, and one of them an assistant's."""
    return any(type(item) is dict and item.get("role") == "assistant" for item in listed) and all(
        are_messages([item]) and not CONTENTS.isdisjoint(item) for item in listed
    )
