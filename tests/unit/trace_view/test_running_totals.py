"""Running totals of a run: the chart of a limit and the evidence of the verdict say the same."""

from __future__ import annotations

import random
from typing import Any

import orjson
import pytest

from weighbridge.graders.budget import BudgetGrader
from weighbridge.graders.budget.limit_table import LIMITS, PER_TOOL
from weighbridge.jobs.grader_spec import GraderSpec
from weighbridge_producer.trace_view.case_view import StepSelection, view_case
from weighbridge_producer.trace_view.running_totals import RunningTotal

PRICES = {
    "gpt-4o": {"input": 500, "output": 500},
    "house-model": {"input": 0.3, "output": 1.1, "cached_input": 0.1},
}


def run(chance: random.Random) -> dict[str, Any]:
    """Return a run that records some of its usage, times and costs, and may state totals of its own."""
    steps: list[dict[str, Any]] = []
    clock = 1_780_000_000.0
    for number in range(chance.randint(1, 9)):
        step: dict[str, Any] = {"id": f"s{number}"}
        for edge in ("started_at", "ended_at"):
            clock += chance.choice([0, 0.0007, 0.4])
            if chance.random() < 0.8:
                step[edge] = clock
        if steps and chance.random() < 0.2:
            step["parent_id"] = f"s{chance.randrange(number)}"
        kind = chance.choice(["llm", "llm", "tool", "agent", "user"])
        if kind == "tool":
            step |= {"name": chance.choice(["search", "a.b"]), "arguments": {"n": number}}
        if kind in {"llm", "agent"} and chance.random() < 0.8:
            tokens = {"input_tokens": chance.randint(0, 900)}
            if chance.random() < 0.8:
                tokens["output_tokens"] = chance.randint(0, 300)
            step |= {"usage": tokens, "model": chance.choice([*PRICES, "gpt-4o-mini"])}
        if kind == "llm" and chance.random() < 0.3:
            step["cost_usd"] = chance.randint(0, 40) / 1000
        steps.append(step | {"type": kind})
    trace: dict[str, Any] = {"format": "weighbridge", "steps": steps}
    if chance.random() < 0.3:
        trace["usage"] = {"input_tokens": chance.randint(0, 4000), "output_tokens": 40}
    if chance.random() < 0.3:
        trace["counts"] = {
            name: chance.randint(0, 12) for name in ("llm_calls", "tool_calls", "steps")
        }
    if chance.random() < 0.3:
        trace |= {"started_at": 1_779_999_999.5, "ended_at": clock + chance.choice([0, 3])}
    return trace


def limits(chance: random.Random) -> dict[str, Any]:
    """Return every limit of `budget`, low enough that about a half are exceeded."""
    return {
        **{name: chance.randint(0, 1500) for name in LIMITS if name.endswith("_tokens")},
        **{name: chance.randint(0, 5) for name in ("max_tool_calls", "max_llm_calls", "max_steps")},
        PER_TOOL: {tool: chance.randint(0, 2) for tool in ("search", "a.b", "never")},
        "max_duration_ms": chance.choice([0, 0.5, 400, 900.7, 4000]),
        "max_step_latency_ms": chance.choice([0, 0.7, 399.9, 400]),
        "max_cost_usd": chance.randint(0, 60) / 1000,
    }


def view(
    trace: dict[str, Any],
    config: dict[str, Any] | None,
    result: dict[str, Any],
    grader: str = "budget",
) -> dict[str, RunningTotal]:
    line = orjson.dumps({"custom_id": "c", "inputs": {"trace": trace}})
    stored = orjson.loads(orjson.dumps(result))
    spec = GraderSpec(grader, config, "b")
    timeline = view_case(line, (spec,), "b", stored, StepSelection()).timeline
    assert timeline is not None
    return {total.check: total for total in timeline.totals}


@pytest.mark.parametrize("seed", range(60))
def test_each_chart_agrees_with_the_evidence_of_its_limit(seed: int) -> None:
    chance = random.Random(seed)
    trace = run(chance)
    config = {**limits(chance), "missing_usage": chance.choice(["ignore", "ungradable"])}
    if chance.random() < 0.7:
        config["prices"] = PRICES
    result: Any = BudgetGrader(config=config).grade(trace)
    charts = view(trace, config, result)
    numbers = {step["id"]: number for number, step in enumerate(trace["steps"], 1)}
    for entry in result["evidence"]:
        chart = charts.get(entry["check"])
        if chart is None:
            # Nothing to draw: nothing was used, or no step shows it.
            assert not entry["observed"] or not entry["step_ids"]
            continue
        assert (chart.known, chart.limit) == (entry["observed"], entry["limit"])
        is_over = chart.known > chart.limit
        assert is_over == (not entry["passed"] and entry.get("cause") is None)
        assert chart.is_exact == ("used at least" not in entry["description"])
        assert max(amount for _, amount in chart.points) <= chart.known
        if is_over and entry["step_ids"]:
            assert chart.breach is not None
            assert chart.breach[0] == numbers[entry["step_ids"][0]]
            assert chart.breach[1] > chart.limit
            assert chart.is_first or "first" not in entry["description"]
        else:
            assert chart.breach is None


def test_the_end_of_a_step_around_others_counts_after_them() -> None:
    root = {"id": "root", "type": "agent", "started_at": 100.0, "ended_at": 109.0}
    calls = [
        {
            "id": f"t{n}",
            "type": "tool",
            "name": "find",
            "parent_id": "root",
            "started_at": 100.0 + n,
        }
        for n in range(4)
    ]
    trace = {"format": "weighbridge", "steps": [root, *calls]}
    for limit, step, breach in ((1500, "t2", (4, 2000.0)), (5000, "root", (5, 9000.0))):
        config = {"max_duration_ms": limit}
        result: Any = BudgetGrader(config=config).grade(trace)
        assert result["evidence"][0]["step_ids"] == [step]
        [chart] = view(trace, config, result).values()
        assert chart.points == ((1, 0), (2, 0), (3, 1000), (4, 2000), (5, 3000), (5, 9000))
        assert chart.breach == breach


def test_own_prices_are_those_of_the_chart() -> None:
    usage = {"input_tokens": 4000, "output_tokens": 4000}
    call = {"type": "llm", "model": "house-model", "usage": usage}
    trace = {"format": "weighbridge", "steps": [call, {**call, "model": "gpt-4o"}]}
    config = {"max_cost_usd": 1, "prices": PRICES}
    result: Any = BudgetGrader(config=config).grade(trace)
    assert result["evidence"][0]["step_ids"] == ["s2"]
    [cost] = view(trace, config, result).values()
    assert cost.points == ((1, 0.0056), (2, 4.0056))
    assert cost.breach == (2, 4.0056)


@pytest.mark.parametrize("grader", ["budget", "of-mine"])
@pytest.mark.parametrize("config", [None, {}, {"prices": 3}, {"max_cost_usd": 1}])
def test_a_cost_that_other_prices_gave_is_not_drawn(config: Any, grader: str) -> None:
    usage = {"input_tokens": 4000, "output_tokens": 4000}
    call = {"type": "llm", "model": "gpt-4o", "usage": usage}
    trace = {"format": "weighbridge", "steps": [call]}
    own = {"max_cost_usd": 1, "max_tokens": 5, "prices": PRICES}
    result: Any = BudgetGrader(config=own).grade(trace)
    assert list(view(trace, config, result, grader)) == ["max_tokens"]


def test_calls_that_only_the_source_counts_are_part_of_the_amount_and_have_no_step() -> None:
    steps = [{"type": "tool", "name": "find", "arguments": {}}] * 3
    trace = {"format": "weighbridge", "steps": steps, "counts": {"tool_calls": 20}}
    for limit, breach in ((10, None), (2, (3, 3.0))):
        config = {"max_tool_calls": limit}
        [calls] = view(trace, config, BudgetGrader(config=config).grade(trace)).values()
        assert (calls.known, calls.points[-1], calls.breach) == (20, (3, 3.0), breach)
        assert calls.is_first == (breach is None)


@pytest.mark.parametrize(
    "entry",
    [
        {"check": "max_tokens", "limit": 5},
        {"check": "max_tokens", "limit": 5, "observed": "9"},
        {"check": "max_tokens", "limit": True, "observed": 9},
        {"check": ["max_tokens"], "limit": 5, "observed": 9},
        {"check": PER_TOOL, "limit": 5, "observed": 9},
        {"check": "max_tokens", "limit": [5], "observed": 9},
    ],
)
def test_evidence_that_is_not_that_of_a_limit_has_no_chart(entry: dict[str, Any]) -> None:
    trace = {"steps": [{"type": "llm", "output": "x", "usage": {"total_tokens": 9}}]}
    shown = entry | {"passed": False, "step_ids": []}
    assert view(trace, None, {"evidence": [shown]}) == {}
    right = shown | {"check": "max_tokens", "limit": 5, "observed": 9}
    assert list(view(trace, None, {"evidence": [right]})) == ["max_tokens"]
