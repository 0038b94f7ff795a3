"""Traces in a house format, imported by a description of the locations of their data."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weighbridge.errors import TraceError
from weighbridge.traces import Counts, Step, Usage
from weighbridge.traces.mapped_format import MappedFormat, resolve


def at(pointers):
    """Return pointers to facts, each of which has one."""
    return {
        name: at(held) if isinstance(held, dict) else (held,) for name, held in pointers.items()
    }


EVENTS = MappedFormat(
    steps="/log/events",
    run=at({"id": "/run", "usage": {"input_tokens": "/in"}, "counts": {"tool_calls": "/calls"}}),
    step=at({"output": "/text", "usage": {"input_tokens": "/tok/0", "output_tokens": "/tok/1"}}),
    type=("/kind",),
    types={"model": "llm", "human": "user", "reply": "result", "*": "other"},
    calls_at="/asks",
    calls=at({"id": "/ref", "name": "/fn", "arguments": "/args"}),
    results=at({"call_id": "/ref", "output": "/text", "error": "/bad"}),
    model="/cfg/model",
)
FLAT = MappedFormat(
    steps="",
    type=("/type",),
    step=at({"id": "/id", "name": "/tool", "arguments": "/args", "output": "/out"}),
    results=at({"output": "/out"}),
)


def test_steps_calls_results_and_usage_are_found_where_the_pointers_lead():
    asks = [{"ref": "c1", "fn": "f", "args": '{"q": 1}'}, {"ref": "c2", "fn": "g"}]
    events = [
        {"kind": "human", "text": "go"},
        {"kind": "model", "text": "I look.", "tok": [9, 2], "asks": asks},
        {"kind": "reply", "ref": "c2", "text": "of g", "bad": "no"},
        {"kind": "reply", "ref": "c1", "text": "of f"},
        {"kind": "tick"},
    ]
    run = {"run": 7, "in": 20, "calls": 3, "cfg": {"model": "m"}, "log": {"events": events}}
    trace = EVENTS.read(run)
    assert (trace.id, trace.usage, trace.counts) == ("7", Usage(20), Counts(tool_calls=3))
    assert trace.steps == (
        Step(id="s1", type="user", output="go"),
        Step(id="s2", type="llm", output="I look.", model="m", usage=Usage(9, 2)),
        Step(id="c1", type="tool", name="f", arguments={"q": 1}, output="of f"),
        Step(id="c2", type="tool", name="g", arguments={}, output="of g", error="no"),
        Step(id="s5", type="other"),
    )


def test_a_result_that_does_not_say_whose_it_is_answers_the_first_call_that_waits():
    events = [
        {"type": "tool", "id": "a", "tool": "f", "args": {}},
        {"type": "tool", "tool": "g", "out": "at once"},
        {"type": "result", "out": "late"},
        {"type": "result", "out": "of none"},
    ]
    form = MappedFormat(**{**vars_of(FLAT), "types": {"result": "result"}})
    found = [(step.type, step.name, step.output) for step in form.read(events).steps]
    assert found == [("tool", "f", "late"), ("tool", "g", "at once"), ("other", None, "of none")]


def test_the_first_word_with_a_meaning_is_the_type_of_a_step():
    types = {"message": "other", "assistant": "llm", "reply": "result", "say": "user"}
    form = MappedFormat(**{**vars_of(FLAT), "type": ("/role", "/type"), "types": types})
    items = [
        {"type": "message", "role": "assistant"},
        {"type": "message", "role": "robot"},
        {"type": "user"},
        {"type": "tool", "role": None},
        {"type": "say", "role": ["assistant"]},
    ]
    found = [step.type for step in form.read(items).steps]
    assert found == ["llm", "other", "user", "tool", "user"]
    with pytest.raises(TraceError, match="step 1 has nothing at '/role' or '/type'"):
        form.read([{}])
    with pytest.raises(TraceError, match="step 1 has the type 'robot'"):
        form.read([{"role": "robot", "type": "noise"}])
    assert form.pointers()["step.type.1"] == "/type"


def vars_of(form):
    return {name: getattr(form, name) for name in form.__dataclass_fields__}


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ({"log": {}}, "no array of steps at '/log/events'"),
        ({"log": {"events": [{"kind": "human", "tok": 5}], "x": 1}, "calls": "y"}, "counts"),
    ],
)
def test_a_trace_that_is_not_as_described_is_refused(value, told):
    with pytest.raises(TraceError, match=told):
        EVENTS.read(value)


def test_a_type_that_nothing_is_said_of_is_refused_unless_all_others_are():
    with pytest.raises(TraceError, match="step 1 has the type 'tick'"):
        FLAT.read([{"type": "tick"}])


@pytest.mark.parametrize(
    ("pointer", "found"),
    [("", "whole"), ("/a/1", 2), ("/a/9", None), ("/a/-", None), ("/x~1y", 3), ("/m~0n", 4), ("/", 5)],
)  # fmt: skip
def test_pointers_are_those_of_rfc_6901(pointer, found):
    value = {"a": [1, 2], "x/y": 3, "m~n": 4, "": 5}
    assert resolve(value, pointer) == (value if found == "whole" else found)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(0, 9) | st.sampled_from(["model", "reply", "c1"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["kind", "asks", "ref", "log", "events", "tok", "text"]),
            inner,
            max_size=5,
        )
    ),
    max_leaves=25,
)


@given(json_values)
def test_any_json_is_read_or_refused_in_words(value):
    for form in (EVENTS, FLAT):
        with suppress(TraceError):
            form.read({"log": {"events": value}} if form is EVENTS else value)
