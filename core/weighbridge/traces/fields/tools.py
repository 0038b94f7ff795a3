"""Definitions of tools, as providers write them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from weighbridge.traces.fields.values import string_of
from weighbridge.traces.model import ToolDefinition

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

#: Names under which tool definitions stand beside messages.
TOOL_FIELDS = ("tools", "functions", "tool_definitions", "toolDefinitions", "available_tools")
_TOOL_KINDS = ("function", "custom", "toolSpec")


def tools_of(listed: Any) -> tuple[ToolDefinition, ...]:
    """Return the tools in a list in OpenAI's form (with or without the `function` wrapper), Anthropic's or MCP's."""
    if type(listed) is str:  # tables keep the list as JSON text
        try:
            listed = orjson.loads(listed)
        except ValueError:
            return ()
    if type(listed) is dict:  # a whole answer to MCP's `tools/list`
        result = listed.get("result")
        listed = listed.get("tools") or (result.get("tools") if type(result) is dict else None)
    return tuple(_tools(listed if type(listed) is list else ()))


def tools_field(recorded: Mapping[str, Any]) -> str:
    """Return the field with the tools that stand beside messages: the first of `TOOL_FIELDS` with a definition."""
    return next((name for name in TOOL_FIELDS if tools_of(recorded.get(name))), TOOL_FIELDS[0])


def _tools(listed: Iterable[Any]) -> Iterable[ToolDefinition]:
    for tool in listed:
        if type(tool) is not dict:
            continue
        facts = next((tool[key] for key in _TOOL_KINDS if type(tool.get(key)) is dict), tool)
        name = string_of(facts.get("name")) or _hosted_name(tool.get("type"))
        if name:
            schema = next(
                (
                    facts[key]
                    for key in ("parameters", "input_schema", "inputSchema")
                    if key in facts
                ),
                None,
            )
            if type(schema) is dict and schema.keys() == {
                "json"
            }:  # the wrapper that Bedrock requires
                schema = schema["json"]
            yield ToolDefinition(name, schema, string_of(facts.get("description")) or "")


def _hosted_name(kind: Any) -> str | None:
    """Return the name that calls use for a tool which the provider hosts and identifies by type alone."""
    if type(kind) is not str or kind in _TOOL_KINDS or kind == "mcp":
        return None
    base = kind.partition("_preview")[0]
    return "computer" if base == "computer_use" else base or None
