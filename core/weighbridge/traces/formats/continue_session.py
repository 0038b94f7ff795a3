"""Sessions of Continue, of its editor extensions and its command line: a history of messages with the states of their calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge.traces.chat.call_parts import Call, not_among
from weighbridge.traces.chat.chat_log import ChatLog, flat_call
from weighbridge.traces.chat.conversation import Facts, Run
from weighbridge.traces.fields import (
    counted,
    id_of,
    object_of,
    objects_of,
    scalars,
    string_of,
    text_of,
    usage_of,
    word_of,
)
from weighbridge.traces.importer import Importer

if TYPE_CHECKING:
    from weighbridge.traces.model import Capability, Trace, Usage

_LOOKED_AT = 20  #: items that decide whether a history is of this form
_FAILED = frozenset({"errored", "canceled"})
_REASONS: dict[Capability, str] = {
    "token_usage": "no answer of this session records its usage",
    "timing": "sessions have no times",
    "cost": "sessions have no cost, and this one no tokens to compute it from",
    "tool_definitions": "sessions do not keep the tools",
}


def _matches(value: Any) -> bool:
    if type(value) is not dict or not {"workspaceDirectory", "sessionId"} & value.keys():
        return False
    history = value.get("history")
    return type(history) is list and bool(history) and all(map(_is_item, history[:_LOOKED_AT]))


def _is_item(item: Any) -> bool:
    message = item.get("message") if type(item) is dict else None
    return type(message) is dict and type(message.get("role")) is str and "role" not in item


def _read(value: dict[str, Any]) -> list[Trace]:
    chat = ChatLog()
    items = objects_of(value.get("history"))
    messages = [object_of(item.get("message")) for item in items]
    told = {id_of(each.get("toolCallId")) for each in messages if each.get("role") == "tool"}
    for item, message in zip(items, messages, strict=True):
        _message(message, item, told, chat)
    run = Run(
        id=id_of(value.get("sessionId")),
        model=string_of(value.get("chatModelTitle")),
        metadata=scalars(title=value.get("title"), cwd=value.get("workspaceDirectory")),
    )
    return [chat.trace("continue", _REASONS, run)]


def _message(
    message: dict[str, Any], item: dict[str, Any], told: set[str | None], chat: ChatLog
) -> None:
    """Add a message; `told` are the calls whose results are messages."""
    role, content = word_of(message.get("role")), message.get("content")
    if role == "assistant":
        states = [*objects_of(item.get("toolCallStates")), object_of(item.get("toolCallState"))]
        states = [state for state in states if state]
        _answer(message, states, item, chat)
        for state in states:
            name, status = id_of(state.get("toolCallId")), word_of(state.get("status"))
            output = _output(state.get("output"))
            if name not in told and (output is not None or status in _FAILED):
                error = status if status in _FAILED else None
                chat.result(name, output, Facts(error=error))
    elif role == "tool":
        chat.result(message.get("toolCallId"), content)
    elif role == "thinking":
        chat.notes.add("parts of the model's reasoning")
    else:
        chat.say(role, content, id=item.get("id"))


def _answer(
    message: dict[str, Any], states: list[dict[str, Any]], item: dict[str, Any], chat: ChatLog
) -> None:
    calls = [_call(each) for each in objects_of(message.get("toolCalls"))]
    of_states = [_call(object_of(state.get("toolCall"))) for state in states if "toolCall" in state]
    logs = objects_of(item.get("promptLogs"))
    facts = Facts(
        model=string_of(logs[-1].get("modelTitle")) if logs else None,
        usage=_usage(object_of(message.get("usage"))),
    )
    said = message.get("content") or None
    chat.answer(said, [*calls, *not_among(calls, of_states)], facts, id=item.get("id"))


def _call(call: dict[str, Any]) -> Call:
    return flat_call({**object_of(call.get("function")), "id": call.get("id")})


def _output(items: Any) -> str | None:
    """Return what a call brought: the contents of its items, or a text."""
    if type(items) is str:
        return items
    texts = [text for item in objects_of(items) if (text := text_of(item.get("content")))]
    return "\n".join(texts) if texts else None


def _usage(recorded: dict[str, Any]) -> Usage | None:
    cached = object_of(recorded.get("promptTokensDetails")).get("cachedTokens")
    sent, received = recorded.get("promptTokens"), recorded.get("completionTokens")
    return counted(usage_of(sent, received, None, cached))


IMPORTER = Importer(
    id="continue",
    name="Continue sessions",
    matches=_matches,
    read=_read,
    fields=(
        ("id", "sessionId; id of an item; of a tool call its id"),
        ("type", "role: assistant is llm, each of its toolCalls is tool"),
        ("name, arguments", "function of a tool call"),
        ("output", "content; of a tool call the message of role tool, or the output of its state"),
        ("error", "status errored or canceled of a call's state"),
        ("model", "modelTitle of an item's promptLogs, or chatModelTitle"),
        ("usage", "usage: promptTokens, completionTokens, cachedTokens"),
        ("metadata", "title, workspaceDirectory"),
    ),
    tried_on="synthetic sessions, modelled on the source of Continue",
    lacks="times, cost, tool definitions",
)
