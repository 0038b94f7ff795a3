"""Messages of Letta's API: several for one answer of the model, whole or in pieces."""

from __future__ import annotations

import json

import pytest

from support.trace_examples.agent_frameworks import LETTA
from weighbridge.traces import Counts, Step, Usage, read_trace
from weighbridge.traces.fields import time_of
from weighbridge.traces.split import opens_session

MESSAGES = LETTA["messages"]
ENDINGS = [LETTA["stop_reason"], LETTA["usage"]]


def at(second):
    return time_of(f"2026-03-04T10:00:{second:02}Z")


def message(kind, name="m9", **more):
    return {"message_type": kind, "id": name, **more}


def shown(value):
    return [(step.id, step.type, step.output) for step in read_trace(value).steps]


def test_messages_become_steps():
    trace = read_trace(LETTA)
    assert (trace.format, trace.id) == ("letta", "run-1")
    assert trace.metadata == {"outcome": "end_turn"}
    assert trace.steps == (
        Step(id="m1", type="user", output="Find x.", started_at=at(1)),
        Step(id="m2", type="llm", output="I look.", ended_at=at(2)),
        Step(id="t1", type="tool", parent_id="m2", name="read_file", arguments={"path": "a"}, output="A", ended_at=at(3)),
        Step(id="t2", type="tool", parent_id="m2", name="grep", arguments={"q": "x"}, output="no such path", error="no such path", ended_at=at(3)),
        Step(id="m4", type="llm", output="Not there.", ended_at=at(4)),
    )  # fmt: skip
    assert (trace.usage, trace.counts) == (Usage(50, 9, 59, 20), Counts(2))
    assert trace.totals_from == "usage_statistics"
    assert trace.not_carried == ("parts of the model's reasoning (1)",)


def test_messages_are_the_same_in_a_list_in_lines_and_as_a_server_sends_them():
    lines = [*MESSAGES, *ENDINGS]
    sent = "".join(f"data: {json.dumps(line)}\n\n" for line in lines) + "data: [DONE]\n\n"
    expected = read_trace(LETTA)
    for value in (lines, "\n".join(map(json.dumps, lines)), sent):
        assert read_trace(value) == expected


@pytest.mark.parametrize("line", [*MESSAGES, *ENDINGS])
def test_each_line_belongs_to_a_run(line):
    assert opens_session(line)


def test_messages_that_are_listed_from_the_last_one_are_put_in_order():
    assert shown(MESSAGES[::-1]) == shown(MESSAGES)


def test_messages_that_are_listed_twice_count_once():
    assert shown([*MESSAGES[:3], *MESSAGES[2:], *MESSAGES]) == shown(MESSAGES)
    assert read_trace([*MESSAGES[:3], *MESSAGES]).steps == read_trace(MESSAGES).steps


def test_a_call_that_comes_after_its_answer_is_not_lost():
    call = {"name": "rm", "arguments": "{}", "tool_call_id": "t9"}
    late = message("tool_call_message", MESSAGES[2]["id"], tool_call=call)
    names = [step.name for step in read_trace([*MESSAGES, late]).steps_of("tool")]
    assert names == ["read_file", "grep", "rm"]


def test_pieces_of_a_stream_are_put_together():
    calls = [{"name": "read_file", "tool_call_id": "t1"}] + [
        {"name": "read_file", "tool_call_id": "t1", "arguments": piece}
        for piece in ('{"pa', 'th": ', '"a"}')
    ]
    pieces = [
        *(message("assistant_message", otid="o1", content=text) for text in ("ha", "ha")),
        *(message("tool_call_message", otid="o2", tool_call=call, tool_calls=call) for call in calls),
        message("ping"),
        message("tool_return_message", "m10", tool_return="A", status="success", tool_call_id="t1"),
        *ENDINGS,
    ]  # fmt: skip
    (answer, call) = read_trace(pieces).steps
    assert (answer.output, call.arguments, call.output) == ("haha", {"path": "a"}, "A")


def test_pieces_of_a_stream_that_was_cut_off_are_put_together():
    texts = ["ha", "ha", ", ", "ha", ", ", "ha"]
    pieces = [message("assistant_message", otid="o1", content=text) for text in texts]
    assert shown(pieces) == [("m9", "llm", "haha, ha, ha")]


def test_events_that_a_stream_sends_again_count_once():
    texts = [message("assistant_message", content="ha", run_id="r", seq_id=seq) for seq in (1, 2, 2)]  # fmt: skip
    assert shown(texts) == [("m9", "llm", "haha")]


def test_what_has_one_step_is_one_answer_also_with_other_ids():
    call = {"name": "rm", "arguments": "{}", "tool_call_id": "t"}
    asked = [
        message("reasoning_message", reasoning="hm"),
        message("approval_request_message", "m8", tool_call=call, tool_calls=[call]),
    ]
    assert [step.type for step in read_trace(asked).steps] == ["llm", "tool"]
    stepped = [each | {"step_id": f"step-{number}"} for number, each in enumerate(asked)]
    assert [step.type for step in read_trace(stepped).steps] == ["llm", "llm", "tool"]


@pytest.mark.parametrize(
    ("approval", "output", "error"),
    [
        ({"type": "approval", "approve": True}, None, None),
        ({"type": "approval", "approve": False, "reason": "not now"}, None, "not now"),
        ({"type": "tool", "tool_return": "gone", "status": "success"}, "gone", None),
    ],
)
def test_an_approval_may_refuse_a_call_or_bring_its_result(approval, output, error):
    call = {"name": "rm", "arguments": "{}", "tool_call_id": "t"}
    said = [
        message("approval_request_message", tool_call=call),
        message("approval_response_message", "m10", approvals=[approval | {"tool_call_id": "t"}]),
    ]
    (_, step) = read_trace(said).steps
    assert (step.output, step.error) == (output, error)


def test_calls_without_ids_are_told_apart_by_their_names():
    calls = [{"name": "a", "arguments": {"q": 1}}, {"name": "a", "arguments": {"q": 2}}]
    said = [message("tool_call_message", tool_calls=calls)]
    assert [step.arguments for step in read_trace(said).steps[1:]] == [{"q": 1}, {"q": 2}]


def test_an_error_that_ends_a_stream_is_one():
    failed = {"message_type": "error_message", "run_id": "r", "message": "no quota"}
    trace = read_trace([MESSAGES[0], failed])
    assert (trace.steps[-1].type, trace.steps[-1].error) == ("other", "no quota")


def test_tokens_of_several_runs_in_one_file_add_up():
    others = [{**each, "id": f"other-{each['id']}"} for each in MESSAGES]
    trace = read_trace([*MESSAGES, *ENDINGS, *others, *ENDINGS])
    assert (trace.usage, trace.counts) == (Usage(100, 18, 118, 40), Counts(4))


def test_tokens_that_stand_twice_count_once():
    for again in (ENDINGS, [*MESSAGES, *ENDINGS]):
        trace = read_trace([*MESSAGES, *ENDINGS, *again])
        assert (trace.usage, trace.counts) == (Usage(50, 9, 59, 20), Counts(2))


def test_a_message_of_an_unknown_kind_that_names_calls_makes_calls_missing():
    assert "tool_calls" in read_trace([MESSAGES[0], message("remote_tool_call")]).missing


def test_a_run_holds_an_answer():
    run = {"id": "run-9", "status": "completed", "metadata": {"result": LETTA}}
    assert read_trace(run).steps == read_trace(LETTA).steps
    unnamed = [{**each, "run_id": None} for each in MESSAGES]
    assert read_trace(run | {"metadata": {"result": {"messages": unnamed}}}).id == "run-9"


def test_messages_with_the_names_of_2024_are_read():
    called = {"name": "f", "arguments": '{"q": 1}', "function_call_id": "t"}
    trace = read_trace(
        [
            message("user_message", "m1", message="Find x."),
            message("internal_monologue", internal_monologue="hm"),
            message("function_call", function_call=called),
            message("function_return", "m10", function_return="A", status="error", function_call_id="t"),
            message("assistant_message", "m11", assistant_message="No."),
        ]
    )  # fmt: skip
    assert [(step.type, step.output) for step in trace.steps] == [
        ("user", "Find x."),
        ("llm", None),
        ("tool", "A"),
        ("llm", "No."),
    ]
    assert (trace.steps[2].arguments, trace.steps[2].error) == ({"q": 1}, "A")


def test_what_an_agent_is_created_with_is_no_model_call():
    begins = [
        message("reasoning_message", reasoning="Boot sequence complete. Persona activated."),
        message("tool_call_message", tool_call={"name": "f", "arguments": "{}", "tool_call_id": "t0"}),
        message("tool_return_message", "m10", tool_return="None", tool_call_id="t0"),
    ]  # fmt: skip
    trace = read_trace([*begins, MESSAGES[0]])
    assert [step.type for step in trace.steps] == ["user"]
    assert trace.not_carried == ("messages that an agent is created with (1)",)
