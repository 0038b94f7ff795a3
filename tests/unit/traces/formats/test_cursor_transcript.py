"""Transcripts that Cursor keeps of its agents."""

from __future__ import annotations

import pytest

from support.trace_examples.editor_agents import CURSOR_TRANSCRIPT
from weighbridge.graders import default_registry
from weighbridge.traces import Step, read_trace
from weighbridge.traces.split import opens_session

REQUEST, LOOKS = CURSOR_TRANSCRIPT[:2]


def answer(*parts):
    return {"role": "assistant", "message": {"content": list(parts)}}


def text(words):
    return {"type": "text", "text": words}


def call(name, **given):
    return {"type": "tool_use", "name": name, "input": given}


def test_lines_become_steps():
    trace = read_trace(CURSOR_TRANSCRIPT)
    assert opens_session(REQUEST)
    assert trace.steps == (
        Step(id="s1", type="user", output="<user_query>\nFind x.\n</user_query>"),
        Step(id="s2", type="llm", output="I look."),
        Step(id="s3", type="tool", parent_id="s2", name="Read", arguments={"path": "a.md"}),
        Step(id="s4", type="llm"),
        Step(id="s5", type="tool", parent_id="s4", name="Grep", arguments={"pattern": "x"}),
        Step(id="s6", type="tool", parent_id="s4", name="Glob", arguments={}),
        Step(id="s7", type="llm", output="Not there."),
    )
    assert trace.not_carried == ("parts of the model's reasoning (2)",)
    assert "tool_calls" not in trace.missing


def test_an_answer_that_another_one_follows_had_a_call():
    lines = [REQUEST, *[answer(text("[REDACTED]"))] * 3, answer(text("Done."))]
    trace = read_trace(lines)
    assert trace.missing["tool_calls"] == "the transcript leaves out the calls of 3 answers"
    assert [step.output for step in trace.steps] == [REQUEST["message"]["content"][0]["text"], None, None, None, "Done."]  # fmt: skip


@pytest.mark.parametrize("between", [REQUEST, {"type": "turn_ended", "status": "success"}])
def test_an_answer_may_end_a_turn(between):
    trace = read_trace([REQUEST, answer(text("Hello.")), between, answer(text("Bye."))])
    assert "tool_calls" not in trace.missing


@pytest.mark.parametrize(
    ("end", "error"),
    [
        ({"status": "success"}, None),
        ({"status": "aborted", "error": "User aborted."}, "User aborted."),
        ({"status": "error"}, "error"),
    ],
)
def test_a_turn_that_failed_is_an_error(end, error):
    trace = read_trace([REQUEST, LOOKS, {"type": "turn_ended", **end}])
    assert [step.error for step in trace.steps if step.error] == ([error] if error else [])


def test_results_belong_to_the_calls_that_they_name():
    asked = call("Read", path="a.md") | {"id": "c1"}
    result = {"type": "tool_result", "tool_use_id": "c1", "content": "# A"}
    lines = [REQUEST, answer(asked), {"role": "user", "message": {"content": [result]}}]
    assert read_trace(lines).steps[-1] == Step(
        id="c1", type="tool", parent_id="s2", name="Read", arguments={"path": "a.md"}, output="# A"
    )


def test_a_call_made_again_and_again_is_a_loop():
    lines = [REQUEST, *[answer(text("[REDACTED]"), call("Shell", command="make"))] * 6]
    assert default_registry().create("loop", {}).grade(trace=lines)["verdict"] == "fail"


def test_other_lines_are_counted():
    trace = read_trace([*CURSOR_TRANSCRIPT, *[{"type": "summary", "text": "x"}] * 2])
    assert "lines of type 'summary' (2)" in trace.not_carried
