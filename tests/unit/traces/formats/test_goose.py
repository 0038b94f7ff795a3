"""Goose's sessions, in lines, as an export, and as a stream of pieces."""

from __future__ import annotations

from support.trace_examples.command_line_agents import GOOSE, GOOSE_STORED
from weighbridge.traces import Step, Usage, read_trace, read_traces
from weighbridge.traces.fields import time_of
from weighbridge.traces.split import opens_session, single_traces

NOON = time_of("2025-01-01T12:00:00Z")
ABOUT, *MESSAGES = GOOSE


def test_messages_are_steps_with_their_calls_and_results():
    trace = read_trace(GOOSE)
    assert (trace.format, trace.usage) == ("goose", Usage(25, 5, 30))
    assert trace.steps == (
        Step(id="s1", type="user", output="Find x.", started_at=NOON),
        Step(id="s2", type="llm", output="I search.", ended_at=NOON),
        Step(
            id="c1",
            type="tool",
            parent_id="s2",
            name="search",
            arguments={"q": "x"},
            output="some",
            started_at=NOON,
            ended_at=NOON,
        ),
    )
    assert opens_session(ABOUT)


def test_an_export_has_the_same_messages_under_conversation():
    export = {"id": "s", **ABOUT, "conversation": MESSAGES}
    assert read_trace(export).steps == read_trace(GOOSE).steps
    assert read_trace(export).id == "s"


def test_rows_of_its_database_have_the_same_messages():
    trace = read_trace(
        {**GOOSE_STORED, "session": GOOSE_STORED["session"] | {"accumulated_cost": 0.5}}
    )
    assert [step.model for step in trace.steps_of("llm")] == ["m"]
    assert [(step.id, step.output) for step in trace.steps] == [
        (step.id, step.output) for step in read_trace(GOOSE).steps
    ]
    assert (trace.id, trace.usage, trace.cost_usd) == ("g", Usage(25, 5, 30), 0.5)
    assert trace.metadata == {"description": "Find", "working_dir": "/x"}


def test_rows_of_messages_alone_are_a_trace_for_each_session():
    rows = [row | {"session_id": name} for row in GOOSE_STORED["rows"] for name in "gh"]
    first, second = read_traces(rows)
    assert (first.id, second.id, first.usage) == ("g", "h", None)
    assert first.steps == second.steps == read_trace(GOOSE).steps
    assert [name for name, _ in single_traces(rows)] == ["g", "h"]
    assert opens_session(rows[0])
    damaged, _ = read_traces([rows[0] | {"content_json": "{"}, *rows[1:]])
    assert "tool_calls" in damaged.missing
    damaged, _ = read_traces([*rows * 20, rows[0] | {"role": None}])
    assert "tool_calls" in damaged.missing


def test_pieces_of_a_streamed_message_are_one():
    def piece(text, name="m1"):
        message = {"id": name, "role": "assistant", "created": 1735732800, "content": [{"type": "text", "text": text}]}  # fmt: skip
        return {"type": "message", "message": message}

    asked = {"type": "message", "message": MESSAGES[1]}
    lines = [piece("I "), piece("look."), piece("Here.", "m2"), asked, {"type": "complete", "total_tokens": 9}]  # fmt: skip
    trace = read_trace(lines)
    assert [step.output for step in trace.steps_of("llm")] == ["I look.", "Here.", "I search."]
    assert trace.usage == Usage(None, None, 9)


def test_pieces_without_an_id_are_one_answer_until_something_else_comes():
    asked = [{"type": "toolRequest", "id": "t", "toolCall": {"name": "f", "arguments": {}}}]
    given = [{"type": "toolResponse", "id": "t", "toolResult": [{"type": "text", "text": "ok"}]}]
    said = [{"type": "text", "text": "I look."}]
    talk = [("assistant", said), ("assistant", asked), ("user", given), ("assistant", said)]
    lines = [{"type": "message", "message": {"role": role, "created": 1, "content": content}} for role, content in talk]  # fmt: skip
    trace = read_trace([*lines, {"type": "complete", "total_tokens": 34, "total_cost_usd": 0.5}])
    assert [(step.type, step.output) for step in trace.steps] == [
        ("llm", "I look."),
        ("tool", "ok"),
        ("llm", "I look."),
    ]
    assert (trace.usage, trace.cost_usd) == (Usage(None, None, 34), 0.5)


def test_calls_and_results_that_failed_say_so():
    failed = {"type": "toolResponse", "id": "c1", "toolResult": {"status": "error", "error": "no"}}
    trace = read_trace([*MESSAGES[:2], {"role": "user", "created": 1, "content": [failed]}])
    [call] = trace.steps_of("tool")
    assert (call.output, call.error) == ("no", "no")
