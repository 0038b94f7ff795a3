"""GitHub Copilot's sessions: events of answers, calls and tokens."""

from __future__ import annotations

import pytest

from support.trace_examples.copilot import COPILOT
from weighbridge.traces import Counts, Step, Usage, read_trace
from weighbridge.traces.fields import time_of
from weighbridge.traces.split import opens_session, session_id


def at(second):
    return time_of(f"2025-01-01T12:00:0{second}Z")


def event(kind, number=50, agent=None, **data):
    about = {
        "type": kind,
        "id": f"x{number}",
        "parentId": None,
        "timestamp": "2025-01-01T12:00:09Z",
    }
    return about | ({"agentId": agent} if agent else {}) | {"data": data}


def said(content, number, **data):
    return event("assistant.message", number, content=content, messageId=f"m{number}", **data)


def test_events_become_steps_once_each():
    trace = read_trace(COPILOT)
    assert (trace.format, trace.id, trace.started_at) == ("copilot", "s", at(0))
    assert trace.steps == (
        Step(id="s1", type="user", output="Find x.", started_at=at(1)),
        Step(id="m1", type="llm", output="I search.", model="m", usage=Usage(None, 7), started_at=at(2), ended_at=at(3)),
        Step(id="c1", type="tool", parent_id="m1", name="grep", arguments={"q": "x"}, output="no such path", error="no such path", started_at=at(4), ended_at=at(5)),
        Step(id="m2", type="llm", output="Not there.", usage=Usage(None, 3), ended_at=at(7)),
    )  # fmt: skip
    assert trace.metadata == {"version": "1.0.54", "cwd": "/x", "branch": "main"}
    assert trace.not_carried == (
        "events of type 'skill.invoked' (1)",
        "parts of the model's reasoning (1)",
        "repeated events (1)",
    )


def test_what_the_session_used_is_in_its_shutdowns():
    trace = read_trace(COPILOT)
    assert (trace.usage, trace.counts) == (Usage(30, 10, None, 12), Counts(llm_calls=2))
    assert trace.totals_from == "session.shutdown"
    resumed = read_trace([*COPILOT, {**COPILOT[-1], "id": "again"}])
    assert (resumed.usage, resumed.counts) == (Usage(60, 20, 80, 24), Counts(llm_calls=4))
    assert read_trace(COPILOT[:-1]).usage is None


def test_a_resumed_session_may_go_on_counting():
    resumed = [event("session.usage_checkpoint"), {**COPILOT[-1], "id": "again"}]
    assert read_trace([*COPILOT, *resumed]).usage == Usage(30, 10, None, 12)
    fewer = {"m": {"requests": {"count": 1}, "usage": {"inputTokens": 5, "outputTokens": 1}}}
    less = event("session.shutdown", 51, modelMetrics=fewer)
    assert read_trace([*COPILOT, resumed[0], less]).usage == Usage(35, 11, 46)


def test_the_prompt_of_the_system_stands_once_and_that_of_a_sub_agent_is_no_users():
    prompts = [event("system.message", number, content="Be brief.") for number in (60, 61)]
    task = event("user.message", 62, "w", content="Look.")
    trace = read_trace([*prompts, COPILOT[1], prompts[1] | {"id": "x63"}, task, *COPILOT[2:4]])
    assert [(step.type, step.output) for step in trace.steps[:3]] == [
        ("system", "Be brief."),
        ("user", "Find x."),
        ("other", "Look."),
    ]


def test_tokens_of_a_model_call_belong_to_the_answer_before_them():
    spent = event("assistant.usage", 51, inputTokens=9, outputTokens=4, cacheReadTokens=2, cacheWriteTokens=1)  # fmt: skip
    trace = read_trace([said("Hi.", 50, outputTokens=4), spent])
    assert trace.steps[0].usage == Usage(9, 4, None, 2, 1)
    assert trace.usage is None


def test_tokens_may_come_before_their_answer():
    events = []
    for number, (sent, received) in enumerate(((10, 5), (1000, 6)), 60):
        events += [
            event("assistant.turn_start", f"a{number}"),
            event("assistant.usage", f"b{number}", inputTokens=sent, outputTokens=received),
            said("Hi.", f"c{number}", outputTokens=received),
        ]
    for told in (events, [each for each in events if each["type"] != "assistant.turn_start"]):
        trace = read_trace(told)
        assert [step.usage for step in trace.steps] == [Usage(10, 5), Usage(1000, 6)]
        assert trace.usage is None


def test_what_is_used_after_a_shutdown_counts_as_well():
    more = [
        said("More.", 60, outputTokens=8),
        event("assistant.usage", 61, inputTokens=100, outputTokens=8),
    ]
    trace = read_trace([*COPILOT, event("session.resume", 59), *more])
    assert (trace.usage, trace.counts) == (Usage(130, 18, 148), Counts(llm_calls=3))
    assert read_trace([*COPILOT, more[0]]).usage == Usage(None, 18)


def test_tokens_of_a_model_call_without_an_answer_count_for_the_run():
    spent = [
        event("assistant.usage", 51, inputTokens=9, outputTokens=4, apiCallId="a"),
        event("assistant.usage", 52, inputTokens=5, outputTokens=1, apiCallId="title"),
    ]
    trace = read_trace([said("Hi.", 50, outputTokens=4, apiCallId="a"), *spent])
    assert (trace.steps[0].usage, trace.usage) == (Usage(9, 4), Usage(14, 5, 19))


def test_an_answer_in_several_messages_is_one_model_call():
    chunks = [
        said("First. ", 50, apiCallId="a", chunkIndex=0, chunkCount=2, outputTokens=8),
        said("Second.", 51, apiCallId="a", chunkIndex=1, chunkCount=2, outputTokens=8, toolRequests=[{"toolCallId": "c1", "name": "f", "arguments": {}}]),
        event("tool.execution_complete", 52, toolCallId="c1", success=True, result={"content": "ok"}),
        said("Third.", 53, apiCallId="b", chunkIndex=0, outputTokens=2),
    ]  # fmt: skip
    trace = read_trace(chunks)
    assert [(step.type, step.output) for step in trace.steps] == [
        ("llm", "First. \nSecond."),
        ("tool", "ok"),
        ("llm", "Third."),
    ]
    assert [step.usage for step in trace.steps_of("llm")] == [Usage(None, 8), Usage(None, 2)]


def test_a_result_between_the_messages_of_one_answer_does_not_count_its_tokens_twice():
    asked = [{"toolCallId": "c1", "name": "f", "arguments": {}}]
    events = [
        said("First.", 50, apiCallId="a", chunkIndex=0, outputTokens=8, toolRequests=asked),
        event("tool.execution_complete", 51, toolCallId="c1", success=True, result={"content": "ok"}),
        said("Second.", 52, apiCallId="a", chunkIndex=1, outputTokens=8, toolRequests=asked),
    ]  # fmt: skip
    trace = read_trace(events)
    assert [step.usage for step in trace.steps_of("llm")] == [Usage(None, 8), None]
    assert [step.id for step in trace.steps_of("tool")] == ["c1"]


def test_an_id_may_name_one_call_after_another():
    events = [
        event(
            kind, f"{kind}{at}", toolCallId="c", toolName="f", success=True, result={"content": at}
        )
        for at in "ab"
        for kind in ("tool.execution_start", "tool.execution_complete")
    ]
    assert [step.output for step in read_trace(events).steps_of("tool")] == ["a", "b"]
    assert read_trace({"events": events}).format == "copilot"


def test_events_of_a_sub_agent_may_lie_between():
    events = [
        said("I delegate.", 50, toolRequests=[{"toolCallId": "c1", "name": "task", "arguments": {"prompt": "look"}}]),
        event("tool.execution_start", 51, toolCallId="c1", toolName="task", arguments={"prompt": "look"}),
        event("assistant.turn_start", 52, "w", turnId="0"),
        event("assistant.message", 53, "w", content="I look.", messageId="w1", toolRequests=[{"toolCallId": "c2", "name": "view", "arguments": {}}]),
        event("assistant.usage", 54, "w", inputTokens=3, outputTokens=1),
        event("tool.execution_complete", 55, "w", toolCallId="c2", success=True, result={"content": "a"}),
        event("assistant.usage", 56, inputTokens=7, outputTokens=2),
        event("tool.execution_complete", 57, toolCallId="c1", success=True, result={"content": "seen"}),
    ]  # fmt: skip
    trace = read_trace(events)
    assert [(step.id, step.parent_id, step.output) for step in trace.steps] == [
        ("m50", None, "I delegate."),
        ("c1", "m50", "seen"),
        ("w1", None, "I look."),
        ("c2", "w1", "a"),
    ]
    assert [step.usage for step in trace.steps_of("llm")] == [Usage(7, 2), Usage(3, 1)]


def test_a_call_that_no_answer_asks_for_counts_and_one_of_the_user_does_not():
    events = [
        said("Hi.", 50),
        event("tool.user_requested", 51, toolCallId="u1", toolName="bash", arguments={"command": "ls"}),
        event("tool.execution_start", 52, toolCallId="u1", toolName="bash", arguments={"command": "ls"}),
        event("tool.execution_complete", 53, toolCallId="u1", success=True, result={"content": "a"}, isUserRequested=True),
        event("user.message", 54, content="Go on."),
        event("tool.execution_start", 55, toolCallId="c1", toolName="view", arguments={"path": "a"}),
        event("tool.execution_complete", 56, toolCallId="c1", success=False),
    ]  # fmt: skip
    calls = list(read_trace(events).steps_of("tool"))
    assert [(call.name, call.arguments, call.error) for call in calls] == [
        ("view", {"path": "a"}, "error")
    ]


def test_an_error_of_the_session_is_one():
    trace = read_trace(
        [*COPILOT[:4], event("session.error", errorType="quota", message="none left")]
    )
    assert (trace.steps[-1].type, trace.steps[-1].error) == ("other", "none left")


@pytest.mark.parametrize("at_", range(len(COPILOT)))
def test_each_line_belongs_to_a_session(at_):
    assert opens_session(COPILOT[at_])


def test_a_file_of_lines_is_one_session():
    assert session_id(COPILOT) == "s"
