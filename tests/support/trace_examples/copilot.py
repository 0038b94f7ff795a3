"""GitHub Copilot, on the command line and in Visual Studio Code."""

from __future__ import annotations

from typing import Any


def _copilot(number: int, kind: str, **data: Any) -> dict[str, Any]:
    return {
        "type": kind,
        "id": f"e{number}",
        "parentId": f"e{number - 1}" if number else None,
        "timestamp": f"2025-01-01T12:00:{number:02}Z",
        "data": data,
    }


COPILOT = [
    _copilot(
        0,
        "session.start",
        sessionId="s",
        producer="copilot-agent",
        copilotVersion="1.0.54",
        startTime="2025-01-01T12:00:00Z",
        context={"cwd": "/x", "branch": "main"},
    ),
    _copilot(1, "user.message", content="Find x.", transformedContent="<now/> Find x."),
    _copilot(2, "assistant.turn_start", turnId="0", model="m"),
    _copilot(
        3,
        "assistant.message",
        messageId="m1",
        model="m",
        content="I search.",
        reasoningText="hm",
        outputTokens=7,
        toolRequests=[
            {"toolCallId": "c1", "name": "grep", "arguments": {"q": "x"}, "type": "function"}
        ],
    ),
    _copilot(4, "tool.execution_start", toolCallId="c1", toolName="grep", arguments={"q": "x"}),
    _copilot(
        5,
        "tool.execution_complete",
        toolCallId="c1",
        success=False,
        error={"message": "no such path"},
    ),
    _copilot(6, "assistant.turn_end", turnId="0"),
    _copilot(7, "assistant.message", messageId="m2", content="Not there.", outputTokens=3, toolRequests=[]),
    _copilot(7, "assistant.message", messageId="m2", content="Not there.", outputTokens=3, toolRequests=[]),
    _copilot(8, "skill.invoked"),
    _copilot(
        9,
        "session.shutdown",
        shutdownType="routine",
        modelMetrics={
            "m": {
                "requests": {"count": 2, "cost": 1},
                "usage": {"inputTokens": 30, "outputTokens": 10, "cacheReadTokens": 12, "cacheWriteTokens": 0},
            }
        },
    ),
]  # fmt: skip

COPILOT_CHAT_REPLAY = {
    "exportedAt": "2025-01-01T12:01:00.000Z",
    "totalPrompts": 1,
    "totalLogEntries": 4,
    "prompts": [
        {
            "prompt": "Find x.",
            "hasSeen": False,
            "logCount": 4,
            "logs": [
                {"id": "e1", "kind": "element", "name": "Gh", "tokens": 40, "maxTokens": 99003},
                {
                    "id": "r1",
                    "kind": "request",
                    "type": "ChatMLSuccess",
                    "name": "panel/editAgent",
                    "metadata": {
                        "requestType": "ChatCompletions",
                        "model": "m-1",
                        "startTime": "2025-01-01T12:00:01.000Z",
                        "endTime": "2025-01-01T12:00:02.000Z",
                        "usage": {
                            "prompt_tokens": 20,
                            "completion_tokens": 5,
                            "total_tokens": 25,
                            "prompt_tokens_details": {"cached_tokens": 8},
                        },
                        "tools": [
                            {
                                "type": "function",
                                "function": {
                                    "name": "search",
                                    "description": "Finds.",
                                    "parameters": {"type": "object"},
                                },
                            }
                        ],
                    },
                    "requestMessages": {
                        "messages": [
                            {"role": 0, "content": [{"type": 1, "text": "You find."}]},
                            {"role": 1, "content": [{"type": 1, "text": "Find x."}]},
                        ]
                    },
                    "response": {"type": "success", "message": ["I look."]},
                },
                {
                    "id": "c1__vscode-17",
                    "kind": "toolCall",
                    "tool": "search",
                    "args": '{"q": "x"}',
                    "time": "2025-01-01T12:00:03.000Z",
                    "response": ["none"],
                },
                {
                    "id": "r2",
                    "kind": "request",
                    "type": "ChatMLFailure",
                    "name": "panel/editAgent",
                    "metadata": {"model": "m-1", "startTime": "2025-01-01T12:00:04.000Z"},
                    "requestMessages": {
                        "messages": [
                            {"role": 0, "content": [{"type": 1, "text": "You find."}]},
                            {"role": 1, "content": [{"type": 1, "text": "Find x."}]},
                            {
                                "role": 2,
                                "content": [{"type": 1, "text": "I look."}],
                                "toolCalls": [
                                    {
                                        "id": "c1",
                                        "type": "function",
                                        "function": {"name": "search", "arguments": '{"q": "x"}'},
                                    }
                                ],
                            },
                            {
                                "role": 3,
                                "toolCallId": "c1",
                                "content": [{"type": 1, "text": "none"}],
                            },
                        ]
                    },
                    "response": {"type": "failure", "reason": "busy"},
                },
            ],
        }
    ],
}

COPILOT_DEBUG_LOG = [
    {
        "ts": 1735732800000 + 1000 * second,
        "dur": 500,
        "sid": "s",
        "type": kind,
        "name": "f",
        "spanId": own_id,
        "status": "ok",
        "attrs": attrs,
    }
    for second, kind, own_id, attrs in (
        (0, "user_message", "u", {"content": "Find x."}),
        (1, "llm_request", "a", {"model": "m", "inputTokens": 5, "outputTokens": 2}),
        (
            2,
            "agent_response",
            "agent-msg-a",
            {"response": '[{"role": "assistant", "parts": [{"type": "text", "content": "y"}]}]'},
        ),
        (3, "tool_call", "c", {"args": '{"a": 1}', "result": "x"}),
    )
]

VSCODE_CHAT = {
    "version": 3,
    "responderUsername": "GitHub Copilot",
    "initialLocation": "panel",
    "sessionId": "s",
    "creationDate": 1735732800000,
    "requests": [
        {
            "requestId": "r1",
            "timestamp": 1735732801000,
            "modelId": "copilot/m",
            "message": {"text": "Find x.", "parts": []},
            "response": [{"value": "I search."}, {"kind": "toolInvocationSerialized", "toolCallId": "v1"}],
            "result": {
                "timings": {"firstProgress": 100, "totalElapsed": 4000},
                "metadata": {
                    "promptTokens": 30,
                    "outputTokens": 3,
                    "toolCallRounds": [
                        {
                            "id": "a1",
                            "response": "I search.",
                            "thinking": {"text": "hm"},
                            "timestamp": 1735732802000,
                            "toolCalls": [{"id": "c1", "name": "grep_search", "arguments": '{"query": "x"}'}],
                        },
                        {"id": "a2", "response": "Not there.", "toolCalls": []},
                    ],
                    "toolCallResults": {"c1": {"content": [{"value": "No matches found"}]}},
                },
            },
        },
        {
            "requestId": "r2",
            "timestamp": 1735732810000,
            "modelId": "copilot/m",
            "message": {"text": "Run the tests."},
            "response": [
                {"kind": "thinking", "value": "hm"},
                {"value": "I run "},
                {"kind": "inlineReference", "inlineReference": {"path": "/x/a.py"}, "name": "a.py"},
                {"kind": "toolInvocationSerialized", "toolCallId": "c2", "toolId": "run_in_terminal", "isComplete": False},
                {
                    "kind": "toolInvocationSerialized",
                    "toolCallId": "c2",
                    "toolId": "run_in_terminal",
                    "isComplete": True,
                    "toolSpecificData": {
                        "kind": "terminal",
                        "commandLine": {"original": "pytest"},
                        "terminalCommandState": {"exitCode": 1},
                        "terminalCommandOutput": {"text": "1 failed"},
                    },
                },
                {"kind": "undoStop", "id": "u"},
                {"value": "One failed."},
            ],
        },
    ],
}  # fmt: skip

EXAMPLES: dict[str, Any] = {
    "copilot": COPILOT,
    "copilot-chat-replay": COPILOT_CHAT_REPLAY,
    "copilot-debug-log": COPILOT_DEBUG_LOG,
    "vscode-chat": VSCODE_CHAT,
}
