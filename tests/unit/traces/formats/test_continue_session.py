"""Continue's sessions: messages, and the states of their calls."""

from __future__ import annotations

import copy

from support.trace_examples import CONTINUE
from weighbridge.traces import Step, Usage, read_trace


def test_items_become_steps():
    trace = read_trace(CONTINUE)
    assert (trace.format, trace.id) == ("continue", "s")
    assert trace.steps == (
        Step(id="s1", type="user", output="Find x."),
        Step(id="s2", type="llm", output="I look.", model="n", usage=Usage(9, 5, None, 4)),
        Step(id="c1", type="tool", parent_id="s2", name="read_file", arguments={"path": "a"}, output="A"),
        Step(id="c2", type="tool", parent_id="s2", name="grep", arguments={"q": "x"}, output="no such tool", error="errored"),
        Step(id="s5", type="llm", output="Not there.", model="m"),
    )  # fmt: skip
    assert trace.not_carried == ("parts of the model's reasoning (1)",)


def test_a_call_may_stand_in_its_state_alone():
    session = copy.deepcopy(CONTINUE)
    session["history"][2]["message"]["toolCalls"] = []
    calls = [*read_trace(session).steps_of("tool")]
    assert [(call.id, call.name, call.output) for call in calls] == [("c2", "grep", "no such tool")]


def test_the_single_state_of_older_versions_is_read():
    session = copy.deepcopy(CONTINUE)
    item = session["history"][2]
    item["toolCallState"] = item.pop("toolCallStates")[1]
    del item["message"]["toolCalls"]
    (call,) = read_trace(session).steps_of("tool")
    assert (call.name, call.error) == ("grep", "errored")
