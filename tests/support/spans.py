"""Manually built spans, and the trace read from them."""

from __future__ import annotations

import json
from itertools import count

from weighbridge.traces import Step
from weighbridge.traces.spans.content import include_details
from weighbridge.traces.spans.monocle import include_monocle
from weighbridge.traces.spans.spans import Span
from weighbridge.traces.spans.steps import traces_of

_numbers = count(1)
CHAT = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}
SECOND = 10**9
OPENAI_CALL = {"id": "c1", "function": {"name": "search", "arguments": '{"q": "x"}'}}


def span(attributes, *, span_id=None, parent=None, name="span", at=0, lasts=1, **facts):
    """Return a span that starts at second `at` and lasts `lasts` seconds."""
    start = (1_700_000_000 + at) * SECOND
    return Span(
        trace_id="t",
        id=span_id or f"span{next(_numbers)}",
        parent_id=parent,
        name=name,
        started_at=start,
        ended_at=start + lasts * SECOND,
        attributes=dict(attributes),
        **facts,
    )


def read(*spans):
    for each in spans:
        include_details(each)
        include_monocle(each)
    [trace] = traces_of(spans, "otel")
    return trace


def step(attributes, **facts) -> Step:
    """Return the last step of the trace read from a single span."""
    return read(span(attributes, **facts)).steps[-1]


def tool_facts(*spans):
    return [(tool.name, tool.arguments, tool.output) for tool in read(*spans).steps_of("tool")]


def asks(*calls, **attributes):
    """Return the attributes of a model call that requests tool calls."""
    parts = [
        {"type": "tool_call", "id": call_id, "name": name, "arguments": arguments}
        for call_id, name, arguments in calls
    ]
    answer = [{"role": "assistant", "parts": parts}]
    return CHAT | {"gen_ai.output.messages": json.dumps(answer)} | attributes


def runs(name="search", **facts):
    """Return the attributes of a tool call, optionally with `id`, `arguments` and `result`."""
    told = {f"gen_ai.tool.call.{key}": value for key, value in facts.items()}
    return {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name} | told
