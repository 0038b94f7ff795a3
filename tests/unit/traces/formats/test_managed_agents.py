"""Sessions of Claude Managed Agents: each request to the model is one answer, with its calls and its usage."""

from __future__ import annotations

from support.trace_examples.model_apis import MANAGED_AGENTS
from weighbridge.traces import Step, Usage, read_trace
from weighbridge.traces.fields import time_of
from weighbridge.traces.split import opens_session


def at(second):
    return time_of(f"2025-01-01T12:00:{second:02}Z")


STEPS = (
    Step(id="s1", type="user", output="Find x.", started_at=at(1)),
    Step(id="s2", type="llm", output="I look.", usage=Usage(15, 5, None, 10, 3), started_at=at(2), ended_at=at(7)),
    Step("sevt_5", "tool", "s2", "bash", arguments={"command": "ls"}, output="a", error="a", started_at=at(5), ended_at=at(8)),
    Step("sevt_6", "tool", "s2", "search", arguments={}, output="b", started_at=at(5), ended_at=at(9)),
)  # fmt: skip


def test_a_request_is_an_answer_with_its_calls_and_the_session_has_totals():
    trace = read_trace(MANAGED_AGENTS)
    assert trace.format == "managed-agents"
    assert trace.steps == STEPS
    assert (trace.usage, trace.cost_usd) == (Usage(15, 6, None, 10, 3, 0), 1.5)
    assert trace.totals_from == "session.usage"
    assert set(trace.missing) == {"tool_definitions"}


def test_pages_latest_first_and_lines_with_other_fields_beside_them_read_the_same():
    assert read_trace({"data": MANAGED_AGENTS[::-1], "next_page": None}).steps == STEPS
    lines = [{"role": "agent", "kind": "x", "raw": event} for event in MANAGED_AGENTS]
    assert opens_session(lines[0])
    assert read_trace(lines).steps == STEPS


def test_an_event_that_a_stream_repeats_counts_once():
    trace = read_trace([event for event in MANAGED_AGENTS for _ in range(2)])
    assert trace.steps == STEPS
    assert "repeated events (11)" in trace.not_carried


def test_requests_of_several_threads_do_not_mix():
    def event(number, kind, thread, **more):
        return {"id": f"e{number}", "type": kind, "session_thread_id": thread} | more

    events = [
        event(1, "span.model_request_start", "a"),
        event(2, "span.model_request_start", "b"),
        event(3, "agent.message", "a", content=[{"type": "text", "text": "A"}]),
        event(4, "agent.tool_use", "b", name="f", input={}),
        event(5, "agent.tool_result", "b", tool_use_id="e4", content="x"),
        event(
            6, "span.model_request_end", "b", model_usage={"input_tokens": 2, "output_tokens": 1}
        ),
        event(
            7, "span.model_request_end", "a", model_usage={"input_tokens": 4, "output_tokens": 3}
        ),
    ]
    trace = read_trace(events)
    told = [
        (step.type, step.output, step.usage and step.usage.input_tokens) for step in trace.steps
    ]
    assert told == [("llm", None, 2), ("tool", "x", None), ("llm", "A", 4)]


def test_events_without_spans_are_answers_up_to_each_result():
    events = [event for event in MANAGED_AGENTS if not event["type"].startswith("span.")]
    trace = read_trace(events)
    assert [step.type for step in trace.steps] == ["user", "llm", "tool", "tool"]
    assert "token_usage" in read_trace(events[:-1]).missing


def test_the_cost_of_a_part_of_a_session_is_not_the_sessions():
    usage = {"input_tokens": 1, "output_tokens": 1, "list_cost": {"currency": "USD", "amount": "9"}}
    trace = read_trace([*MANAGED_AGENTS, {"id": "last", "type": "session.usage", "usage": usage}])
    assert trace.usage == Usage(1, 1)
    assert trace.cost_usd is None
    assert "a cost of a part of the session (1)" in trace.not_carried
