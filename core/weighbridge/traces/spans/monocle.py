"""Spans of Monocle (`monocle_apptrace`): its attributes and events under the names of the GenAI conventions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge.traces.chat.call_parts import first_of, json_of
from weighbridge.traces.fields import python_object_in, string_of
from weighbridge.traces.spans.attributes import MONOCLE_TYPE

if TYPE_CHECKING:
    from weighbridge.traces.spans.spans import Event, Span

#: Operations by type of span. `inference.modelapi`, the provider's call inside a framework's, is left out: it is the same
#: call, without messages or tokens.
_OPERATIONS = {
    "inference": "chat",
    "inference.framework": "chat",
    "agentic.tool.invocation": "execute_tool",
    "agentic.mcp.invocation": "execute_tool",
    "agentic.invocation": "invoke_agent",
    "retrieval": "retrieval",
    "embedding": "embeddings",
}
_ROLES = frozenset(
    {"system", "developer", "user", "human", "assistant", "ai", "model", "tool", "function"}
)
_ENTITIES = 8  #: maximum number of entities read in a span
_USAGE = {
    "prompt_tokens": "gen_ai.usage.input_tokens",
    "completion_tokens": "gen_ai.usage.output_tokens",
    "total_tokens": "gen_ai.usage.total_tokens",
}


def include_monocle(span: Span) -> None:
    """Translate the attributes of a Monocle span to those of the GenAI conventions, and add these to the span."""
    kind = string_of(span.attributes.get(MONOCLE_TYPE))
    operation = _OPERATIONS.get(kind or "")
    if operation is None or kind is None:
        return
    found = {"gen_ai.operation.name": operation, **_entities(span, kind)}
    for event in span.events:
        if event.name == "metadata":
            found |= _metadata(event)
        elif event.name == "data.input":
            recorded = event.attributes.get("input")
            if operation == "execute_tool":
                found["gen_ai.tool.call.arguments"] = _arguments(recorded)
            else:
                found["gen_ai.input.messages"] = _messages(recorded, "user")
        elif event.name == "data.output":
            recorded = event.attributes.get("response", event.attributes.get("output"))
            if operation == "execute_tool":
                found["gen_ai.tool.call.result"] = _first(recorded)
            else:
                found["gen_ai.output.messages"] = _messages(recorded, "assistant")
            found |= _metadata(event)
    for name, value in found.items():
        if value is not None:
            span.attributes.setdefault(name, value)


def _entities(span: Span, kind: str) -> dict[str, Any]:
    """Return the facts in the entities of a span: the name of its tool, agent or model."""
    found: dict[str, Any] = {}
    for number in range(1, _ENTITIES + 1):
        entity = string_of(span.attributes.get(f"entity.{number}.type")) or ""
        name = string_of(span.attributes.get(f"entity.{number}.name"))
        if kind.startswith("inference") and entity.startswith("model.llm"):
            found.setdefault("gen_ai.request.model", name)
        elif kind == "agentic.mcp.invocation" and entity.startswith("mcp."):
            found |= {"gen_ai.tool.name": name, "mcp.method.name": "tools/call"}
        elif kind == "agentic.tool.invocation" and entity.startswith("tool."):
            found.setdefault("gen_ai.tool.name", name)
        elif kind == "agentic.invocation" and entity.startswith("agent."):
            found.setdefault("gen_ai.agent.name", name)
    return found


def _metadata(event: Event) -> dict[str, Any]:
    found = {name: event.attributes[key] for key, name in _USAGE.items() if key in event.attributes}
    reason = string_of(event.attributes.get("finish_reason"))
    return found | ({"gen_ai.response.finish_reasons": [reason]} if reason else {})


def _first(recorded: Any) -> Any:
    """Return a tool's arguments or result, which may be the only item of a list."""
    return recorded[0] if type(recorded) is list and len(recorded) == 1 else recorded


def _arguments(recorded: Any) -> Any:
    """Return a tool's arguments, which some frameworks give as Python prints a dict."""
    only = _first(json_of(recorded))
    return (python_object_in(only) or only) if type(only) is str else only


def _messages(recorded: Any, role: str) -> list[dict[str, Any]]:
    """Return messages, each of which is recorded as JSON with its role as the key, or as text."""
    held = json_of(recorded)
    listed = held if type(held) is list else [recorded]
    return [message for item in listed for message in _message(item, role)]


def _message(item: Any, role: str) -> list[dict[str, Any]]:
    held = json_of(item)
    if type(held) is str:
        return [{"role": role, "content": held}]
    if type(held) is not dict:
        return []
    if "tool_function" in held:  # part of a request, as is the result below
        return [{"role": "assistant", "tool_calls": [_call(held)]}]
    if "call_id" in held:
        return [{"role": "tool", "tool_call_id": held["call_id"], "content": held.get("output")}]
    messages: list[dict[str, Any]] = []
    for key, value in held.items():
        if key == "tools" and type(value) is list:
            messages.append({"role": role, "tool_calls": [_call(call) for call in value]})
        elif type(value) is dict and "args" in value:
            messages.append({"role": key, "tool_calls": [value]})
        elif type(value) is str:
            messages.append({"role": key if key in _ROLES else "assistant", "content": value})
    return messages


def _call(call: Any) -> Any:
    if type(call) is not dict:
        return call
    return {
        "id": first_of(call, ("tool_id", "call_id")),
        "name": first_of(call, ("tool_name", "tool_function")),
        "args": call.get("tool_arguments"),
    }
