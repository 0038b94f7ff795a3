"""Messages of the Claude Agent SDK for Python, as programs store them: dataclasses as JSON, with or without class names."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from weighbridge.traces.chat.call_parts import first_of
from weighbridge.traces.fields import object_of, objects_of, string_of
from weighbridge.traces.formats.claude_code import read_lines
from weighbridge.traces.importer import Importer

if TYPE_CHECKING:
    from weighbridge.traces.model import Trace

_LOOKED_AT = 50  #: number of items by which the format is recognised
_TAGS = ("_type", "type", "__type__", "__class__", "class", "kind", "message_type")
_ASSISTANT, _USER, _SYSTEM, _RESULT = (
    *("AssistantMessage", "UserMessage"),
    *("SystemMessage", "ResultMessage"),
)
_NAMES = frozenset({_ASSISTANT, _USER, _SYSTEM, _RESULT, "StreamEvent"})
_HOLDERS = ("data", "message")  #: fields in which some programs nest a message's fields
_TIMES = ("timestamp", "ts", "time", "received_at")
_BLOCK_FIELDS = frozenset({"text", "thinking", "input", "tool_use_id"})


def _matches(value: Any) -> bool:
    some = value[:_LOOKED_AT] if type(value) is list else []
    return any(map(_is_line, some)) and all(
        type(item) is dict and "role" not in item and "source" not in item for item in some
    )


def _is_line(value: Any) -> bool:
    """Return whether a value is an answer or the opening message of a session."""
    name, held = _opened(value)
    if name == _SYSTEM:
        return held.get("subtype") == "init" and "session_id" in object_of(held.get("data"))
    content = held.get("content")
    return name == _ASSISTANT and type(content) is list and all(map(_is_block, content))


def _is_block(block: Any) -> bool:
    return type(block) is dict and not _BLOCK_FIELDS.isdisjoint(block)


def _opened(value: Any) -> tuple[str, dict[str, Any]]:
    """Return the name of a message's class, recorded or inferred from its fields, and the fields."""
    if type(value) is not dict:
        return "", {}
    for tag in _TAGS:
        name = (string_of(value.get(tag)) or "").rpartition(".")[2]
        if name in _NAMES:
            return name, _fields(value)
    if "role" in value or "type" in value:
        return "", {}
    if type(value.get("content")) is list and "parent_tool_use_id" in value and "model" in value:
        return _ASSISTANT, value
    if "subtype" in value and "num_turns" in value and "duration_api_ms" in value:
        return _RESULT, value
    if "subtype" in value and type(value.get("data")) is dict:
        return _SYSTEM, value
    return (_USER if "content" in value and "parent_tool_use_id" in value else ""), value


def _fields(value: dict[str, Any]) -> dict[str, Any]:
    if "content" not in value and "subtype" not in value:
        return next((value[key] for key in _HOLDERS if type(value.get(key)) is dict), value)
    return value


def _read(value: list[Any]) -> list[Trace]:
    trace = read_lines([_line(item) for item in objects_of(value)])
    return [replace(trace, format="claude-agent-sdk")]


def _line(item: dict[str, Any]) -> dict[str, Any]:
    """Return a message as the line of Claude Code from which it was made."""
    name, held = _opened(item)
    line = {
        "timestamp": first_of(item, _TIMES),
        "uuid": held.get("uuid"),
        "session_id": first_of(held, ("session_id",)) or item.get("session_id"),
        "parent_tool_use_id": held.get("parent_tool_use_id"),
    }
    if name == _ASSISTANT:
        message = {
            "role": "assistant",
            "content": _blocks(held.get("content")),
            "id": held.get("message_id"),
            "model": held.get("model"),
            "usage": held.get("usage"),
        }
        return {**line, "type": "assistant", "message": message}
    if name == _USER:
        return {
            **line,
            "type": "user",
            "message": {"role": "user", "content": _blocks(held.get("content"))},
        }
    if name == _SYSTEM:
        told = object_of(held.get("data"))
        return {**line, **told, "type": "system", "subtype": held.get("subtype")}
    if name == _RESULT:
        return {**held, **line, "type": "result", "modelUsage": held.get("model_usage")}
    return {"type": name or "other"}


def _blocks(content: Any) -> Any:
    """Return a message's blocks with the types that the API uses; the SDK's classes leave them out."""
    if type(content) is not list:
        return content
    return [_block(block) if type(block) is dict else block for block in content]


def _block(block: dict[str, Any]) -> dict[str, Any]:
    if "tool_use_id" in block:
        return {**block, "type": "tool_result"}
    if "input" in block:
        return {**block, "type": "tool_use"}
    if "thinking" in block:
        return {**block, "type": "thinking"}
    return {**block, "type": "text"} if "text" in block else block


IMPORTER = Importer(
    id="claude-agent-sdk",
    name="Claude Agent SDK messages",
    matches=_matches,
    read=_read,
    is_line=_is_line,
    fields=(
        ("id", "session_id"),
        ("type", "AssistantMessage is llm, each ToolUseBlock in it is tool; UserMessage is user"),
        ("name, arguments", "name and input of a ToolUseBlock"),
        ("output", "its TextBlocks; of a tool call, content of the ToolResultBlock"),
        ("error", "is_error of a ToolResultBlock"),
        ("model", "model of an AssistantMessage"),
        ("usage, cost_usd", "usage or model_usage, and total_cost_usd of the ResultMessage"),
        ("tools", "the names in data.tools of the first SystemMessage"),
    ),
    tried_on="messages in public documentation and tests",
    lacks="times, unless stored beside the messages; schemas of the tools",
)
