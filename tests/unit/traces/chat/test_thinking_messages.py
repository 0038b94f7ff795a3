"""Chats whose converter wrote each block of an answer as a message."""

from __future__ import annotations

import pytest

from weighbridge.traces import Usage, read_trace

CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}


def said(content, **more):
    return {"role": "assistant", "content": content, **more}


THOUGHT = said("<thinking>\nWhere is it?\n</thinking>")
BLOCKS = [
    {"role": "user", "content": "Find it."},
    THOUGHT,
    said("I look."),
    said(None, tool_calls=[CALL]),
    {"role": "tool", "tool_call_id": "c1", "content": "Here."},
    THOUGHT,
    said("It is here.", usage={"prompt_tokens": 5, "completion_tokens": 2}),
]


def test_the_blocks_of_an_answer_are_one_model_call():
    trace = read_trace(BLOCKS)
    assert [step.type for step in trace.steps] == ["user", "llm", "tool", "llm"]
    first, last = trace.steps_of("llm")
    assert first.output == "<thinking>\nWhere is it?\n</thinking>\nI look."
    assert trace.steps[2].parent_id == first.id
    assert last.usage == Usage(5, 2)


def test_reasoning_directly_after_an_answer_begins_another():
    assert len(read_trace([*BLOCKS, THOUGHT, said("Still.")]).steps_of("llm")) == 3


@pytest.mark.parametrize(
    "thought",
    [said("<thinking>Hm.</thinking> I look."), said("Hm."), said("<thinking>Hm.")],
    ids=["with a text", "without tags", "not closed"],
)
def test_without_a_message_of_reasoning_alone_each_message_is_an_answer(thought):
    chat = [BLOCKS[0], thought, said("I look."), said("It is here.")]
    assert len(read_trace(chat).steps_of("llm")) == 3


@pytest.mark.parametrize("name", ["name", "model", "id", "timestamp"])
def test_messages_of_which_something_else_is_recorded_stay_apart(name):
    chat = [BLOCKS[0], {**THOUGHT, name: "a"}, said("I look.", **{name: "b"})]
    assert len(read_trace(chat).steps_of("llm")) == 2


def test_only_one_text_and_calls_follow_reasoning_in_an_answer():
    texts = [said(f"I look at {at}.") for at in range(4)]
    assert len(read_trace([BLOCKS[0], THOUGHT, *texts]).steps_of("llm")) == 4
    used = {"prompt_tokens": 10, "completion_tokens": 5}
    steps = read_trace([BLOCKS[0], {**THOUGHT, "usage": used}, said("x", usage=used)]).steps_of(
        "llm"
    )
    assert [step.usage for step in steps] == [Usage(10, 5), Usage(10, 5)]
