"""The model's input and output, from a span's attributes and events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge.traces.chat.call_parts import first_of, json_of
from weighbridge.traces.chat.provider_bodies import gemini_tools
from weighbridge.traces.fields import object_of, tools_of
from weighbridge.traces.spans.messages import Message, messages_in, read_message

if TYPE_CHECKING:
    from weighbridge.traces.model import ToolDefinition
    from weighbridge.traces.spans.spans import Event, Span

#: Maximum number of parts in the name of an attribute that belongs to a list, such as `gen_ai.prompt.0.content`.
_NAME_PARTS = 10
_DETAILS = "gen_ai.client.inference.operation.details"
_INPUT_EVENTS = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}
_INPUTS = (
    *("gen_ai.prompt", "ai.prompt.messages", "ai.prompt", "gcp.vertex.agent.llm_request"),
    *("input.value", "traceloop.entity.input", "mlflow.spanInputs", "langfuse.observation.input"),
    "gen_ai.request.messages",
)
_OUTPUTS = (
    *("gen_ai.completion", "gcp.vertex.agent.llm_response", "output.value"),
    *("traceloop.entity.output", "mlflow.spanOutputs", "langfuse.observation.output"),
    *("final_result", "gen_ai.output"),
)
_ANSWERS = (
    ("ai.response.text", "ai.response.toolCalls"),
    ("ai.result.text", "ai.result.toolCalls"),
    ("ai.response.object", "ai.response.toolCalls"),
)


def include_details(span: Span) -> None:
    """Add the attributes in a span's event with the operation's details to the span."""
    for event in span.events:
        if event.name.endswith(_DETAILS):
            held = event.body if type(event.body) is dict else {}
            for name, value in (*event.attributes.items(), *held.items()):
                span.attributes.setdefault(name, value)


def inputs_of(span: Span) -> list[Message]:
    """Return the messages that the model, or the agent, was given."""
    attributes = span.attributes
    system = messages_in(attributes.get("gen_ai.system_instructions"), "system")
    found = messages_in(attributes.get("gen_ai.input.messages"), "user") or _event_inputs(span)
    for prefix in ("gen_ai.prompt", "llm.input_messages"):
        found = found or messages_in(_rows(attributes, prefix), "user")
    found = found or [message for message in _recorded_events(span) if message.role != "output"]
    if not found:
        recorded = json_of(first_of(attributes, _INPUTS))
        found = _system_of(recorded) + messages_in(recorded, "user")
    return system + found


def outputs_of(span: Span) -> list[Message]:
    """Return the messages that the model, or the agent, answered with."""
    attributes = span.attributes
    found = messages_in(attributes.get("gen_ai.output.messages"), "assistant")
    found = found or _event_outputs(span)
    for prefix in ("gen_ai.completion", "llm.output_messages"):
        found = found or messages_in(_rows(attributes, prefix), "assistant")
    if not found:
        found = [message for message in _recorded_events(span) if message.role == "output"]
        for message in found:
            message.role = "assistant"
    for text, calls in _ANSWERS:
        if not found and (attributes.get(text) or attributes.get(calls)):
            tool_calls = json_of(attributes.get(calls))
            answer = {"content": attributes.get(text), "tool_calls": tool_calls}
            found = [read_message(answer, "assistant")]
    return found or messages_in(first_of(attributes, _OUTPUTS), "assistant")


def _system_of(recorded: Any) -> list[Message]:
    """Return the instructions that a request holds outside its messages."""
    if type(recorded) is not dict:
        return []
    config = recorded.get("config")
    held = config.get("system_instruction") if type(config) is dict else recorded.get("system")
    return messages_in(held, "system")


def _event_inputs(span: Span) -> list[Message]:
    found = []
    for event in span.events:
        role = _INPUT_EVENTS.get(event.name)
        if role:
            found.append(read_message(_payload(event), role))
        elif event.name == "gen_ai.content.prompt":
            found += messages_in(_payload(event).get("gen_ai.prompt"), "user")
    return found


def _event_outputs(span: Span) -> list[Message]:
    found = []
    for event in span.events:
        if event.name == "gen_ai.choice":
            found.append(read_message(_payload(event), "assistant"))
        elif event.name == "gen_ai.content.completion":
            found += messages_in(_payload(event).get("gen_ai.completion"), "assistant")
    return found


def _payload(event: Event) -> dict[str, Any]:
    """Return the content of an event: a log record's body, JSON in one attribute, or the attributes themselves."""
    body = json_of(event.body)
    if type(body) is dict:
        return body
    held = json_of(event.attributes.get("gen_ai.event.content"))
    payload = held if type(held) is dict else event.attributes
    if type(payload.get("tool_calls")) is str:
        payload = {**payload, "tool_calls": json_of(payload["tool_calls"])}
    if type(payload.get("message")) is str:
        payload = {**payload, "message": _opened(payload["message"])}
    return payload if body is None else {"content": body, **payload}


def _opened(text: str) -> Any:
    held = json_of(text)
    return held if type(held) is dict and ("role" in held or "content" in held) else text


def _recorded_events(span: Span) -> list[Message]:
    """Return the messages in an attribute that lists the older events; an answer has the role `output`."""
    listed = json_of(span.attributes.get("events"))
    found = []
    for item in listed if type(listed) is list else ():
        if type(item) is dict:
            message = read_message(item, "user")
            if type(item.get("message")) is dict:
                message.role = "output"
            found.append(message)
    return found


def tools_of_span(span: Span) -> tuple[ToolDefinition, ...]:
    """Return the tools offered to the model, as recorded in a span."""
    attributes = span.attributes
    recorded = json_of(first_of(attributes, ("gen_ai.tool.definitions", "mlflow.chat.tools")))
    if recorded is None:
        recorded = json_of(attributes.get("ai.prompt.tools"))
        recorded = [json_of(tool) for tool in recorded] if type(recorded) is list else recorded
    if recorded is not None:
        return tools_of(recorded)
    return (
        tools_of([_spread_tool(row) for row in _rows(attributes, "llm.request.functions")])
        or tools_of([_spread_tool(row) for row in _rows(attributes, "llm.tools")])
        or tools_of(_held(attributes, "llm.invocation_parameters", "tools"))
        or tools_of(
            _pydantic_tools(_held(attributes, "model_request_parameters", "function_tools"))
        )
    )


def gemini_tools_of_span(span: Span) -> tuple[ToolDefinition, ...]:
    """Return the tools in Gemini's own form; used only without another form, since it is not quite JSON Schema."""
    config = _held(span.attributes, "gcp.vertex.agent.llm_request", "config")
    return tools_of(gemini_tools(object_of(config).get("tools")))


def _held(attributes: dict[str, Any], name: str, key: str) -> Any:
    recorded = attributes.get(name)
    held = json_of(recorded) if type(recorded) is str else None
    return held.get(key) if type(held) is dict else None


def _spread_tool(row: Any) -> Any:
    """Return a tool that is spread over several attributes: with `parameters` as JSON text, or with `tool.json_schema`."""
    if type(row) is not dict:
        return None
    tool = row["tool"] if type(row.get("tool")) is dict else row
    schema = json_of(tool.get("json_schema"))
    if type(schema) is dict and ("function" in schema or "name" in schema):
        return schema
    recorded = json_of(tool.get("parameters")) if schema is None else schema
    return {
        "name": tool.get("name"),
        "description": tool.get("description"),
        "parameters": recorded,
    }


def _pydantic_tools(listed: Any) -> list[Any]:
    return [
        {**tool, "parameters": tool.get("parameters_json_schema")}
        for tool in (listed if type(listed) is list else ())
        if type(tool) is dict
    ]


def _rows(attributes: dict[str, Any], prefix: str) -> list[Any]:
    """Return the list encoded in attributes named `prefix.0.name`, in numeric order."""
    recorded = attributes.get(prefix)
    if type(recorded) is list:
        return recorded
    start = f"{prefix}."
    tree: dict[str, Any] = {}
    for name, value in attributes.items():
        if name.startswith(start):
            *path, last = name[len(start) :].split(".", _NAME_PARTS)
            node = tree
            for part in path:
                inner = node.setdefault(part, {})
                if type(inner) is not dict:
                    break
                node = inner
            else:
                node.setdefault(last, value)
    rows = _listed(tree) if tree else None
    return rows if type(rows) is list else []


def _listed(node: Any, depth: int = 0) -> Any:
    """Turn objects whose names are numbers into lists, as deep as the names of attributes go."""
    if type(node) is not dict or depth > _NAME_PARTS:
        return node
    inner = {name: _listed(value, depth + 1) for name, value in node.items()}
    if inner and all(name.isdecimal() and len(name) < 10 for name in inner):
        return [inner[name] for name in sorted(inner, key=int)]
    return inner
