"""Anthropic's Messages API: messages of content blocks, with the answers as the API gave them, and Claude Code's lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge.traces.chat.anthropic_blocks import Blocks, answers_of_blocks
from weighbridge.traces.chat.calls import with_parts
from weighbridge.traces.chat.conversation import Run, ends_with, read_messages
from weighbridge.traces.chat.exchanges import APART, answer_of, are_apart, asked_in, response_in
from weighbridge.traces.fields import (
    cost_of,
    object_of,
    objects_of,
    read_usage,
    string_of,
    tools_field,
)
from weighbridge.traces.formats import claude_code, claude_code_lines, cline_sessions, cursor_cli
from weighbridge.traces.importer import Importer

if TYPE_CHECKING:
    from weighbridge.traces.model import Capability, Trace

_ROLES = frozenset({"system", "user", "assistant"})
_BLOCKS = frozenset(
    {
        *("tool_use", "tool_result", "server_tool_use", "mcp_tool_use", "mcp_tool_result"),
        *("thinking", "redacted_thinking", "web_search_tool_result"),
    }
)
_FIELDS = frozenset(
    {"messages", "system", "tools", "model", "response", "usage", "id", "metadata", "cost_usd"}
)
_ANSWER_FIELDS = frozenset({"role", "content", "id", "type", "model", "usage", "stop_reason"})
_REASONS: dict[Capability, str] = {
    "token_usage": "the messages come without the answers' usage",
    "timing": "Anthropic messages carry no times",
    "cost": "Anthropic messages carry no cost, and these no usage to compute it from",
    "tool_definitions": "the messages come without the tools that were offered",
}


def _matches(value: Any) -> bool:
    if type(value) is list:
        if claude_code_lines.are_lines(value):
            return not cursor_cli.are_lines(value)
        return _are_roles(value) and any(map(_is_typical, value))
    if type(value) is not dict:
        return False
    if _is_exchange(value):
        return _is_answer(answer_of(response_in(value)))
    messages = value.get("messages")
    if not _are_roles(messages):
        return _is_answer(value) or claude_code_lines.is_result(value)
    return not cline_sessions.is_session(value) and (
        any(map(_is_typical, messages or ()))
        or _is_answer(value.get("response"))
        or _is_system(value.get("system"))
        or any("input_schema" in tool for tool in objects_of(value.get("tools")))
    )


def _is_exchange(value: dict[str, Any]) -> bool:
    """Return whether a value holds a request apart from its response."""
    return are_apart(value) and _are_roles(asked_in(value).get("messages"))


def _is_system(value: Any) -> bool:
    """Return whether a value is a system prompt in Anthropic's form; Bedrock's blocks have no type."""
    return type(value) is str or (
        type(value) is list and any(type(block) is dict and "type" in block for block in value)
    )


def _are_roles(messages: Any) -> bool:
    """Return whether all items of a list are messages, none of them in OpenAI's form."""
    return (
        type(messages) is list
        and bool(messages)
        and all(
            type(message) is dict
            and type(message.get("role")) is str
            and message["role"] in _ROLES
            and "tool_calls" not in message
            for message in messages
        )
    )


def _is_typical(message: dict[str, Any]) -> bool:
    """Return whether a message has content blocks or fields that only Anthropic's messages have."""
    content = with_parts(message).get("content")
    return _is_answer(message) or (
        type(content) is list
        and any(
            type(block) is dict and type(block.get("type")) is str and block["type"] in _BLOCKS
            for block in content
        )
    )


def _is_answer(value: Any) -> bool:
    """Return whether a value is an answer as the API gives it."""
    return (
        type(value) is dict
        and value.get("type") == "message"
        and value.get("role") == "assistant"
        and type(value.get("content")) is list
        and ("usage" in value or "stop_reason" in value)
    )


def _read(value: Any) -> list[Trace]:
    if type(value) is list and claude_code_lines.are_lines(value):
        return [claude_code.read_lines(value)]
    if type(value) is dict and claude_code_lines.is_result(value):
        return [claude_code.read_lines([value])]
    if type(value) is list:
        value = {"messages": value}
    elif "messages" not in value and not _is_exchange(value):  # an answer alone
        value = {"messages": [value]}
    blocks = Blocks()
    if _is_exchange(value):
        blocks.notes.add_fields(value, APART, "log")
        value = {**asked_in(value), "response": answer_of(response_in(value))}
    answer = value.get("response")
    is_said = type(answer) is dict and type(answer.get("role")) is str and "content" in answer
    is_merged = type(value.get("role")) is str and "content" in value
    tools = tools_field(value)
    carried = _FIELDS | {tools} | (_ANSWER_FIELDS if is_merged else frozenset())
    blocks.notes.add_fields(value, carried if is_said else carried - {"response"}, "request")
    if type(value.get("system")) in {str, list}:
        blocks.add({"role": "system", "content": value["system"]})
    messages = answers_of_blocks(value["messages"])
    if is_said:
        again = ends_with(messages, answer)
        messages = [*messages[:-1], {**messages[-1], **answer}] if again else [*messages, answer]
    for message in messages:
        blocks.add(message)
    if is_merged:
        blocks.add({key: held for key, held in value.items() if key in _ANSWER_FIELDS})
    run = Run(
        id=string_of(value.get("id")),
        tools=value.get(tools),
        model=string_of(value.get("model")),
        usage=None if is_merged else read_usage(value.get("usage")),
        cost_usd=cost_of(value.get("cost_usd")),
        totals_from="usage or cost_usd beside the messages",
        metadata=object_of(value.get("metadata")),
        of_message=blocks.of_message,
        of_call=blocks.of_call,
        notes=blocks.notes,
    )
    return [read_messages(blocks.messages, "anthropic", run, _REASONS)]


IMPORTER = Importer(
    id="anthropic",
    name="Anthropic messages",
    matches=_matches,
    read=_read,
    is_line=claude_code_lines.is_message,
    tried_on="real answers of Anthropic's API; synthetic sessions of Claude Code",
    fields=(
        ("id", "the message's id; of a tool call, the id of its tool_use block"),
        (
            "type",
            "role: assistant is llm; each tool_use block in it is tool; system is system; what Claude Code says itself, such as an error of the API, is other",
        ),
        ("name, arguments", "name and input of a tool_use, server_tool_use or mcp_tool_use block"),
        ("output", "the text blocks; of a tool call, the content of its tool_result block"),
        (
            "error",
            "is_error of a tool_result block, error_code of a server tool's; isApiErrorMessage of Claude Code's lines",
        ),
        ("model", "model of the answer, or of the request"),
        ("finish_reason", "stop_reason of the answer"),
        ("usage", "usage: input_tokens with cache_read and cache_creation ones; output_tokens"),
        ("started_at, ended_at", "timestamp of Claude Code's lines"),
        ("duration_ms of the run", "duration_ms of Claude Code's last line"),
        ("cost_usd", "total_cost_usd of Claude Code's last line"),
        (
            "tool calls of the run",
            "totalToolUseCount of Claude Code's sub-agents, where their lines stand elsewhere",
        ),
        ("tools", "tools, or as in OpenAI chat messages; of Claude Code's first line, their names"),
        (
            "metadata",
            "metadata; of Claude Code's lines, the models of its own answers, and the first cwd, gitBranch and version",
        ),
    ),
    lacks="times and cost, except in Claude Code's lines; usage, unless the answers are kept whole; what sub-agents of Claude Code did, where their lines stand in files that are not read with it; lines that a fork has copied",
)
