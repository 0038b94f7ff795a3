"""ChatGPT's data export: the current branch of a tree of messages, with calls of tools as messages to them."""

from __future__ import annotations

import pytest

from support.trace_examples.chat_apps import CHATGPT_EXPORT
from weighbridge.traces import Step, read_trace, read_traces
from weighbridge.traces.formats.chatgpt_export import IMPORTER
from weighbridge.traces.split import single_traces

NOON = 1_735_732_800 * 10**9  #: 2025-01-01T12:00:00Z
SECOND = 10**9


def conversation(*messages, **fields):
    """Return a conversation of one branch."""
    nodes = {
        str(at): {"parent": str(at - 1) if at else None, "message": message}
        for at, message in enumerate(messages)
    }
    return {"id": "g", "mapping": nodes, "current_node": str(len(messages) - 1), **fields}


def says(role, text, to="all", name=None, **fields):
    content = {"content_type": "text", "parts": [text] if type(text) is str else text}
    return {"author": {"role": role, "name": name}, "content": content, "recipient": to, **fields}


def test_the_current_branch_becomes_steps():
    trace = read_trace(CHATGPT_EXPORT)
    assert (trace.id, trace.metadata) == ("g", {"title": "Find x"})
    assert trace.steps == (
        Step(id="s1", type="user", output="Find x.", started_at=NOON + SECOND // 2),
        Step(id="s2", type="llm", output="I look.", model="gpt-5", ended_at=NOON + SECOND),
        Step(id="call_1", type="tool", parent_id="s2", name="web.run", arguments={"q": "x"}, output="nothing", started_at=NOON + 2 * SECOND, ended_at=NOON + 3 * SECOND),
        Step(id="s4", type="llm", model="gpt-5"),
        Step(id="call_2", type="tool", parent_id="s4", name="python", arguments="find(x)", output="NameError", error="NameError"),
        Step(id="s6", type="llm", output="Not there.", model="gpt-5", ended_at=NOON + 4 * SECOND),
    )  # fmt: skip
    assert set(trace.not_carried) == {
        "messages of other branches (1)",
        "parts of the model's reasoning (1)",
    }


def test_without_a_current_node_the_last_branch_counts():
    value = {key: held for key, held in CHATGPT_EXPORT.items() if key != "current_node"}
    assert read_trace(value).steps[-1].output == "Not there."
    looped = conversation(says("user", "a"), says("assistant", "b"))
    looped["mapping"]["0"]["parent"] = "1"
    assert len(read_trace(looped).steps) == 2


def test_without_links_all_messages_are_read_in_their_order():
    nodes = {name: {"message": says(role, name)} for name, role in (("b", "user"), ("a", "assistant"), ("c", "user"))}  # fmt: skip
    trace = read_trace({"id": "g", "mapping": nodes})
    assert [step.output for step in trace.steps] == ["b", "a", "c"]
    assert trace.not_carried == ()


def test_each_conversation_of_an_export_is_a_trace():
    other = conversation(says("user", "Hi."), says("assistant", "Hello."), conversation_id="h")
    assert [trace.id for trace in read_traces([CHATGPT_EXPORT, other])] == ["g", "h"]
    parts = single_traces([CHATGPT_EXPORT, other])
    assert parts == [("g", CHATGPT_EXPORT), ("h", other)]


def test_results_belong_to_the_call_of_their_tool():
    trace = read_trace(
        conversation(
            *(says("user", "Do both."), says("assistant", "a", "python"), says("assistant", "b", "web")),
            *(says("tool", "", name="web.run"), says("tool", "of b", name="web.run")),
            *(says("tool", "of a", name="python"), says("tool", "more of a", name="python")),
            says("assistant", "Done."),
        )
    )  # fmt: skip
    assert [(step.name, step.output) for step in trace.steps_of("tool")] == [
        *(("python", "of a"), ("web", "of b"))
    ]
    assert len(trace.steps_of("llm")) == 3
    assert trace.not_carried == ("further messages of a tool (1)",)
    assert "tool_calls" not in trace.missing


def test_a_result_without_a_call_makes_the_calls_incomplete():
    trace = read_trace(
        conversation(
            says("user", "x"), says("tool", "found", name="web"), says("assistant", "Yes.")
        )
    )
    assert trace.missing["tool_calls"] == "the calls of 1 result are not recorded"


def test_parts_that_are_no_text_and_notes_for_the_model_are_noted():
    image = {"content_type": "image_asset_pointer", "asset_pointer": "x"}
    context = {**says("user", ""), "content": {"content_type": "user_editable_context"}}
    trace = read_trace(
        conversation(
            context, says("user", ["See", image]), says("assistant", ["Yes", {"text": "."}])
        )
    )
    assert [step.output for step in trace.steps] == ["See\n[image]", "Yes\n."]
    assert set(trace.not_carried) == {
        "content parts of type 'image_asset_pointer' (1)",
        "messages of type 'user_editable_context' (1)",
    }


@pytest.mark.parametrize(
    "value",
    [
        {"mapping": {}},
        {"mapping": {"a": 1}},
        {"mapping": {"a": {"message": None}}},
        {"mapping": {"a": {"message": {"role": "user"}}}},
        [],
        [CHATGPT_EXPORT, 1],
    ],
)
def test_other_values_are_not_claimed(value):
    assert not IMPORTER.matches(value)
