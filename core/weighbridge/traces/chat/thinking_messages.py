"""Chats whose converter wrote each block of an answer as a message: its reasoning in tags, its text, its calls."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from weighbridge.traces.chat.timed_messages import is_answer, joined

if TYPE_CHECKING:
    from collections.abc import Sequence

_OF_ANSWER = ("name", "model", "id", "timestamp")  #: fields that the blocks of an answer share
_BEGIN, _END = "<thinking>", "</thinking>"


def with_whole_answers(messages: list[Any]) -> list[Any]:
    """Return messages, with reasoning, the text after it and the calls after that as one answer if some reasoning stands alone.

    Calls after a result stay apart, although a model may have asked for both at once, and so do messages of which another
    speaker, model, time or ID is recorded, and those after a message with tokens.
    """
    if not any(_is_reasoning(one) and is_answer(other) for one, other in pairwise(messages)):
        return messages
    whole: list[Any] = []
    blocks: list[Any] = []
    for message in messages:
        if blocks and not _goes_on(blocks, message):
            whole.append(_joined(blocks))
            blocks = []
        if is_answer(message):
            blocks.append(message)
        else:
            whole.append(message)
    if blocks:
        whole.append(_joined(blocks))
    return whole


def _goes_on(blocks: Sequence[dict[str, Any]], message: Any) -> bool:
    """Return whether a message is a further block of an answer: a text after reasoning, or calls after any block."""
    first, last = blocks[0], blocks[-1]
    if not is_answer(message) or _is_reasoning(message) or "usage" in last:
        return False
    is_call = bool(message.get("tool_calls")) and not message.get("content")
    return (is_call or _is_reasoning(last)) and all(
        message.get(name) == first.get(name) for name in _OF_ANSWER
    )


def _joined(blocks: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return blocks as one answer, with the fields that only some of them have."""
    fields = {name: held for block in reversed(blocks) for name, held in block.items()}
    answer: dict[str, Any] = joined(blocks)
    return fields | {name: held for name, held in answer.items() if held is not None}


def _is_reasoning(message: Any) -> bool:
    """Return whether an answer is nothing but reasoning in tags."""
    content = message.get("content") if is_answer(message) else None
    if type(content) is not str or not content.lstrip().startswith(_BEGIN):
        return False
    return content.rstrip().endswith(_END) and not message.get("tool_calls")
