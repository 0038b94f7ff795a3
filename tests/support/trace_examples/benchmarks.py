"""Results and logs of benchmarks: tau-bench, BFCL, AppWorld, ToolBench and the like."""

from __future__ import annotations

from typing import Any

from support.trace_examples.model_apis import CHAT

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

#: A run of Spider-Agent. The observation of an entry comes before its action.
DA_AGENT = {
    "finished": True,
    "steps": 3,
    "result": "out.csv",
    "result_files": {"added_files": ["out.csv"], "changed_files": []},
    "Task": "Count the users.",
    "system_message": "You are a data scientist.\n# TASK #\nCount the users.",
    "trajectory": [
        {
            "observation": "You are in the folder now.",
            "thought": "I look.",
            "action": 'Bash(code="ls -l")',
            "response": 'Thought: I look.\n\nAction: Bash(code="ls -l")',
        },
        {
            "observation": "a.sqlite",
            "thought": "I count.",
            "action": 'LOCAL_DB_SQL(file_path="a.sqlite", command="SELECT count(*) FROM user", output="direct")',
        },
        {
            "observation": "ERROR: no such table: user",
            "thought": "I end.",
            "action": 'Terminate(output="out.csv")',
        },
    ],
}

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

AGENT_EVAL_HARNESS = {
    "id": "p1",
    "input": "Find x.",
    "k": 1,
    "trials": [
        {
            "trialNum": 1,
            "output": "Not there.",
            "trajectory": [
                {"type": "message", "content": "Find x.", "timestamp": 5},
                {"type": "thought", "content": "Hm.", "timestamp": 5},
                {"type": "tool_call", "name": "search", "status": "pending", "timestamp": 6},
                {"type": "tool_call", "name": "id_1", "status": "completed", "timestamp": 7},
                {"type": "tool_call", "name": "id_2", "status": "failed", "timestamp": 7},
                {"type": "tool_call", "name": "read", "status": "pending", "input": {"q": "x"}, "timestamp": 8},
                {"type": "tool_call", "name": "read", "status": "completed", "output": "a", "timestamp": 9},
                {"type": "message", "content": "Not there.", "timestamp": 10},
            ],
            "duration": 900,
            "pass": True,
            "score": 0.5,
        }
    ],
    "metadata": {"agent": "a", "depth": [1]},
}  # fmt: skip

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

#: A result of MCP-Bench's own agent, which plans calls in rounds.
MCP_BENCH_OWN = {
    "task_id": "finder_000",
    "server_name": "Finder",
    "model_name": "m",
    "task_description": "Find x.",
    "status": "completed",
    "execution_time": 9.0,
    "agent_execution_time": 7.5,
    "execution_results": [
        {"tool": "Finder:search", "server": "Finder", "parameters": {"q": "x"}, "round_num": 1, "result": "some", "success": True},
        {"tool": "Finder:read", "server": "Finder", "parameters": {}, "round_num": 1, "error": "no path", "success": False},
        {"tool": "Finder:read", "server": "Finder", "parameters": {"path": "/x"}, "round_num": 2, "result": "x", "success": True},
    ],
    "final_solution": "Here it is.",
    "total_rounds": 2,
    "evaluation": {"task_fulfillment": 8},
    "total_output_tokens": 30,
    "total_prompt_tokens": 200,
    "total_tokens": 230,
}  # fmt: skip


def mcp_bench_call(tool: str, second: int, response: Any, **fields: Any) -> dict[str, Any]:
    """Return a call as MCP-Bench's runner for ADK records it."""
    return {
        "type": "tool_execution",
        "tool": tool,
        "call_id": f"call_{second}",
        "server": "Finder",
        "parameters": {"q": "x"},
        "timestamp": 1_735_732_800.0 + second,
        "success": True,
        "response": response,
        "compressed": False,
        **fields,
    }


#: Results of MCP-Bench's runner for ADK, with an agent that is a tool.
MCP_BENCH = {
    "task_file": "tasks.json",
    "run_metadata": {"runner": "adk"},
    "task_run_results": {
        "m": [
            {
                "task_id": "finder_000",
                "server_name": "Finder",
                "model_name": "m",
                "status": "completed",
                "execution_time": 9.0,
                "solution": "Here it is.",
                "total_rounds": 4,
                "execution_results": [
                    mcp_bench_call(
                        "Searcher", 1, {"result": "Found."}, round=1, server="adk_agent_tool",
                        inner_tool_calls=[mcp_bench_call("finder__search", 2, {"content": [{"type": "text", "text": "some"}], "isError": False}, sub_round=1)],
                    ),
                ],
                "token_usage": {"prompt_tokens": 200, "completion_tokens": 30, "total_tokens": 230},
                "agent_execution_time": 7.5,
                "total_tool_calls": 2,
            }
        ]
    },
}  # fmt: skip

EXAMPLES: dict[str, Any] = {
    "mcp-bench": MCP_BENCH,
    "tau-bench": {"task_id": 1, "trial": 0, "reward": 1.0, "info": {}, "traj": CHAT},
    "tau2": {
        "id": "s",
        "termination_reason": "user_stop",
        "start_time": "2025-01-01T12:00:00",
        "reward_info": {"reward": 1.0},
        "messages": CHAT,
    },
    "tau2-voice": TAU2_VOICE,
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
    "bfcl": BFCL,
    "appworld": APPWORLD,
    "intercode": {"0": INTERCODE},
    "da-agent": DA_AGENT,
    "toolbench": TOOLBENCH,
    "tool-eval": TOOL_EVAL,
    "agent-as-a-judge": AGENT_AS_A_JUDGE,
    "agent-eval-harness": AGENT_EVAL_HARNESS,
}
