"""Preparation of Claude Code's lines: their order, which have a message, and which are of a sub-agent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge.traces.chat.call_parts import call_of, opened, result_in
from weighbridge.traces.fields import object_of, objects_of, string_of

if TYPE_CHECKING:
    from collections.abc import Iterator

_SPEAKERS = frozenset({"user", "assistant"})
#: Fields of a line, of which programs that rewrite sessions keep at least one; and blocks of Anthropic's messages.
_ORIGINS = frozenset({"timestamp", "uuid", "sessionId"})
_BLOCKS = frozenset(
    {
        *("text", "image", "document", "thinking", "redacted_thinking", "tool_use", "tool_result"),
        *("server_tool_use", "web_search_tool_result"),
    }
)


def are_lines(value: list[Any]) -> bool:
    """Return whether a list holds Claude Code's lines: messages, or the result of a run after its system lines."""
    return any(map(is_message, value)) or _is_run_without_messages(value)


def is_result(value: Any) -> bool:
    """Return whether a value is the line with a run's result, which `--output-format json` prints alone."""
    return (
        type(value) is dict
        and value.get("type") == "result"
        and type(value.get("session_id")) is str
        and type(value.get("num_turns")) is int
        and "total_cost_usd" in value
        and type(value.get("usage")) is dict
    )


def _is_run_without_messages(lines: list[Any]) -> bool:
    return (
        len(lines) > 1
        and is_result(lines[-1])
        and all(type(line) is dict and line.get("type") == "system" for line in lines[:-1])
    )


def is_message(line: Any) -> bool:
    """Return whether a value is a line with a message."""
    message = line.get("message") if type(line) is dict else None
    if type(message) is not dict:
        return False
    kind = line.get("type")
    return (
        type(kind) is str
        and kind in _SPEAKERS
        and (message.get("role") == kind or _lacks_role(message, line))
        and "parts" not in message  # the form of Qwen Code
        and "role" not in line
    )


def _lacks_role(message: dict[str, Any], line: dict[str, Any]) -> bool:
    """Return whether a message has Anthropic's content without a role, as in sessions that other programs rewrote."""
    if "role" in message or _ORIGINS.isdisjoint(line):
        return False
    content = message.get("content")
    if type(content) is not list:
        return type(content) is str
    return bool(content) and all(
        type(block) is dict and type(block.get("type")) is str and block["type"] in _BLOCKS
        for block in content
    )


def with_role(line: dict[str, Any]) -> dict[str, Any]:
    """Return a line whose message has a role; if the message has none, it is the line's type."""
    message, kind = line.get("message"), line.get("type")
    if type(message) is dict and "role" not in message and kind in ("user", "assistant"):
        return {**line, "message": {"role": kind, **message}}
    return line


def holds_message(line: dict[str, Any]) -> bool:
    """Return whether a line of Claude Code's has a message, even under an unexpected label."""
    message, kind = line.get("message"), line.get("type")
    return (
        type(kind) is str
        and kind in _SPEAKERS
        and type(message) is dict
        and type(message.get("role")) is str
    )


def inner_line(line: dict[str, Any]) -> dict[str, Any] | None:
    """Return a sub-agent's message from a progress line."""
    data = line.get("data")
    inner = data.get("message") if line.get("type") == "progress" and type(data) is dict else None
    inner = with_role(inner) if type(inner) is dict else inner
    if type(inner) is not dict or not holds_message(inner):
        return None
    return {"parent_tool_use_id": line.get("parentToolUseID"), **inner, "isSidechain": True}


def call_id_in(block: Any) -> str | None:
    """Return the ID of the call in a block; None if the block is not a call."""
    kind, held = opened(block) if type(block) is dict else ("", {})
    return call_of(held).id if kind == "call" else None


def in_order(lines: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the lines; a result written before its call is moved after it, since Claude Code writes concurrently."""
    asked_at: dict[str, int] = {}
    for index, line in enumerate(lines):
        for call_id in filter(None, map(call_id_in, _blocks_of(line))):
            asked_at.setdefault(call_id, index)
    early: dict[int, list[dict[str, Any]]] = {}
    for index, line in enumerate(lines):
        call_ids = [
            result_in(block, None).call_id for block in _blocks_of(line) if _is_tool_result(block)
        ]
        asked = max((asked_at.get(call_id or "", -1) for call_id in call_ids), default=-1)
        if asked > index:
            early.setdefault(asked, []).append(line)
        else:
            yield line
        yield from early.pop(index, ())


def in_place(lines: list[dict[str, Any]], callers: dict[str, str]) -> list[dict[str, Any]]:
    """Return the lines; those from sub-agents' files are moved after the call that started the sub-agent."""
    own = (i for i, line in enumerate(lines) if holds_message(line) and not is_inner(line))
    end = 1 + max(own, default=-1)
    kept, added = lines[:end], dict[str, list[dict[str, Any]]]()
    for line in lines[end:]:
        caller = callers.get(string_of(line.get("agentId")) or "") if is_inner(line) else None
        (added.setdefault(caller, []) if caller else kept).append(line)
    placed: list[dict[str, Any]] = []
    following = [iter(kept)]
    while added and following:
        for line in following[-1]:
            placed.append(line)
            calls = reversed([*map(call_id_in, _blocks_of(line))])
            if started := [iter(added.pop(each)) for each in calls if each in added]:
                following += started
                break
        else:
            following.pop()
    for rest in (*reversed(following), *added.values()):
        placed += rest
    return placed


def _blocks_of(line: dict[str, Any]) -> list[dict[str, Any]]:
    return objects_of(object_of(line.get("message")).get("content"))


def _is_tool_result(block: dict[str, Any]) -> bool:
    return opened(block)[0] == "result"


def are_of_sub_agent(lines: list[Any]) -> bool:
    """Return whether all messages are a sub-agent's, as in the files of sub-agents beside the session's."""
    said = [line for line in lines if type(line) is dict and holds_message(line)]
    return bool(said) and all(line.get("isSidechain") is True for line in said)


def is_inner(line: dict[str, Any]) -> bool:
    """Return whether a line is of an agent that the session's own agent started."""
    return line.get("isSidechain") is True or bool(line.get("parent_tool_use_id"))
