"""Real logs of agents, compared with counts made without the importers, if the data set is present."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from support.trace_examples import claiming
from weighbridge.traces import read_traces

FOLDER = next(
    (
        folder
        for parent in Path(__file__).resolve().parents
        if (folder := parent / "shared" / "data" / "traces2").is_dir()
    ),
    Path("absent"),
)

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="the data set is not there")


@cache
def records(name):
    with gzip.open(FOLDER / f"{name}.jsonl.gz") as lines:
        return [json.loads(line)["record"] for line in lines]


def counted(value):
    """Return the importer's counts: model calls, tool calls, and input and output tokens of the model calls."""
    [trace] = read_traces(value)
    usages = [step.usage for step in trace.steps_of("llm") if step.usage]
    types = Counter(step.type for step in trace.steps)
    sent, received = (
        sum(getattr(usage, name) or 0 for usage in usages)
        for name in ("input_tokens", "output_tokens")
    )
    return types["llm"], types["tool"], sent, received


def trae(record):
    interactions = record["llm_interactions"]
    told = [interaction["response"] for interaction in interactions]
    return (
        len(interactions),
        len({call["call_id"] for answer in told for call in answer["tool_calls"] or ()}),
        sum(answer["usage"]["input_tokens"] for answer in told),
        sum(answer["usage"]["output_tokens"] for answer in told),
    )


def toolbench(record):
    kinds = Counter()
    pending = [record["tree"]["tree"]]
    while pending:
        node = pending.pop()
        # An answer without a call is a thought on which no action follows.
        goes_on = any(child["node_type"] == "Action" for child in node["children"])
        kinds[node["node_type"]] += not (node["node_type"] == "Thought" and goes_on)
        pending += node["children"]
    return kinds["Action"] + kinds["Thought"], kinds["Action"], 0, 0


def ag2(record):
    said = [message["content"] for message in record["history"]]
    runs = sum(text.startswith("exitcode:") for text in said)
    idle = sum(text.startswith("There is no code") for text in said)
    return len(said) - 1 - runs - idle, runs, 0, 0


def magentic(record):
    roles = Counter(message["role"] for message in record["history"])
    agents = roles["WebSurfer"] + roles["FileSurfer"] + roles["Assistant"]
    acts = sum(
        message["role"] == "WebSurfer" and message["content"].startswith("I ")
        for message in record["history"]
    )
    thoughts = sum(
        message["role"] == "Orchestrator (thought)"
        and message["content"].startswith(("Initial plan:", "New plan:", "Updated Ledger:"))
        for message in record["history"]
    )
    return thoughts + agents, acts, 0, 0


def langfuse(record):
    observations = record["observations"]
    wrapping = {one["parentObservationId"] for one in observations if one["type"] == "GENERATION"}
    calls = [
        one for one in observations if one["type"] == "GENERATION" and one["id"] not in wrapping
    ]
    tools = [one for one in observations if one["type"] == "TOOL" or '"TOOL"' in one["metadata"]]
    asked = {
        call["id"]
        for one in calls
        if one["name"]
        == "ChatOpenAI"  # of the one run whose tools are no observations of their own
        for call in json.loads(one["output"]).get("tool_calls") or ()
    }
    return (
        len(calls),
        len(tools) + len(asked),
        sum(one["inputUsage"] for one in calls),
        sum(one["outputUsage"] for one in calls),
    )


def responses_of(events):
    told = [event["tool_call_metadata"] for event in events if event.get("tool_call_metadata")]
    return {one["model_response"]["id"]: one["model_response"] for one in told}


def openhands(record):
    events = record["history"] if isinstance(record, dict) else record
    responses = responses_of(events)
    messages = [
        event
        for event in events
        if (event.get("source"), event.get("action")) == ("agent", "message")
    ]
    usages = [response["usage"] for response in responses.values()]
    return (
        len(responses) + len(messages),
        len(
            {
                event["tool_call_metadata"]["tool_call_id"]
                for event in events
                if event.get("tool_call_metadata")
            }
        ),
        sum(usage["prompt_tokens"] for usage in usages),
        sum(usage["completion_tokens"] for usage in usages),
    )


def adk(record):
    parts = [
        (event["author"], part) for event in record["events"] for part in event["content"]["parts"]
    ]
    used = [log["model_response"]["usage_metadata"] for log in record["event_logs"]]
    return (
        sum(author != "user" and "function_response" not in part for author, part in parts),
        sum("function_call" in part for _, part in parts),
        sum(usage["prompt_token_count"] for usage in used),
        sum(usage["candidates_token_count"] for usage in used),
    )


def tau2_voice(record):
    speaks = [tick["agent_chunk"]["contains_speech"] for tick in record["ticks"]]
    return sum(now and not before for before, now in pairwise([False, *speaks])), 0, 0, 0


COUNTERS = {
    "openhands-events": ("openhands", openhands),
    "openhands-output": ("openhands", openhands),
    "google-adk-session": ("google-adk", adk),
    "tau2-voice": ("tau2-voice", tau2_voice),
    "langfuse-trace": ("langfuse", langfuse),
    "trae": ("trae", trae),
    "toolbench": ("toolbench", toolbench),
    "whowhen-ag2": ("agent-history", ag2),
    "whowhen-magentic": ("agent-history", magentic),
}


@pytest.mark.parametrize("name", COUNTERS)
def test_every_record_is_claimed_by_one_importer_and_counted_right(name):
    format_id, count = COUNTERS[name]
    for record in records(name):
        assert claiming(record) == [format_id]
        assert counted(record) == count(record)


def test_every_sample_of_an_inspect_log_is_a_trace():
    for record in records("inspect-json"):
        assert claiming(record) == ["inspect"]
        if not record["samples"]:
            continue
        traces = read_traces(record)
        assert [len(trace.steps) for trace in traces] == [
            len(sample["messages"]) for sample in record["samples"]
        ]
        used = [sample["output"]["usage"] for sample in record["samples"]]
        assert [trace.steps_of("llm")[0].usage.total_tokens for trace in traces] == [
            usage["total_tokens"] for usage in used
        ]


def test_spans_that_the_javascript_sdk_printed_are_model_calls_with_their_tokens():
    for record in records("otel-js-spans"):
        listed = record if isinstance(record, list) else [
            span for spans in record.values() for span in spans if isinstance(span, dict)
        ]  # fmt: skip
        # Spans of requests repeat what the model calls in them record.
        calls = [span for span in listed if span["name"].endswith((".doGenerate", ".doStream"))]
        told = [
            count
            for span in calls or listed
            for name in ("ai.usage.completionTokens", "ai.usage.outputTokens")
            if (count := span.get("attributes", {}).get(name)) is not None
        ]
        if not told:
            continue
        assert claiming(record) == ["otel"]
        steps = [step for trace in read_traces(record) for step in trace.steps_of("llm")]
        assert sorted(step.usage.output_tokens for step in steps) == sorted(told)
        assert all(step.started_at and step.ended_at for step in steps)


def test_every_stream_of_the_ai_sdk_has_the_steps_and_calls_of_its_chunks():
    [record] = records("ai-sdk-ui-stream")
    assert claiming(record) == ["ai-sdk-stream"]
    traces = read_traces(record)
    assert len(traces) == len(record) == 67
    for told, trace in zip(record, traces, strict=True):
        chunks = told["input"]["chunks"]
        before = (told["input"]["lastMessage"] or {}).get("parts", ())
        asked = {part["toolCallId"] for part in before if "toolCallId" in part}
        asked |= {chunk["toolCallId"] for chunk in chunks if chunk["type"].startswith("tool-input")}
        assert len(trace.steps_of("tool")) == len(asked)
        steps = sum(chunk["type"] == "start-step" for chunk in chunks)
        assert len(trace.steps_of("llm")) - (len(before) > 0) == steps
