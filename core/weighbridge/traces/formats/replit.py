"""Transcripts of Replit's agent: a line for each message of the user, and for each answer of the model with its results.

The lines of one conversation are told by their rising numbers (`memory_id`), and by what each of them has: a conversation
of its own would have both a question and an answer.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from weighbridge.traces.chat.conversation import Run, are_messages, read_messages
from weighbridge.traces.importer import Importer

if TYPE_CHECKING:
    from weighbridge.traces.model import Capability, Trace

_NUMBER, _MESSAGES = "memory_id", "messages"
_FIELDS = frozenset({_NUMBER, _MESSAGES})
_ASKED, _ANSWERED = frozenset({"user"}), frozenset({"assistant", "tool"})
_REASONS: dict[Capability, str] = {
    "token_usage": "Replit's transcripts have no tokens",
    "timing": "Replit's transcripts have no times",
    "cost": "Replit's transcripts have neither a cost nor tokens",
    "tool_definitions": "Replit's transcripts do not list the tools that were offered",
}


def _is_line(value: Any) -> bool:
    """Return whether a value has a number, and only messages of the user, or an answer with its results."""
    if type(value) is not dict or value.keys() != _FIELDS or type(value[_NUMBER]) is not int:
        return False
    messages = value[_MESSAGES]
    if not are_messages(messages) or not all(type(message) is dict for message in messages):
        return False
    roles = [message.get("role") for message in messages]
    known = _ANSWERED if roles[0] == "assistant" else _ASKED
    return all(type(role) is str and role in known for role in roles)


def _matches(value: Any) -> bool:
    if type(value) is not list or len(value) < 2 or not all(map(_is_line, value)):
        return False
    is_rising = all(one[_NUMBER] < other[_NUMBER] for one, other in pairwise(value))
    return is_rising and any(line[_MESSAGES][0]["role"] == "assistant" for line in value)


def _read(value: list[dict[str, Any]]) -> list[Trace]:
    messages = [message for line in value for message in _joined(line[_MESSAGES])]
    return [read_messages(messages, "replit", Run(), _REASONS)]


def _joined(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the messages of a line, of which a text and the calls of the same answer are one."""
    joined: list[dict[str, Any]] = []
    for message in messages:
        last = joined[-1] if joined else {}
        has_calls_alone = message["role"] == "assistant" and not message.get("content")
        if has_calls_alone and last.get("role") == "assistant" and "tool_calls" not in last:
            joined[-1] = {**message, "content": last.get("content")}
        else:
            joined.append({**message, "content": message.get("content") or None})
    return joined


IMPORTER = Importer(
    id="replit",
    name="Replit agent transcripts",
    matches=_matches,
    read=_read,
    is_line=_is_line,
    fields=(
        (
            "type",
            "role of a message: assistant is llm, each of its tool_calls is tool; a text and the calls below it on one line are one answer",
        ),
        ("name, arguments", "name and arguments of tool_calls"),
        ("output", "content; of a tool call, the content of its tool message, in their order"),
        ("error", "is_error of the tool message"),
    ),
    tried_on="the transcript in a public repository, of 2026",
    lacks="ids, tokens, times and cost; the model; tool definitions and the system prompt",
)
