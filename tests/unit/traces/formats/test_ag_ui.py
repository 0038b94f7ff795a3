"""Event streams of AG-UI."""

from __future__ import annotations

import json

import pytest

from support.trace_examples.exchange_formats import AG_UI
from weighbridge.traces import Step, Usage, read_trace, read_traces
from weighbridge.traces.formats.ag_ui import IMPORTER
from weighbridge.traces.split import opens_session, single_traces

NOON = 1_735_732_800_000  #: 2025-01-01T12:00:00Z, in milliseconds


def event(kind, second=None, **fields):
    time = {} if second is None else {"timestamp": NOON + second * 1000}
    return {"type": kind, **fields, **time}


def at(second):
    return (NOON + second * 1000) * 10**6


def started(thread="t", **fields):
    return event("RUN_STARTED", threadId=thread, runId="r", **fields)


def says(own_id, text, role="assistant"):
    return [
        event("TEXT_MESSAGE_START", messageId=own_id, role=role),
        *(event("TEXT_MESSAGE_CONTENT", messageId=own_id, delta=piece) for piece in text),
        event("TEXT_MESSAGE_END", messageId=own_id),
    ]


def calls(own_id, **fields):
    return [
        event("TOOL_CALL_START", toolCallId=own_id, toolCallName="f", **fields),
        event("TOOL_CALL_ARGS", toolCallId=own_id, delta='{"a"'),
        event("TOOL_CALL_ARGS", toolCallId=own_id, delta=": 1}"),
        event("TOOL_CALL_END", toolCallId=own_id),
    ]


def result(own_id, content="x", **fields):
    return event("TOOL_CALL_RESULT", messageId="m", toolCallId=own_id, content=content, **fields)


def shape(trace):
    return [(step.type, step.name, step.output) for step in trace.steps]


def test_the_pieces_of_answers_and_calls_are_put_together():
    stream = [
        event("RUN_STARTED", 0, threadId="t", runId="r", input={"tools": [{"name": "f"}]}),
        event("REASONING_START", messageId="r1"),
        event("REASONING_MESSAGE_CONTENT", messageId="r1", delta="Hm."),
        event("TEXT_MESSAGE_START", 1, messageId="a1", role="assistant"),
        event("TEXT_MESSAGE_CONTENT", messageId="a1", delta="I "),
        event("TEXT_MESSAGE_CONTENT", messageId="a1", delta="look."),
        event("TEXT_MESSAGE_END", 2, messageId="a1"),
        event("TOOL_CALL_START", 2, toolCallId="c1", toolCallName="f", parentMessageId="a1"),
        event("TOOL_CALL_ARGS", toolCallId="c1", delta='{"a": 1}'),
        event("TOOL_CALL_END", 3, toolCallId="c1"),
        event("TOOL_CALL_RESULT", 5, messageId="m", toolCallId="c1", content="x", error="no"),
        event("STATE_SNAPSHOT", snapshot={}),
        event("RUN_FINISHED", 6, usage=[{"inputTokens": 5, "outputTokens": 2, "totalTokens": 7}]),
    ]
    trace = read_trace(stream)
    assert trace.steps == (
        Step(id="a1", type="llm", output="I look.", started_at=at(1), ended_at=at(2)),
        Step(
            id="c1",
            type="tool",
            parent_id="a1",
            name="f",
            arguments={"a": 1},
            output="x",
            error="no",
            started_at=at(3),
            ended_at=at(5),
        ),
    )
    assert (trace.id, trace.format, trace.usage) == ("t", "ag-ui", Usage(5, 2, 7))
    assert (trace.started_at, trace.ended_at) == (at(0), at(6))
    assert [tool.name for tool in trace.tools] == ["f"]
    assert trace.not_carried == (
        "events of type 'STATE_SNAPSHOT' (1)",
        "parts of the model's reasoning (1)",
    )


def test_calls_are_of_one_answer_until_a_result_or_another_answer_comes():
    together = [*says("a", "x"), *calls("c1", parentMessageId=""), *calls("c2")]
    then = [result("c1"), result("c2"), *calls("c3", parentMessageId="a"), result("c3")]
    trace = read_trace([started(), *together, *then, *calls("c4", parentMessageId="b"), *says("b", "y")])  # fmt: skip
    assert [(step.type, step.parent_id) for step in trace.steps] == [
        ("llm", None),
        ("tool", "a"),
        ("tool", "a"),
        ("llm", None),
        ("tool", "a#2"),
        ("llm", None),
        ("tool", "b"),
    ]
    assert trace.steps[-2].output == "y"


def test_chunks_need_their_ids_once():
    chunks = [
        event("TEXT_MESSAGE_CHUNK", messageId="a", delta="I "),
        event("TEXT_MESSAGE_CHUNK", delta="look."),
        event("TOOL_CALL_CHUNK", toolCallId="c", toolCallName="f", delta='{"a"'),
        event("TOOL_CALL_CHUNK", delta=": 1}"),
    ]
    trace = read_trace([started(), *chunks])
    assert shape(trace) == [("llm", None, "I look."), ("tool", "f", None)]
    assert trace.steps[1].arguments == {"a": 1}


SNAPSHOT = [
    {"id": "u", "role": "user", "content": "Find x."},
    {"id": "a", "role": "assistant", "toolCalls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
    {"id": "m", "role": "tool", "toolCallId": "c", "content": "x"},
]  # fmt: skip


def test_a_snapshot_takes_the_place_of_what_it_repeats():
    sent = [started(), *calls("c", parentMessageId="a"), result("c"), *says("s", "Sub-agent.")]
    stream = [*sent, event("MESSAGES_SNAPSHOT", messages=SNAPSHOT), *says("b", "Here.")]
    assert shape(read_trace(stream)) == [
        ("user", None, "Find x."),
        ("llm", None, None),
        ("tool", "f", "x"),
        ("llm", None, "Sub-agent."),
        ("llm", None, "Here."),
    ]


def test_the_input_of_a_run_is_the_conversation_so_far_and_its_tokens_are_then_a_part():
    usage = [{"inputTokens": 5, "outputTokens": 2}]
    stream = [
        started(input={"messages": SNAPSHOT}),
        *says("b", "Here."),
        event("RUN_FINISHED", usage=usage),
    ]
    trace = read_trace(stream)
    assert [step.type for step in trace.steps] == ["user", "llm", "tool", "llm"]
    assert trace.usage == Usage(5, 2, is_partial=True)


def test_answers_before_a_snapshot_are_as_many_as_were_sent():
    snapshot = event("MESSAGES_SNAPSHOT", messages=[{"id": "s", "role": "assistant", "content": "Done."}])  # fmt: skip
    sent = [started(), *says("m1", "Done."), *says("m2", "Done.")]
    assert shape(read_trace([*sent, snapshot])) == [("llm", None, "Done.")] * 2
    one = {**snapshot, "messages": [{"id": "m2", "role": "assistant", "content": "Done."}]}
    assert [step.id for step in read_trace([*sent, one]).steps] == ["m2", "m1"]


def test_an_answer_with_calls_takes_its_text_in_a_snapshot():
    whole = {**SNAPSHOT[1], "id": "s", "content": "Done."}
    sent = [started(), *says("m1", "Done."), *says("m2", "Done."), *calls("c", parentMessageId="m2")]  # fmt: skip
    trace = read_trace([*sent, event("MESSAGES_SNAPSHOT", messages=[whole])])
    assert [step.type for step in trace.steps] == ["llm", "tool", "llm"]


FINISHED = event("RUN_FINISHED", usage=[{"inputTokens": 5, "outputTokens": 2}])


@pytest.mark.parametrize(
    "rest",
    [
        [event("RUN_ERROR", message="no connection")],
        [event("RUN_FINISHED")],
        [],
        [event("RUN_STARTED", threadId="t", runId="r3"), FINISHED],
    ],
)
def test_the_usage_of_a_stream_is_partial_if_a_run_lacks_its_own(rest):
    stream = [started(), *says("a", "x"), FINISHED, started(), *says("b", "y"), *rest]
    assert read_trace(stream).usage.is_partial
    assert read_trace(stream[:5]).usage == Usage(5, 2)


def test_the_usage_of_all_runs_is_their_sum_though_they_overlap():
    runs = [event("RUN_STARTED", threadId="t", runId=own_id) for own_id in "rs"]
    ends = [{**FINISHED, "runId": own_id} for own_id in "rs"]
    trace = read_trace([*runs, *says("a", "x"), *ends])
    assert (trace.usage.total, trace.usage.is_partial) == (14, False)


def test_a_run_may_have_its_usage_as_an_object():
    usage = {"inputTokens": 5, "outputTokens": 2}
    trace = read_trace([started(), *says("a", "x"), event("RUN_FINISHED", usage=usage)])
    assert trace.usage == Usage(5, 2)


def test_each_thread_is_a_trace():
    stream = [started("a"), *says("m", "x"), started("b"), *says("n", "y"), started("a"), *says("o", "z")]  # fmt: skip
    assert [(trace.id, len(trace.steps)) for trace in read_traces(stream)] == [("a", 2), ("b", 1)]
    assert [name for name, _ in single_traces(stream)] == ["a", "b"]


def test_a_run_that_failed_says_why():
    trace = read_trace([started(), event("RUN_ERROR", message="no connection")])
    assert [(step.type, step.error) for step in trace.steps] == [("other", "no connection")]


def test_events_in_an_object_or_as_a_server_sent_them_or_with_pythons_names_are_read():
    text = "".join(f"data: {json.dumps(each)}\n\n" for each in AG_UI)
    snake = [
        {"type": "RUN_STARTED", "thread_id": "t", "run_id": "r"},
        {"type": "TOOL_CALL_START", "tool_call_id": "c", "tool_call_name": "f"},
    ]
    for value in ({"events": AG_UI}, text):
        assert read_trace(value).steps == read_trace(AG_UI).steps
    assert [(step.type, step.id) for step in read_trace(snake).steps] == [
        ("llm", "s1"),
        ("tool", "c"),
    ]


def test_lines_of_events_are_one_trace_and_other_events_are_not_of_this_form():
    assert opens_session(AG_UI[0])
    assert not opens_session(event("CUSTOM", name="x", value=1))
    assert not IMPORTER.matches([event("CUSTOM", name="x"), event("RAW", event={})])
    assert not IMPORTER.matches([event("RUN_STARTED", run="x")])
    assert not IMPORTER.matches([*AG_UI[:3], {"type": "other"}])


@pytest.mark.parametrize("odd", [None, 5, "x", [], {}, [None], {"id": []}])
def test_odd_values_leave_the_rest_readable(odd):
    keys = ("messageId", "toolCallId", "role", "delta", "content", "messages", "usage", "input")
    kinds = {each["type"] for each in AG_UI} | {"MESSAGES_SNAPSHOT", "TOOL_CALL_CHUNK", "RUN_ERROR"}
    odd_ones = [{"type": kind, **dict.fromkeys(keys, odd)} for kind in sorted(kinds)]
    messages = [{"role": odd, "id": odd, "content": odd, "toolCalls": odd, "toolCallId": odd}]
    snapshot = event(
        "MESSAGES_SNAPSHOT", messages=[*messages, {"role": "assistant", **messages[0]}]
    )
    trace = read_trace([*AG_UI, *odd_ones, snapshot, *says("z", "Here.")])
    assert trace.steps[-1].output == "Here."


def test_events_beside_a_chat_are_not_read_in_its_place():
    messages = [{"role": "user", "content": "Hello."}, {"role": "assistant", "content": "Hi."}]
    usage = {"prompt_tokens": 7, "completion_tokens": 1}
    trace = read_trace({"messages": messages, "model": "m", "usage": usage, "events": AG_UI})
    assert (trace.format, trace.usage) == ("openai-chat", Usage(7, 1))


def test_fields_beside_the_events_are_noted_for_each_thread():
    assert "object field 'label' (1)" in read_trace({"events": AG_UI, "label": "x"}).not_carried
    events = [started("a"), *says("1", "x"), started("b"), *says("2", "y")]
    value = {"events": events, "label": "x"}
    parts = [part for _, part in IMPORTER.parts(value)]
    traces = [*read_traces(value), *(read_trace(part) for part in parts)]
    assert [trace.id for trace in traces] == ["a", "b", "a", "b"]
    assert all(trace.not_carried == ("object field 'label' (1)",) for trace in traces)
