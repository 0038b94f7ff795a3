"""DeepSeek's data export: the last branch of a tree of messages, each of a turn's fragments."""

from __future__ import annotations

import pytest

from support.trace_examples.chat_apps import DEEPSEEK_EXPORT
from weighbridge.errors import TraceError
from weighbridge.traces import Counts, Step, read_trace, read_traces
from weighbridge.traces.split import single_traces

NOON = 1_735_732_800 * 10**9  #: 2025-01-01T12:00:00Z


def conversation(*fragments, **fields):
    """Return a conversation of one message."""
    message = {"model": "m", "inserted_at": None, "fragments": [*fragments]}
    return {"id": "d", "mapping": {"1": {"parent": None, "message": message}}, **fields}


def fragment(kind, content=None, **fields):
    return {"type": kind, "content": content, **fields}


def test_the_last_branch_becomes_steps_with_an_answer_after_each_round_of_tools():
    trace = read_trace(DEEPSEEK_EXPORT)
    assert (trace.format, trace.id, trace.metadata) == ("deepseek-export", "d", {"title": "Find x"})
    found = [{"url": "https://x.example", "title": "X"}]
    assert trace.steps == (
        Step(id="s1", type="user", output="Find x.", started_at=NOON),
        Step(id="s2", type="llm", model="deepseek-chat", started_at=NOON),
        Step(id="call_1", type="tool", parent_id="s2", name="tool_search", output=found),
        Step(id="s4", type="llm", model="deepseek-chat"),
        Step(id="s5", type="llm", output="It is there.", model="deepseek-chat"),
    )
    assert trace.counts == Counts(tool_calls=3)
    assert (
        trace.missing["tool_calls"]
        == "the list of fragments states 3 tool calls, of which 1 were read"
    )
    assert set(trace.not_carried) == {
        "fragments of type 'FILE' (1)",
        "messages of other branches (1)",
        "parts of the model's reasoning (3)",
        "uses of 'TOOL_OPEN' without arguments and results (2)",
    }


def test_searches_in_a_row_are_calls_of_one_answer():
    searches = [fragment("TOOL_SEARCH", results=[number]) for number in range(2)]
    trace = read_trace(conversation(*searches, fragment("RESPONSE", "So."), fragment("RESPONSE", "And.")))  # fmt: skip
    assert [(step.type, step.output) for step in trace.steps] == [
        ("llm", None),
        ("tool", [0]),
        ("tool", [1]),
        ("llm", "So.\nAnd."),
    ]
    assert trace.counts is None
    assert "tool_calls" not in trace.missing


def test_each_conversation_of_an_export_in_which_something_was_said_is_a_trace():
    other = conversation(fragment("REQUEST", "Hi."), fragment("RESPONSE", "Hello."), id="e")
    empty = {"id": "f", "mapping": {"root": {"parent": None, "message": None}}}
    assert [trace.id for trace in read_traces([empty, DEEPSEEK_EXPORT, other])] == ["d", "e"]
    parts = single_traces([empty, DEEPSEEK_EXPORT, other])
    assert parts == [("d", DEEPSEEK_EXPORT), ("e", other)]


@pytest.mark.parametrize(
    "said", [[], [fragment("FILE")], [fragment("REQUEST_2", "x")], ["x"], None]
)
def test_a_conversation_without_steps_is_left_out_of_an_export_however_it_is_read(said):
    other = conversation(id="e")
    other["mapping"]["1"]["message"]["fragments"] = said
    export = [DEEPSEEK_EXPORT, other]
    assert [trace.id for trace in read_traces(export)] == ["d"]
    assert single_traces(export) == [("d", DEEPSEEK_EXPORT)]


@pytest.mark.parametrize("before", [0, 30])
def test_a_conversation_of_which_only_a_late_message_has_a_step_is_a_trace_however_it_is_read(
    before,
):
    other = conversation(fragment("TOOL_SEARCH", results=[]), id="e")
    empty = {"parent": None, "message": {"fragments": [fragment("FILE")] * 30}}
    other["mapping"] = {f"f{number}": empty for number in range(before)} | other["mapping"]
    export = [DEEPSEEK_EXPORT, other]
    assert [trace.id for trace in read_traces(export)] == ["d", "e"]
    assert single_traces(export) == [("d", DEEPSEEK_EXPORT), ("e", other)]
    assert read_trace(other).id == "e"


@pytest.mark.parametrize(
    "value",
    [
        [],
        {"mapping": {"1": {"message": {"fragments": [{"type": "paragraph"}]}}}},
        {"mapping": {"1": {"fragments": [fragment("REQUEST", "Hi.")]}}},
        {"mapping": [conversation()]},
        [conversation(fragment("REQUEST", "Hi.")), {"other": 1}],
    ],
)
def test_other_trees_are_left_alone(value):
    with pytest.raises(TraceError, match="not a recognised trace format"):
        read_traces(value)
