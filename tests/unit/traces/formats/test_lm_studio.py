"""LM Studio's conversations: the selected version of each message, and an answer's blocks with calls and results."""

from __future__ import annotations

import pytest

from support.trace_examples.chat_apps import LM_STUDIO
from weighbridge.traces import Step, Usage, read_trace
from weighbridge.traces.formats.lm_studio import IMPORTER

NOON = 1_735_732_800 * 10**9  #: 2025-01-01T12:00:00Z
MS = 10**6


def text(said, **fields):
    return {"type": "contentBlock", "content": [{"type": "text", "text": said}], **fields}


def called(call_id, name="ls"):
    request = {"type": "toolCallRequest", "callId": call_id, "name": name, "parameters": {}}
    return {"type": "contentBlock", "content": [request]}


def result(call_id, content):
    part = {"type": "toolCallResult", "callId": call_id, "content": content}
    return {"type": "contentBlock", "content": [part], "roleOverride": "tool"}


def status(call_id, kind, **fields):
    state = {"status": {"type": kind, **fields}}
    return {"type": "toolStatus", "callId": call_id, "statusState": state}


def stated(sent, made, **stats):
    return {"stats": {"promptTokensCount": sent, "predictedTokensCount": made, **stats}}


def conversation(*steps):
    """Return a conversation of one answer."""
    version = {"type": "multiStep", "role": "assistant", "steps": [*steps]}
    return {"messages": [{"versions": [version], "currentlySelected": 0}]}


def steps_of(*steps):
    return [(step.type, step.output, step.error) for step in read_trace(conversation(*steps)).steps]


def test_the_selected_version_of_an_answer_becomes_steps_with_calls_and_tokens():
    trace = read_trace(LM_STUDIO)
    assert (trace.format, trace.metadata) == ("lm-studio", {"title": "Listing"})
    assert trace.steps == (
        Step(id="s1", type="system", output="Be brief."),
        Step(id="s2", type="user", output="List."),
        Step(id="s3", type="llm", output="I look.", model="m", finish_reason="tool_call", usage=Usage(10, 3, 13), started_at=NOON + 1000 * MS, ended_at=NOON + 1500 * MS),
        Step(id="7", type="tool", parent_id="s3", name="ls", arguments={"path": "."}, output="a.md", ended_at=NOON + 2000 * MS),
        Step(id="s5", type="llm", output="One file.", model="m", finish_reason="stop", usage=Usage(20, 4, 24), started_at=NOON + 3000 * MS, ended_at=NOON + 3500 * MS),
    )  # fmt: skip
    assert trace.not_carried == (
        "other versions of messages (1)",
        "parts of the model's reasoning (1)",
        "steps of type 'debugInfoBlock' (1)",
    )


def test_calls_that_failed_or_were_denied_are_errors():
    assert steps_of(
        called(1),
        called(2),
        called(3),
        status(1, "toolCallFailed", error="no such tool"),
        status(2, "toolCallDenied"),
        status(3, "toolCallSucceeded", timeMs=1),
        result(1, "no such tool"),
        result(3, '["Error"]'),
    ) == [
        ("llm", None, None),
        ("tool", "no such tool", "no such tool"),
        ("tool", "denied", "denied"),
        ("tool", '["Error"]', None),
    ]


def test_blocks_are_of_one_model_call_until_a_result_or_other_statistics():
    answers = steps_of(
        text("a", genInfo=stated(9, 1)),
        text("b", genInfo=stated(9, 1)),  # the same call, stated on each of its blocks
        text("c", genInfo=stated(12, 1)),
        called(1),
        result(1, "ok"),
        text("d"),
        text("e", genInfo=stated(20, 1)),
    )
    assert [output for kind, output, _ in answers if kind == "llm"] == ["a\nb", "c", "d\ne"]


def test_a_model_that_failed_is_an_error():
    trace = read_trace(conversation(text("a", genInfo=stated(9, 1, stopReason="failed"))))
    assert [step.error for step in trace.steps] == ["failed"]


def test_an_answer_without_content_leaves_lower_bounds():
    trace = read_trace(conversation({"type": "debugInfoBlock", "debugInfo": "x"}))
    assert "llm_calls" in trace.missing
    assert "token_usage" in trace.missing


def test_a_call_that_could_not_be_parsed_is_named():
    failed = status(0, "toolCallGenerationFailed", error="no JSON", rawContent="{")
    trace = read_trace(conversation(text("a"), failed))
    assert trace.not_carried == ("calls that LM Studio could not parse (1)",)


def test_stubs_of_other_programs_have_no_tokens_and_no_times():
    block = text("a", genInfo=stated(0, 0, totalTimeSec=0), stepIdentifier="1735732800000-0")
    (step,) = read_trace(conversation(block)).steps
    assert (step.usage, step.started_at, step.ended_at) == (None, None, None)


@pytest.mark.parametrize("selected", [5, None, "1"])
def test_without_a_known_version_the_last_one_counts(selected):
    versions = [{"role": "user", "content": [{"type": "text", "text": said}]} for said in "ab"]
    trace = read_trace({"messages": [{"versions": versions, "currentlySelected": selected}]})
    assert [step.output for step in trace.steps] == ["b"]


@pytest.mark.parametrize(
    "value", [{}, {"messages": []}, {"messages": [{"versions": []}]}, [LM_STUDIO["messages"][0]]]
)
def test_other_values_are_not_claimed(value):
    assert not IMPORTER.matches(value)


@pytest.mark.parametrize(
    ("stopped", "reason"),
    [
        ("eosFound", "stop"),
        ("stopStringFound", "stop"),
        ("toolCalls", "tool_call"),
        ("maxPredictedTokensReached", "length"),
        ("contextLengthReached", "length"),
        ("failed", "error"),
        ("userStopped", "userStopped"),
    ],
)
def test_why_an_answer_ended_is_kept(stopped, reason):
    said = text("Half of", genInfo=stated(1, 2, stopReason=stopped))
    assert [step.finish_reason for step in read_trace(conversation(said)).steps] == [reason]
