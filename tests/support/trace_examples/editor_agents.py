"""Coding agents of editors and notebooks: Cline, Continue, Zed, Cursor and the like."""

from __future__ import annotations

from typing import Any


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


CLINE_SESSION = _cline_session()


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

CURSOR_EXPORT = """# Find x
_Exported on 1/2/2026 at 12:00:00 GMT+1 from Cursor (2.4.1)_

---

**User**

Find x.

---

**Cursor**

I search. **Cursor** says:

---

It is not there.

```html
<!DOCTYPE html>
```

---

**User**

Search again.

---

**Cursor**

Still not.
"""

OPENCODE_EXPORT = """# Find x

**Session ID:** ses_1
**Created:** 1/2/2026, 12:00:00 PM
**Updated:** 1/2/2026, 12:01:00 PM

---

## User

Find x.

---

## Assistant (Build · Model A · 1.5s)

_Thinking:_

Where is it?

I look.

**Tool: bash**

**Input:**
```json
{
  "command": "cat a.md",
  "description": "Read\\n```\\n"
}
```

**Output:**
```
# a

```sh
make
```

**Tool: x**
```

**Tool: edit**

**Input:**
```json
{}
```

**Error:**
```
No changes to apply.
```

---

## Assistant (Build · Model A · 2.0s)

**Tool: task**

---

## Assistant

It is not there.

---

## User

Is it?
---

"""

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

REPLIT = [
    {"memory_id": 7, "messages": [{"role": "user", "content": [{"type": "text", "text": "Find x."}]}]},
    {
        "memory_id": 8,
        "messages": [
            {"role": "assistant", "content": [{"type": "text", "text": "I look."}]},
            {
                "role": "assistant",
                "content": [],
                "tool_calls": [
                    {"type": "tool", "name": "bash", "arguments": {"command": "ls"}},
                    {"type": "tool", "name": "read", "arguments": {"file_path": "a.md"}},
                ],
            },
            {"role": "tool", "content": [{"type": "text", "text": "b.md"}]},
            {"role": "tool", "is_error": True, "content": [{"type": "text", "text": "no a.md"}]},
        ],
    },
    {
        "memory_id": 10,
        "messages": [
            {"role": "assistant", "content": [], "tool_calls": [{"type": "tool", "name": "read", "arguments": {"file_path": "b.md"}}]},
            {"role": "tool", "content": [{"type": "text", "text": "x"}]},
        ],
    },
    {"memory_id": 11, "messages": [{"role": "assistant", "content": [{"type": "text", "text": "It is in b.md."}]}]},
]  # fmt: skip

EXAMPLES: dict[str, Any] = {
    "replit": REPLIT,
    "cline": CLINE,
    "continue": CONTINUE,
    "zed": ZED,
    "antigravity": ANTIGRAVITY,
    "cursor-transcript": CURSOR_TRANSCRIPT,
    "cursor-export": {"cursor_export": CURSOR_EXPORT},
    "opencode-export": {"opencode_export": OPENCODE_EXPORT},
    "specstory": {"specstory_history": SPECSTORY_HISTORY},
    "jupyter-chat": JUPYTER_CHAT,
}
