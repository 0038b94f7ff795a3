"""Streamed responses of APIs: each counted once, with its text and its calls assembled from pieces."""

from __future__ import annotations

import json
import time

import pytest

from support.trace_examples.model_apis import API_STREAM
from weighbridge.traces import Step, Usage, read_trace, read_traces
from weighbridge.traces.formats import api_stream
from weighbridge.traces.split import opens_session

matches = api_stream.IMPORTER.matches


def shape(trace):
    return [(step.type, step.name, step.arguments, step.output) for step in trace.steps]


def chunk(delta, **more):
    choices = [] if delta is None else [{"index": 0, "delta": delta}]
    return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1735732800, "model": "m", "choices": choices} | more  # fmt: skip


def call(index, arguments, **more):
    function = {"arguments": arguments, **more.pop("function", {})}
    return {"tool_calls": [{"index": index, "function": function, **more}]}


CHAT = [
    chunk({"role": "assistant", "content": "I "}),
    chunk({"content": "look."}),
    chunk(call(0, "", id="c1", function={"name": "search"})),
    chunk(call(1, '{"q": "y"}', id="c2", function={"name": "search"})),
    chunk(call(0, '{"q": ')),
    chunk(call(0, '"x"}')),
    chunk(None, usage={"prompt_tokens": 20, "completion_tokens": 7, "total_tokens": 27}),
]


def test_events_of_anthropic_are_one_answer_with_the_counts_of_its_start_and_end():
    trace = read_trace(API_STREAM)
    assert trace.format == "api-stream"
    [answer, asked] = trace.steps
    assert (answer.output, answer.model) == ("I look.", "m")
    assert answer.usage == Usage(25, 7, cached_tokens=5)
    assert (asked.id, asked.name, asked.arguments) == ("c1", "search", {"q": "x"})


def test_chunks_of_chat_completions_are_put_together_by_their_id():
    trace = read_trace(CHAT)
    assert trace.id == "chatcmpl-1"
    assert trace.steps == (
        Step("s1", "llm", None, None, None, "I look.", None, None, "m", Usage(20, 7, 27), None, 1735732800 * 10**9),
        Step("c1", "tool", "s1", "search", arguments={"q": "x"}),
        Step("c2", "tool", "s1", "search", arguments={"q": "y"}),
    )  # fmt: skip
    other = [{**each, "id": "chatcmpl-2"} for each in CHAT[:2]]
    mixed = [CHAT[0], other[0], CHAT[1], other[1]]
    assert [step.output for step in read_trace(mixed).steps] == ["I look.", "I look."]


def test_calls_that_a_server_numbers_alike_are_told_apart_by_their_ids():
    chunks = [
        chunk(call(0, "{}", id="a", function={"name": "f"})),
        chunk(call(0, '{"x": 1}', id="b", function={"name": "g"})),
    ]
    assert shape(read_trace(chunks))[1:] == [("tool", "f", {}, None), ("tool", "g", {"x": 1}, None)]


def test_events_of_responses_are_the_response_that_ended_or_the_items_until_then():
    item = {"type": "function_call", "id": "f", "call_id": "c1", "name": "search", "arguments": ""}
    done = {**item, "arguments": '{"q": "x"}'}
    created = {"id": "r", "object": "response", "output": [], "model": "m"}
    usage = {"input_tokens": 20, "output_tokens": 7, "total_tokens": 27}
    begun = [
        {"type": "response.created", "response": created},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.function_call_arguments.delta", "output_index": 0, "delta": '{"q": '},
        {"type": "response.function_call_arguments.delta", "output_index": 0, "delta": '"x"}'},
    ]
    itemised = {"type": "response.output_item.done", "output_index": 0, "item": done}
    ended = {**created, "status": "completed", "output": [done], "usage": usage}
    whole = [*begun, itemised, {"type": "response.completed", "response": ended}]
    for events in (begun, [*begun, itemised], whole):
        [asked] = read_trace(events).steps_of("tool")
        assert (asked.name, asked.arguments) == ("search", {"q": "x"})
    [answer] = read_trace(whole).steps_of("llm")
    assert answer.usage == Usage(20, 7, 27)


def gemini(*parts, **more):
    return {"candidates": [{"content": {"role": "model", "parts": list(parts)}}]} | more


PIECES = [
    gemini({"text": "I "}, usageMetadata={"promptTokenCount": 20, "candidatesTokenCount": 1}),
    gemini({"text": "look."}, {"functionCall": {"name": "search", "args": {"q": "x"}}}),
    gemini({"text": ""}, usageMetadata={"promptTokenCount": 20, "candidatesTokenCount": 7}),
]


def test_pieces_of_gemini_are_one_answer_with_the_last_usage():
    named = [{**piece, "responseId": "r"} for piece in PIECES]
    ended = json.loads(json.dumps(PIECES))
    ended[-1]["candidates"][0]["finishReason"] = "STOP"
    text = "\r\n\r\n".join(f"data: {json.dumps(piece)}" for piece in PIECES)
    for value in (named, ended, text):
        trace = read_trace(value)
        assert trace.format == "api-stream"
        assert shape(trace) == [
            ("llm", None, None, "I look."),
            ("tool", "search", {"q": "x"}, None),
        ]
        assert trace.steps[0].usage == Usage(20, 7)


def test_answers_of_gemini_that_each_ended_stay_several():
    ended = gemini({"text": "Yes."})
    ended["candidates"][0]["finishReason"] = "STOP"
    assert len(read_traces([ended, ended])) == 2


@pytest.mark.parametrize("events", [API_STREAM, CHAT])
def test_the_text_that_a_server_sends_is_read_as_its_events(events):
    lines = [f"event: {each.get('type')}\ndata: {json.dumps(each)}\n\n" for each in events]
    commented = lines[0] + ": a comment\n\n" + "".join(lines[1:])
    for sent in ("".join(lines) + "data: [DONE]\n\n", commented, commented.encode()):
        assert read_trace(sent) == read_trace(events)
    held = [{"event": str(each.get("type")), "data": json.dumps(each)} for each in events]
    assert read_trace([*held, {"event": "done", "data": "[DONE]"}]) == read_trace(events)


def test_each_event_on_a_line_of_its_own_opens_a_session():
    assert opens_session(API_STREAM[0])
    assert opens_session(CHAT[0])


def test_an_error_in_the_stream_is_the_error_of_the_last_answer():
    failed = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    assert read_trace([*API_STREAM[:5], failed]).steps[-1].error == "Overloaded"


@pytest.mark.parametrize(
    "value",
    [[], [{}], [{"type": "ping"}], [{"type": "error"}], [CHAT[0], API_STREAM[0]], [CHAT[0], 1], [{"object": "chat.completion.chunk"}]],
)  # fmt: skip
def test_other_lists_are_not_claimed(value):
    assert not matches(value)


@pytest.mark.parametrize("held", [None, 1, "x", [], [1], {}, {"type": 1}])
def test_odd_values_in_events_leave_the_rest_readable(held):
    odd = [
        {"type": "content_block_start", "index": held, "content_block": held},
        {"type": "content_block_delta", "index": 0, "delta": held},
        {"type": "message_delta", "delta": held, "usage": held},
    ]
    assert read_trace([*API_STREAM, *odd]).steps[0].output == "I look."
    chunks = [
        chunk(held),
        chunk({"tool_calls": held, "function_call": held}),
        chunk({}, choices=held),
    ]
    assert read_trace([*CHAT, *chunks]).steps[0].output == "I look."


def test_long_streams_are_read_in_linear_time():
    pieces = [
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "x"}}
    ]
    started = time.process_time()
    read_trace([*API_STREAM[:2], *pieces * 50_000])
    read_trace([CHAT[0], *[chunk(call(0, "x"))] * 50_000])
    assert time.process_time() - started < 3
