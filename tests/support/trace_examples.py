"""A small trace in each format of agents' logs, written for the tests."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from weighbridge.traces import FORMATS

if TYPE_CHECKING:
    from collections.abc import Iterator

TRAE = {
    "task": "Fix it.",
    "start_time": "2025-01-01T12:00:00",
    "end_time": "2025-01-01T12:01:00",
    "provider": "anthropic",
    "model": "m",
    "max_steps": 9,
    "llm_interactions": [
        {
            "timestamp": "2025-01-01T12:00:02",
            "provider": "anthropic",
            "model": "m",
            "input_messages": [
                {"role": "system", "content": "You fix."},
                {"role": "user", "content": "Fix it."},
            ],
            "response": {
                "content": "I look.",
                "model": "m-1",
                "finish_reason": "tool_use",
                "usage": {
                    "input_tokens": 5,
                    "output_tokens": 2,
                    "cache_creation_input_tokens": 3,
                    "cache_read_input_tokens": 4,
                },
                "tool_calls": [
                    {"call_id": "c1", "name": "bash", "arguments": {"command": "ls"}, "id": None}
                ],
            },
            "tools_available": ["bash", "task_done"],
        },
        {
            "timestamp": "2025-01-01T12:00:09",
            "provider": "anthropic",
            "model": "m",
            "input_messages": [
                {
                    "role": "user",
                    "content": None,
                    "tool_result": {"call_id": "c1", "success": False, "error": "no"},
                }
            ],
            "response": {
                "content": "",
                "model": "m-1",
                "usage": {"input_tokens": 1, "output_tokens": 1},
                "tool_calls": [{"call_id": "c2", "name": "task_done", "arguments": {}}],
            },
            "tools_available": ["bash", "task_done"],
        },
    ],
    "agent_steps": [
        {
            "step_number": 1,
            "timestamp": "2025-01-01T12:00:03",
            "state": "completed",
            "llm_messages": [{"role": "user", "content": "Fix it."}],
            "llm_response": {
                "content": "I look.",
                "tool_calls": [{"call_id": "c1", "name": "bash", "arguments": {"command": "ls"}}],
            },
            "tool_calls": [{"call_id": "c1", "name": "bash", "arguments": {"command": "ls"}}],
            "tool_results": [{"call_id": "c1", "success": False, "result": None, "error": "no"}],
            "reflection": None,
            "error": None,
        },
        {"step_number": 2, "timestamp": "2025-01-01T12:00:05", "error": "overloaded"},
    ],
    "success": True,
    "final_result": "Done.",
    "execution_time": 60.0,
}


def _node(kind: str, text: str, *children: Any, **more: Any) -> dict[str, Any]:
    return {"node_type": kind, "description": text, "children": list(children), **more}


TOOLBENCH = {
    "win": True,
    "tree": {
        "size": 5,
        "tree": _node(
            "Action Input",
            "",
            _node("Thought", "It is hopeless."),
            _node(
                "Thought",
                "I search.",
                _node(
                    "Action",
                    "search",
                    _node(
                        "Action Input",
                        '{"q": "x"}',
                        _node(
                            "Action",
                            "Finish",
                            _node(
                                "Action Input",
                                '{"return_type": "give_answer"}',
                                observation="answered",
                                observation_code=3,
                            ),
                        ),
                        observation='{"error": "Message error..."}',
                        observation_code=11,
                    ),
                ),
            ),
        ),
    },
    "forward_args": {"answer": 1},
    "answer_generation": {
        "valid_data": True,
        "query_count": 4,
        "total_tokens": 90,
        "finish_type": "give_answer",
        "function": [{"name": "search", "description": "Finds.", "parameters": {}}],
        "query": "Find x.",
    },
}
AGENT_HISTORY = {
    "question": "How many?",
    "question_ID": "q-1",
    "level": "2",
    "history": [
        {"content": "You are given a task.", "role": "assistant", "name": "Data_Expert"},
        {"content": "I count.\n```python\nprint(2)\n```", "role": "user", "name": "Data_Expert"},
        {
            "content": "exitcode: 1 (execution failed)\nCode output: no",
            "role": "user",
            "name": "Computer_terminal",
        },
        {"content": "Two.", "role": "assistant", "name": "Check_Expert"},
        {
            "content": "There is no code from the last 1 message for me to execute.",
            "role": "user",
            "name": "Computer_terminal",
        },
    ],
    "mistake_agent": "Data_Expert",
    "system_prompt": {"Data_Expert": "You count."},
}


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
INSPECT = {
    "version": 2,
    "status": "success",
    "eval": {"eval_id": "e", "task": "find", "model": "openai/m"},
    "samples": [
        {
            "id": 1,
            "epoch": 1,
            "input": "Find x.",
            "target": "x",
            "messages": [
                {"id": "m1", "role": "user", "content": "Find x.", "source": "input"},
                {
                    "id": "m2",
                    "role": "assistant",
                    "content": "",
                    "tool_calls": [{"id": "c", "function": "f", "arguments": {"q": "x"}}],
                },
                {
                    "id": "m3",
                    "role": "tool",
                    "content": "",
                    "tool_call_id": "c",
                    "function": "f",
                    "error": {"type": "timeout", "message": "too slow"},
                },
            ],
            "scores": {"match": {"value": "I", "answer": ""}},
            "events": [
                {"event": "span_begin", "id": "s", "type": "solver", "name": "s"},
                {
                    "event": "model",
                    "span_id": "s",
                    "timestamp": "2025-01-01T12:00:01Z",
                    "completed": "2025-01-01T12:00:02Z",
                    "model": "openai/m",
                    "tools": [{"name": "f", "description": "Finds.", "parameters": {}}],
                    "output": {
                        "model": "m-1",
                        "choices": [{"message": {"id": "m2", "role": "assistant", "content": ""}}],
                        "usage": {
                            "input_tokens": 5,
                            "output_tokens": 2,
                            "total_tokens": 11,
                            "input_tokens_cache_read": 4,
                        },
                    },
                },
                {"event": "span_begin", "id": "g", "type": "scorer", "name": "match"},
                {
                    "event": "model",
                    "span_id": "g",
                    "output": {"usage": {"input_tokens": 50, "output_tokens": 1}},
                },
            ],
            "model_usage": {
                "openai/m": {"input_tokens": 59, "output_tokens": 3, "total_tokens": 62}
            },
        }
    ],
}


def _response(number: int, *calls: dict[str, Any], **more: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": "I look.", "tool_calls": list(calls)}
    usage = {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}
    return {"id": f"r{number}", "model": "m", "choices": [{"message": message}], "usage": usage}


_LS = {
    "id": "c1",
    "type": "function",
    "function": {"name": "bash", "arguments": '{"command": "ls"}'},
}
_CAT = {
    "id": "c2",
    "type": "function",
    "function": {"name": "bash", "arguments": '{"command": "cat a"}'},
}


def _metadata(call: dict[str, Any]) -> dict[str, Any]:
    return {
        "function_name": "bash",
        "tool_call_id": call["id"],
        "model_response": _response(1, _LS, _CAT),
        "total_calls_in_response": 2,
    }


def _event(number: int, source: str, **more: Any) -> dict[str, Any]:
    return {"id": number, "timestamp": f"2025-01-01T12:00:0{number}", "source": source} | more


OPENHANDS = {
    "instance_id": "i",
    "metadata": {"agent_class": "CodeActAgent", "max_iterations": 9},
    "history": [
        _event(
            0,
            "agent",
            action="system",
            args={
                "content": "You fix.",
                "tools": [{"type": "function", "function": {"name": "bash"}}],
            },
        ),
        _event(1, "user", action="message", args={"content": "Fix it."}),
        _event(
            2,
            "agent",
            action="run",
            args={"command": "ls", "thought": "I look."},
            tool_call_metadata=_metadata(_LS),
        ),
        _event(
            3,
            "agent",
            observation="run",
            content="a",
            cause=2,
            tool_call_metadata=_metadata(_LS),
            extras={},
        ),
        _event(
            4, "agent", action="run", args={"command": "cat a"}, tool_call_metadata=_metadata(_CAT)
        ),
        _event(
            5,
            "agent",
            observation="error",
            content="no",
            cause=4,
            tool_call_metadata=_metadata(_CAT),
            extras={},
        ),
        _event(6, "environment", observation="agent_state_changed", content="", extras={}),
        _event(
            7,
            "agent",
            action="message",
            args={"content": "Done."},
            llm_metrics={
                "accumulated_cost": 0.5,
                "accumulated_token_usage": {"prompt_tokens": 9, "completion_tokens": 3},
            },
        ),
    ],
    "metrics": {
        "accumulated_cost": 0.5,
        "accumulated_token_usage": {"prompt_tokens": 14, "completion_tokens": 5},
    },
}


def _appended(number: int, author: str, *parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    role = "user" if author == "user" else "model"
    return {
        "id": f"e{number}",
        "invocationId": "i",
        "author": author,
        "timestamp": 1735732800 + number,
        "content": {"role": role, "parts": list(parts)},
    } | more


GOOGLE_ADK = {
    "id": "s",
    "appName": "app",
    "userId": "u",
    "state": {},
    "events": [
        _appended(0, "user", {"text": "Find x."}),
        _appended(1, "root", {"text": "I "}, partial=True),
        _appended(
            2,
            "root",
            {"text": "hm", "thought": True},
            {"text": "I search."},
            {"functionCall": {"id": "c1", "name": "search", "args": {"q": "x"}}},
            {"functionCall": {"id": "c2", "name": "wait", "args": {}}},
            modelVersion="gemini-2",
            usageMetadata={
                "promptTokenCount": 5,
                "candidatesTokenCount": 2,
                "thoughtsTokenCount": 3,
                "totalTokenCount": 10,
            },
        ),
        _appended(
            3,
            "root",
            {"functionResponse": {"id": "c1", "name": "search", "response": {"error": "none"}}},
            {"functionResponse": {"id": "c2", "name": "wait", "response": {"status": "pending"}}},
        ),
        _appended(
            4,
            "root",
            {"functionResponse": {"id": "c2", "name": "wait", "response": {"status": "done"}}},
        ),
        _appended(4, "root", {"text": "Again."}),
    ],
}
#: Rows of ADK's database: since version 1.22, and before.
GOOGLE_ADK_ROWS = [
    {
        "id": f"e{number}",
        "app_name": "app",
        "user_id": "u",
        "session_id": session,
        "invocation_id": "i",
        "timestamp": 1735732800.5 + number,
        "event_data": json.dumps(event),
    }
    for session in ("s", "s2")
    for number, event in enumerate(GOOGLE_ADK["events"])
]
GOOGLE_ADK_OLD_ROWS = [
    {
        "id": f"e{number}",
        "app_name": "app",
        "user_id": "u",
        "session_id": "s",
        "invocation_id": "i",
        "author": event["author"],
        "partial": int(event.get("partial", False)),
        "timestamp": f"2025-01-01 12:00:0{number}.000000",
        "content": json.dumps(event["content"]),
        "usage_metadata": json.dumps(event.get("usageMetadata")),
        "error_message": None,
    }
    for number, event in enumerate(GOOGLE_ADK["events"])
]
GOOGLE_ADK_EVAL = {
    "eval_set_id": "set",
    "name": "set",
    "eval_cases": [
        {
            "eval_id": "case 1",
            "conversation": [
                {
                    "invocation_id": "i",
                    "user_content": {"parts": [{"text": "Find x."}], "role": "user"},
                    "final_response": {"parts": [{"text": "Here is x."}], "role": "model"},
                    "intermediate_data": {
                        "tool_uses": [{"id": "c1", "name": "search", "args": {"q": "x"}}],
                        "tool_responses": [
                            {"id": "c1", "name": "search", "response": {"found": 1}}
                        ],
                        "intermediate_responses": [["helper", [{"text": "Wait."}]]],
                    },
                    "creation_timestamp": 1735732800.0,
                }
            ],
            "session_input": {"app_name": "app"},
        },
        {
            "eval_id": "case 2",
            "conversation": [{"user_content": {"parts": [{"text": "Hello."}]}}],
        },
    ],
}
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
_JUPYTER_AGENT = "jupyter-ai-personas::jupyter_ai_acp_client::ClaudeAcpPersona"
JUPYTER_CHAT = {
    "messages": [
        {
            "body": "What is in x.ipynb?",
            "id": "m1",
            "time": 1772618400.5,
            "sender": "ada",
            "type": "msg",
            "raw_time": False,
            "metadata": {"to_persona": _JUPYTER_AGENT},
        },
        {
            "body": "",
            "id": "m2",
            "time": 1772618402.0,
            "sender": _JUPYTER_AGENT,
            "type": "msg",
            "mentions": [],
            "metadata": {
                "tool_calls": [
                    {
                        "tool_call_id": "t1",
                        "title": "cat x.ipynb",
                        "kind": "execute",
                        "status": "failed",
                        "raw_input": {"command": "cat x.ipynb"},
                        "raw_output": "No such file",
                    },
                    {"tool_call_id": "t2", "title": "Read y", "kind": "read", "status": "pending"},
                ]
            },
        },
        {
            "body": "There is none.",
            "id": "m3",
            "time": 1772618404.0,
            "sender": _JUPYTER_AGENT,
            "type": "msg",
        },
    ],
    "users": {
        "ada": {"username": "ada", "display_name": "Ada", "bot": False},
        _JUPYTER_AGENT: {"username": _JUPYTER_AGENT, "display_name": "Claude", "bot": True},
    },
    "attachments": {},
    "metadata": {"id": "c1"},
}
SPECSTORY_HISTORY = """<!-- Generated by SpecStory, Markdown v2.1.0 -->

# 2026-03-02 10:00:00Z

<!-- Claude Code Session 1f-2a (2026-03-02 10:00:00Z) -->

_**User (2026-03-02 10:00:00Z)**_

Which tests fail?

---

_**Agent (model-a 2026-03-02 10:00:02Z)**_

<think><details><summary>Thought Process</summary>
I run them.

<tool-use data-tool-type="shell" data-tool-name="Bash"><details>
</details></think>

_**Agent (model-a 2026-03-02 10:00:03Z)**_

I run them.

_**Agent (model-a 2026-03-02 10:00:04Z)**_

<tool-use data-tool-type="shell" data-tool-name="Bash"><details>
<summary>Tool use: **Bash**</summary>
Run the tests

`pytest -q`

```text
1 failed

_**User**_

---

</details></tool-use>
in a log
```
</details></tool-use>

_**Agent (model-a 2026-03-02 10:00:04Z)**_

<tool-use data-tool-type="read" data-tool-name="Read"><details>
<summary>Tool use: **Read**</summary>
 `./test_a.py`

```text
1 assert False
```
</details></tool-use>

_**Agent (model-a 2026-03-02 10:00:09Z)**_

test_a fails.

---

_**User (2026-03-02 10:01:00Z)**_

Look it up.

---

_**Agent (model-a 2026-03-02 10:01:02Z)**_

<tool-use data-tool-type="unknown" data-tool-name="lookup"><details>
<summary>Tool use: **lookup**</summary>

**Input:**

- query: `test_a`
- words: `one
two`

**Error:**

```
no such test
```
</details></tool-use>

_**Agent (<synthetic> 2026-03-02 10:01:05Z)**_

API Error
"""

CHATDEV_LOG = """[2026-21-03 09:00:00 INFO] **[Preprocessing]**

**ChatDev Starts** (20260321090000)

**Timestamp**: 20260321090000

**task_prompt**: Build a clock.

**project_name**: Clock

[2026-21-03 09:00:01 INFO] **[OpenAI_Usage_Info Send]**
- num_prompt_tokens: 100

[2026-21-03 09:00:05 INFO] **[OpenAI_Usage_Info Receive]**
prompt_tokens: 100
completion_tokens: 20
total_tokens: 120
cost: $0.000200

[2026-21-03 09:00:05 INFO] Programmer: **Programmer<->Chief Technology Officer on : Coding, turn 0**

[You write code.]

clock.py
[2026-21-03 09:00:06 INFO] **[OpenAI_Usage_Info Send]**
- num_prompt_tokens: 90

[2026-21-03 09:00:09 INFO] **[OpenAI_Usage_Info Send]**
- num_prompt_tokens: 90

[2026-21-03 09:00:12 INFO] **[OpenAI_Usage_Info Receive]**
prompt_tokens: 90
completion_tokens: 10
total_tokens: 100

[2026-21-03 09:00:13 INFO] Get text embedding from m:
**[OpenAI_Usage_Info Receive]**
prompt_tokens: 7
total_tokens: 7

"""
_METAGPT_MESSAGES = [
    {
        "id": "m1",
        "content": "Build a clock.",
        "role": "Human",
        "cause_by": "metagpt.actions.add_requirement.UserRequirement",
        "sent_from": "",
        "send_to": ["<all>"],
    },
    {
        "id": "m2",
        "content": "The clock has hands.",
        "role": "Alice(Product Manager)",
        "cause_by": "metagpt.actions.write_prd.WritePRD",
        "sent_from": "metagpt.roles.product_manager.ProductManager",
        "send_to": ["<all>"],
    },
]
METAGPT = {
    "env": {
        "desc": "",
        "roles": {
            "Product Manager": {
                "name": "Alice",
                "actions": [],
                "rc": {"memory": {"storage": _METAGPT_MESSAGES[:1], "index": {}}},
            },
            "Architect": {
                "name": "Bob",
                "actions": [],
                "rc": {"memory": {"storage": _METAGPT_MESSAGES, "index": {}}},
            },
        },
        "history": "",
    },
    "investment": 3.0,
    "idea": "Build a clock.",
    "context": {
        "workdir": "",
        "kwargs": {},
        "cost_manager": '{"total_prompt_tokens": 900, "total_completion_tokens": 100, "total_cost": 0.03}',
    },
}
HARBOR = {
    "id": "0b5c",
    "task_name": "count-lines",
    "trial_name": "count-lines__a1B2",
    "trial_uri": "file:///jobs/1/count-lines__a1B2",
    "task_id": {"path": "tasks/count-lines"},
    "source": "small-bench",
    "task_checksum": "c0ffee",
    "config": {"trial_name": "count-lines__a1B2", "agent": {"model_name": "openai/gpt-5"}},
    "agent_info": {
        "name": "terminus-2",
        "version": "2.0.0",
        "model_info": {"name": "gpt-5", "provider": "openai"},
    },
    "agent_result": {
        "n_input_tokens": 900,
        "n_cache_tokens": 600,
        "n_output_tokens": 40,
        "cost_usd": 0.01,
        "rollout_details": None,
        "metadata": {"n_episodes": 3},
    },
    "verifier_result": {"rewards": {"reward": 0.0}},
    "exception_info": {
        "exception_type": "AgentTimeoutError",
        "exception_message": "Agent execution timed out after 9.0 seconds",
        "exception_traceback": "Traceback ...",
        "occurred_at": "2026-03-04T10:00:12Z",
    },
    "started_at": "2026-03-04T10:00:00Z",
    "finished_at": "2026-03-04T10:00:20Z",
    "agent_execution": {
        "started_at": "2026-03-04T10:00:03Z",
        "finished_at": "2026-03-04T10:00:12Z",
    },
    "verifier": {"started_at": "2026-03-04T10:00:13Z", "finished_at": "2026-03-04T10:00:19Z"},
    "step_results": None,
}
TAU2_VOICE = {
    "id": "v",
    "task_id": "1",
    "trial": 0,
    "mode": "full_duplex",
    "start_time": "2025-01-01T12:00:00",
    "end_time": "2025-01-01T12:00:09",
    "termination_reason": "user_stop",
    "agent_cost": 0.5,
    "agent_usage": {"records": [{"component": "realtime", "input_tokens": 9, "output_tokens": 4}]},
    "ticks": [
        {
            "tick_id": number,
            "timestamp": f"2025-01-01T12:00:0{number}",
            "agent_chunk": {
                "role": "assistant",
                "content": said,
                "contains_speech": said is not None,
            },
            "user_chunk": {"role": "user", "content": heard, "contains_speech": heard is not None},
            "agent_tool_calls": calls,
            "agent_tool_results": [
                {"id": "c", "role": "tool", "content": "Error: no", "error": True}
            ]
            if calls
            else [],
        }
        for number, (said, heard, calls) in enumerate(
            [
                ("Hel", None, []),
                ("lo.", "Wh", []),
                (None, "y?", []),
                (None, None, [{"id": "c", "name": "find", "arguments": {"q": "x"}}]),
                ("No.", None, []),
            ]
        )
    ],
}
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
PROMPTFOO_ROW = {
    "id": "r1",
    "testIdx": 2,
    "promptIdx": 1,
    "promptId": "p1",
    "prompt": {
        "raw": '[{"role": "system", "content": "You find."}, {"role": "user", "content": "Find x."}]',
        "label": "find",
    },
    "provider": {"id": "openai:chat:gpt-4o-mini", "label": "mini"},
    "response": {
        "output": [
            {
                "id": "call_1",
                "type": "function",
                "function": {"name": "search", "arguments": '{"q": "x"}'},
            }
        ],
        "tokenUsage": {"total": 83, "prompt": 10, "completion": 73, "numRequests": 1},
        "cached": False,
        "cost": 0.25,
    },
    "vars": {"what": "x"},
    "testCase": {"vars": {"what": "x"}, "assert": []},
    "cost": 0.25,
    "success": True,
    "score": 1,
    "failureReason": 0,
}
_SEARCH = {"name": "search", "parameters": {"type": "object"}}
PROMPTFOO = {
    "evalId": "eval-1",
    "results": {"version": 3, "results": [PROMPTFOO_ROW]},
    "config": {
        "providers": [
            {
                "id": "openai:chat:gpt-4o-mini",
                "label": "mini",
                "config": {"tools": [{"type": "function", "function": _SEARCH}]},
            }
        ]
    },
}
AUTOGEN_ROW = {
    "id": 1,
    "invocation_id": "i1",
    "client_id": 7,
    "wrapper_id": 8,
    "session_id": "run-1",
    "request": {
        "messages": [
            {"role": "system", "content": "You find."},
            {"role": "user", "name": "user_proxy", "content": "Find x."},
        ],
        "model": "m",
        "functions": [{"name": "search", "parameters": {"type": "object"}}],
    },
    "response": {
        "finish_reason": "function_call",
        "index": 0,
        "message": {
            "role": "assistant",
            "content": None,
            "function_call": {"name": "search", "arguments": '{"q": "x"}'},
            "tool_calls": None,
        },
    },
    "is_cached": 0,
    "cost": 0.25,
    "start_time": "2026-03-01 10:00:00.000000",
    "end_time": "2026-03-01 10:00:02.000000",
}
#: The next call is of another agent, which sees the chat with other instructions.
AUTOGEN_RUNTIME_LOG = [
    AUTOGEN_ROW,
    {
        **AUTOGEN_ROW,
        "id": 2,
        "invocation_id": "i2",
        "request": {
            "messages": [
                {"role": "system", "content": "You report."},
                {"role": "user", "name": "user_proxy", "content": "Find x."},
                {
                    "role": "assistant",
                    "name": "finder",
                    "content": "",
                    "function_call": {"name": "search", "arguments": '{"q": "x"}'},
                },
                {"role": "function", "name": "search", "content": "x is here"},
            ],
            "model": "m",
        },
        "response": {"choices": [{"message": {"role": "assistant", "content": "Here."}}]},
        "cost": 0.5,
    },
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
_APPWORLD_ASKED = [
    {"role": "user", "content": "You solve tasks."},
    {"role": "assistant", "content": "Code:\n```python\nprint(0)\n```\n\n"},
    {"role": "user", "content": "Output:\n```\n0\n```\n\n"},
    {"role": "user", "content": "Find x."},
]
_APPWORLD_SAID = "I look.\n```python\nprint(find('x'))\n```"


def _appworld(number: int, messages: list[Any], content: str) -> dict[str, Any]:
    """A line of AppWorld's log of model calls."""
    return {
        "id": f"{number:032x}",
        "input": {"model": "m", "messages": messages, "tools": None, "temperature": 0},
        "output": {
            "id": f"gen-{number}",
            "choices": [{"index": 0, "message": {"role": "assistant", "content": content}}],
            "created": 1735732800 + number,
            "model": "m-1",
            "usage": {"prompt_tokens": 10 * number, "completion_tokens": 2, "cost": 0.5},
            "cost": 0.25,
        },
    }


APPWORLD = [
    _appworld(1, _APPWORLD_ASKED, f"{_APPWORLD_SAID}\n[cited: none]"),
    _appworld(
        2,
        [
            *_APPWORLD_ASKED,
            {"role": "assistant", "content": f"{_APPWORLD_SAID}\n\n"},
            {"role": "user", "content": "Output:\n```\nExecution failed. No x.\n```\n\n"},
        ],
        "```python\ncomplete()\n```",
    ),
]
AI_SDK_DEVTOOLS = {
    "runs": [{"id": "run-1", "started_at": "2026-03-04T10:00:00.000Z"}],
    "steps": [
        {
            "id": "step-1",
            "run_id": "run-1",
            "step_number": 1,
            "type": "stream",
            "model_id": "m-1",
            "provider": "acme.chat",
            "started_at": "2026-03-04T10:00:00.100Z",
            "input": '{"prompt": [{"role": "system", "content": "You find."}, {"role": "user", "content": [{"type": "text", "text": "Find x."}]}], "tools": [{"type": "function", "name": "search", "description": "Finds.", "inputSchema": {"type": "object"}}]}',
            "provider_options": None,
            "duration_ms": 900,
            "output": '{"textParts": [{"id": "txt-0", "text": "I look."}], "reasoningParts": [{"id": "r-0", "text": "Where?"}], "toolCalls": [{"type": "tool-call", "toolCallId": "call_1", "toolName": "search", "input": "{\\"q\\": \\"x\\"}"}], "finishReason": {"unified": "tool-calls", "raw": "tool_calls"}}',
            "usage": '{"inputTokens": {"total": 10, "noCache": 6, "cacheRead": 4}, "outputTokens": {"total": 5, "text": 2, "reasoning": 3}}',
            "error": None,
            "raw_request": None,
            "raw_response": "[]",
            "raw_chunks": "[]",
        },
        {
            "id": "step-2",
            "run_id": "run-1",
            "step_number": 2,
            "type": "generate",
            "model_id": "m-1",
            "provider": "acme.chat",
            "started_at": "2026-03-04T10:00:02.000Z",
            "input": '{"prompt": [{"role": "system", "content": "You find."}, {"role": "user", "content": [{"type": "text", "text": "Find x."}]}, {"role": "assistant", "content": [{"type": "text", "text": "I look."}, {"type": "tool-call", "toolCallId": "call_1", "toolName": "search", "input": {"q": "x"}}]}, {"role": "tool", "content": [{"type": "tool-result", "toolCallId": "call_1", "toolName": "search", "output": {"type": "error-text", "value": "no such index"}}]}]}',
            "provider_options": None,
            "duration_ms": 500,
            "output": '{"content": [{"type": "reasoning", "text": "Gone."}, {"type": "text", "text": "Not there."}], "finishReason": "stop"}',
            "usage": '{"inputTokens": 20, "outputTokens": 2, "totalTokens": 22, "cachedInputTokens": 10}',
            "error": None,
            "raw_request": None,
            "raw_response": None,
            "raw_chunks": None,
        },
    ],
}
AI_SDK_STREAM = [
    {"type": "start", "messageId": "m"},
    {"type": "start-step"},
    {"type": "text-start", "id": "t"},
    {"type": "text-delta", "id": "t", "delta": "I "},
    {"type": "text-delta", "id": "t", "delta": "search."},
    {"type": "tool-input-start", "toolCallId": "c1", "toolName": "search"},
    {"type": "tool-input-delta", "toolCallId": "c1", "inputTextDelta": '{"q"'},
    {"type": "tool-input-available", "toolCallId": "c1", "toolName": "search", "input": {"q": "x"}},
    {"type": "tool-input-available", "toolCallId": "c2", "toolName": "wait", "input": {}},
    {"type": "tool-output-available", "toolCallId": "c1", "output": "so", "preliminary": True},
    {"type": "tool-output-available", "toolCallId": "c1", "output": "some"},
    {"type": "tool-output-error", "toolCallId": "c2", "errorText": "no"},
    {"type": "finish-step"},
    {"type": "start-step"},
    {"type": "text-delta", "id": "t2", "delta": "Here."},
    {"type": "finish-step"},
    {"type": "finish", "messageMetadata": {"totalUsage": {"inputTokens": 9, "outputTokens": 4}}},
]

BFCL = {
    "id": "multi_turn_base_0",
    "result": [[[{"cd": '{"folder": "a"}'}, {"ls": "{}"}], "Done."], [["[rm(path='a')]"]]],
    "input_token_count": [[5, 7], [9]],
    "output_token_count": [[2, 1], [3]],
    "latency": [[0.5, 0.5], [0.5]],
    "inference_log": [
        [{"role": "state_info", "class_name": "Files", "content": {}}],
        {
            "begin_of_turn_query": [{"role": "user", "content": "Look."}],
            "step_0": [
                {"role": "assistant", "content": []},
                {"role": "handler_log", "model_response_decoded": ["cd(folder='a')", "ls()"]},
                {"role": "tool", "content": '{"error": "no such folder"}'},
                {"role": "tool", "content": '["b"]'},
            ],
            "step_1": [{"role": "assistant", "content": "Done."}],
        },
        {"begin_of_turn_query": [{"role": "user", "content": "Remove it."}], "step_0": []},
    ],
}


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


def _antigravity(index: int, source: str, kind: str, **more: Any) -> dict[str, Any]:
    time = f"2026-01-01T12:00:{index:02}Z"
    return {"step_index": index, "source": source, "type": kind, "status": "DONE", "created_at": time, **more}  # fmt: skip


ANTIGRAVITY = [
    _antigravity(0, "USER_EXPLICIT", "USER_INPUT", content="<USER_REQUEST>\nFind x.\n</USER_REQUEST>"),
    _antigravity(1, "SYSTEM", "CONVERSATION_HISTORY"),
    _antigravity(2, "MODEL", "PLANNER_RESPONSE", thinking="Hm.", tool_calls=[
        {"name": "run_command", "args": {"CommandLine": '"make"', "WaitMs": "500", "toolAction": '"Building"'}},
        {"name": "list_dir", "args": {"DirectoryPath": '"/x"', "toolSummary": '"Listing"'}},
    ]),
    _antigravity(3, "MODEL", "LIST_DIRECTORY", content="Created At: 2026-01-01T12:00:02Z\nCompleted At: 2026-01-01T12:00:03Z\na.md"),
    _antigravity(4, "MODEL", "RUN_COMMAND", content="Created At: 2026-01-01T12:00:03Z\nThe command failed with exit code: 2"),
    _antigravity(5, "MODEL", "PLANNER_RESPONSE", content="I look.", tool_calls=[{"name": "view_file", "args": {"AbsolutePath": '"/x/b.md"'}}]),
    _antigravity(6, "SYSTEM", "ERROR_MESSAGE", error="no such file"),
    _antigravity(7, "MODEL", "PLANNER_RESPONSE"),
    _antigravity(8, "SYSTEM", "ERROR_MESSAGE", error="The model API is overloaded.", error_code=429),
    _antigravity(9, "MODEL", "PLANNER_RESPONSE", content="Not there.", usage={"input_tokens": 9, "output_tokens": 3, "cache_read_tokens": 4, "model": "m"}),
]  # fmt: skip


def _transcript(role: str, *parts: dict[str, Any]) -> dict[str, Any]:
    return {"role": role, "message": {"content": list(parts)}}


CURSOR_TRANSCRIPT = [
    _transcript("user", {"type": "text", "text": "<user_query>\nFind x.\n</user_query>"}),
    _transcript("assistant", {"type": "text", "text": "I look.\n\n[REDACTED]"}, {"type": "tool_use", "name": "Read", "input": {"path": "a.md"}}),
    _transcript("assistant", {"type": "text", "text": "[REDACTED]"}, {"type": "tool_use", "name": "Grep", "input": {"pattern": "x"}}, {"type": "tool_use", "name": "Glob", "input": {}}),
    _transcript("assistant", {"type": "text", "text": "Not there."}),
    {"type": "turn_ended", "status": "success"},
]  # fmt: skip


CLAUDE_AGENT_SDK = [
    {"subtype": "init", "data": {"type": "system", "subtype": "init", "session_id": "s", "tools": ["Bash"], "model": "m"}},
    {"content": [{"thinking": "hm", "signature": "x"}], "model": "m", "parent_tool_use_id": None, "error": None},
    {"content": [{"text": "I look."}], "model": "m", "parent_tool_use_id": None, "error": None},
    {"content": [{"id": "c1", "name": "Bash", "input": {"command": "ls"}}], "model": "m", "parent_tool_use_id": None, "error": None},
    {"content": [{"id": "c2", "name": "Bash", "input": {"command": "pwd"}}], "model": "m", "parent_tool_use_id": None, "error": None},
    {"content": [{"tool_use_id": "c1", "content": "a.py", "is_error": False}], "uuid": "u1", "parent_tool_use_id": None},
    {"content": [{"tool_use_id": "c2", "content": "no such folder", "is_error": True}], "uuid": "u2", "parent_tool_use_id": None},
    {"content": [{"text": "Done."}], "model": "m", "parent_tool_use_id": None, "error": None},
    {"subtype": "success", "duration_ms": 9, "duration_api_ms": 8, "is_error": False, "num_turns": 2, "session_id": "s", "total_cost_usd": 0.01, "usage": {"input_tokens": 10, "output_tokens": 5}, "result": "Done."},
]  # fmt: skip


def _chatgpt(key: str, parent: str, role: str, text: str, *, to: str = "all", kind: str = "text", **fields: Any) -> tuple[str, dict[str, Any]]:  # fmt: skip
    content = (
        {"content_type": kind, "text": text}
        if kind == "code"
        else {"content_type": kind, "parts": [text]}
    )
    author = {"role": role, "name": fields.pop("name", None)}
    message = {
        "id": key,
        "author": author,
        "content": content,
        "recipient": to,
        "metadata": {"model_slug": "gpt-5"},
        **fields,
    }
    return key, {"id": key, "parent": parent, "children": [], "message": message}  # fmt: skip


AI_STUDIO = {
    "runSettings": {"model": "models/m", "enableCodeExecution": True, "functionDeclarations": []},
    "systemInstruction": {"text": "You compute."},
    "chunkedPrompt": {
        "chunks": [
            {"driveDocument": {"id": "d"}, "role": "user", "tokenCount": 90},
            {"text": "2 + 2?", "role": "user", "tokenCount": 5, "createTime": "2026-01-01T12:00:00Z"},
            {"text": "hm", "role": "model", "isThought": True, "tokenCount": 7, "parts": [{"text": "hm", "thought": True}]},
            {"text": "I run it.", "role": "model", "tokenCount": 3, "createTime": "2026-01-01T12:00:01Z"},
            {"executableCode": {"language": "PYTHON", "code": "print(2 + 2)"}, "role": "model", "tokenCount": 6, "createTime": "2026-01-01T12:00:02Z"},
            {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "4"}, "role": "model", "createTime": "2026-01-01T12:00:03Z"},
            {"text": "It is 4.", "role": "model", "tokenCount": 4, "finishReason": "STOP", "createTime": "2026-01-01T12:00:04Z", "parts": [{"text": "It is"}, {"text": " 4."}]},
        ],
        "pendingInputs": [{"text": "And", "role": "user"}],
    },
}  # fmt: skip


def _grok(name: str, sender: str, second: int, **more: Any) -> dict[str, Any]:
    milliseconds = 1_767_268_800_000 + second * 1000
    response = {"_id": name, "sender": sender, "create_time": {"$date": {"$numberLong": str(milliseconds)}}, **more}  # fmt: skip
    return {"response": response, "share_link": None}


_GROK_CARD = '<xai:tool_usage_card><xai:tool_usage_card_id>t1</xai:tool_usage_card_id><xai:tool_name>web_search</xai:tool_name><xai:tool_args><![CDATA[{"query":"x"}]]></xai:tool_args></xai:tool_usage_card>'
GROK_EXPORT = {
    "conversations": [
        {
            "conversation": {"id": "g", "title": "Of x", "create_time": "2026-01-01T12:00:00Z"},
            "responses": [
                _grok("r1", "human", 0, message="What is x?", model="grok-4"),
                _grok("r2", "ASSISTANT", 1, message="Lost.", parent_response_id="r1"),
                _grok(
                    "r3",
                    "assistant",
                    5,
                    message="It is y.",
                    parent_response_id="r1",
                    model="grok-4",
                    steps=[
                        {
                            "tagged_text": {"header": "Search", "tool_usage_card": _GROK_CARD},
                            "tool_usage_cards": [{"tool_usage_card_id": "t1", "tool": {"WebSearch": {"args": {}}}}],
                            "tool_usage_results": [{"tool_usage_card_id": "t1", "web_search_results": {"results": []}}],
                        }
                    ],
                    web_search_results=[{"url": "https://x"}],
                    file_attachments=["f"],
                ),
            ],
        }
    ],
    "media_posts": [],
}  # fmt: skip


def _deepseek(key: str, parent: str, *fragments: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return a message of DeepSeek's export by its id."""
    message = {
        "model": "deepseek-chat",
        "inserted_at": "2025-01-01T20:00:00.000000+08:00",
        "fragments": [*fragments],
    }
    return key, {"id": key, "parent": parent, "children": [], "message": message}


DEEPSEEK_EXPORT = {
    "id": "d",
    "title": "Find x",
    "inserted_at": "2025-01-01T20:00:00.000000+08:00",
    "updated_at": "2025-01-01T20:01:00.000000+08:00",
    "mapping": dict(
        [
            ("root", {"id": "root", "parent": None, "children": ["1"], "message": None}),
            _deepseek(
                "1",
                "root",
                {"type": "FILE", "files": [{"name": "x.txt"}]},
                {"type": "REQUEST", "content": "Find x."},
            ),
            _deepseek(
                "2",
                "1",
                {"type": "THINK", "content": "hm"},
                {"type": "RESPONSE", "content": "Another branch."},
            ),
            _deepseek(
                "3",
                "1",
                {"type": "THINK", "content": "I search."},
                {"type": "TOOL_SEARCH", "results": [{"url": "https://x.example", "title": "X"}]},
                {"type": "THINK", "content": "I open both."},
                {"type": "TOOL_OPEN"},
                {"type": "TOOL_OPEN"},
                {"type": "THINK", "content": "Found."},
                {"type": "RESPONSE", "content": "It is there."},
            ),
        ]
    ),
}
CHATGPT_EXPORT = {
    "title": "Find x",
    "conversation_id": "g",
    "current_node": "a3",
    "mapping": dict(
        [
            ("root", {"id": "root", "parent": None, "children": ["s"], "message": None}),
            _chatgpt("s", "root", "system", ""),
            _chatgpt("u", "s", "user", "Find x.", create_time=1735732800.5),
            _chatgpt("t", "u", "assistant", "", kind="thoughts"),
            _chatgpt("a1", "t", "assistant", "I look.", end_turn=False, create_time=1735732801.0),
            _chatgpt(
                "c1",
                "a1",
                "assistant",
                '{"q": "x"}',
                to="web.run",
                kind="code",
                create_time=1735732802.0,
            ),
            _chatgpt("r1", "c1", "tool", "nothing", name="web.run", create_time=1735732803.0),
            _chatgpt("c2", "r1", "assistant", "find(x)", to="python", kind="code"),
            _chatgpt(
                "r2",
                "c2",
                "tool",
                "NameError",
                name="python",
                metadata={"aggregate_result": {"status": "failed_with_in_kernel_exception"}},
            ),
            _chatgpt("a2", "r2", "assistant", "Another branch.", end_turn=True),
            _chatgpt(
                "a3", "r2", "assistant", "Not there.", end_turn=True, create_time=1735732804.0
            ),
        ]
    ),
}  # fmt: skip
CLAUDE_AI_EXPORT = {
    "uuid": "k",
    "name": "Find x",
    "chat_messages": [
        {"uuid": "m1", "sender": "human", "text": "Find x.", "content": [{"type": "text", "text": "Find x."}], "created_at": "2025-01-01T12:00:00Z", "files": [{"file_name": "a"}], "parent_message_uuid": "00000000-0000-4000-8000-000000000000"},
        {"uuid": "m2", "sender": "assistant", "text": "An earlier try.", "content": [], "parent_message_uuid": "m1"},
        {"uuid": "m3", "sender": "assistant", "text": "", "created_at": "2025-01-01T12:00:09Z", "parent_message_uuid": "m1", "content": [
            {"type": "thinking", "thinking": "hm", "start_timestamp": "2025-01-01T12:00:01Z"},
            {"type": "text", "text": "I look.", "start_timestamp": "2025-01-01T12:00:02Z", "stop_timestamp": "2025-01-01T12:00:03Z"},
            {"type": "tool_use", "id": "t1", "name": "web_search", "input": {"query": "x"}, "start_timestamp": "2025-01-01T12:00:03Z", "stop_timestamp": "2025-01-01T12:00:04Z"},
            {"type": "tool_use", "id": "t2", "name": "view", "input": {"path": "x"}},
            {"type": "tool_result", "tool_use_id": "t1", "name": "web_search", "content": [{"type": "text", "text": "nothing"}], "is_error": False},
            {"type": "tool_result", "tool_use_id": "t2", "name": "view", "content": [{"type": "text", "text": "no such file"}], "is_error": True},
            {"type": "token_budget"},
            {"type": "text", "text": "Not there.", "start_timestamp": "2025-01-01T12:00:08Z", "stop_timestamp": "2025-01-01T12:00:09Z"},
            {"type": "token_budget"},
        ]},
    ],
}  # fmt: skip


BATCH_RESULT = {
    "id": "batch_req_1",
    "custom_id": "r1",
    "response": {
        "status_code": 200,
        "body": {"id": "chatcmpl-1", "object": "chat.completion", "model": "gpt-4o", "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}},
    },
    "error": None,
}  # fmt: skip


VAPI = {
    "id": "v",
    "orgId": "o",
    "startedAt": "2025-01-01T12:00:00Z",
    "endedAt": "2025-01-01T12:00:20Z",
    "endedReason": "customer-ended-call",
    "cost": 0.5,
    "costBreakdown": {"llmPromptTokens": 100, "llmCompletionTokens": 9, "llmCachedPromptTokens": 40},
    "messages": [
        {"role": "system", "message": "Be brief.", "time": 1735732800000},
        {"role": "user", "message": "Is it open?", "time": 1735732801000, "endTime": 1735732802000},
        {"role": "bot", "message": "Let me", "time": 1735732803000, "endTime": 1735732804000},
        {"role": "bot", "message": "look.", "time": 1735732804000, "endTime": 1735732805000},
        {"role": "tool_calls", "message": "", "time": 1735732805000, "toolCalls": [{"id": "c1", "type": "function", "function": {"name": "hours", "arguments": '{"day": 1}'}}]},
        {"role": "tool_call_result", "name": "hours", "toolCallId": "c1", "result": "closed", "time": 1735732806000},
        {"role": "bot", "message": "It is closed.", "time": 1735732807000, "endTime": 1735732808000},
    ],
}  # fmt: skip
RETELL = {
    "call_id": "r",
    "agent_id": "a",
    "start_timestamp": 1735732800000,
    "end_timestamp": 1735732820000,
    "disconnection_reason": "user_hangup",
    "transcript_object": [{"role": "agent", "content": "Let me look."}],
    "transcript_with_tool_calls": [
        {"role": "user", "content": "Is it open?", "words": [{"word": "Is", "start": 1.5, "end": 1.75}]},
        {"role": "agent", "content": "Let me", "words": []},
        {"role": "agent", "content": "look."},
        {"role": "tool_call_invocation", "tool_call_id": "c1", "name": "hours", "arguments": '{"day": 1}'},
        {"role": "tool_call_result", "tool_call_id": "c1", "content": "no such day", "successful": False},
        {"role": "node_transition"},
        {"role": "tool_call_invocation", "tool_call_id": "c2", "name": "end_call", "arguments": "{}"},
    ],
    "llm_token_usage": {"values": [60, 70], "average": 65, "num_requests": 2},
    "call_cost": {"combined_cost": 12.5},
}  # fmt: skip
ELEVENLABS = {
    "agent_id": "a",
    "conversation_id": "e",
    "status": "done",
    "metadata": {"start_time_unix_secs": 1735732800, "cost": 300},
    "transcript": [
        {"role": "agent", "message": "Hello!", "tool_calls": [], "tool_results": [], "time_in_call_secs": 0, "llm_usage": None},
        {"role": "user", "message": "Is it open?", "tool_calls": [], "tool_results": [], "time_in_call_secs": 3},
        {"role": "agent", "message": None, "tool_calls": [{"request_id": "c1", "tool_name": "hours", "params_as_json": '{"day": 1}'}], "tool_results": [], "time_in_call_secs": 5, "llm_usage": {"model_usage": {"m": {"input": {"tokens": 10, "price": 0.1}, "input_cache_read": {"tokens": 20}, "output_total": {"tokens": 3}}}}},
        {"role": "agent", "message": None, "tool_calls": [], "tool_results": [{"request_id": "c1", "tool_name": "hours", "result_value": "no such day", "is_error": True}], "time_in_call_secs": 6},
        {"role": "agent", "message": "I cannot say.", "tool_calls": [], "tool_results": [], "time_in_call_secs": 7, "llm_usage": {"model_usage": {"m": {"input": {"tokens": 11}, "output_total": {"tokens": 4}}}}},
    ],
}  # fmt: skip


KIMI_CODE = [
    {"type": "metadata", "protocol_version": "1.4", "created_at": 1735732800000},
    {"type": "context.append_message", "message": {"role": "user", "content": [{"type": "text", "text": "List."}], "toolCalls": [], "origin": {"kind": "user"}}, "time": 1735732801000},
    {"type": "context.append_loop_event", "event": {"type": "step.begin", "uuid": "a", "turnId": "0", "step": 1}, "time": 1735732802000},
    {"type": "context.append_loop_event", "event": {"type": "tool.call", "stepUuid": "a", "uuid": "u", "toolCallId": "Bash_0", "name": "Bash", "args": {"command": "ls"}}, "time": 1735732803000},
    {"type": "context.append_loop_event", "event": {"type": "tool.result", "parentUuid": "u", "toolCallId": "Bash_0", "result": {"output": "a.md"}}, "time": 1735732804000},
    {"type": "context.append_loop_event", "event": {"type": "step.end", "uuid": "a", "usage": {"inputOther": 10, "output": 5, "inputCacheRead": 90, "inputCacheCreation": 0}, "finishReason": "tool_use"}, "time": 1735732804000},
]  # fmt: skip
_QWEN = {"sessionId": "q1", "cwd": "/w", "version": "0.18.1"}
QWEN_CODE = [
    {"uuid": "u1", "parentUuid": None, **_QWEN, "timestamp": "2025-01-01T12:00:00Z", "type": "user", "message": {"role": "user", "parts": [{"text": "Read a.md."}]}},
    {"uuid": "u2", "parentUuid": "u1", **_QWEN, "timestamp": "2025-01-01T12:00:01Z", "type": "assistant", "model": "coder", "message": {"role": "model", "parts": [{"text": "I read.", "thought": True}, {"functionCall": {"id": "c1", "name": "read_file", "args": {"path": "a.md"}}}]}, "usageMetadata": {"promptTokenCount": 500, "candidatesTokenCount": 20, "totalTokenCount": 520}},
    {"uuid": "u3", "parentUuid": "u2", **_QWEN, "timestamp": "2025-01-01T12:00:02Z", "type": "tool_result", "message": {"role": "user", "parts": [{"functionResponse": {"id": "c1", "name": "read_file", "response": {"output": "# A"}}}]}, "toolCallResult": {"callId": "c1", "status": "success"}},
]  # fmt: skip
GROK_CLI = [
    {"type": "system", "content": "Be brief."},
    {"type": "user", "content": [{"type": "text", "text": "Read a.md."}], "prompt_index": 0},
    {"type": "reasoning", "id": "rs", "summary": [{"type": "summary_text", "text": "Hm."}]},
    {"type": "assistant", "content": "I read.", "tool_calls": [{"id": "c1", "name": "read_file", "arguments": '{"path": "a.md"}'}], "model_id": "grok"},
    {"type": "tool_result", "tool_call_id": "c1", "content": "# A"},
]  # fmt: skip
HERMES = [
    {"role": "session_meta", "tools": [{"type": "function", "function": {"name": "terminal", "parameters": {"type": "object"}}}], "model": "m", "platform": "telegram", "timestamp": "2025-01-01T12:00:00"},
    {"role": "user", "content": "List.", "timestamp": "2025-01-01T12:00:00"},
    {"role": "assistant", "content": "", "reasoning": "Hm.", "finish_reason": "tool_calls", "tool_calls": [{"id": "c1", "call_id": "c1", "type": "function", "function": {"name": "terminal", "arguments": '{"command": "ls"}'}}], "timestamp": "2025-01-01T12:00:01"},
    {"role": "tool", "content": '{"output": "a.md", "exit_code": 0}', "tool_call_id": "c1", "timestamp": "2025-01-01T12:00:02"},
    {"role": "assistant", "content": "One file.", "finish_reason": "stop", "timestamp": "2025-01-01T12:00:03"},
]  # fmt: skip
NANOBOT = [
    {"_type": "metadata", "key": "cli:direct", "created_at": "2026-03-02T10:00:00", "updated_at": "2026-03-02T10:00:03", "metadata": {}, "last_consolidated": 0},
    {"role": "user", "content": "Read a.md.", "timestamp": "2026-03-02T10:00:00"},
    {"role": "assistant", "content": "", "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "read_file", "arguments": '{"path": "a.md"}'}}], "timestamp": "2026-03-02T10:00:01"},
    {"role": "tool", "tool_call_id": "c1", "name": "read_file", "content": "Error: File not found: a.md", "timestamp": "2026-03-02T10:00:02"},
    {"role": "assistant", "content": "There is none.", "timestamp": "2026-03-02T10:00:03"},
]  # fmt: skip
DROID_SESSION = [
    {"type": "session_start", "id": "d1", "title": "Listing", "cwd": "/w", "version": 2},
    {"type": "message", "id": "m1", "parentId": "d1", "timestamp": "2025-01-01T12:00:00Z", "message": {"role": "user", "content": [{"type": "text", "text": "List."}]}},
    {"type": "message", "id": "m2", "parentId": "m1", "timestamp": "2025-01-01T12:00:01Z", "message": {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "LS", "input": {"path": "."}}]}},
    {"type": "message", "id": "m3", "parentId": "m2", "timestamp": "2025-01-01T12:00:02Z", "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "a.md"}]}},
]  # fmt: skip


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
DEEPEVAL = {
    "uuid": "d",
    "baseSpans": [
        {
            "uuid": "main",
            "name": "main",
            "status": "SUCCESS",
            "type": "base",
            "parentUuid": None,
            "startTime": "2025-01-01T12:00:00.000Z",
            "endTime": "2025-01-01T12:00:09.000Z",
        }
    ],
    "agentSpans": [
        {
            "uuid": "agent",
            "name": "finder",
            "status": "SUCCESS",
            "type": "agent",
            "parentUuid": None,
            "startTime": "2025-01-01T12:00:00.000Z",
            "endTime": "2025-01-01T12:00:09.000Z",
            "input": "Find x.",
            "output": "Not there.",
            "availableTools": ["search"],
            "toolsCalled": [
                {
                    "name": "search",
                    "type": "FUNCTION",
                    "inputParameters": {"q": "x"},
                    "output": "none",
                }
            ],
        }
    ],
    "llmSpans": [
        {
            "uuid": "llm-2",
            "name": "llm-2",
            "status": "SUCCESS",
            "type": "llm",
            "parentUuid": "agent",
            "startTime": "2025-01-01T12:00:05.000Z",
            "endTime": "2025-01-01T12:00:06.000Z",
            "input": [
                {"role": "system", "content": "You find."},
                {"role": "user", "content": "Find x."},
                {"call_id": "c1", "name": "search", "arguments": '{"q": "x"}'},
                {"role": "tool", "call_id": "c1", "output": "none"},
            ],
            "output": {"role": "AI", "content": "Not there."},
            "model": "m",
            "inputTokenCount": 20,
            "outputTokenCount": 2,
            "metricsData": [{"score": 1}],
        },
        {
            "uuid": "llm-1",
            "name": "llm-1",
            "status": "SUCCESS",
            "type": "llm",
            "parentUuid": "agent",
            "startTime": "2025-01-01T12:00:01.000Z",
            "endTime": "2025-01-01T12:00:02.000Z",
            "input": [
                {"role": "system", "content": "You find."},
                {"role": "user", "content": "Find x."},
            ],
            "output": '{"call_id": "c1", "name": "search", "arguments": "{\\"q\\": \\"x\\"}"}',
            "model": "m",
            "inputTokenCount": 10.0,
            "outputTokenCount": 5.0,
            "costPerInputToken": 0.5,
            "costPerOutputToken": 1.0,
            "metadata": {
                "cached_input_tokens": 4,
                "invocation_params": {
                    "tools": [{"name": "search", "parameters": {"type": "object"}}]
                },
            },
        },
    ],
    "retrieverSpans": [
        {
            "uuid": "docs",
            "name": "docs",
            "status": "SUCCESS",
            "type": "retriever",
            "parentUuid": "agent",
            "startTime": "2025-01-01T12:00:00.000Z",
            "endTime": "2025-01-01T12:00:01.000Z",
            "input": "x",
            "output": ["y"],
        }
    ],
    "toolSpans": [
        {
            "uuid": "tool",
            "name": "Function tool: search",
            "status": "ERRORED",
            "type": "tool",
            "parentUuid": "agent",
            "startTime": "2025-01-01T12:00:03.000Z",
            "endTime": "2025-01-01T12:00:04.000Z",
            "input": {"q": "x"},
            "output": "none",
            "error": "too slow",
        }
    ],
    "startTime": "2025-01-01T12:00:00.000Z",
    "endTime": "2025-01-01T12:00:09.000Z",
    "name": "run",
    "threadId": "t",
    "environment": "testing",
    "input": "Find x.",
    "output": "Not there.",
    "toolsCalled": [
        {"name": "search", "type": "FUNCTION", "inputParameters": {"q": "x"}, "output": "none"}
    ],
}
GENKIT = {
    "traceId": "g",
    "spans": {
        "flow": {
            "spanId": "flow",
            "traceId": "g",
            "parentSpanId": None,
            "startTime": 1735732800000.0,
            "endTime": 1735732809000.0,
            "displayName": "main",
            "attributes": {
                "genkit:type": "action",
                "genkit:name": "main",
                "genkit:metadata:subtype": "flow",
                "genkit:input": '"Find x."',
                "genkit:output": '"Not there."',
                "genkit:state": "success",
            },
            "status": {"code": 0},
            "timeEvents": {"timeEvent": []},
        },
        "gen-1": {
            "spanId": "gen-1",
            "traceId": "g",
            "parentSpanId": "flow",
            "startTime": 1735732801000.0,
            "endTime": 1735732808000.0,
            "displayName": "generate",
            "attributes": {
                "genkit:type": "util",
                "genkit:name": "generate",
                "genkit:input": '{"messages": [{"role": "system", "content": [{"text": "You find."}]}, {"role": "user", "content": [{"text": "Find x."}]}]}',
                "genkit:output": '{"message": {"role": "model", "content": [{"text": "Not there."}]}, "usage": {"inputTokens": 20, "outputTokens": 2, "totalTokens": 22}, "raw": {"modelVersion": "m-1"}}',
                "genkit:state": "success",
            },
            "status": {"code": 0},
            "timeEvents": {"timeEvent": []},
        },
        "model-1": {
            "spanId": "model-1",
            "traceId": "g",
            "parentSpanId": "gen-1",
            "startTime": 1735732802000.0,
            "endTime": 1735732803000.0,
            "displayName": "p/m",
            "attributes": {
                "genkit:type": "action",
                "genkit:name": "p/m",
                "genkit:metadata:subtype": "model",
                "genkit:input": '{"messages": [{"role": "system", "content": [{"text": "You find."}]}, {"role": "user", "content": [{"text": "Find x."}]}], "tools": [{"name": "search", "description": "Finds.", "inputSchema": {"type": "object"}}]}',
                "genkit:output": '{"message": {"role": "model", "content": [{"reasoning": "Where?"}, {"text": "I look."}, {"toolRequest": {"name": "search", "ref": "r1", "input": {"q": "x"}}}]}, "finishReason": "stop", "usage": {"inputTokens": 10, "outputTokens": 5, "totalTokens": 18, "thoughtsTokens": 3, "cachedContentTokens": 4}}',
                "genkit:state": "success",
            },
            "status": {"code": 0},
            "timeEvents": {"timeEvent": []},
        },
        "tool": {
            "spanId": "tool",
            "traceId": "g",
            "parentSpanId": "gen-1",
            "startTime": 1735732804000.0,
            "endTime": 1735732805000.0,
            "displayName": "web/search",
            "attributes": {
                "genkit:type": "action",
                "genkit:name": "web/search",
                "genkit:metadata:subtype": "tool",
                "genkit:input": '{"q": "x"}',
                "genkit:output": '"none"',
                "genkit:state": "success",
            },
            "status": {"code": 0},
            "timeEvents": {"timeEvent": []},
        },
        "gen-2": {
            "spanId": "gen-2",
            "traceId": "g",
            "parentSpanId": "gen-1",
            "startTime": 1735732806000.0,
            "endTime": 1735732808000.0,
            "displayName": "generate",
            "attributes": {
                "genkit:type": "util",
                "genkit:name": "generate",
                "genkit:input": '{"messages": [{"role": "system", "content": [{"text": "You find."}]}, {"role": "user", "content": [{"text": "Find x."}]}, {"role": "model", "content": [{"reasoning": "Where?"}, {"text": "I look."}, {"toolRequest": {"name": "search", "ref": "r1", "input": {"q": "x"}}}]}, {"role": "tool", "content": [{"toolResponse": {"name": "search", "ref": "r1", "output": "none"}}]}]}',
                "genkit:output": '{"message": {"role": "model", "content": [{"text": "Not there."}]}, "usage": {"inputTokens": 20, "outputTokens": 2, "totalTokens": 22}, "raw": {"modelVersion": "m-1"}}',
                "genkit:state": "success",
            },
            "status": {"code": 0},
            "timeEvents": {"timeEvent": []},
        },
        "model-2": {
            "spanId": "model-2",
            "traceId": "g",
            "parentSpanId": "gen-2",
            "startTime": 1735732806000.0,
            "endTime": 1735732807000.0,
            "displayName": "p/m",
            "attributes": {
                "genkit:type": "action",
                "genkit:name": "p/m",
                "genkit:metadata:subtype": "model",
                "genkit:input": '{"messages": [{"role": "system", "content": [{"text": "You find."}]}, {"role": "user", "content": [{"text": "Find x."}]}, {"role": "model", "content": [{"reasoning": "Where?"}, {"text": "I look."}, {"toolRequest": {"name": "search", "ref": "r1", "input": {"q": "x"}}}]}, {"role": "tool", "content": [{"toolResponse": {"name": "search", "ref": "r1", "output": "none"}}]}], "tools": [{"name": "search", "description": "Finds.", "inputSchema": {"type": "object"}}]}',
                "genkit:output": '{"message": {"role": "model", "content": [{"text": "Not there."}]}, "usage": {"inputTokens": 20, "outputTokens": 2, "totalTokens": 22}, "raw": {"modelVersion": "m-1"}}',
                "genkit:state": "success",
            },
            "status": {"code": 0},
            "timeEvents": {"timeEvent": []},
        },
    },
    "displayName": "main",
    "startTime": 1735732800000,
    "endTime": 1735732809000,
}


def _moatless_completion(sent: int, received: int, **more: Any) -> dict[str, Any]:
    usage = {"completion_cost": 0.5, "completion_tokens": received, "prompt_tokens": sent}
    message = {"role": "assistant", "content": "I look."}
    response = {
        "created": 1735732800,
        "choices": [{"message": message}],
        "usage": {
            "prompt_tokens": sent,
            "completion_tokens": received,
            "total_tokens": sent + received,
        },
    }
    return {"model": "m", "input": [{"role": "user", "content": "Fix it."}], "response": response, "usage": usage, **more}  # fmt: skip


MOATLESS = {
    "name": "MoatlessTools",
    "transition_rules": {"global_params": {"model": "m"}},
    "workspace": {},
    "initial_message": "It fails.",
    "current_transition_id": 2,
    "transitions": [
        {"id": 0, "name": "Pending"},
        {"id": 1, "name": "SearchCode", "previous_state_id": 0, "actions": [{"request": {"scratch_pad": "Look.", "query": "x"}, "response": {"trigger": "did_search", "output": {"ranked_spans": []}}}]},
        {"id": 2, "name": "EditCode", "previous_state_id": 1, "actions": [
            {"request": {"content": "<replace>"}, "response": {"trigger": "retry", "retry_message": "It is the same."}, "completion": _moatless_completion(9, 2)},
            {"request": {"content": "<reject>"}, "response": {"trigger": "reject", "output": {"message": "no"}}, "completion": _moatless_completion(11, 1, retries=1)},
        ]},
    ],
    "info": {"instance_id": "i", "status": "error", "duration": 2.5, "total_cost": 1.0},
}  # fmt: skip
_MOATLESS_SEARCHED = {
    **_moatless_completion(4, 3),
    "response": {
        "content": [{"type": "text", "text": "It is in a.py."}],
        "usage": {"input_tokens": 1, "cache_read_input_tokens": 3, "output_tokens": 3},
    },
}
MOATLESS_TREE = {
    "metadata": {"instance_id": "i"},
    "max_expansions": 2,
    "root": {"node_id": 0, "user_message": "It fails.", "action_steps": [], "possible_actions": [], "visits": 1, "children": [
        {"node_id": 1, "user_message": None, "assistant_message": "I search.", "visits": 1, "completions": {"build_action": {**_moatless_completion(3, 2), "response": {}}, "value_function": _moatless_completion(5, 1)}, "reward": {"value": 50},
         "action_steps": [{"action": {"thoughts": "Where?", "query": "x", "action_args_class": "moatless.actions.semantic_search.SemanticSearchArgs"}, "observation": {"message": "a.py", "properties": {"fail_reason": "no_spans_added"}, "execution_completion": _MOATLESS_SEARCHED}, "completion": _MOATLESS_SEARCHED}],
         "output": {"message": "a.py", "execution_completion": _MOATLESS_SEARCHED}, "children": [
            {"node_id": 3, "visits": 0, "action_steps": [{"action": {"error": "no action", "action_args_class": "moatless.actions.model.ActionError"}, "observation": {"message": "no action", "terminal": True}}], "completions": {"build_action": _moatless_completion(8, 1)}, "children": []},
         ]},
        {"node_id": 2, "visits": 0, "is_duplicate": True, "action_steps": [{"action": {"thoughts": "Again."}}], "action": {"thoughts": "Again.", "query": "x", "action_args_class": "moatless.actions.semantic_search.SemanticSearchArgs"}, "completions": {}, "children": []},
    ]},
}  # fmt: skip


INTERCODE = {
    "environment": "ic_bash",
    "dataset": "d.json",
    "task_id": 0,
    "query": "Count the files.",
    "turn_history": {
        "thoughts": ["List them.", "Count.", "Again.", "EXCEEDED MAX TURNS: submit"],
        "actions": ["execute[ls -q]", "ls", "submit", "submit"],
        "observations": ["ls: invalid option\n", "Error executing query: Your last `execute` action did not contain bash code", "2", "2"],
        "rewards": [0, 0, 0.67, 0.67],
        "valid_action": [False, False, True, True],
    },
    "summary": {"max_reward": 0.67, "turns_taken": 3, "turns_max": 10},
}  # fmt: skip
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
AUTO_CODE_ROVER = [
    {"role": "system", "content": "You are a software developer maintaining a large project.\nYou are working on an issue submitted to your project.\nThe issue contains a description marked between <issue> and </issue>.\n"},
    {"role": "user", "content": "<issue>It fails.\n</issue>"},
    {"role": "user", "content": "Based on the files, you can use below search APIs to get more context of the project."},
    {"role": "assistant", "content": "1. `search_code('a(b):')`\n2. `search_method_in_class(\"run\", \"Lamp\")`"},
    {"role": "user", "content": "Result of search_code('a(b):'):\nFound 1 snippet.\n\n\nResult of search_method_in_class(\"run\", \"Lamp\"):\nCould not find method run in class Lamp`.\n\n"},
    {"role": "user", "content": "Let's analyze collected context first"},
    {"role": "assistant", "content": "It is in `a`."},
    {"role": "user", "content": "Based on your analysis, answer below questions: ..."},
    {"role": "assistant", "content": "`search_class(Lamp, 1)`"},
    {"role": "user", "content": "The search API calls seem not valid. Please check the arguments you give carefully and try again."},
    {"role": "assistant", "content": "- do we need more context: no"},
    {"role": "user", "content": "Here are the code in buggy locations:\nFound 1 method."},
]  # fmt: skip
_HOOK = {"session_id": "h", "transcript_path": "/t.jsonl", "cwd": "/w"}
CLAUDE_CODE_HOOKS = [
    {**_HOOK, "hook_event_name": "UserPromptSubmit", "prompt": "List.", "timestamp": "2025-01-01T12:00:00Z"},
    {**_HOOK, "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t1", "timestamp": "2025-01-01T12:00:01Z"},
    {**_HOOK, "hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_response": {"stdout": "a.md"}, "tool_use_id": "t1", "timestamp": "2025-01-01T12:00:02Z"},
    {**_HOOK, "hook_event_name": "PostToolUse", "tool_name": "Read", "tool_input": {"path": "b.md"}, "tool_response": {"success": False, "error": "no such file"}},
    {**_HOOK, "hook_event_name": "PreToolUse", "tool_name": "Read", "tool_input": {"path": "a.md"}},
    {**_HOOK, "hook_event_name": "Stop", "stop_hook_active": False},
]  # fmt: skip
OPEN_WEBUI = {
    "id": "o",
    "title": "Listing",
    "chat": {
        "models": ["m"],
        "history": {
            "currentId": "4",
            "messages": {
                "1": {"id": "1", "parentId": None, "childrenIds": ["2"], "role": "user", "content": "List.", "timestamp": 1735732800},
                "2": {"id": "2", "parentId": "1", "childrenIds": ["3"], "role": "assistant", "content": "...", "model": "m", "timestamp": 1735732801, "usage": {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}, "output": [
                    {"type": "reasoning", "id": "r", "status": "completed", "summary": None},
                    {"type": "function_call", "id": "f", "call_id": "c1", "name": "ls", "arguments": "{}", "status": "completed"},
                    {"type": "function_call_output", "id": "fo", "call_id": "c1", "output": [{"type": "input_text", "text": "a.md"}]},
                    {"type": "message", "id": "m", "role": "assistant", "content": [{"type": "output_text", "text": "One file."}]},
                ]},
                "3": {"id": "3", "parentId": "1", "childrenIds": [], "role": "user", "content": "Another branch."},
                "4": {"id": "4", "parentId": "2", "childrenIds": [], "role": "user", "content": "Thanks."},
            },
        },
    },
}  # fmt: skip


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


def _semantic_kernel(role: str, *items: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"Role": {"Label": role}, "Items": list(items), **fields}


_SEMANTIC_KERNEL_NAMES = {"PluginName": "web", "FunctionName": "search"}
SEMANTIC_KERNEL = [
    _semantic_kernel("system", {"$type": "TextContent", "Text": "You find."}),
    _semantic_kernel("user", {"$type": "TextContent", "Text": "Find x."}),
    _semantic_kernel(
        "Assistant",
        {"$type": "TextContent", "Text": "I look.", "ModelId": "m", "Metadata": {"Usage": {"InputTokenCount": 9, "OutputTokenCount": 5}}},
        {"$type": "FunctionCallContent", "Id": "c1", **_SEMANTIC_KERNEL_NAMES, "Arguments": {"q": "x"}},
        ModelId="m",
        Metadata={
            "CreatedAt": "2025-01-01T12:00:00+00:00",
            "Usage": {"InputTokenCount": 9, "OutputTokenCount": 5, "TotalTokenCount": 14, "InputTokenDetails": {"CachedTokenCount": 4}},
            "ChatResponseMessage.FunctionToolCalls": [{"Id": "c1", "FunctionName": "web-search", "FunctionArguments": {}}],
        },
    ),
    _semantic_kernel(
        "tool",
        {"$type": "FunctionResultContent", "CallId": "c1", **_SEMANTIC_KERNEL_NAMES, "Result": "Error: Exception while invoking function. Too slow."},
    ),
    _semantic_kernel("assistant", {"$type": "TextContent", "Text": "Not there."}),
]  # fmt: skip


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
AIDER = {"aider_chat": AIDER_HISTORY.lstrip("\n")}


def _agentscope(second: int, name: str, role: str, content: Any, **fields: Any) -> list[Any]:
    """A message in an agent's memory, with its marks."""
    message = {"id": f"m{second}", "name": name, "role": role, "content": content}
    stamp = f"2025-01-01 12:00:{second:02}.000"
    return [{**message, "metadata": None, "timestamp": stamp, **fields}, []]


AGENTSCOPE = {
    "Friday": {
        "memory": {
            "content": [
                _agentscope(1, "host", "assistant", "Find x."),
                _agentscope(
                    2,
                    "Friday",
                    "assistant",
                    [
                        {"type": "thinking", "thinking": "hm"},
                        {"type": "text", "text": "I look."},
                        {"type": "tool_use", "id": "c1", "name": "search", "input": {"q": "x"}},
                        {"type": "tool_use", "id": "c2", "name": "read", "input": {}},
                    ],
                ),
                *(
                    _agentscope(
                        second,
                        "system",
                        "system",
                        [{"type": "tool_result", "id": call, "name": name, "output": output}],
                    )
                    for second, call, name, output in (
                        (3, "c1", "search", [{"type": "text", "text": "some"}]),
                        (4, "c2", "read", "none"),
                    )
                ),
                _agentscope(5, "Friday", "assistant", [{"type": "text", "text": "Not there."}]),
                _agentscope(6, "host", "user", "Thanks."),
            ]
        },
        "toolkit": {"active_groups": []},
        "name": "Friday",
        "_sys_prompt": "You find.",
    }
}


def _camel(
    number: int, role: str, content: str, kind: str = "BaseMessage", **fields: Any
) -> dict[str, Any]:
    about = {"__class__": kind, "role_name": "Finder", "role_type": "assistant"}
    return {
        "uuid": f"u{number}",
        "message": {**about, "content": content, "image_detail": "auto", **fields},
        "role_at_backend": role,
        "extra_info": {},
        "timestamp": 1735732800.0 + number,
        "agent_id": "a1",
    }


_CAMEL_FUNCTION = {"name": "search", "arguments": '{"q": "x"}'}
CAMEL = [
    _camel(1, "system", "You find."),
    _camel(2, "user", "Find x."),
    _camel(
        3,
        "assistant",
        "I look.",
        tool_calls=[{"id": "c1", "type": "function", "function": _CAMEL_FUNCTION}],
    ),
    _camel(
        4,
        "function",
        "",
        "FunctionCallingMessage",
        func_name="search",
        result="Tool execution failed: too slow",
        tool_call_id="c1",
        mask_output=False,
    ),
    _camel(5, "assistant", "Not there."),
]


CAMEL_GAIA = {
    "task_id": "g1",
    "model_answer": "y",
    "ground_truth": "x",
    "tool_calls": [
        {
            "func_name": "search",
            "args": {"q": "x"},
            "result": "Tool execution failed: too slow",
        },
        {"func_name": "search", "args": {"q": "y"}, "result": "some"},
    ],
    "error": None,
    "score": 0,
    "history": [{"role_name": "Assistant", "meta_dict": {}, "content": "FINAL ANSWER: y"}],
}


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


def _bedrock(kind: str, second: int, *, agent: str | None = None, **parts: Any) -> dict[str, Any]:
    part = {
        "agentId": "A1",
        "sessionId": "s",
        "eventTime": f"2025-01-01T12:00:{second:02}Z",
        "trace": {kind: parts},
    }
    return {"trace": part | ({"collaboratorName": agent} if agent else {})}


def _bedrock_tokens(sent: int, received: int) -> dict[str, Any]:
    usage = {"inputTokens": sent, "outputTokens": received}
    return {"metadata": {"usage": usage}, "rawResponse": {"content": "raw"}, "traceId": "t"}


_BEDROCK_ASKED = {"foundationModel": "m", "text": "prompt", "type": "ORCHESTRATION", "traceId": "t"}
BEDROCK_AGENTS = [
    _bedrock("orchestrationTrace", 0, modelInvocationInput=_BEDROCK_ASKED),
    _bedrock("orchestrationTrace", 1, modelInvocationOutput=_bedrock_tokens(9, 5)),
    _bedrock("orchestrationTrace", 1, rationale={"text": "I look.", "traceId": "t"}),
    _bedrock(
        "orchestrationTrace",
        2,
        invocationInput={
            "invocationType": "ACTION_GROUP",
            "actionGroupInvocationInput": {
                "actionGroupName": "g",
                "apiPath": "/find",
                "verb": "get",
                "executionType": "LAMBDA",
                "parameters": [{"name": "q", "type": "string", "value": "x"}, {"name": "n", "type": "integer", "value": "2"}],
            },
        },
    ),
    _bedrock("orchestrationTrace", 3, observation={"type": "ACTION_GROUP", "actionGroupInvocationOutput": {"text": "none"}}),
    _bedrock("orchestrationTrace", 4, modelInvocationInput=_BEDROCK_ASKED),
    _bedrock("orchestrationTrace", 5, modelInvocationOutput=_bedrock_tokens(12, 3)),
    _bedrock("orchestrationTrace", 5, invocationInput={"invocationType": "AGENT_COLLABORATOR", "agentCollaboratorInvocationInput": {"agentCollaboratorName": "Reader", "input": {"text": "Read.", "type": "TEXT"}}}),
    _bedrock("orchestrationTrace", 6, agent="Reader", modelInvocationInput=_BEDROCK_ASKED),
    _bedrock("orchestrationTrace", 7, agent="Reader", modelInvocationOutput=_bedrock_tokens(4, 2)),
    _bedrock("orchestrationTrace", 7, agent="Reader", observation={"type": "FINISH", "finalResponse": {"text": "Read it."}}),
    _bedrock("orchestrationTrace", 8, observation={"type": "AGENT_COLLABORATOR", "agentCollaboratorInvocationOutput": {"agentCollaboratorName": "Reader", "output": {"text": "Read it."}}}),
    _bedrock("orchestrationTrace", 8, modelInvocationInput=_BEDROCK_ASKED),
    _bedrock("orchestrationTrace", 9, modelInvocationOutput=_bedrock_tokens(20, 4)),
    _bedrock("orchestrationTrace", 9, observation={"type": "FINISH", "finalResponse": {"text": "Not there."}}),
    {"chunk": {"bytes": "Not there."}},
]  # fmt: skip


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
CONTINUE = {
    "sessionId": "s",
    "title": "Find x",
    "workspaceDirectory": "/x",
    "chatModelTitle": "m",
    "history": [
        {"message": {"role": "user", "content": "Find x."}, "contextItems": []},
        {"message": {"role": "thinking", "content": "hm"}},
        {
            "message": {
                "role": "assistant",
                "content": "I look.",
                "toolCalls": [
                    {"id": "c1", "type": "function", "function": {"name": "read_file", "arguments": '{"path": "a"}'}},
                    {"id": "c2", "type": "function", "function": {"name": "grep", "arguments": '{"q": "x"}'}},
                ],
                "usage": {"promptTokens": 9, "completionTokens": 5, "promptTokensDetails": {"cachedTokens": 4}},
            },
            "promptLogs": [{"modelTitle": "n", "prompt": "Find x.", "completion": "I look."}],
            "toolCallStates": [
                {"toolCallId": "c1", "status": "done", "output": [{"name": "a", "content": "A"}]},
                {
                    "toolCallId": "c2",
                    "toolCall": {"id": "c2", "type": "function", "function": {"name": "grep", "arguments": '{"q": "x"}'}},
                    "status": "errored",
                    "output": [{"name": "grep", "content": "no such tool"}],
                },
            ],
        },
        {"message": {"role": "tool", "content": "A", "toolCallId": "c1"}},
        {"message": {"role": "assistant", "content": "Not there."}},
    ],
}  # fmt: skip
ZED = {
    "version": "0.3.0",
    "title": "Find x",
    "messages": [
        {"User": {"id": "u1", "content": [{"Text": "Find x."}, {"Mention": {"uri": "file:///x/a", "content": "A"}}]}},
        {
            "Agent": {
                "content": [
                    {"Thinking": {"text": "hm", "signature": None}},
                    {"Text": "I look."},
                    {
                        "ToolUse": {
                            "id": "t1",
                            "name": "read_file",
                            "raw_input": '{"path": "a"}',
                            "input": {"type": "json", "value": {"path": "a"}},
                            "is_input_complete": True,
                            "thought_signature": None,
                        }
                    },
                    {"ToolUse": {"id": "t2", "name": "grep", "raw_input": '{"q": "x"}', "input": {"q": "x"}, "is_input_complete": True}},
                ],
                "tool_results": {
                    "t1": {"tool_use_id": "t1", "tool_name": "read_file", "is_error": False, "content": [{"Text": "A"}], "output": "A"},
                    "t2": {"tool_use_id": "t2", "tool_name": "grep", "is_error": True, "content": {"Text": "no such path"}, "output": None},
                },
                "reasoning_details": None,
            }
        },
        "Resume",
        {"Compaction": {"Summary": "x is not in a."}},
        {"Agent": {"content": [{"Text": "Not there."}], "tool_results": {}, "reasoning_details": None}},
        {"User": {"id": "u2", "content": [{"Text": "Thanks."}]}},
        {"Agent": {"content": [{"Text": "Welcome."}], "tool_results": {}, "reasoning_details": None}},
    ],
    "updated_at": "2026-03-04T10:01:00Z",
    "initial_project_snapshot": {
        "worktree_snapshots": [{"worktree_path": "/x", "git_state": {"current_branch": "main"}}],
        "timestamp": "2026-03-04T10:00:00Z",
    },
    "cumulative_token_usage": {"input_tokens": 30, "output_tokens": 9, "cache_read_input_tokens": 20},
    "request_token_usage": {"u1": {"input_tokens": 9, "output_tokens": 5, "cache_read_input_tokens": 20}},
    "model": {"provider": "p", "model": "m"},
    "profile": "write",
}  # fmt: skip


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
OPENAI_AGENTS_TRACING = [
    {
        "object": "trace",
        "id": "trace_1",
        "workflow_name": "Parcels",
        "group_id": "chat-7",
        "metadata": {"team": "north"},
    },
    *(
        {
            "object": "trace.span",
            "id": f"span_{number}",
            "trace_id": "trace_1",
            "parent_id": parent,
            "started_at": f"2025-01-01T12:00:0{number}.000000+00:00",
            "ended_at": f"2025-01-01T12:00:0{number}.500000+00:00",
            "span_data": data,
            "error": error,
        }
        for number, (parent, data, error) in enumerate(
            [
                (None, {"type": "agent", "name": "Finder", "handoffs": ["Clerk"], "tools": ["search"], "output_type": "str"}, None),
                ("span_0", {"type": "mcp_tools", "server": "files", "result": ["search"]}, None),
                (
                    "span_0",
                    {
                        "type": "generation",
                        "input": [{"role": "user", "content": "Find x."}],
                        "output": [{"role": "assistant", "content": "I look.", "tool_calls": [{"id": "c", "type": "function", "function": {"name": "search", "arguments": '{"q": "x"}'}}]}],
                        "model": "m-1",
                        "model_config": {},
                        "usage": {"input_tokens": 10, "output_tokens": 5},
                    },
                    None,
                ),
                (
                    "span_0",
                    {"type": "function", "name": "search", "input": '{"q": "x"}', "output": None, "mcp_data": None},
                    {"message": "Error running tool", "data": {"tool_name": "search", "error": "down"}},
                ),
                ("span_0", {"type": "handoff", "from_agent": "Finder", "to_agent": "Clerk"}, None),
                ("span_0", {"type": "guardrail", "name": "polite", "triggered": False}, None),
                ("span_0", {"type": "response", "response_id": "resp_1", "usage": {"input_tokens": 20, "output_tokens": 2, "total_tokens": 22, "input_tokens_details": {"cached_tokens": 8}}}, None),
            ]
        )
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
            "choices": [{"message": _response(1, _LS)["choices"][0]["message"]}],
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


def _said(kind: str, source: str, content: Any, **more: Any) -> dict[str, Any]:
    return {
        "type": kind,
        "source": source,
        "content": content,
        "models_usage": None,
        "metadata": {},
    } | more


_SPENT = {"prompt_tokens": 5, "completion_tokens": 2}
AUTOGEN = {
    "messages": [
        _said("TextMessage", "user", "Find x."),
        _said("ThoughtEvent", "bot", "I search."),
        _said(
            "ToolCallRequestEvent",
            "bot",
            [{"id": "c1", "name": "search", "arguments": '{"q": "x"}'}],
            models_usage=_SPENT,
        ),
        _said(
            "ToolCallExecutionEvent",
            "bot",
            [{"call_id": "c1", "name": "search", "content": "no", "is_error": True}],
        ),
        _said("ToolCallSummaryMessage", "bot", "no"),
        _said("TextMessage", "bot", "Nothing.", models_usage=_SPENT),
    ],
    "stop_reason": "Maximum number of turns reached.",
}


def _logged(sent: int, received: int, **answer: Any) -> dict[str, Any]:
    """Return a model call as AutoGen Studio logs it among the messages of a run."""
    call = {
        "type": "LLMCall",
        "messages": [{"role": "user", "content": "Find x."}],
        "tools": [{"type": "function", "function": {"name": "search"}}],
        "response": {"model": "m", "choices": [{"message": {"role": "assistant", **answer}}]},
        "prompt_tokens": sent,
        "completion_tokens": received,
        "agent_id": "bot_1/1",
    }
    return _said("TextMessage", "llm_call_event", json.dumps(call))


AUTOGEN_STUDIO = {
    "session": {"id": 7, "session_id": 3, "status": "COMPLETE", "error_message": None},
    "rows": [
        {
            "id": number,
            "session_id": 3,
            "run_id": 7,
            "created_at": f"2025-01-01 12:00:0{number}.000000",
            "config": json.dumps(message),
        }
        for number, message in enumerate(
            [
                AUTOGEN["messages"][0],
                _logged(4, 1, content="bot"),  # the choice of a speaker, which is no message
                _logged(5, 2, content=None, tool_calls=[{"id": "c1", "function": {"name": "search", "arguments": "{}"}}]),
                *AUTOGEN["messages"][1:5],
                _logged(5, 2, content="Nothing."),
                AUTOGEN["messages"][5],
            ]
        )
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
CREWAI = [
    {"type": "crew_kickoff_started", "timestamp": "2025-01-01T12:00:00", "crew_name": "crew"},
    {
        "type": "task_started",
        "timestamp": "2025-01-01T12:00:01",
        "task": {"description": "Find x."},
    },
    {"type": "llm_call_started", "timestamp": "2025-01-01T12:00:01", "model": "m"},
    {
        "type": "llm_call_completed",
        "timestamp": "2025-01-01T12:00:02",
        "event_id": "1",
        "model": "m",
        "agent_role": "Finder",
        "response": "I search.",
        "usage": {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7},
    },
    {
        "type": "llm_call_completed",
        "timestamp": "2025-01-01T12:00:02",
        "event_id": "1",
        "model": "m",
        "response": "I search.",
    },
    {
        "type": "tool_usage_started",
        "timestamp": "2025-01-01T12:00:03",
        "tool_name": "search",
        "tool_args": '{"q": "x"}',
    },
    {
        "type": "tool_usage_error",
        "timestamp": "2025-01-01T12:00:04",
        "tool_name": "search",
        "tool_args": '{"q": "x"}',
        "error": "no",
    },
    {"type": "crew_kickoff_completed", "timestamp": "2025-01-01T12:00:05", "total_tokens": 9},
]


def _shown(number: int, kind: str, word: str, text: str, **more: Any) -> dict[str, Any]:
    return {"ts": 1735732800000 + number * 1000, "type": kind, kind: word, "text": text} | more


CLINE = [
    _shown(0, "say", "text", "Find x."),
    _shown(
        1,
        "say",
        "api_req_started",
        '{"request": "...", "tokensIn": 5, "tokensOut": 2, "cacheReads": 4, "cacheWrites": 3, "cost": 0.5}',
    ),
    _shown(2, "say", "text", "I look."),
    _shown(3, "ask", "command", "ls"),
    _shown(3, "say", "command", "ls"),
    _shown(4, "say", "command_output", "a"),
    _shown(4, "say", "command_output", "b"),
    _shown(5, "say", "api_req_started", '{"tokensIn": 9, "tokensOut": 1, "cost": 0.25}'),
    _shown(6, "say", "tool", '{"tool": "readFile", "path": "a"}'),
    _shown(7, "say", "text", "Hal", partial=True),
    _shown(8, "say", "error", "no such file"),
]

TOOL_EVAL = {
    "588": {
        "query": "Find x.",
        "available_tools": [{"name": "search", "description": "Finds.", "parameters": {}}],
        "answer": {
            "method": "CoT@1",
            "total_steps": 5,
            "final_answer": "x",
            "answer_details": [
                {
                    "role": "system",
                    "message": "",
                    "next": [
                        {
                            "role": "tool",
                            "message": "{'name': 'search', 'arguments': '{\"q\": \"x\"}', 'response': 'found'}",
                            "next": [
                                {"role": "assistant", "message": "I finish.", "next": []},
                                {
                                    "role": "tool",
                                    "message": {
                                        "name": "Finish",
                                        "arguments": "{}",
                                        "response": "",
                                    },
                                    "next": [],
                                },
                            ],
                        }
                    ],
                }
            ],
        },
    }
}
OPENAI_AGENTS = {
    "$schemaVersion": "1.12",
    "current_agent": {"name": "helper"},
    "original_input": "Find x.",
    "max_turns": 10,
    "model_responses": [
        {
            "response_id": "resp_1",
            "usage": {
                "requests": 1,
                "input_tokens": 9,
                "input_tokens_details": [{"cached_tokens": 4, "cache_write_tokens": 0}],
                "output_tokens": 2,
                "total_tokens": 11,
            },
            "output": [
                {"type": "function_call", "call_id": "c1", "name": "search", "arguments": "{}"}
            ],
        },
        {
            "response_id": "resp_2",
            "usage": {"requests": 1, "input_tokens": 12, "output_tokens": 3, "total_tokens": 15},
            "output": [
                {
                    "type": "message",
                    "role": "assistant",
                    "content": [{"type": "output_text", "text": "Found."}],
                }
            ],
        },
    ],
    "context": {
        "usage": {"requests": 3, "input_tokens": 30, "output_tokens": 5, "total_tokens": 35}
    },
    "generated_items": [
        {
            "type": "tool_call_item",
            "raw_item": {"type": "function_call", "call_id": "c1", "name": "search"},
        },
        {
            "type": "tool_call_output_item",
            "raw_item": {"type": "function_call_output", "call_id": "c1", "output": "x"},
            "output": "x",
        },
    ],
}


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

CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
CHAT = [
    {"role": "user", "content": "hi", "timestamp": "2025-01-01T12:00:00Z"},
    {"role": "assistant", "content": None, "tool_calls": [CALL], "usage": {"prompt_tokens": 1}},
    {"role": "tool", "tool_call_id": "c", "content": [{"type": "text", "text": "found"}]},
    {"role": "assistant", "content": "done", "function_call": {"name": "g", "arguments": "{}"}},
]
EXTENSIONS_AI = {
    "messages": [
        {"role": "user", "contents": [{"$type": "text", "text": "Find x."}]},
        {
            "role": "assistant",
            "messageId": "a",
            "createdAt": "2025-01-01T12:00:00Z",
            "contents": [
                {"$type": "functionCall", "callId": "c", "name": "f", "arguments": {"a": 1}},
                {"$type": "usage", "details": {"inputTokenCount": 5, "outputTokenCount": 2}},
            ],
        },
        {"role": "tool", "contents": [{"$type": "functionResult", "callId": "c", "result": "x"}]},
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
AGENT_AS_A_JUDGE = [
    {
        "step": 0,
        "user_message": "Fix it.",
        "agent": {"thought": "I look.", "action": "Running command: ls"},
        "environment": "a.py",
        "step_usage": {"input_tokens": 5, "output_tokens": 2, "model": "m", "cost": 0.5},
        "accumulated_usage": {"accumulated_cost": 0.5, "accumulated_time": 3.0},
    },
    {
        "step": 1,
        "user_message": None,
        "agent": {"thought": "Done.", "action": None},
        "environment": None,
        "step_usage": {"input_tokens": 6, "output_tokens": 1, "model": "m", "cost": 0.25},
        "accumulated_usage": {"accumulated_cost": 0.75, "accumulated_time": 4.0},
    },
]
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


def autogen_call(messages: list[Any], content: Any, sent: int, **more: Any) -> dict[str, Any]:
    """Return a call as `ChatCompletionClientRecorder` keeps it."""
    usage = {"prompt_tokens": sent, "completion_tokens": 2}
    answer = {"finish_reason": "stop", "content": content, "usage": usage, "cached": False}
    return {"mode": "create", "messages": messages, "response": answer | more, "stream": []}


_AUTOGEN_SYSTEM = {"content": "Be brief.", "type": "SystemMessage"}
AUTOGEN_ASK = {"content": "Find x.", "source": "user", "type": "UserMessage"}
_AUTOGEN_TOOL = [{"id": "c1", "name": "search", "arguments": '{"q": "x"}'}]
_AUTOGEN_FOUND = {"content": "none", "name": "search", "call_id": "c1", "is_error": False}


def _autogen_calls() -> list[dict[str, Any]]:
    asked = {
        "content": _AUTOGEN_TOOL,
        "thought": "I search.",
        "source": "bot",
        "type": "AssistantMessage",
    }
    results = {"content": [_AUTOGEN_FOUND], "type": "FunctionExecutionResultMessage"}
    other = {"content": "Is that right?", "source": "user", "type": "UserMessage"}
    return [
        autogen_call([_AUTOGEN_SYSTEM, AUTOGEN_ASK], _AUTOGEN_TOOL, 10, thought="I search."),
        autogen_call([_AUTOGEN_SYSTEM, AUTOGEN_ASK, asked, results], "Nothing.", 20),
        autogen_call([_AUTOGEN_SYSTEM, other], "Yes.", 5),
    ]


def _cline_session() -> dict[str, Any]:
    def said(second: int, role: str, *content: Any, **more: Any) -> dict[str, Any]:
        return {"id": f"m{second}", "role": role, "content": list(content), "ts": 1735732800000 + second * 1000, **more}  # fmt: skip

    def metrics(sent: int, received: int, cached: int, cost: float) -> dict[str, Any]:
        counts = {"inputTokens": sent, "outputTokens": received, "cacheReadTokens": cached}
        return {"metrics": {**counts, "cacheWriteTokens": 0, "cost": cost}, "modelInfo": {"id": "claude-opus-4.8", "provider": "cline"}}  # fmt: skip

    ask = {"type": "tool_use", "id": "t1", "name": "run", "input": {"c": "ls"}}
    found = {"type": "tool_result", "tool_use_id": "t1", "content": "a", "is_error": False}
    return {
        "version": 1,
        "sessionId": "S1",
        "agent": "lead",
        "system_prompt": "You are Cline.",
        "messages": [
            said(0, "user", {"type": "text", "text": "Find x."}),
            said(1, "assistant", ask, **metrics(90, 9, 80, 0.5)),
            said(2, "user", found),
            said(3, "assistant", {"type": "text", "text": "Here."}, **metrics(120, 3, 99, 0.25)),
        ],
    }


def _cline_talk() -> list[dict[str, Any]]:
    def said(second: int, role: str, *content: Any, **more: Any) -> dict[str, Any]:
        texts = [{"type": "text", "text": part} if type(part) is str else part for part in content]
        return {"role": role, "content": texts, "ts": 1735732800000 + second * 1000, **more}

    def answered(second: int, *content: Any, **tokens: int) -> dict[str, Any]:
        model = {"modelId": "claude-opus-4-5", "providerId": "p", "mode": "act"}
        metrics = {"tokens": {"cached": 0, **tokens}, "cost": 0.25}
        return said(second, "assistant", *content, modelInfo=model, metrics=metrics)

    def asks(name: str, number: int) -> dict[str, Any]:
        return {
            "type": "tool_use",
            "id": f"t{number}",
            "name": name,
            "input": {},
            "call_id": f"t{number}",
        }

    return [
        said(0, "user", "<task>Find x.</task>"),
        answered(1, "I look.", asks("use_subagents", 1), asks("read_file", 2), prompt=9, completion=2),
        said(2, "user", "[subagents] Result:\nfound", "[read_file for 'a\nb'] Result:", "some", "<environment_details>"),
        answered(3, asks("execute_command", 3), prompt=9, completion=3, cached=90),
        said(4, "user", "[execute_command for 'ls'] Result:\nCommand failed with exit code 1."),
        answered(5, asks("read_file", 4), asks("write_to_file", 5), prompt=9, completion=4, cached=5),
        said(6, "user", "[write_to_file for 'a'] Result:\nThe tool execution failed", "Go on."),
        answered(7, "Here.", prompt=0, completion=0),
    ]  # fmt: skip


CLINE_TALK = _cline_talk()


def openhands_call(
    number: int, *messages: Any, text: str | None = None, calls: tuple[str, ...] = ()
) -> dict[str, Any]:
    """Return a call of the model as the software agent SDK logs it."""
    told = [{"id": each, "type": "function", "function": {"name": "run", "arguments": "{}"}} for each in calls]  # fmt: skip
    answer = {"role": "assistant", "content": text, "tool_calls": told or None}
    usage = {"prompt_tokens": number, "completion_tokens": 1, "total_tokens": number + 1}
    return {
        "messages": list(messages),
        "tools": [{"type": "function", "function": {"name": "run"}}],
        "kwargs": {"temperature": 0},
        "response": {"id": f"r{number}", "model": "m", "choices": [{"message": answer}], "usage": usage},
        "cost": number / 4,
        "timestamp": 1735732800 + number,
        "latency_sec": 0.5,
    }  # fmt: skip


def openhands_user(text: str, **more: Any) -> dict[str, Any]:
    """Return a user's message of OpenHands."""
    return {"role": "user", "content": [{"type": "text", "text": text, **more}]}


def _openhands_calls() -> list[dict[str, Any]]:
    ask = {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "run", "arguments": "{}"}}]}  # fmt: skip
    result = {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "a"}]}
    first = openhands_call(
        10, openhands_user("Fix it.", cache_control={"type": "ephemeral"}), calls=("c1",)
    )
    return [first, openhands_call(20, openhands_user("Fix it."), ask, result, text="Done.")]


CLINE_SESSION = _cline_session()
OPENHANDS_CALLS = _openhands_calls()
AUTOGEN_CALLS = _autogen_calls()

#: Examples by format id.
_SEARCH = {"q": "x"}
_SEARCH_AS_TEXT = '{"q": "x"}'
#: The formats that most others are compared with: each has an answer with a call, and its result.
COMMON: dict[str, Any] = {
    "anthropic": [
        {"role": "user", "content": "Find x."},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "t1", "name": "search", "input": _SEARCH}],
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "found"}],
        },
    ],
    "openai-responses": [
        {"role": "user", "content": "Find x."},
        {
            "type": "function_call",
            "call_id": "c1",
            "name": "search",
            "arguments": _SEARCH_AS_TEXT,
        },
        {"type": "function_call_output", "call_id": "c1", "output": "found"},
    ],
    "langchain": [
        {"type": "human", "content": "Find x.", "additional_kwargs": {}},
        {
            "type": "ai",
            "content": "",
            "tool_calls": [{"id": "c1", "name": "search", "args": _SEARCH, "type": "tool_call"}],
            "additional_kwargs": {},
        },
        {"type": "tool", "content": "found", "name": "search", "tool_call_id": "c1"},
    ],
    "mini-swe-agent": {
        "info": {"exit_status": "Submitted", "model_stats": {"instance_cost": 0.5, "api_calls": 1}},
        "messages": [
            {"role": "system", "content": "You have a shell."},
            {"role": "user", "content": "Fix it."},
            {"role": "assistant", "content": "I look.\n\n```bash\nls -F\n```"},
            {
                "role": "user",
                "content": "<returncode>0</returncode>\n<output>\na.py\n</output>",
            },
        ],
        "trajectory_format": "mini-swe-agent-1",
    },
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
}

EXAMPLES: dict[str, Any] = {
    **COMMON,
    "native": {
        "id": "n",
        "steps": [
            {"type": "llm", "usage": {"input_tokens": 1}, "started_at": 1},
            {"id": "t", "type": "tool", "arguments": {"a": 1}, "error": "no"},
        ],
        "tools": [{"name": "f", "parameters": {}}],
        "missing": {"cost": "no"},
    },
    "atof": ATOF,
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
    "swe-agent": {
        "trajectory": [{"action": "ls -F", "observation": "a", "response": "r", "thought": "t"}],
        "history": [
            {"role": "user", "content": "fix"},
            {"role": "assistant", "content": "r", "action": "ls -F", "tool_calls": [CALL]},
        ],
        "info": {"model_stats": {"tokens_sent": 5, "tokens_received": 1, "instance_cost": 0.5}},
        "replay_config": {"agent": {"model": {"name": "m"}}},
    },
    "tau-bench": {"task_id": 1, "trial": 0, "reward": 1.0, "info": {}, "traj": CHAT},
    "tau2": {
        "id": "s",
        "termination_reason": "user_stop",
        "start_time": "2025-01-01T12:00:00",
        "reward_info": {"reward": 1.0},
        "messages": CHAT,
    },
    "general-agentbench": {
        "task_id": "t",
        "messages": CHAT,
        "rounds": [{"reasoning": "", "tools_executed": 1, "prompt_tokens": 5}],
        "steps": [
            {"message_type": "tool_call", "tool_name": "f", "timestamp": "2025-01-01T12:00:00"},
            {"message_type": "tool_result", "tool_name": "f", "tool_error": True},
        ],
        "total_tokens": 5,
    },
    "openai-chat": CHAT,
    "managed-agents": MANAGED_AGENTS,
    "tool-eval": TOOL_EVAL,
    "openai-agents": OPENAI_AGENTS,
    "openai-agents-tracing": OPENAI_AGENTS_TRACING,
    "openai-assistants": OPENAI_ASSISTANTS,
    "browser-use": BROWSER_USE,
    "smolagents": SMOLAGENTS,
    "pydantic-ai": PYDANTIC_AI,
    "autogen": AUTOGEN,
    "crewai": CREWAI,
    "crush": CRUSH,
    "cline": CLINE,
    "agno": AGNO,
    "bedrock-agents": BEDROCK_AGENTS,
    "braintrust": BRAINTRUST,
    "opik": OPIK,
    "camel": CAMEL,
    "agentscope": AGENTSCOPE,
    "aider": AIDER,
    "aider-llm": {"aider_llm_history": AIDER_LOG},
    "semantic-kernel": SEMANTIC_KERNEL,
    "langgraph": LANGGRAPH,
    "langchain-events": LANGCHAIN_EVENTS,
    "droid": DROID,
    "dspy-react": DSPY_REACT,
    "letta": LETTA,
    "letta-agent-file": LETTA_AGENT_FILE,
    "langsmith": LANGSMITH,
    "weave": WEAVE,
    "opencode": OPENCODE,
    "goose": GOOSE,
    "bfcl": BFCL,
    "openclaw": OPENCLAW,
    "openclaw-trajectory": OPENCLAW_TRAJECTORY,
    "gemini-cli": GEMINI_CLI,
    "codex-exec": CODEX_EXEC,
    "amazon-q": AMAZON_Q,
    "antigravity": ANTIGRAVITY,
    "continue": CONTINUE,
    "copilot": COPILOT,
    "copilot-chat-replay": COPILOT_CHAT_REPLAY,
    "copilot-debug-log": COPILOT_DEBUG_LOG,
    "craft-agents": CRAFT_AGENTS,
    "cursor-cli": CURSOR_CLI,
    "cursor-transcript": CURSOR_TRANSCRIPT,
    "batch-results": BATCH_RESULT,
    "claude-code-hooks": CLAUDE_CODE_HOOKS,
    "open-webui": OPEN_WEBUI,
    "tarko": TARKO,
    "deepeval": DEEPEVAL,
    "genkit": GENKIT,
    "kimi-code": KIMI_CODE,
    "qwen-code": QWEN_CODE,
    "grok-cli": GROK_CLI,
    "hermes": HERMES,
    "nanobot": NANOBOT,
    "droid-session": DROID_SESSION,
    "vapi": VAPI,
    "retell": RETELL,
    "elevenlabs": ELEVENLABS,
    "claude-agent-sdk": CLAUDE_AGENT_SDK,
    "ai-studio": AI_STUDIO,
    "chatgpt-export": CHATGPT_EXPORT,
    "deepseek-export": DEEPSEEK_EXPORT,
    "claude-ai-export": CLAUDE_AI_EXPORT,
    "grok-export": GROK_EXPORT,
    "vscode-chat": VSCODE_CHAT,
    "zed": ZED,
    "openhands": OPENHANDS,
    "google-adk": GOOGLE_ADK,
    "google-adk-eval": {**GOOGLE_ADK_EVAL, "eval_cases": GOOGLE_ADK_EVAL["eval_cases"][:1]},
    "harbor": HARBOR,
    "metagpt": METAGPT,
    "chatdev": {"chatdev_log": CHATDEV_LOG},
    "specstory": {"specstory_history": SPECSTORY_HISTORY},
    "jupyter-chat": JUPYTER_CHAT,
    "tau2-voice": TAU2_VOICE,
    "ag-ui": AG_UI,
    "agent-as-a-judge": AGENT_AS_A_JUDGE,
    "extensions-ai": EXTENSIONS_AI,
    "acp": ACP,
    "promptfoo": PROMPTFOO,
    "autogen-runtime-log": AUTOGEN_RUNTIME_LOG,
    "request-log": REQUEST_LOG,
    "appworld": APPWORLD,
    "ai-sdk-devtools": AI_SDK_DEVTOOLS,
    "ai-sdk-stream": AI_SDK_STREAM,
    "api-stream": API_STREAM,
    "langfuse": LANGFUSE,
    "inspect": INSPECT,
    "trae": TRAE,
    "toolbench": TOOLBENCH,
    "agent-history": AGENT_HISTORY,
    "auto-code-rover": AUTO_CODE_ROVER,
    "moatless": MOATLESS,
    "nemo-guardrails": NEMO_GUARDRAILS,
    "intercode": {"0": INTERCODE},
}


def claiming(value: Any) -> list[str]:
    """Return the ids of all importers that recognise a value, independent of their order."""
    matching = [importer for importer in FORMATS if importer.matches(value)]
    particular = [importer.id for importer in matching if not importer.is_general]
    return particular or [importer.id for importer in matching]
