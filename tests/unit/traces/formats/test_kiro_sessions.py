"""Sessions of Kiro's command line: prompts, answers, results, and the records of turns."""

from __future__ import annotations

import copy

import pytest

from support.trace_examples.command_line_agents import KIRO_SESSION
from weighbridge.traces import Counts, Step, Usage, read_trace
from weighbridge.traces.fields import time_of
from weighbridge.traces.split import opens_session

LOG = KIRO_SESSION["log_entries"]
NOON, END = time_of("2026-01-01T12:00:00Z"), time_of("2026-01-01T12:00:09Z")


def exported(entries=LOG, **of_turn):
    """Return an export with these entries, and fields of its turn."""
    value = copy.deepcopy(KIRO_SESSION)
    state = value["metadata"]["session_state"]
    state["conversation_metadata"]["user_turn_metadatas"][0] |= of_turn
    return value | {"log_entries": entries}


def test_entries_are_steps_with_the_results_of_their_calls():
    trace = read_trace(KIRO_SESSION)
    assert (trace.format, trace.id) == ("kiro-session", "k")
    assert trace.steps == (
        Step(id="p1", type="user", output="Look.", started_at=NOON),
        Step(id="m1", type="llm", output="I look.", model="m"),
        Step("c1", "tool", "m1", "shell", arguments={"command": "ls"}, output={"exit_status": "exit status: 0", "stdout": "b", "stderr": ""}),
        Step("c2", "tool", "m1", "shell", arguments={"command": "cat a"}, output={"exit_status": "exit status: 1", "stdout": "", "stderr": "no a"}, error="no a"),
        Step("c3", "tool", "m1", "read", arguments={}, output="missing field `path`", error="missing field `path`"),
        Step(id="m3", type="llm", output="There is b.", model="m", ended_at=END),
    )  # fmt: skip
    assert trace.counts == Counts(2)
    assert trace.metadata == {
        "cwd": "/x",
        "title": "Look.",
        "agent": "kiro_default",
        "credits": 0.75,
    }
    assert trace.missing.keys() == {"token_usage", "cost", "tool_definitions"}
    assert trace.not_carried == ()


@pytest.mark.parametrize(
    ("status", "error"),
    [
        ("exit status: 0", None),
        ("0", None),
        ("exit status: 2", "exit status 2"),
        ("signal: 9 (SIGKILL)", "signal: 9 (SIGKILL)"),
    ],
)
def test_a_command_failed_if_its_exit_status_says_so(status, error):
    result = {"toolUseId": "c1", "content": [{"kind": "json", "data": {"exit_status": status}}]}
    answer = {**LOG[2], "data": {"content": [{"kind": "toolResult", "data": result}]}}
    [call, *_] = read_trace(exported([*LOG[:2], answer])).steps_of("tool")
    assert call.error == error


def test_the_lines_of_a_log_alone_are_a_session():
    trace = read_trace(LOG)
    assert [step.type for step in trace.steps] == [step.type for step in read_trace(KIRO_SESSION).steps]  # fmt: skip
    assert all(map(opens_session, LOG))


def test_tokens_are_known_if_the_turns_count_them():
    trace = read_trace(exported(input_token_count=90, output_token_count=7))
    assert trace.usage == Usage(90, 7)
    assert "token_usage" not in trace.missing


def test_requests_that_the_log_does_not_have_are_counted():
    assert read_trace(exported(total_request_count=5)).counts == Counts(5)


def test_entries_and_parts_of_other_kinds_are_named():
    odd = {"version": "v1", "kind": "Compaction", "data": {"summary": "x"}}
    parts = [{"kind": "image", "data": {}}, {"kind": "thinking", "data": "Hm."}]
    answer = {**LOG[3], "data": {"message_id": "m4", "content": parts}}
    trace = read_trace(exported([*LOG, odd, answer]))
    assert trace.not_carried == (
        "content parts of type 'image' (1)",
        "entries of type 'Compaction' (1)",
        "parts of the model's reasoning (1)",
    )
    assert "tool_calls" not in trace.missing


@pytest.mark.parametrize("damaged", [5, {"kind": "Prompt"}, {**LOG[0], "data": {"content": None}}])
def test_an_entry_that_cannot_be_read_leaves_lower_bounds(damaged):
    trace = read_trace(exported([*LOG, damaged]))
    assert {"llm_calls", "tool_calls"} <= trace.missing.keys()
    assert len(trace.steps) == 6
