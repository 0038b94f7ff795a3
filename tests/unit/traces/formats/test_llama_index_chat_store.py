"""LlamaIndex's `SimpleChatStore`: each chat is a trace, with lower bounds where its memory has no calls."""

from __future__ import annotations

import pytest

from support.trace_examples.agent_frameworks import LLAMA_INDEX_CHATS
from weighbridge.errors import UnknownTraceFormatError
from weighbridge.traces import read_traces
from weighbridge.traces.recognition import recognised
from weighbridge.traces.split import single_traces


def test_each_chat_with_messages_is_a_trace():
    anna, ben = read_traces(LLAMA_INDEX_CHATS)
    assert (anna.id, ben.id) == ("anna", "ben")
    assert [(step.type, step.output) for step in anna.steps] == [
        ("user", "Find x."),
        ("llm", "It is there."),
    ]
    assert [name for name, _ in single_traces(LLAMA_INDEX_CHATS) or ()] == ["anna", "ben"]


def test_the_calls_of_a_function_agent_are_read_in_either_form_of_content():
    _, ben = read_traces(LLAMA_INDEX_CHATS)
    [call] = ben.steps_of("tool")
    assert (call.name, call.arguments, call.output) == ("search", {"q": "y"}, "none")
    assert len(ben.steps_of("llm")) == 2


def test_what_a_memory_does_not_keep_leaves_lower_bounds():
    anna, ben = read_traces(LLAMA_INDEX_CHATS)
    assert "between a question and its answer" in anna.missing["llm_calls"]
    assert "ReAct" in anna.missing["tool_calls"]
    assert "llm_calls" in ben.missing
    assert "tool_calls" not in ben.missing


@pytest.mark.parametrize(
    "changed",
    [{"class_name": "VectorStore"}, {"store": {}}, {"store": {"a": []}}, {"store": {"a": [{"x": 1}]}}],
)  # fmt: skip
def test_another_store_is_none_of_chats(changed):
    found = recognised({**LLAMA_INDEX_CHATS, **changed})
    assert found is None or found.importer.id != "llama-index-chat-store"


def test_a_saved_memory_has_the_chats_of_its_store():
    memory = {"chat_store": LLAMA_INDEX_CHATS, "chat_store_key": "anna", "token_limit": 9}
    assert read_traces({**memory, "class_name": "ChatMemoryBuffer"}) == read_traces(
        LLAMA_INDEX_CHATS
    )
    assert single_traces(memory) == single_traces(LLAMA_INDEX_CHATS)


@pytest.mark.parametrize(
    "bare",
    [
        {"version": 2, "state": {"state_data": {}}, "is_running": False, "workers": {}},
        {"class_name": "Memory", "session_id": "s", "token_flush_size": 9},
    ],
)
def test_a_context_or_a_memory_without_messages_is_no_trace_and_the_hint_says_what_is(bare):
    with pytest.raises(UnknownTraceFormatError) as raised:
        read_traces(bare)
    assert "memory.get_all()" in raised.value.hint
