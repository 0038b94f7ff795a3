"""Conversion of the spans of a DeepEval trace to the common form of spans, from which steps are made."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from weighbridge.traces.chat.call_parts import first_of, json_of
from weighbridge.traces.fields import (
    cost_of,
    count_of,
    counted,
    id_of,
    object_of,
    objects_of,
    parse_arguments,
    python_object_in,
    read_usage,
    scalars,
    string_of,
    time_of,
    usage_of,
    word_of,
)
from weighbridge.traces.spans.messages import messages_in
from weighbridge.traces.spans.records import recorded_span
from weighbridge.traces.spans.steps import traces_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weighbridge.traces.model import Trace, Usage
    from weighbridge.traces.spans.spans import Span

#: Keys of a trace's spans, with their kinds; groups with definitions of tools come first.
GROUPS = {
    "llmSpans": "llm",
    "toolSpans": "tool",
    "agentSpans": "agent",
    "retrieverSpans": "retriever",
    "baseSpans": "chain",
}
CALLED = "toolsCalled"
_PARAMETERS = ("inputParameters", "input_parameters")
_TOOL_PREFIXES = ("Function tool: ", "execute_tool ")
_TOOL_LISTING = "MCP tool"  #: description of a span in which a client lists a server's tools
_FAILED = "ERRORED"
#: Types of items that are not messages in a list of messages: calls and results.
_CALL_TYPES = frozenset({"function", "tool_call", "function_call", "FUNCTION", "MCP"})
_RESULT_TYPES = frozenset({"tool", "function_call_output"})
#: Roles of items with the offered tools, which integrations put between the messages.
_OFFER_ROLES = frozenset({"Tool Input", "Model Request Parameters"})
_USAGES = ("usage", "usage_metadata")  #: keys of the usage in the provider's own answer
_SPAN_FIELDS = frozenset(
    {
        *("uuid", "parentUuid", "traceUuid", "name", "type", "status", "error", "input", "output"),
        *("startTime", "endTime", "model", "inputTokenCount", "outputTokenCount", CALLED),
        *("costPerInputToken", "costPerOutputToken", "availableTools", "provider", "integration"),
        *("description", "metadata", "tokenIntervals"),
    }
)
_TRACE_FIELDS = frozenset(
    {
        *(*GROUPS, "uuid", "name", "startTime", "endTime", "threadId", "environment", "status"),
        *("input", "output", CALLED, "tags", "metadata", "userId"),
    }
)


def parameters_of(tool: dict[str, Any]) -> Any:
    """Return the parameters of a tool that was called."""
    return parse_arguments(first_of(tool, _PARAMETERS))


def called_name(held: dict[str, Any]) -> str | None:
    """Return the name of a tool without the prefix of an integration."""
    name = string_of(held.get("name"))
    for prefix in _TOOL_PREFIXES:
        if name and name.startswith(prefix):
            return name.removeprefix(prefix) or name
    return name


def left_behind(record: dict[str, Any], carried: frozenset[str], of: str) -> dict[str, int]:
    """Return the fields of a record that are not carried, as notes."""
    return {
        f"{of} field {str(key)[:40]!r}": 1
        for key, held in record.items()
        if key not in carried and held not in (None, "", False, [], {})
    }


def trace_of_spans(trace: dict[str, Any], notes: dict[str, int]) -> list[Trace]:
    """Return the traces of a record's spans, with notes on what is not carried."""
    own_id = id_of(trace.get("uuid"))
    left: Counter[str] = Counter(notes)
    left.update(left_behind(trace, _TRACE_FIELDS, "trace"))
    wrapped = _wrapped(trace)
    spans: list[Span] = []
    for group, kind in GROUPS.items():
        for record in objects_of(trace.get(group)):
            left.update(left_behind(record, _SPAN_FIELDS, "span"))
            key = id_of(record.get("parentUuid")), called_name(record)
            is_repeat = kind == "tool" and key in wrapped
            spans.append(_span(record, own_id, "chain" if is_repeat else kind))
    if not any(_asks(span) for span in spans):
        spans += _declared(trace, own_id)
    about = scalars(
        name=trace.get("name"),
        thread=trace.get("threadId"),
        environment=trace.get("environment"),
    )
    return [
        replace(
            found,
            metadata={**found.metadata, **about},
            started_at=time_of(trace.get("startTime")),
            ended_at=time_of(trace.get("endTime")),
        )
        for found in traces_of(spans, "deepeval", left)
    ]


def _wrapped(trace: dict[str, Any]) -> set[tuple[str | None, str | None]]:
    """Return the uuid and name of LlamaIndex's spans around tools; the tool's own span inside it is the same call."""
    return {
        (id_of(record.get("uuid")), called_name(record))
        for record in objects_of(trace.get("toolSpans"))
        if "tool_kwargs" in object_of(object_of(json_of(record.get("input"))).get("ev"))
    }


def _asks(span: Span) -> bool:
    """Return whether a span is a tool call, or a model call with a tool call in its answer."""
    kind = span.attributes.get("langfuse.observation.type")
    answered = span.attributes.get("langfuse.observation.output")
    return kind == "tool" or (kind == "llm" and _calls_a_tool(answered))


def _calls_a_tool(answered: Any) -> bool:
    return any(message.calls for message in messages_in(answered, "assistant"))


def _declared(trace: dict[str, Any], trace_id: str | None) -> Iterator[Span]:
    """Yield the calls that a trace without tool spans only names, from the trace or else its first span with such names."""
    records = [trace, *(each for group in GROUPS for each in objects_of(trace.get(group)))]
    holder = next((each for each in records if objects_of(each.get(CALLED))), {})
    parent = None if holder is trace else id_of(holder.get("uuid"))
    for number, tool in enumerate(objects_of(holder.get(CALLED)), 1):
        span = recorded_span(
            trace_id,
            f"call_{number}",
            parent,
            called_name(tool),
            "tool",
            sent=parameters_of(tool),
            answered=tool.get("output"),
        )
        span.attributes["gen_ai.tool.name"] = span.name
        yield span


def _span(record: dict[str, Any], trace_id: str | None, kind: str) -> Span:
    about = object_of(record.get("metadata"))
    sent, answered = json_of(record.get("input")), json_of(record.get("output"))
    name, call_id, tools = string_of(record.get("name")), None, None
    usage = cost = None
    if kind == "tool":
        kind = "chain" if _is_listing(record) else kind
        name = called_name(record)
        call_id = _call_id(answered)
        sent, answered = _arguments(record, sent), _result(answered)
    elif kind == "llm":
        usage = counted(_usage(record, about, object_of(answered)))
        cost = _cost(record)
        sent = _request(sent)
        tools = _tools(about, sent)
        sent, answered = _messages(sent), _said(record, answered)
    elif kind == "agent":
        names = record.get("availableTools")
        tools = [{"name": each} for each in names] if type(names) is list else None
    span = recorded_span(
        trace_id,
        id_of(record.get("uuid")),
        id_of(record.get("parentUuid")),
        name,
        kind,
        sent=sent,
        answered=answered,
        model=string_of(record.get("model")) if kind == "llm" else None,
        usage=usage,
        cost_usd=cost,
        tools=tools,
        error=_error(record),
        started_at=time_of(record.get("startTime")),
        ended_at=time_of(record.get("endTime")),
    )
    if kind == "tool":
        span.attributes["gen_ai.tool.name"] = name
        if call_id:
            span.attributes["gen_ai.tool.call.id"] = call_id
    return span


def _error(record: dict[str, Any]) -> str | None:
    failed = record.get("status") == _FAILED
    return string_of(record.get("error")) or ("error" if failed else None)


def _usage(record: dict[str, Any], about: dict[str, Any], answered: dict[str, Any]) -> Usage | None:
    """Return a model call's tokens, cached ones included in the input: DeepEval's counts, or else the provider's."""
    of_provider = read_usage(first_of(answered, _USAGES))
    cached = count_of(about.get("cached_input_tokens"))
    if cached is None and of_provider is not None:
        cached = of_provider.cached_tokens
    stated = usage_of(
        record.get("inputTokenCount"), record.get("outputTokenCount"), cached_tokens=cached or None
    )
    return stated if counted(stated) else of_provider


def _cost(record: dict[str, Any]) -> float | None:
    total = 0.0
    for count, price in (
        ("inputTokenCount", "costPerInputToken"),
        ("outputTokenCount", "costPerOutputToken"),
    ):
        tokens, each = count_of(record.get(count)), cost_of(record.get(price))
        if tokens is None or each is None:
            return None
        total += tokens * each
    return cost_of(total) or None


def _request(sent: Any) -> Any:
    """Return a request; for a method of a wrapped client, it is the first argument."""
    listed = object_of(sent).get("args")
    return listed[0] if type(listed) is list and listed and type(listed[0]) is dict else sent


def _tools(about: dict[str, Any], sent: Any) -> Any:
    """Return the tools offered to a model: from its metadata, its request, or items between the messages."""
    listed = object_of(about.get("invocation_params")).get("tools") or object_of(sent).get("tools")
    if listed:
        return listed
    offered = [item["content"] for item in objects_of(sent) if _is_offer(item)]
    return [tool for each in offered for tool in _offer(each)]


def _is_offer(item: Any) -> bool:
    return (
        type(item) is dict
        and word_of(item.get("role")) in _OFFER_ROLES
        and item.get("content") is not None
    )


def _offer(content: Any) -> list[dict[str, Any]]:
    """Return the tools in an item: one printed as a Python dict by LangChain, or a list by Pydantic AI."""
    held = json_of(content)
    if type(held) is str:
        held = python_object_in(held)
    listed = object_of(held).get("function_tools")
    if type(listed) is not list:
        return [held] if type(held) is dict else []
    return [
        {**tool, "parameters": tool.get("parameters_json_schema")} for tool in objects_of(listed)
    ]


def _messages(sent: Any) -> Any:
    """Return the messages sent to a model, with calls and results in a common form; instructions come first."""
    request = object_of(sent)
    listed = sent if type(sent) is list else request.get("input", request.get("messages"))
    if type(listed) is str:
        listed = [{"role": "user", "content": listed}]
    if type(listed) is not list:
        return sent
    items = [_item(item) for item in listed if not _is_offer(item)]
    instructions = string_of(request.get("instructions"))
    return [{"role": "system", "content": instructions}, *items] if instructions else items


def _item(item: Any) -> Any:
    """Return an item as a message, also if it is a call or a result."""
    if type(item) is not dict or "content" in item:
        return item
    kind = word_of(item.get("type"))
    if "output" in item and (item.get("role") == "tool" or kind in _RESULT_TYPES):
        return {"role": "tool", "tool_call_id": item.get("call_id"), "content": item["output"]}
    call = _call_in(item)
    return item if call is None else {"role": "assistant", "tool_calls": [call]}


def _call_in(item: dict[str, Any]) -> dict[str, Any] | None:
    """Return the call in an item of an answer, in any integration's spelling; None for another item."""
    kind = word_of(item.get("type"))
    function = object_of(item.get("function")) or item
    name = string_of(first_of(function, ("name", "toolName")))
    if name is None or "content" in item or "role" in item or (kind and kind not in _CALL_TYPES):
        return None
    arguments = first_of(function, ("arguments", "args", "input", *_PARAMETERS))
    return {
        "id": id_of(first_of(item, ("call_id", "toolCallId", "id"))),
        "name": name,
        "arguments": {} if arguments is None else arguments,
    }


def _said(record: dict[str, Any], answered: Any) -> Any:
    """Return a model's answer with its calls; if the output has none, they are those in toolsCalled."""
    items = answered if type(answered) is list else [answered]
    calls = [_call_in(item) if type(item) is dict else None for item in items]
    if any(call is not None for call in calls):
        rest = [item for item, call in zip(items, calls, strict=True) if call is None]
        asked = {"role": "assistant", "tool_calls": [call for call in calls if call is not None]}
        return [*rest, asked]
    called = [
        {"name": called_name(tool), "arguments": parameters_of(tool)}
        for tool in objects_of(record.get(CALLED))
    ]
    if called and not _calls_a_tool(answered):
        said = [] if answered is None else items
        return [*said, {"role": "assistant", "tool_calls": called}]
    return answered


def _is_listing(record: dict[str, Any]) -> bool:
    return record.get("description") == _TOOL_LISTING and word_of(record.get("name")).startswith(
        _TOOL_LISTING
    )


def _arguments(record: dict[str, Any], sent: Any) -> Any:
    """Return a tool's arguments: from the event that LlamaIndex wraps, or from toolsCalled if the input is left out."""
    held = object_of(sent)
    event = object_of(held.get("ev"))
    if "tool_kwargs" in event:
        return event["tool_kwargs"]
    if held.keys() == {"args"} and type(held["args"]) is list:  # positional arguments
        return held["args"][0] if len(held["args"]) == 1 else held["args"]
    called = objects_of(record.get(CALLED))
    # toolsCalled has the tool's own call; an empty object means that the arguments are not recorded.
    return (parameters_of(called[0]) or None) if sent is None and len(called) == 1 else sent


def _result(answered: Any) -> Any:
    """Return a tool's result, without the data of the call that ADK and LlamaIndex repeat in it."""
    held = object_of(answered)
    if held.keys() >= {"name", "response"} and held.keys() <= {"id", "name", "response"}:
        return held["response"]
    inner = object_of(held.get("tool_output")) if "tool_kwargs" in held else held
    if "raw_output" in inner:
        return inner["raw_output"]
    return answered


def _call_id(answered: Any) -> str | None:
    """Return the id of the call that a LangChain tool message answers."""
    held = object_of(answered)
    return string_of(held.get("tool_call_id")) or string_of(
        object_of(held.get("kwargs")).get("tool_call_id")
    )
