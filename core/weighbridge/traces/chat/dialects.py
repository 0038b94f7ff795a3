"""Dialects of chat messages: forms of other programs than OpenAI's, each with fields that show whether a chat may be in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from weighbridge.traces.fields import objects_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


class Dialect(NamedTuple):
    """A form of chat messages, with its conversion to OpenAI's."""

    #: Fields of messages. The conversion changes no chat in which no message has any of them, and is then left out.
    fields: frozenset[str]
    #: Returns the messages of a chat, with those in this form converted.
    converted: Callable[[list[Any]], list[Any]]


def fields_of(messages: list[Any]) -> set[str]:
    """Return the fields of all messages of a chat together."""
    return set().union(*objects_of(messages))


def without_dialects(messages: list[Any], dialects: Iterable[Dialect]) -> list[Any]:
    """Return the messages of a chat, converted from each of some dialects in turn."""
    fields = fields_of(messages)
    for dialect in dialects:
        if not dialect.fields.isdisjoint(fields):
            converted = dialect.converted(messages)
            if converted is not messages:
                messages, fields = converted, fields_of(converted)
    return messages
