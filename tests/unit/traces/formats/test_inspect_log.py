"""Inspect's logs: every sample is a trace of its messages, with additional data from its events."""

from __future__ import annotations

import copy

import pytest

from support.trace_examples.evaluation_tools import INSPECT
from weighbridge.errors import TraceError
from weighbridge.traces import Step, ToolDefinition, Usage, read_trace, read_traces
from weighbridge.traces.fields import time_of
from weighbridge.traces.split import single_traces

SAMPLE = INSPECT["samples"][0]


def changed(change):
    log = copy.deepcopy(INSPECT)
    change(log["samples"][0])
    return read_trace(log)


@pytest.mark.parametrize("status", ["started", "cancelled", "error"])
def test_each_sample_of_an_evaluation_that_did_not_end_well_says_so(status):
    log = {**INSPECT, "status": status}
    [(_, part)] = single_traces(log)
    note = (
        f"samples that were not run, or not to their end: the evaluation has the status {status!r}"
    )
    for trace in (read_trace(log), read_trace(part), read_trace({**SAMPLE, "log_status": status})):
        assert trace.not_carried == (*read_trace(INSPECT).not_carried, note)
        assert (trace.steps, trace.metadata["status"]) == (read_trace(INSPECT).steps, status)


@pytest.mark.parametrize("status", ["success", "", 7, None, ["error"]])
def test_an_evaluation_of_another_status_has_no_such_note(status):
    log = {**INSPECT, "status": status}
    assert read_trace(log).not_carried == read_trace(INSPECT).not_carried


def test_messages_are_steps_with_what_their_events_tell():
    trace = read_trace(INSPECT)
    assert (trace.format, trace.id) == ("inspect", "1/1")
    asked, answered = time_of("2025-01-01T12:00:01Z"), time_of("2025-01-01T12:00:02Z")
    assert trace.steps == (
        Step(id="m1", type="user", output="Find x."),
        Step(
            id="m2",
            type="llm",
            output="",
            model="m-1",
            usage=Usage(9, 2, 11, 4),
            started_at=asked,
            ended_at=answered,
        ),
        Step(
            id="c",
            type="tool",
            parent_id="m2",
            name="f",
            arguments={"q": "x"},
            output="",
            error="too slow",
            started_at=answered,
        ),
    )
    assert trace.tools == (ToolDefinition("f", {}, "Finds."),)
    assert trace.metadata == {"task": "find", "status": "success", "score match": "I"}
    assert trace.missing == {}


def test_what_scorers_used_is_not_the_agents():
    trace = read_trace(INSPECT)
    assert trace.usage == Usage(9, 2, 11)
    assert "model calls of scorers (1)" in trace.not_carried


def test_a_log_has_a_trace_for_each_sample_and_a_sample_may_stand_alone():
    log = INSPECT | {"samples": [SAMPLE, SAMPLE | {"epoch": 2}]}
    assert [trace.id for trace in read_traces(log)] == ["1/1", "1/2"]
    parts = single_traces(log)
    assert [name for name, _ in parts] == ["1/1", "1/2"]
    assert [read_trace(part).id for _, part in parts] == ["1/1", "1/2"]
    assert read_trace(SAMPLE).steps == read_trace(INSPECT).steps


def test_a_log_without_samples_holds_no_trace():
    with pytest.raises(TraceError, match="this looks like Inspect logs, but contains no trace"):
        read_traces(INSPECT | {"samples": []})


def test_model_calls_and_calls_of_sub_agents_are_read_from_the_events():
    call = {"id": "d", "function": "g", "arguments": {}}

    def add(sample):
        answer = {"id": "x1", "role": "assistant", "content": "Inner.", "tool_calls": [call]}
        sample["events"] += [
            {
                "event": "tool",
                "id": "outer",
                "events": [
                    {"event": "model", "output": {"choices": [{"message": answer}]}},
                    {"event": "tool", "id": "d", "function": "g", "result": "y"},
                    {"event": "tool", "id": "d", "function": "g", "result": "y"},
                ],
            }
        ]

    trace = changed(add)
    assert [(step.type, step.output) for step in trace.steps[3:]] == [
        ("llm", "Inner."),
        ("tool", "y"),
    ]
    assert len(trace.steps_of("tool")) == 2


def test_a_call_that_react_removes_from_the_messages_is_read_from_the_events():
    submit = {"id": "done", "function": "submit", "arguments": {"answer": "42"}}

    def submitted(sample):
        sample["messages"].append({"id": "m9", "role": "assistant", "content": "It is 42."})
        answer = {"id": "m9", "role": "assistant", "content": "It is", "tool_calls": [submit]}
        sample["events"] += [
            {"event": "model", "output": {"choices": [{"message": answer}]}},
            {"event": "tool", "id": "done", "function": "submit", "result": "42"},
        ]

    trace = changed(submitted)
    assert [(step.type, step.name, step.output) for step in trace.steps[3:]] == [
        ("llm", None, "It is 42."),
        ("tool", "submit", "42"),
    ]
    assert trace.steps[-1].arguments == {"answer": "42"}
    assert trace.steps[-1].parent_id == "m9"


def test_the_last_call_that_react_removes_is_in_the_output_of_a_sample_without_events():
    submit = {"id": "done", "function": "submit", "arguments": {"answer": "42"}}

    def submitted(sample):
        message = {"id": "m2", "role": "assistant", "content": "", "tool_calls": [submit]}
        sample["output"] = {"choices": [{"message": message}]}
        del sample["events"]

    calls = changed(submitted).steps_of("tool")
    assert [(step.name, step.parent_id) for step in calls] == [("f", "m2"), ("submit", "m2")]


def test_older_logs_name_texts_by_where_they_stand():
    def older(sample):
        for message in sample["messages"]:
            del message["id"]
        sample["messages"][1]["content"] = "A long text."
        event = sample["events"][1]
        answer = {"role": "assistant", "content": "tc://h"} | {
            "tool_calls": sample["messages"][1]["tool_calls"]
        }
        event["output"]["choices"] = [{"message": answer}]
        sample["transcript"] = {"events": sample.pop("events"), "content": {"h": "A long text."}}

    trace = changed(older)
    assert [(step.type, step.output) for step in trace.steps][1] == ("llm", "A long text.")
    assert len(trace.steps) == 3
    assert trace.steps[1].usage == Usage(9, 2, 11, 4)


def exchange(number, text):
    """Return an answer with a call, as a model event and as messages with IDs of their own."""
    call = {"id": f"call-{number}", "function": "run", "arguments": {"line": number}}
    answer = {"role": "assistant", "content": text, "tool_calls": [call]}
    copied = answer | {
        "id": f"copy-{number}",
        "source": "generate",
        "content": [{"type": "text", "text": text}],
    }
    result = {"id": f"out-{number}", "role": "tool", "content": "", "tool_call_id": call["id"]}
    return model_event(answer | {"id": f"said-{number}"}), [copied, result]


def model_event(answer):
    output = {"choices": [{"message": answer}], "usage": {"input_tokens": 5, "output_tokens": 1}}
    return {"event": "model", "model": "m-1", "output": output}


def test_answers_are_counted_once_if_the_messages_are_copies_with_other_ids():
    first, said_first = exchange(1, "Look.")
    second, said_second = exchange(2, "Look again.")
    watched = [
        model_event({"id": f"watch-{number}", "role": "assistant", "content": "Harmless."})
        for number in (1, 2)
    ]
    shown = {"id": "shown", "role": "assistant", "source": "input", "content": "An example."}
    end = {"id": "copy-3", "role": "assistant", "content": "Done."}

    def copied(sample):
        sample["messages"] = [
            sample["messages"][0],
            shown,
            *said_first,
            *said_second,
            end,
        ]
        sample["events"] = [
            *(first, watched[0], second, watched[1]),
            model_event(end | {"id": "said-3"}),
        ]

    trace = changed(copied)
    assert [(step.type, step.output) for step in trace.steps[1:]] == [
        ("other", "An example."),
        ("llm", "Look."),
        ("tool", ""),
        ("llm", "Harmless."),
        ("llm", "Look again."),
        ("tool", ""),
        ("llm", "Harmless."),
        ("llm", "Done."),
    ]
    assert [step.usage.input_tokens for step in trace.steps_of("llm")] == [5] * 5


def test_an_answer_is_not_taken_for_a_message_that_another_event_recorded():
    outer = {"id": "outer", "role": "assistant", "content": "Done."}

    def add(sample):
        sample["messages"].append(outer)
        sample["events"] += [model_event(outer | {"id": "inner"}), model_event(outer)]

    assert [step.id for step in changed(add).steps_of("llm")[-2:]] == ["inner", "outer"]


def test_an_answer_from_the_cache_used_no_tokens():
    def cached(sample):
        sample["events"][1]["cache"] = "read"

    trace = changed(cached)
    assert trace.steps_of("llm")[0].usage == Usage(0, 0, 0)
    assert "answers from Inspect's cache, which count as model calls (1)" in trace.not_carried


def test_reasoning_that_the_total_has_beside_the_output_is_output():
    def thought(total):
        def add(sample):
            usage = {
                "input_tokens": 9,
                "output_tokens": 2,
                "reasoning_tokens": 30,
                "total_tokens": total,
            }
            sample["events"][1]["output"]["usage"] = usage

        return changed(add).steps_of("llm")[0].usage

    assert thought(41) == Usage(9, 32, 41)
    assert thought(11) == Usage(9, 2, 11)


def test_a_providers_own_tool_is_a_call_with_its_result():
    def search(sample):
        part = {"type": "tool_use", "id": "w", "name": "web_search", "arguments": '{"q": "x"}', "result": "found"}  # fmt: skip
        sample["messages"][1]["content"] = [part, {"type": "text", "text": "I searched."}]

    trace = changed(search)
    found = [(step.name, step.arguments, step.output) for step in trace.steps_of("tool")]
    assert found == [("web_search", {"q": "x"}, "found"), ("f", {"q": "x"}, "")]


def written(index, **more):
    """Return a sample with one more message in the assistant's role, which has a call, at that place."""
    call = {"id": "w", "function": "submit", "arguments": {"answer": "x"}}
    message = {"id": "mw", "role": "assistant", "content": "", "tool_calls": [call], **more}
    return SAMPLE | {
        "messages": [*SAMPLE["messages"][:index], message, *SAMPLE["messages"][index:]]
    }


@pytest.mark.parametrize("index", [1, 3])
@pytest.mark.parametrize(
    ("more", "is_answer"),
    [
        ({}, False),
        ({"source": "input"}, False),
        ({"content": "I submit x."}, False),
        ({"source": "generate"}, True),
        ({"model": "m"}, True),
    ],
)
def test_messages_of_no_model_call_are_none_but_their_calls_count(index, more, is_answer):
    trace, before = read_trace(written(index, **more)), read_trace(SAMPLE)
    assert len(trace.steps_of("llm")) == len(before.steps_of("llm")) + is_answer
    assert {step.name for step in trace.steps_of("tool")} == {"f", "submit"}
    assert ("I submit x." in [step.output for step in trace.steps_of("other")]) == (
        more == {"content": "I submit x."}
    )


def test_messages_of_a_sample_without_events_are_model_calls_but_those_of_its_input():
    for more, is_answer in (({}, True), ({"source": "input"}, False)):
        sample = written(3, **more) | {"events": []}
        assert len(read_trace(sample).steps_of("llm")) == 1 + is_answer
