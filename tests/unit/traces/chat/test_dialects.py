"""Dialects of chat messages, each of which is known by its fields."""

from __future__ import annotations

import pytest

from weighbridge.traces.chat.dialects import Dialect, without_dialects
from weighbridge.traces.formats.openai_chat import DIALECTS

CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
ACTIONS = {"name": "AgentOutput", "arguments": {"action": [{"click": {"index": 1}}]}}
STEP = [{"type": "step-start"}, {"type": "text", "text": "hi"}]


def answer(**fields):
    return {"role": "assistant", **fields}


#: A chat for each of the fields by which the dialects are known.
CHATS = [
    [answer(blocks=[{"block_type": "text", "text": "hi"}])],
    [answer(content="hi", skillExecutions=[{"slug": "find", "callId": "c"}])],
    [answer(content="hi", metadata={"model": "m"})],
    [answer(content="hi", meta={"model": "m"})],
    [answer(content=None, tool_calls=[{"id": "c", "function": ACTIONS}])],
    [answer(content=None, parts=[*STEP, *STEP])],
    [{"role": "tool", "tool_responses": [{"tool_call_id": "c", "content": "1"}]}],
    [answer(content={"type": "text", "text": "hi"}), answer(content={"type": "tool_use"})],
    [answer(content="hi", timestamp=1), answer(content=None, timestamp=1, tool_calls=[CALL])],
    [answer(content="hi", _metadata={"timestamp": 1})],
]


def without(fields, messages):
    return [
        {name: item for name, item in message.items() if name not in fields} for message in messages
    ]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_conversion_changes_only_messages_with_the_fields_of_its_dialect(dialect):
    assert any(dialect.converted(chat) != chat for chat in CHATS)
    others = [without(dialect.fields, chat) for chat in CHATS]
    assert [dialect.converted(chat) for chat in others] == others


def test_messages_are_converted_from_dialects_of_which_they_have_a_field_then_or_after_a_conversion():
    told = [{"role": "user", "a": 1}, "no object"]
    other = Dialect(frozenset({"b", "x"}), lambda messages: messages[:0])
    renamed = Dialect(frozenset({"a", "x"}), lambda messages: [{"b": 1}, *messages[1:]])
    longer = Dialect(frozenset({"b"}), lambda messages: [*messages, {"c": 1}])
    assert without_dialects(told, [other, renamed, longer]) == [{"b": 1}, "no object", {"c": 1}]
    assert without_dialects(told, [other, longer]) is told
