"""The columns of a timeline: tokens, time, and the position on the time axis."""

import pytest

from weighbridge.traces import read_trace
from weighbridge_producer.trace_view.loop_marks import loops_of
from weighbridge_producer.trace_view.step_columns import AxisBar, axis_of, columns_of
from weighbridge_producer.trace_view.timeline import step_numbers

START = 1_700_000_000_000_000_000
SECOND = 1_000_000_000


def steps(*told):
    return read_trace({"format": "weighbridge", "steps": list(told)}).steps


def at(start, end, **facts):
    times = {"started_at": START + int(start * SECOND), "ended_at": START + int(end * SECOND)}
    return {"type": "tool", "name": "find", "arguments": {}, "output": "ok", **times, **facts}


def test_steps_lie_on_an_axis_from_the_first_start_to_the_last_end():
    found = steps(at(0, 1), at(1, 1.0001), at(2.5, 10))
    axis = axis_of(found)
    assert axis.duration_text == "10 s"
    columns = [columns_of(step, axis) for step in found]
    assert [each.took for each in columns] == ["1 s", "0.1 ms", "7.5 s"]
    assert columns[2].began == "at 2.5 s"
    assert columns[0].bar == AxisBar(0, 10)
    assert columns[1].bar.width == 1  # so that it can be seen
    assert columns[2].bar == AxisBar(25, 75)


def test_a_long_run_is_told_in_minutes():
    [step] = steps(at(0, 446.379))
    assert columns_of(step, axis_of([step])).took == "7 min 26 s"


def test_without_times_there_is_no_axis_and_nothing_stands_in_its_columns():
    found = steps({"type": "llm", "output": "hello"})
    assert axis_of(found) is None
    assert columns_of(found[0], None)[:5] == ("", "", "", "", None)


def test_an_end_before_its_start_is_no_time():
    found = steps(at(5, 4), at(0, 6))
    assert columns_of(found[0], axis_of(found)).took == "0 ms"


@pytest.mark.parametrize(
    ("usage", "short", "told"),
    [
        (
            {"input_tokens": 12_000, "output_tokens": 34},
            "12.0k",
            "12,034 tokens: 12,000 in, 34 out",
        ),
        ({"input_tokens": 0}, "0", "0 tokens: 0 in"),
    ],
)
def test_tokens_are_short_in_the_column_and_told_in_full(usage, short, told):
    [step] = steps({"type": "llm", "output": "hello", "usage": usage})
    columns = columns_of(step, None)
    assert (columns.tokens, columns.tokens_in_full) == (short, told)


def loop_of(**told):
    trace = read_trace({"format": "weighbridge", "steps": [at(0, 1, id="a"), at(1, 2, id="b")]})
    told = {"kind": "identical", "period": 1, "observed": 2, "step_ids": ["a", "b"], **told}
    [loop] = loops_of({"loops": [told]}, trace.steps, step_numbers(trace))
    return loop


def test_a_loop_says_what_differed_whether_it_ended_and_what_it_cost():
    loop = loop_of(
        differences=[{"tool": "find", "argument": "page", "values": ["1", "2"], "distinct": 9}],
        distinct_results=1,
        recovered=False,
        wasted_steps=7,
        wasted_tokens=1_000,
        wasted_ms=90_000,
        wasted_usd=0.25,
    )
    assert loop.differences == ("find page: 1, 2, …", "the same result each time")
    assert loop.recovered is False
    assert loop.wasted == "7 steps, 1,000 tokens, 1 min 30 s, 0.25 USD"


@pytest.mark.parametrize(
    ("outcome", "says"),
    [
        ({"times": 3, "compared": 3, "failed": False}, "3 results that differ in noise alone"),
        ({"times": 2, "compared": 3, "failed": False}, "3 different results"),
        ({"times": 3, "compared": 3, "failed": True}, "3 different results"),
        ({"times": "3", "compared": "3", "failed": False}, "3 different results"),
        ([3, 3, False], "3 different results"),
        (None, "3 different results"),
    ],
)
def test_results_with_one_outcome_differ_in_noise_alone(outcome, says):
    assert loop_of(distinct_results=3, outcome=outcome).differences == (says,)


def test_what_a_loop_says_is_taken_only_where_it_has_its_form():
    loop = loop_of(differences=[7, {"values": 1}], distinct_results="x", recovered=1, wasted_ms="y")
    assert (loop.differences, loop.recovered, loop.wasted) == ((), None, "")


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        ("same_call", "the same step"),
        ("vain_changes", "runs that fail for one reason"),
        ("promise_of_a_plug_in {steps}", "steps that repeat each other"),
        (["same_call"], "steps that repeat each other"),
        (None, "steps that repeat each other"),
    ],
)
def test_a_loop_says_what_repeats_by_its_rule(rule, says):
    loop = loop_of(rule=rule)
    assert loop.says == says
    assert loop.rule == (rule if says != "steps that repeat each other" else "")


def test_a_repeated_answer_without_text_is_not_shown_as_null():
    given = [{"type": "llm", "id": "a"}, {"type": "llm", "id": "b"}]
    trace = read_trace({"format": "weighbridge", "steps": given})
    told = {"rule": "same_texts", "period": 1, "step_ids": ["a", "b"]}
    [loop] = loops_of({"loops": [told]}, trace.steps, step_numbers(trace))
    assert loop.legend == (("A", 1, "no text"),)
