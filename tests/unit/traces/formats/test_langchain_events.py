"""LangChain's events: what a model or a tool was given and what it answered, each once."""

from __future__ import annotations

import json

from support.trace_examples import LANGCHAIN_EVENTS
from weighbridge.traces import Step, Usage, read_trace, read_traces
from weighbridge.traces.split import opens_session, single_traces


def changed(number, **data):
    event = LANGCHAIN_EVENTS[number]
    events = list(LANGCHAIN_EVENTS)
    events[number] = {**event, "data": {**event["data"], **data}}
    return events


def test_events_become_steps():
    trace = read_trace(LANGCHAIN_EVENTS)
    assert (trace.format, trace.id) == ("langchain-events", "r0")
    assert trace.steps == (
        Step(id="s1", type="user", output="Find x."),
        Step(id="r1", type="llm", output="I look.", model="m", usage=Usage(9, 5, 14)),
        Step(id="r2", type="tool", parent_id="r1", name="search", arguments={"q": "x"}, output="none"),
        Step(id="r3", type="llm", output="Not there.", usage=Usage(12, 3, 15)),
    )  # fmt: skip
    assert trace.metadata == {"conversation": "t1"}


def test_lines_and_events_of_a_server_are_the_same():
    expected = read_trace(LANGCHAIN_EVENTS)
    assert read_trace("\n".join(map(json.dumps, LANGCHAIN_EVENTS))) == expected
    assert opens_session(LANGCHAIN_EVENTS[0])
    sent = "".join(f"event: events\ndata: {json.dumps(event)}\n\n" for event in LANGCHAIN_EVENTS)
    begun = 'event: metadata\ndata: {"run_id": "r0"}\n\n'
    assert read_trace(begun + sent) == expected


def test_a_tool_that_raised_has_an_error():
    failed = {**LANGCHAIN_EVENTS[5], "event": "on_tool_error", "data": {"error": "boom"}}
    trace = read_trace([*LANGCHAIN_EVENTS[:5], failed])
    assert [step.error for step in trace.steps_of("tool")] == ["boom"]


def test_answers_of_version_1_are_read():
    output = {"generations": [[{"text": "", "message": LANGCHAIN_EVENTS[3]["data"]["output"]}]]}
    assert read_trace(changed(3, output=output)).steps == read_trace(LANGCHAIN_EVENTS).steps


def test_an_answer_that_is_shown_as_text_may_have_calls():
    trace = read_trace(changed(3, output="content='I look.' tool_calls=[...]"))
    assert "tool_calls" in trace.missing
    assert [step.output for step in trace.steps_of("llm")] == [None, "Not there."]


def test_a_model_that_did_not_end_was_called():
    assert len(read_trace(LANGCHAIN_EVENTS[:3]).steps_of("llm")) == 1


def test_each_run_is_a_trace():
    text = json.dumps(LANGCHAIN_EVENTS)
    for number in range(4):
        text = text.replace(f'"r{number}"', f'"o{number}"')
    both = [*LANGCHAIN_EVENTS, *json.loads(text)]
    assert [trace.id for trace in read_traces(both)] == ["r0", "o0"]
    assert [name for name, _ in single_traces(both)] == ["r0", "o0"]
    alone = [{key: held for key, held in event.items() if key != "parent_ids"} for event in LANGCHAIN_EVENTS]  # fmt: skip
    assert len(read_trace(alone).steps) == 4
