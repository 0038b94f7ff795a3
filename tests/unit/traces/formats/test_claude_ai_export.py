"""Claude's data export: turns of the assistant with calls and results among their blocks."""

from __future__ import annotations

import pytest

from support.trace_examples.chat_apps import CLAUDE_AI_EXPORT
from weighbridge.traces import Step, read_trace
from weighbridge.traces.formats.claude_ai_export import IMPORTER
from weighbridge.traces.split import single_traces

NOON = 1_735_732_800 * 10**9  #: 2025-01-01T12:00:00Z
SECOND = 10**9


def test_the_last_branch_becomes_steps():
    trace = read_trace(CLAUDE_AI_EXPORT)
    assert (trace.id, trace.metadata) == ("k", {"title": "Find x"})
    assert trace.steps == (
        Step(id="s1", type="user", output="Find x.", started_at=NOON),
        Step(id="s2", type="llm", output="I look.", started_at=NOON + SECOND, ended_at=NOON + 9 * SECOND),
        Step(id="t1", type="tool", parent_id="s2", name="web_search", arguments={"query": "x"}, output="nothing", started_at=NOON + 4 * SECOND),
        Step(id="t2", type="tool", parent_id="s2", name="view", arguments={"path": "x"}, output="no such file", error="no such file"),
        Step(id="s5", type="llm", output="Not there.", started_at=NOON + 8 * SECOND, ended_at=NOON + 9 * SECOND),
    )  # fmt: skip
    assert set(trace.not_carried) == {
        *("attached files (1)", "messages of other branches (1)"),
        *("blocks of type 'token_budget' (2)", "parts of the model's reasoning (1)"),
    }


def test_conversations_in_an_object_are_read_as_those_in_a_list():
    named = {**CLAUDE_AI_EXPORT, "uuid": "k2"}
    held = {"conversations": [CLAUDE_AI_EXPORT, named]}
    assert [name for name, _ in single_traces(held)] == ["k", "k2"]
    assert [trace.id for trace in IMPORTER.read(held)] == ["k", "k2"]
    damaged = {"conversations": [*[CLAUDE_AI_EXPORT] * 20, None, {"chat_messages": 5}]}
    assert len(IMPORTER.read(damaged)) == 21
    assert not IMPORTER.matches({"conversations": []})


def test_messages_with_a_text_alone_and_no_links_are_all_read():
    messages = [
        {"sender": "human", "text": "Hi."},
        {"sender": "assistant", "text": "Hello.", "content": [{"type": "text", "text": ""}]},
        {"sender": "human", "text": "Bye."},
    ]
    trace = read_trace({"uuid": "a", "chat_messages": messages})
    assert [(step.type, step.output) for step in trace.steps] == [
        *(("user", "Hi."), ("llm", "Hello."), ("user", "Bye."))
    ]


def test_an_answer_without_content_is_a_model_call():
    messages = [
        {"sender": "human", "text": "Hi."},
        {"sender": "assistant", "text": "", "content": []},
    ]
    trace = read_trace({"chat_messages": messages})
    assert [(step.type, step.output) for step in trace.steps] == [("user", "Hi."), ("llm", None)]
    assert trace.not_carried == ("answers without content (1)",)


def test_links_in_a_ring_are_no_branch():
    ring = [
        {"sender": "human", "text": "a", "uuid": "1", "parent_message_uuid": "2"},
        {"sender": "assistant", "text": "b", "uuid": "2", "parent_message_uuid": "1"},
    ]
    assert len(read_trace({"chat_messages": ring}).steps) == 2


def test_each_conversation_of_an_export_is_a_trace():
    other = {"uuid": "l", "chat_messages": []}
    assert [held for held, _ in single_traces([CLAUDE_AI_EXPORT, other])] == ["k", "l"]


@pytest.mark.parametrize(
    "value", [{"chat_messages": {}}, {"chat_messages": [{"sender": "bot"}]}, [CLAUDE_AI_EXPORT, 1]]
)
def test_other_values_are_not_claimed(value):
    assert not IMPORTER.matches(value)


def test_messages_that_are_null_are_left_out():
    messages = CLAUDE_AI_EXPORT["chat_messages"]
    trace = read_trace(CLAUDE_AI_EXPORT | {"chat_messages": [None, *messages]})
    assert trace.steps == read_trace(CLAUDE_AI_EXPORT).steps
    assert "messages that are no objects (1)" in trace.not_carried
