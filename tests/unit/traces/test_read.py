"""Detection of a value's format: by its shape only, inside common wrappers, and without crashes."""

from __future__ import annotations

import dataclasses
from functools import partial

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.growth import assert_takes_at_most
from support.trace_examples import EXAMPLES, claiming
from support.trace_examples.command_line_agents import CURSOR_CLI
from support.trace_examples.model_apis import CHAT
from weighbridge.errors import TraceError, UnknownTraceFormatError
from weighbridge.traces import FORMATS, Trace, read_trace, read_traces

ids = list(EXAMPLES)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=30,
)


def test_each_format_has_an_example():
    assert sorted(EXAMPLES) == sorted(importer.id for importer in FORMATS)


@pytest.mark.parametrize("format_id", ids)
def test_each_format_is_known_by_its_shape(format_id):
    assert read_trace(EXAMPLES[format_id]).format == format_id


@pytest.mark.parametrize("format_id", ids)
def test_exactly_one_importer_claims_a_trace(format_id):
    assert claiming(EXAMPLES[format_id]) == [format_id]


@pytest.mark.parametrize("format_id", ids)
def test_a_trace_may_be_wrapped_and_take_its_id_from_there(format_id):
    plain = read_trace(EXAMPLES[format_id])
    for key in ("record", "trace", "trajectory", "conversation"):
        trace = read_trace({"id": "outer", "path": "x", key: EXAMPLES[format_id]})
        assert (trace.format, trace.steps) == (plain.format, plain.steps), key
        assert trace.id == (plain.id or "outer"), key


@pytest.mark.parametrize("format_id", ids)
def test_a_trace_may_be_text_also_inside_its_wrapper(format_id):
    value = EXAMPLES[format_id]
    text = orjson.dumps(value)
    expected = read_trace(value)
    for written in (text, text.decode(), bytearray(text), {"trace": text.decode()}):
        assert read_trace(written) == expected


# The spans of a trace may stand on several lines, where a repeated one counts once.
@pytest.mark.parametrize("format_id", [each for each in ids if each != "otel"])
def test_a_list_of_traces_or_lines_of_them_are_several(format_id):
    value = EXAMPLES[format_id]
    expected = [read_trace(value)] * 3
    assert list(read_traces([value, value, value])) == expected
    lines = b"\n\n".join([orjson.dumps(value)] * 3)
    assert list(read_traces(lines)) == expected
    assert list(read_traces(lines.decode())) == expected
    with pytest.raises(TraceError, match="there are 3 traces in one value"):
        read_trace(lines)


def test_messages_may_be_the_text_of_a_tables_cell():
    row = {"id": "row-1", "messages": orjson.dumps(CHAT).decode()}
    assert read_trace(row).steps == read_trace(CHAT).steps


def test_a_list_of_one_trace_is_that_trace():
    assert read_trace([EXAMPLES["atif"]]) == read_trace(EXAMPLES["atif"])


@pytest.mark.parametrize("key", ["turns", "history", "chat_history", "message_history"])
def test_a_chat_may_be_under_another_common_name(key):
    said = [
        {"role": "user", "content": "x?"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "find"}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "y"}]},
    ]
    trace = read_trace({"id": "r1", "model": "m", key: said})
    assert (trace.id, [step.type for step in trace.steps]) == ("r1", ["user", "llm", "tool"])
    assert read_trace({"conversation": {key: said}}).steps[2].output == "y"


@pytest.mark.parametrize(
    "beside",
    [
        {"history": "[]", "turns": [{"role": "user", "content": "x?"}]},
        {"turns": [{"role": "assistant", "content": "x"}], "history": [{"role": "assistant"}]},
        {"turns": [{"role": "assistant", "content": "x"}], "response": "y"},
        {"turns": [{"role": "assistant", "content": "x"}, "y"]},
        {"turns": [{"role": "assistant", "content": "x"}, {"role": "judge", "content": "y"}]},
        {"turns": [{"role": "assistant", "said": "x"}]},
        {"turns": [{"speaker": "agent", "text": "x"}], "response": "y"},
        {"turns": [{"speaker": "human", "text": "x"}, {"speaker": "human", "text": "y"}]},
        {"turns": [{"speaker": "human", "text": "x"}, {"role": "agent", "text": "y"}]},
        {"turns": [{"speaker": "human", "text": "x"}, {"speaker": "agent", "text": 5}]},
        {"turns": [{"speaker": [], "text": "x"}, {"speaker": "agent", "text": "y"}]},
    ],
)
def test_a_chat_under_another_name_is_none_if_something_was_said_elsewhere(beside):
    with pytest.raises(UnknownTraceFormatError):
        read_trace(beside)


@pytest.mark.parametrize(
    "called",
    [
        {"actions": [{"name": "look"}]},
        {"tool": "look", "input": {"a": 1}},
        {"function": {"name": "look", "arguments": "{}"}},
        {"tools_used": ["look"]},
    ],
)
@pytest.mark.parametrize(
    ("key", "role", "asks", "answers", "text"),
    [
        ("turns", "speaker", "customer", "agent", "text"),
        ("history", "role", "human", "bot", "content"),
        ("messages", "role", "user", "assistant", "content"),
        ("conversations", "from", "human", "gpt", "value"),
    ],
)
def test_calls_in_fields_of_their_own_are_not_known(key, role, asks, answers, text, called):
    turns = [{role: asks, text: "x"}, {role: answers, text: "y", **called}]
    trace = read_trace({"id": "a", key: turns})
    assert "not read" in trace.missing["tool_calls"]
    del turns[1][next(iter(called))]
    assert "tool_calls" not in read_trace({"id": "a", key: turns}).missing


@pytest.mark.parametrize("key", ["turns", "message_history", "messages"])
@pytest.mark.parametrize(
    ("asks", "answers"),
    [
        *(("human", "ai"), ("Customer", "Virtual agent"), ("user", "bot"), ("user", "model")),
        ("end-user", "AGENT"),
    ],
)
@pytest.mark.parametrize(("role", "text"), [("role", "content"), ("speaker", "text")])
def test_the_speakers_of_a_chat_may_have_other_common_names(key, asks, answers, role, text):
    said = [{role: asks, text: "x?"}, {role: answers, text: "y", "model": "m"}]
    trace = read_trace({"conversation_id": "c1", key: said})
    assert (trace.id, trace.not_carried) == ("c1", ())
    assert [(step.type, step.output, step.model) for step in trace.steps] == [
        ("user", "x?", None),
        ("llm", "y", "m"),
    ]
    assert read_trace(said).steps == trace.steps


def test_calls_of_an_agent_of_another_name_are_read():
    call = {"id": "c", "type": "function", "function": {"name": "find", "arguments": "{}"}}
    said = [{"role": "human", "content": "x?"}, {"role": "ai", "content": "", "tool_calls": [call]}]
    said.append({"role": "tool", "tool_call_id": "c", "content": "y"})
    assert [step.output for step in read_trace({"turns": said}).steps_of("tool")] == ["y"]


SAID = [{"role": "user", "content": "x?"}, {"role": "assistant", "content": "y"}]


@pytest.mark.parametrize(
    "beside",
    [
        *({"next_utterance": "z"}, {"rewrittenQuery": "z"}, {"user": "u", "assistant": "z"}),
        *({"final_answer": "z"}, {"candidates": ["y", "z"]}, {"human": "z", "gpt": "w"}),
    ],
)
def test_a_row_of_a_data_set_with_a_history_and_what_comes_next_is_no_trace(beside):
    with pytest.raises(UnknownTraceFormatError):
        read_trace({"history": SAID, **beside})


@pytest.mark.parametrize(
    "beside",
    [
        *(
            {"final_answer": "y"},
            {"ground_truth": "z"},
            {"label": 1},
            {"user": "u7"},
            {"answers": 1},
        ),
        *({"question_id": "q1"}, {"response_format": "text"}, {"answers": []}, {"goal": "z"}),
    ],
)
def test_what_is_about_a_history_or_repeats_it_stands_beside_a_trace(beside):
    assert len(read_trace({"history": SAID, **beside}).steps) == 2


@pytest.mark.parametrize("beside", [{"expected": "z"}, {"groundTruth": "z"}, {"target_text": "z"}])
def test_a_history_that_ends_with_a_question_to_which_an_answer_is_wanted_is_no_trace(beside):
    with pytest.raises(UnknownTraceFormatError):
        read_trace({"history": [*SAID, SAID[0]], **beside})


def test_lines_of_messages_are_one_chat():
    lines = b"".join(orjson.dumps(message) + b"\r\n" for message in CHAT)
    assert read_trace(lines).steps == read_trace(CHAT).steps


def test_lines_are_not_split_at_other_characters_that_end_lines():
    lines = '{"role": "user", "content": "a\u2028b"}\n{"role": "user", "content": "c\x85d"}'
    assert [step.output for step in read_trace(lines).steps] == ["a\u2028b", "c\x85d"]


def test_a_bad_item_of_a_list_is_named():
    with pytest.raises(TraceError, match="trace 2 of the list: not a recognised trace format"):
        read_traces([EXAMPLES["atif"], {"a": 1}])


@pytest.mark.parametrize(
    ("value", "described"),
    [
        ({}, "an empty object"),
        ({"a": 1, "b": 2}, "an object with a, b"),
        ({f"k{n}": n for n in range(14)}, "k11 and 2 more"),
        ([], "a list of 0"),
        ([1, 2], "a list of 2"),
        ([{"a": 1}], "a list of 1, the first of them an object with a"),
        (5, "neither an object nor a list"),
        (None, "neither an object nor a list"),
        ("5", "neither an object nor a list"),
    ],
)
def test_an_unknown_shape_is_an_error_that_says_where_the_formats_are_listed(value, described):
    with pytest.raises(UnknownTraceFormatError) as caught:
        read_traces(value)
    assert described in caught.value.message
    assert "`weighbridge trace formats` lists the known ones" in caught.value.hint


@pytest.mark.parametrize("text", ["", "{", "{}\n{", b"\xff", "\ud800", "[" * 5000, "NaN"])
def test_text_that_is_no_json_is_an_error(text):
    with pytest.raises(TraceError, match="the trace is not JSON"):
        read_traces(text)


@pytest.mark.parametrize("role", [None, 5, [], {}, "", "judge"])
def test_a_role_that_is_none_is_no_chat(role):
    with pytest.raises(UnknownTraceFormatError):
        read_traces([{"role": role, "content": "hi"}])


def traces_or_trace_error(value):
    try:
        traces = read_traces(value)
    except TraceError:
        return
    assert traces
    for trace in traces:
        assert type(trace) is Trace
        step_ids = [step.id for step in trace.steps]
        assert len(set(step_ids)) == len(step_ids)


@given(json_values)
def test_any_value_is_traces_or_an_error(value):
    traces_or_trace_error(value)


@given(st.binary() | st.text())
def test_any_text_is_traces_or_an_error(text):
    traces_or_trace_error(text)


@pytest.mark.slow
@pytest.mark.parametrize("format_id", ids)
def test_a_long_trace_takes_time_in_proportion(format_id):
    def lengthened(value, times):
        if type(value) is dict:
            return {key: lengthened(item, times) for key, item in value.items()}
        return value * times if type(value) is list else value

    def reading(times):
        return partial(read_traces, lengthened(EXAMPLES[format_id], times))

    # Quadratic work would take a hundred times as long.
    assert_takes_at_most(20, reading, size=400, of=40)


def test_an_importer_that_runs_out_of_memory_does_not_find_the_trace_damaged(monkeypatch):
    def read(value):
        raise MemoryError

    native = next(each for each in FORMATS if each.id == "native")
    full = dataclasses.replace(native, read=read)
    monkeypatch.setattr("weighbridge.traces.recognition.formats", lambda: (full,))
    with pytest.raises(MemoryError):
        read_trace({"format": "weighbridge", "steps": []})


def normalised(lines):
    """Return the events that DEC Bench makes of the lines of a stream: two of each but the first."""
    names = [(f"evt-{at}{end}", line) for at, line in enumerate(lines) for end in (".a", ".b")]
    events = [{"id": name, "kind": "event", "payload": line} for name, line in names[1:]]
    return {"schemaVersion": "2", "source": "cursor-stream-json", "events": events}


def test_the_lines_that_events_of_dec_bench_keep_are_read_once_each():
    wrapped = normalised(CURSOR_CLI) | {"usage": {"totalCostUsd": 1}, "summary": {"eventCount": 3}}
    trace, plain = read_trace(wrapped), read_trace(CURSOR_CLI)
    assert (trace.format, trace.steps, trace.usage) == ("cursor-cli", plain.steps, plain.usage)
    assert set(trace.not_carried) == {*plain.not_carried, "wrapper field 'usage' (1)"}


@pytest.mark.parametrize(
    "change",
    [{"source": 7}, {"events": {}}, {"events": [{"id": "evt-1", "kind": "event"}]}, {"events": []}],
)
def test_other_events_are_not_those_of_dec_bench(change):
    with pytest.raises(UnknownTraceFormatError):
        read_trace(normalised(CURSOR_CLI) | change)


def test_metadata_beside_a_wrapped_trace_are_those_of_the_trace():
    steps = [{"type": "user", "output": "hi"}]
    wrapped = {"record": {"steps": steps, "metadata": {"a": 1, "b": 2}}, "metadata": {"b": 3}}
    trace = read_trace(wrapped)
    assert (trace.metadata, trace.not_carried) == ({"a": 1, "b": 3}, ())
    assert read_trace({**wrapped, "metadata": "x"}).metadata == {"a": 1, "b": 2}


def test_an_escape_of_half_a_surrogate_pair_in_a_text_is_the_replacement_character():
    text = orjson.dumps({"id": "run %", "messages": CHAT}).decode().replace("%", r"\ud83d")
    assert read_trace(text).id == read_trace(text.encode()).id == "run \ufffd"
