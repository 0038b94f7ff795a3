"""The error for a value without the shape of a trace says what was probably meant."""

from __future__ import annotations

from typing import Any

import pytest

from support.growth import cpu_seconds
from weighbridge.errors import LineError, UnknownTraceFormatError
from weighbridge.grading.case import parse_case
from weighbridge.grading.hints import hint_for
from weighbridge.traces import read_trace
from weighbridge.traces.hints import correction_for
from weighbridge.traces.recognition import hint_for_unknown, recognised

WHOLE = "this is a single message of a chat, and a trace is the whole list"
REQUEST = "this is a request to a batch API"
MANY = [{"role": "user", "content": "hi"}] * 30
UNSAID = "none of the messages has content or tool calls where they are read; the first has "


@pytest.mark.parametrize(
    ("value", "hint"),
    [
        ({"role": "user", "content": "hi"}, WHOLE),
        ({"role": "assistant", "tool_calls": []}, WHOLE),
        ({"role": "model", "parts": []}, WHOLE),
        (["ModelRequest(parts=[UserPromptPart(content='hi')])"], "these are objects as Python prints them: save them as JSON"),
        ([{"start_timestamp": "2026-03-04", "attributes": {}}], "these may be rows of Logfire: add to the query trace_id, span_id, parent_span_id, span_name"),
        ({"mesages": [{"role": "user"}]}, "found 'mesages'; did you mean 'messages'?"),
        ({"usage": {}, "step": [{"type": "llm"}]}, "found 'step'; did you mean 'steps'?"),
        ([{"role": "usr"}], "message 1 has the role 'usr'; did you mean 'user'?"),
        ([{"role": "user"}, {"role": "Assistant"}], "message 2 has the role 'Assistant'; did you mean 'assistant'?"),
        ({"messages": [{"role": "narrator"}]}, "message 1 has the role 'narrator'; known: agent, ai, "),
        ([{"role": "worker", "text": "x"}], "message 1 has the role 'worker'; known: agent, ai, "),
        ({"turns": [{"role": "user", "content": "x"}, {"role": "narrator", "content": "y"}]}, "message 2 has the role 'narrator'; known: agent, ai, "),
        ({"conversations": [{"role": "usr"}]}, "message 1 has the role 'usr'; did you mean 'user'?"),
        ({"results": {"results": [{"vars": {}, "testCase": {}, "promptIdx": 0, "testIdx": 0}]}}, "these are results of promptfoo"),
        ({"results": {"version": 2, "results": [{"provider": {}, "prompt": {}, "vars": {}, "success": True}]}}, "these are results of promptfoo, an output each and no traces: grade the answers with --map custom_id=@row"),
        ({"id": "r", "results": [{}], "pass_at_k": {}, "n_resolved": 1, "n_unresolved": 0}, "these are the results of a run of Terminal-Bench 1"),
        ({"trial_name": "t", "task_id": "t", "is_resolved": True, "recording_path": "a.cast"}, "this is the result of a trial of Terminal-Bench 1"),
        ({"ts": 1, "jobId": "j", "action": "finished", "sessionId": "s"}, "this is OpenClaw's log of a scheduled job"),
        ({"values": {"links": [], "report": ""}, "next": [], "checkpoint": {}}, "this is the state of a LangGraph thread without messages in its values (links, report): the traces"),
        *(([*MANY[:2], item], f"message 3 {fault}") for item, fault in [([], "is an array, not an object with a role"), ("hi", "is a text, not"), (None, "is null, not"), (5, "is a number"), ({"content": "hi"}, "has no role")]),
        ([{"role": "user", "said": "hi"}], f"{UNSAID}role, said"),
        ({"messages": [{"role": "user", "said": "hi"}]}, f"{UNSAID}role, said"),
        ({"steps": [{"type": "tol"}]}, "step 1 has the type 'tol'; did you mean 'tool'?"),
        ({"custom_id": "r1", "method": "POST", "url": "/v1/responses", "body": {}}, REQUEST),
        ([{"custom_id": "r1", "params": {"model": "m", "messages": []}}], REQUEST),
        ([{"session_id": "s1", "ts": 1762748042, "text": "Fix the test"}], "this is Codex's history of prompts"),
        ([{"sessionId": "s", "messageId": 0, "type": "user", "message": "Fix it", "timestamp": "2025-01-01T12:00:00.000Z"}], "this is Gemini CLI's list of prompts"),
        ({"task_fulfillment": 6.9, "tool_selection_score": 7.0, "planning_effectiveness_and_efficiency_score": 6.0, "avg_tool_calls_per_task": 21.0}, "these are MCP-Bench's average scores"),
        ({"NodeName": "ask", "line_number": 0, "run_info": {}, "start_time": "", "end_time": "", "status": "Completed"}, "this is a node's run in a batch run of PromptFlow: the flow's runs"),
        ({"display": "Fix it", "pastedContents": {}, "timestamp": 1, "project": "/p", "sessionId": "s"}, "this is Claude Code's history of prompts"),
    ],
)  # fmt: skip
def test_a_slip_is_told_with_what_was_meant(value: Any, hint: str) -> None:
    assert correction_for(value).startswith(hint)
    with pytest.raises(UnknownTraceFormatError) as caught:
        read_trace(value)
    assert caught.value.hint.startswith(hint)
    assert "; a mapping file describes other formats" in caught.value.hint


@pytest.mark.parametrize(
    "value",
    [
        *(None, 5, "messages", [], {}, [None, 3, "x"], {"messages": 5}, {"mesages": "text"}),
        {"runs": [{"id": "r"}], "steps": [{"type": "stream"}]},
        *({"step": []}, {"observations": [{"type": "SPAN"}]}, {"conversations": [5]}),
        *({"results": {"results": [5]}}, {"results": {"results": [{"vars": {}}]}}),
        *({"values": [], "next": [], "checkpoint": {}}, {"values": {"links": []}, "next": []}),
        *({"steps": {}}, {5: []}, {"role": 5, "content": ""}, {"content": "hi"}),
        [*MANY, {"role": "usr"}],
        [{"role": "worker", "type": "prompt_sent", "payload": {}}],
    ],
    ids=lambda value: str(value)[:20],
)
def test_nothing_is_guessed_where_nothing_comes_to_mind(value: Any) -> None:
    assert correction_for(value) == ""


def test_nothing_is_guessed_from_very_many_keys_or_a_very_long_one() -> None:
    assert correction_for({f"zz{number}": [] for number in range(100_000)}) == ""
    assert correction_for({"x" * 1_000_000: []}) == ""


@pytest.mark.parametrize(
    ("value", "names"),
    [
        (
            {"version": "2", "steps": [{"source": "agent", "observation": {"results": [{"source_call_id": "a"}]}, "metrics": {"prompt_tokens": 5}}]},
            ["ATIF trajectories", "observation", "source_call_id"],
        ),
        (
{"log": [{"do": "ls"}], "info": {"model_stats": {"instance_cost": 1, "tokens_sent": 5, "api_calls": 2}}},
            ["SWE-agent trajectories", "tokens_sent"],
        ),
    ],
)  # fmt: skip
def test_a_value_of_no_known_shape_is_told_which_formats_are_nearest_by_what_is_in_it(value, names):
    with pytest.raises(UnknownTraceFormatError) as caught:
        read_trace(value)
    assert caught.value.hint.startswith("the most similar known formats: ")
    for name in names:
        assert name in caught.value.hint.split("; a mapping file")[0]


def test_what_is_near_to_nothing_names_no_format():
    counts = {"observations": [{"completionTokens": 5, "promptTokens": 2}]}
    for value in (counts, {"a": 1}, {"id": 1, "name": "x"}, {"zz": [{"yy": {"xx": []}}]}, 5, []):
        with pytest.raises(UnknownTraceFormatError) as caught:
            read_trace(value)
        assert "most similar" not in caught.value.hint


@pytest.mark.parametrize(
    "value",
    [
        {"error": {"message": "rate limited", "type": "x"}},
        {"prompt": "x", "completion": "y"},
        {"traceId": "1", "spans": [{"spanId": "2", "parentSpanId": "3", "startTime": "now", "endTime": "now"}]},
        {"trace_id": "1", "parent_id": "2", "started_at": "now", "ended_at": "now", "steps": {}},
        {"log": {"version": "1.2", "entries": [{"response": {"content": {"text": "x"}}}]}},
        {"results": {"version": 3, "results": [{"prompt": {"raw": "x"}, "response": {"output": "y"}}]}},
    ],
)  # fmt: skip
def test_words_that_any_json_may_have_are_no_likeness(value):
    with pytest.raises(UnknownTraceFormatError) as caught:
        read_trace(value)
    assert "similar" not in caught.value.hint


def test_the_hint_for_a_line_of_a_log_takes_no_longer_than_to_see_that_it_is_no_trace():
    lines = [{"ts": n, "trace_id": "t", "event_type": "sent", "payload": {"hits": n}} for n in range(500)]  # fmt: skip
    most = 2 * min(cpu_seconds(lambda: [*map(recognised, lines)]) for _ in range(5))
    least = min(cpu_seconds(lambda: [*map(hint_for_unknown, lines)]) for _ in range(5))
    assert least <= most


def test_a_record_of_no_known_kind_is_told_of_the_mapping_file():
    assert "--trace-mapping" in hint_for({"run": 1, "log": [{"do": "x"}]})
    assert "--trace-mapping" in hint_for([{"do": "x"}])
    assert "docs/how-to/write-an-importer.md" in hint_for([{"do": "x"}])


def test_a_line_of_no_known_kind_is_told_of_the_page_on_formats_of_ones_own():
    with pytest.raises(LineError) as caught:
        parse_case(b'{"ts": 1, "tool": "f"}', ())
    assert "docs/how-to/write-an-importer.md" in caught.value.fault.hint


def test_the_hint_for_an_unknown_format_names_the_command_that_drafts_a_mapping_for_the_file():
    assert "`weighbridge trace map 'my runs.json'` drafts one" in hint_for_unknown(
        {}, "'my runs.json'"
    )
    assert hint_for({"answer": "x"}) == hint_for({"list": [1]}) == ""


def test_log_records_without_spans_are_told_apart() -> None:
    record = {"traceId": "t", "spanId": "s", "attributes": {}, "body": {"content": "x"}}
    for value in (record, [record], [{"raw_otel_json": record}], {"raw_otel_json": record}):
        assert "log records of OpenTelemetry" in correction_for(value)
    assert correction_for({**record, "body": None, "spanId": None}) == ""


def test_a_session_of_continues_first_versions_is_told_apart() -> None:
    session = {"history": {"timeline": [], "current_index": -1}, "user_input_queue": []}
    assert "versions of 2023" in correction_for(session)
    assert correction_for({"history": {"timeline": []}}) == ""
