"""Frameworks for agents: LangChain and LangGraph, Agno, Pydantic AI, smolagents, DSPy, Letta, Strands and Haystack."""

from __future__ import annotations

import json
from typing import Any

LANGGRAPH_MESSAGES = [
    {"type": "human", "content": "Find x.", "id": "m1"},
    {
        "type": "ai",
        "content": "I look.",
        "id": "m2",
        "tool_calls": [{"name": "search", "args": {"q": "x"}, "id": "c1", "type": "tool_call"}],
        "usage_metadata": {"input_tokens": 9, "output_tokens": 5, "total_tokens": 14},
        "response_metadata": {"model_name": "m"},
    },
    {"type": "tool", "name": "search", "content": "none", "tool_call_id": "c1", "id": "m3"},
    {
        "type": "ai",
        "content": "Not there.",
        "id": "m4",
        "tool_calls": [],
        "usage_metadata": {"input_tokens": 12, "output_tokens": 3, "total_tokens": 15},
    },
]


def _langchain_event(
    kind: str, run: str, name: str, parents: list[str], **fields: Any
) -> dict[str, Any]:
    about = {"thread_id": "t1", "langgraph_node": "agent"}
    event = {"event": f"on_{kind}", "data": fields, "name": name, "tags": [], "metadata": about}
    return {**event, "run_id": run, "parent_ids": parents}


_LANGCHAIN_ASKED = {"messages": [LANGGRAPH_MESSAGES[:1]]}

_LANGCHAIN_ASKED_AGAIN = {"messages": [LANGGRAPH_MESSAGES[:3]]}

_LANGCHAIN_CHUNK = {"type": "AIMessageChunk", "content": "I ", "id": "m2"}

LANGCHAIN_EVENTS = [
    _langchain_event("chain_start", "r0", "LangGraph", [], input={"messages": []}),
    _langchain_event("chat_model_start", "r1", "Chat", ["r0"], input=_LANGCHAIN_ASKED),
    _langchain_event("chat_model_stream", "r1", "Chat", ["r0"], chunk=_LANGCHAIN_CHUNK),
    _langchain_event("chat_model_end", "r1", "Chat", ["r0"], output=LANGGRAPH_MESSAGES[1], input=_LANGCHAIN_ASKED),
    _langchain_event("tool_start", "r2", "search", ["r0"], input={"q": "x"}),
    _langchain_event("tool_end", "r2", "search", ["r0"], output=LANGGRAPH_MESSAGES[2], input={"q": "x"}),
    _langchain_event("chat_model_start", "r3", "Chat", ["r0"], input=_LANGCHAIN_ASKED_AGAIN),
    _langchain_event("chat_model_end", "r3", "Chat", ["r0"], output=LANGGRAPH_MESSAGES[3], input=_LANGCHAIN_ASKED_AGAIN),
    _langchain_event("chain_end", "r0", "LangGraph", [], output={"messages": LANGGRAPH_MESSAGES}),
]  # fmt: skip

#: A state after each step, newest first, as `get_state_history` and the server list them.
LANGGRAPH = [
    {
        "values": {"messages": LANGGRAPH_MESSAGES[:count], "topic": "x"},
        "next": [],
        "config": {"configurable": {"thread_id": "t1", "checkpoint_id": f"k{count}"}},
        "metadata": {"source": "loop", "step": count - 1},
        "created_at": f"2025-01-01T12:00:0{count}Z",
        "parent_config": None,
        "tasks": [],
    }
    for count in (4, 3, 2, 1, 0)
]


def _agno(role: str, **fields: Any) -> dict[str, Any]:
    return {
        "role": role,
        "from_history": False,
        "stop_after_tool_call": False,
        "created_at": 1735732800,
        **fields,
    }


def _agno_call(call_id: str) -> dict[str, Any]:
    return {
        "id": call_id,
        "type": "function",
        "function": {"name": "search", "arguments": '{"q": "x"}'},
    }


AGNO = {
    "run_id": "r",
    "agent_id": "a",
    "agent_name": "Finder",
    "session_id": "s",
    "status": "COMPLETED",
    "content": "Not there.",
    "content_type": "str",
    "model": "m",
    "model_provider": "Anthropic",
    "created_at": 1735732800,
    "metrics": {"input_tokens": 15, "output_tokens": 7, "total_tokens": 22, "cache_read_tokens": 4, "duration": 9.5},
    "messages": [
        _agno("user", content="Find w.", from_history=True),
        _agno("assistant", content="No w.", from_history=True, metrics={"input_tokens": 99, "output_tokens": 9}),
        _agno("system", content="You find."),
        _agno("user", content="Find x."),
        _agno("assistant", tool_calls=[_agno_call("c1"), _agno_call("c2")], metrics={"input_tokens": 5, "output_tokens": 4, "total_tokens": 9, "duration": 2.5}),
        _agno("tool", content="none", tool_call_id="c1", tool_name="search", tool_args={"q": "x"}, tool_call_error=False),
        _agno("tool", content="too slow", tool_call_id="c2", tool_name="search", tool_call_error=True),
        _agno("assistant", content="Not there.", metrics={"input_tokens": 10, "output_tokens": 3, "total_tokens": 13, "cache_read_tokens": 4, "cost": 0.5}),
    ],
    "tools": [
        {"tool_call_id": "c1", "tool_name": "search", "tool_args": {"q": "x"}, "result": "none"},
        {"tool_call_id": "c2", "tool_name": "search", "tool_args": {"q": "x"}, "tool_call_error": True},
    ],
}  # fmt: skip

#: Rows of Agno's databases: of version 2, and of version 1.
AGNO_ROWS = [
    {
        "session_id": name,
        "session_type": "agent",
        "agent_id": "a",
        "session_data": "{}",
        "runs": json.dumps([AGNO | {"run_id": f"r{name}{number}"} for number in range(2)]),
    }
    for name in ("s", "t")
]

AGNO_OLD_ROWS = [
    {
        "session_id": "s",
        "agent_id": "a",
        "session_data": "{}",
        "memory": json.dumps({"runs": [AGNO]}),
    }
]

PYDANTIC_AI = [
    {
        "kind": "request",
        "instructions": "Be brief.",
        "parts": [
            {"part_kind": "system-prompt", "content": "You find."},
            {"part_kind": "user-prompt", "content": "Find x.", "timestamp": "2025-01-01T12:00:00Z"},
        ],
    },
    {
        "kind": "response",
        "model_name": "m",
        "timestamp": "2025-01-01T12:00:01Z",
        "usage": {"input_tokens": 5, "output_tokens": 2, "cache_read_tokens": 4},
        "parts": [
            {"part_kind": "thinking", "content": "hm"},
            {"part_kind": "text", "content": "I search."},
            {
                "part_kind": "tool-call",
                "tool_name": "search",
                "args": '{"q": "x"}',
                "tool_call_id": "c1",
            },
            {"part_kind": "tool-call", "tool_name": "read", "args": {}, "tool_call_id": "c2"},
        ],
    },
    {
        "kind": "request",
        "instructions": "Be brief.",
        "parts": [
            {
                "part_kind": "tool-return",
                "tool_name": "search",
                "content": "some",
                "tool_call_id": "c1",
                "timestamp": "2025-01-01T12:00:02Z",
            },
            {
                "part_kind": "retry-prompt",
                "tool_name": "read",
                "content": "no path",
                "tool_call_id": "c2",
                "timestamp": "2025-01-01T12:00:02Z",
            },
        ],
    },
]

SMOLAGENTS = [
    {"system_prompt": "You are an agent."},
    {"task": "Find x.", "task_images": None},
    {
        "step_number": 1,
        "timing": {"start_time": 1735732801.0, "end_time": 1735732802.0, "duration": 1.0},
        "model_input_messages": None,
        "tool_calls": [
            {
                "id": "c1",
                "type": "function",
                "function": {"name": "python_interpreter", "arguments": "print(search('x'))"},
            }
        ],
        "error": None,
        "model_output_message": {"role": "assistant", "content": "I search."},
        "model_output": "I search.",
        "code_action": "print(search('x'))",
        "observations": "some",
        "token_usage": {"input_tokens": 5, "output_tokens": 2, "total_tokens": 7},
        "is_final_answer": False,
    },
    {
        "step_number": 2,
        "timing": {"start_time": 1735732803.0, "end_time": 1735732804.0},
        "tool_calls": None,
        "error": {"type": "AgentParsingError", "message": "no code"},
        "model_output": "Hm.",
        "observations": None,
        "token_usage": {"input_tokens": 9, "output_tokens": 1, "total_tokens": 10},
    },
]

#: A step as a text in Python's notation, with what is no Python.
SMOLAGENTS_STEP = (
    "ActionStep(model_input_messages=[ChatMessage(role=<MessageRole.USER: 'user'>, "
    "content=[{'type': 'text', 'text': 'a, (b'}])], tool_calls=[ToolCall(name='python_interpreter', "
    """arguments='print(f("a"))', id='call_2'), ToolCall(name='search', arguments={'q': 'x'}, """
    "id='call_3')], step_number=1, timing=Timing(start_time=1735732803.0, end_time=1735732804.0, "
    "duration=1.0), error=None, model_output='I search.', observations='so\\nme', "
    "token_usage=TokenUsage(input_tokens=5, output_tokens=2, total_tokens=7))"
)

SMOLAGENTS_ANSWER = {
    "agent_name": "a",
    "question": "Find x.",
    "augmented_question": "Do find x.",
    "prediction": "y",
    "intermediate_steps": ["TaskStep(task='Find x.', task_images=None)", SMOLAGENTS_STEP],
    "agent_error": None,
    "task": "2",
    "true_answer": "z",
}

DSPY_REACT = {
    "question": "Where is x?",
    "trajectory": {
        "thought_0": "I look.",
        "tool_name_0": "search",
        "tool_args_0": {"q": "x"},
        "observation_0": "none",
        "thought_1": "Again.",
        "tool_name_1": "fetch",
        "tool_args_1": {},
        "observation_1": "Execution error in fetch: no url",
        "thought_2": "Enough.",
        "tool_name_2": "finish",
        "tool_args_2": {},
        "observation_2": "Completed.",
    },
    "reasoning": "It was not found.",
    "answer": "Not there.",
}


def _letta(kind: str, name: str, **more: Any) -> dict[str, Any]:
    second = int(name[1:])
    return {
        "id": name,
        "date": f"2026-03-04T10:00:{second:02}+00:00",
        "message_type": kind,
        "step_id": None,
        "run_id": "run-1",
        **more,
    }


_LETTA_CALLS = [
    {"name": "read_file", "arguments": '{"path": "a"}', "tool_call_id": "t1"},
    {"name": "grep", "arguments": '{"q": "x"}', "tool_call_id": "t2"},
]

LETTA = {
    "messages": [
        _letta("user_message", "m1", content="Find x."),
        _letta("reasoning_message", "m2", reasoning="hm", source="reasoner_model"),
        _letta("assistant_message", "m2", content="I look."),
        _letta("tool_call_message", "m2", tool_call=_LETTA_CALLS[0], tool_calls=_LETTA_CALLS),
        _letta(
            "tool_return_message",
            "m3",
            tool_return="A",
            status="success",
            tool_call_id="t1",
            tool_returns=[
                {"type": "tool", "tool_return": "A", "status": "success", "tool_call_id": "t1", "stdout": None, "stderr": None},
                {"type": "tool", "tool_return": "no such path", "status": "error", "tool_call_id": "t2", "stdout": None, "stderr": None},
            ],
        ),
        _letta("assistant_message", "m4", content=[{"type": "text", "text": "Not there."}]),
    ],
    "stop_reason": {"message_type": "stop_reason", "stop_reason": "end_turn"},
    "usage": {
        "message_type": "usage_statistics",
        "completion_tokens": 9,
        "prompt_tokens": 50,
        "total_tokens": 59,
        "step_count": 2,
        "cached_input_tokens": 20,
    },
}  # fmt: skip


def _af(role: str, text: str | None, **more: Any) -> dict[str, Any]:
    content = [] if text is None else [{"type": "text", "text": text}]
    return {
        "role": role,
        "content": content,
        "model": None,
        "tool_calls": None,
        "created_at": "2026-03-04T10:00:00+00:00",
        **more,
    }


def _af_call(call_id: str, name: str, arguments: str) -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


_AF_RETURNS = [
    {
        "tool_call_id": "t1",
        "status": "success",
        "func_response": '{"status": "OK", "message": "A", "time": "now"}',
    },
    {
        "tool_call_id": "t2",
        "status": "error",
        "func_response": '{"status": "Failed", "message": "no such path", "time": "now"}',
    },
]

LETTA_EVALS = [
    {"type": "header", "suite": "find", "config": {}},
    {
        "type": "result",
        "result": {
            "sample": {"id": 3, "input": "Find x.", "ground_truth": "b"},
            "submission": "Not there.",
            "trajectory": [LETTA["messages"][1:]],
            "agent_id": "agent-1",
            "grade": {"score": 0.0, "rationale": ""},
            "model_name": "m",
            "agent_usage": [LETTA["usage"]],
        },
    },
    {"type": "summary", "metrics": {"total": 1}, "gates_passed": False},
]

LETTA_AGENT_FILE = {
    "agents": [
        {
            "id": "agent-0",
            "name": "finder",
            "agent_type": "letta_v1_agent",
            "llm_config": {"model": "m"},
            "tool_ids": ["tool-1"],
            "messages": [
                _af("system", "You find."),
                _af(
                    "assistant",
                    "Bootup sequence complete. Persona activated. Testing messaging functionality.",
                    tool_calls=[_af_call("t0", "send_message", "{}")],
                ),
                _af("tool", '{"status": "OK", "message": null}', tool_call_id="t0", tool_returns=[{"status": "success"}]),
                _af("user", "Find x."),
                {
                    **_af("approval", None, model="n"),
                    "content": [{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "I look."}],
                    "tool_calls": [_af_call("t1", "read_file", '{"path": "a"}'), _af_call("t2", "grep", '{"q": "x"}')],
                },
                _af("approval", None, approvals=_AF_RETURNS[:1]),
                _af("tool", None, tool_call_id="t1", tool_returns=_AF_RETURNS),
                _af("assistant", "Not there."),
            ],
        }
    ],
    "groups": [],
    "blocks": [],
    "tools": [
        {"id": "tool-0", "name": "rm", "json_schema": {"name": "rm"}},
        {"id": "tool-1", "name": "grep", "json_schema": {"name": "grep", "description": "Greps.", "parameters": {"type": "object"}}},
    ],
}  # fmt: skip


def _mastra(at: int, role: str, content: Any, kind: str = "v2") -> dict[str, Any]:
    return {
        "id": f"m{at}",
        "thread_id": "t1",
        "content": content if type(content) is str else json.dumps(content),
        "role": role,
        "type": kind,
        "createdAt": f"2025-01-01T12:00:0{at}.000Z",
    }


_MASTRA_CALL = {
    "state": "result",
    "toolCallId": "c1",
    "toolName": "search",
    "args": {"q": "x"},
    "result": "none",
}

MASTRA = {
    "session": {
        "id": "t1",
        "resourceId": "u1",
        "title": "Find x",
        "createdAt": "2025-01-01T12:00:00.000Z",
    },
    "rows": [
        _mastra(0, "user", {"format": 2, "parts": [{"type": "text", "text": "Find x."}], "content": "Find x."}),
        _mastra(4, "assistant", {
            "format": 2,
            "parts": [
                {"type": "step-start", "model": "m"},
                {"type": "text", "text": "I search."},
                {"type": "tool-invocation", "toolInvocation": _MASTRA_CALL},
                {"type": "text", "text": "Not there."},
            ],
            "content": "I search.",
            "toolInvocations": [_MASTRA_CALL],
        }),
    ],
}  # fmt: skip


def _mastra_span(
    trace: str,
    number: int,
    parent: int | None,
    name: str,
    attributes: dict[str, Any],
    failed: str | None = None,
) -> dict[str, Any]:
    status = {"code": 2, "message": failed} if failed else {"code": 0}
    return {
        "id": f"{trace}{number}",
        "parentSpanId": None if parent is None else f"{trace}{parent}",
        "name": name,
        "traceId": trace,
        "scope": "default-service",
        "kind": 1,
        "attributes": json.dumps(attributes),
        "status": json.dumps(status),
        "events": "[]",
        "links": "[]",
        "startTime": 1735732800000000 + number * 1000,
        "endTime": 1735732800000500 + number * 1000,
        "createdAt": "2025-01-01T12:00:00.000Z",
    }  # fmt: skip


def _mastra_call(**answered: Any) -> dict[str, Any]:
    tool = {"stringValue": json.dumps({"type": "function", "name": "search", "parameters": {"type": "object"}})}  # fmt: skip
    return {
        "operation.name": "ai.streamText.doStream",
        "ai.operationId": "ai.streamText.doStream",
        "ai.model.id": "m",
        "ai.prompt.messages": json.dumps([{"role": "user", "content": "Find x."}]),
        "ai.prompt.tools": {"values": [tool]},
        **{f"ai.{name}": held for name, held in answered.items()},
    }


#: Rows of Mastra's telemetry: two runs, of which one failed, and the start of the program.
MASTRA_SPANS = [
    _mastra_span("a", 1, None, "agent.stream", {"componentName": "helper"}),
    _mastra_span("a", 2, 1, "ai.streamText", {"ai.operationId": "ai.streamText", "ai.prompt": "{}"}),
    _mastra_span("a", 3, 2, "ai.streamText.doStream", _mastra_call(**{"response.text": "It is there.", "usage.promptTokens": 9, "usage.completionTokens": 2})),
    _mastra_span("c", 4, None, "ai.streamText.doStream", _mastra_call(), failed="no key"),
    _mastra_span("b", 0, None, "mastra.getAgent", {"componentName": "Mastra"}),
]  # fmt: skip


def _mastra_own(
    number: int, parent: int | None, kind: str, name: str, attributes: dict[str, Any], **kept: Any
) -> dict[str, Any]:
    texts = {column: None if item is None else json.dumps(item) for column, item in kept.items()}
    return {
        "traceId": "t1",
        "spanId": f"s{number}",
        "parentSpanId": None if parent is None else f"s{parent}",
        "name": name,
        "spanType": kind,
        "attributes": json.dumps(attributes),
        "input": None,
        "output": None,
        "error": None,
        **texts,
        "threadId": "th1",
        "startedAt": f"2025-01-01T12:00:0{number}.000Z",
        "endedAt": "2025-01-01T12:00:09.000Z",
    }


#: Rows of Mastra's own spans: a run with two model calls, and a tool that failed between them.
MASTRA_OWN_SPANS = [
    _mastra_own(0, None, "agent_run", "agent run: 'helper'", {}, input=[{"role": "user", "content": "Find x."}], output={"text": "Not there."}),
    _mastra_own(1, 0, "model_generation", "llm: 'm'", {"model": "m", "usage": {"inputTokens": 30, "outputTokens": 7}}, input={"messages": [{"role": "user", "content": "Find x."}]}, output={"text": "Not there."}),
    _mastra_own(2, 1, "model_step", "step: 0", {"usage": {"inputTokens": 10, "outputTokens": 5}}, input=[{"role": "user", "content": "Find x."}], output={"text": "", "toolCalls": [{"toolCallId": "c1", "toolName": "search", "args": {"q": "x"}}]}),
    _mastra_own(3, 2, "tool_call", "tool: 'search'", {"success": False}, input={"q": "x"}, error={"message": "no index"}),
    _mastra_own(4, 1, "model_step", "step: 1", {"usage": {"inputTokens": 20, "outputTokens": 2, "inputDetails": {"cacheRead": 8}}}, output={"text": "Not there."}),
]  # fmt: skip

LLAMA_INDEX_CHATS: dict[str, Any] = {
    "store": {
        "anna": [
            {"role": "user", "additional_kwargs": {}, "blocks": [{"block_type": "text", "text": "Find x."}]},
            {"role": "assistant", "additional_kwargs": {}, "blocks": [{"block_type": "text", "text": "It is there."}]},
        ],
        "ben": [
            {"role": "user", "content": "Find y.", "additional_kwargs": {}},
            {
                "role": "assistant",
                "content": None,
                "additional_kwargs": {"tool_calls": [{"id": "c1", "type": "function", "function": {"name": "search", "arguments": '{"q": "y"}'}}]},
            },
            {"role": "tool", "content": "none", "additional_kwargs": {"name": "search", "tool_call_id": "c1"}},
            {"role": "assistant", "content": "There is none.", "additional_kwargs": {}},
        ],
        "carl": [],
    },
    "class_name": "SimpleChatStore",
}  # fmt: skip
LLAMA_INDEX_CHAT_STORE = LLAMA_INDEX_CHATS | {"store": {"ben": LLAMA_INDEX_CHATS["store"]["ben"]}}

_STRANDS_USAGE = {
    "usage": {"inputTokens": 9, "outputTokens": 2, "totalTokens": 14, "cacheReadInputTokens": 3},
    "metrics": {"latencyMs": 7},
}

STRANDS_MESSAGES = [
    {"role": "user", "content": [{"text": "Find x."}], "tracking_id": "m1"},
    {
        "role": "assistant",
        "content": [
            {"text": "I look."},
            {"toolUse": {"toolUseId": "t1", "name": "search", "input": {"q": "x"}}},
            {"toolUse": {"toolUseId": "t2", "name": "fetch", "input": {"q": "x"}}},
        ],
        "metadata": _STRANDS_USAGE,
        "tracking_id": "m2",
    },
    {
        "role": "user",
        "content": [
            {"toolResult": {"toolUseId": "t1", "status": "success", "content": [{"text": "3"}]}},
            {"toolResult": {"toolUseId": "t2", "status": "error", "content": [{"text": "gone"}]}},
        ],
        "tracking_id": "m3",
    },
    {
        "role": "assistant",
        "content": [{"text": "It is 3."}],
        "metadata": _STRANDS_USAGE,
        "tracking_id": "m4",
    },
]

STRANDS = {
    "scope": "agent",
    "schema_version": "1.0",
    "created_at": "2026-11-30T07:00:00Z",
    "data": {
        "messages": STRANDS_MESSAGES,
        "state": {},
        "conversation_manager_state": {
            "__name__": "SlidingWindowConversationManager",
            "removed_message_count": 0,
        },
    },
    "app_data": {"ticket": 7},
}


def _haystack_message(role: str, *content: dict[str, Any], **meta: Any) -> dict[str, Any]:
    return {"role": role, "meta": meta, "name": None, "content": list(content)}


def _haystack_call(call_id: str, name: str) -> dict[str, Any]:
    return {"tool_name": name, "arguments": {"q": "x"}, "id": call_id, "extra": None}


_HAYSTACK_META = {
    "model": "gpt-x",
    "index": 0,
    "usage": {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11},
}

HAYSTACK = [
    _haystack_message("user", {"text": "Find x."}),
    _haystack_message(
        "assistant",
        {"text": "I look."},
        {"tool_call": _haystack_call("c1", "search")},
        {"tool_call": _haystack_call("c2", "fetch")},
        **_HAYSTACK_META,
    ),
    *(
        _haystack_message(
            "tool",
            {
                "tool_call_result": {
                    "result": result,
                    "origin": _haystack_call(call_id, name),
                    "error": result == "gone",
                }
            },
        )
        for call_id, name, result in (("c2", "fetch", "gone"), ("c1", "search", "3"))
    ),
    _haystack_message("assistant", {"text": "It is 3."}, **_HAYSTACK_META),
]


def _llama_said(role: str, text: str) -> dict[str, Any]:
    blocks = [{"block_type": "text", "text": text}] if text else []
    return {"role": role, "additional_kwargs": {}, "blocks": blocks}


_LLAMA_ASKED = [_llama_said("system", "Be brief."), _llama_said("user", "Find x.")]
_LLAMA_CALLS = [
    {"tool_name": "search", "tool_kwargs": {"q": "x"}, "tool_id": "c1"},
    {"tool_name": "fetch", "tool_kwargs": {"q": "x"}, "tool_id": "c2"},
]
_LLAMA_ANSWER = {
    "response": _llama_said("assistant", "It is 3."),
    "current_agent_name": "finder",
    "tool_calls": _LLAMA_CALLS,
}


def _llama_result(call: dict[str, Any], text: str) -> dict[str, Any]:
    blocks = [{"block_type": "text", "text": text}]
    output = {"blocks": blocks, "tool_name": call["tool_name"], "is_error": text == "gone"}
    return {**call, "tool_output": output, "return_direct": False}


LLAMA_INDEX_EVENTS = [
    {"input": _LLAMA_ASKED, "current_agent_name": "finder"},
    {"delta": "I look.", "response": "I look.", "current_agent_name": "finder", "tool_calls": []},
    {
        "response": _llama_said("assistant", "I look."),
        "current_agent_name": "finder",
        "tool_calls": _LLAMA_CALLS,
    },
    *_LLAMA_CALLS,
    _llama_result(_LLAMA_CALLS[1], "gone"),
    _llama_result(_LLAMA_CALLS[0], "3"),
    {"input": [*_LLAMA_ASKED, _llama_said("tool", "3")], "current_agent_name": "finder"},
    _LLAMA_ANSWER,
    {"result": _LLAMA_ANSWER},
]


def _framework_message(role: str, *contents: dict[str, Any]) -> dict[str, Any]:
    return {"type": "message", "role": role, "contents": list(contents), "author_name": None}


AGENT_FRAMEWORK = {
    "type": "agent_response",
    "messages": [
        _framework_message("user", {"type": "text", "text": "Find x."}),
        _framework_message(
            "assistant",
            {"type": "text", "text": "I look."},
            *(
                {
                    "type": "function_call",
                    "call_id": call_id,
                    "name": name,
                    "arguments": '{"q": "x"}',
                    "id": f"af-{call_id}",
                }
                for call_id, name in (("c1", "search"), ("c2", "fetch"))
            ),
        ),
        _framework_message(
            "tool",
            {
                "type": "function_result",
                "call_id": "c2",
                "result": "gone",
                "exception": "FunctionInvocationError",
            },
            {"type": "function_result", "call_id": "c1", "result": "3", "id": "af-c1"},
        ),
        _framework_message("assistant", {"type": "text", "text": "It is 3."}),
    ],
    "response_id": "r1",
    "usage_details": {
        "input_token_count": 12,
        "output_token_count": 3,
        "total_token_count": 15,
        "cache_read_input_token_count": 4,
    },
}


def _agno_event(name: str, **fields: Any) -> dict[str, Any]:
    about = {"created_at": 1_800_000_000, "agent_id": "a", "agent_name": "A", "run_id": "r"}
    return {"event": name} | about | fields


AGNO_EVENTS = [
    _agno_event("RunStarted"),
    _agno_event("ModelRequestStarted"),
    _agno_event("RunContent", content="I lo"),
    _agno_event("RunContent", content="ok."),
    _agno_event(
        "ModelRequestCompleted",
        model="m",
        input_tokens=9,
        output_tokens=2,
        total_tokens=11,
        cache_read_tokens=4,
        cache_write_tokens=0,
    ),
    *(
        _agno_event(
            name,
            **fields,
            tool={
                "tool_call_id": call_id,
                "tool_name": tool,
                "tool_args": {"q": "x"},
                "tool_call_error": None if name == "ToolCallStarted" else result == "gone",
                "result": None if name == "ToolCallStarted" else result,
            },
        )
        for call_id, tool, result in (("c1", "search", "3"), ("c2", "fetch", "gone"))
        for name, fields in (
            ("ToolCallStarted", {}),
            ("ToolCallCompleted", {"content": result}),
            *((("ToolCallError", {"error": "gone"}),) if result == "gone" else ()),
        )
    ),
    _agno_event("ModelRequestStarted"),
    _agno_event("RunContent", content="It is 3."),
    _agno_event(
        "ModelRequestCompleted", model="m", input_tokens=12, output_tokens=3, total_tokens=15
    ),
    _agno_event("RunContentCompleted"),
    _agno_event(
        "RunCompleted", metrics={"input_tokens": 21, "output_tokens": 5, "total_tokens": 26}
    ),
]

EXAMPLES: dict[str, Any] = {
    "agno-events": AGNO_EVENTS,
    "agent-framework": AGENT_FRAMEWORK,
    "llama-index-events": LLAMA_INDEX_EVENTS,
    "strands": STRANDS,
    "haystack": HAYSTACK,
    "mastra": MASTRA,
    "mastra-spans": MASTRA_OWN_SPANS,
    "langchain": [
        {"type": "human", "content": "Find x.", "additional_kwargs": {}},
        {
            "type": "ai",
            "content": "",
            "tool_calls": [{"id": "c1", "name": "search", "args": {"q": "x"}, "type": "tool_call"}],
            "additional_kwargs": {},
        },
        {"type": "tool", "content": "found", "name": "search", "tool_call_id": "c1"},
    ],
    "langchain-events": LANGCHAIN_EVENTS,
    "langgraph": LANGGRAPH,
    "agno": AGNO,
    "pydantic-ai": PYDANTIC_AI,
    "smolagents": SMOLAGENTS,
    "dspy-react": DSPY_REACT,
    "letta": LETTA,
    "letta-agent-file": LETTA_AGENT_FILE,
    "letta-evals": LETTA_EVALS,
    "llama-index-chat-store": LLAMA_INDEX_CHAT_STORE,
}
