"""Messages, streams, batches and logs of model APIs: OpenAI, Anthropic and Google."""

from __future__ import annotations

from typing import Any

CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}

CHAT = [
    {"role": "user", "content": "hi", "timestamp": "2025-01-01T12:00:00Z"},
    {"role": "assistant", "content": None, "tool_calls": [CALL], "usage": {"prompt_tokens": 1}},
    {"role": "tool", "tool_call_id": "c", "content": [{"type": "text", "text": "found"}]},
    {"role": "assistant", "content": "done", "function_call": {"name": "g", "arguments": "{}"}},
]


def _assistants_object(kind: str, number: int, **told: Any) -> dict[str, Any]:
    head = {"id": f"{kind}_{number}", "object": kind, "created_at": 1_735_732_800 + number}
    return {**head, "thread_id": "thread_1", **told}


def _assistants_text(text: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": {"value": text, "annotations": []}}]


OPENAI_ASSISTANTS = {
    "messages": {
        "object": "list",
        "data": [
            _assistants_object(
                "thread.message", 5, role="assistant", run_id="thread.run_1", content=_assistants_text("Found.")
            ),
            _assistants_object("thread.message", 0, role="user", content=_assistants_text("Find x.")),
        ],
    },
    "runs": [
        _assistants_object(
            "thread.run",
            1,
            model="gpt-4o",
            status="completed",
            completed_at=1_735_732_806,
            tools=[{"type": "function", "function": {"name": "search"}}],
            usage={"prompt_tokens": 20, "completion_tokens": 5, "total_tokens": 25},
        )
    ],
    "steps": [
        _assistants_object(
            "thread.run.step",
            2,
            run_id="thread.run_1",
            completed_at=1_735_732_803,
            status="completed",
            usage={"prompt_tokens": 8, "completion_tokens": 2, "total_tokens": 10},
            step_details={
                "type": "tool_calls",
                "tool_calls": [
                    {
                        "id": "call_1",
                        "type": "function",
                        "function": {"name": "search", "arguments": "{}", "output": "x"},
                    },
                    {
                        "id": "call_2",
                        "type": "code_interpreter",
                        "code_interpreter": {"input": "1", "outputs": [{"type": "logs", "logs": "1"}]},
                    },
                ],
            },
        ),
        _assistants_object(
            "thread.run.step",
            4,
            run_id="thread.run_1",
            status="completed",
            usage={"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15},
            step_details={
                "type": "message_creation",
                "message_creation": {"message_id": "thread.message_5"},
            },
        ),
    ],
}  # fmt: skip


def _session_event(number: int, kind: str, **more: Any) -> dict[str, Any]:
    time = f"2025-01-01T12:00:{number:02}Z"
    return {"id": f"sevt_{number}", "type": kind, "processed_at": time} | more


MANAGED_AGENTS = [
    _session_event(0, "session.status_running"),
    _session_event(1, "user.message", content=[{"type": "text", "text": "Find x."}]),
    _session_event(2, "span.model_request_start"),
    _session_event(3, "agent.thinking"),
    _session_event(4, "agent.message", content=[{"type": "text", "text": "I look."}]),
    _session_event(5, "agent.tool_use", name="bash", input={"command": "ls"}),
    _session_event(6, "agent.mcp_tool_use", name="search", input={}, mcp_server_name="s"),
    _session_event(
        7,
        "span.model_request_end",
        model_request_start_id="sevt_2",
        is_error=False,
        model_usage={
            "input_tokens": 2,
            "output_tokens": 5,
            "cache_read_input_tokens": 10,
            "cache_creation_input_tokens": 3,
        },
    ),
    _session_event(8, "agent.tool_result", tool_use_id="sevt_5", content="a", is_error=True),
    _session_event(9, "agent.mcp_tool_result", mcp_tool_use_id="sevt_6", content="b"),
    _session_event(
        10,
        "session.usage",
        usage={
            "input_tokens": 2,
            "output_tokens": 6,
            "cache_read_input_tokens": 10,
            "cache_creation": {"ephemeral_1h_input_tokens": 0, "ephemeral_5m_input_tokens": 3},
            "list_cost": {"amount": "150", "currency": "USD"},
        },
    ),
]

BATCH_RESULT = {
    "id": "batch_req_1",
    "custom_id": "r1",
    "response": {
        "status_code": 200,
        "body": {"id": "chatcmpl-1", "object": "chat.completion", "model": "gpt-4o", "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}},
    },
    "error": None,
}  # fmt: skip

API_STREAM = [
    {
        "type": "message_start",
        "message": {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "m",
            "content": [],
            "usage": {"input_tokens": 20, "cache_read_input_tokens": 5, "output_tokens": 1},
        },
    },
    {
        "type": "content_block_start",
        "index": 0,
        "content_block": {"type": "text", "text": ""},
    },
    {"type": "ping"},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "I "}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "look."}},
    {"type": "content_block_stop", "index": 0},
    {
        "type": "content_block_start",
        "index": 1,
        "content_block": {"type": "tool_use", "id": "c1", "name": "search", "input": {}},
    },
    {
        "type": "content_block_delta",
        "index": 1,
        "delta": {"type": "input_json_delta", "partial_json": '{"q": '},
    },
    {
        "type": "content_block_delta",
        "index": 1,
        "delta": {"type": "input_json_delta", "partial_json": '"x"}'},
    },
    {"type": "content_block_stop", "index": 1},
    {
        "type": "message_delta",
        "delta": {"stop_reason": "tool_use"},
        "usage": {"output_tokens": 7},
    },
    {"type": "message_stop"},
]

REQUEST_LOG = [
    {
        "model": "m-1",
        "messages": [
            {"role": "system", "content": "You find."},
            {"role": "user", "content": "Find x."},
        ],
        "stream": False,
        "tools": [
            {"type": "function", "function": {"name": "search", "parameters": {"type": "object"}}}
        ],
    },
    {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_772_618_400,
        "model": "m-1-0326",
        "choices": [
            {
                "index": 0,
                "message": {
                    "role": "assistant",
                    "content": "I look.",
                    "tool_calls": [
                        {
                            "id": "call_1",
                            "type": "function",
                            "function": {"name": "search", "arguments": '{"q": "x"}'},
                        }
                    ],
                },
                "finish_reason": "tool_calls",
            }
        ],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
    },
    {
        "model": "m-1",
        "messages": [
            {"role": "system", "content": "You report."},
            {"role": "user", "content": "Find x."},
            {
                "role": "assistant",
                "content": "I look.",
                "sender": "finder",
                "tool_calls": [
                    {
                        "id": "call_1",
                        "type": "function",
                        "function": {"name": "search", "arguments": '{"q": "x"}'},
                    }
                ],
            },
            {"role": "tool", "tool_call_id": "call_1", "content": "none"},
        ],
        "stream": False,
    },
    {
        "id": "chatcmpl-2",
        "object": "chat.completion",
        "created": 1_772_618_402,
        "model": "m-1-0326",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "Not there."}}],
        "usage": {"prompt_tokens": 20, "completion_tokens": 2, "total_tokens": 22},
    },
]

EXAMPLES: dict[str, Any] = {
    "openai-chat": CHAT,
    "openai-responses": [
        {"role": "user", "content": "Find x."},
        {
            "type": "function_call",
            "call_id": "c1",
            "name": "search",
            "arguments": '{"q": "x"}',
        },
        {"type": "function_call_output", "call_id": "c1", "output": "found"},
    ],
    "openai-assistants": OPENAI_ASSISTANTS,
    "anthropic": [
        {"role": "user", "content": "Find x."},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "t1", "name": "search", "input": {"q": "x"}}],
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "found"}],
        },
    ],
    "managed-agents": MANAGED_AGENTS,
    "batch-results": BATCH_RESULT,
    "api-stream": API_STREAM,
    "request-log": REQUEST_LOG,
}
