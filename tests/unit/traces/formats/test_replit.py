"""Transcripts of Replit's agent, whose lines are parts of one conversation."""

from __future__ import annotations

import pytest

from support.trace_examples.editor_agents import REPLIT
from weighbridge.traces import Step, read_trace
from weighbridge.traces.split import opens_session, single_traces


def test_the_lines_of_a_transcript_are_one_trace_with_a_model_call_for_each_answer():
    trace = read_trace(REPLIT)
    assert trace.format == "replit"
    assert trace.steps == (
        Step(id="s1", type="user", output="Find x."),
        Step(id="s2", type="llm", output="I look."),
        Step(
            id="s3",
            type="tool",
            parent_id="s2",
            name="bash",
            arguments={"command": "ls"},
            output="b.md",
        ),
        Step(
            id="s4",
            type="tool",
            parent_id="s2",
            name="read",
            arguments={"file_path": "a.md"},
            output="no a.md",
            error="no a.md",
        ),
        Step(id="s5", type="llm"),
        Step(
            id="s6",
            type="tool",
            parent_id="s5",
            name="read",
            arguments={"file_path": "b.md"},
            output="x",
        ),
        Step(id="s7", type="llm", output="It is in b.md."),
    )


def test_two_texts_of_an_answer_are_two_model_calls():
    said = {"role": "assistant", "content": "Hm."}
    line = {"memory_id": 9, "messages": [said, said]}
    assert len(read_trace([*REPLIT[:2], line]).steps_of("llm")) == 3


def test_each_line_opens_a_session():
    assert all(map(opens_session, REPLIT))


WHOLE = {"messages": [*REPLIT[0]["messages"], *REPLIT[1]["messages"]]}


@pytest.mark.parametrize(
    "lines",
    [
        [{"memory_id": 1, **WHOLE}, {"memory_id": 2, **WHOLE}],
        [{**REPLIT[0], "memory_id": 2}, {**REPLIT[1], "memory_id": 1}],
        [{**REPLIT[0], "memory_id": "1"}, {**REPLIT[1], "memory_id": "2"}],
        [{**REPLIT[0], "memory_id": 1}, {**REPLIT[0], "memory_id": 2}],
        [{**line, "topic": "x"} for line in REPLIT],
    ],
    ids=["whole conversations", "falling numbers", "texts", "questions alone", "other fields"],
)
def test_lines_that_may_be_conversations_of_their_own_are_not_joined(lines):
    assert len(single_traces(lines)) == len(lines)
