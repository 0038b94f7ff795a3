"""Chats whose converter wrote each block of an answer as a message: its reasoning in tags, its text, its calls."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from weighbridge.traces.chat.timed_messages import is_answer, joined

if TYPE_CHECKING:
    from collections.abc import Sequence

_BEGIN, _END = "<thinking>", "</thinking>"


def with_whole_answers(messages: list[Any]) -> list[Any]:
    """Return messages, with the blocks of an answer as one if an answer's reasoning is a message of its own.

    Calls after a result stay apart, although a model may have asked for both at once.
    """
    if not any(_is_reasoning(one) and is_answer(other) for one, other in pairwise(messages)):
        return messages
    whole: list[Any] = []
    blocks: list[Any] = []
    for message in messages:
        if blocks and (not is_answer(message) or _is_reasoning(message)):
            whole.append(_joined(blocks))
            blocks = []
        if is_answer(message):
            blocks.append(message)
        else:
            whole.append(message)
    if blocks:
        whole.append(_joined(blocks))
    return whole


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
