"""Calls of Vapi's voice assistants, as its API returns them: what was said, the tools that were called, and the cost of the call.

An answer may stand in several messages, as it was spoken.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge.traces.chat.call_parts import Call
from weighbridge.traces.chat.calls import calls_of
from weighbridge.traces.chat.chat_log import ChatLog
from weighbridge.traces.chat.conversation import Facts, Run
from weighbridge.traces.fields import (
    cost_of,
    object_of,
    objects_of,
    scalars,
    string_of,
    time_of,
    usage_of,
    word_of,
)
from weighbridge.traces.importer import Importer

if TYPE_CHECKING:
    from weighbridge.traces.model import Capability, Trace

_ROLES = frozenset({"system", "user", "bot", "tool_calls", "tool_call_result"})
_OWN = frozenset({"costBreakdown", "endedReason", "artifact", "assistantId", "orgId"})
_REASONS: dict[Capability, str] = {
    "token_usage": "the call has no costBreakdown with its tokens",
    "timing": "the messages of this call have no times",
    "cost": "the call has no cost",
    "tool_definitions": "the call does not list the tools that were offered",
}


def _matches(value: Any) -> bool:
    if type(value) is not dict or _OWN.isdisjoint(value):
        return False
    listed = _messages(value)
    return bool(listed) and all(word_of(message.get("role")) in _ROLES for message in listed)


def _messages(value: dict[str, Any]) -> list[dict[str, Any]]:
    return objects_of(value.get("messages")) or objects_of(
        object_of(value.get("artifact")).get("messages")
    )


def _read(value: dict[str, Any]) -> list[Trace]:
    chat = ChatLog()
    before = ""  #: the role of the message before
    for message in _messages(value):
        role = word_of(message.get("role"))
        started_at, ended_at = (time_of(message.get(key), "ms") for key in ("time", "endTime"))
        text = string_of(message.get("message"))
        if role == before == "bot":
            chat.add_text(text)
        elif role == "bot":
            chat.answer(text, facts=Facts(started_at=started_at, ended_at=ended_at))
        elif role == "tool_calls":
            calls: list[Call] = calls_of({"tool_calls": message.get("toolCalls")})
            if before != "bot":
                chat.answer(None, facts=Facts(ended_at=started_at))
            for call in calls:
                chat.ask(call, Facts(started_at=started_at))
        elif role == "tool_call_result":
            facts = Facts(ended_at=started_at)
            chat.result(
                message.get("toolCallId"), message.get("result"), facts, message.get("name")
            )
        else:
            chat.say(role, text, Facts(started_at=started_at, ended_at=ended_at))
        before = role
    spent = object_of(value.get("costBreakdown"))
    run = Run(
        id=string_of(value.get("id")),
        model=string_of(object_of(object_of(value.get("assistant")).get("model")).get("model")),
        usage=usage_of(
            spent.get("llmPromptTokens"),
            spent.get("llmCompletionTokens"),
            cached_tokens=spent.get("llmCachedPromptTokens"),
        ),
        cost_usd=cost_of(value.get("cost")),
        totals_from="costBreakdown and cost",
        started_at=time_of(value.get("startedAt")),
        ended_at=time_of(value.get("endedAt")),
        metadata=scalars(ended_reason=value.get("endedReason")),
    )
    return [chat.trace("vapi", _REASONS, run)]


IMPORTER = Importer(
    id="vapi",
    name="Vapi calls",
    matches=_matches,
    read=_read,
    fields=(
        ("id", "the call's id; of a tool call its id in toolCalls"),
        ("type", "role: bot is llm, each of toolCalls is tool"),
        ("name, arguments", "function.name and arguments in toolCalls"),
        ("output", "message; of a tool call, result of its tool_call_result"),
        ("usage", "costBreakdown.llmPromptTokens, llmCompletionTokens, llmCachedPromptTokens"),
        ("cost_usd", "cost: of the whole call, also of speech and transport"),
        ("started_at, ended_at", "time and endTime; of the run startedAt and endedAt"),
    ),
    tried_on="a real call in a public repository",
    lacks="tokens of each answer, and whether a greeting was written by the model",
)
