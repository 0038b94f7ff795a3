"""Writers of one run in each format, with all the information that the format supports.

A run is a native trace of system, user, llm and tool steps, with each tool step under the llm step that requested it,
and optionally an agent step around them all.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from weighbridge.traces.fields import iso_time

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weighbridge.traces import Step, Trace

TRACE_ID = "5b8efff798038103d269b633813fc60c"
Names = Literal["new", "old", "openinference"]


@dataclass
class Turn:
    """A model call with its tool calls, and the messages since the previous model call."""

    step: Step
    said: list[Step]  #: system and user steps
    calls: list[Step] = field(default_factory=list)


def turns(trace: Trace) -> tuple[list[Turn], list[Step]]:
    """Return a run's model calls in order, and the messages after the last one."""
    found: list[Turn] = []
    by_id: dict[str, Turn] = {}
    said: list[Step] = []
    for step in trace.steps:
        if step.type == "llm":
            by_id[step.id] = Turn(step, said)
            found.append(by_id[step.id])
            said = []
        elif step.type == "tool":
            by_id[step.parent_id or ""].calls.append(step)
        elif step.type != "agent":
            said.append(step)
    return found, said


def known(**values: Any) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}


def as_openai_chat(trace: Trace) -> dict[str, Any]:
    """Write a run as OpenAI chat messages, with tokens, cost and time as some tools store them."""
    messages: list[dict[str, Any]] = []
    found, rest = turns(trace)
    for turn in found:
        messages += map(_chat_said, turn.said)
        step = turn.step
        messages.append(
            known(
                role="assistant",
                model=step.model,
                usage=_openai_usage(step, "prompt", "completion"),
                cost=step.cost_usd,
                timestamp=iso_time(step.ended_at) if step.ended_at else None,
                finish_reason=step.finish_reason,
                tool_calls=[_chat_call(call) for call in turn.calls] or None,
            )
            | {"content": step.output}
        )
        for call in turn.calls:
            result = {"role": "tool", "tool_call_id": call.id, "content": call.output}
            ended_at = iso_time(call.ended_at) if call.ended_at else None
            failed = True if call.error else None
            messages.append(result | known(error=failed, timestamp=ended_at))
    messages += map(_chat_said, rest)
    return known(id=trace.id, messages=messages, tools=_chat_tools(trace) or None)


def _chat_said(step: Step) -> dict[str, Any]:
    return {"role": step.type, "content": step.output}


def _chat_call(call: Step) -> dict[str, Any]:
    function = {"name": call.name, "arguments": json.dumps(call.arguments)}
    return {"id": call.id, "type": "function", "function": function}


def _chat_tools(trace: Trace) -> list[dict[str, Any]]:
    return [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.schema,
            },
        }
        for tool in trace.tools
    ]


def _openai_usage(step: Step, sent: str, received: str) -> dict[str, Any] | None:
    usage = step.usage
    if usage is None:
        return None
    details = known(cached_tokens=usage.cached_tokens)
    return known(
        **{
            f"{sent}_tokens": usage.input_tokens,
            f"{received}_tokens": usage.output_tokens,
            "total_tokens": usage.total_tokens,
            f"{sent}_tokens_details": details or None,
        }
    )


def as_langchain(trace: Trace) -> dict[str, Any]:
    """Write a run as LangChain messages in a graph's state, each with its fields under `data`."""
    messages: list[dict[str, Any]] = []
    found, rest = turns(trace)
    for turn in found:
        messages += map(_langchain_said, turn.said)
        messages.append({"type": "ai", "data": _langchain_answer(turn)})
        for call in turn.calls:
            status = "error" if call.error else "success"
            data = {"content": call.output, "tool_call_id": call.id, "status": status}
            messages.append({"type": "tool", "data": data | {"name": call.name}})
    messages += map(_langchain_said, rest)
    return known(id=trace.id, messages=messages, tools=_chat_tools(trace) or None)


def _langchain_said(step: Step) -> dict[str, Any]:
    kind = "human" if step.type == "user" else "system"
    return {"type": kind, "data": {"content": step.output, "type": kind, "example": False}}


def _langchain_answer(turn: Turn) -> dict[str, Any]:
    step, usage = turn.step, turn.step.usage
    counts = usage and {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "total_tokens": usage.total,
        "input_token_details": known(cache_read=usage.cached_tokens),
    }
    return {
        "content": step.output,
        "id": step.id,
        "type": "ai",
        "additional_kwargs": {"tool_calls": [_chat_call(call) for call in turn.calls]},
        "response_metadata": {"model_name": step.model, "finish_reason": step.finish_reason},
        "tool_calls": [
            {"name": call.name, "args": call.arguments, "id": call.id, "type": "tool_call"}
            for call in turn.calls
        ],
        "invalid_tool_calls": [],
        "usage_metadata": counts,
    }


def as_anthropic(trace: Trace) -> dict[str, Any]:
    """Write a run as a request of the Messages API whose messages contain the complete answers."""
    messages: list[dict[str, Any]] = []
    found, rest = turns(trace)
    system: list[str] = []
    results: list[dict[str, Any]] = []
    for said, turn in [*((turn.said, turn) for turn in found), (rest, None)]:
        system += [step.output for step in said if step.type == "system"]
        content = results + [
            {"type": "text", "text": step.output} for step in said if step.type == "user"
        ]
        if content:
            messages.append({"role": "user", "content": content})
        if turn:
            messages.append(_anthropic_answer(turn))
            results = [_anthropic_result(call) for call in turn.calls]
    tools = [
        {"name": tool.name, "description": tool.description, "input_schema": tool.schema}
        for tool in trace.tools
    ]
    instructions = "\n".join(system) or None
    return known(id=trace.id, system=instructions, tools=tools or None, messages=messages)


_ANTHROPIC_WORDS = {"stop": "end_turn", "length": "max_tokens", "tool_call": "tool_use"}


def _anthropic_answer(turn: Turn) -> dict[str, Any]:
    step, usage = turn.step, turn.step.usage
    content: list[dict[str, Any]] = []
    if step.output is not None:
        content.append({"type": "text", "text": step.output})
    for call in turn.calls:
        block = {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments}
        content.append(block)
    answer = {"id": step.id, "type": "message", "role": "assistant", "content": content}
    if usage is not None:
        cached = usage.cached_tokens or 0
        answer["usage"] = {
            "input_tokens": (usage.input_tokens or 0) - cached,
            "cache_read_input_tokens": cached,
            "output_tokens": usage.output_tokens,
        }
    stop_reason = _ANTHROPIC_WORDS.get(step.finish_reason)
    return answer | known(model=step.model, stop_reason=stop_reason)


def _anthropic_result(call: Step) -> dict[str, Any]:
    content = [{"type": "text", "text": call.output}]
    block = {"type": "tool_result", "tool_use_id": call.id, "content": content}
    return block | ({"is_error": True} if call.error else {})


def as_openai_responses(trace: Trace) -> list[dict[str, Any]]:
    """Write a run as responses, each with its new input; the format lacks failures of functions."""
    responses = []
    results: list[dict[str, Any]] = []
    found, rest = turns(trace)
    for turn in found:
        step = turn.step
        said = [{"role": item.type, "content": item.output} for item in turn.said]
        output = []
        if step.output is not None:
            part = {"type": "output_text", "text": step.output, "annotations": []}
            output.append({"type": "message", "role": "assistant", "content": [part]})
        output += [
            {
                "type": "function_call",
                "call_id": call.id,
                "name": call.name,
                "arguments": json.dumps(call.arguments),
            }
            for call in turn.calls
        ]
        responses.append(
            known(
                id=step.id,
                object="response",
                created_at=step.started_at / 1e9 if step.started_at else None,
                completed_at=step.ended_at / 1e9 if step.ended_at else None,
                status="completed",
                model=step.model,
                input=results + said,
                output=output,
                usage=_openai_usage(step, "input", "output"),
                tools=[{"type": "function"} | tool["function"] for tool in _chat_tools(trace)],
            )
        )
        results = [
            {"type": "function_call_output", "call_id": call.id, "output": call.output}
            for call in turn.calls
        ]
    left = results + [{"role": item.type, "content": item.output} for item in rest]
    return [*responses, {"input": left}] if left else responses


def as_atif(trace: Trace) -> dict[str, Any]:
    """Write a run as an ATIF trajectory; the format lacks the ends of steps and the times of tools."""
    steps: list[dict[str, Any]] = []
    found, rest = turns(trace)
    for turn in found:
        steps += map(_atif_said, turn.said)
        step, usage = turn.step, turn.step.usage
        metrics = known(cost_usd=step.cost_usd)
        if usage is not None:
            metrics |= known(
                prompt_tokens=usage.input_tokens,
                completion_tokens=usage.output_tokens,
                cached_tokens=usage.cached_tokens,
            )
        calls = [
            {"tool_call_id": call.id, "function_name": call.name, "arguments": call.arguments}
            for call in turn.calls
        ]
        results = [
            {"source_call_id": call.id, "content": call.output}
            | ({"extra": {"is_error": True}} if call.error else {})
            for call in turn.calls
        ]
        steps.append(
            known(
                source="agent",
                message=step.output,
                model_name=step.model,
                timestamp=iso_time(step.started_at) if step.started_at else None,
                tool_calls=calls or None,
                observation={"results": results} if results else None,
                metrics=metrics or None,
            )
        )
    steps += map(_atif_said, rest)
    agent = {"name": "agent", "version": "1", "tool_definitions": _chat_tools(trace)}
    numbered = [{"step_id": number, **step} for number, step in enumerate(steps, 1)]
    head = {"schema_version": "ATIF-v1.4", "session_id": trace.id or "run"}
    return head | {"agent": agent, "steps": numbered}


def _atif_said(step: Step) -> dict[str, Any]:
    return {"source": step.type, "message": step.output}


@dataclass
class _Span:
    name: str
    id: str
    parent_id: str | None
    step: Step
    attributes: dict[str, Any]


def as_otlp(trace: Trace, names: Names = "new") -> dict[str, Any]:
    """Write a run as an OTLP-JSON request, with the GenAI conventions' attribute names, new or old."""
    spans = [
        known(
            traceId=TRACE_ID,
            spanId=span.id,
            parentSpanId=span.parent_id,
            name=span.name,
            startTimeUnixNano=_text(span.step.started_at),
            endTimeUnixNano=_text(span.step.ended_at),
            attributes=[{"key": key, "value": _any(item)} for key, item in span.attributes.items()],
            status={"code": 2, "message": span.step.error} if span.step.error else {},
        )
        for span in _spans(trace, names)
    ]
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": "agent"}}]}
    scope = {"scope": {"name": "tests"}, "spans": spans}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [scope]}]}


def as_openinference(trace: Trace) -> dict[str, Any]:
    """Write a run as an OTLP-JSON request, with OpenInference's attribute names."""
    return as_otlp(trace, "openinference")


def as_mastra_spans(trace: Trace) -> list[dict[str, Any]]:
    """Write a run as rows of Mastra's table of spans: an agent's run with one generation, and a step for each model call."""
    found, _ = turns(trace)
    spans = [
        _mastra_span("a", None, "agent_run", "agent run: 'helper'", {}),
        _mastra_span("g", "a", "model_generation", "llm: 'm'", _mastra_usage(trace)),
    ]
    for number, turn in enumerate(found):
        step = turn.step
        calls = [
            {"toolCallId": call.id, "toolName": call.name, "args": call.arguments}
            for call in turn.calls
        ]
        about = {
            **_mastra_usage(step),
            "model": step.model,
            "finishReason": "tool-calls" if calls else "stop",
        }
        sent = [_chat_said(said) for said in turn.said]
        kept = {"input": sent, "output": {"text": step.output, "toolCalls": calls}}
        spans += [
            _mastra_span(f"s{number}", "g", "model_step", f"step: {number}", about, **kept),
            _mastra_span(f"i{number}", f"s{number}", "model_inference", "inference", about),
            _mastra_span(f"c{number}", f"i{number}", "model_chunk", "chunk: 'text'", {}),
        ]
        for call in turn.calls:
            facts = {"input": call.arguments, "output": call.output}
            facts |= {"error": {"message": call.error}} if call.error else {}
            spans.append(
                _mastra_span(
                    call.id,
                    f"s{number}",
                    "tool_call",
                    f"tool: '{call.name}'",
                    {"success": not call.error},
                    **facts,
                )
            )
    return spans  # fmt: skip


def _mastra_usage(held: Trace | Step) -> dict[str, Any]:
    usage = held.usage
    if usage is None:
        return {}
    details = {"cacheRead": usage.cached_tokens}
    return {
        "usage": {
            "inputTokens": usage.input_tokens,
            "outputTokens": usage.output_tokens,
            "inputDetails": details,
        }
    }


def _mastra_span(
    span_id: str, parent: str | None, kind: str, name: str, attributes: dict[str, Any], **kept: Any
) -> dict[str, Any]:
    held = {column: None if item is None else json.dumps(item) for column, item in kept.items()}
    return {
        "traceId": TRACE_ID,
        "spanId": span_id,
        "parentSpanId": parent,
        "name": name,
        "spanType": kind,
        "attributes": json.dumps(attributes),
        "input": None,
        "output": None,
        "error": None,
        **held,
        "startedAt": "2026-01-01T12:00:00.000Z",
        "endedAt": "2026-01-01T12:00:01.000Z",
        "isEvent": 0,
    }


def as_jaeger(trace: Trace) -> dict[str, Any]:
    """Write a run as Jaeger's JSON, with the new attribute names; times are truncated to microseconds."""
    spans = []
    for span in _spans(trace, "new"):
        step, tags = span.step, dict(span.attributes)
        if step.error:
            tags |= {"error": True, "otel.status_description": step.error}
            tags["otel.status_code"] = "ERROR"
        start = (step.started_at or 0) // 1000
        references = [{"refType": "CHILD_OF", "traceID": TRACE_ID, "spanID": span.parent_id}]
        spans.append(
            {
                "traceID": TRACE_ID,
                "spanID": span.id,
                "operationName": span.name,
                "references": references if span.parent_id else [],
                "startTime": start,
                "duration": (step.ended_at or 0) // 1000 - start,
                "tags": [_tag(key, value) for key, value in tags.items()],
                "logs": [],
                "processID": "p1",
            }
        )
    processes = {"p1": {"serviceName": "agent", "tags": []}}
    return {"data": [{"traceID": TRACE_ID, "spans": spans, "processes": processes}]}


def _tag(key: str, value: Any) -> dict[str, Any]:
    kind = {bool: "bool", int: "int64", float: "float64"}.get(type(value), "string")
    return {"key": key, "type": kind, "value": value}


def _text(number: int | None) -> str | None:
    return None if number is None else str(number)


def _any(value: Any) -> dict[str, Any]:
    if type(value) is int:
        return {"intValue": str(value)}
    return {"doubleValue": value} if type(value) is float else {"stringValue": value}


def _spans(trace: Trace, names: Names) -> Iterator[_Span]:
    write_model, write_tool = _WRITERS[names]
    ids = {step.id: f"{number:016x}" for number, step in enumerate(trace.steps, 1)}
    found, _ = turns(trace)
    agent = next((step for step in trace.steps if step.type == "agent"), None)
    outer = ids[agent.id] if agent else None
    if agent:
        attributes = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": agent.name}
        yield _Span(f"invoke_agent {agent.name}", ids[agent.id], None, agent, attributes)
    history: list[dict[str, Any]] = []
    for turn in found:
        history += map(_chat_said, turn.said)
        answer = {"role": "assistant", "content": turn.step.output, "tool_calls": turn.calls}
        attributes = write_model(trace, turn.step, history, answer)
        yield _Span("chat", ids[turn.step.id], outer, turn.step, known(**attributes))
        history.append(answer)
        for call in turn.calls:
            attributes = known(**write_tool(call))
            yield _Span(f"execute_tool {call.name}", ids[call.id], outer, call, attributes)
            history.append({"role": "tool", "content": call.output, "tool_call_id": call.id})


def _new_model(trace: Trace, step: Step, history: list[Any], answer: Any) -> dict[str, Any]:
    usage = step.usage
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": step.model,
        "gen_ai.response.model": step.model,
        "gen_ai.usage.input_tokens": usage.input_tokens if usage else None,
        "gen_ai.usage.output_tokens": usage.output_tokens if usage else None,
        "gen_ai.usage.total_tokens": usage.total_tokens if usage else None,
        "gen_ai.usage.cache_read.input_tokens": usage.cached_tokens if usage else None,
        "gen_ai.usage.cost": step.cost_usd,
        "gen_ai.input.messages": json.dumps([_parts(message) for message in history]),
        "gen_ai.output.messages": json.dumps(
            [_parts(answer) | known(finish_reason=step.finish_reason)]
        ),
        "gen_ai.tool.definitions": json.dumps(
            [{"type": "function"} | tool["function"] for tool in _chat_tools(trace)]
        ),
    }


def _parts(message: dict[str, Any]) -> dict[str, Any]:
    parts: list[dict[str, Any]] = []
    if message["role"] == "tool":
        call_id, content = message["tool_call_id"], message["content"]
        parts.append({"type": "tool_call_response", "id": call_id, "response": content})
    elif message["content"] is not None:
        parts.append({"type": "text", "content": message["content"]})
    for call in message.get("tool_calls", ()):
        part = {"type": "tool_call", "id": call.id, "name": call.name, "arguments": call.arguments}
        parts.append(part)
    return {"role": message["role"], "parts": parts}


def _new_tool(call: Step) -> dict[str, Any]:
    return {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": call.name,
        "gen_ai.tool.call.id": call.id,
        "gen_ai.tool.call.arguments": json.dumps(call.arguments),
        "gen_ai.tool.call.result": call.output,
    }


def _old_model(trace: Trace, step: Step, history: list[Any], answer: Any) -> dict[str, Any]:
    usage = step.usage
    attributes = {
        "llm.request.type": "chat",
        "gen_ai.system": "openai",
        "gen_ai.request.model": step.model,
        "gen_ai.response.model": step.model,
        "gen_ai.usage.prompt_tokens": usage.input_tokens if usage else None,
        "gen_ai.usage.completion_tokens": usage.output_tokens if usage else None,
        "llm.usage.total_tokens": usage.total_tokens if usage else None,
        "gen_ai.usage.cache_read_input_tokens": usage.cached_tokens if usage else None,
        "gen_ai.completion.0.finish_reason": step.finish_reason,
        "gen_ai.usage.cost": step.cost_usd,
    }
    for number, message in enumerate(history):
        attributes |= _spread(f"gen_ai.prompt.{number}", message)
    attributes |= _spread("gen_ai.completion.0", answer)
    for number, tool in enumerate(_chat_tools(trace)):
        for key, value in tool["function"].items():
            told = json.dumps(value) if key == "parameters" else value
            attributes[f"llm.request.functions.{number}.{key}"] = told
    return attributes


def _spread(prefix: str, message: dict[str, Any]) -> dict[str, Any]:
    names = ("role", "content", "tool_call_id")
    attributes = {f"{prefix}.{name}": message.get(name) for name in names}
    for number, call in enumerate(message.get("tool_calls", ())):
        start = f"{prefix}.tool_calls.{number}"
        attributes |= {f"{start}.id": call.id, f"{start}.name": call.name}
        attributes[f"{start}.arguments"] = json.dumps(call.arguments)
    return attributes


def _old_tool(call: Step) -> dict[str, Any]:
    inputs = {"input_str": str(call.arguments), "inputs": call.arguments, "kwargs": {}}
    return {
        "traceloop.span.kind": "tool",
        "traceloop.entity.name": call.name,
        "traceloop.entity.input": json.dumps(inputs),
        "traceloop.entity.output": json.dumps({"output": call.output, "kwargs": {}}),
    }


def _openinference_model(
    trace: Trace, step: Step, history: list[Any], answer: Any
) -> dict[str, Any]:
    usage = step.usage
    attributes = {
        "openinference.span.kind": "LLM",
        "llm.model_name": step.model,
        "llm.token_count.prompt": usage.input_tokens if usage else None,
        "llm.token_count.completion": usage.output_tokens if usage else None,
        "llm.token_count.total": usage.total_tokens if usage else None,
        "llm.token_count.prompt_details.cache_read": usage.cached_tokens if usage else None,
        "llm.cost.total": step.cost_usd,
        "llm.finish_reason": step.finish_reason,
        "input.value": json.dumps({"messages": "..."}),
        "output.value": json.dumps({"choices": "..."}),
    }
    for number, message in enumerate(history):
        attributes |= _openinference_message(f"llm.input_messages.{number}", message)
    attributes |= _openinference_message("llm.output_messages.0", answer)
    for number, tool in enumerate(_chat_tools(trace)):
        attributes[f"llm.tools.{number}.tool.json_schema"] = json.dumps(tool)
    return attributes


def _openinference_message(prefix: str, message: dict[str, Any]) -> dict[str, Any]:
    names = ("role", "content", "tool_call_id")
    attributes = {f"{prefix}.message.{name}": message.get(name) for name in names}
    for number, call in enumerate(message.get("tool_calls", ())):
        start = f"{prefix}.message.tool_calls.{number}.tool_call"
        attributes |= {f"{start}.id": call.id, f"{start}.function.name": call.name}
        attributes[f"{start}.function.arguments"] = json.dumps(call.arguments)
    return attributes


def _openinference_tool(call: Step) -> dict[str, Any]:
    return {
        "openinference.span.kind": "TOOL",
        "tool.name": call.name,
        "input.value": json.dumps(call.arguments),
        "input.mime_type": "application/json",
        "output.value": call.output,
    }


_WRITERS: dict[Names, Any] = {
    "new": (_new_model, _new_tool),
    "old": (_old_model, _old_tool),
    "openinference": (_openinference_model, _openinference_tool),
}
