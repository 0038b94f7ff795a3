"""The timeline of a trace on a page: its window, marks, loops, and problems in arguments."""

from __future__ import annotations

import json

import pytest

from weighbridge.graders.budget import BudgetGrader
from weighbridge.graders.loop import LoopGrader
from weighbridge.graders.tool_schema import ToolSchemaGrader
from weighbridge.jobs.grader_spec import GraderSpec
from weighbridge.traces import read_trace
from weighbridge_producer.trace_view.annotated_json import Problem, broken_text, marked_lines
from weighbridge_producer.trace_view.timeline import (
    SHOWN_BYTES,
    TEXT_CHARACTERS,
    WINDOW,
    NoTimelineError,
    read_case,
    timeline_of,
    trace_in,
)

ORDER = {
    "name": "order",
    "parameters": {
        "type": "object",
        "properties": {"amount": {"type": "number"}, "to": {"type": "object"}},
        "required": ["amount"],
    },
}


def trace(*steps, **facts):
    return read_trace({"format": "weighbridge", "steps": list(steps), **facts})


def tool(**facts):
    return {"type": "tool", "name": "find", "arguments": {"q": "x"}, "output": "none", **facts}


def ping_pong(rounds):
    return [
        step
        for _ in range(rounds)
        for step in (
            tool(name="ask", arguments={"of": "Ada"}, output="ask Bo"),
            tool(name="tell", arguments={"to": "Bo"}, output="ask Ada"),
        )
    ]


# ---- window ----


def test_a_short_trace_is_shown_whole():
    timeline = timeline_of(trace(*[tool()] * 5), None)
    assert [step.number for step in timeline.steps] == [1, 2, 3, 4, 5]
    assert (timeline.window.earlier, timeline.window.later) == (None, None)


def test_a_long_trace_opens_around_the_first_step_that_failed():
    read = trace(*[tool(arguments={"q": n}, output=str(n)) for n in range(500)])
    result = BudgetGrader(config={"max_tool_calls": 300}).grade(read)
    timeline = timeline_of(read, result)
    assert timeline.window.holds(301)
    assert len(timeline.steps) == WINDOW
    assert timeline.window.later == timeline.window.last + 1
    assert timeline_of(read, result, step=7).window.first == 1
    assert timeline_of(read, result, first=450).window.last == 500


@pytest.mark.parametrize("first", [1, 500, 501, 10**9])
def test_a_window_lies_within_the_trace_wherever_it_is_asked_to_begin(first):
    window = timeline_of(trace(*[tool()] * 500), None, first=first).window
    assert 1 <= window.first <= window.last <= 500


def test_a_trace_without_steps_has_a_timeline_without_steps():
    timeline = timeline_of(trace(), None)
    assert timeline.steps == ()
    assert timeline.window.later is None


def test_walking_by_pages_shows_each_step_once():
    read = trace(*[tool()] * 250)
    seen, first = [], 1
    while first:
        timeline = timeline_of(read, None, first=first)
        seen += [step.number for step in timeline.steps]
        first = timeline.window.later
    assert seen == list(range(1, 251))


# ---- marks ----


def test_steps_that_evidence_names_are_marked_with_its_entry():
    read = trace(*[tool(id=f"c{n}") for n in range(1, 5)])
    result = BudgetGrader(config={"max_tool_calls": 2, "max_steps": 9}).grade(read)
    steps = timeline_of(read, result).steps
    assert [[(mark.check, mark.passed) for mark in step.marks] for step in steps][2] == [
        ("max_tool_calls", False),
        ("max_steps", True),
    ]
    assert [step.is_open for step in steps] == [False, False, True, False]


def test_nested_steps_know_their_depth_and_a_ring_of_parents_ends():
    read = trace(
        {"id": "a", "type": "agent"},
        {"id": "b", "type": "llm", "parent_id": "a", "output": "I look."},
        tool(id="c", parent_id="b"),
        tool(id="d", parent_id="e"),
        tool(id="e", parent_id="d"),
    )
    depths = [step.depth for step in timeline_of(read, None).steps]
    assert depths[:3] == [0, 1, 2]
    assert max(depths) <= 8


def test_a_model_call_that_says_nothing_tells_what_it_called():
    read = trace({"id": "m", "type": "llm"}, tool(parent_id="m"), tool(name="stop", parent_id="m"))
    assert timeline_of(read, None).steps[0].brief == "calls find, stop"


def test_a_model_step_that_only_makes_one_call_shares_its_row():
    usage = {"input_tokens": 900, "output_tokens": 20}
    read = trace(
        {"id": "m", "type": "llm", "usage": usage},
        tool(id="c", parent_id="m"),
        {"id": "n", "type": "llm", "output": "It is found."},
    )
    call, answer = timeline_of(read, None).steps
    assert (call.numbers, call.type, call.depth, call.columns.tokens) == ((1, 2), "tool", 0, "920")
    assert call.model.id == "m"
    assert answer.numbers == (3,)


@pytest.mark.parametrize(
    "steps",
    [
        [{"id": "m", "type": "llm"}, tool(parent_id="m"), tool(parent_id="m")],
        [{"id": "m", "type": "llm", "output": "I look."}, tool(parent_id="m")],
        [{"id": "m", "type": "llm", "error": "late"}, tool(parent_id="m")],
        [{"id": "m", "type": "llm"}, {"type": "user", "output": "?"}, tool(parent_id="m")],
        [{"id": "m", "type": "agent"}, tool(parent_id="m")],
        [{"id": "m", "type": "llm"}, tool()],
    ],
    ids=["two calls", "words", "an error", "a step between", "an agent", "a call of another"],
)
def test_any_other_step_has_a_row_of_its_own(steps):
    assert len(timeline_of(trace(*steps), None).steps) == len(steps)


def test_a_step_that_evidence_names_keeps_its_row():
    read = trace({"id": "m", "type": "llm"}, tool(parent_id="m"))
    result = {"evidence": [{"check": "x", "passed": False, "step_ids": ["m"]}]}
    assert [step.numbers for step in timeline_of(read, result).steps] == [(1,), (2,)]


def test_a_long_text_is_cut_and_tells_how_long_it_is():
    [step] = timeline_of(trace(tool(output="x" * 10_000)), None).steps
    [text] = [text for text in step.texts if text.name == "output"]
    assert (len(text.text), text.total, text.is_cut) == (TEXT_CHARACTERS, 10_000, True)


@pytest.mark.parametrize(
    "result",
    [
        {"evidence": 3, "details": None},
        {"evidence": [1, {"step_ids": "s1"}, {"step_ids": [None, 4, "nowhere"], "observed": []}]},
        {"evidence": [], "details": {"loops": [7, {"step_ids": [1]}, {"period": -1}]}},
        {
            "evidence": [],
            "details": {"loops": [{"step_ids": ["s1"], "period": "x", "observed": []}]},
        },
        {"evidence": [{"passed": False, "step_ids": ["s1"], "observed": {"problems": [{}, 5]}}]},
    ],
)
def test_a_result_of_any_shape_has_a_timeline(result):
    assert len(timeline_of(trace(tool(id="s1")), result).steps) == 1


@pytest.mark.parametrize(
    ("step", "brief", "result"),
    [
        ({"type": "llm", "error": "401: no key"}, "", "401: no key"),
        ({"type": "llm", "output": "So", "error": "cut off"}, "So", "cut off"),
        ({"type": "llm", "output": "So"}, "So", ""),
        ({"type": "tool", "name": "find", "error": "no such tool"}, "", "no such tool"),
        (tool(output=None, error="401"), '{"q": "x"}', "401"),
        (tool(output="none", error="404"), '{"q": "x"}', "404 → none"),
    ],
)
def test_the_row_of_a_step_has_its_result_or_its_error(step, brief, result):
    [row] = timeline_of(trace(step), None).steps
    assert (row.brief, row.result) == (brief, result)


# ---- loops ----


def test_a_cycle_is_lettered_by_turns_and_counts_its_rounds():
    read = trace(*ping_pong(4))
    [loop] = timeline_of(read, LoopGrader().grade(read)).loops
    assert "".join(step.letter for step in loop.members) == "ABABABAB"
    assert [step.round for step in loop.members] == [1, 1, 2, 2, 3, 3, 4, 4]
    assert (loop.period, loop.observed) == (2, 4)
    assert [(letter, number) for letter, number, _ in loop.legend] == [("A", 1), ("B", 2)]
    assert loop.legend[0][2].startswith("ask ")


def test_one_repeated_step_has_one_letter():
    read = trace(*[tool()] * 7)
    timeline = timeline_of(read, LoopGrader().grade(read))
    assert {step.letter for step in timeline.loops[0].members} == {"A"}
    assert [mark.step.round for step in timeline.steps for mark in step.loops] == [
        1,
        2,
        3,
        4,
        5,
        6,
        7,
    ]


def test_steps_between_those_of_a_loop_lie_within_it():
    spoken = [{"type": "llm", "output": f"Try {word}."} for word in ("one", "two", "six", "ten")]
    read = trace(
        *[step for said in spoken for step in (said, tool())], {"type": "llm", "output": "ok"}
    )
    timeline = timeline_of(read, LoopGrader().grade(read))
    assert [step.within for step in timeline.steps] == [(), *[(1,)] * 7, ()]


# ---- running totals ----


def test_the_running_total_crosses_the_limit_where_the_evidence_says():
    calls = [
        {"id": f"m{n}", "type": "llm", "usage": {"input_tokens": 90, "output_tokens": 10}}
        for n in range(5)
    ]
    read = trace(*calls)
    result = BudgetGrader(config={"max_tokens": 250, "max_llm_calls": 9}).grade(read)
    tokens, count = timeline_of(read, result).totals
    assert tokens.points == ((1, 100.0), (2, 200.0), (3, 300.0), (4, 400.0), (5, 500.0))
    assert tokens.breach == (3, 300.0)
    assert count.breach is None


def test_a_limit_that_is_not_known_to_be_exceeded_has_no_breach():
    told = {"type": "llm", "usage": {"input_tokens": 5, "output_tokens": 5}}
    read = trace(told, {"type": "llm"})
    result = BudgetGrader(config={"max_tokens": 100}).grade(read)
    assert result["verdict"] == "ungradable"
    assert timeline_of(read, result).totals[0].breach is None


@pytest.mark.slow
def test_the_running_total_of_a_very_long_run_has_few_points():
    read = trace(*[{"type": "llm", "usage": {"total_tokens": 1}}] * 20_000)
    result = BudgetGrader(config={"max_tokens": 12_345}).grade(read)
    [tokens] = timeline_of(read, result).totals
    assert len(tokens.points) <= 300
    assert tokens.points[-1] == (20_000, 20_000.0)
    assert tokens.breach == (12_346, 12_346.0)


def test_every_limit_has_its_running_total():
    step = {"type": "llm", "cost_usd": 0.5, "usage": {"input_tokens": 5, "output_tokens": 5}}
    times = [
        {"started_at": f"2026-01-01T00:00:0{n}Z", "ended_at": f"2026-01-01T00:00:0{n}.5Z"}
        for n in (1, 2, 3)
    ]
    slow = tool(started_at="2026-01-01T00:00:04Z", ended_at="2026-01-01T00:00:06Z")
    read = trace(*[{**step, **time} for time in times], slow)
    limits = {
        "max_tokens": 9,
        "max_input_tokens": 9,
        "max_output_tokens": 99,
        "max_tool_calls": 0,
        "max_tool_calls_per_tool": {"find": 0},
        "max_llm_calls": 2,
        "max_steps": 3,
        "max_duration_ms": 1500,
        "max_step_latency_ms": 900,
        "max_cost_usd": 0.75,
    }
    totals = timeline_of(read, BudgetGrader(config=limits).grade(read)).totals
    breaches = {total.check: total.breach and total.breach[0] for total in totals}
    assert breaches == {
        "max_tokens": 1,
        "max_input_tokens": 2,
        "max_output_tokens": None,
        "max_tool_calls": 4,
        "max_tool_calls_per_tool.find": 4,
        "max_llm_calls": 3,
        "max_steps": 4,
        "max_duration_ms": 3,
        "max_step_latency_ms": 4,
        "max_cost_usd": 2,
    }


# ---- arguments ----


def judged(arguments):
    read = trace(tool(name="order", arguments=arguments), tools=[ORDER])
    result = ToolSchemaGrader().grade(read)
    return timeline_of(read, result).steps[0].arguments


def test_what_is_wrong_with_arguments_stands_at_its_line():
    arguments = judged({"to": {"street": "x"}, "amount": "40.00"})
    [line] = [line for line in arguments.lines if line.problems]
    assert line.text == '  "amount": "40.00"'
    assert line.problems[0].keyword == "type"


def test_what_is_missing_is_told_where_the_object_begins():
    first = judged({"to": {}}).lines[0]
    assert (first.text, first.problems[0].keyword) == ("{", "required")


def test_arguments_that_are_no_json_are_shown_with_the_place_where_they_break():
    broken = judged('{"amount": 40, "to": ').broken
    assert (broken.before, broken.at, broken.after) == ('{"amount": 40, "to": ', "", "")


def test_the_place_where_a_text_breaks_is_counted_in_characters():
    broken = broken_text('{"é€😀": nul}')
    assert broken.before.endswith(": ")
    assert (broken.at, broken.after) == ("n", "ul}")


def test_a_text_that_is_json_is_not_broken():
    assert broken_text('["no object"]') is None


def test_a_problem_far_inside_large_arguments_is_shown_without_the_rest():
    value = {"rows": [{"n": n, "text": "x" * 1000} for n in range(50_000)]}
    lines = marked_lines(value, [Problem("/rows/40000/n", "type", "is wrong")])
    assert len(lines) < 400
    [wrong] = [line for line in lines if line.problems]
    assert wrong.text.strip() == '"n": 40000,'
    assert any(
        "19,979 more members" not in line.text and "more members" in line.text for line in lines
    )


def test_a_pointer_that_is_cut_marks_the_nearest_place_that_is_there():
    value = {"outer": {"inner": 1}}
    lines = marked_lines(value, [Problem("/outer/inn…", "type", "is wrong")])
    assert [line.text for line in lines if line.problems] == ['  "outer": {']


def test_a_pointer_reads_the_escapes_of_its_names():
    lines = marked_lines({"a/b": {"~c": 1}}, [Problem("/a~1b/~0c", "type", "is wrong")])
    assert [line.text.strip() for line in lines if line.problems] == ['"~c": 1']


def test_very_deep_arguments_are_shown_as_far_as_they_can_be():
    value: object = 1
    for _ in range(900):
        value = {"a": value}
    assert len(marked_lines(value, [Problem("/a" * 90, "type", "is wrong")])) < 200


# ---- what has no timeline ----


def case(inputs):
    return json.dumps({"custom_id": "c", "inputs": inputs}).encode()


def test_a_case_without_a_trace_has_none():
    assert trace_in(read_case(case({"agent_response": "x"}), (GraderSpec("loop"),))) is None


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (None, "no longer stored"),
        (b" " * (SHOWN_BYTES + 1), "a page reads at most"),
        (b"{", "cannot be read"),
        (case({"trace": {"nothing": 1}}), "not a recognised trace format"),
    ],
)
def test_what_cannot_be_shown_says_why(line, why):
    with pytest.raises(NoTimelineError, match=why):
        trace_in(read_case(line, ()))
