"""Sessions of Craft Agents."""

from __future__ import annotations

import pytest

from support.trace_examples.personal_agents import CRAFT_AGENTS
from weighbridge.traces import Step, Usage, read_trace
from weighbridge.traces.formats.craft_agents import IMPORTER
from weighbridge.traces.split import opens_session

SECOND = 10**9
NOON = 1_735_732_800 * SECOND  #: 2025-01-01T12:00:00Z
HEAD, ASKED, SAID, CALL = CRAFT_AGENTS


def test_lines_of_one_turn_id_are_an_answer_with_its_calls_and_their_results():
    trace = read_trace([*CRAFT_AGENTS, {**CALL, "toolUseId": "d"}])
    assert (trace.id, trace.format) == ("s", "craft-agents")
    assert trace.usage == Usage(5, 2, 7, is_partial=True)
    assert trace.steps[:3] == (
        Step(id="s1", type="user", output="Find x.", started_at=NOON),
        Step(id="a", type="llm", output="I look.", model="m", ended_at=NOON + SECOND),
        Step(
            id="c",
            type="tool",
            parent_id="a",
            name="f",
            arguments={"a": 1},
            output="x",
            started_at=NOON + 2 * SECOND,
            ended_at=NOON + 2 * SECOND + SECOND // 2,
        ),
    )
    assert [(step.id, step.parent_id) for step in trace.steps[3:]] == [("d", "a")]
    assert trace.not_carried == ()


def test_a_call_of_a_turn_of_several_answers_is_of_an_answer_of_its_own():
    calls = [{**CALL, "turnId": "pi-turn-1", "toolUseId": name} for name in ("c", "d")]
    last = {**SAID, "turnId": "pi-turn-1__m0"}
    trace = read_trace([HEAD, ASKED, *calls, last])
    assert [step.type for step in trace.steps] == ["user", "llm", "tool", "llm", "tool", "llm"]


def test_failures_are_errors_and_other_messages_are_noted():
    failed = {**CALL, "toolResult": None, "toolStatus": "error"}
    broken = {"id": "e", "type": "error", "content": "no connection", "timestamp": 1}
    plan = {"id": "p", "type": "plan", "content": "..."}
    trace = read_trace([HEAD, failed, broken, plan])
    assert [(step.type, step.error) for step in trace.steps] == [
        ("llm", None),
        ("tool", "error"),
        ("other", "no connection"),
    ]
    assert trace.not_carried == ("messages of type 'plan' (1)",)


def test_a_session_in_one_object_is_read_as_one_on_lines():
    whole = {**HEAD, "messages": CRAFT_AGENTS[1:]}
    assert read_trace(whole).steps == read_trace(CRAFT_AGENTS).steps


def test_the_first_line_opens_a_session_and_other_lines_are_not_of_this_form():
    assert opens_session(HEAD)
    assert not opens_session(ASKED)
    assert not IMPORTER.matches([HEAD])
    assert not IMPORTER.matches([HEAD, {"type": "user"}])
    assert not IMPORTER.matches(CRAFT_AGENTS[1:])


@pytest.mark.parametrize("odd", [None, 5, "x", [], {}, [None], {"id": []}])
def test_odd_values_leave_the_rest_readable(odd):
    keys = ("id", "content", "timestamp", "turnId", "toolName", "toolUseId", "toolInput")
    fields = dict.fromkeys((*keys, "toolResult", "toolDuration", "isError"), odd)
    odd_ones = [{**fields, "type": kind} for kind in ("user", "assistant", "tool", "error", "info")]
    lines = [*CRAFT_AGENTS[1:] * 10, *odd_ones, {"type": odd}, odd, {**ASKED, "content": "z"}]
    for usage in (odd, {"inputTokens": odd}):
        trace = read_trace([{**HEAD, "tokenUsage": usage}, *lines])
        assert trace.steps[-1].output == "z"
