"""Configuration of the `tool-schema` grader: allowed tools, and schemas of their arguments."""

from __future__ import annotations

from typing import Annotated, Any

import orjson
from pydantic import BeforeValidator, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from weighbridge.graders.base import GraderConfig, Strings
from weighbridge.graders.tool_schema.json_data import NotJsonError, json_data
from weighbridge.graders.values import as_json
from weighbridge.traces.fields import tools_of

_SHOWN_CHARACTERS = 80


def _schema(value: Any) -> Any:
    if type(value) is not dict and type(value) is not bool:
        raise _wrong_type("a JSON Schema: an object, true or false", value)
    return _own_copy(value)


def _tool_list(value: Any) -> Any:
    """Check that all entries of a tool list are named tools, so that none is ignored silently."""
    if value is None:
        return None
    if type(value) is not list and type(value) is not dict:
        raise _wrong_type("a list of tools, or an answer to `tools/list`", value)
    listed: Any = value
    if type(value) is dict:
        result = value.get("result")
        listed = value.get("tools", result.get("tools") if type(result) is dict else None)
    if type(listed) is not list:
        raise PydanticCustomError("no_tools", "it has no list `tools`")
    for index, tool in enumerate(listed):
        if not tools_of([tool]):
            shown = as_json(tool)[:_SHOWN_CHARACTERS]
            raise PydanticCustomError(
                "no_tool", "entry {index} names no tool: {shown}", {"index": index, "shown": shown}
            )
    return _own_copy(value)


def _own_copy(value: Any) -> Any:
    try:
        return orjson.loads(json_data(value).text)
    except NotJsonError as error:
        raise PydanticCustomError("not_json", "{text}", {"text": str(error)}) from None


def _wrong_type(wanted: str, value: Any) -> PydanticCustomError:
    context = {"wanted": wanted, "shown": as_json(value)[:_SHOWN_CHARACTERS]}
    return PydanticCustomError("schema_type", "it must be {wanted}, not {shown}", context)


_Schema = Annotated[Any, BeforeValidator(_schema), WithJsonSchema({"type": ["object", "boolean"]})]
_ToolList = Annotated[
    Any, BeforeValidator(_tool_list), WithJsonSchema({"type": ["array", "object", "null"]})
]


class ToolSchemaConfig(GraderConfig):
    """Lists of names or shell-style globs, definitions of tools, and what must be there."""

    allowlist: Strings | None = Field(
        default=None,
        description="the tools that may be called: names, or shell-style globs (`*`, `?`, `[a-z]`, `[!a-z]`); "
        "an empty list allows none",
    )
    blocklist: Strings = Field(
        default=(),
        description="the tools that may not be called, in the same form; a blocked name is refused even if it is allowed",
    )
    schemas: dict[str, _Schema] = Field(
        default={}, description="JSON Schemas of arguments by the tool's name"
    )
    tools: _ToolList = Field(
        default=None,
        description="the list of all tools in the form of OpenAI (with or without `function`), Anthropic "
        "(`input_schema`) or MCP (`inputSchema`, or a whole answer to `tools/list`)",
    )
    tools_prefix: str = Field(
        default="",
        description="what the agent puts before the names in `tools`, such as `mcp__travel__` in Claude Code; a call may "
        "name them with it or without",
    )
    use_trace_tools: bool = Field(
        default=True, description="whether the definitions in the trace itself are used"
    )
    require_schema: bool = Field(
        default=False, description="whether a call of a tool without a schema fails"
    )
    require_tool_calls: bool = Field(
        default=False, description="whether a trace without tool calls fails"
    )
