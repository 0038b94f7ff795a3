"""Results of tools that run and score agents: Inspect, promptfoo, DeepEval and Harbor."""

from __future__ import annotations

from typing import Any

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

EXAMPLES: dict[str, Any] = {
    "inspect": INSPECT,
    "promptfoo": PROMPTFOO,
    "deepeval": DEEPEVAL,
    "harbor": HARBOR,
}
