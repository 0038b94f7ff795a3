"""Detection of a value's format: by its shape only, inside common wrappers, and without crashes."""

from __future__ import annotations

import copy
import dataclasses
from functools import partial

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.generated import examples
from support.growth import assert_takes_at_most
from support.trace_examples import EXAMPLES as LOGS
from support.trace_examples import claiming
from weighbridge.errors import TraceError, UnknownTraceFormatError
from weighbridge.traces import FORMATS, Trace, read_trace, read_traces

CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
CHAT = [
    {"role": "user", "content": "hi", "timestamp": "2025-01-01T12:00:00Z"},
    {"role": "assistant", "content": None, "tool_calls": [CALL], "usage": {"prompt_tokens": 1}},
    {"role": "tool", "tool_call_id": "c", "content": [{"type": "text", "text": "found"}]},
    {"role": "assistant", "content": "done", "function_call": {"name": "g", "arguments": "{}"}},
]
EXAMPLES = {
    "native": {
        "id": "n",
        "steps": [
            {"type": "llm", "usage": {"input_tokens": 1}, "started_at": 1},
            {"id": "t", "type": "tool", "arguments": {"a": 1}, "error": "no"},
        ],
        "tools": [{"name": "f", "parameters": {}}],
        "missing": {"cost": "no"},
    },
    "atif": {
        "schema_version": "ATIF-v1.7",
        "session_id": "s",
        "agent": {"name": "a", "tool_definitions": [{"name": "f"}]},
        "steps": [
            {"step_id": 1, "source": "user", "message": [{"type": "text", "text": "hi"}]},
            {
                "step_id": 2,
                "source": "agent",
                "message": "",
                "tool_calls": [{"tool_call_id": "c", "function_name": "f", "arguments": {}}],
                "observation": {
                    "results": [
                        {
                            "source_call_id": "c",
                            "content": "x",
                            "subagent_trajectory_ref": [{"trajectory_id": "k"}],
                        }
                    ]
                },
                "metrics": {"prompt_tokens": 1, "cost_usd": 0.5},
            },
        ],
        "final_metrics": {"total_prompt_tokens": 1},
        "subagent_trajectories": [
            {"schema_version": "ATIF-v1.7", "trajectory_id": "k", "steps": [{"source": "agent"}]}
        ],
    },
    "swe-agent": {
        "trajectory": [{"action": "ls -F", "observation": "a", "response": "r", "thought": "t"}],
        "history": [
            {"role": "user", "content": "fix"},
            {"role": "assistant", "content": "r", "action": "ls -F", "tool_calls": [CALL]},
        ],
        "info": {"model_stats": {"tokens_sent": 5, "tokens_received": 1, "instance_cost": 0.5}},
        "replay_config": {"agent": {"model": {"name": "m"}}},
    },
    "tau-bench": {"task_id": 1, "trial": 0, "reward": 1.0, "info": {}, "traj": CHAT},
    "tau2": {
        "id": "s",
        "termination_reason": "user_stop",
        "start_time": "2025-01-01T12:00:00",
        "reward_info": {"reward": 1.0},
        "messages": CHAT,
    },
    "general-agentbench": {
        "task_id": "t",
        "messages": CHAT,
        "rounds": [{"reasoning": "", "tools_executed": 1, "prompt_tokens": 5}],
        "steps": [
            {"message_type": "tool_call", "tool_name": "f", "timestamp": "2025-01-01T12:00:00"},
            {"message_type": "tool_result", "tool_name": "f", "tool_error": True},
        ],
        "total_tokens": 5,
    },
    "openai-chat": CHAT,
    **LOGS,
}
ids = list(EXAMPLES)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=30,
)


@pytest.mark.parametrize("format_id", ids)
def test_each_format_is_known_by_its_shape(format_id):
    assert read_trace(EXAMPLES[format_id]).format == format_id


@pytest.mark.parametrize("format_id", ids)
def test_exactly_one_importer_claims_a_trace(format_id):
    assert claiming(EXAMPLES[format_id]) == [format_id]


@pytest.mark.parametrize("format_id", ids)
@pytest.mark.parametrize("key", ["record", "trace", "trajectory", "conversation"])
def test_a_trace_may_be_wrapped_and_take_its_id_from_there(format_id, key):
    wrapped = {"id": "outer", "path": "x", key: EXAMPLES[format_id]}
    trace = read_trace(wrapped)
    plain = read_trace(EXAMPLES[format_id])
    assert (trace.format, trace.steps) == (plain.format, plain.steps)
    assert trace.id == (plain.id or "outer")


@pytest.mark.parametrize("format_id", ids)
def test_a_trace_may_be_text_also_inside_its_wrapper(format_id):
    value = EXAMPLES[format_id]
    text = orjson.dumps(value)
    expected = read_trace(value)
    for written in (text, text.decode(), bytearray(text), {"trace": text.decode()}):
        assert read_trace(written) == expected


@pytest.mark.parametrize("format_id", ids)
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
        ([], "an array of 0"),
        ([1, 2], "an array of 2"),
        ([{"a": 1}], "an array of 1, the first of them an object with a"),
        (5, "neither an object nor an array"),
        (None, "neither an object nor an array"),
        ("5", "neither an object nor an array"),
    ],
)
def test_an_unknown_shape_is_an_error_that_names_the_formats(value, described):
    with pytest.raises(UnknownTraceFormatError) as caught:
        read_traces(value)
    assert described in caught.value.message
    assert all(importer.name in caught.value.hint for importer in FORMATS)


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


def places(value, path=()):
    yield path
    if type(value) is dict:
        for key in value:
            yield from places(value[key], (*path, key))
    elif type(value) is list:
        for index in range(len(value)):
            yield from places(value[index], (*path, index))


ODD = st.sampled_from(
    [
        *(None, True, False, 0, -1, 2**63, 10**30, 1e308, float("inf"), "", "s1", "\ud800", [], {}),
        *([None], [[]], {"a": {}}, [CALL], CHAT, {"type": "text", "text": "x"}),
    ]
)


@st.composite
def damaged(draw):
    """Return an example with a few of its values replaced, removed or moved."""
    value = copy.deepcopy(EXAMPLES[draw(st.sampled_from(ids))])
    for _ in range(draw(st.integers(1, 3))):
        *path, last = draw(st.sampled_from([path for path in places(value) if path]))
        inner = value
        for key in path:
            inner = inner[key]
        if draw(st.booleans()):
            inner[last] = copy.deepcopy(draw(ODD | json_values))
        else:
            del inner[last]
        if not value:
            break
    return value


@given(damaged())
@settings(max_examples=examples(500))
def test_a_damaged_trace_is_a_trace_or_an_error(value):
    traces_or_trace_error(value)


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
    assert_takes_at_most(40, reading, size=1_000, of=100)


def test_an_importer_that_runs_out_of_memory_does_not_find_the_trace_damaged(monkeypatch):
    def read(value):
        raise MemoryError

    native = next(each for each in FORMATS if each.id == "native")
    full = dataclasses.replace(native, read=read)
    monkeypatch.setattr("weighbridge.traces.read.formats", lambda: (full,))
    with pytest.raises(MemoryError):
        read_trace({"format": "weighbridge", "steps": []})
