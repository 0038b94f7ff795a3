"""Executions of workflows in which agents are nodes: n8n, Flowise and PromptFlow."""

from __future__ import annotations

import json
from typing import Any

from support.flatted import flatted

START = 1_735_732_800_000  #: milliseconds; the first second of noon on 2025-01-01


def n8n_run(
    order: int, data: Any = None, sent: Any = None, source: str | None = None, **facts: Any
) -> dict[str, Any]:
    """Return the run of a node of n8n, by its number in the execution."""
    kinds = {"data": data, "inputOverride": sent}
    return {
        "startTime": START + 100 * order,
        "executionTime": 50,
        "executionIndex": order,
        "executionStatus": "success",
        "source": [{"previousNode": source, "previousNodeRun": 0}] if source else [],
        **{key: {kind: [[{"json": item}]]} for key, held in kinds.items() if held for kind, item in held.items()},
        **facts,
    }  # fmt: skip


def n8n_answer(text: str, reason: str = "stop", **usage: Any) -> dict[str, Any]:
    """Return what a model's run of n8n records."""
    about = {"finish_reason": reason, "model_name": "gpt-4o-mini"}
    made = {"generations": [[{"text": text, "generationInfo": about}]]}
    return {"ai_languageModel": {"response": made, **usage}}


def n8n_tokens(sent: int, received: int) -> dict[str, int]:
    """Return tokens as n8n records them."""
    total = sent + received
    return {"promptTokens": sent, "completionTokens": received, "totalTokens": total}


N8N_NODES = [
    {"name": "Chat", "type": "@n8n/n8n-nodes-langchain.chatTrigger", "parameters": {}},
    {"name": "Agent", "type": "@n8n/n8n-nodes-langchain.agent", "parameters": {}},
    {"name": "Model", "type": "@n8n/n8n-nodes-langchain.lmChatOpenAi", "parameters": {"model": {"__rl": True, "value": "gpt-4o"}}},
    {"name": "Search", "type": "n8n-nodes-base.httpRequestTool", "parameters": {}},
    {"name": "Expert", "type": "@n8n/n8n-nodes-langchain.agentTool", "parameters": {}},
    {"name": "Small", "type": "@n8n/n8n-nodes-langchain.lmChatOllama", "parameters": {"model": "mistral:latest"}},
    {"name": "Files", "type": "@n8n/n8n-nodes-langchain.mcpClientTool", "parameters": {}},
]  # fmt: skip
#: The messages of a model's prompt, which n8n writes as one text.
N8N_PROMPT = {"ai_languageModel": {"messages": ["Human: Find x."], "estimatedTokens": 3}}
N8N_DATA = {
    "startData": {},
    "resultData": {
        "runData": {
            "Chat": [n8n_run(0, {"main": {"chatInput": "Find x.", "sessionId": "s"}})],
            "Set": [n8n_run(1, {"main": {"chatInput": "Find x."}}, source="Chat")],
            "Memory": [n8n_run(3, {"ai_memory": {"action": "loadMemoryVariables"}}, source="Agent")],
            "Model": [
                n8n_run(4, n8n_answer("", "tool_calls", tokenUsage=n8n_tokens(30, 5)), N8N_PROMPT, "Agent"),
                n8n_run(9, n8n_answer("Here it is.", tokenUsage=n8n_tokens(50, 4)), N8N_PROMPT, "Agent"),
            ],
            "Search": [n8n_run(5, {"ai_tool": {"response": "some"}}, {"ai_tool": {"q": "x", "toolCallId": "c1"}}, "Agent")],
            "Expert": [n8n_run(6, {"ai_tool": {"response": "Yes."}}, {"ai_tool": {"query": '{"q": "x"}'}}, "Agent")],
            "Small": [n8n_run(7, n8n_answer("Yes.", tokenUsageEstimate=n8n_tokens(9, 1)), N8N_PROMPT, "Expert")],
            "Files": [
                n8n_run(
                    8, {"ai_tool": {"tool": "read"}}, {"ai_tool": {"tool": "read", "path": "/x", "toolCallId": "c2"}}, "Agent",
                    executionStatus="error", error={"message": "no such file", "name": "NodeOperationError"},
                )
            ],
            "Agent": [n8n_run(2, {"main": {"output": "Here it is."}}, source="Set")],
        },
        "lastNodeExecuted": "Agent",
    },
}  # fmt: skip
N8N_ABOUT = {
    "id": 7,
    "mode": "webhook",
    "status": "success",
    "startedAt": "2025-01-01T12:00:00.000Z",
    "stoppedAt": "2025-01-01T12:00:02.000Z",
}
N8N = {**N8N_ABOUT, "data": N8N_DATA, "workflowData": {"name": "Finder", "nodes": N8N_NODES}}
N8N_ROW = {
    "executionId": 7,
    "workflowData": json.dumps(N8N["workflowData"]),
    "data": flatted(N8N_DATA),
}
N8N_STORED = {"session": N8N_ABOUT, "rows": [N8N_ROW]}


def flowise_message(role: str, content: str, second: int = 0, **fields: Any) -> dict[str, Any]:
    """Return a message of Flowise as its database has it."""
    return {
        "id": f"m{second}",
        "role": role,
        "chatflowid": "f",
        "content": content,
        "chatType": "INTERNAL",
        "chatId": "c",
        "sessionId": "s",
        "createdDate": f"2025-01-01 12:00:{second:02}",
        "usedTools": None,
        "agentReasoning": None,
        "executionId": None,
        **fields,
    }


FLOWISE_USED = [{"tool": "search", "toolInput": {"q": "x"}, "toolOutput": "some"}, None]
#: A node of an agent: the answers with calls, in LangChain's form, and the results are among its messages; the last is its output.
FLOWISE_AGENT = {
    "id": "agentAgentflow_0",
    "name": "agentAgentflow",
    "input": {
        "messages": [
            {"role": "system", "content": "You find."},
            {"role": "user", "content": "Find x."},
            {
                "lc": 1,
                "type": "constructor",
                "id": ["langchain_core", "messages", "AIMessageChunk"],
                "kwargs": {
                    "content": "I search.",
                    "tool_calls": [{"id": "call_1", "name": "search", "args": {"q": "x"}}],
                    "usage_metadata": {"input_tokens": 20, "output_tokens": 5, "total_tokens": 25},
                    "response_metadata": {"finish_reason": "tool_calls"},
                },
            },
            {"role": "tool", "content": "some", "tool_call_id": "call_1", "name": "search"},
        ],
        "agentModelConfig": {"modelName": "gpt-4o-mini"},
    },
    "output": {
        "content": "Here it is.",
        "timeMetadata": {"start": START, "end": START + 2_000, "delta": 2_000},
        "calledTools": [],
        "usedTools": FLOWISE_USED[:1],
        "availableTools": [{"name": "search", "description": "Finds.", "schema": {"type": "object"}}],
        "usageMetadata": {
            "input_tokens": 40,
            "output_tokens": 6,
            "total_tokens": 117,
            "tool_call_tokens": 71,
            "total_cost": 0.5,
        },
    },
    "state": {},
}  # fmt: skip
FLOWISE_NODES = [
    {
        "nodeLabel": "Start",
        "data": {"name": "startAgentflow", "input": {"question": "Find x."}, "output": {}},
        "status": "FINISHED",
    },
    {"nodeLabel": "Finder", "data": FLOWISE_AGENT, "status": "FINISHED"},
]
FLOWISE_EXECUTION = {
    "id": "e",
    "executionData": json.dumps(FLOWISE_NODES),
    "state": "FINISHED",
    "agentflowId": "f",
    "sessionId": "s",
    "createdDate": "2025-01-01 12:00:00",
    "updatedDate": "2025-01-01 12:00:02",
}
FLOWISE_CHAT = [
    flowise_message("userMessage", "Find x."),
    flowise_message("apiMessage", "Here it is.", 2, usedTools=json.dumps(FLOWISE_USED)),
]
FLOWISE = [*({**row, "executionId": "e"} for row in FLOWISE_CHAT), FLOWISE_EXECUTION]

#: Seconds by which the times of PromptFlow's calls are behind those of its runs, on a machine an hour and a half behind UTC.
PROMPTFLOW_BEHIND = -5_400


def promptflow_call(
    kind: str, name: str, second: float, *inner: Any, **fields: Any
) -> dict[str, Any]:
    """Return a call that PromptFlow traced, which began some seconds after the run and took one."""
    began = START / 1_000 - PROMPTFLOW_BEHIND + second
    return {
        "name": name,
        "type": kind,
        "inputs": {},
        "output": None,
        "start_time": began,
        "end_time": began + 1,
        "error": None,
        "children": list(inner),
        "node_name": None,
        "parent_id": "",
        "id": f"{name}-{second}",
        "system_metrics": {},
        **fields,
    }  # fmt: skip


def promptflow_answer(content: str | None, reason: str = "stop", **fields: Any) -> dict[str, Any]:
    """Return an answer of OpenAI's API."""
    message = {"role": "assistant", "content": content, **fields}
    return {
        "object": "chat.completion",
        "model": "gpt-4o-mini",
        "choices": [{"index": 0, "finish_reason": reason, "message": message}],
        "usage": {"prompt_tokens": 30, "completion_tokens": 5, "total_tokens": 35},
    }


def promptflow_node(node: str, *calls: Any, **fields: Any) -> dict[str, Any]:
    """Return the run of a node of PromptFlow with the calls that were traced in it."""
    return {
        "node": node,
        "flow_run_id": "r",
        "run_id": f"r_{node}_0",
        "status": "Completed",
        "inputs": {},
        "output": None,
        "error": None,
        "parent_run_id": "r_0",
        "start_time": "2025-01-01T12:00:00.000000Z",
        "end_time": "2025-01-01T12:00:09.000000Z",
        "index": 0,
        "api_calls": [{**call, "node_name": node} for call in calls],
        "cached_run_id": None,
        "system_metrics": {"duration": 9.0},
        **fields,
    }


PROMPTFLOW_ASKED = [
    {"id": "c1", "type": "function", "function": {"name": "search", "arguments": '{"q": "x"}'}}
]
PROMPTFLOW_TOOLS = [{"type": "function", "function": {"name": "search", "parameters": {"type": "object"}}}]  # fmt: skip
_FIRST_ASKED = [{"role": "system", "content": "You find."}, {"role": "user", "content": "Find x."}]
_LAST_ASKED = [
    *_FIRST_ASKED,
    {"role": "assistant", "content": None, "tool_calls": PROMPTFLOW_ASKED},
    {"role": "tool", "tool_call_id": "c1", "content": "some"},
]
PROMPTFLOW_PIECES = [
    {"object": "", "choices": []},
    *(
        {
            "id": "a",
            "object": "chat.completion.chunk",
            "model": "gpt-4o-mini",
            "choices": [{"index": 0, "delta": delta, "finish_reason": reason}],
        }
        for delta, reason in (({"role": "assistant", "content": "Here "}, None), ({"content": "it is."}, "stop"))
    ),
]  # fmt: skip
PROMPTFLOW_NODES = [
    promptflow_node(
        "embed",
        promptflow_call(
            "Function", "embedding", 0,
            promptflow_call("Embedding", "openai_embeddings", 0, inputs={"input": "Find x.", "model": "ada"}, output={"object": "list", "model": "ada", "data": [{"embedding": [0.5]}], "usage": {"prompt_tokens": 3, "total_tokens": 3}}),
        ),
    ),
    promptflow_node(
        "agent",
        promptflow_call(
            "Function", "Agent.run", 1,
            promptflow_call("LLM", "openai_chat", 1, inputs={"messages": _FIRST_ASKED, "tools": PROMPTFLOW_TOOLS}, output=promptflow_answer(None, "tool_calls", tool_calls=PROMPTFLOW_ASKED)),
            promptflow_call("Function", "Agent.search", 2, inputs={"q": "x"}, output="some"),
            promptflow_call("LLM", "openai_chat", 3, inputs={"messages": _LAST_ASKED}, output=PROMPTFLOW_PIECES, system_metrics={"prompt_tokens": 40, "completion_tokens": 2, "total_tokens": 42}),
        ),
    ),
    promptflow_node("title", cached_run_id="earlier"),
]  # fmt: skip
PROMPTFLOW_RUN = {
    "run_id": "r_0",
    "status": "Completed",
    "error": None,
    "inputs": {"question": "Find x."},
    "output": {"answer": "Here it is."},
    "parent_run_id": "r",
    "root_run_id": "r",
    "flow_id": "finder",
    "start_time": "2025-01-01T12:00:00.000000Z",
    "end_time": "2025-01-01T12:00:10.000000Z",
    "index": 0,
    "api_calls": [
        promptflow_call("Flow", "flow", 0, *(call for node in PROMPTFLOW_NODES for call in node["api_calls"]))
    ],
    "system_metrics": {"duration": 10.0, "prompt_tokens": 70, "completion_tokens": 7, "total_tokens": 77},
}  # fmt: skip
PROMPTFLOW = {"flow_runs": [PROMPTFLOW_RUN], "node_runs": PROMPTFLOW_NODES}

EXAMPLES: dict[str, Any] = {"n8n": N8N, "flowise": FLOWISE, "promptflow": PROMPTFLOW}
