"""Agents that resolve the issues of a repository, as in SWE-bench: SWE-agent, OpenHands, Moatless and the like."""

from __future__ import annotations

from typing import Any

from support.trace_examples.model_apis import CALL

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


def _response(number: int, *calls: dict[str, Any], **more: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": "I look.", "tool_calls": list(calls)}
    usage = {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}
    return {"id": f"r{number}", "model": "m", "choices": [{"message": message}], "usage": usage}


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


OPENHANDS_CALLS = _openhands_calls()


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

EXAMPLES: dict[str, Any] = {
    "swe-agent": {
        "trajectory": [{"action": "ls -F", "observation": "a", "response": "r", "thought": "t"}],
        "history": [
            {"role": "user", "content": "fix"},
            {"role": "assistant", "content": "r", "action": "ls -F", "tool_calls": [CALL]},
        ],
        "info": {"model_stats": {"tokens_sent": 5, "tokens_received": 1, "instance_cost": 0.5}},
        "replay_config": {"agent": {"model": {"name": "m"}}},
    },
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
    "openhands": OPENHANDS,
    "moatless": MOATLESS,
    "auto-code-rover": AUTO_CODE_ROVER,
    "trae": TRAE,
}
