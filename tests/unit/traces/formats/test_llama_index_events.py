"""Events of LlamaIndex's agents: each call once, although the last output repeats all of them, and failures by their mark."""

from __future__ import annotations

import json

import pytest

from support.trace_examples.agent_frameworks import LLAMA_INDEX_EVENTS
from weighbridge.traces import Usage, read_trace
from weighbridge.traces.recognition import recognised


def typed(event):
    return {"__is_pydantic": True, "value": event, "qualified_name": "workflows.events.Event"}


@pytest.mark.parametrize(
    "events",
    [
        LLAMA_INDEX_EVENTS,
        list(map(typed, LLAMA_INDEX_EVENTS)),
        [{"event": "ToolCall", "data": event} for event in LLAMA_INDEX_EVENTS],
        "\n".join(map(json.dumps, LLAMA_INDEX_EVENTS)),
    ],
)
def test_every_form_has_each_call_and_failure_once(events):
    trace = read_trace(events)
    assert [(step.type, step.name, step.output) for step in trace.steps] == [
        ("system", None, "Be brief."),
        ("user", None, "Find x."),
        ("llm", "finder", "I look."),
        ("tool", "search", "3"),
        ("tool", "fetch", "gone"),
        ("llm", "finder", "It is 3."),
    ]
    search, fetch = trace.steps_of("tool")
    assert (search.arguments, search.error, fetch.error) == ({"q": "x"}, None, "gone")
    assert search.parent_id == fetch.parent_id == trace.steps[2].id
    assert "`raw`" in trace.missing["token_usage"]


def test_a_further_run_adds_its_question_and_may_use_the_ids_of_calls_again():
    trace = read_trace([*LLAMA_INDEX_EVENTS, *LLAMA_INDEX_EVENTS])
    assert [step.type for step in trace.steps].count("user") == 2
    assert [step.error for step in trace.steps_of("tool")] == [None, "gone"] * 2


@pytest.mark.parametrize("call_id", ["search", ""])
def test_parallel_calls_of_one_id_get_their_own_results_in_any_order(call_id):
    def event(query, **fields):
        return {"tool_name": "search", "tool_id": call_id, "tool_kwargs": {"q": query}, **fields}

    def result(query):
        return event(query, tool_output={"blocks": [{"block_type": "text", "text": query * 2}]})

    events = [*LLAMA_INDEX_EVENTS[:3], *map(event, "xyx"), *map(result, "yxx")]
    calls = read_trace(events).steps_of("tool")
    assert [(step.arguments["q"], step.output) for step in calls] == [
        ("x", "xx"),
        ("y", "yy"),
        ("x", "xx"),
    ]


def test_tokens_and_the_model_are_read_where_the_raw_answer_was_written():
    raw = {"model": "gpt-x", "usage": {"prompt_tokens": 9, "completion_tokens": 2}}
    events = [dict(event) for event in LLAMA_INDEX_EVENTS]
    events[2]["raw"] = raw
    answer = read_trace(events).steps_of("llm")[0]
    assert (answer.model, answer.usage) == ("gpt-x", Usage(9, 2))


def test_a_result_whose_call_was_not_kept_counts_as_a_call():
    events = [
        event
        for event in LLAMA_INDEX_EVENTS
        if event.keys() != {"tool_name", "tool_kwargs", "tool_id"}
    ]
    assert [step.name for step in read_trace(events).steps_of("tool")] == ["fetch", "search"]


@pytest.mark.parametrize(
    "other", [[{"result": 1}], [{"input": "x"}], [LLAMA_INDEX_EVENTS[0], {"step": 1}]]
)
def test_other_lists_are_not_taken_for_events(other):
    found = recognised(other)
    assert found is None or found.importer.id != "llama-index-events"
