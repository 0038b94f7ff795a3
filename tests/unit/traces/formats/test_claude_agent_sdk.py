"""Messages of the Claude Agent SDK, in the forms in which programs store its dataclasses."""

from __future__ import annotations

import pytest

from support.trace_examples.vendor_sdks import CLAUDE_AGENT_SDK
from weighbridge.traces import Step, Usage, read_trace
from weighbridge.traces.formats.claude_agent_sdk import IMPORTER
from weighbridge.traces.split import opens_session, session_id

NAMES = ["SystemMessage", *["AssistantMessage"] * 4, *["UserMessage"] * 2, "AssistantMessage"]
NAMED = list(zip([*NAMES, "ResultMessage"], CLAUDE_AGENT_SDK, strict=True))
BLOCKS = {"text": "TextBlock", "thinking": "ThinkingBlock", "input": "ToolUseBlock", "tool_use_id": "ToolResultBlock"}  # fmt: skip


def with_named_blocks(message):
    if type(message.get("content")) is not list:
        return message
    blocks = [
        {"_type": next(BLOCKS[key] for key in BLOCKS if key in block), **block}
        for block in message["content"]
    ]
    return {**message, "content": blocks}


@pytest.mark.parametrize(
    "messages",
    [
        CLAUDE_AGENT_SDK,
        [{"_type": name, **message} for name, message in NAMED],
        [{"type": name, **with_named_blocks(message)} for name, message in NAMED],
        [{"_type": f"claude_agent_sdk.types.{name}", **message} for name, message in NAMED],
        [{"kind": name, "timestamp": None, "data": message} for name, message in NAMED],
    ],
)
def test_messages_become_steps(messages):
    trace = read_trace(messages)
    assert trace.format == "claude-agent-sdk"
    assert trace.steps == (
        Step(id="s1", type="llm", model="m", output="I look."),
        Step(id="c1", type="tool", parent_id="s1", name="Bash", arguments={"command": "ls"}, output="a.py"),
        Step(id="c2", type="tool", parent_id="s1", name="Bash", arguments={"command": "pwd"}, output="no such folder", error="no such folder"),
        Step(id="s4", type="llm", model="m", output="Done."),
    )  # fmt: skip
    assert (trace.id, trace.usage, trace.cost_usd) == ("s", Usage(10, 5), 0.01)
    assert [tool.name for tool in trace.tools] == ["Bash"]


def test_lines_are_one_session():
    assert opens_session(CLAUDE_AGENT_SDK[0])
    assert opens_session(CLAUDE_AGENT_SDK[1])
    assert session_id(CLAUDE_AGENT_SDK) == "s"


def test_times_beside_the_messages_are_theirs():
    messages = [
        {"_type": name, "timestamp": f"2025-01-01T12:00:0{second}Z", "data": message}
        for second, (name, message) in enumerate(NAMED)
    ]
    trace = read_trace(messages)
    assert trace.steps[-1].ended_at == 1_735_732_807 * 10**9


def test_an_answer_with_an_id_is_one_whatever_stands_between():
    first, second = ({"message_id": "m1", **CLAUDE_AGENT_SDK[at]} for at in (3, 4))
    result = CLAUDE_AGENT_SDK[5]
    trace = read_trace([CLAUDE_AGENT_SDK[0], first, result, second])
    assert [step.type for step in trace.steps] == ["llm", "tool", "tool"]
    trace = read_trace([CLAUDE_AGENT_SDK[0], CLAUDE_AGENT_SDK[3], result, CLAUDE_AGENT_SDK[4]])
    assert [step.type for step in trace.steps] == ["llm", "tool", "llm", "tool"]


@pytest.mark.parametrize(
    "value",
    [
        [{"type": "AssistantMessage", "content": "hi", "source": "a"}],
        [{"type": "AssistantMessage", "content": [{"id": "c", "name": "f", "arguments": "{}"}], "source": "a"}],
        [{"content": [{"text": "hi"}], "model": "m"}],
        [{"content": [{"text": "hi"}], "role": "assistant", "model": "m", "parent_tool_use_id": None}],
        [{"_type": "AssistantMessage", "content": [3]}],
        [{"_type": "AssistantMessage"}],
        [{"_type": ["AssistantMessage"], "content": []}, 3],
    ],
)  # fmt: skip
def test_other_messages_are_not_claimed(value):
    assert not IMPORTER.matches(value)
