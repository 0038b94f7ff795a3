"""The budget grader against plain sums written a second time: every breach found, none invented, nothing guessed."""

from __future__ import annotations

from fractions import Fraction

import orjson
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from support.generated import examples
from weighbridge.graders.budget import BudgetGrader

KINDS = ["llm", "llm", "llm", "tool", "tool", "user", "system", "other", "agent"]
TOKENS = {"max_tokens": "total", "max_input_tokens": "input", "max_output_tokens": "output"}
CALLS = {"max_tool_calls": {"tool"}, "max_llm_calls": {"llm"}, "max_steps": set(KINDS)}
TOOLS = ["search", "read", "write"]
NOON = 1_780_000_000 * 10**9

few = st.integers(0, 60)
usages = st.fixed_dictionaries(
    {}, optional={"input_tokens": few, "output_tokens": few, "total_tokens": st.integers(0, 150)}
)
some_times = st.integers(-200, 500)  #: milliseconds; below zero for none


@st.composite
def steps(draw, *, usage_steps=("llm",), is_nested=False, kinds=KINDS, tells_all=False):
    """Draw steps, of which those of some types may record usage."""
    drawn = []
    for place in range(draw(st.integers(0, 8))):
        step = {"id": f"s{place}", "type": draw(st.sampled_from(kinds))}
        if step["type"] == "tool":
            step["name"] = draw(st.sampled_from(TOOLS))
        if step["type"] in usage_steps and (tells_all or draw(st.booleans())):
            step["usage"] = {"total_tokens": draw(few)} if tells_all else draw(usages)
        if step["type"] in usage_steps and draw(st.booleans()):
            step["cost_usd"] = draw(few) / 100
        if is_nested and place and draw(st.booleans()):
            step["parent_id"] = f"s{draw(st.integers(0, place - 1))}"
        for name in ("started_at", "ended_at"):
            milliseconds = draw(some_times)
            if milliseconds >= 0:
                step[name] = (NOON + milliseconds * 10**6) // 1000  # microseconds
        drawn.append(step)
    return draw(st.permutations(drawn)) if is_nested else drawn


def grade(drawn, config):
    """Grade steps of a source that records everything, so that missing usage means no usage."""
    trace = {"format": "weighbridge", "steps": drawn, "missing": {}}
    return BudgetGrader(config=config).grade(trace)


def verdict_of(known, is_exact, limit):
    if known > limit:
        return "fail"
    return "pass" if is_exact else "ungradable"


# A second implementation of the rules for recorded usage


def told(step, what):
    """Return a lower bound of a step's usage, and whether it is exact; None for a step without records."""
    if what == "cost":
        if "cost_usd" in step:
            return Fraction(str(step["cost_usd"])), True
        return (0, False) if any(step.get("usage", {}).values()) or counts(step) else None
    if not counts(step):
        return None
    usage = step["usage"]
    if what != "total":
        return usage.get(f"{what}_tokens", 0), f"{what}_tokens" in usage
    parts = usage.get("input_tokens", 0) + usage.get("output_tokens", 0)
    is_all = "total_tokens" in usage or {"input_tokens", "output_tokens"} <= set(usage)
    return max(parts, usage.get("total_tokens", 0)), is_all


def counts(step):
    """Return whether a step records any tokens; a usage without a count does not."""
    return bool(step.get("usage"))


def add_up(drawn, what):
    """Return the least that a run used, and whether that is all, by walking down from the steps without parents."""
    children = {step["id"]: [] for step in drawn}
    roots = []
    for step in drawn:
        children.get(step.get("parent_id"), roots).append(step)

    def inside(step):
        known, calls, untold = within(children[step["id"]])
        found = told(step, what)
        if step["type"] == "llm":
            amount, is_all = found or (0, False)
            return known + amount, calls + 1, untold + (not is_all)
        if found is None or (calls and not untold):
            return known, calls, untold
        if found[1]:
            return max(known, found[0]), calls, 0 if found[0] >= known else max(untold, 1)
        return max(known, found[0]), calls, max(untold, 1)

    def within(members):
        found = [inside(member) for member in members]
        return tuple(sum(column) for column in zip(*found, strict=True)) if found else (0, 0, 0)

    known, _, untold = within(roots)
    return known, not untold


# The properties


@given(steps(), st.integers(0, 300), st.sampled_from([*TOKENS]), st.booleans())
@settings(deadline=None, max_examples=examples(150))
def test_tokens_are_judged_as_a_plain_sum_judges_them(drawn, limit, check, ignores):
    known, is_exact = add_up(drawn, TOKENS[check])
    config = {check: limit, "missing_usage": "ignore" if ignores else "ungradable"}
    result = grade(drawn, config)
    assert result["verdict"] == verdict_of(known, is_exact or ignores, limit)
    assert result["score"] == {"pass": 1, "ungradable": 0}.get(
        result["verdict"], limit / (known or 1)
    )


@given(
    steps(usage_steps=("llm", "agent", "tool"), is_nested=True),
    st.integers(0, 300),
    st.sampled_from([*TOKENS]),
)
@settings(deadline=None, max_examples=examples(200))
def test_sums_of_steps_around_others_are_judged_as_a_walk_down_judges_them(drawn, limit, check):
    known, is_exact = add_up(drawn, TOKENS[check])
    result = grade(drawn, {check: limit})
    (entry,) = (entry for entry in result["evidence"] if entry["check"] == check)
    if entry["observed"] is not None:
        assert entry["observed"] == known
    assert result["verdict"] == verdict_of(known, is_exact, limit)


@given(steps(usage_steps=("llm", "agent", "tool"), is_nested=True), few)
@settings(deadline=None, max_examples=examples(150))
def test_costs_are_judged_as_a_walk_down_judges_them(drawn, cents):
    for step in drawn:
        step["model"] = "no-such-model-9"
    known, is_exact = add_up(drawn, "cost")
    limit = cents / 50
    result = grade(drawn, {"max_cost_usd": limit})
    assert result["verdict"] == verdict_of(known, is_exact, Fraction(str(limit)))
    assert result["details"]["cost_usd"] in {None, float(known)}


@given(steps(), st.integers(0, 10), st.sampled_from([*CALLS]))
@settings(deadline=None)
def test_calls_and_steps_are_counted_and_exactly_those_beyond_are_named(drawn, limit, check):
    counted = [step["id"] for step in drawn if step["type"] in CALLS[check]]
    result = grade(drawn, {check: limit})
    (entry,) = (entry for entry in result["evidence"] if entry["check"] == check)
    assert result["verdict"] == ("fail" if len(counted) > limit else "pass")
    assert entry["observed"] == len(counted)
    assert entry["step_ids"] == (counted[limit:] if len(counted) > limit else counted)


@given(steps(), st.dictionaries(st.sampled_from([*TOOLS, "other"]), st.integers(0, 4), min_size=1))
@settings(deadline=None)
def test_the_calls_of_each_tool_are_counted_on_their_own(drawn, limits):
    result = grade(drawn, {"max_tool_calls_per_tool": limits})
    kept = {}
    for name, limit in limits.items():
        calls = [step["id"] for step in drawn if step.get("name") == name]
        check = f"max_tool_calls_per_tool.{name}"
        (entry,) = (entry for entry in result["evidence"] if entry["check"] == check)
        assert (entry["observed"], entry["limit"]) == (len(calls), limit)
        kept[name] = entry["passed"]
        assert kept[name] == (len(calls) <= limit)
    assert result["passed"] == all(kept.values())


@given(steps(), st.integers(0, 600))
@settings(deadline=None, max_examples=examples(150))
def test_the_duration_is_the_span_of_all_times_and_whole_with_both_its_ends(drawn, limit):
    times = [step[name] for step in drawn for name in ("started_at", "ended_at") if name in step]
    result = grade(drawn, {"max_duration_ms": limit})
    if len(times) < 2:
        assert result["verdict"] == "ungradable"
        return
    at_work = [at for at, step in enumerate(drawn) if step["type"] in {"llm", "tool"}]
    first, last = (at_work[0], at_work[-1]) if at_work else (len(drawn) - 1, 0)
    begins = any("started_at" in step for step in drawn[: first + 1])
    ends = any("started_at" in step or "ended_at" in step for step in drawn[last:])
    took = Fraction(max(times) - min(times), 1000)
    assert result["verdict"] == verdict_of(took, begins and ends, limit)


@given(steps(), st.integers(0, 600))
@settings(deadline=None)
def test_the_latency_is_that_of_the_slowest_step(drawn, limit):
    def took(step):
        both = "started_at" in step and "ended_at" in step
        return step["ended_at"] - step["started_at"] if both else -1

    slow = [step["id"] for step in drawn if took(step) > limit * 1000]
    is_exact = all(took(step) >= 0 for step in drawn if step["type"] in {"llm", "tool"})
    result = grade(drawn, {"max_step_latency_ms": limit})
    assert result["verdict"] == ("fail" if slow else "pass" if is_exact else "ungradable")
    if slow:
        assert result["evidence"][0]["step_ids"] == slow


@given(steps(kinds=["llm", "llm", "tool"], tells_all=True), st.data())
@settings(deadline=None)
def test_a_limit_equal_to_what_was_used_is_kept_and_one_below_it_is_not(drawn, data):
    known, _ = add_up(drawn, "total")
    assume(known)
    assert grade(drawn, {"max_tokens": known})["verdict"] == "pass"
    less = data.draw(st.integers(0, known - 1))
    result = grade(drawn, {"max_tokens": less})
    assert (result["verdict"], result["score"]) == ("fail", less / known)


@given(steps(kinds=["llm", "llm", "tool"]), st.integers(0, 300), st.data())
@settings(deadline=None)
def test_hiding_what_a_call_used_never_makes_a_run_pass(drawn, limit, data):
    usage_steps = [at for at, step in enumerate(drawn) if counts(step)]
    assume(usage_steps)
    hidden = [dict(step) for step in drawn]
    del hidden[data.draw(st.sampled_from(usage_steps))]["usage"]
    before, after = (grade(each, {"max_tokens": limit})["verdict"] for each in (drawn, hidden))
    assert after != "pass"
    assert (before, after) != ("pass", "fail")


@given(steps(kinds=["llm", "llm", "tool"]), st.data())
@settings(deadline=None)
def test_the_step_named_is_the_one_at_which_the_running_total_first_exceeds_the_limit(drawn, data):
    known, is_exact = add_up(drawn, "total")
    assume(known)
    limit = data.draw(st.integers(0, int(known) - 1))
    result = grade(drawn, {"max_tokens": limit})
    running = 0
    for step in drawn:
        running += (told(step, "total") or (0,))[0] if step["type"] == "llm" else 0
        if running > limit:
            break
    assert result["evidence"][0]["step_ids"] == [step["id"]]
    how = "" if is_exact else "at least "
    assert f"where the running total was {how}{running}" in result["evidence"][0]["description"]


def every_limit(limit):
    names = [*TOKENS, *CALLS, "max_duration_ms", "max_step_latency_ms", "max_cost_usd"]
    return {**dict.fromkeys(names, limit), "max_tool_calls_per_tool": {"search": limit}}


@given(steps(usage_steps=("llm", "agent", "tool"), is_nested=True), st.integers(0, 100))
@settings(deadline=None)
def test_the_same_run_gives_the_same_bytes_whatever_the_order_of_its_keys(drawn, limit):
    reordered = [dict(reversed(step.items())) for step in drawn]
    config = every_limit(limit)
    first = orjson.dumps(grade(drawn, config))
    assert orjson.dumps(grade(drawn, config)) == first
    assert orjson.dumps(grade(reordered, dict(reversed(config.items())))) == first


@given(steps(usage_steps=("llm", "agent", "tool"), is_nested=True), st.integers(0, 100))
@settings(deadline=None)
def test_every_entry_is_inside_the_trace_and_agrees_with_the_verdict(drawn, limit):
    result = grade(drawn, every_limit(limit))
    order = [step["id"] for step in drawn]
    checks = {entry["check"] for entry in result["evidence"]}
    assert checks == {*every_limit(0)} - {"max_tool_calls_per_tool"} | {
        "max_tool_calls_per_tool.search"
    }
    for entry in result["evidence"]:
        places = [order.index(step_id) for step_id in entry["step_ids"]]
        assert places == sorted(places)
        if entry["passed"]:
            assert entry["observed"] <= entry["limit"]
    broken = [
        entry["limit"] / entry["observed"]
        for entry in result["evidence"]
        if not entry["passed"] and (entry["observed"] or 0) > entry["limit"]
    ]
    assert result["passed"] == all(entry["passed"] for entry in result["evidence"])
    assert (result["verdict"] == "fail") == bool(broken)
    if broken:
        assert result["score"] == min(broken) < 1
