"""Memories of CAMEL's agents: the records that `ChatAgent.save_memory` and the JSON storage write, one on each line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge.traces.chat.call_parts import Call
from weighbridge.traces.chat.chat_log import ChatLog, flat_call
from weighbridge.traces.chat.conversation import Facts, Run
from weighbridge.traces.fields import (
    id_of,
    object_of,
    objects_of,
    parse_arguments,
    string_of,
    time_of,
    word_of,
)
from weighbridge.traces.importer import Importer

if TYPE_CHECKING:
    from weighbridge.traces.model import Capability, Trace

_LOOKED_AT = 20  #: records that decide whether a list is of them
_CALLING = "FunctionCallingMessage"
_CLASSES = frozenset({"BaseMessage", _CALLING})
_FAILURE = "Tool execution failed: "  #: how results begin of calls that failed
_FIELDS = frozenset(
    {
        *("__class__", "role_name", "role_type", "content", "image_detail", "video_detail"),
        *("tool_calls", "func_name", "args", "result", "tool_call_id", "mask_output"),
    }
)
_REASONS: dict[Capability, str] = {
    "token_usage": "records of memories carry no tokens",
    "timing": "no record has a timestamp",
    "cost": "records of memories carry no cost",
    "tool_definitions": "records of memories do not keep the tools",
}


def _is_record(value: Any) -> bool:
    message = object_of(object_of(value).get("message"))
    return word_of(message.get("__class__")) in _CLASSES and "role_at_backend" in value


def _matches(value: Any) -> bool:
    return type(value) is list and bool(value) and all(map(_is_record, value[:_LOOKED_AT]))


def _read(value: list[Any]) -> list[Trace]:
    chat = ChatLog()
    known: set[str] = set()
    for record in objects_of(value):
        own = id_of(record.get("uuid"))
        if own is not None and own in known:  # what was saved again is appended
            chat.notes.add("repeated records")
            continue
        known.add(own or "")
        _add(record, chat)
    agent = next(
        (name for each in objects_of(value) if (name := id_of(each.get("agent_id")))), None
    )
    return [chat.trace("camel", _REASONS, Run(id=agent))]


def _role(record: dict[str, Any]) -> str:
    """Return the role of a record, which older versions write as the name of an enumeration's member."""
    recorded = record.get("role_at_backend")
    named = word_of(object_of(recorded).get("__enum__")) or word_of(recorded)
    return named.rpartition(".")[2].lower()


def _add(record: dict[str, Any], chat: ChatLog) -> None:
    message, role = object_of(record.get("message")), _role(record)
    is_calling = message.get("__class__") == _CALLING
    content = message.get("content") or None
    facts = Facts(ended_at=time_of(record.get("timestamp")))
    chat.notes.add_fields(message, _FIELDS, "message")
    if is_calling and role in {"function", "tool"}:
        _add_result(message, facts, chat)
    elif role == "assistant":
        calls = [_listed_call(call) for call in objects_of(message.get("tool_calls"))]
        if is_calling:  # of older versions, a record for each call
            call_id = id_of(message.get("tool_call_id"))
            calls.append(Call(call_id, string_of(message.get("func_name")), message.get("args")))
        chat.answer(content, calls, facts, id=record.get("uuid"))
    else:
        chat.say(role or "user", content, facts, id=record.get("uuid"))


def _listed_call(call: dict[str, Any]) -> Call:
    return flat_call({**object_of(call.get("function")), "id": call.get("id")})


def _add_result(message: dict[str, Any], facts: Facts, chat: ChatLog) -> None:
    result = parse_arguments(message.get("result"))
    error: Any = None
    if type(result) is dict and result.keys() == {"error"}:
        error = string_of(result["error"]) or True
    elif type(result) is str and result.startswith(_FAILURE):
        error = True
    of_result = Facts(error=error, ended_at=facts.ended_at)
    name = message.get("func_name")
    chat.result(message.get("tool_call_id"), message.get("result"), of_result, name=name)


IMPORTER = Importer(
    id="camel",
    name="CAMEL memory records",
    matches=_matches,
    read=_read,
    is_line=_is_record,
    fields=(
        ("id", "agent_id; uuid of a record; of a tool call its id"),
        ("type", "role_at_backend: assistant is llm, each of its tool_calls is tool"),
        ("name, arguments", "function of a tool call; of older versions func_name, args"),
        ("output", "content; of a tool call the result of its FunctionCallingMessage"),
        ("error", "a result that begins with Tool execution failed, or has only an error"),
        ("ended_at", "timestamp"),
    ),
    tried_on="a memory that CAMEL 0.2 saved for a run with a made-up model; synthetic records of older versions",
    lacks="tokens, cost and tool definitions; of older versions, which calls one answer asked for: each is an answer of its own",
)
