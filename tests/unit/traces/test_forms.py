"""One run in each format: the importers return the same data, except for data that a format lacks."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import asdict, replace

from support.trace_forms import (
    as_anthropic,
    as_atif,
    as_jaeger,
    as_langchain,
    as_openai_chat,
    as_openai_responses,
    as_openinference,
    as_otlp,
)
from weighbridge.traces import Step, ToolDefinition, Trace, Usage, read_trace

NOON = 1_735_732_800 * 10**9  #: 2025-01-01T12:00:00Z
SECOND = 10**9
SEARCH = ToolDefinition("search", {"type": "object", "properties": {"q": {"type": "string"}}}, "S.")
MAIL = ToolDefinition("mail", {"type": "object"}, "Sends.")


def during(first, last):
    return {"started_at": NOON + first * SECOND, "ended_at": NOON + last * SECOND}


#: A user asks, the model calls two tools of which one fails, and answers; then the user thanks.
RUN = Trace(
    id="run-1",
    format="native",
    tools=(SEARCH, MAIL),
    steps=(
        Step(id="s1", type="system", output="Be brief."),
        Step(id="s2", type="user", output="Find x and mail it."),
        Step(
            id="msg_1",
            type="llm",
            output="Looking.",
            model="gpt-4o",
            usage=Usage(100, 20, 120, 10),
            cost_usd=0.01,
            finish_reason="tool_call",
            **during(0, 1),
        ),
        Step(
            id="call_1",
            type="tool",
            parent_id="msg_1",
            name="search",
            arguments={"q": "x"},
            output="found",
            **during(1, 2),
        ),
        Step(
            id="call_2",
            type="tool",
            parent_id="msg_1",
            name="mail",
            arguments={"to": "nobody", "tags": ["a", 1]},
            output="no such address",
            error="no such address",
            **during(2, 3),
        ),
        Step(
            id="msg_2",
            type="llm",
            output="Found, not mailed.",
            model="gpt-4o",
            usage=Usage(150, 10, 160, 0),
            cost_usd=0.02,
            finish_reason="length",
            **during(4, 5),
        ),
    ),
)
SPAN_FORMS = {
    "OTLP, new names": as_otlp,
    "OTLP, old names": lambda trace: as_otlp(trace, "old"),
    "OpenInference": as_openinference,
    "Jaeger": as_jaeger,
}
#: What each other form does not carry: fields of all steps, and of tool steps alone.
CHAT_FORMS = {
    "chat": (as_openai_chat, {"started_at"}, set()),
    "anthropic": (as_anthropic, {"started_at", "ended_at", "cost_usd"}, set()),
    "langchain": (as_langchain, {"started_at", "ended_at", "cost_usd"}, set()),
    "responses": (
        as_openai_responses,
        {"cost_usd", "finish_reason"},
        {"started_at", "ended_at", "error"},
    ),
    "atif": (as_atif, {"ended_at", "finish_reason"}, {"started_at"}),
}


def read_form(write, run=RUN):
    return read_trace(json.loads(json.dumps(write(run))))


def facts(trace, lost=frozenset(), lost_of_tools=frozenset()):
    """Return all data of a trace's steps except ids, with each parent given by its index."""
    places = {step.id: place for place, step in enumerate(trace.steps)}
    told = []
    for step in trace.steps:
        left_out = {"id", *lost, *(lost_of_tools if step.type == "tool" else ())}
        fields = {key: item for key, item in asdict(step).items() if key not in left_out}
        usage = step.usage
        # Some formats do not write the sum, which is none of its own.
        fields["usage"] = usage and replace(usage, total_tokens=usage.total)
        fields["parent_id"] = places.get(step.parent_id)
        told.append(fields)
    return told


@pytest.mark.parametrize("form", SPAN_FORMS)
def test_spans_tell_every_fact_of_a_run(form):
    trace = read_form(SPAN_FORMS[form])
    assert facts(trace) == facts(RUN)
    assert (trace.tools, trace.missing, trace.not_carried) == (RUN.tools, {}, ())


@pytest.mark.parametrize("form", CHAT_FORMS)
def test_messages_tell_every_fact_that_their_format_carries(form):
    write, *lost = CHAT_FORMS[form]
    trace = read_form(write)
    assert facts(trace, *lost) == facts(RUN, *lost)
    assert (trace.tools, trace.not_carried) == (RUN.tools, ())
    assert set(trace.missing) == ({"timing"} if form in {"anthropic", "langchain"} else set())


@pytest.mark.parametrize("form", SPAN_FORMS)
def test_an_agents_span_around_the_run_is_around_its_steps(form):
    agent = Step(id="agent", type="agent", name="helper", **during(0, 5))
    steps = [
        replace(step, parent_id="agent") if step.parent_id is None else step for step in RUN.steps
    ]
    run = Trace(id=None, format="native", tools=RUN.tools, steps=(agent, *steps))
    assert facts(read_form(SPAN_FORMS[form], run)) == facts(run)


@pytest.mark.parametrize("form", [*SPAN_FORMS, *CHAT_FORMS])
def test_a_run_that_tells_no_tokens_and_no_tools_lacks_them_in_every_form(form):
    bare = tuple(
        replace(step, usage=None, cost_usd=None, finish_reason=None)
        for step in RUN.steps
        if step.type != "tool"
    )
    run = Trace(id=None, format="native", steps=bare)
    write = SPAN_FORMS[form] if form in SPAN_FORMS else CHAT_FORMS[form][0]
    trace = read_form(write, run)
    assert {"token_usage", "cost", "tool_definitions"} <= set(trace.missing)
    assert "tool_calls" not in trace.missing
    assert [(step.type, step.output) for step in trace.steps] == [
        (step.type, step.output) for step in run.steps
    ]
