"""Forms and protocols for agents of any kind: the native form, ATIF, ATOF, ACP and AG-UI."""

from __future__ import annotations

from typing import Any


def _atof(uuid: str, category: str, seconds: int, data: Any, **more: Any) -> dict[str, Any]:
    start = {"kind": "scope", "scope_category": "start", "atof_version": "0.1", "uuid": uuid, "parent_uuid": "a", "category": category, "category_profile": None, "name": category, "attributes": [], "data": data, "data_schema": None, "metadata": None}  # fmt: skip
    return {**start, "timestamp": f"2025-01-01T12:00:{seconds:02}Z", **more}


_ENDS: Any = {"scope_category": "end"}

_ATOF_MODEL = {"category_profile": {"model_name": "m"}}

_ATOF_TOOL = {"name": "search", "category_profile": {"tool_call_id": "c1"}}

ATOF = [
    _atof("a", "agent", 0, {"input": "Find x."}, parent_uuid=None, name="finder"),
    _atof("l", "llm", 1, {"messages": [{"role": "user", "content": "Find x."}], "tools": [{"name": "search", "input_schema": {}}]}, **_ATOF_MODEL),
    _atof("l", "llm", 2, {"content": [{"type": "text", "text": "I look."}, {"type": "tool_use", "id": "c1", "name": "search", "input": {"q": "x"}}, {"type": "tool_use", "id": "c2", "name": "fetch", "input": {}}], "usage": {"input_tokens": 9, "output_tokens": 2}}, **_ATOF_MODEL, **_ENDS),
    {"kind": "mark", "atof_version": "0.1", "uuid": "k", "parent_uuid": "a", "timestamp": "2025-01-01T12:00:03Z", "name": "checked", "category": "guardrail", "data": {"passed": True}},
    _atof("t", "tool", 4, {"q": "x"}, **_ATOF_TOOL),
    _atof("t", "tool", 5, {"error": "not found"}, **_ATOF_TOOL, **_ENDS),
    _atof("r", "retriever", 6, {"query": "x"}, timestamp=1735732806000000),
    _atof("a", "agent", 7, {"response": "None."}, parent_uuid=None, name="finder", **_ENDS),
]  # fmt: skip

ACP = [
    {"jsonrpc": "2.0", "id": 2, "result": {"sessionId": "session-1"}},
    {
        "jsonrpc": "2.0",
        "id": 3,
        "method": "session/prompt",
        "params": {"sessionId": "session-1", "prompt": [{"type": "text", "text": "Find x."}]},
    },
    *(
        {
            "jsonrpc": "2.0",
            "method": "session/update",
            "params": {"sessionId": "session-1", "update": update},
        }
        for update in (
            {
                "sessionUpdate": "agent_thought_chunk",
                "content": {"type": "text", "text": "Where?"},
            },
            {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "I lo"}},
            {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "ok."}},
            {
                "sessionUpdate": "tool_call",
                "toolCallId": "call_1",
                "title": "search x",
                "kind": "search",
                "status": "pending",
                "rawInput": {"q": "x"},
            },
            {
                "sessionUpdate": "tool_call_update",
                "toolCallId": "call_1",
                "status": "failed",
                "content": [
                    {"type": "content", "content": {"type": "text", "text": "no such index"}}
                ],
            },
            {
                "sessionUpdate": "agent_message_chunk",
                "content": {"type": "text", "text": "Not there."},
            },
        )
    ),
]

AG_UI = [
    {"type": "RUN_STARTED", "threadId": "t", "runId": "r", "timestamp": 1735732800000},
    {"type": "TEXT_MESSAGE_START", "messageId": "a", "role": "assistant"},
    {"type": "TEXT_MESSAGE_CONTENT", "messageId": "a", "delta": "I look."},
    {"type": "TEXT_MESSAGE_END", "messageId": "a"},
    {"type": "TOOL_CALL_START", "toolCallId": "c", "toolCallName": "f", "parentMessageId": "a"},
    {"type": "TOOL_CALL_ARGS", "toolCallId": "c", "delta": '{"a": 1}'},
    {"type": "TOOL_CALL_END", "toolCallId": "c"},
    {"type": "TOOL_CALL_RESULT", "messageId": "b", "toolCallId": "c", "content": "x"},
    {
        "type": "RUN_FINISHED",
        "threadId": "t",
        "runId": "r",
        "usage": [{"inputTokens": 5, "outputTokens": 2}],
    },
]

EXAMPLES: dict[str, Any] = {
    "native": {
        "id": "n",
        "steps": [
            {"type": "llm", "usage": {"input_tokens": 1}, "started_at": 1},
            {"id": "t", "type": "tool", "arguments": {"a": 1}, "error": "no"},
        ],
        "tools": [{"name": "f", "parameters": {}}],
        "missing": {"cost": "no"},
    },
    "atif": {
        "schema_version": "ATIF-v1.7",
        "session_id": "s",
        "agent": {"name": "a", "tool_definitions": [{"name": "f"}]},
        "steps": [
            {"step_id": 1, "source": "user", "message": [{"type": "text", "text": "hi"}]},
            {
                "step_id": 2,
                "source": "agent",
                "message": "",
                "tool_calls": [{"tool_call_id": "c", "function_name": "f", "arguments": {}}],
                "observation": {
                    "results": [
                        {
                            "source_call_id": "c",
                            "content": "x",
                            "subagent_trajectory_ref": [{"trajectory_id": "k"}],
                        }
                    ]
                },
                "metrics": {"prompt_tokens": 1, "cost_usd": 0.5},
            },
        ],
        "final_metrics": {"total_prompt_tokens": 1},
        "subagent_trajectories": [
            {"schema_version": "ATIF-v1.7", "trajectory_id": "k", "steps": [{"source": "agent"}]}
        ],
    },
    "atof": ATOF,
    "acp": ACP,
    "ag-ui": AG_UI,
}
