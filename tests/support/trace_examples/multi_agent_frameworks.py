"""Frameworks for teams of agents that talk to each other: AutoGen, AG2, CAMEL, CrewAI, MetaGPT and the like."""

from __future__ import annotations

import json
from typing import Any


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


AUTOGEN_CALLS = _autogen_calls()

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

MAGENTIC_ONE_LOG = [
    {"timestamp": f"2026-03-01T10:00:{at:02}.5", **event}
    for at, event in enumerate(
        (
            {
                "source": "UserProxy",
                "message": "Find the ferry to Oban.",
                "type": "OrchestrationEvent",
            },
            {"prompt_tokens": 300, "completion_tokens": 40, "type": "LLMCallEvent"},
            {"prompt_tokens": 400, "completion_tokens": 60, "type": "LLMCallEvent"},
            {
                "source": "Orchestrator (thought)",
                "message": "Initial plan: search the web.",
                "type": "OrchestrationEvent",
            },
            {
                "source": "Orchestrator (-> WebSurfer)",
                "message": "Please search for the ferry.",
                "type": "OrchestrationEvent",
            },
            {"prompt_tokens": 500, "completion_tokens": 20, "type": "LLMCallEvent"},
            {
                "type": "WebSurferEvent",
                "source": "WebSurfer",
                "message": "web_search({'query': 'ferry Oban'})",
                "url": "about:blank",
                "action": "web_search",
                "arguments": {"query": "ferry Oban"},
            },
            {"source": "WebSurfer", "message": "It leaves at nine.", "type": "AgentEvent"},
            {"prompt_tokens": 600, "completion_tokens": 10, "type": "LLMCallEvent"},
            {
                "source": "Orchestrator (final answer)",
                "message": "At nine.",
                "type": "OrchestrationEvent",
            },
        )
    )
]

EXAMPLES: dict[str, Any] = {
    "magentic-one-log": MAGENTIC_ONE_LOG,
    "autogen": AUTOGEN,
    "autogen-runtime-log": AUTOGEN_RUNTIME_LOG,
    "agent-history": AGENT_HISTORY,
    "agentscope": AGENTSCOPE,
    "camel": CAMEL,
    "chatdev": {"chatdev_log": CHATDEV_LOG},
    "crewai": CREWAI,
    "metagpt": METAGPT,
}
