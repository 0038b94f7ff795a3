"""The duration of a run by the spans around its steps, which are no steps themselves."""

from __future__ import annotations

import pytest

from support.spans import CHAT, read, runs, span
from support.trace_examples.observability import (
    BRAINTRUST,
    LANGFUSE,
    LANGSMITH,
    OPIK,
    OPIK_SPANS,
)
from weighbridge.graders.budget import BudgetGrader
from weighbridge.traces import read_trace
from weighbridge.traces.formats.native import to_native

CHAIN = {"openinference.span.kind": "CHAIN"}
HTTP = {"http.request.method": "POST"}


def calls(parent=None, at=1):
    """Return a model call and a tool call, which take five seconds together."""
    return (
        span(CHAT, parent=parent, at=at, lasts=2),
        span(runs(), parent=parent, at=at + 3, lasts=2),
    )


def root(attributes=CHAIN, **facts):
    return span(attributes, **{"span_id": "root", "name": "LangGraph", "lasts": 30} | facts)


def took(trace, **config):
    result = BudgetGrader(config={"max_duration_ms": 20_000, **config}).grade(to_native(trace))
    return result["details"]["duration_ms"], result["verdict"]


@pytest.mark.parametrize("attributes", [CHAIN, HTTP, {}])
def test_the_root_of_a_trace_is_the_run_whatever_its_kind(attributes):
    trace = read(root(attributes), *calls("root"))
    assert [step.type for step in trace.steps] == ["llm", "tool"]
    assert (trace.least_duration_ms, trace.duration_from) == (30_000, "the span 'LangGraph'")
    assert took(trace) == (30_000, "fail")


def test_the_result_says_what_took_longer_than_the_steps():
    trace = read(root(), *calls("root"))
    result = BudgetGrader(config={"max_duration_ms": 20_000}).grade(to_native(trace))
    (entry,) = result["evidence"]
    assert entry["description"].endswith(
        "the span 'LangGraph' states 30000, the times of its steps come to 5000; the larger figure is used"
    )
    assert result["details"]["differences"] == [
        {"of": "duration_ms", "by_source": 30_000, "by_times": 5_000, "where": "the span 'LangGraph'"}
    ]  # fmt: skip


@pytest.mark.parametrize("lasts", [5.04, 5.0004])
def test_a_root_that_is_hardly_longer_is_no_difference(lasts):
    trace = read(root(at=1, lasts=lasts), *calls("root"))
    result = BudgetGrader(config={"max_duration_ms": 20_000}).grade(to_native(trace))
    assert result["details"]["differences"] == []


def test_a_span_around_the_agents_run_is_the_run_too():
    agent = span({"gen_ai.operation.name": "invoke_agent"}, span_id="a", parent="root", lasts=10)
    trace = read(root(HTTP), agent, *calls("a"))
    assert took(trace) == (30_000, "fail")


def test_a_root_whose_own_parent_is_not_recorded_counts():
    assert took(read(root(parent="gateway"), *calls("root"))) == (30_000, "fail")


def test_several_roots_count_from_the_first_start_to_the_last_end_with_the_pause_between():
    second = root(span_id="second", at=40, lasts=20)
    trace = read(root(), *calls("root"), second, *calls("second", at=42))
    assert (trace.least_duration_ms, trace.duration_from) == (60_000, "the outermost spans")


def test_a_root_without_a_step_in_it_is_not_the_run():
    flush = span({}, name="flush", at=100, lasts=500)
    assert took(read(root(lasts=8), *calls("root"), flush)) == (8_000, "pass")


@pytest.mark.parametrize("lasts", [2, -3, 0])
def test_of_a_root_with_wrong_times_the_times_of_the_steps_count(lasts):
    assert took(read(root(lasts=lasts), *calls("root"))) == (5_000, "pass")


def test_a_clock_that_differs_from_that_of_the_steps_adds_nothing():
    assert took(read(root(at=3600, lasts=9), *calls("root"))) == (9_000, "pass")


def test_a_root_without_an_end_tells_no_duration():
    unfinished = root()
    unfinished.ended_at = None
    assert read(unfinished, *calls("root")).least_duration_ms is None


def test_a_duration_by_spans_does_not_make_up_for_lost_lines():
    native = to_native(read(root(lasts=8), *calls("root")))
    lost = {"missing": dict.fromkeys(("timing", "llm_calls"), "a damaged line")}
    grader = BudgetGrader(config={"max_duration_ms": 20_000})
    assert grader.grade(native)["verdict"] == "pass"
    assert grader.grade(native | lost)["verdict"] == "ungradable"


def test_the_chain_at_the_root_of_langsmiths_runs_is_the_run():
    minute = LANGSMITH | {"end_time": "2025-01-01T12:01:01"}
    assert took(read_trace(minute)) == (60_000, "fail")


def test_the_span_at_the_root_of_langfuses_observations_is_the_run():
    first, *others = LANGFUSE["observations"]
    longer = {**first, "endTime": "2025-01-01T12:00:31Z"}
    trace = read_trace(LANGFUSE | {"observations": [longer, *others]})
    assert (trace.least_duration_ms, trace.duration_from) == (30_000, f"the span {first['name']!r}")


def test_the_latency_of_langfuses_trace_is_its_duration():
    trace = read_trace(LANGFUSE | {"latency": 30.5})
    assert (trace.duration_ms, trace.duration_from) == (30_500, "latency")
    assert took(trace) == (30_500, "fail")


def test_the_times_of_opiks_trace_are_its_duration_unless_scorers_ran_in_it():
    assert read_trace(OPIK).duration_ms is None
    own = [each for each in OPIK_SPANS if each["name"] not in {"metrics_calculation", "judge"}]
    trace = read_trace({"trace": OPIK["trace"], "spans": own})
    assert (trace.duration_ms, trace.duration_from) == (5_000, "start and end of the trace")


def test_a_span_around_the_agent_and_its_scorers_is_longer_than_the_run():
    def row(kind, parent, name, start, end):
        return {
            **BRAINTRUST[0],
            "id": name,
            "span_id": name,
            "span_parents": [parent] if parent else [],
            "span_attributes": {"name": name, "type": kind},
            "metrics": {"start": 1_735_732_800 + start, "end": 1_735_732_800 + end},
        }

    task = row("task", "root", "task", 0, 12)
    rows = [{**each, "span_parents": ["task"]} for each in BRAINTRUST[1:4]]
    evaluation = row("eval", None, "root", 0, 90)
    assert took(read_trace([evaluation, task, *rows])) == (90_000, "fail")
    judge = row("score", "root", "judge", 12, 90)
    assert took(read_trace([evaluation, task, *rows, judge])) == (12_000, "pass")
