"""Conversations of Amazon Q's command line and Kiro's: entries of a message and an answer, and the transcript."""

from __future__ import annotations

import copy

from support.trace_examples.command_line_agents import AMAZON_Q
from weighbridge.traces import Counts, Step, ToolDefinition, read_trace
from weighbridge.traces.fields import time_of


def changed(**fields):
    return copy.deepcopy(AMAZON_Q) | fields


def test_entries_become_steps():
    trace = read_trace(AMAZON_Q)
    assert (trace.format, trace.id, trace.metadata) == ("amazon-q", "c", {"cwd": "/x"})
    asked, cancelled = time_of("2026-03-04T10:00:00Z"), time_of("2026-03-04T10:01:00Z")
    second = 10**9
    refusal = "Tool use was cancelled by the user"
    assert trace.steps == (
        Step(id="s1", type="user", output="Find x.", started_at=asked),
        Step(id="m1", type="llm", output="I look.", model="n", started_at=second, ended_at=second * 3 // 2),
        Step(id="t1", type="tool", parent_id="m1", name="fs_read", arguments={"path": "a"}, output="A"),
        Step(
            id="t2",
            type="tool",
            parent_id="m1",
            name="execute_bash",
            arguments={"command": "grep x b"},
            output={"exit_status": "2", "stdout": "", "stderr": "no file b"},
            error="no file b",
        ),
        Step(id="m2", type="llm", model="n", started_at=3 * second, ended_at=second * 7 // 2),
        Step(id="t3", type="tool", parent_id="m2", name="fs_write", arguments={"path": "b"}, output=refusal, error=refusal, ended_at=cancelled),
        Step(id="s7", type="user", output="Do not write.", started_at=cancelled),
        Step(id="m3", type="llm", output="Not there.", model="auto"),
    )  # fmt: skip
    assert trace.tools == (ToolDefinition("fs_read", {"type": "object"}, "Reads."),)
    assert (trace.counts, trace.totals_from) == (Counts(3, 3), "the transcript")
    assert not {"tool_calls", "timing", "tool_definitions"} & trace.missing.keys()


def test_entries_of_older_versions_are_lists():
    pairs = [[entry["user"], entry["assistant"]] for entry in AMAZON_Q["history"]]
    trace = read_trace(changed(history=pairs))
    newer = read_trace(AMAZON_Q)
    assert [(s.id, s.type, s.output) for s in trace.steps] == [(s.id, s.type, s.output) for s in newer.steps]  # fmt: skip
    assert trace.steps[1].model == "auto"


def test_results_that_the_model_has_not_seen_yet_belong_to_their_calls():
    value = changed(history=AMAZON_Q["history"][:1], next_message=AMAZON_Q["history"][1]["user"])
    assert [call.output for call in read_trace(value).steps_of("tool")][:1] == ["A"]


def test_calls_that_only_the_transcript_shows_are_missing():
    value = changed(history=AMAZON_Q["history"][:1])
    told = "the transcript states 3 tool calls, of which 2 were read"
    assert read_trace(value).missing["tool_calls"] == told
    emptied = read_trace(changed(history=[]))
    assert (emptied.steps, emptied.counts) == ((), Counts(3, 3))
    assert "tool_calls" in emptied.missing


def test_calls_before_a_summary_are_missing():
    summary = {"latest_summary": ["It is not in a.", None]}
    trace = read_trace(changed(**summary, transcript=[]))
    assert "a summary replaced" in trace.missing["tool_calls"]
    assert "tool_calls" not in read_trace(changed(**summary)).missing
    assert trace.not_carried == ("summaries in place of earlier messages (1)",)


def test_what_a_user_quotes_from_a_transcript_is_no_answer():
    quoted = ["> Why?> \n[Tool uses: fs_read]", *AMAZON_Q["transcript"]]
    assert read_trace(changed(transcript=quoted)).counts == Counts(3, 3)


def test_an_answer_that_the_program_made_is_no_model_call():
    value = changed()
    value["history"][2]["assistant"]["Response"] |= {"message_id": None}
    trace = read_trace(value)
    assert (trace.steps[-1].type, trace.counts) == ("other", Counts(2, 3))


def test_a_call_that_was_renamed_keeps_the_name_that_the_model_used():
    value = changed()
    use = value["history"][1]["assistant"]["ToolUse"]["tool_uses"][0]
    use |= {"name": "dummy", "args": {}}
    call = read_trace(value).steps[5]
    assert (call.name, call.arguments) == ("fs_write", {"path": "b"})


def test_the_error_of_an_mcp_tool_is_one():
    value = changed()
    results = value["history"][1]["user"]["content"]["ToolUseResults"]["tool_use_results"]
    content = {"content": [{"type": "text", "text": "no such page"}], "isError": True}
    results[1]["content"] = [{"Json": content}]
    call = read_trace(value).steps[3]
    assert (call.output, call.error) == ("no such page", "no such page")


def test_an_answer_of_an_unknown_kind_that_names_calls_makes_calls_missing():
    unknown = AMAZON_Q["history"][0] | {"assistant": {"ParallelToolUse": {"tool_uses": []}}}
    value = changed(history=[unknown, AMAZON_Q["history"][2]], transcript=[])
    assert "tool_calls" in read_trace(value).missing
