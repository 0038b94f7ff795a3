"""Agents for a person's tasks on a computer or in a browser: OpenClaw, Hermes, browser-use and the like."""

from __future__ import annotations

import json
from typing import Any


def _entry(number: int, role: str, content: Any, **more: Any) -> dict[str, Any]:
    message = {"role": role, "content": content, "timestamp": 1735732800000 + number * 1000} | more
    return {
        "type": "message",
        "id": f"e{number}",
        "parentId": f"e{number - 1}",
        "timestamp": f"2025-01-01T12:00:0{number}Z",
        "message": message,
    }


OPENCLAW = [
    {"type": "session", "version": 3, "id": "s", "timestamp": "2025-01-01T12:00:00Z", "cwd": "/x"},
    {"type": "model_change", "id": "e0", "parentId": None, "timestamp": "t", "modelId": "m"},
    _entry(1, "user", [{"type": "text", "text": "Find x."}]),
    _entry(
        2,
        "assistant",
        [
            {"type": "thinking", "thinking": "hm"},
            {"type": "text", "text": "I search."},
            {"type": "toolCall", "id": "c1", "name": "search", "arguments": {"q": "x"}},
        ],
        model="m",
        provider="anthropic",
        stopReason="toolUse",
        usage={
            "input": 5,
            "output": 2,
            "cacheRead": 4,
            "cacheWrite": 3,
            "totalTokens": 14,
            "cost": {"input": 0.25, "output": 0.25, "total": 0.5},
        },
    ),
    _entry(
        3,
        "toolResult",
        [{"type": "text", "text": "none"}],
        toolCallId="c1",
        toolName="search",
        isError=True,
    ),
    _entry(4, "assistant", [], model="m", stopReason="error", errorMessage="overloaded"),
    _entry(4, "assistant", [], model="m", stopReason="error", errorMessage="overloaded"),
    {"type": "compaction", "id": "e5", "parentId": "e4", "timestamp": "t", "summary": "..."},
]


def _claw(seq: int, kind: str, **data: Any) -> dict[str, Any]:
    return {
        "traceSchema": "openclaw-trajectory",
        "schemaVersion": 1,
        "source": "runtime",
        "type": kind,
        "ts": f"2025-01-01T12:00:0{seq}Z",
        "seq": seq,
        "sessionId": "s",
        "runId": "r",
        "workspaceDir": "/x",
        "provider": "p",
        "modelId": "m",
        "data": data,
    }


_CLAW_MESSAGES = [
    {"role": "user", "content": [{"type": "text", "text": "Find x."}], "timestamp": 1_735_732_801_000},
    {
        "role": "assistant",
        "content": [
            {"type": "toolCall", "id": "c1", "name": "search", "arguments": {"q": {"truncated": True, "reason": "trajectory-depth-limit"}}}
        ],
        "model": "m",
        "usage": {"input": 5, "output": 2, "cacheRead": 4, "cacheWrite": 0, "totalTokens": 11},
        "timestamp": 1_735_732_802_000,
    },
    {"role": "toolResult", "toolCallId": "c1", "toolName": "search", "content": [{"type": "text", "text": "none"}], "isError": False, "timestamp": 1_735_732_803_000},
    {
        "role": "assistant",
        "content": [{"type": "text", "text": "No x."}],
        "model": "m",
        "usage": {"input": 7, "output": 3, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 10},
        "timestamp": 1_735_732_804_000,
    },
]  # fmt: skip

OPENCLAW_TRAJECTORY = [
    _claw(0, "session.started", trigger="user"),
    _claw(0, "context.compiled", systemPrompt="You find.", tools=[{"name": "search", "parameters": {}}]),
    _claw(1, "prompt.submitted", prompt="Find x.", messages=[]),
    _claw(2, "tool.call", toolCallId="c1", name="search", args={"q": {"of": "x"}}),
    _claw(3, "tool.result", toolCallId="c1", name="search", success=True, result={"content": []}),
    _claw(5, "model.completed", usage={"input": 12, "output": 5, "cacheRead": 4, "total": 21}, assistantTexts=["No x."], messagesSnapshot=_CLAW_MESSAGES),
    _claw(5, "trace.artifacts", toolMetas=[{"toolName": "search"}]),
    _claw(5, "session.ended", status="success"),
    _claw(6, "session.started", trigger="user"),
    _claw(6, "context.compiled", systemPrompt="You find."),
    _claw(6, "prompt.submitted", prompt="Again."),
    _claw(7, "provider.call.completed", durationMs=500, usage={"input": 9, "output": 1, "totalTokens": 10}),
    _claw(7, "tool.call", toolCallId="c2", name="search", arguments={"q": "y"}),
    _claw(8, "tool.result", toolCallId="c2", name="search", isError=True, output="broken"),
    _claw(9, "model.completed", usage={"input": 9, "output": 1, "total": 10}, promptError="overloaded", messagesSnapshot=_CLAW_MESSAGES),
    _claw(9, "session.ended", status="error", promptError="overloaded"),
]  # fmt: skip

HERMES = [
    {"role": "session_meta", "tools": [{"type": "function", "function": {"name": "terminal", "parameters": {"type": "object"}}}], "model": "m", "platform": "telegram", "timestamp": "2025-01-01T12:00:00"},
    {"role": "user", "content": "List.", "timestamp": "2025-01-01T12:00:00"},
    {"role": "assistant", "content": "", "reasoning": "Hm.", "finish_reason": "tool_calls", "tool_calls": [{"id": "c1", "call_id": "c1", "type": "function", "function": {"name": "terminal", "arguments": '{"command": "ls"}'}}], "timestamp": "2025-01-01T12:00:01"},
    {"role": "tool", "content": '{"output": "a.md", "exit_code": 0}', "tool_call_id": "c1", "timestamp": "2025-01-01T12:00:02"},
    {"role": "assistant", "content": "One file.", "finish_reason": "stop", "timestamp": "2025-01-01T12:00:03"},
]  # fmt: skip

#: Of Hermes' database: the row of a session, and the rows of its messages.
HERMES_STORED: dict[str, Any] = {
    "session": {
        "id": "h",
        "source": "cli",
        "model": "m",
        "system_prompt": "Be brief.",
        "system_prompt_hash": None,
        "parent_session_id": None,
        "title": "Listing",
        "started_at": 1735732800.0,
        "ended_at": 1735732804.0,
        "message_count": 4,
        "tool_call_count": 1,
        "api_call_count": 2,
        "input_tokens": 10,
        "output_tokens": 5,
        "cache_read_tokens": 20,
        "cache_write_tokens": 3,
        "estimated_cost_usd": 0.25,
        "actual_cost_usd": None,
    },
    "rows": [
        {
            "id": number,
            "session_id": "h",
            "role": message["role"],
            "content": message["content"],
            "tool_call_id": message.get("tool_call_id"),
            "tool_calls": json.dumps(message["tool_calls"]) if "tool_calls" in message else None,
            "tool_name": "terminal" if message["role"] == "tool" else None,
            "timestamp": 1735732800.5 + number,
            "finish_reason": message.get("finish_reason"),
            "reasoning": message.get("reasoning"),
            "active": 1,
        }
        for number, message in enumerate(HERMES[1:])
    ],
}

NANOBOT = [
    {"_type": "metadata", "key": "cli:direct", "created_at": "2026-03-02T10:00:00", "updated_at": "2026-03-02T10:00:03", "metadata": {}, "last_consolidated": 0},
    {"role": "user", "content": "Read a.md.", "timestamp": "2026-03-02T10:00:00"},
    {"role": "assistant", "content": "", "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "read_file", "arguments": '{"path": "a.md"}'}}], "timestamp": "2026-03-02T10:00:01"},
    {"role": "tool", "tool_call_id": "c1", "name": "read_file", "content": "Error: File not found: a.md", "timestamp": "2026-03-02T10:00:02"},
    {"role": "assistant", "content": "There is none.", "timestamp": "2026-03-02T10:00:03"},
]  # fmt: skip

CRAFT_AGENTS = [
    {
        "id": "s",
        "workspaceRootPath": "~/w",
        "createdAt": 1735732800000,
        "model": "m",
        "tokenUsage": {"inputTokens": 5, "outputTokens": 2, "totalTokens": 7, "costUsd": 0},
    },
    {"id": "u", "type": "user", "content": "Find x.", "timestamp": 1735732800000},
    {
        "id": "a",
        "type": "assistant",
        "content": "I look.",
        "timestamp": 1735732801000,
        "turnId": "msg_1",
        "isIntermediate": True,
    },
    {
        "id": "t",
        "type": "tool",
        "content": "Running f...",
        "timestamp": 1735732802000,
        "turnId": "msg_1",
        "toolName": "f",
        "toolUseId": "c",
        "toolInput": {"a": 1},
        "toolStatus": "completed",
        "toolResult": "x",
        "toolDuration": 500,
    },
]

BROWSER_USE = {
    "history": [
        {
            "model_output": {
                "current_state": {
                    "evaluation_previous_goal": "Unknown",
                    "memory": "Nothing is open.",
                    "next_goal": "Open the shop.",
                },
                "action": [{"go_to_url": {"url": "shop.example"}}, {"click": {"index": 4}}],
            },
            "result": [
                {"is_done": False, "extracted_content": "Opened shop.example"},
                {"is_done": False, "error": "Element 4 does not exist"},
            ],
            "state": {"url": "about:blank", "title": "", "tabs": [], "screenshot": None},
            "metadata": {"step_start_time": 1735732801.5, "step_end_time": 1735732803.0, "step_number": 1},
        },
        {
            "model_output": None,
            "result": [{"is_done": False, "error": "The model did not answer in JSON"}],
            "state": {"url": "https://shop.example/", "title": "Shop"},
            "metadata": None,
        },
        {
            "model_output": {
                "thinking": "Done.",
                "action": [{"done": {"text": "It costs 3.", "success": True}}],
            },
            "result": [{"is_done": True, "success": True, "extracted_content": "It costs 3."}],
            "state": {"url": "https://shop.example/", "title": "Shop"},
        },
    ],
    "usage": {"total_prompt_tokens": 90, "total_completion_tokens": 10, "total_tokens": 100},
}  # fmt: skip

TARKO = [
    {
        "id": "e0",
        "type": "agent_run_start",
        "timestamp": 1735732800000,
        "sessionId": "t",
        "model": "m",
        "provider": "p",
        "agentName": "Agent",
        "modelDisplayName": "M",
    },
    {"id": "e1", "type": "user_message", "timestamp": 1735732801000, "content": "Find x."},
    {
        "id": "e2",
        "type": "environment_input",
        "timestamp": 1735732802000,
        "content": [{"type": "text", "text": "A page."}],
        "description": "Screen",
    },
    {
        "id": "e3",
        "type": "assistant_streaming_message",
        "timestamp": 1735732803000,
        "content": "I ",
        "messageId": "a1",
        "isComplete": False,
    },
    {
        "id": "e4",
        "type": "assistant_streaming_message",
        "timestamp": 1735732804000,
        "content": "look.",
        "messageId": "a1",
        "isComplete": True,
    },
    {
        "id": "e5",
        "type": "assistant_streaming_tool_call",
        "timestamp": 1735732805000,
        "toolCallId": "c1",
        "toolName": "search",
        "arguments": "{",
        "messageId": "a1",
    },
    {
        "id": "e6",
        "type": "assistant_thinking_message",
        "timestamp": 1735732806000,
        "content": "Where?",
        "messageId": "a1",
    },
    {
        "id": "e7",
        "type": "assistant_message",
        "timestamp": 1735732807000,
        "content": "I look.",
        "rawContent": "...",
        "toolCalls": [
            {
                "id": "c1",
                "type": "function",
                "function": {"name": "search", "arguments": '{"q": "x"}'},
            }
        ],
        "finishReason": "tool_calls",
        "messageId": "a1",
        "ttltMs": 4000,
    },
    {
        "id": "e8",
        "type": "tool_call",
        "timestamp": 1735732808000,
        "toolCallId": "c1",
        "name": "search",
        "arguments": {"q": "x"},
        "startTime": 1735732808000,
        "tool": {"name": "search", "description": "Finds.", "schema": {"type": "object"}},
    },
    {
        "id": "e9",
        "type": "tool_result",
        "timestamp": 1735732809000,
        "toolCallId": "c1",
        "name": "search",
        "content": [{"type": "text", "text": "none"}],
        "elapsedMs": 1000,
        "error": "too slow",
    },
    {"id": "e10", "type": "plan_update", "timestamp": 1735732810000, "sessionId": "t", "steps": []},
    {
        "id": "e11",
        "type": "system",
        "timestamp": 1735732811000,
        "level": "info",
        "message": "Going on.",
    },
    {
        "id": "e12",
        "type": "assistant_message",
        "timestamp": 1735732812000,
        "content": "Not there.",
        "finishReason": "stop",
        "messageId": "a2",
    },
    {
        "id": "e13",
        "type": "agent_run_end",
        "timestamp": 1735732813000,
        "sessionId": "t",
        "iterations": 2,
        "elapsedMs": 13000,
        "status": "idle",
    },
]

EXAMPLES: dict[str, Any] = {
    "openclaw": OPENCLAW,
    "openclaw-trajectory": OPENCLAW_TRAJECTORY,
    "hermes": HERMES,
    "nanobot": NANOBOT,
    "craft-agents": CRAFT_AGENTS,
    "browser-use": BROWSER_USE,
    "tarko": TARKO,
}
