"""LangChain's events: what a model or a tool was given and what it answered, each once."""

from __future__ import annotations

import json

from support.trace_examples.agent_frameworks import LANGCHAIN_EVENTS
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


def streamed(**fields):
    event = LANGCHAIN_EVENTS[2]
    return {**event, "data": {"chunk": {**event["data"]["chunk"], "content": "", **fields}}}


def test_an_answer_without_an_end_is_what_was_streamed():
    call = {"index": 0, "name": "search", "id": "c1", "args": '{"q": "x"}'}
    usage = {"input_tokens": 9, "output_tokens": 5, "total_tokens": 14}
    pieces = [streamed(content="I "), streamed(content="look."), streamed(tool_call_chunks=[call]), streamed(usage_metadata=usage)]  # fmt: skip
    trace = read_trace([*LANGCHAIN_EVENTS[:2], *pieces])
    [answer] = trace.steps_of("llm")
    assert (answer.output, answer.usage) == ("I look.", Usage(9, 5, 14))
    assert [(call.id, call.arguments) for call in trace.steps_of("tool")] == [("c1", {"q": "x"})]
    shown = {**LANGCHAIN_EVENTS[2], "data": {"chunk": "content='I '"}}
    assert "tool_calls" in read_trace([*LANGCHAIN_EVENTS[:2], shown, *LANGCHAIN_EVENTS[6:]]).missing


def test_tokens_beside_the_generations_of_a_model_are_read():
    usage = {"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 14}
    output = {"generations": [[{"text": "I look."}]], "llm_output": {"token_usage": usage, "model_name": "m"}}  # fmt: skip
    answer = read_trace(changed(3, output=output)).steps_of("llm")[0]
    assert (answer.output, answer.model, answer.usage) == ("I look.", "m", Usage(9, 5, 14))


def test_text_that_a_completion_streamed_is_its_answer():
    begun = {**LANGCHAIN_EVENTS[1], "event": "on_llm_start", "data": {"input": "Find x."}}
    for chunks in (["I ", "look."], [{"text": "I "}, {"text": "look."}]):
        pieces = [{**begun, "event": "on_llm_stream", "data": {"chunk": chunk}} for chunk in chunks]
        assert [step.output for step in read_trace([begun, *pieces]).steps_of("llm")] == ["I look."]
