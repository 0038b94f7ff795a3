"""Spans, and traces of services that collect them: OpenTelemetry, Langfuse, LangSmith, Phoenix and the like."""

from __future__ import annotations

import json
from typing import Any


def _observation(number: int, kind: str, name: str, **more: Any) -> dict[str, Any]:
    times = {"startTime": f"2025-01-01T12:00:0{number}Z", "endTime": f"2025-01-01T12:00:0{number}Z"}
    parent = {"parentObservationId": "o1"} if number > 1 else {}
    return {"id": f"o{number}", "traceId": "t", "type": kind, "name": name} | times | parent | more


_ASKING = {
    "role": "assistant",
    "content": "",
    "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
}

LANGFUSE = {
    "id": "t",
    "name": "run",
    "totalCost": 0.5,
    "latency": 2.0,
    "htmlPath": "/x",
    "observations": [
        _observation(1, "SPAN", "run"),
        _observation(
            2,
            "GENERATION",
            "chat",
            model="m",
            input={"messages": [{"role": "user", "content": "Find x."}], "tools": [{"name": "f"}]},
            output=_ASKING,
            usageDetails={
                "input": 5,
                "input_cache_read": 4,
                "output": 2,
                "output_reasoning": 1,
                "total": 12,
            },
            totalCost=0.5,
        ),
        _observation(
            3, "TOOL", "f", input={}, output="no", level="ERROR", statusMessage="no such thing"
        ),
        _observation(3, "TOOL", "f", input=None, output=None),
    ],
}


def _run(number: int, kind: str, name: str, parent: int | None = 1, **more: Any) -> dict[str, Any]:
    return {
        "id": f"r{number}",
        "trace_id": "r1",
        "parent_run_id": None if parent is None else f"r{parent}",
        "name": name,
        "run_type": kind,
        "start_time": f"2025-01-01T12:00:0{number}",
        "end_time": f"2025-01-01T12:00:0{number}",
        "inputs": {},
        "outputs": {},
    } | more


_AI = {
    "lc": 1,
    "type": "constructor",
    "id": ["langchain", "schema", "messages", "AIMessage"],
    "kwargs": {
        "content": "",
        "tool_calls": [{"name": "search", "args": {"q": "x"}, "id": "c1"}],
        "usage_metadata": {"input_tokens": 5, "output_tokens": 2, "total_tokens": 7},
    },
}

LANGSMITH = _run(
    1,
    "chain",
    "agent",
    None,
    child_runs=[
        _run(
            2,
            "llm",
            "ChatOpenAI",
            inputs={"messages": [[{"role": "user", "content": "Find x."}]]},
            outputs={"generations": [[{"text": "", "message": _AI}]]},
            extra={
                "metadata": {"ls_model_name": "m"},
                "invocation_params": {
                    "tools": [{"type": "function", "function": {"name": "search"}}]
                },
            },
            total_cost="0.5",
        ),
        _run(3, "tool", "search", inputs={"input": "{'q': 'x'}"}, error="no such thing"),
    ],
)


def _weave(number: int, op: str, **more: Any) -> dict[str, Any]:
    return {
        "id": f"w{number}",
        "op_name": f"weave:///e/p/op/{op}:abc",
        "trace_id": "t",
        "parent_id": "w1" if number > 1 else None,
        "started_at": f"2025-01-01T12:00:0{number}Z",
        "ended_at": f"2025-01-01T12:00:0{number}Z",
        "inputs": {},
        "output": None,
    } | more


_USED = {
    "usage": {"m": {"requests": 1, "prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}}
}

WEAVE = [
    _weave(1, "Agent.run", summary=_USED),
    _weave(
        2,
        "openai.chat.completions.create",
        inputs={
            "self": "x",
            "model": "m",
            "messages": [{"role": "user", "content": "Find x."}],
            "tools": [{"type": "function", "function": {"name": "search"}}],
        },
        output={
            "model": "m-1",
            "choices": [
                {
                    "message": {
                        "role": "assistant",
                        "content": "I look.",
                        "tool_calls": [
                            {
                                "id": "c1",
                                "type": "function",
                                "function": {"name": "bash", "arguments": '{"command": "ls"}'},
                            }
                        ],
                    }
                }
            ],
        },
        summary=_USED
        | {
            "weave": {
                "costs": {
                    "m": {"prompt_tokens_total_cost": 0.25, "completion_tokens_total_cost": 0.25}
                }
            }
        },
    ),
    _weave(
        3, "bash", attributes={"weave": {"kind": "tool"}}, inputs={"command": "ls"}, exception="no"
    ),
]


def _braintrust(
    name: str, kind: str, parent: str | None, start: float, **fields: Any
) -> dict[str, Any]:
    return {
        "id": f"row-{name}",
        "span_id": name,
        "root_span_id": "root",
        "span_parents": [parent] if parent else None,
        "span_attributes": {"name": name, "type": kind},
        "created": "2025-01-01T12:00:00Z",
        **fields,
        "metrics": {
            "start": 1735732800.0 + start,
            "end": 1735732801.0 + start,
            **fields.get("metrics", {}),
        },
    }


_BRAINTRUST_ASKED = [
    {"role": "system", "content": "You find."},
    {"role": "user", "content": "Find x."},
]

_BRAINTRUST_CALL = {
    "id": "c1",
    "type": "function",
    "function": {"name": "search", "arguments": '{"q": "x"}'},
}

BRAINTRUST = [
    _braintrust("root", "task", None, 0, input="Find x.", output="Not there."),
    _braintrust(
        "llm-1",
        "llm",
        "root",
        1,
        input=_BRAINTRUST_ASKED,
        output=[{"index": 0, "finish_reason": "tool_calls", "message": {"role": "assistant", "content": None, "tool_calls": [_BRAINTRUST_CALL]}}],
        metadata={"model": "m", "tools": [{"type": "function", "function": {"name": "search", "parameters": {"type": "object"}}}]},
        metrics={"prompt_tokens": 9, "completion_tokens": 5, "tokens": 14, "prompt_cached_tokens": 4, "estimated_cost": 0.5},
    ),
    _braintrust("search", "tool", "root", 2, input={"q": "x"}, output="none", error="too slow"),
    _braintrust(
        "llm-2",
        "llm",
        "root",
        3,
        input=[*_BRAINTRUST_ASKED, {"role": "assistant", "tool_calls": [_BRAINTRUST_CALL]}, {"role": "tool", "tool_call_id": "c1", "content": "none"}],
        output=[{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Not there."}}],
        metadata={"model": "m"},
        metrics={"prompt_tokens": 12, "completion_tokens": 3, "tokens": 15},
    ),
    _braintrust("judge", "score", "root", 4, input={}, output=1),
    _braintrust("llm-3", "llm", "judge", 4, input="Is it right?", output="yes", metrics={"prompt_tokens": 99, "completion_tokens": 1}),
]  # fmt: skip


def _opik(
    name: str, kind: str, parent: str | None, start: int, sent: Any, answered: Any, **fields: Any
) -> dict[str, Any]:
    return {
        "id": f"o-{name}",
        "project_id": "p1",
        "trace_id": "opik-1",
        "parent_span_id": parent,
        "name": name,
        "type": kind,
        "start_time": f"2025-01-01T12:00:0{start}Z",
        "end_time": f"2025-01-01T12:00:0{start + 1}Z",
        "input": sent,
        "output": answered,
        **fields,
    }


_OPIK_ASKED = [
    {"role": "system", "content": "You find."},
    {"role": "user", "content": "Find x."},
]

_OPIK_CALL = {
    "id": "c1",
    "type": "function",
    "function": {"name": "search", "arguments": '{"q": "x"}'},
}

OPIK_SPANS = [
    _opik("agent", "general", None, 0, {"task": "Find x."}, {"output": "Not there."}),
    _opik(
        "chat-1",
        "llm",
        "o-agent",
        1,
        {"messages": _OPIK_ASKED},
        {"choices": [{"index": 0, "finish_reason": "tool_calls", "message": {"role": "assistant", "content": None, "tool_calls": [_OPIK_CALL]}}]},
        metadata={"tools": [{"type": "function", "function": {"name": "search", "parameters": {"type": "object"}}}], "created_from": "openai"},
        model="m",
        provider="openai",
        usage={"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 14, "original_usage.prompt_tokens_details.cached_tokens": 4},
        total_estimated_cost=0.5,
    ),
    _opik(
        "search", "tool", "o-agent", 2, {"q": "x"}, {"output": "none"},
        error_info={"exception_type": "TimeoutError", "message": "too slow", "traceback": "..."},
    ),
    _opik(
        "chat-2",
        "llm",
        "o-agent",
        3,
        {"messages": [*_OPIK_ASKED, {"role": "assistant", "tool_calls": [_OPIK_CALL]}, {"role": "tool", "tool_call_id": "c1", "content": "none"}]},
        {"choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Not there."}}]},
        model="m",
        usage={"original_usage.input_tokens": 10, "original_usage.output_tokens": 3, "original_usage.cache_read_input_tokens": 2},
    ),
    _opik("metrics_calculation", "general", None, 4, {}, {}, tags=["__opik_eval_internal__"]),
    _opik("judge", "llm", "o-metrics_calculation", 4, {"prompt": "Is it right?"}, {"output": "yes"}, usage={"prompt_tokens": 99, "completion_tokens": 1, "total_tokens": 100}),
]  # fmt: skip

OPIK = {
    "trace": {
        "id": "opik-1",
        "project_id": "p1",
        "name": "agent",
        "start_time": "2025-01-01T12:00:00Z",
        "end_time": "2025-01-01T12:00:05Z",
        "input": {"task": "Find x."},
        "output": {"output": "Not there."},
        "usage": {"prompt_tokens": 108, "completion_tokens": 6, "total_tokens": 129},
        "total_estimated_cost": 0.5,
        "span_count": 6,
        "llm_span_count": 3,
        "thread_id": "t1",
    },
    "spans": OPIK_SPANS,
    "project_name": "p",
}

_GUARDED = {"trace_id": "g", "start_time": 0.0, "end_time": 1.5, "duration": 1.5}

NEMO_GUARDRAILS = {
    "trace_id": "g",
    "spans": [
        {**_GUARDED, "name": "interaction", "span_id": "1", "parent_id": None, "metrics": {"interaction_total": 1}},
        {**_GUARDED, "name": "rail: self check input", "span_id": "2", "parent_id": "1", "metrics": {}},
        {**_GUARDED, "name": "action: self_check_input", "span_id": "3", "parent_id": "2", "metrics": {"action_self_check_input_total": 1}},
        {**_GUARDED, "name": "LLM: a/m", "span_id": "4", "parent_id": "3", "metrics": {"llm_call_a_m_total": 1, "llm_call_a_m_prompt_tokens_total": 9, "llm_call_a_m_completion_tokens_total": 2, "llm_call_a_m_tokens_total": 11}},
    ],
}  # fmt: skip


def _phoenix(number: int, kind: str, name: str, **attributes: Any) -> dict[str, Any]:
    """Return a row of the table of spans in Phoenix's database."""
    return {
        "id": number,
        "trace_rowid": 1,
        "span_id": f"00000000000000a{number}",
        "parent_id": "00000000000000a1" if number > 1 else None,
        "name": name,
        "span_kind": kind,
        "start_time": f"2025-01-01 12:00:0{number}.000000",
        "end_time": f"2025-01-01 12:00:0{number + 1}.000000",
        "attributes": json.dumps({"openinference": {"span": {"kind": kind}}, **attributes}),
        "events": "[]",
        "status_code": "OK",
        "status_message": "",
    }


PHOENIX_STORED = {
    "session": {"id": 1, "trace_id": "0" * 31 + "b", "start_time": "2025-01-01 12:00:01.000000", "end_time": "2025-01-01 12:00:09.000000"},
    "rows": [
        _phoenix(1, "AGENT", "finder"),
        _phoenix(
            2,
            "LLM",
            "ChatCompletion",
            llm={
                "model_name": "m",
                "token_count": {"prompt": 9, "completion": 2, "total": 11},
                "input_messages": [{"message": {"role": "user", "content": "Find x."}}],
                "output_messages": [{"message": {"role": "assistant", "content": "I search.", "tool_calls": [{"tool_call": {"id": "c1", "function": {"name": "search", "arguments": '{"q": "x"}'}}}]}}],
            },
        ),
        _phoenix(3, "TOOL", "search", tool={"name": "search"}, input={"value": '{"q": "x"}'}, output={"value": "none"}),
    ],
    "parts": [{"span_rowid": 2, "trace_rowid": 1, "total_cost": 0.25}],
}  # fmt: skip

EXAMPLES: dict[str, Any] = {
    "otel": {
        "resourceSpans": [
            {
                "scopeSpans": [
                    {
                        "spans": [
                            {
                                "traceId": "5b8efff798038103d269b633813fc60c",
                                "spanId": "00f067aa0ba902b7",
                                "name": "chat m",
                                "startTimeUnixNano": "1735732800000000000",
                                "endTimeUnixNano": "1735732801000000000",
                                "attributes": [
                                    {"key": key, "value": {"stringValue": value}}
                                    for key, value in (
                                        ("gen_ai.operation.name", "chat"),
                                        ("gen_ai.request.model", "m"),
                                    )
                                ],
                            }
                        ]
                    }
                ]
            }
        ]
    },
    "jaeger": {
        "data": [
            {
                "traceID": "5b8efff798038103d269b633813fc60c",
                "spans": [
                    {
                        "traceID": "5b8efff798038103d269b633813fc60c",
                        "spanID": "a",
                        "operationName": "chat m",
                        "references": [],
                        "startTime": 1735732800000000,
                        "duration": 1500,
                        "tags": [
                            {"key": "gen_ai.operation.name", "type": "string", "value": "chat"},
                            {"key": "gen_ai.request.model", "type": "string", "value": "m"},
                        ],
                        "logs": [],
                        "processID": "p1",
                    }
                ],
                "processes": {"p1": {"serviceName": "helper", "tags": []}},
            }
        ]
    },
    "langfuse": LANGFUSE,
    "langsmith": LANGSMITH,
    "weave": WEAVE,
    "braintrust": BRAINTRUST,
    "opik": OPIK,
    "nemo-guardrails": NEMO_GUARDRAILS,
}
