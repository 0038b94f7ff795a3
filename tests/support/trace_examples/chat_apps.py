"""Exports of applications in which people chat with a model: ChatGPT, Claude, Grok, Open WebUI and the like."""

from __future__ import annotations

from typing import Any

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


def _lm_studio_block(made: str, *content: dict[str, Any], **fields: Any) -> dict[str, Any]:
    shared = {"defaultShouldIncludeInContext": True, "shouldIncludeInContext": True}
    return {"type": "contentBlock", "stepIdentifier": made, "content": [*content], **shared, **fields}  # fmt: skip


def _lm_studio_stated(sent: int, made: int, reason: str = "eosFound") -> dict[str, Any]:
    stats = {"stopReason": reason, "totalTimeSec": 0.5, "promptTokensCount": sent, "predictedTokensCount": made, "totalTokensCount": sent + made}  # fmt: skip
    return {"identifier": "m", "indexedModelIdentifier": "org/m", "stats": stats}


LM_STUDIO = {
    "name": "Listing",
    "createdAt": 1735732700000,
    "systemPrompt": "Be brief.",
    "messages": [
        {"versions": [{"type": "singleStep", "role": "user", "content": [{"type": "text", "text": "List."}]}], "currentlySelected": 0},
        {
            "versions": [
                {"type": "multiStep", "role": "assistant", "senderInfo": {"senderName": "m"}, "steps": [_lm_studio_block("1735732790000-0.1", {"type": "text", "text": "No."})]},
                {"type": "multiStep", "role": "assistant", "senderInfo": {"senderName": "m"}, "steps": [
                    _lm_studio_block("1735732801000-0.1", {"type": "text", "text": "A listing."}, style={"type": "thinking", "ended": True}, prefix="<think>", suffix="</think>"),
                    _lm_studio_block("1735732801100-0.1", {"type": "text", "text": "I "}, {"type": "text", "text": "look."}, genInfo=_lm_studio_stated(10, 3, "toolCalls")),
                    _lm_studio_block("1735732801200-0.1", {"type": "toolCallRequest", "callId": 7, "toolCallRequestId": "r7", "name": "ls", "parameters": {"path": "."}, "pluginIdentifier": "mcp/files"}),
                    {"type": "toolStatus", "stepIdentifier": "1735732801300-0.1", "callId": 7, "statusState": {"status": {"type": "toolCallSucceeded", "timeMs": 90}}},
                    _lm_studio_block("1735732802000-0.1", {"type": "toolCallResult", "callId": 7, "toolCallRequestId": "r7", "content": '[{"type":"text","text":"a.md"}]'}, roleOverride="tool"),
                    _lm_studio_block("1735732803000-0.1", {"type": "text", "text": "One file."}, genInfo=_lm_studio_stated(20, 4)),
                    {"type": "debugInfoBlock", "stepIdentifier": "1735732804000-0.1", "debugInfo": "named"},
                ]},
            ],
            "currentlySelected": 1,
        },
    ],
    "lastUsedModel": {"identifier": "m"},
}  # fmt: skip


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

EXAMPLES: dict[str, Any] = {
    "ai-studio": AI_STUDIO,
    "chatgpt-export": CHATGPT_EXPORT,
    "claude-ai-export": CLAUDE_AI_EXPORT,
    "deepseek-export": DEEPSEEK_EXPORT,
    "grok-export": GROK_EXPORT,
    "lm-studio": LM_STUDIO,
    "open-webui": OPEN_WEBUI,
}
