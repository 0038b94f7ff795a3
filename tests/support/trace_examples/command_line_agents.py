"""Coding agents of the command line: Claude Code, Codex, Gemini CLI, aider, opencode and the like."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

_HOOK = {"session_id": "h", "transcript_path": "/t.jsonl", "cwd": "/w"}

CLAUDE_CODE_HOOKS = [
    {**_HOOK, "hook_event_name": "UserPromptSubmit", "prompt": "List.", "timestamp": "2025-01-01T12:00:00Z"},
    {**_HOOK, "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t1", "timestamp": "2025-01-01T12:00:01Z"},
    {**_HOOK, "hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_response": {"stdout": "a.md"}, "tool_use_id": "t1", "timestamp": "2025-01-01T12:00:02Z"},
    {**_HOOK, "hook_event_name": "PostToolUse", "tool_name": "Read", "tool_input": {"path": "b.md"}, "tool_response": {"success": False, "error": "no such file"}},
    {**_HOOK, "hook_event_name": "PreToolUse", "tool_name": "Read", "tool_input": {"path": "a.md"}},
    {**_HOOK, "hook_event_name": "Stop", "stop_hook_active": False},
]  # fmt: skip


def _codex_said(second: int, role: str, *parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return a message with one part of a response, as converters of Codex's sessions write them."""
    time = {"timestamp": f"2026-01-05T10:00:{second:02}.000Z"}
    return {"role": role, "content": [*parts], "_metadata": time, **more}


def _codex_asked(second: int, call_id: str) -> dict[str, Any]:
    part = {"type": "tool_call", "tool_call_id": call_id, "name": "exec_command", "arguments": "{}"}
    call = {
        "id": call_id,
        "type": "function",
        "function": {"name": "exec_command", "arguments": "{}"},
    }
    return _codex_said(second, "assistant", part, tool_calls=[call])


def _codex_text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def codex_count(total: tuple[int, int], last: tuple[int, int]) -> dict[str, Any]:
    """Return Codex's count of tokens after an answer: pairs of input and output tokens."""
    info = {
        name: {"input_tokens": sent, "cached_input_tokens": 4, "output_tokens": received, "total_tokens": sent + received}
        for name, (sent, received) in (("total_token_usage", total), ("last_token_usage", last))
    }  # fmt: skip
    return {"type": "token_count", "info": info}


CODEX_CHAT = {
    "messages": [
        _codex_said(0, "user", _codex_text("Count the lines.")),
        _codex_said(1, "assistant", _codex_text("I look.")),
        _codex_said(2, "assistant", _codex_text("Then I count.")),
        _codex_asked(5, "c1"),
        _codex_asked(6, "c2"),
        _codex_said(7, "tool", {"type": "tool_output", "text": "3"}, tool_call_id="c1"),
        _codex_said(7, "tool", {"type": "tool_output", "text": "Exit code: 1\nWall time: 0 seconds\nOutput:\nno"}, tool_call_id="c2"),
        _codex_said(9, "assistant", _codex_text("3 lines.")),
    ],
    "meta": {
        "session_meta": {"id": "s", "cli_version": "0.116.0"},
        "token_counts": [
            {"type": "token_count", "info": None},
            codex_count((10, 2), (10, 2)),
            codex_count((10, 2), (10, 2)),
            codex_count((30, 5), (20, 3)),
        ],
    },
}  # fmt: skip


def claude_count(second: int, sent: int, received: int) -> dict[str, Any]:
    """Return the record of a block, with the answer's tokens so far."""
    used = {"input_tokens": 1, "cached_input_tokens": sent, "output_tokens": received}
    used["total_tokens"] = 1 + received
    info = {"total_token_usage": used, "last_token_usage": used}
    return {
        "type": "token_count",
        "info": info,
        "_timestamp": f"2026-01-05T10:00:{second:02}Z",
    }


def of_sub_agent(message: dict[str, Any], name: str = "a1") -> dict[str, Any]:
    """Return a message as the converter writes a sub-agent's."""
    beside = {"source": "subagent", "original_role": message["role"]}
    metadata = message["_metadata"] | beside
    return {**message, "role": f"assistant-subagent-{name}", "_metadata": metadata}


CLAUDE_CODE_CHAT = {
    "messages": [
        _codex_said(0, "user", _codex_text("Count the lines.")),
        _codex_said(1, "assistant", _codex_text("I look.")),
        _codex_asked(2, "c1"),
        _codex_said(3, "tool", {"type": "tool_output", "text": "3"}, tool_call_id="c1"),
        _codex_asked(4, "c2"),
        of_sub_agent(_codex_said(5, "user", _codex_text("Look again."))),
        of_sub_agent(_codex_said(6, "assistant", _codex_text("Still 3."))),
        _codex_said(7, "tool", {"type": "tool_output", "text": "3"}, tool_call_id="c2"),
        _codex_said(9, "assistant", _codex_text("3 lines.")),
    ],
    "meta": {
        "session_meta": {"session_id": "s", "version": "2.1.92"},
        "token_counts": [
            claude_count(0, 10, 2),
            claude_count(1, 10, 2),
            claude_count(2, 10, 2),
            claude_count(4, 10, 8),
            claude_count(9, 30, 5),
        ],
    },
}  # fmt: skip

CODEX_EXEC = [
    {"type": "thread.started", "thread_id": "t"},
    {"type": "turn.started"},
    {
        "type": "item.started",
        "item": {
            "id": "i0",
            "type": "command_execution",
            "command": "ls",
            "aggregated_output": "",
            "status": "in_progress",
        },
    },
    {
        "type": "item.completed",
        "item": {
            "id": "i0",
            "type": "command_execution",
            "command": "ls",
            "aggregated_output": "a",
            "exit_code": 0,
            "status": "completed",
        },
    },
    {"type": "item.completed", "item": {"id": "i1", "type": "agent_message", "text": "I ask."}},
    {
        "type": "item.completed",
        "item": {
            "id": "i2",
            "type": "mcp_tool_call",
            "server": "s",
            "tool": "find",
            "arguments": {"q": "x"},
            "error": {"message": "no"},
            "status": "failed",
        },
    },
    {
        "type": "turn.completed",
        "usage": {"input_tokens": 9, "cached_input_tokens": 4, "output_tokens": 3},
    },
]

GEMINI_CLI = {
    "sessionId": "s",
    "projectHash": "h",
    "startTime": "2025-01-01T12:00:00Z",
    "lastUpdated": "2025-01-01T12:00:09Z",
    "messages": [
        {"id": "m1", "type": "user", "timestamp": "2025-01-01T12:00:01Z", "content": "Find x."},
        {
            "id": "m2",
            "type": "gemini",
            "timestamp": "2025-01-01T12:00:02Z",
            "content": "I search.",
            "model": "gemini-2",
            "thoughts": [{"subject": "hm"}],
            "tokens": {
                "input": 5,
                "output": 2,
                "cached": 4,
                "thoughts": 3,
                "tool": 1,
                "total": 11,
            },
            "toolCalls": [
                {
                    "id": "c1",
                    "name": "search",
                    "args": {"q": "x"},
                    "status": "success",
                    "timestamp": "2025-01-01T12:00:03Z",
                    "result": [{"functionResponse": {"id": "c1", "response": {"output": "some"}}}],
                    "resultDisplay": "1 found",
                },
                {
                    "id": "c2",
                    "name": "read",
                    "args": {},
                    "status": "error",
                    "timestamp": "2025-01-01T12:00:04Z",
                    "result": [{"functionResponse": {"id": "c2", "response": {"error": "no"}}}],
                },
            ],
        },
    ],
}

_QWEN = {"sessionId": "q1", "cwd": "/w", "version": "0.18.1"}

QWEN_CODE = [
    {"uuid": "u1", "parentUuid": None, **_QWEN, "timestamp": "2025-01-01T12:00:00Z", "type": "user", "message": {"role": "user", "parts": [{"text": "Read a.md."}]}},
    {"uuid": "u2", "parentUuid": "u1", **_QWEN, "timestamp": "2025-01-01T12:00:01Z", "type": "assistant", "model": "coder", "message": {"role": "model", "parts": [{"text": "I read.", "thought": True}, {"functionCall": {"id": "c1", "name": "read_file", "args": {"path": "a.md"}}}]}, "usageMetadata": {"promptTokenCount": 500, "candidatesTokenCount": 20, "totalTokenCount": 520}},
    {"uuid": "u3", "parentUuid": "u2", **_QWEN, "timestamp": "2025-01-01T12:00:02Z", "type": "tool_result", "message": {"role": "user", "parts": [{"functionResponse": {"id": "c1", "name": "read_file", "response": {"output": "# A"}}}]}, "toolCallResult": {"callId": "c1", "status": "success"}},
]  # fmt: skip

KIMI_CODE = [
    {"type": "metadata", "protocol_version": "1.4", "created_at": 1735732800000},
    {"type": "context.append_message", "message": {"role": "user", "content": [{"type": "text", "text": "List."}], "toolCalls": [], "origin": {"kind": "user"}}, "time": 1735732801000},
    {"type": "context.append_loop_event", "event": {"type": "step.begin", "uuid": "a", "turnId": "0", "step": 1}, "time": 1735732802000},
    {"type": "context.append_loop_event", "event": {"type": "tool.call", "stepUuid": "a", "uuid": "u", "toolCallId": "Bash_0", "name": "Bash", "args": {"command": "ls"}}, "time": 1735732803000},
    {"type": "context.append_loop_event", "event": {"type": "tool.result", "parentUuid": "u", "toolCallId": "Bash_0", "result": {"output": "a.md"}}, "time": 1735732804000},
    {"type": "context.append_loop_event", "event": {"type": "step.end", "uuid": "a", "usage": {"inputOther": 10, "output": 5, "inputCacheRead": 90, "inputCacheCreation": 0}, "finishReason": "tool_use"}, "time": 1735732804000},
]  # fmt: skip

GROK_CLI = [
    {"type": "system", "content": "Be brief."},
    {"type": "user", "content": [{"type": "text", "text": "Read a.md."}], "prompt_index": 0},
    {"type": "reasoning", "id": "rs", "summary": [{"type": "summary_text", "text": "Hm."}]},
    {"type": "assistant", "content": "I read.", "tool_calls": [{"id": "c1", "name": "read_file", "arguments": '{"path": "a.md"}'}], "model_id": "grok"},
    {"type": "tool_result", "tool_call_id": "c1", "content": "# A"},
]  # fmt: skip


def _droid(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": kind, **fields, "timestamp": 1735732800000, "session_id": "s"}


DROID = [
    {"type": "system", "subtype": "init", "cwd": "/x", "session_id": "s", "tools": ["Read", "Execute"], "model": "m", "reasoning_effort": "low"},
    _droid("message", role="user", id="m1", text="Find x."),
    _droid("reasoning", id="r1", text="hm"),
    _droid("message", role="assistant", id="m2", text="I look."),
    _droid("tool_call", id="c1", messageId="m2", toolId="Read", toolName="Read", parameters={"file_path": "a"}),
    _droid("tool_call", id="c2", messageId="m2", toolId="Execute", toolName="Execute", parameters={"command": "grep x"}),
    _droid("tool_result", id="c1", messageId="m3", toolId="Read", isError=False, value="A"),
    _droid("tool_result", id="c2", messageId="m3", toolId="Execute", isError=True, error={"type": "tool_error", "message": "cancelled"}),
    _droid("tool_call", id="c3", messageId="m4", toolId="LS", toolName="LS", parameters={}),
    _droid("tool_result", id="c3", messageId="m5", toolId="LS", isError=True, value="no such folder"),
    _droid("message", role="assistant", id="m6", text="Not there."),
    _droid("completion", finalText="Not there.", numTurns=3, durationMs=9, usage={"input_tokens": 9, "output_tokens": 5, "cache_read_input_tokens": 20, "cache_creation_input_tokens": 0}),
]  # fmt: skip

DROID_SESSION = [
    {"type": "session_start", "id": "d1", "title": "Listing", "cwd": "/w", "version": 2},
    {"type": "message", "id": "m1", "parentId": "d1", "timestamp": "2025-01-01T12:00:00Z", "message": {"role": "user", "content": [{"type": "text", "text": "List."}]}},
    {"type": "message", "id": "m2", "parentId": "m1", "timestamp": "2025-01-01T12:00:01Z", "message": {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "LS", "input": {"path": "."}}]}},
    {"type": "message", "id": "m3", "parentId": "m2", "timestamp": "2025-01-01T12:00:02Z", "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "a.md"}]}},
]  # fmt: skip


def _cursor(kind: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, "session_id": "s", **more}


def _cursor_text(role: str, text: str, **more: Any) -> dict[str, Any]:
    return _cursor(
        role, message={"role": role, "content": [{"type": "text", "text": text}]}, **more
    )


def _cursor_call(subtype: str, call_id: str, **tool_call: Any) -> dict[str, Any]:
    return _cursor("tool_call", subtype=subtype, call_id=call_id, tool_call=tool_call)


CURSOR_CLI = [
    _cursor("system", subtype="init", apiKeySource="login", cwd="/x", model="m", permissionMode="default"),
    _cursor_text("user", "Find x."),
    _cursor_text("assistant", "I look."),
    _cursor_call("started", "c1", readToolCall={"args": {"path": "a.md"}}),
    _cursor_call("completed", "c1", readToolCall={"args": {"path": "a.md"}, "result": {"success": {"content": "# A", "totalLines": 1}}}),
    _cursor_call("started", "c2", shellToolCall={"args": {"command": "make", "toolCallId": "c2"}}),
    _cursor_call("completed", "c2", shellToolCall={"args": {"command": "make"}, "result": {"success": {"stdout": "", "stderr": "no rule", "exitCode": 2}}}),
    _cursor_call("started", "c3", mcpToolCall={"args": {"name": "jira-get", "toolName": "get", "args": {"id": 7}}}),
    _cursor_call("completed", "c3", mcpToolCall={"result": {"rejected": {"reason": "not allowed"}}}),
    _cursor_text("assistant", "Not there."),
    _cursor("result", subtype="success", is_error=False, result="Not there.", usage={"inputTokens": 9, "outputTokens": 5, "cacheReadTokens": 20}),
]  # fmt: skip


def _q_user(content: dict[str, Any], **more: Any) -> dict[str, Any]:
    state = {
        "operating_system": "linux",
        "current_working_directory": "/x",
        "environment_variables": [],
    }
    return {
        "additional_context": "",
        "env_context": {"env_state": state},
        "content": content,
        "timestamp": None,
        "images": None,
        **more,
    }


def _q_use(call_id: str, name: str, args: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"id": call_id, "name": name, "orig_name": name, "args": args, "orig_args": args, **more}


def _q_request(at: int) -> dict[str, Any]:
    times = {"request_start_timestamp_ms": at, "stream_end_timestamp_ms": at + 500}
    return {
        "request_id": "r",
        "message_id": f"m{at}",
        **times,
        "model_id": "n",
        "tool_use_ids_and_names": [],
    }


AMAZON_Q = {
    "conversation_id": "c",
    "next_message": None,
    "history": [
        {
            "user": _q_user({"Prompt": {"prompt": "Find x."}}, timestamp="2026-03-04T11:00:00+01:00"),
            "assistant": {
                "ToolUse": {
                    "message_id": "m1",
                    "content": "I look.",
                    "tool_uses": [
                        _q_use("t1", "fs_read", {"path": "a"}),
                        _q_use("t2", "execute_bash", {"command": "grep x b"}),
                    ],
                }
            },
            "request_metadata": _q_request(1000),
        },
        {
            "user": _q_user(
                {
                    "ToolUseResults": {
                        "tool_use_results": [
                            {"tool_use_id": "t1", "content": [{"Text": "A"}], "status": "Success"},
                            {
                                "tool_use_id": "t2",
                                "content": [{"Json": {"exit_status": "2", "stdout": "", "stderr": "no file b"}}],
                                "status": "Success",
                            },
                        ]
                    }
                }
            ),
            "assistant": {"ToolUse": {"message_id": "m2", "content": "", "tool_uses": [_q_use("t3", "fs_write", {"path": "b"})]}},
            "request_metadata": _q_request(3000),
        },
        {
            "user": _q_user(
                {
                    "CancelledToolUses": {
                        "prompt": "Do not write.",
                        "tool_use_results": [
                            {"tool_use_id": "t3", "content": [{"Text": "Tool use was cancelled by the user"}], "status": "Error"}
                        ],
                    }
                },
                timestamp="2026-03-04T11:01:00+01:00",
            ),
            "assistant": {"Response": {"message_id": "m3", "content": "Not there."}},
            "request_metadata": None,
        },
    ],
    "valid_history_range": [0, 3],
    "transcript": [
        "> Find x.",
        "I look.\n[Tool uses: fs_read,execute_bash]",
        "\n[Tool uses: fs_write]",
        "> Do not write.",
        "Not there.\n[Tool uses: none]",
    ],
    "tools": {
        "native___": [
            {"ToolSpecification": {"name": "fs_read", "description": "Reads.", "input_schema": {"json": {"type": "object"}}}}
        ]
    },
    "latest_summary": None,
    "model_info": {"model_id": "auto"},
}  # fmt: skip

#: Two spaces end what was typed or shown.
_AIDER_LINES = [
    "",
    "# aider chat started at 2026-03-01 10:00:00",
    "",
    "> aider --model gpt-4o  ",
    "> Model: gpt-4o with diff edit format  ",
    "",
    "#### Fix the tests.  ",
    "####  ",
    "#### They fail.  ",
    "",
    "I will.",
    "",
    "#### Plan",
    "> As you said",
    "",
    "a.py",
    "<<<<<<< SEARCH",
    "x",
    "=======",
    "y",
    ">>>>>>> REPLACE",
    "",
    "> Tokens: 11k sent, 369 received. Cost: $0.04 message, $0.04 session.  ",
    "> # 1 SEARCH/REPLACE block failed to match!",
    "",
    "def f():  ",
    "    return 1",
    "",
    "Just reply with fixed versions.  ",
    "",
    "Then it is done.",
    "",
    "> Tokens: 12k sent, 8 received. Cost: $0.04 message, $0.08 session.  ",
    "",
]

AIDER_HISTORY = "\n".join(_AIDER_LINES)

AIDER = {"aider_chat": AIDER_HISTORY.lstrip("\n")}

AIDER_LOG = """TO LLM 2026-03-01T10:00:00
-------
SYSTEM Act as an expert.
SYSTEM
SYSTEM Reply briefly.
-------
USER text: These are the files.
LLM RESPONSE is a heading in one of them.
-------
ASSISTANT Ok.
-------
USER Name the tests.

LLM RESPONSE 2026-03-01T10:00:04
ASSISTANT Which
ASSISTANT -------
ASSISTANT ones?
TO LLM 2026-03-01T10:01:00
-------
SYSTEM Act as an expert.
SYSTEM
SYSTEM Reply briefly.
-------
USER Name the tests.
-------
ASSISTANT Which
ASSISTANT -------
ASSISTANT ones?
-------
USER All of them.
-------
SYSTEM Reply briefly.

LLM RESPONSE 2026-03-01T10:01:02

"""


def _part(kind: str, **more: Any) -> dict[str, Any]:
    return {"id": f"{kind}-{len(more)}", "messageID": "m2", "type": kind} | more


_OC_TOKENS = {"input": 5, "output": 2, "reasoning": 1, "cache": {"read": 4, "write": 3}}

_MS = 1735732800000

OPENCODE = {
    "info": {
        "id": "s",
        "title": "Find",
        "version": "1.0.0",
        "time": {"created": _MS, "updated": _MS + 9000},
    },
    "messages": [
        {
            "info": {"id": "m1", "role": "user", "time": {"created": _MS}},
            "parts": [{"id": "p", "type": "text", "text": "Find x."}],
        },
        {
            "info": {
                "id": "m2",
                "role": "assistant",
                "modelID": "m",
                "time": {"created": _MS + 1000, "completed": _MS + 5000},
                "cost": 0.5,
                "tokens": _OC_TOKENS,
            },
            "parts": [
                _part("step-start"),
                _part("text", text="I search."),
                _part(
                    "tool",
                    callID="c1",
                    tool="search",
                    state={
                        "status": "completed",
                        "input": {"q": "x"},
                        "output": "some",
                        "time": {"start": _MS + 2000, "end": _MS + 3000},
                    },
                ),
                _part(
                    "tool",
                    callID="c2",
                    tool="read",
                    state={
                        "status": "error",
                        "input": {},
                        "error": "no",
                        "time": {"start": _MS + 2000, "end": _MS + 3000},
                    },
                ),
                _part("step-finish", reason="tool-calls", cost=0.25, tokens=_OC_TOKENS),
                _part("step-start"),
                _part("text", text="Here."),
                _part("step-finish", reason="stop", cost=0.25, tokens={"input": 9, "output": 1}),
            ],
        },
    ],
}


def _log_row(seq: int, kind: str, **data: Any) -> dict[str, Any]:
    return {"id": f"evt_{seq}", "aggregate_id": "s", "seq": seq, "type": f"{kind}.1", "data": data}


def _states(message: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what the event log of opencode keeps of a message: its parts, each also before it was complete, and itself."""
    info = message["info"]
    yield "message.updated", {"info": {"id": info["id"], "role": info["role"]}}
    for number, recorded in enumerate(message["parts"]):
        part = recorded | {"id": f"{info['id']}-{number}", "messageID": info["id"]}
        yield "message.part.updated", {"part": {**part, "state": {"status": "pending"}, "text": ""}}
        yield "message.part.updated", {"part": part}
    yield "message.updated", {"info": info}


OPENCODE_LOG = [
    _log_row(seq, kind, sessionID="s", **data)
    for seq, (kind, data) in enumerate(
        [
            ("session.created", {"info": OPENCODE["info"] | {"title": "New session"}}),
            *(state for message in OPENCODE["messages"] for state in _states(message)),
            ("session.updated", {"info": OPENCODE["info"]}),
        ]
    )
]


def _stored(row: dict[str, Any], *named: str) -> dict[str, Any]:
    """Return a record as a row of opencode's database, in which all but its names stands as JSON."""
    rest = {name: held for name, held in row.items() if name not in {"id", *named}}
    return {"id": row["id"], "session_id": "s", "data": json.dumps(rest)}


#: The rows of a session in opencode's database, and of one that it started.
OPENCODE_STORED: dict[str, Any] = {
    "session": {
        "id": "s",
        "parent_id": None,
        "title": "Find",
        "version": "1.0.0",
        "time_created": _MS,
        "time_updated": _MS + 9000,
        "cost": 0.5,
        "tokens_input": 14,
        "tokens_output": 3,
        "tokens_reasoning": 1,
        "tokens_cache_read": 4,
        "tokens_cache_write": 3,
    },
    "rows": [
        _stored(message["info"]) | {"time_created": message["info"]["time"]["created"]}
        for message in OPENCODE["messages"]
    ],
    "parts": [
        _stored(part | {"id": f"{message['info']['id']}-{number}"}, "messageID")
        | {"message_id": message["info"]["id"]}
        for message in OPENCODE["messages"]
        for number, part in enumerate(message["parts"])
    ],
}


def _goose(role: str, *content: dict[str, Any]) -> dict[str, Any]:
    return {"role": role, "created": 1735732800, "content": list(content)}


_SUCCESS = {"status": "success", "value": {"name": "search", "arguments": {"q": "x"}}}

GOOSE = [
    {
        "description": "Find",
        "working_dir": "/x",
        "message_count": 3,
        "total_tokens": 9,
        "accumulated_total_tokens": 30,
        "accumulated_input_tokens": 25,
        "accumulated_output_tokens": 5,
    },
    _goose("user", {"type": "text", "text": "Find x."}),
    _goose(
        "assistant",
        {"type": "text", "text": "I search."},
        {"type": "toolRequest", "id": "c1", "toolCall": _SUCCESS},
    ),
    _goose(
        "user",
        {
            "type": "toolResponse",
            "id": "c1",
            "toolResult": {"status": "success", "value": [{"type": "text", "text": "some"}]},
        },
    ),
]

#: Of Goose's database: the row of a session, and the rows of its messages.
GOOSE_STORED = {
    "session": GOOSE[0] | {"id": "g", "model_config_json": '{"model_name": "m"}'},
    "rows": [
        {
            "session_id": "g",
            "message_id": None,
            "role": message["role"],
            "content_json": json.dumps(message["content"]),
            "created_timestamp": message["created"],
            "metadata_json": "{}",
        }
        for message in GOOSE[1:]
    ],
}


def _crush_parts(*parts: tuple[str, dict[str, Any]]) -> str:
    return json.dumps([{"type": kind, "data": data} for kind, data in parts])


def _crush(session: str, at: int, role: str, *parts: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    return {
        "id": f"m{session}{at}",
        "session_id": session,
        "role": role,
        "parts": _crush_parts(*parts),
        "model": "m" if role == "assistant" else "",
        "created_at": 1735732800 + at,
        "updated_at": 0,
        "finished_at": 1735732801 + at if role == "assistant" else None,
    }


def _crush_call(call_id: str, **arguments: Any) -> tuple[str, dict[str, Any]]:
    held = {"id": call_id, "name": "search", "input": json.dumps(arguments), "finished": True}
    return "tool_call", held


def _crush_result(
    call_id: str, content: str, *, is_error: bool = False
) -> tuple[str, dict[str, Any]]:
    held = {"tool_call_id": call_id, "name": "search", "content": content, "is_error": is_error}
    return "tool_result", held


CRUSH = {
    "session": {"id": "s", "parent_session_id": None, "title": "Find x", "cost": 0.5, "created_at": 1735732800},
    "sub_sessions": [{"id": "c2", "parent_session_id": "s", "title": "Look", "cost": 0.2}],
    "rows": [
        _crush("s", 0, "user", ("text", {"text": "Find x."}), ("finish", {"reason": "stop"})),
        _crush("s", 1, "assistant", ("reasoning", {"thinking": "hm"}), ("text", {"text": "I search."}), _crush_call("c1", q="x"), _crush_call("c2"), ("finish", {"reason": "tool_use"})),
        _crush("c2", 2, "assistant", ("text", {"text": "Nothing."})),
        _crush("s", 3, "tool", _crush_result("c1", "none", is_error=True), _crush_result("c2", "Nothing.")),
        _crush("s", 4, "assistant", ("finish", {"reason": "error", "message": "busy", "details": "later"})),
    ],
}  # fmt: skip


def _kiro(kind: str, name: str, *parts: tuple[str, Any], **more: Any) -> dict[str, Any]:
    content = [{"kind": part, "data": held} for part, held in parts]
    return {"version": "v1", "kind": kind, "data": {"message_id": name, "content": content, **more}}


def _kiro_result(name: str, status: str, *blocks: tuple[str, Any]) -> tuple[str, Any]:
    content = [{"kind": kind, "data": held} for kind, held in blocks]
    return "toolResult", {"toolUseId": name, "content": content, "status": status}


KIRO_SESSION: dict[str, Any] = {
    "format": "kiro-session-export-v1",
    "metadata": {
        "session_id": "k",
        "cwd": "/x",
        "title": "Look.",
        "session_state": {
            "version": "v1",
            "conversation_metadata": {
                "user_turn_metadatas": [
                    {
                        "message_ids": ["m0", "m1", "m2", "m3"],
                        "total_request_count": 2,
                        "builtin_tool_uses": 3,
                        "end_timestamp": "2026-01-01T12:00:09Z",
                        "input_token_count": 0,
                        "output_token_count": 0,
                        "metering_usage": [{"value": 0.25, "unit": "credit"}, {"value": 0.5, "unit": "credit"}],
                    }
                ]
            },
            "rts_model_state": {"model_info": {"model_id": "m"}},
            "agent_name": "kiro_default",
        },
    },
    "log_entries": [
        _kiro("Prompt", "p1", ("text", "Look."), meta={"timestamp": 1767268800}),
        _kiro(
            "AssistantMessage",
            "m1",
            ("text", "I look."),
            ("toolUse", {"toolUseId": "c1", "name": "shell", "input": {"command": "ls"}}),
            ("toolUse", {"toolUseId": "c2", "name": "shell", "input": {"command": "cat a"}}),
            ("toolUse", {"toolUseId": "c3", "name": "read", "input": {}}),
        ),
        _kiro(
            "ToolResults",
            "r1",
            _kiro_result("c2", "success", ("json", {"exit_status": "exit status: 1", "stdout": "", "stderr": "no a"})),
            _kiro_result("c1", "success", ("json", {"exit_status": "exit status: 0", "stdout": "b", "stderr": ""})),
            _kiro_result("c3", "error", ("text", "missing field `path`")),
            results={},
        ),
        _kiro("AssistantMessage", "m3", ("text", "There is b.")),
    ],
}  # fmt: skip

EXAMPLES: dict[str, Any] = {
    "claude-code-hooks": CLAUDE_CODE_HOOKS,
    "claude-code-chat": CLAUDE_CODE_CHAT,
    "codex-chat": CODEX_CHAT,
    "codex-exec": CODEX_EXEC,
    "gemini-cli": GEMINI_CLI,
    "qwen-code": QWEN_CODE,
    "kimi-code": KIMI_CODE,
    "grok-cli": GROK_CLI,
    "droid": DROID,
    "droid-session": DROID_SESSION,
    "cursor-cli": CURSOR_CLI,
    "amazon-q": AMAZON_Q,
    "kiro-session": KIRO_SESSION,
    "aider": AIDER,
    "aider-llm": {"aider_llm_history": AIDER_LOG},
    "opencode": OPENCODE,
    "goose": GOOSE,
    "crush": CRUSH,
}
