"""Trajectories that OpenClaw's runtime records, and their exports."""

from __future__ import annotations

import pytest

from support.trace_examples.personal_agents import OPENCLAW, OPENCLAW_TRAJECTORY
from weighbridge.errors import TraceError
from weighbridge.graders import BudgetGrader
from weighbridge.traces import Step, Usage, read_trace, read_traces
from weighbridge.traces.fields import time_of
from weighbridge.traces.split import opens_session, single_traces


def at(second, ms=0):
    return time_of(f"2025-01-01T12:00:0{second}.{ms:03}Z")


def event(kind, source="runtime", **data):
    return OPENCLAW_TRAJECTORY[0] | {"type": kind, "source": source, "data": data}


def cut(reason="trajectory-event-size-limit", **more):
    return {"truncated": True, "reason": reason, **more}


def answer(text, **more):
    return {"role": "assistant", "content": [{"type": "text", "text": text}], **more}


def said(events):
    return [(step.type, step.output) for step in read_trace(events).steps]


def test_attempts_become_steps_with_each_message_once():
    assert all(map(opens_session, OPENCLAW_TRAJECTORY))
    trace = read_trace(OPENCLAW_TRAJECTORY)
    assert trace.steps == (
        Step(id="s1", type="system", output="You find.", started_at=at(0)),
        Step(id="s2", type="user", output="Find x.", started_at=at(1)),
        Step(id="s3", type="llm", model="m", usage=Usage(9, 2, 11, 4), started_at=at(2)),
        Step(id="c1", type="tool", parent_id="s3", name="search", arguments={"q": {"of": "x"}}, output="none", started_at=at(2), ended_at=at(3)),
        Step(id="s5", type="llm", output="No x.", model="m", usage=Usage(7, 3, 10, 0), started_at=at(4), ended_at=at(5)),
        Step(id="s6", type="user", output="Again.", started_at=at(6)),
        Step(id="s7", type="llm", model="m", usage=Usage(9, 1, 10), started_at=at(6, 500), ended_at=at(7)),
        Step(id="c2", type="tool", parent_id="s7", name="search", arguments={"q": "y"}, output="broken", error="broken", started_at=at(7), ended_at=at(8)),
        Step(id="s9", type="other", output="overloaded", error="overloaded", ended_at=at(9)),
    )  # fmt: skip
    assert (trace.id, trace.usage, [tool.name for tool in trace.tools]) == (
        *("s", Usage(25, 6, 31), ["search"]),
    )
    assert trace.metadata == {"provider": "p", "cwd": "/x"}
    assert (dict(trace.missing), trace.not_carried) == ({}, ())


def test_without_messages_an_attempt_is_its_events():
    call = event("tool.call", toolCallId="c", name="ls", arguments={})
    result = event("tool.result", toolCallId="c", contentItems=[{"type": "inputText", "text": "a"}])
    prompt = event("prompt.submitted", prompt="List.")
    done = event("model.completed", assistantTexts=["One.", "Done."], usage={"input": 1})
    other = event("tool.call", toolCallId="d", name="ls")
    assert said([prompt, call, call, result, other, done]) == [
        *(("user", "List."), ("llm", None), ("tool", "a"), ("llm", None), ("tool", None)),
        ("llm", "One.\nDone."),
    ]
    [*_, step] = read_trace([event("session.started"), event("session.ended", promptError="no key")]).steps  # fmt: skip
    assert step.error == "no key"


def test_an_attempt_whose_end_was_cut_has_its_artifacts():
    events = [
        event("prompt.submitted", prompt="Go."),
        event("model.completed", **cut()),
        event("trace.artifacts", assistantTexts=["Done."], usage={"input": 3, "output": 1}, toolMetas=[{}]),
    ]  # fmt: skip
    trace = read_trace(events)
    assert [step.output for step in trace.steps] == ["Go.", "Done."]
    assert trace.usage == Usage(3, 1)
    assert trace.missing["tool_calls"].startswith("model.completed or trace.artifacts states 1 tool call")  # fmt: skip
    trace = read_trace([*events[:2], event("model.completed", usage={"input": 2, "output": 1})])
    assert trace.usage == Usage(2, 1, is_partial=True)


def test_a_snapshot_that_was_cut_is_completed_from_events():
    sentinel = cut("trajectory-array-size-limit", originalLength=9)
    snapshot = [answer("One.", timestamp=1), sentinel]
    late = event("tool.call", toolCallId="c", name="ls", args={})
    done = event("model.completed", assistantTexts=["One.", "Two."], messagesSnapshot=snapshot)
    trace = read_trace([late, event("tool.result", toolCallId="c", status="failed"), done])
    assert [(step.type, step.output) for step in trace.steps] == [
        *(("llm", None), ("tool", None), ("llm", "One."), ("llm", "Two.")),
    ]
    assert trace.steps[1].error == "error"
    assert trace.not_carried == ("snapshots that lack their last messages (1)",)


def snapshot(kept, length=None):
    """Return an attempt's end with some of its messages, of which the others were cut."""
    cuts = [cut("trajectory-array-size-limit", originalLength=length)] if length else []
    said = [answer(f"{number}.", timestamp=number) for number in range(1, kept + 1)]
    return event("model.completed", messagesSnapshot=[*said, *cuts], usage={"input": 1})


def test_messages_that_were_cut_from_a_snapshot_make_the_counts_lower_bounds():
    trace = read_trace([snapshot(2, 9)])
    assert [step.output for step in trace.steps] == ["1.", "2."]
    assert {"llm_calls", "tool_calls", "cost", "timing"} <= trace.missing.keys()
    assert trace.missing["llm_calls"] == "at least 7 messages of the session were cut from the last snapshot of model.completed"  # fmt: skip
    assert trace.missing["tool_calls"] == trace.missing["llm_calls"]
    assert "token_usage" not in trace.missing  # the attempt states them
    assert trace.usage == Usage(1)
    judged = BudgetGrader(config={"max_tool_calls": 5}).judge(trace)
    assert {"llm_calls", "tool_calls", "steps"} <= set(judged["details"]["at_least"])


def test_messages_that_a_later_snapshot_has_are_not_missing():
    assert "llm_calls" not in read_trace([snapshot(2, 3), snapshot(3)]).missing
    trace = read_trace([snapshot(3), snapshot(2, 4)])
    assert trace.missing["llm_calls"].startswith("at least 2 messages")
    last = snapshot(2, 3)
    last["data"]["assistantTexts"] = ["3."]
    assert "timing" not in read_trace([last]).missing
    assert read_trace([last]).missing["llm_calls"].startswith("a message of the session was cut")


def test_messages_that_were_cut_with_the_event_make_the_counts_lower_bounds():
    ended = event("model.completed", **cut())
    trace = read_trace([event("prompt.submitted", prompt="Go."), ended])
    assert {"llm_calls", "tool_calls", "token_usage", "cost"} <= trace.missing.keys()
    assert trace.missing["llm_calls"].startswith("the messages of an attempt were cut")
    stated = event("trace.artifacts", toolMetas=[], usage={"input": 3, "output": 1})
    trace = read_trace([event("prompt.submitted", prompt="Go."), ended, stated])
    assert "tool_calls" not in trace.missing
    assert "llm_calls" in trace.missing


@pytest.mark.parametrize(
    "events",
    [
        [event("trace.truncated", droppedEvents=3)],
        [event("tool.call", **cut())],
        [event("tool.call", toolCallId="c", name="f", args={"a": cut("trajectory-depth-limit")})],
    ],
)
def test_calls_that_were_dropped_or_cut_make_calls_incomplete(events):
    trace = read_trace([*events, event("prompt.submitted", prompt="Go.")])
    assert "cut or dropped" in trace.missing["tool_calls"]


def test_equal_messages_of_one_snapshot_are_several():
    snapshot = [{"role": "user", "content": "Go."}, answer("x"), {"role": "user", "content": "Go."}]
    done = event("model.completed", messagesSnapshot=snapshot)
    again = event("model.completed", messagesSnapshot=[*snapshot, answer("x")])
    assert [kind for kind, _ in said([done, again])] == ["user", "llm", "user", "llm"]


def test_an_export_is_read_from_the_messages_of_its_session():
    messages = [line["message"] for line in OPENCLAW if line["type"] == "message"]
    kinds = {"user": "user.message", "assistant": "assistant.message", "toolResult": "tool.result"}
    events = [event(kinds[held["role"]], "transcript", message=held) for held in messages[:3]]
    call = event("tool.call", "transcript", toolCallId="c1", name="search")
    exported = [*OPENCLAW_TRAJECTORY[:9], *events, call, event("session.label", "transcript")]
    trace = read_trace(exported)
    assert [step.type for step in trace.steps] == ["system", "user", "llm", "tool"]
    assert trace.steps[2].usage == Usage(12, 2, 14, 4, 3)
    assert trace.usage == Usage(16, 5, 21, 4)
    assert "events of type 'session.label' (1)" in trace.not_carried


def test_sessions_of_one_file_are_traces_of_their_own():
    other = OPENCLAW_TRAJECTORY[2] | {"sessionId": "t"}
    events = [*OPENCLAW_TRAJECTORY[:3], other]
    assert [trace.id for trace in read_traces(events)] == ["s", "t"]
    assert single_traces(events) == [("s", events[:3]), ("t", [other])]


@pytest.mark.parametrize(
    "more",
    [
        {"data": 1},
        {"data": {"messagesSnapshot": [1, {"role": "assistant", "content": 1}], "usage": []}},
        {"data": {"assistantTexts": [1], "promptError": {"message": 1}, "toolMetas": [[]]}},
        {"ts": [], "sessionId": {}, "modelId": 1},
    ],
)
@pytest.mark.parametrize("kind", ["model.completed", "tool.call", "tool.result", "trace.artifacts"])
def test_damaged_events_are_read_or_refused(kind, more):
    try:
        read_traces([event(kind) | more, *OPENCLAW_TRAJECTORY])
    except TraceError:
        pytest.fail("the rest of the trajectory is whole")
