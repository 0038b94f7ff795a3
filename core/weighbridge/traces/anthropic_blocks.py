"""Anthropic's content blocks as chat messages: tool calls and their results out of the blocks that hold them."""

from __future__ import annotations

from typing import Any

from weighbridge.traces.conversation import Facts
from weighbridge.traces.model import Usage
from weighbridge.traces.reading import Notes, count_of, string_of, usage_of

_CALLS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
_RESULT_SUFFIX = "tool_result"  #: tool_result, mcp_tool_result, web_search_tool_result, ...
_REASONING = frozenset({"thinking", "redacted_thinking"})


class Blocks:
    """Collects messages of blocks as chat messages, and what is known beside them."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []
        self.of_message: dict[int, Facts] = {}
        self.of_call: dict[int, Facts] = {}
        self.notes = Notes()
        self._calls = 0

    def add(self, message: Any, time: int | None = None, cost_usd: float | None = None) -> None:
        """Add a message that was written down at a time; its tool results become messages of their own."""
        role = message.get("role") if type(message) is dict else None
        if type(role) is not str:
            raise TypeError(f"message {len(self.messages) + 1} is no object with a role")
        content = message.get("content")
        if type(content) is dict:
            content = [content]
        if type(content) is not list:
            self._say(message, role, content, time, cost_usd)
            return
        calls, results, said = self._sorted(content)
        if calls:
            role = "assistant"  # whoever is said to have made them: no call may hide
        if role == "assistant":
            self._say(message, role, said or None, time, cost_usd, calls)
        for block in results:
            self._result(block, time)
        if role != "assistant" and (said or not results):
            self._say(message, role, said, time, cost_usd)

    def _sorted(self, content: list[Any]) -> tuple[list[Any], list[Any], list[Any]]:
        """Return the calls, the results, and what is said, out of a message's blocks."""
        calls, results, said = [], [], []
        for block in content:
            kind = (string_of(block.get("type")) if type(block) is dict else None) or ""
            if kind in _CALLS:
                calls.append(block)
            elif kind.endswith(_RESULT_SUFFIX):
                results.append(block)
            elif kind in _REASONING:
                self.notes.add("thinking blocks")
            else:
                said.append(block)
        return calls, results, said

    def _say(
        self,
        message: dict[str, Any],
        role: str,
        content: Any,
        time: int | None,
        cost_usd: float | None,
        calls: list[Any] | None = None,
    ) -> None:
        by_model = role == "assistant"
        self.of_message[len(self.messages)] = Facts(
            model=string_of(message.get("model")),
            usage=read_usage(message.get("usage")) if by_model else None,
            cost_usd=cost_usd,
            started_at=None if by_model else time,
            ended_at=time if by_model else None,
        )
        for _ in calls or ():
            self.of_call[self._calls] = Facts(started_at=time)
            self._calls += 1
        told = {"role": role, "content": content, "id": message.get("id")}
        told["tool_calls"] = [
            {"id": call.get("id"), "name": call.get("name"), "arguments": call.get("input")}
            for call in calls or ()
        ]
        self.messages.append(told)

    def _result(self, block: dict[str, Any], time: int | None) -> None:
        content = block.get("content")
        code = content.get("error_code") if type(content) is dict else None
        self.of_message[len(self.messages)] = Facts(ended_at=time)
        self.messages.append(
            {
                "role": "tool",
                "content": content,
                "tool_call_id": block.get("tool_use_id"),
                "error": string_of(code) or block.get("is_error") is True,
            }
        )


def read_usage(value: Any) -> Usage | None:
    """Return the token counts of an Anthropic `usage` object, whose input tokens are without the cached ones."""
    if type(value) is not dict:
        return None
    sent, read, written = (
        count_of(value.get(name))
        for name in ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    )
    if sent is not None:
        sent += (read or 0) + (written or 0)
    return usage_of(sent, value.get("output_tokens"), None, read)
