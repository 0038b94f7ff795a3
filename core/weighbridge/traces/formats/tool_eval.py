"""ToolEval's predictions: ToolBench's answers as its evaluator converts them, a chain of nodes for each query.

The converter makes one node from each model answer: a tool node from an answer with a call, whose text is dropped, and an
assistant node from an answer without a call.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from weighbridge.traces.chat.call_parts import Call
from weighbridge.traces.chat.chat_log import ChatLog
from weighbridge.traces.chat.conversation import Run
from weighbridge.traces.fields import (
    object_of,
    parse_arguments,
    python_object_in,
    scalars,
    string_of,
    word_of,
)
from weighbridge.traces.importer import Importer, objects_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weighbridge.traces.model import Capability, Trace

_FIELDS = frozenset({"query", "available_tools", "answer"})
_ANSWER_FIELDS = frozenset({"method", "total_steps", "final_answer", "answer_details"})
_LOOKED_AT = 5  #: number of entries by which the format is recognised
_REASONS: dict[Capability, str] = {
    "token_usage": "ToolEval's predictions carry no token counts",
    "timing": "ToolEval's predictions carry no times",
    "cost": "ToolEval's predictions carry no cost",
    "tool_definitions": "this prediction does not list its available_tools",
}


def _is_prediction(value: Any) -> bool:
    return (
        type(value) is dict
        and "query" in value
        and type(value.get("answer")) is dict
        and type(value["answer"].get("answer_details")) is list
    )


def _matches(value: Any) -> bool:
    if type(value) is not dict or not value:
        return False
    return _is_prediction(value) or all(
        map(_is_prediction, islice(iter(value.values()), _LOOKED_AT))
    )


def _parts(value: dict[str, Any]) -> list[tuple[str | None, Any]]:
    return [] if _is_prediction(value) else list(value.items())


def _read(value: dict[str, Any]) -> list[Trace]:
    if _is_prediction(value):
        return [_trace(value, None)]
    return [_trace(object_of(recorded), str(query_id)) for query_id, recorded in value.items()]


def _trace(value: dict[str, Any], query_id: str | None) -> Trace:
    answer = object_of(value.get("answer"))
    chat = ChatLog()
    chat.notes.add_fields(value, _FIELDS, "prediction")
    chat.notes.add_fields(answer, _ANSWER_FIELDS, "answer")
    chat.say("user", string_of(value.get("query")))
    for number, node in enumerate(_nodes(answer), 1):
        role, recorded = word_of(node.get("role")), node.get("message")
        if role == "tool":
            _call(chat, number, recorded)
        elif role == "assistant":
            chat.answer(string_of(recorded))
        elif role not in {"system", "user"}:  # these two have no text
            chat.notes.add(f"nodes of the role {role[:40]!r}")
    run = Run(
        id=query_id,
        tools=value.get("available_tools"),
        metadata=scalars(
            method=answer.get("method"),
            total_steps=answer.get("total_steps"),
            final_answer=answer.get("final_answer"),
        ),
    )
    return chat.trace("tool-eval", _REASONS, run)


def _nodes(answer: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the nodes of a prediction, each before those that follow it."""
    pending = objects_in(answer.get("answer_details"), "node")[::-1]
    while pending:
        node = pending.pop()
        yield node
        pending += reversed(objects_in(node.get("next"), "node"))


def _call(chat: ChatLog, number: int, recorded: Any) -> None:
    held = recorded if type(recorded) is dict else _parsed(recorded)
    arguments = parse_arguments(held.get("arguments"))
    # A unique name, so that no other call takes its response.
    call = Call(f"call_{number}", string_of(held.get("name")), arguments)
    chat.answer(None, [call])
    if not held:
        chat.notes.add("calls that cannot be parsed")
    elif "response" in held:
        chat.result(call.id, held["response"])


def _parsed(text: Any) -> dict[str, Any]:
    """Return the object in a tool node's text, which is JSON or a printed Python dict; empty for any other text."""
    if type(text) is not str:
        return {}
    held = parse_arguments(text)
    return held if type(held) is dict else python_object_in(text) or {}


IMPORTER = Importer(
    id="tool-eval",
    name="ToolEval predictions",
    matches=_matches,
    read=_read,
    parts=_parts,
    fields=(
        ("id", "the key of a prediction: the query's id"),
        (
            "type",
            "nodes of answer.answer_details by role: assistant is llm; tool is llm with a tool call",
        ),
        ("name, arguments", "message.name and arguments of a tool node"),
        ("output", "message; of a tool call, message.response"),
        ("tools", "available_tools"),
        ("metadata", "answer.method, total_steps, final_answer"),
    ),
    tried_on="real predictions of ToolEval, with calls as objects and as text in Python's form",
    lacks="times, cost, tokens, the model, the text of answers with a call, whether a call failed",
)
