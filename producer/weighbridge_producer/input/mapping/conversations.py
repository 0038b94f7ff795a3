"""Conversations in rows: lists of messages, each with its author, and the agent's last answer in them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from weighbridge.text import pluralize, shorten
from weighbridge_producer.input.mapping.path_texts import path_of
from weighbridge_producer.input.mapping.row_values import MISSING, Path, Row, json_within

TEXTS = ("content", "value", "text", "parts")  #: keys of a message's text
_AUTHORS = ("role", "from")
_LANGCHAIN_TYPES = frozenset({"ai", "human", "system", "tool", "function", "chat"})
_AGENTS = frozenset({"assistant", "gpt", "model", "ai", "bot"})
#: Of messages in the user's own format, whatever the name of the key.
_OWN_AGENTS = _AGENTS | {"agent", "chatbot", "llm"}
HUMANS = frozenset({"human", "user", "customer", "client", "person", "visitor"})
_SPEAKERS = _OWN_AGENTS | HUMANS | {"system", "developer", "tool", "function"}
_PARTS = frozenset({"text", "output_text"})  #: types of a message's parts that have text
_WIDTH = 80  #: of keys in a message
_DEPTH = 3  #: levels of a row that are searched for conversations
_SYNTAX = re.compile(r"[=|,(){}\[\]]")  #: what a key in a proposed path must not have
_LAST_ANSWER = re.compile(r"last_answer\((.+)\)")


@dataclass(frozen=True, slots=True)
class LastAnswer:
    """The text of the agent's last message in a conversation; the texts of its parts are joined."""

    text: str
    conversation: Path

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """Parse `last_answer(messages)`; None if a text is written otherwise."""
        found = _LAST_ANSWER.fullmatch(text)
        return cls(text, Path(found[1].strip())) if found else None

    @classmethod
    def in_(cls, path: str) -> Self:
        """Return the last answer in the conversation at a path."""
        return cls(f"last_answer({path})", Path(path))

    def of(self, row: Row, number: int) -> Any:
        """Return the text; None if the message has none, MISSING if there is no message of the agent.

        A column whose name is the whole text takes precedence.
        """
        if self.text in row:
            return row[self.text]
        messages = self._messages(row, number)
        last = next((each for each in reversed(messages) if is_by_agent(each)), None)
        return MISSING if last is None else text_of(last)

    def is_last_message(self, row: Row, number: int) -> bool:
        """Return whether no message of others follows the answer."""
        messages = self._messages(row, number)
        return bool(messages) and is_by_agent(messages[-1])

    def without_agent(self, rows: Sequence[Row]) -> str:
        """Return how the agent's messages are recognised, and how to map the last entry of a list without any; empty if there is no value."""
        values = [json_within(self.conversation.of(row, 1)) for row in rows]
        values = [value for value in values if value is not MISSING]
        if not values:
            return ""
        known = f"by role or from: {', '.join(sorted(_AGENTS))}"
        last = next((each[-1] for each in values if isinstance(each, list) and each), None)
        if last is None:
            return f"last_answer() takes a list of messages, and recognises the agent's {known}"
        keys = ", ".join(shorten(key, _WIDTH) for key in last) if isinstance(last, Mapping) else ""
        entry = f"{self.conversation.text}.-1{'.KEY' if keys else ''}"
        has = f" (its keys: {shorten(keys, _WIDTH)})" if keys else ""
        return f"it recognises them {known}; the last entry{has} is mapped as {entry}"

    def paths(self) -> Iterable[Path]:
        """Return the column that the whole text may be, and the path of the conversation."""
        return (Path(self.text), self.conversation)

    def __str__(self) -> str:
        return self.text

    def _messages(self, row: Row, number: int) -> list[Any]:
        value = json_within(self.conversation.of(row, number))
        return value if isinstance(value, list) else []


def text_of(message: Mapping[str, Any]) -> Any:
    """Return the text of a message, with that of its parts joined; None if it has no text."""
    if isinstance(inner := message.get("data"), Mapping):  # a message as LangChain saves it
        message = inner
    value = next((message[key] for key in TEXTS if key in message), None)
    if not isinstance(value, list):
        return value
    texts = [_text_of_part(part) for part in value]
    return "".join(texts) if any(texts) else None


def _text_of_part(part: Any) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, Mapping):
        return ""
    text, kind = part.get("text"), part.get("type", "text")
    if part.get("thought"):  # Gemini's parts with the model's thoughts
        return ""
    return text if isinstance(text, str) and isinstance(kind, str) and kind in _PARTS else ""


def is_conversation(value: Any) -> bool:
    """Return whether a value is a list of messages, with other items between them such as calls and reasoning."""
    if not isinstance(value, list) or not any(map(_is_message, value)):
        return False
    return all(_is_message(each) or _is_item(each) for each in value)


def speakers_in(value: Any) -> list[str]:
    """Return who wrote each entry of a list, by a key of any name, such as `author`; none if no key says so or no human wrote one."""
    entries = value if isinstance(value, list) else []
    if not entries or not all(isinstance(entry, Mapping) for entry in entries):
        return []
    for key in entries[0]:
        speakers = [_speaker(entry.get(key)) for entry in entries]
        if all(speakers) and not HUMANS.isdisjoint(speakers):
            return speakers
    return []


def is_agent_last(speakers: Sequence[str]) -> bool:
    """Return whether the last of those who wrote the entries of a list is the agent."""
    return speakers[-1] in _OWN_AGENTS


def _speaker(author: Any) -> str:
    """Return the word for the author of an entry, also within an object; empty if it is none."""
    if isinstance(author, Mapping):
        return next(filter(None, (_speaker(author.get(key)) for key in (*_AUTHORS, "type"))), "")
    word = author.casefold() if isinstance(author, str) else ""
    return word if word in _SPEAKERS else ""


def last_answers_in(rows: Sequence[Row]) -> Iterator[LastAnswer]:
    """Yield the last answer in each conversation that all rows have with a message of the agent."""
    for path in map(path_of, _paths_in(rows[0], ())) if rows else ():
        answer = LastAnswer.in_(path)
        if _is_in_all(answer, rows):
            yield answer


def last_answer_hint(rows: Sequence[Row], path: str) -> str:
    """Return in how many rows the proposed last answer is followed by messages of others, or none is there; empty if in none."""
    answer = LastAnswer.parse(path)
    if answer is None:
        return _last_entry_hint(rows, path)
    followed = sum(not answer.is_last_message(row, 1) for row in rows)
    if not followed:
        return ""
    return (
        f"agent_response: in {_some_of(followed, rows)}, {answer.conversation.text} does not end with a message of the agent;"
        " the agent's last message in it is used"
    )


def _last_entry_hint(rows: Sequence[Row], path: str) -> str:
    """Return in how many rows the last entry of a list, in which a proposed path ends, is not the agent's; empty if in none."""
    around, within = last_entry_in(path)
    lists = [json_within(Path(around).of(row, 1)) for row in rows] if within else []
    others = [speakers for each in lists if (speakers := speakers_in(each))]
    count = sum(not is_agent_last(speakers) for speakers in others)
    return (
        f"agent_response: in {_some_of(count, rows)}, {around} does not end with an entry of the agent"
        if count
        else ""
    )


def last_entry_in(path: str) -> tuple[str, tuple[str, ...]]:
    """Return the path of a list into whose last entry a path leads, and the keys that lead on from there; none if it does not."""
    parts = Path(path).parts
    place = next((place for place in range(1, len(parts) - 1) if parts[place] == "-1"), 0)
    return path_of(parts[:place]), parts[place + 1 :] if place else ()


def _some_of(count: int, rows: Sequence[Row]) -> str:
    if len(rows) == 1:
        return "the first row"
    return f"{count} of the first {pluralize(len(rows), 'row')}"


def _is_in_all(answer: LastAnswer, rows: Sequence[Row]) -> bool:
    texts = [answer.of(row, 1) for row in rows]
    return MISSING not in texts and any(isinstance(text, str) for text in texts)


def _paths_in(value: Any, parts: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the keys that lead to the conversations in objects."""
    value = json_within(value)
    if is_conversation(value):
        yield parts
    elif isinstance(value, Mapping) and len(parts) < _DEPTH:
        for key, inner in value.items():
            if key and not _SYNTAX.search(key):
                yield from _paths_in(inner, (*parts, key))


def is_by_agent(message: Any) -> bool:
    """Return whether a message is the agent's."""
    return isinstance(message, Mapping) and not _AGENTS.isdisjoint(_authors(message))


def _is_message(value: Any) -> bool:
    if not isinstance(value, Mapping) or not _authors(value):
        return False
    has_text = not value.keys().isdisjoint(TEXTS)
    return has_text or isinstance(value.get("data"), Mapping)


def _is_item(value: Any) -> bool:
    """Return whether a value is an item of OpenAI's Responses that is no message."""
    return isinstance(value, Mapping) and isinstance(value.get("type"), str)


def _authors(message: Mapping[str, Any]) -> list[str]:
    names = [name for key in _AUTHORS if isinstance(name := message.get(key), str)]
    kind = message.get("type")
    return [*names, kind] if isinstance(kind, str) and kind in _LANGCHAIN_TYPES else names
