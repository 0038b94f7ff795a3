"""Debug logs of GitHub Copilot in Visual Studio Code."""

from __future__ import annotations

import pytest

from support.trace_examples.copilot import COPILOT_DEBUG_LOG
from weighbridge.traces import Step, Usage, read_trace
from weighbridge.traces.formats.copilot_debug_log import IMPORTER
from weighbridge.traces.split import opens_session

NOON = 1_735_732_800 * 10**9  #: 2025-01-01T12:00:00Z
MILLISECOND = 10**6
ASKED, REQUEST, ANSWER, CALL = COPILOT_DEBUG_LOG


def test_requests_with_their_answers_and_calls_are_steps():
    trace = read_trace(COPILOT_DEBUG_LOG)
    assert (trace.id, trace.format) == ("s", "copilot-debug-log")
    assert trace.steps == (
        Step(id="s1", type="user", output="Find x.", started_at=NOON),
        Step(
            id="a",
            type="llm",
            output="y",
            model="m",
            usage=Usage(5, 2),
            started_at=NOON + 1000 * MILLISECOND,
            ended_at=NOON + 1500 * MILLISECOND,
        ),
        Step(
            id="c",
            type="tool",
            parent_id="a",
            name="f",
            arguments={"a": 1},
            output="x",
            started_at=NOON + 3000 * MILLISECOND,
            ended_at=NOON + 3500 * MILLISECOND,
        ),
    )
    assert trace.not_carried == ()


def test_steps_are_in_the_order_in_which_they_began():
    lines = [CALL, ANSWER, {**CALL, "spanId": "d", "ts": CALL["ts"] + 10}, REQUEST, ASKED]
    assert [step.type for step in read_trace(lines).steps] == ["user", "llm", "tool", "tool"]


def test_an_answer_without_its_request_is_a_model_call():
    alone = {**ANSWER, "spanId": "agent-msg-b"}
    trace = read_trace([ASKED, REQUEST, ANSWER, alone])
    assert [step.id for step in trace.steps_of("llm")] == ["a", "agent-msg-b"]


def test_failures_and_texts_that_were_cut_off_are_reported():
    failed = {**CALL, "status": "error", "attrs": {"args": '{"a": [truncated]', "error": "no"}}
    cut = {**ANSWER, "attrs": {"response": '[{"role": "assist[truncated]'}}
    trace = read_trace([REQUEST, cut, failed, {**CALL, "type": "discovery"}])
    answer, call = trace.steps
    assert (answer.output, call.arguments, call.error) == (None, '{"a": [truncated]', "no")
    assert trace.not_carried == (
        "lines of type 'discovery' (1)",
        "the ends of texts that the log cut off (2)",
    )


def test_lines_of_a_log_are_one_trace_and_other_lines_are_not_of_this_form():
    assert opens_session(ASKED)
    start = {**ASKED, "type": "session_start"}
    assert opens_session(start)
    assert IMPORTER.matches([*[start] * 25, ASKED])
    assert not IMPORTER.matches([start])
    assert not opens_session({**ASKED, "type": "http"})
    assert not IMPORTER.matches([{**ASKED, "type": "http"}])
    assert not IMPORTER.matches([{**ASKED, "attrs": None}])
    assert not IMPORTER.matches([])


@pytest.mark.parametrize("odd", [None, 5, "x", [], {}, [None], {"id": []}])
def test_odd_values_leave_the_rest_readable(odd):
    attrs = dict.fromkeys(("args", "result", "response", "content", "model", "inputTokens"), odd)
    lines = [
        {**line, "ts": 1, "name": odd, "dur": odd, "attrs": attrs} for line in COPILOT_DEBUG_LOG
    ]
    trace = read_trace([*COPILOT_DEBUG_LOG * 5, *lines, odd])
    assert trace.steps[-1].output == "x"
