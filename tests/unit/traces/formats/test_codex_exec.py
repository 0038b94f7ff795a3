"""The output of `codex exec --json`: items in their final state."""

from __future__ import annotations

import pytest

from support.trace_examples.command_line_agents import CODEX_EXEC
from weighbridge.traces import Step, Usage, read_trace, read_traces
from weighbridge.traces.formats.codex_exec import IMPORTER
from weighbridge.traces.split import opens_session, single_traces


def test_items_are_calls_and_answers_once_each():
    trace = read_trace(CODEX_EXEC)
    assert (trace.format, trace.id, trace.usage) == ("codex-exec", "t", Usage(9, 3, None, 4))
    assert trace.steps == (
        Step(id="s1", type="llm"),
        Step(id="i0", type="tool", parent_id="s1", name="shell", arguments={"command": "ls"}, output="a"),
        Step(id="s3", type="llm", output="I ask."),
        Step(id="i2", type="tool", parent_id="s3", name="find", arguments={"q": "x"}, error="no"),
    )  # fmt: skip
    assert opens_session(CODEX_EXEC[0])


@pytest.mark.parametrize(
    ("tokens", "expected"), [((5, 9), Usage(9, 1, None, 0)), ((9, 5), Usage(14, 2, None, 0))]
)
def test_turns_that_count_all_before_them_are_not_added(tokens, expected):
    turns = [
        {"type": "turn.completed", "usage": {"input_tokens": sent, "cached_input_tokens": 0, "output_tokens": 1}}
        for sent in tokens
    ]  # fmt: skip
    assert read_trace([CODEX_EXEC[0], *turns]).usage == expected


def test_a_turn_that_failed_or_broke_off_keeps_what_was_done():
    failed = {"type": "turn.failed", "error": {"message": "slow down"}}
    trace = read_trace([*CODEX_EXEC[:3], failed])
    assert [(step.type, step.name, step.error) for step in trace.steps] == [
        ("llm", None, None),
        ("tool", "shell", None),
        ("other", None, "slow down"),
    ]


def test_events_in_an_object_are_read_as_those_in_a_list():
    trace = read_trace({"events": CODEX_EXEC, "label": "x"})
    assert trace.steps == read_trace(CODEX_EXEC).steps
    assert "object field 'label' (1)" in trace.not_carried


@pytest.mark.parametrize("whole", ["messages", "steps", "items", "trace", "trajectory"])
def test_events_beside_a_whole_run_are_not_read_in_its_place(whole):
    assert IMPORTER.matches({"events": CODEX_EXEC})
    assert not IMPORTER.matches({"events": CODEX_EXEC, whole: [{"role": "user", "content": "x"}]})


def test_a_chat_with_turns_beside_it_stays_a_chat():
    answer = {"role": "assistant", "content": "Hi."}
    messages = [{"role": "user", "content": "Hello."}, answer, answer]
    events = [{"type": "turn.started"}, {"type": "turn.completed", "latency_ms": 5}]
    trace = read_trace({"messages": messages, "events": events})
    assert (trace.format, len(trace.steps_of("llm"))) == ("openai-chat", 2)


def test_turns_alone_in_an_object_may_be_of_another_program():
    events = [{"type": "session.start"}, {"type": "turn.started"}, {"type": "turn.ended"}]
    assert not IMPORTER.matches({"session": "x", "events": events})
    assert IMPORTER.matches({"events": [*events, CODEX_EXEC[2]]})
    assert IMPORTER.matches(events)


def test_each_thread_of_several_is_a_trace():
    other = [{"type": "thread.started", "thread_id": "u"}, *CODEX_EXEC[1:]]
    values = [CODEX_EXEC + other, {"events": CODEX_EXEC + other}]
    for value in values:
        one, two = read_traces(value)
        assert (one, two.id, two.usage) == (read_trace(CODEX_EXEC), "u", one.usage)
        assert single_traces(value) == [("t", CODEX_EXEC), ("u", other)]
    assert [trace.id for trace in read_traces(CODEX_EXEC[1:] + other)] == [None, "u"]


def test_threads_that_are_mixed_have_lower_bounds():
    other = [{"type": "thread.started", "thread_id": "u"}, *CODEX_EXEC[1:]]
    mixed = [event for pair in zip(CODEX_EXEC, other, strict=True) for event in pair]
    trace = read_trace(mixed)
    assert {"llm_calls", "tool_calls", "token_usage"} <= trace.missing.keys()
    assert len(trace.steps_of("tool")) >= 1


@pytest.mark.parametrize(
    ("tokens", "expected", "is_known"),
    [((9, 5), 16, True), ((5, 9), 10, False)],
)
def test_a_thread_that_is_resumed_is_one_trace(tokens, expected, is_known):
    first, second = (
        [*CODEX_EXEC[:-1], {"type": "turn.completed", "usage": {"input_tokens": sent, "output_tokens": 1}}]
        for sent in tokens
    )  # fmt: skip
    trace = read_trace(first + second)
    assert trace.usage.total == expected
    assert ("token_usage" not in trace.missing) == is_known
    assert len(trace.steps_of("tool")) == 2 * len(read_trace(first).steps_of("tool"))
