"""The budget grader: limits that are kept, exceeded or cannot be decided, and their evidence."""

from __future__ import annotations

import decimal
from decimal import Decimal
from functools import partial

import orjson
import pytest

from support.growth import assert_takes_at_most
from weighbridge.errors import ConfigError, ConfigTypeError
from weighbridge.graders import GraderRequirements
from weighbridge.graders.budget import BudgetGrader
from weighbridge.graders.budget.consumption import exceeds
from weighbridge.graders.budget.limit_table import LIMITS, PER_TOOL
from weighbridge.graders.budget.limits import percent, shown, utilisation
from weighbridge.graders.budget.measurements import FIELDS, Measurements, as_number
from weighbridge.graders.budget.readings import Readings
from weighbridge.traces import Step, Trace, Usage, read_trace
from weighbridge.traces.unread_counts import OTHER_AGENTS

DETAILS = [
    *("input_tokens", "output_tokens", "total_tokens", "cached_tokens", "llm_steps_without_usage"),
    *("llm_calls", "tool_calls", "tools_called", "tool_calls_by_tool", "steps"),
    *("duration_ms", "max_step_latency_ms", "cost_usd", "cost_source", "at_least"),
    *("ignored", "differences", "limits"),
]
NOON = 1_780_000_000  # seconds


def llm(tokens=None, **facts):
    """A model call; `tokens` is its total, or its input and output."""
    step = {"type": "llm", **facts}
    if isinstance(tokens, tuple):
        step["usage"] = {"input_tokens": tokens[0], "output_tokens": tokens[1]}
    elif tokens is not None:
        step["usage"] = {"total_tokens": tokens}
    return step


def tool(name="search", **facts):
    return {"type": "tool", "name": name, **facts}


def agent(tokens=None, **facts):
    return {**llm(tokens, **facts), "type": "agent"}


def timed(step, start_ms=None, end_ms=None):
    times = {"started_at": start_ms, "ended_at": end_ms}
    return {
        **step,
        **{key: NOON + ms / 1000 for key, ms in times.items() if ms is not None},
    }


def trace(*steps, **facts):
    return {"format": "weighbridge", "steps": list(steps), **facts}


def grade(*steps, run=None, **config):
    return BudgetGrader(config=config).grade(trace(*steps, **(run or {})))


def only(result):
    (entry,) = result["evidence"]
    return entry


def entry_of(result, check):
    return next(entry for entry in result["evidence"] if entry["check"] == check)


# The seeds' scenarios


def test_a_run_within_its_tokens_passes_and_shows_the_utilisation():
    result = grade(llm((1200, 100)), llm((1600, 100)), max_tokens=5000)
    assert (result["verdict"], result["passed"], result["score"]) == ("pass", True, 1.0)
    assert only(result) == {
        "check": "max_tokens",
        "description": "used 3000/5000 tokens = 60%; 2000 left",
        "passed": True,
        "limit": 5000,
        "observed": 3000,
        "step_ids": ["s1", "s2"],
    }


def test_a_run_over_its_tokens_fails_at_the_step_that_first_crossed_the_limit():
    result = grade(llm(3000), tool(), llm(2210), llm(890), max_tokens=5000)
    assert (result["verdict"], result["score"]) == ("fail", 5000 / 6100)
    assert only(result) == {
        "check": "max_tokens",
        "description": "used 6100/5000 tokens = 122%: 1100 over the limit; "
        "first crossed at step s3, where the running total was 5210",
        "passed": False,
        "limit": 5000,
        "observed": 6100,
        "step_ids": ["s3"],
    }


def test_each_tool_call_past_the_limit_is_named():
    result = grade(*[tool() for _ in range(12)], max_tool_calls=10)
    entry = only(result)
    assert (result["verdict"], result["score"]) == ("fail", 10 / 12)
    assert entry["description"] == (
        "12 tool calls, limit 10: calls 11 and 12 exceed it; used 12/10 tool calls = 120%"
    )
    assert (entry["limit"], entry["observed"], entry["step_ids"]) == (10, 12, ["s11", "s12"])


# Limits


CALLS = [llm((40, 10)), tool(), tool("read"), llm((60, 20))]


@pytest.mark.parametrize(
    ("limit", "observed"),
    [
        ("max_tokens", 130),
        ("max_input_tokens", 100),
        ("max_output_tokens", 30),
        ("max_tool_calls", 2),
        ("max_llm_calls", 2),
        ("max_steps", 4),
        ("max_duration_ms", 900),
        ("max_step_latency_ms", 400),
        ("max_cost_usd", 3),
    ],
)
def test_a_limit_is_kept_by_what_equals_it_and_exceeded_by_one_more(limit, observed):
    steps = [
        timed(step | ({"cost_usd": 1.5} if step["type"] == "llm" else {}), start, end)
        for step, (start, end) in zip(
            CALLS, [(0, 100), (100, 500), (500, 600), (600, 900)], strict=True
        )
    ]
    for given, verdict in ((observed, "pass"), (observed + 1, "pass"), (observed - 1, "fail")):
        result = grade(*steps, **{limit: given})
        assert result["verdict"] == verdict, given
        entry = only(result)
        assert (entry["check"], entry["limit"], entry["observed"]) == (limit, given, observed)
        assert entry["step_ids"]
    assert result["score"] == (observed - 1) / observed


@pytest.mark.parametrize(
    ("steps", "limits", "description"),
    [
        ([tool()], {"max_tool_calls": 1}, "used 1/1 tool call = 100%; 0 left"),
        ([tool()], {"max_tool_calls": 2}, "used 1/2 tool calls = 50%; 1 left"),
        ([tool()], {"max_steps": 0}, "1 step, limit 0: step 1 exceeds it; used 1/0 steps"),
        ([llm(None)], {"max_tokens": 1}, "limit 1 token, but what was used is not known: "),
        ([llm(None)], {"max_tokens": 2}, "limit 2 tokens, but what was used is not known: "),
    ],
)
def test_one_of_a_thing_is_told_in_the_singular(steps, limits, description):
    assert only(grade(*steps, **limits))["description"].startswith(description)


def test_each_limit_of_a_tool_is_its_own_and_a_tool_never_called_keeps_its_limit():
    limits = {"search": 1, "read": 1, "write": 0}
    result = grade(tool(), tool("read"), tool(), max_tool_calls_per_tool=limits)
    assert result["verdict"] == "fail"
    search = entry_of(result, "max_tool_calls_per_tool.search")
    assert search["description"] == (
        "2 calls of 'search', limit 1: call 2 exceeds it; used 2/1 calls of 'search' = 200%"
    )
    assert search["step_ids"] == ["s3"]
    assert entry_of(result, "max_tool_calls_per_tool.read")["passed"]
    assert entry_of(result, "max_tool_calls_per_tool.write")["observed"] == 0


def test_a_limit_of_one_tool_counts_exactly_that_name():
    calls = [tool("search"), tool("Search"), tool("search "), tool(None)]
    result = grade(*calls, max_tool_calls_per_tool={"search": 5})
    assert only(result)["observed"] == 1


def test_failed_retried_and_nested_calls_count():
    calls = [
        tool(error="timeout", id="a"),
        tool(id="b"),
        agent(id="c"),
        tool(parent_id="c"),
        tool(parent_id="a"),
    ]
    assert only(grade(*calls, max_tool_calls=9))["observed"] == 4


def test_every_step_of_the_trace_counts_as_a_step():
    kinds = ["system", "user", "llm", "tool", "agent", "other"]
    assert only(grade(*[{"type": kind} for kind in kinds], max_steps=9))["observed"] == 6


def test_a_limit_of_zero_forbids():
    assert only(grade(llm(0), max_tokens=0))["description"] == "used 0/0 tokens; 0 left"
    result = grade(tool(), llm(5), max_tool_calls=0, max_tokens=0)
    assert (result["verdict"], result["score"]) == ("fail", 0.0)
    assert entry_of(result, "max_tool_calls")["description"] == (
        "1 tool call, limit 0: call 1 exceeds it; used 1/0 tool calls"
    )


def test_the_worst_breach_sets_the_score():
    result = grade(llm(1000), tool(), tool(), max_tokens=999, max_tool_calls=1, max_steps=99)
    assert result["score"] == 0.5


def test_a_breach_never_scores_a_whole_one():
    result = grade(*[llm(10**15)] * 1000, llm(1), max_tokens=10**18)
    assert result["verdict"] == "fail"
    assert 0.999 < result["score"] < 1.0


def test_every_limit_has_an_entry_failures_before_what_is_not_known_before_what_was_kept():
    result = grade(
        llm(10), tool(), tool(), max_steps=9, max_tool_calls=1, max_duration_ms=5, max_tokens=10
    )
    assert [entry["check"] for entry in result["evidence"]] == [
        "max_tool_calls",
        "max_duration_ms",
        "max_tokens",
        "max_steps",
    ]
    assert [entry["passed"] for entry in result["evidence"]] == [False, False, True, True]


def test_fail_beats_ungradable_beats_pass():
    steps = llm(10), llm()
    assert grade(*steps, max_steps=2)["verdict"] == "pass"
    assert grade(*steps, max_steps=2, max_tokens=10)["verdict"] == "ungradable"
    assert grade(*steps, max_steps=1, max_tokens=10)["verdict"] == "fail"
    assert grade(*steps, max_steps=1, max_tokens=10)["score"] == 0.5


def test_more_limits_than_evidence_holds_are_counted():
    limits = {f"t{number}": 0 for number in range(80)}
    result = grade(tool("t70"), max_tool_calls_per_tool=limits)
    assert len(result["evidence"]) == 50
    assert result["evidence"][0]["check"] == "max_tool_calls_per_tool.t70"
    assert result["evidence"][-1]["check"] == "more"


def test_a_breach_lists_fifty_calls_and_says_how_many_there_are():
    entry = only(grade(*[tool()] * 200, max_tool_calls=100))
    assert len(entry["step_ids"]) == 50
    assert "calls 101 to 200 exceed it (the first 50 are listed)" in entry["description"]
    entry = only(grade(*[tool()] * 150, max_tool_calls=100))
    assert len(entry["step_ids"]) == 50
    assert "calls 101 to 150 exceed it; used" in entry["description"]


def test_a_breach_of_calls_quotes_the_first_call_too_many():
    calls = [tool(arguments={"q": "a"}), tool("fetch", arguments={"url": "x" * 500})]
    excerpt = only(grade(*calls, max_tool_calls=1))["excerpt"]
    assert excerpt.startswith('fetch {"url": "xxx')
    assert len(excerpt) == 200


def test_the_name_of_a_tool_stays_as_it_is_in_a_limit_of_one():
    entry = only(grade(tool("list calls"), max_tool_calls_per_tool={"list calls": 1}))
    assert "1 call of 'list calls'" in entry["description"]


# Tokens that are recorded in part


def test_three_steps_without_usage_are_named_and_the_others_counted():
    steps = [llm(id=f"m{at}") for at in range(5)]
    named = only(grade(llm(10), *steps[:3], max_tokens=100))["description"]
    assert named.endswith("(steps m0, m1 and m2)")
    counted = only(grade(llm(10), *steps, max_tokens=100))["description"]
    assert counted.endswith("(steps m0, m1, m2 and 2 more)")


def test_tokens_known_in_part_that_exceed_the_limit_already_fail():
    result = grade(llm(900), llm(), llm(200), max_tokens=1000)
    assert result["verdict"] == "fail"
    assert only(result)["description"] == (
        "used at least 1100/1000 tokens = 110%: at least 100 over the limit; crossed at step s3 or before, "
        "where the running total was at least 1100; "
        "the rest is not known: no tokens are recorded by 1 of 3 LLM steps (step s2)"
    )
    assert only(result)["step_ids"] == ["s3"]


def test_tokens_known_in_part_that_would_keep_the_limit_are_ungradable_and_name_the_steps():
    result = grade(llm(300), llm(), tool(), llm(), max_tokens=1000)
    assert (result["verdict"], result["score"]) == ("ungradable", 0.0)
    entry = only(result)
    assert entry["description"] == (
        "used at least 300/1000 tokens = 30%, but the rest is not known: "
        "no tokens are recorded by 2 of 3 LLM steps (steps s2 and s4)"
    )
    assert (entry["observed"], entry["step_ids"]) == (300, ["s2", "s4"])
    assert result["details"]["at_least"] == ["total_tokens"]


def test_causes_part_a_limit_that_is_exceeded_from_one_that_cannot_be_checked():
    causes = [
        only(result).get("cause")
        for result in (
            grade(llm(3000), llm(), max_tokens=1000),
            grade(llm(300), llm(), max_tokens=1000),
            grade(llm(), llm(), max_tokens=1000),
        )
    ]
    assert causes == [None, "known in part", "not recorded"]


def test_tokens_known_in_part_pass_when_missing_usage_is_ignored_which_is_said():
    result = grade(llm(300), llm(), max_tokens=1000, missing_usage="ignore")
    assert result["verdict"] == "pass"
    assert only(result)["description"] == (
        "used at least 300/1000 tokens = 30%; at most 700 left; "
        "ignored: no tokens are recorded by 1 of 2 LLM steps (step s2)"
    )
    failed = grade(llm(3000), llm(), max_tokens=1000, missing_usage="ignore")
    assert failed["verdict"] == "fail"
    assert only(failed)["description"] == (
        "used at least 3000/1000 tokens = 300%: at least 2000 over the limit; crossed at step s1 or before, "
        "where the running total was at least 3000; "
        "ignored: no tokens are recorded by 1 of 2 LLM steps (step s2)"
    )


def test_tokens_that_no_call_records_are_not_stated_as_none_when_they_are_ignored():
    result = grade(llm(), tool(), max_tokens=1000, max_tool_calls=1, missing_usage="ignore")
    entry = entry_of(result, "max_tokens")
    assert (entry["passed"], entry["observed"]) == (True, None)
    assert entry["description"] == (
        "limit 1000 tokens; what was used is not known; "
        "ignored: the trace does not record token counts: no model call of the trace has a field usage (token_usage)"
    )
    assert (result["details"]["total_tokens"], result["details"]["at_least"]) == (None, [])
    assert result["details"]["ignored"] == ["total_tokens", "input_tokens", "output_tokens"]


def test_the_details_name_what_is_ignored_and_never_a_cost_without_a_price():
    steps = llm((5, 5), model="gpt-4o"), llm((5, 5), model="own"), llm(model="gpt-4o")
    ignored = grade(*steps, max_cost_usd=5, max_tokens=50, missing_usage="ignore")["details"]
    assert ignored["ignored"] == ["total_tokens", "input_tokens", "output_tokens"]
    priced = grade(steps[0], steps[2], max_cost_usd=5, missing_usage="ignore")["details"]
    assert priced["ignored"] == ["total_tokens", "input_tokens", "output_tokens", "cost_usd"]
    assert priced["at_least"][-1] == "cost_usd"
    # Without a limit on the cost nothing is priced, and what it would be is not known.
    assert (
        "cost_usd" not in grade(*steps, max_tokens=50, missing_usage="ignore")["details"]["ignored"]
    )
    assert grade(*steps, max_tokens=50)["details"]["ignored"] == []


#: Runs of which each measurement is known only in part, and a limit that the known part exceeds.
KNOWN_IN_PART = [
    pytest.param((llm(9), llm()), {"max_tokens": 5}, "(step s2)", id="tokens"),
    pytest.param((llm((9, 1)), llm()), {"max_input_tokens": 5}, "(step s2)", id="input"),
    pytest.param((llm((1, 9)), llm()), {"max_output_tokens": 5}, "(step s2)", id="output"),
    pytest.param(
        (llm(9, cost_usd=9.0), llm((9, 9))),
        {"max_cost_usd": 5},
        "no model is named (step s2)",
        id="cost",
    ),
    pytest.param(
        (timed(llm(), 0, 9), llm()),
        {"max_duration_ms": 5},
        "the start or the end of the run is not recorded",
        id="duration",
    ),
    pytest.param(
        (timed(llm(), 0, 9), llm()), {"max_step_latency_ms": 5}, "1 of 2 calls", id="latency"
    ),
]


@pytest.mark.parametrize("missing_usage", ["ungradable", "ignore"])
@pytest.mark.parametrize(("steps", "limit", "why"), KNOWN_IN_PART)
def test_a_breach_by_a_lower_bound_says_why_it_is_one_and_agrees_with_the_details(
    steps, limit, why, missing_usage
):
    result = grade(*steps, missing_usage=missing_usage, **limit)
    assert result["verdict"] == "fail"
    (entry,) = result["evidence"]
    (measured,) = [LIMITS[name].measured for name in limit]
    assert measured in result["details"]["at_least"]
    assert result["details"][measured] == entry["observed"]
    assert entry["description"].startswith("used at least ")
    is_ignored = missing_usage == "ignore" and why == "(step s2)"
    gap = "; ignored: " if is_ignored else "; the rest is not known: "
    assert why in entry["description"].partition(gap)[2]


@pytest.mark.parametrize(
    ("check", "limit"),
    [
        ("max_tool_calls", {"max_tool_calls": 0}),
        ("max_tool_calls_per_tool.search", {"max_tool_calls_per_tool": {"search": 0}}),
        ("max_llm_calls", {"max_llm_calls": 0}),
        ("max_steps", {"max_steps": 0}),
    ],
)
def test_a_breach_by_calls_that_are_known_in_part_says_why(check, limit):
    lost = "line 7 is damaged"
    run = {"missing": {"tool_calls": lost, "llm_calls": lost}}
    description = entry_of(grade(llm(1), tool(), run=run, **limit), check)["description"]
    assert "used at least" in description
    gap = description.partition("; the rest is not known: ")[2]
    assert gap.startswith(
        f"the trace lacks some {'model' if 'llm' in check else 'tool'} calls: {lost}"
    )


def test_a_trace_with_some_calls_is_not_said_to_have_none():
    run = {"missing": {"tool_calls": "line 7 is damaged"}}
    limits = {"max_tool_calls": 5, PER_TOOL: {"search": 5, "read": 5}}
    for entry in grade(llm(1), tool(), run=run, **limits)["evidence"]:
        why = "not known: the trace lacks some tool calls: line 7 is damaged"
        assert why in entry["description"]
    none = only(grade(llm(1), run=run, max_tool_calls=5))["description"]
    assert "not known: the trace does not record tool calls: line 7 is damaged" in none


def test_an_exact_breach_says_nothing_of_a_rest():
    result = grade(llm(9), llm(9), max_tokens=5, missing_usage="ignore")
    assert only(result)["description"] == (
        "used 18/5 tokens = 360%: 13 over the limit; first crossed at step s1, where the running total was 9"
    )


def test_a_step_with_only_a_total_counts_towards_the_total_alone():
    steps = llm(500), llm((100, 20))
    assert only(grade(*steps, max_tokens=1000))["observed"] == 620
    for limit in ("max_input_tokens", "max_output_tokens"):
        result = grade(*steps, **{limit: 1000})
        assert result["verdict"] == "ungradable"
        assert only(result)["step_ids"] == ["s1"]


def test_a_step_with_only_its_input_tells_the_least_of_its_total():
    step = {"type": "llm", "usage": {"input_tokens": 700}}
    assert only(grade(step, max_input_tokens=700))["passed"]
    assert grade(step, max_tokens=699)["verdict"] == "fail"
    assert grade(step, max_tokens=700)["verdict"] == "ungradable"


def test_a_total_below_its_own_parts_counts_as_its_parts():
    usage = {"input_tokens": 600, "output_tokens": 100, "total_tokens": 10}
    assert only(grade({"type": "llm", "usage": usage}, max_tokens=9000))["observed"] == 700


def test_totals_below_their_own_parts_are_a_difference():
    def differences(*steps, **run):
        result = grade(*steps, run=run, max_tokens=9000)
        return result["details"]["differences"], only(result)["description"]

    low = {"type": "llm", "usage": {"input_tokens": 600, "output_tokens": 100, "total_tokens": 10}}
    whole = {"input_tokens": 600, "output_tokens": 100, "total_tokens": 700}
    [found], description = differences(low, {"type": "llm", "usage": whole})
    of_steps = "the steps' own totals"
    sums = {"by_source": 710, "by_parts": 1400}
    assert found == {"of": "total_tokens", **sums, "where": of_steps}
    assert f"{of_steps} add up to 710, input and output add up to 1400" in description
    [found], _ = differences(low, usage={**low["usage"], "total_tokens": 20}, totals_from="metrics")
    assert (found["by_source"], found["by_steps"], found["where"]) == (20, 700, "metrics")
    [found], description = differences(llm(), usage={**low["usage"], "total_tokens": 20})
    assert (found["by_source"], found["by_parts"]) == (20, 700)
    assert "; the source states 20, input and output add up to 700; the larger" in description
    without = {"input_tokens": 600, "output_tokens": 100}
    for usage in (whole, without, {**whole, "total_tokens": 950}):
        assert differences({"type": "llm", "usage": usage})[0] == []
    assert differences(low, {"type": "llm", "usage": without})[0] == []
    assert differences(low, llm(None))[0] == []


def test_a_total_beyond_its_parts_counts_as_told():
    usage = {"input_tokens": 600, "output_tokens": 100, "total_tokens": 950}
    assert only(grade({"type": "llm", "usage": usage}, max_tokens=9000))["observed"] == 950


@pytest.mark.parametrize("more", [{"cached_tokens": 900}, {"cache_write_tokens": 601}])
@pytest.mark.parametrize("limit", ["max_tokens", "max_input_tokens", "max_cost_usd"])
def test_more_cached_tokens_than_input_leave_both_unknown(more, limit):
    usage = {"input_tokens": 600, "output_tokens": 100, **more}
    given = llm(usage=usage, model="gpt-4o")
    assert grade(given, **{limit: 10**6})["verdict"] == "ungradable"
    if limit != "max_cost_usd":
        assert grade(given, **{limit: 599})["verdict"] == "fail"


def test_a_cost_that_no_run_has_is_refused_and_not_priced():
    step = llm((5000, 5000), model="gpt-4o", cost_usd=1e308)
    result = grade(step, step, max_cost_usd=1.0)
    assert result["verdict"] == "ungradable"
    assert "cost_usd must be an amount of money" in only(result)["description"]


def test_cached_input_tokens_are_input_tokens():
    usage = {"input_tokens": 600, "output_tokens": 100, "cached_tokens": 500}
    result = grade({"type": "llm", "usage": usage}, max_input_tokens=600)
    assert only(result)["observed"] == 600
    assert result["details"]["cached_tokens"] == 500


# Totals of the run and of steps around others


def test_the_total_of_the_run_counts_where_its_steps_tell_none():
    result = grade(llm(), llm(), run={"usage": {"total_tokens": 800}}, max_tokens=1000)
    assert (result["verdict"], only(result)["observed"]) == ("pass", 800)
    result = grade(llm(), run={"usage": {"total_tokens": 1800}}, max_tokens=1000)
    assert result["verdict"] == "fail"
    assert "it is known only from the total of the run" in only(result)["description"]


def test_of_two_whole_totals_the_larger_counts_and_the_result_says_by_how_much_they_differ():
    run = {"usage": {"total_tokens": 9000}, "totals_from": "final_metrics"}
    result = grade(llm(300), llm(200), run=run, max_tokens=1000)
    assert (result["verdict"], only(result)["observed"]) == ("fail", 9000)
    told = "final_metrics states 9000, the steps add up to 500; the larger figure is used"
    assert told in only(result)["description"]
    assert result["details"]["differences"] == [
        {"of": "total_tokens", "by_source": 9000, "by_steps": 500, "where": "final_metrics"}
    ]
    result = grade(llm(300), llm(9700), run=run, max_tokens=10_000)
    assert (result["verdict"], only(result)["observed"]) == ("pass", 10_000)
    assert "final_metrics states 9000, the steps add up to 10000" in only(result)["description"]


def test_totals_that_are_the_same_are_no_difference():
    run = {"usage": {"total_tokens": 500}, "cost_usd": 0.3, "counts": {"llm_calls": 2, "steps": 2}}
    steps = [llm(300, cost_usd=0.1), llm(200, cost_usd=0.2)]
    assert grade(*steps, run=run, max_tokens=1000)["details"]["differences"] == []


@pytest.mark.parametrize(
    ("limit", "counted"),
    [("max_tool_calls", "tool_calls"), ("max_llm_calls", "llm_calls"), ("max_steps", "steps")],
)
def test_what_the_source_counts_beyond_the_steps_counts_too(limit, counted):
    run = {"counts": {counted: 7}, "totals_from": "summary.n"}
    steps = [llm(5), tool(), tool()]
    result = grade(*steps, run=run, **{limit: 6})
    assert (result["verdict"], only(result)["observed"]) == ("fail", 7)
    assert "known only from what the source counts" in only(result)["description"]
    assert "summary.n states 7" in only(result)["description"]
    assert result["details"][counted] == 7
    assert grade(*steps, run=run, **{limit: 7})["verdict"] == "pass"


def test_steps_of_a_run_that_lacks_the_calls_of_models_and_tools_are_a_lower_bound():
    run = {"missing": dict.fromkeys(("llm_calls", "tool_calls"), "only the result is recorded")}
    result = grade(tool(), tool(), run=run, max_steps=5)
    assert result["verdict"] == "ungradable"
    assert "only the result is recorded" in only(result)["description"]
    assert "steps" in result["details"]["at_least"]
    assert grade(tool(), tool(), run=run, max_steps=1)["verdict"] == "fail"
    stated = run | {"counts": {"steps": 4}}
    assert grade(tool(), tool(), run=stated, max_steps=5)["verdict"] == "pass"
    assert grade(tool(), run={"missing": {"tool_calls": "x"}}, max_steps=5)["verdict"] == "pass"


def test_tokens_of_a_run_that_lacks_model_calls_and_their_tokens_are_a_lower_bound():
    reason = "a line of the session is damaged"
    run = {"missing": dict.fromkeys(("llm_calls", "token_usage", "cost"), reason)}
    steps = [llm(300, cost_usd=0.1), llm(200, cost_usd=0.2)]
    result = grade(*steps, run=run, max_tokens=600, max_cost_usd=1)
    assert result["verdict"] == "ungradable"
    assert {"total_tokens", "cost_usd"} <= {*result["details"]["at_least"]}
    assert reason in entry_of(result, "max_tokens")["description"]
    assert reason in entry_of(result, "max_cost_usd")["description"]
    assert grade(*steps, run=run, max_tokens=400)["verdict"] == "fail"


def test_tokens_of_fewer_model_calls_than_the_source_counts_are_a_lower_bound():
    run = {"counts": {"llm_calls": 3}}
    steps = [llm(300, cost_usd=0.1), llm(200, cost_usd=0.2)]
    result = grade(*steps, run=run, max_tokens=600, max_cost_usd=1)
    assert result["verdict"] == "ungradable"
    assert {"total_tokens", "cost_usd"} <= {*result["details"]["at_least"]}
    assert (
        "counts more model calls than it has recorded"
        in entry_of(result, "max_tokens")["description"]
    )
    assert grade(*steps, run=run, max_tokens=400)["verdict"] == "fail"
    whole = run | {"usage": {"total_tokens": 550}, "cost_usd": 0.4}
    assert grade(*steps, run=whole, max_tokens=600, max_cost_usd=1)["verdict"] == "pass"


@pytest.mark.parametrize(("of_agent", "known"), [(2, 300), (300, 300), (500, 500)])
def test_a_total_of_an_agent_does_not_stand_for_the_calls_that_only_the_source_counts(
    of_agent, known
):
    around = [agent(of_agent, id="a"), llm(300, parent_id="a")]
    result = grade(*around, run={"counts": {"llm_calls": 3}}, max_tokens=600)
    assert (result["verdict"], only(result)["observed"]) == ("ungradable", known)
    assert only(result)["description"].endswith("counts more model calls than it has recorded")
    assert grade(*around, run={"counts": {"llm_calls": 1}}, max_tokens=300)["verdict"] == "pass"


def test_tool_calls_that_only_the_source_counts_leave_the_calls_of_a_single_tool_open():
    run = {"counts": {"tool_calls": 3}}
    result = grade(tool(), tool(), run=run, max_tool_calls_per_tool={"search": 5})
    assert result["verdict"] == "ungradable"
    told = "states 3 tool calls, of which 2 were read"
    assert told in only(result)["description"]
    assert (
        grade(tool(), tool(), run=run, max_tool_calls_per_tool={"search": 1})["verdict"] == "fail"
    )


PRICED_IN_PART = "only a part of the cost or of the tokens to price is recorded"


@pytest.mark.parametrize("kind", ["llm", "tool", "agent"])
@pytest.mark.parametrize(
    ("usage", "usd", "reason"),
    [
        ({"input_tokens": 400}, 0.0035, PRICED_IN_PART),
        ({"output_tokens": 100}, 0.0035, PRICED_IN_PART),
        ({"output_tokens": 100, "cached_tokens": 5}, 0.0035, PRICED_IN_PART),
        ({"total_tokens": 500}, 0.0025, "no cost, and of the tokens only a total, is recorded"),
    ],
)
def test_the_price_of_a_step_that_tells_only_its_input_or_output_is_the_least_it_cost(
    kind, usage, usd, reason
):
    step = {"type": kind, "model": "gpt-4o", "usage": usage}
    result = grade(step, llm((1000, 0), model="gpt-4o"), max_cost_usd=1)
    assert (result["verdict"], result["details"]["cost_usd"]) == ("ungradable", usd)
    assert only(result)["step_ids"] == ["s1"]
    assert f"the rest is not known: {reason} by " in only(result)["description"]


def test_tokens_that_only_the_run_tells_are_priced_too():
    usage = {"input_tokens": 1000, "output_tokens": 0}
    run = {"usage": {"input_tokens": 1_000_000, "output_tokens": 0}}
    steps = [{"type": "llm", "model": "gpt-4o", "usage": usage}]
    assert grade(*steps, run=run, max_cost_usd=1)["verdict"] == "fail"
    steps = [{"type": "llm", "model": name, "usage": usage} for name in ("gpt-4o", "o3")]
    result = grade(*steps, run=run, max_cost_usd=1)
    assert result["verdict"] == "ungradable"
    several = "several models are named, so the total of the run has no price"
    assert only(result)["description"].endswith(f"the rest is not known: {several}")
    result = grade(llm(), llm(), run=run, max_cost_usd=1)
    assert only(result)["description"].endswith("what was used is not known: no model is named")


def test_of_a_run_that_tells_only_its_input_the_price_of_that_is_the_least_it_cost():
    run = {"usage": {"input_tokens": 1_000_000}}
    result = grade(llm(model="gpt-4o"), run=run, max_cost_usd=3)
    assert (result["verdict"], result["details"]["cost_usd"]) == ("ungradable", 2.5)
    assert grade(llm(model="gpt-4o"), run=run, max_cost_usd=2)["verdict"] == "fail"


def test_of_an_incomplete_sum_and_a_total_of_the_run_the_larger_counts():
    run = {"usage": {"total_tokens": 900}}
    result = grade(llm(300), llm(), run=run, max_tokens=1000)
    assert (result["verdict"], only(result)["observed"]) == ("pass", 900)


def test_calls_that_use_more_than_the_total_of_the_run_are_the_least_if_one_records_nothing():
    run = {"usage": {"total_tokens": 900}, "totals_from": "usage"}
    result = grade(llm(1200), llm(), run=run, max_tokens=1500)
    assert (result["verdict"], only(result)["observed"]) == ("ungradable", 1200)
    assert result["details"]["at_least"] == ["total_tokens"]
    assert result["details"]["differences"] == [
        {"of": "total_tokens", "by_source": 900, "by_steps": 1200, "where": "usage"}
    ]
    assert grade(llm(1200), llm(), run=run, max_tokens=1000)["verdict"] == "fail"


def test_a_total_of_the_run_that_tells_only_its_input_is_the_least_of_all_tokens():
    run = {"usage": {"input_tokens": 900}}
    assert grade(tool(), run=run, max_tokens=800)["verdict"] == "fail"
    result = grade(tool(), run=run, max_tokens=1000)
    assert result["verdict"] == "ungradable"
    why = "only a part of the tokens is recorded by the run and its steps"
    assert why in only(result)["description"]


def test_the_sum_that_an_agent_tells_is_not_counted_beside_the_calls_inside_it():
    steps = [
        agent((100, 50), id="a"),
        llm((60, 30), parent_id="a"),
        tool(id="t", parent_id="a"),
        llm((40, 20), parent_id="t"),
        llm((7, 3)),
    ]
    assert only(grade(*steps, max_tokens=1000))["observed"] == 160
    assert only(grade(*reversed(steps), max_tokens=1000))["observed"] == 160


def test_an_agent_that_tells_no_more_than_the_calls_inside_it_is_no_step_that_used_anything():
    steps = agent(150, id="a"), llm(100, id="b", parent_id="a"), llm(50, id="c", parent_id="a")
    assert only(grade(*steps, max_tokens=1000))["step_ids"] == ["b", "c"]
    entry = only(grade(*steps, max_tokens=149))
    assert entry["step_ids"] == ["c"]
    assert "where the running total was 150" in entry["description"]


def test_steps_of_other_types_that_tell_a_part_are_counted_as_steps_that_used_a_model():
    steps = llm(10), tool(id="t", usage={"input_tokens": 5}), llm(id="m")
    why = (
        "no tokens are recorded by 1 of 2 LLM steps (step m), "
        "and only a part of the tokens is recorded by 1 step that used a model (step t)"
    )
    assert why in only(grade(*steps, max_tokens=100))["description"]
    without = llm((1, 9)), tool(id="t", usage={"input_tokens": 5}), llm(id="m")
    why = "no output tokens are recorded by 2 steps that used a model (steps t and m)"
    assert why in only(grade(*without, max_output_tokens=100))["description"]


def test_the_sum_that_an_agent_tells_counts_where_the_calls_inside_it_do_not_tell_everything():
    steps = agent(500, id="a"), llm(100, parent_id="a"), llm(parent_id="a"), llm(7)
    result = grade(*steps, max_tokens=506)
    assert (result["verdict"], only(result)["observed"]) == ("fail", 507)
    result = grade(*steps, max_tokens=507)
    assert (result["verdict"], only(result)["observed"]) == ("pass", 507)
    assert grade(agent(500), tool(), max_tokens=500)["verdict"] == "pass"


def test_what_only_an_agent_tells_crosses_the_limit_at_its_own_place():
    steps = [agent(500, id="a"), llm(100, parent_id="a", id="b"), llm(parent_id="a")]
    assert only(grade(*steps, max_tokens=399))["step_ids"] == ["a"]
    entry = only(grade(*steps, max_tokens=400))
    assert entry["step_ids"] == ["b"]
    assert "where the running total was 500" in entry["description"]


def test_an_agent_that_tells_less_than_the_calls_inside_it_never_lowers_what_is_known():
    steps = agent(50, id="a"), llm(100, parent_id="a"), llm(parent_id="a")
    assert only(grade(*steps, max_tokens=1000))["observed"] == 100


def test_agents_inside_agents_are_counted_once():
    steps = [
        agent(300, id="outer"),
        agent(100, id="inner", parent_id="outer"),
        llm(parent_id="inner"),
        llm(120, parent_id="outer"),
    ]
    assert only(grade(*steps, max_tokens=1000))["observed"] == 220
    steps[2] = llm(90, parent_id="inner")
    assert only(grade(*steps, max_tokens=1000))["observed"] == 210


def test_what_a_tool_used_counts_when_no_call_inside_it_tells():
    steps = llm(10), tool(usage={"total_tokens": 40})
    assert only(grade(*steps, max_tokens=99))["observed"] == 50


def test_a_call_around_another_counts_as_well():
    assert only(grade(llm(10, id="a"), llm(5, parent_id="a"), max_tokens=99))["observed"] == 15


def test_rings_of_parents_and_parents_that_are_nowhere_change_no_sum():
    ring = [
        agent(10, id="a", parent_id="b"),
        agent(20, id="b", parent_id="a"),
        agent(5, id="self", parent_id="self"),
        llm(7, parent_id="nowhere"),
    ]
    result = grade(*ring, max_tokens=1000)
    assert result["verdict"] == "pass"
    assert only(result)["observed"] == 32  # of the ring's two, the outer one's 20
    assert result == grade(*ring, max_tokens=1000)


# Figures that a source cannot record


def test_calls_that_the_source_counts_and_that_were_not_read_are_steps():
    steps = {"type": "user"}, llm(), tool()
    counts = {"llm_calls": 4, "tool_calls": 5}
    result = grade(*steps, run={"counts": counts}, max_steps=20)
    assert result["verdict"] == "ungradable"
    assert result["details"]["steps"] == 10
    assert result["details"]["at_least"] == ["tools_called", "tool_calls_by_tool", "steps"]
    failed = only(grade(*steps, run={"counts": counts}, max_steps=9))
    assert failed["description"].startswith("at least 10 steps, limit 9: it is known only from")
    reading = only(grade(*steps, run={"counts": {"llm_calls": 4}}, max_steps=20))
    assert reading["description"] == (
        "used at least 6/20 steps = 30%, but the rest is not known: "
        "the source counts more calls than it has recorded"
    )
    assert only(grade(*steps, run={"counts": {**counts, "steps": 10}}, max_steps=10))["passed"]
    fewer = grade(*steps, run={"counts": {**counts, "steps": 8}}, max_steps=20)
    assert (fewer["verdict"], fewer["details"]["steps"]) == ("ungradable", 10)
    assert grade(*steps, run={"counts": {"llm_calls": 1}}, max_steps=3)["verdict"] == "pass"


def test_a_missing_capability_is_named_with_the_importers_reason_for_the_limits_that_need_it():
    messages = [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "hello"},
    ]
    config = {"max_tokens": 5, "max_steps": 5, "max_duration_ms": 5, "max_tool_calls": 5}
    result = BudgetGrader(config=config).grade({"messages": messages})
    assert result["verdict"] == "ungradable"
    missing = {entry["check"] for entry in result["evidence"] if not entry["passed"]}
    assert missing == {"max_tokens", "max_duration_ms"}
    for check, capability in (("max_tokens", "token_usage"), ("max_duration_ms", "timing")):
        entry = entry_of(result, check)
        assert entry["observed"] is None
        assert f"({capability})" in entry["description"]
        assert "the messages carry no" in entry["description"]
    assert result["details"]["total_tokens"] is None
    assert result["details"]["duration_ms"] is None


def test_calls_that_a_source_cannot_tell_are_not_zero_calls():
    run = {"missing": {"tool_calls": "a summary lists no calls"}}
    for config in ({"max_tool_calls": 1}, {"max_tool_calls_per_tool": {"search": 1}}):
        result = grade(llm(5), run=run, **config)
        assert result["verdict"] == "ungradable"
        assert "a summary lists no calls (tool_calls)" in only(result)["description"]
    assert grade(tool(), tool(), run=run, max_tool_calls=1)["verdict"] == "fail"


def test_model_calls_that_a_source_does_not_record_are_not_zero_calls():
    result = grade(tool(), max_llm_calls=1)
    assert result["verdict"] == "ungradable"
    description = only(result)["description"]
    assert "there are tool calls, but no model call is recorded (llm_calls)" in description
    assert result["details"]["at_least"] == ["llm_calls"]
    assert grade(tool(), max_llm_calls=1, run={"counts": {"llm_calls": 1}})["verdict"] == "pass"
    assert grade(tool(), max_llm_calls=1, run={"missing": {}})["verdict"] == "pass"
    assert grade({"type": "user"}, max_llm_calls=1)["verdict"] == "pass"


def test_tokens_that_a_source_cannot_tell_are_not_zero_tokens():
    lacking = {"missing": {"token_usage": "a summary tells no tokens"}}
    for limit in ("max_tokens", "max_input_tokens", "max_output_tokens"):
        assert grade(tool(), run=lacking, **{limit: 5})["verdict"] == "ungradable"
        assert grade(tool(), run={"missing": {}}, **{limit: 5})["verdict"] == "pass"


@pytest.mark.parametrize("stated", [1, 3])
def test_a_count_of_steps_below_the_calls_that_the_source_counts_is_not_said_to_be_used(stated):
    run = {"counts": {"llm_calls": 5, "steps": stated}}
    result = grade(llm(1), run=run, max_steps=4)
    [found] = [each for each in result["details"]["differences"] if each["of"] == "steps"]
    where = "the source"
    assert found == {"of": "steps", "by_source": stated, "by_calls": 5, "where": where}
    description = only(result)["description"]
    assert ": it is known only from what the source counts, not from the steps; used" in description
    used = "the steps and the calls that were not read add up to 5; the larger figure is used"
    assert description.endswith(f"; {where} states {stated}, {used}")
    [larger] = grade(llm(1), run={"counts": {"steps": 9}}, max_steps=4)["details"]["differences"]
    assert (larger["by_source"], larger["by_steps"]) == (9, 1)


def test_a_total_below_its_own_parts_is_the_one_that_the_source_is_said_to_state():
    usage = {"input_tokens": 50, "output_tokens": 10, "total_tokens": 40}
    for steps, sums in (
        ([llm((20, 5))], {"by_source": 40, "by_parts": 60}),
        ([llm((80, 20))], {"by_source": 40, "by_steps": 100}),
        ([llm((50, 10))], {"by_source": 40, "by_steps": 60}),
        ([llm((20, 5)), llm()], {"by_source": 40, "by_parts": 60}),
    ):
        result = grade(*steps, run={"usage": usage}, max_tokens=900)
        differences = result["details"]["differences"]
        [found] = [each for each in differences if each["of"] == "total_tokens"]
        assert found == {"of": "total_tokens", **sums, "where": "the source"}
        assert "the source states 40" in only(result)["description"]


def test_what_is_told_counts_even_where_the_source_says_that_it_cannot_tell():
    run = {"missing": {"token_usage": "none"}}
    assert grade(llm(5), run=run, max_tokens=5)["verdict"] == "pass"


def test_an_output_that_was_counted_before_its_end_is_a_lower_bound():
    usage = {"input_tokens": 10, "output_tokens": 2, "is_partial": True}
    steps = [{"type": "llm", "id": "a", "model": "gpt-4o", "usage": usage}, llm(5, id="b")]
    result = grade(*steps, max_tokens=16)
    assert (result["verdict"], only(result)["observed"]) == ("fail", 17)
    result = grade(*steps, max_tokens=17)
    assert result["verdict"] == "ungradable"
    reason = "the output of 1 of 2 LLM steps was counted before it was complete (step a)"
    assert reason in only(result)["description"]
    both = grade(*steps, {"type": "llm", "id": "c"}, max_tokens=17)
    assert f"no tokens are recorded by 1 of 3 LLM steps (step c), and {reason.replace('2', '3')}" in only(both)["description"]  # fmt: skip
    assert grade(steps[0], max_input_tokens=10)["verdict"] == "pass"
    assert grade(steps[0], max_output_tokens=9)["verdict"] == "ungradable"
    assert grade(steps[0], max_cost_usd=9)["verdict"] == "ungradable"
    assert grade(*steps, max_tokens=17, missing_usage="ignore")["verdict"] == "pass"


def test_no_calls_are_zero_calls():
    result = grade({"type": "user"}, max_tool_calls=0, max_llm_calls=0)
    assert result["verdict"] == "pass"
    assert all(entry["observed"] == 0 for entry in result["evidence"])


def test_a_pass_that_rests_on_no_fact_says_so():
    for result in (
        grade(llm(), llm(), max_tokens=5, missing_usage="ignore"),
        grade(max_tool_calls=5),
    ):
        assert result["verdict"] == "pass"
        assert result["evidence"][-1]["check"] == "vacuous"
        assert result["evidence"][-1]["passed"]


@pytest.mark.parametrize(
    "result",
    [
        grade(llm(3), llm(), max_tokens=5, missing_usage="ignore"),
        grade(llm(), max_tokens=5, max_steps=5, missing_usage="ignore"),
        grade({"type": "user"}, max_tool_calls=5),
        grade(llm(), max_tokens=5),
        grade(llm(), tool(), max_tokens=5, max_tool_calls=0, missing_usage="ignore"),
    ],
)
def test_a_verdict_that_rests_on_some_fact_is_not_vacuous(result):
    assert "vacuous" not in {entry["check"] for entry in result["evidence"]}


# Times


DAMAGED = {"missing": dict.fromkeys(("llm_calls", "tool_calls", "timing"), "line 7 is damaged")}
BOTH_TIMES = {"started_at": NOON, "ended_at": NOON + 9}


def test_times_are_lower_bounds_where_a_part_of_the_run_was_not_read():
    steps = timed(llm(), 0, 900), timed(tool(), 900, 2000)
    result = grade(*steps, run=DAMAGED, max_duration_ms=5000, max_step_latency_ms=5000)
    assert result["verdict"] == "ungradable"
    assert {"duration_ms", "max_step_latency_ms"} <= set(result["details"]["at_least"])
    assert entry_of(result, "max_duration_ms")["description"] == (
        "used at least 2000/5000 ms = 40%, but the rest is not known: "
        "the trace lacks some times: line 7 is damaged (timing)"
    )
    assert entry_of(result, "max_step_latency_ms")["description"] == (
        "used at least 1100/5000 ms = 22%, but the rest is not known: "
        "the trace lacks some tool calls: line 7 is damaged (tool_calls)"
    )
    exceeded = only(grade(*steps, run=DAMAGED, max_duration_ms=1500))
    assert "exceeded at step s2 or before, at least 2000 ms after" in exceeded["description"]
    assert only(grade(*steps, run=DAMAGED | BOTH_TIMES, max_duration_ms=9000))["passed"]


@pytest.mark.parametrize("counts", [{"llm_calls": 2}, {"tool_calls": 5}])
def test_times_are_lower_bounds_where_the_source_counts_more_calls_than_were_read(counts):
    steps = timed(llm(), 0, 900), timed(tool(), 900, 2000)
    result = grade(*steps, run={"counts": counts}, max_duration_ms=5000, max_step_latency_ms=5000)
    entry = entry_of(result, "max_duration_ms")
    assert (entry["passed"], entry["observed"]) == (False, 2000)
    assert entry["description"].endswith("the source counts more calls than it has recorded")
    assert not entry_of(result, "max_step_latency_ms")["passed"]
    of_run = grade(*steps, run=BOTH_TIMES | {"counts": counts}, max_duration_ms=9000)
    assert only(of_run)["passed"]


def test_calls_of_other_agents_leave_the_duration_of_the_run_known():
    missing = dict.fromkeys(("llm_calls", "tool_calls"), OTHER_AGENTS)
    run = {"missing": missing, "counts": {"tool_calls": 5}}
    steps = timed(llm(), 0, 900), timed(tool(), 900, 2000)
    assert only(grade(*steps, run=run, max_duration_ms=2000))["passed"]
    assert grade(*steps, run=run, max_step_latency_ms=2000)["verdict"] == "ungradable"


def test_the_slowest_call_is_not_known_where_a_kind_of_calls_is_not_recorded():
    run = {"missing": {"tool_calls": "actions are text"}}
    steps = timed(llm(), 0, 900), timed(llm(), 1000, 2000)
    assert only(grade(*steps, run=run, max_duration_ms=2000))["passed"]
    entry = only(grade(*steps, run=run, max_step_latency_ms=1000))
    assert (entry["passed"], entry["observed"]) == (False, 1000)
    assert "the trace does not record tool calls: actions are text" in entry["description"]
    assert only(grade(*steps, run=run, max_step_latency_ms=999))["step_ids"] == ["s2"]


def test_the_duration_is_from_the_first_start_to_the_last_end():
    steps = timed(llm(), 0, 900), timed(tool(), 100, 5000), timed(llm(), 1200, 4000)
    assert only(grade(*steps, max_duration_ms=5000))["description"] == (
        "used 5000/5000 ms = 100%; 0 left"
    )
    result = grade(*steps, max_duration_ms=4999.5)
    assert only(result)["description"] == (
        "used 5000/4999.5 ms = 100.01%: 0.5 over the limit; "
        "first exceeded at step s2, 5000 ms after the start"
    )
    assert only(result)["step_ids"] == ["s2"]


def spans(*steps, inner="root"):
    """A run of spans in a root of 9 s, which has the others in it."""
    root = timed(agent(id="root"), 0, 9000)
    return root, *({"parent_id": inner, **step} for step in steps)


@pytest.mark.parametrize("outer", ["agent", "other", "tool", "llm"])
@pytest.mark.parametrize("between", [{}, {"started_at": NOON, "ended_at": NOON + 8.5}])
def test_a_duration_is_exceeded_at_the_first_step_that_is_not_around_others(outer, between):
    chain = {"type": outer, "id": "chain", "name": "chain", "parent_id": "root", **between}
    calls = [timed(tool(id=f"t{n}"), n * 1000, n * 1000 + 1000) for n in range(8)]
    root, *calls = spans(*calls, inner="chain")
    entry = only(grade(root, chain, *calls, max_duration_ms=5500))
    assert entry["description"].endswith("first exceeded at step t5, 6000 ms after the start")
    assert entry["step_ids"] == ["t5"]


def test_a_duration_that_only_steps_around_others_exceed_names_the_innermost():
    chain = timed({"type": "other", "id": "chain", "parent_id": "root"}, 0, 8000)
    call = timed(tool(id="t", parent_id="chain"), 0, 1000)
    steps = *spans(), chain, call, timed(llm(id="end", parent_id="root"), 8000, 8100)
    for most, step, after in ((7000, "chain", 8000), (8000, "end", 8100), (8500, "root", 9000)):
        entry = only(grade(*steps, max_duration_ms=most))
        assert entry["step_ids"] == [step]
        assert entry["description"].endswith(f"at step {step}, {after} ms after the start")


def test_a_call_that_an_answer_asked_for_comes_after_the_answer():
    steps = timed(llm(id="a"), 0, 3000), timed(tool(id="t", parent_id="a"), 3000, 9000)
    assert only(grade(*steps, max_duration_ms=2000))["step_ids"] == ["a"]
    assert only(grade(*steps, max_duration_ms=4000))["step_ids"] == ["t"]


def test_the_times_of_the_run_count_too():
    run = {"started_at": NOON, "ended_at": NOON + 9}
    assert only(grade(llm(), run=run, max_duration_ms=9000))["passed"]
    result = grade(timed(llm(), 1000, 2000), run=run, max_duration_ms=8000)
    assert (result["verdict"], only(result)["observed"]) == ("fail", 9000)
    assert "it is known only from the total of the run" in only(result)["description"]


@pytest.mark.parametrize(
    ("steps", "took"),
    [
        ((llm(), tool()), 9000),
        ((timed(llm(), 5), tool()), 9000),
        ((timed(llm(), 1000, 2000), tool()), 9000),
        ((timed(llm(), 1000, 12000), tool()), 11000),
    ],
)
def test_a_duration_that_the_run_states_counts_where_it_lacks_its_start_or_its_end(steps, took):
    run = {"duration_ms": 9000}
    result = grade(*steps, run=run, max_duration_ms=took)
    assert (result["verdict"], only(result)["observed"]) == ("pass", took)
    assert "duration_ms" not in result["details"]["at_least"]
    assert grade(*steps, run=run, max_duration_ms=took - 1)["verdict"] == "fail"
    both = grade(*steps, run=run | {"started_at": NOON, "ended_at": NOON + 12}, max_duration_ms=1)
    assert only(both)["observed"] == 12000


def test_a_duration_that_only_the_run_states_is_exceeded_at_no_step():
    entry = only(grade(timed(llm(), 5), tool(), run={"duration_ms": 9000}, max_duration_ms=8000))
    assert "it is known only from the total of the run" in entry["description"]
    assert entry["step_ids"] == []


def test_the_times_of_messages_tell_when_a_run_began_and_ended():
    messages = timed({"type": "user"}, 0), timed(llm(), 700), tool(), timed(llm(), 2000)
    result = grade(*messages, max_duration_ms=2000)
    assert (result["verdict"], only(result)["observed"]) == ("pass", 2000)
    assert only(result)["step_ids"] == ["s1", "s4"]


@pytest.mark.parametrize(
    "steps",
    [
        (timed(llm(), 0, 100), llm()),
        (llm(), timed(llm(), 0, 100)),
        (timed(llm(), None, 50), timed(llm(), 60, 100)),
        (timed(tool(), 0, 100), tool(), {"type": "user"}),
    ],
)
def test_a_duration_without_its_beginning_or_end_is_the_least_it_can_be(steps):
    result = grade(*steps, max_duration_ms=100)
    assert result["verdict"] == "ungradable"
    unsure = [name for name in result["details"]["at_least"] if name != "llm_calls"]
    assert unsure == ["duration_ms", "max_step_latency_ms"]
    assert grade(*steps, max_duration_ms=49)["verdict"] == "fail"


@pytest.mark.parametrize("steps", [(), (llm(),), (timed(llm(), 5),), (timed(llm(), None, 5),)])
def test_less_than_two_times_tell_no_duration(steps):
    result = grade(*steps, max_duration_ms=0)
    assert result["verdict"] == "ungradable"
    assert (only(result)["observed"], result["details"]["duration_ms"]) == (None, None)


def test_a_slow_step_is_named_and_so_is_the_slowest():
    steps = timed(llm(), 0, 500), timed(tool(), 500, 1700), timed(llm(), 1700, 2900.5)
    entry = only(grade(*steps, max_step_latency_ms=1000))
    assert entry["description"] == (
        "used 1200.5/1000 ms = 120.05%: 200.5 over the limit; exceeded by steps s2 and s3; "
        "the slowest is step s3"
    )
    assert (entry["observed"], entry["step_ids"]) == (1200.5, ["s2", "s3"])
    assert only(grade(*steps, max_step_latency_ms=1201))["step_ids"] == ["s3"]


def test_steps_around_others_have_no_latency_of_their_own():
    steps = [
        timed(agent(id="a"), 0, 9000),
        timed({"type": "other", "id": "b", "parent_id": "a"}, 0, 9000),
        timed(llm(parent_id="b", id="c"), 0, 500),
        timed({"type": "other", "parent_id": "c"}, 0, 400),
    ]
    assert only(grade(*steps, max_step_latency_ms=500))["observed"] == 500
    assert only(grade(steps[0], max_step_latency_ms=500))["observed"] == 9000
    assert only(grade(*steps, tool(), max_step_latency_ms=499))["observed"] == 500


def test_calls_without_both_times_leave_the_latency_open():
    steps = timed(llm(), 0, 500), timed(tool(), 500), tool()
    result = grade(*steps, max_step_latency_ms=500)
    assert result["verdict"] == "ungradable"
    assert only(result)["step_ids"] == ["s2", "s3"]
    assert "the start or the end of 2 of 3 calls is not recorded" in only(result)["description"]
    assert grade(*steps, max_step_latency_ms=400)["verdict"] == "fail"


def test_ignoring_missing_usage_ignores_no_missing_times():
    steps = timed(llm(), 0, 500), llm()
    for limit in ("max_step_latency_ms", "max_duration_ms"):
        assert grade(*steps, missing_usage="ignore", **{limit: 999})["verdict"] == "ungradable"


def test_a_step_that_ends_before_it_starts_tells_no_latency():
    steps = timed(llm(), 900, 100), timed(tool(), 900, 950)
    assert grade(*steps, max_step_latency_ms=100)["verdict"] == "ungradable"
    assert only(grade(*steps, max_duration_ms=850))["observed"] == 850


# Cost


@pytest.mark.parametrize(
    ("model", "verdict", "source"),
    [("gpt-4o", "fail", True), ("house-model", "ungradable", False)],
)
def test_costs_of_zero_for_tokens_are_computed_from_prices_or_ungradable(model, verdict, source):
    usage = {"prompt_tokens": 10**6, "completion_tokens": 0}
    answer = {"role": "assistant", "content": "x", "model": model, "usage": usage, "cost": 0.0}
    chat = {"messages": [{"role": "user", "content": "hi"}, answer]}
    result = BudgetGrader(config={"max_cost_usd": 1}).grade(chat)
    assert result["verdict"] == verdict
    assert (result["details"]["cost_source"] or "").startswith("genai-prices") is source


def test_the_costs_that_steps_tell_add_up_exactly():
    steps = [llm(5, cost_usd=0.1), llm(5, cost_usd=0.2)]
    result = grade(*steps, max_cost_usd=0.3)
    assert result["verdict"] == "pass"
    assert only(result)["description"] == "used 0.3/0.3 USD = 100%; 0 left"
    assert (result["details"]["cost_usd"], result["details"]["cost_source"]) == (0.3, "trace")
    entry = only(grade(*steps, max_cost_usd=0.15))
    assert "first crossed at step s2, where the running total was 0.3" in entry["description"]


def test_the_rounding_of_a_sum_that_the_source_made_in_floats_breaks_no_limit():
    assert only(grade(llm(5), run={"cost_usd": 0.1 + 0.2}, max_cost_usd=0.3))["observed"] == 0.3
    assert grade(llm(5), run={"cost_usd": 0.30000000001}, max_cost_usd=0.3)["verdict"] == "fail"


def test_the_cost_of_the_run_counts_where_its_steps_tell_none_or_less():
    run = {"cost_usd": 0.5}
    assert only(grade(llm(5, model="gpt-4o"), run=run, max_cost_usd=1))["observed"] == 0.5
    assert only(grade(llm(5, cost_usd=0.2), run=run, max_cost_usd=1))["observed"] == 0.5
    assert only(grade(llm(5, cost_usd=0.7), run=run, max_cost_usd=1))["observed"] == 0.7
    assert only(grade(llm(5, cost_usd=0.2), llm(5), run=run, max_cost_usd=1))["observed"] == 0.5


@pytest.mark.parametrize(
    "usage", [{"input_tokens": 1500, "output_tokens": 900}, {"total_tokens": 900}]
)
@pytest.mark.parametrize("steps", [[{"type": "user"}], [{"type": "user"}, tool()]])
def test_tokens_without_a_step_that_used_them_did_not_cost_nothing(steps, usage):
    run = {"usage": usage, "counts": {"llm_calls": 3}}
    for limit in ({"max_steps": 9}, {"max_cost_usd": 9}):
        assert grade(*steps, run=run, **limit)["details"]["cost_usd"] is None
    assert grade(*steps, run={**run, "cost_usd": 0}, max_cost_usd=9)["verdict"] == "pass"
    unused = {"input_tokens": 0, "output_tokens": 0}
    counted = grade(*steps, run={"usage": unused, "counts": {"llm_calls": 3}}, max_steps=9)
    assert counted["details"]["cost_usd"] is None, "the source counts model calls"


def test_the_costs_of_steps_with_fewer_tokens_than_the_run_are_a_lower_bound():
    step = llm((10, 5), cost_usd=0.25)
    more = {"usage": {"input_tokens": 1500, "output_tokens": 900}}
    details = grade(step, run=more, max_steps=9)["details"]
    assert (details["cost_usd"], "cost_usd" in details["at_least"]) == (0.25, True)
    assert grade(step, run=more, max_cost_usd=1)["verdict"] == "ungradable"
    same = {"usage": {"input_tokens": 10, "output_tokens": 5}}
    for steps, run in (
        ([step], same),
        ([step], {**more, "cost_usd": 0.5}),
        ([llm(cost_usd=1)], more),
    ):
        assert "cost_usd" not in grade(*steps, run=run, max_cost_usd=9)["details"]["at_least"]


def test_steps_that_tell_no_cost_are_priced_by_the_table_which_is_named():
    steps = [llm((1000, 100), model="gpt-4o"), llm((1000, 100), model="gpt-4o", cost_usd=0.5)]
    result = grade(*steps, max_cost_usd=0.4)
    assert result["verdict"] == "fail"
    assert result["details"]["cost_usd"] == 0.5035
    assert result["details"]["cost_source"].startswith("trace and genai-prices ")
    assert "gpt-4o as openai/gpt-4o" in only(result)["description"]
    assert only(result)["step_ids"] == ["s2"]


def test_own_prices_price_what_the_trace_does_not_and_the_result_names_them():
    prices = {"mine": {"input": 0.5, "output": 2.0, "cached_input": 0.05, "cache_write": 0.625}}
    usage = {"input_tokens": 1_000_000, "output_tokens": 0, "cached_tokens": 400_000}
    step = {"type": "llm", "model": "mine", "usage": usage | {"cache_write_tokens": 400_000}}
    result = grade(step, llm((1000, 0), model="gpt-4o"), max_cost_usd=1, prices=prices)
    assert only(result)["observed"] == 0.3725  # 0.2 x 0.5 + 0.4 x 0.05 + 0.4 x 0.625 + 0.0025
    assert "mine as prices.mine" in only(result)["description"]
    assert result["details"]["cost_source"].startswith("prices and genai-prices")
    assert grade(step, max_cost_usd=1)["verdict"] == "ungradable"
    assert only(grade(step | {"cost_usd": 0.9}, max_cost_usd=1, prices=prices))["observed"] == 0.9


@pytest.mark.parametrize("price", [{"input": -1, "output": 1}, {"input": 1}, {"in": 1}, 5])
def test_a_wrong_price_is_refused(price):
    with pytest.raises((ConfigError, ConfigTypeError), match=r"prices\.m"):
        BudgetGrader(config={"max_cost_usd": 1, "prices": {"m": price}})


def test_without_a_limit_on_cost_nothing_is_priced():
    details = grade(llm((10, 10), model="gpt-4o"), max_tokens=99)["details"]
    assert (details["cost_usd"], details["cost_source"]) == (None, None)
    assert grade(llm(5, cost_usd=2.0), max_tokens=99)["details"]["cost_usd"] == 2


@pytest.mark.parametrize("missing_usage", ["ungradable", "ignore"])
@pytest.mark.parametrize(
    ("model", "reason"),
    [
        ("no-such-model-9", "the model 'no-such-model-9' is not in the table of prices (step s1)"),
        (None, "no model is named (step s1)"),
        ("x" * 5000, "is not in the table of prices"),
    ],
)
def test_a_model_without_a_price_is_ungradable_and_never_free(model, reason, missing_usage):
    steps = llm((10, 10), model=model), llm((10, 10), cost_usd=0.5)
    result = grade(*steps, max_cost_usd=1, missing_usage=missing_usage)
    assert result["verdict"] == "ungradable"
    assert reason in only(result)["description"]
    assert grade(*steps, max_cost_usd=0.4)["verdict"] == "fail"


def test_a_call_without_tokens_and_cost_leaves_the_cost_open_unless_it_is_ignored():
    steps = llm(cost_usd=0.25), llm(model="gpt-4o"), llm(100, model="gpt-4o")
    result = grade(*steps, max_cost_usd=1)
    assert result["verdict"] == "ungradable"
    assert only(result)["step_ids"] == ["s2", "s3"]
    assert only(result)["description"].endswith(
        "neither a cost nor tokens to price are recorded by 1 of 3 LLM steps (step s2), "
        "and no cost, and of the tokens only a total, is recorded by 1 of 3 LLM steps (step s3)"
    )
    result = grade(*steps, max_cost_usd=1, missing_usage="ignore")
    assert (result["verdict"], only(result)["observed"]) == ("pass", 0.25)


def test_the_cost_that_an_agent_tells_is_not_counted_beside_the_calls_inside_it():
    steps = agent(id="a", cost_usd=0.5), llm(5, parent_id="a", cost_usd=0.2)
    assert only(grade(*steps, max_cost_usd=1))["observed"] == 0.2
    untold = llm((5, 5), parent_id="a", model="no-such-model-9")
    assert only(grade(*steps, untold, max_cost_usd=1))["observed"] == 0.5


def test_what_an_agent_used_has_a_price_where_no_call_inside_it_is_in_the_trace():
    step = agent((1000, 100), model="gpt-4o")
    assert only(grade(step, max_cost_usd=1))["observed"] == 0.0035
    tiered = agent((1000, 100), model="gemini-2.5-pro")
    result = grade(tiered, max_cost_usd=1)
    assert result["verdict"] == "ungradable"
    assert "its price depends on each call" in only(result)["description"]


def test_what_the_run_used_has_a_price_where_it_names_one_model():
    run = {"usage": {"input_tokens": 1000, "output_tokens": 100}}
    calls = [llm(model="gpt-4o"), llm(model="gpt-4o")]
    result = grade(*calls, run=run, max_cost_usd=1)
    assert (result["verdict"], only(result)["observed"]) == ("pass", 0.0035)
    assert result["details"]["at_least"] == []
    result = grade(*calls, llm(model="gpt-4o-mini"), run=run, max_cost_usd=1)
    assert result["verdict"] == "ungradable"
    assert grade(tool(), run=run, max_cost_usd=1)["verdict"] == "ungradable"
    total_only = {"usage": {"total_tokens": 10**9}}
    assert grade(tool(), run=total_only, max_cost_usd=1)["verdict"] == "ungradable"


def test_a_price_is_that_of_the_time_of_the_call():
    def cost(started_at):
        step = llm((10**6, 0), model="deepseek-chat", started_at=started_at)
        return only(grade(step, max_cost_usd=9))["observed"]

    assert cost("2025-06-01T20:00:00Z") < cost("2025-06-01T10:00:00Z")


def test_very_many_models_are_not_all_looked_up():
    steps = [llm((1, 1), model=f"no-such-model-{number}") for number in range(300)]
    result = grade(*steps, max_cost_usd=1)
    assert result["verdict"] == "ungradable"
    assert "and 98 more" in only(result)["description"]


# Details


def test_the_details_have_every_measurement_whichever_limit_is_set():
    usage = {"input_tokens": 60, "output_tokens": 40, "cached_tokens": 20}
    steps = [
        timed({"type": "llm", "usage": usage, "cost_usd": 0.5}, 0, 1500.25),
        timed(tool(), 1500, 1700),
        timed(tool("read"), 1700, 1800),
        timed(tool(), 1800, 2000),
    ]
    details = grade(*steps, max_steps=9)["details"]
    assert list(details) == DETAILS
    assert details == {
        "input_tokens": 60,
        "output_tokens": 40,
        "total_tokens": 100,
        "cached_tokens": 20,
        "llm_steps_without_usage": 0,
        "llm_calls": 1,
        "tool_calls": 3,
        "tools_called": 2,
        "tool_calls_by_tool": {"search": 2, "read": 1},
        "steps": 4,
        "duration_ms": 2000,
        "max_step_latency_ms": 1500.25,
        "cost_usd": 0.5,
        "cost_source": "trace",
        "at_least": [],
        "ignored": [],
        "differences": [],
        "limits": {"max_steps": 9},
    }


def test_the_details_of_an_unreadable_trace_have_every_field_and_the_limits():
    result = BudgetGrader(config={"max_cost_usd": 2.5}).grade({"no": "trace"})
    assert result["verdict"] == "ungradable"
    assert list(result["details"]) == DETAILS
    assert result["details"]["limits"] == {"max_cost_usd": 2.5}


def test_the_details_list_the_fifty_tools_called_most():
    calls = [tool(f"t{number:02}") for number in range(60)] + [tool("t59")]
    details = grade(*calls, max_steps=99)["details"]
    assert details["tools_called"] == 60
    assert len(details["tool_calls_by_tool"]) == 50
    assert next(iter(details["tool_calls_by_tool"].items())) == ("t59", 2)


def test_the_limits_in_the_details_are_the_callers_own_to_change():
    grader = BudgetGrader(config={"max_tool_calls_per_tool": {"search": 1}})
    first = grader.grade(trace(tool()))
    before = orjson.dumps(first)
    first["details"]["limits"]["max_tool_calls_per_tool"].clear()
    assert orjson.dumps(grader.grade(trace(tool()))) == before


# Configuration


def test_every_limit_of_the_configuration_is_in_the_table_with_what_it_measures():
    assert [*LIMITS, "prices", "missing_usage"] == [*BudgetGrader.Config.model_fields]
    assert {limit.measured for limit in LIMITS.values()} <= {*FIELDS}
    assert len({limit.measured for limit in LIMITS.values()}) == len(LIMITS)


@pytest.mark.parametrize("check", ["vacuous", PER_TOOL, "max_tokens.search", "max_tokenz", ""])
def test_a_check_that_is_no_limit_has_no_reading(check):
    measured = Measurements(read_trace(trace(llm(5), tool())), with_prices=True)
    readings = Readings(measured, "{}{}".format, ignores_missing=False)
    with pytest.raises(KeyError):
        readings.of(check)
    assert readings.of(f"{PER_TOOL}.search").known == 1


def test_a_budget_without_a_limit_is_refused():
    for config in (None, {}, {"missing_usage": "ignore"}, {"max_tokens": None}):
        with pytest.raises(ConfigError, match="at least one limit is needed: max_tokens"):
            BudgetGrader(config=config)
        assert BudgetGrader.validate_config(config) is False


@pytest.mark.parametrize(
    ("config", "error", "told"),
    [
        ({"max_tokens": -1}, ConfigError, "max_tokens must be greater than or equal to 0"),
        ({"max_tokens": "5"}, ConfigTypeError, "max_tokens must be an integer"),
        ({"max_tokens": 5.0}, ConfigTypeError, "max_tokens must be an integer"),
        ({"max_tokens": True}, ConfigTypeError, "max_tokens must be an integer"),
        ({"max_tokens": 2**63}, ConfigError, "max_tokens"),
        ({"max_cost_usd": -0.5}, ConfigError, "max_cost_usd"),
        ({"max_cost_usd": float("nan")}, ConfigError, "max_cost_usd"),
        ({"max_cost_usd": float("inf")}, ConfigError, "max_cost_usd"),
        ({"max_cost_usd": "1"}, ConfigTypeError, "max_cost_usd must be a number"),
        ({"max_duration_ms": True}, ConfigTypeError, "max_duration_ms must be a number"),
        ({"max_tool_calls_per_tool": {}}, ConfigError, "max_tool_calls_per_tool"),
        ({"max_tool_calls_per_tool": []}, ConfigTypeError, "max_tool_calls_per_tool"),
        ({"max_tool_calls_per_tool": {"a": -1}}, ConfigError, "max_tool_calls_per_tool.a"),
        ({"max_tool_calls_per_tool": {"a": 1.5}}, ConfigTypeError, "max_tool_calls_per_tool.a"),
        ({"max_tokens": 5, "missing_usage": "skip"}, ConfigError, "missing_usage"),
        ({"max_tokens": 5, "missing_usage": True}, ConfigTypeError, "missing_usage"),
        ({"max_token": 5}, ConfigError, "did you mean 'max_tokens'"),
    ],
)
def test_a_wrong_limit_is_refused_by_name(config, error, told):
    with pytest.raises(error) as refusal:
        BudgetGrader(config=config)
    assert told in str(refusal.value)


def test_quantities_may_be_whole_numbers_and_zero():
    config = {"max_cost_usd": 0, "max_duration_ms": 5, "max_tokens": 0}
    assert BudgetGrader.validate_config(config)


def test_the_requirements_are_those_of_the_limits_that_are_set():
    assert BudgetGrader.requirements({"max_tokens": 5, "max_output_tokens": 5}) == (
        GraderRequirements(("llm",), ("token_usage",))
    )
    assert BudgetGrader.requirements({"max_steps": 5}) == GraderRequirements()
    assert BudgetGrader.requirements({"max_cost_usd": 1, "max_tool_calls_per_tool": {"a": 1}}) == (
        GraderRequirements(("tool", "llm"), ("tool_calls", "cost"))
    )
    assert set(BudgetGrader.requirements().capabilities) == {
        *("token_usage", "llm_calls", "tool_calls", "timing", "cost"),
    }
    with pytest.raises(ConfigError):
        BudgetGrader.requirements({"max_token": 5})


# Words and numbers


@pytest.mark.parametrize(
    ("observed", "limit", "told"),
    [
        (3000, 5000, "60%"),
        (5000, 5000, "100%"),
        (0, 5, "0%"),
        (1, 3, "33.33%"),
        (2, 3, "66.67%"),
        (5, 4, "125%"),
        (99_999, 100_000, "99.99%"),
        (100_001, 100_000, "100.01%"),
        (1, 1_000_000, "<0.01%"),
        (10**15, 1, ">1000000%"),
        (decimal.Decimal("0.015"), decimal.Decimal("0.3"), "5%"),
        (decimal.Decimal(1), decimal.Decimal("5e-324"), ">1000000%"),
    ],
)
def test_only_what_equals_the_limit_is_a_hundred_percent(observed, limit, told):
    assert percent(observed, limit) == told


def test_nothing_is_divided_by_a_limit_of_zero():
    assert utilisation(7, 0, "tokens") == "used 7/0 tokens"


@pytest.mark.parametrize(
    ("amount", "told"),
    [
        (10**20, "100000000000000000000"),
        (decimal.Decimal("1500.0"), "1500"),
        (decimal.Decimal("1E+3"), "1000"),
        (decimal.Decimal("0.00001230"), "0.0000123"),
        (decimal.Decimal("0E-6"), "0"),
        (decimal.Decimal("1E-300"), "1E-300"),
        (decimal.Decimal("1E+300"), "1E+300"),
    ],
)
def test_amounts_are_written_in_all_their_digits(amount, told):
    assert shown(amount) == told


# Hostile traces


def test_a_trace_of_impossible_numbers_is_graded_without_them():
    odd = [10**5000, -1, 2**63, float("nan"), True, "5", None]
    steps = tuple(
        Step(
            id=f"s{place}",
            type="llm",
            usage=Usage(value, value, value, value),
            cost_usd=value,
            started_at=value,
            ended_at=value,
        )
        for place, value in enumerate(odd)
    )
    limits = dict.fromkeys(
        ("max_tokens", "max_duration_ms", "max_step_latency_ms", "max_cost_usd"), 5
    )
    run = Trace("t", steps, "native", cost_usd=float("inf"), started_at=-5, ended_at=10**5000)
    result = BudgetGrader(config=limits).grade(run)
    assert result["verdict"] == "ungradable"
    assert orjson.loads(orjson.dumps(result)) == result
    assert {result["details"][name] for name in ("total_tokens", "cost_usd", "duration_ms")} == {
        None
    }


def test_sums_beyond_sixty_four_bits_go_to_json():
    result = grade(*[llm(10**15)] * 20_000, max_tokens=1)
    assert result["verdict"] == "fail"
    assert orjson.loads(orjson.dumps(result))["evidence"][0]["observed"] == 2e19


def test_names_and_ids_that_utf8_cannot_carry_are_shown_all_the_same():
    steps = [{**tool("\ud800" * 300), "id": "\udfff", "arguments": {"a": "\ud800"}}]
    result = grade(*steps, llm((5, 5), model="\ud800"), max_tool_calls=0, max_cost_usd=1)
    told = orjson.loads(orjson.dumps(result))
    assert list(told["details"]["tool_calls_by_tool"]) == ["\ufffd" * 200]
    calls, cost = entry_of(told, "max_tool_calls"), entry_of(told, "max_cost_usd")
    assert (calls["step_ids"], calls["excerpt"][:9]) == (["s1"], "\ufffd" * 9)
    assert "the model '\\ud800' is not in the table" in cost["description"]


def test_the_callers_decimal_context_changes_nothing():
    step = llm((123_457, 7_919), model="gpt-4o")
    expected = grade(step, step, max_cost_usd=0.1)
    with decimal.localcontext(decimal.Context(prec=2, rounding=decimal.ROUND_UP, traps=[])):
        assert grade(step, step, max_cost_usd=0.1) == expected


EVERY_LIMIT = {
    **dict.fromkeys(("max_tokens", "max_input_tokens", "max_output_tokens"), 10**12),
    **dict.fromkeys(("max_tool_calls", "max_llm_calls", "max_steps"), 10**12),
    **dict.fromkeys(("max_duration_ms", "max_step_latency_ms", "max_cost_usd"), 1000000000000.0),
    "max_tool_calls_per_tool": {"search": 10**12},
}


def deep(count):
    """Nested agents, each with a call without usage, so that each agent's sum replaces the one inside it."""
    steps = []
    for place in range(count // 2):
        steps.append(Step(f"a{place}", "agent", f"a{place - 1}", usage=Usage(place, 1)))
        steps.append(Step(f"c{place}", "llm", f"a{place}"))
    return tuple(steps)


def flat(count):
    return tuple(
        Step(
            f"s{place}",
            "llm" if place % 2 else "tool",
            name=f"t{place}",
            model="gpt-4o",
            usage=Usage(5, 5) if place % 2 else None,
            started_at=place + 1,
            ended_at=place + 2,
        )
        for place in range(count)
    )


@pytest.mark.slow
@pytest.mark.parametrize("shape", [flat, deep])
def test_the_time_to_grade_grows_with_the_number_of_steps_and_no_faster(shape):
    grader = BudgetGrader(config=EVERY_LIMIT)

    def grading(count):
        return partial(grader.grade, Trace("t", shape(count), "native"))

    # Quadratic work would take a hundred times as long.
    assert_takes_at_most(40, grading, size=20_000, of=2_000)


@pytest.mark.parametrize(
    ("amount", "number"),
    [
        (Decimal("3.0"), 3),
        (Decimal("0.25"), 0.25),
        (-7, -7),
        (2**63 - 1, 2**63 - 1),
        (2**63, 2.0**63),
        (-(2**63), -(2.0**63)),
    ],
)
def test_an_amount_is_an_integer_where_it_is_whole_and_within_64_bits(amount, number):
    found = as_number(amount)
    assert (type(found), found) == (type(number), number)


@pytest.mark.parametrize(
    ("amount", "other", "is_more"),
    [
        (3, 2, True),
        (2, 2, False),
        (Decimal("1.1"), Decimal(1), True),
        (Decimal("1.0000005"), Decimal(1), False),
        (Decimal("1.000002"), Decimal(1), True),
        (Decimal(1), Decimal("1.1"), False),
    ],
)
def test_sums_of_money_may_differ_by_their_rounding(amount, other, is_more):
    assert exceeds(amount, other) is is_more
