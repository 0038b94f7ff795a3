"""Detection of messages that occur twice in a chat, so that each is counted once."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from weighbridge.traces.chat.calls import calls_of
from weighbridge.traces.chat.roles import MODEL_ROLES, RESULT_ROLES
from weighbridge.traces.fields import text_of

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Mixed letters and digits in a random ID. Other IDs, such as `call_0` or `functions.search:0`, may recur in each answer.
_RANDOM_ID = re.compile(r"(?=[A-Za-z]{0,7}\d)(?=\d{0,7}[A-Za-z])[A-Za-z0-9]{8}")


def repeated(messages: Sequence[Any]) -> set[int]:
    """Return the indices of messages that are counted with another one.

    A message with an ID repeats another with the same ID if the two are equal. It replaces the one before it if it is a
    later state of the same answer, as streams leave them. A message without an ID repeats an equal answer right before it
    if its calls have random IDs; other IDs may be the same in different answers. An equal text without any ID is another
    message: the agent said the same again.
    """
    found: set[int] = set()
    by_id: dict[str, int] = {}
    before = -1
    for index, message in enumerate(messages):
        if type(message) is not dict:
            continue
        name = message.get("id")
        if type(name) is str and name and message.get("role") not in RESULT_ROLES:
            recorded = by_id.setdefault(name, index)
            if recorded != index and messages[recorded] == message:
                found.add(index)
                continue
            if recorded != index:
                by_id[name] = index
                if recorded == before and _goes_on(messages[recorded], message):
                    found.add(recorded)
        elif (
            "tool_calls" in message
            and before >= 0
            and len(message) == len(messages[before])  # as equal messages have
            and _asks_again(messages[before], message)
        ):
            found.add(index)
            continue
        before = index
    return found


def _asks_again(asked: dict[str, Any], message: dict[str, Any]) -> bool:
    """Return whether an answer repeats the one right before it, so that one result answers the calls of both."""
    calls = message.get("tool_calls")
    return (
        bool(calls)
        and message.get("role") in MODEL_ROLES
        and message == asked
        and _has_random_id(calls)
    )


def _has_random_id(calls: Any) -> bool:
    """Return whether the first of a message's calls has an ID that looks random, so that a repeat means a copy."""
    first = calls[0] if type(calls) is list else None
    call_id = first.get("id") if type(first) is dict else None
    return type(call_id) is str and _RANDOM_ID.search(call_id) is not None


def _goes_on(begun: dict[str, Any], message: dict[str, Any]) -> bool:
    """Return whether a message is a later state of an answer: its text begins with the answer's, and it has all its calls."""
    if begun.get("role") not in MODEL_ROLES or message.get("role") not in MODEL_ROLES:
        return False
    text = text_of(begun.get("content")) or ""
    if not (text_of(message.get("content")) or "").startswith(text):
        return False
    ids = {call.id for call in calls_of(message)}
    return all(call.id is not None and call.id in ids for call in calls_of(begun))
