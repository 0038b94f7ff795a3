"""Chats in an object under the ids of sessions or users."""

from __future__ import annotations

import pytest

from weighbridge.errors import TraceError, UnknownTraceFormatError
from weighbridge.traces import read_trace, read_traces
from weighbridge.traces.split import single_traces
from weighbridge.traces.traces_by_id import empty_sessions

CHAT = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
LANGCHAIN = [{"type": "human", "data": {"content": "Hi"}}, {"type": "ai", "data": {"content": "Hello"}}]  # fmt: skip


@pytest.mark.parametrize("chat", [CHAT, LANGCHAIN, {"messages": CHAT}, {"messages": LANGCHAIN}])
@pytest.mark.parametrize(
    ("wrap", "ids"),
    [
        (lambda chat: {"u1": chat}, ["u1"]),
        (lambda chat: {"u1": chat, "u2": chat}, ["u1", "u2"]),
        (lambda chat: {"": {"session_1": chat, "2": chat}}, ["session_1", "2"]),
        (lambda chat: {"a": {"u1": chat}, "b": {"u1": chat}}, ["a/u1", "b/u1"]),
    ],
)
def test_each_id_has_a_trace(chat, wrap, ids):
    traces = read_traces(wrap(chat))
    assert [trace.id for trace in traces] == ids
    assert [len(trace.steps_of("llm")) for trace in traces] == [1] * len(ids)
    assert single_traces(wrap(chat)) == [(each, chat) for each in ids]


def test_names_are_ids_if_there_are_several_with_messages():
    value = {"alice": {"messages": CHAT}, "bob": {"messages": CHAT}}
    assert [trace.id for trace in read_traces(value)] == ["alice", "bob"]


def test_the_id_in_a_trace_comes_before_the_key():
    assert read_traces({"u1": {"id": "own", "messages": CHAT}})[0].id == "own"


@pytest.mark.parametrize(
    "value",
    [
        {"chosen": CHAT, "rejected": CHAT},
        {"response_1": CHAT, "response_2": CHAT},
        {"answer": {"messages": CHAT}, "target": {"messages": CHAT}},
        {"alice": {"messages": CHAT}},
        {"dialog": CHAT, "transcript": CHAT},
        {"u1": CHAT, "version": 1},
        {"u1": CHAT, "u2": [{"score": 1}]},
        {"u1": []},
        {"u1": [], "u2": {"messages": None}},
        {"u1": {}},
        {"alice": {"messages": CHAT}, "error": None},
        {"a": {"b": {"u1": CHAT}}},
        {1: CHAT},
        {"a": {1: CHAT}},
        {},
    ],
)
def test_names_of_columns_and_other_values_are_no_ids(value):
    with pytest.raises(UnknownTraceFormatError):
        read_traces(value)
    assert single_traces(value) is None


@pytest.mark.parametrize("empty", [[], None, {"messages": []}, {"messages": None}])
def test_sessions_without_a_message_are_left_out(empty):
    for value, ids, left_out in (
        ({"s1": empty, "s2": CHAT, "s3": empty}, ["s2"], 2),
        ({"a": {"s1": {"messages": CHAT}, "s2": empty}, "b": {}}, ["a/s1"], 1),
    ):
        assert [trace.id for trace in read_traces(value)] == ids
        assert empty_sessions(value) == left_out


def test_a_damaged_chat_is_an_error_that_names_its_id():
    damaged = [*CHAT * 20, 7]
    with pytest.raises(TraceError, match="the trace at 'u2': message 41"):
        read_traces({"u1": CHAT, "u2": damaged})


def test_an_empty_key_is_shown():
    with pytest.raises(UnknownTraceFormatError, match='an object with "", a \\('):
        read_traces({"": {"x": 1}, "a": 2})


def told(session, role="user", **more):
    return {"session_id": session, "role": role, "content": f"{role} in {session}", **more}


BOTH = [told("a"), told("b"), told("a", "assistant"), told("b", "assistant")]


@pytest.mark.parametrize("key", ["session_id", "conv", "threadId", "conversation_id"])
@pytest.mark.parametrize("kind", [str, int])
def test_messages_that_name_their_session_are_a_trace_for_each(key, kind):
    names = {"a": "a", "b": "b"} if kind is str else {"a": 1, "b": 2}
    messages = [
        {key: names[each["session_id"]], "role": each["role"], "content": each["content"]}
        for each in BOTH
    ]
    found = single_traces(messages)
    assert [(name, len(held)) for name, held in found] == [
        (str(names["a"]), 2),
        (str(names["b"]), 2),
    ]
    assert [step.type for step in read_trace(found[1][1]).steps] == ["user", "llm"]


@pytest.mark.parametrize(
    "messages",
    [
        pytest.param([told("a"), told("a", "assistant")], id="one session"),
        pytest.param([*BOTH, {"role": "user", "content": "x"}], id="one without"),
        pytest.param([told("a"), told("b", "assistant")] * 2, id="an id for each answer"),
        pytest.param(
            [told("a"), told("b"), told("c"), told("c", "assistant")], id="ids of messages"
        ),
        pytest.param([{**each, "session_id": ["x"]} for each in BOTH], id="lists"),
    ],
)
def test_other_messages_are_one_trace(messages):
    assert single_traces(messages) == [(None, messages)]
