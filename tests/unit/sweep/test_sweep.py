"""Sweeps: rates derived from measurements equal those of grading again, and other limits are refused."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import orjson
import pytest

from support.result_lines import STRING_MATCH, case, graded
from weighbridge.errors import InvalidFilterError, WeighbridgeError
from weighbridge.jobs.grader_spec import GraderSpec
from weighbridge.jobs.result_line import ResultRow
from weighbridge_producer import sweep as sweep_module
from weighbridge_producer.sweep import Sweep

PARAMS = {
    "max_tokens": 3_000,
    "max_input_tokens": 2_000,
    "max_output_tokens": 500,
    "max_tool_calls": 4,
    "max_llm_calls": 3,
    "max_steps": 7,
    "max_duration_ms": 4_000,
    "max_step_latency_ms": 900.5,
    "max_cost_usd": 0.02,
    "max_tool_calls_per_tool.search": 2,
}


def trace(chance: random.Random) -> dict[str, Any]:
    """Return a run that records some of its usage, times and costs, and may have calls that were not read."""
    steps: list[dict[str, Any]] = [{"id": "u", "type": "user", "output": "Go."}]
    clock = 0.0
    for number in range(chance.randint(0, 8)):
        took = chance.choice([0.3, 0.9005, 1.5])
        times = {"started_at": clock, "ended_at": clock + took} if chance.random() < 0.95 else {}
        clock += took
        step = {"id": f"s{number}", **times}
        if chance.random() < 0.5:
            step |= {"type": "tool", "name": chance.choice(["search", "book"]), "output": "done"}
            step["arguments"] = {"n": number}
        else:
            step |= {"type": "llm", "model": "own", "output": "Well."}
            if chance.random() < 0.9:
                step["usage"] = {
                    "input_tokens": chance.randint(1, 1500),
                    "output_tokens": chance.randint(1, 300),
                }
            if chance.random() < 0.8:
                step["cost_usd"] = chance.randint(0, 20) / 1000
        steps.append(step)
    made = {"format": "weighbridge", "id": "t", "steps": steps}
    if chance.random() < 0.2:
        counted = chance.sample(["llm_calls", "tool_calls", "steps"], 2)
        made["counts"] = {name: chance.randint(0, 9) for name in counted}
    if chance.random() < 0.2:
        lacking = chance.sample(["llm_calls", "tool_calls", "timing", "token_usage"], 2)
        made["missing"] = dict.fromkeys(lacking, "a line is damaged")
    return made


def config(limits: dict[str, float]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for name, limit in limits.items():
        param, _, tool = name.partition(".")
        made[param] = {tool: limit} if tool else limit
    return made


def rows(
    cases: list[bytes], limits: dict[str, float], missing_usage: str = "ungradable"
) -> list[ResultRow]:
    spec = GraderSpec("budget", {**config(limits), "missing_usage": missing_usage})
    return [ResultRow.from_bytes(line) for line in graded(cases, (spec,))]


def swept(found: list[ResultRow], param: str, label: str = "budget") -> Sweep:
    made = Sweep(label, param)
    for row in found:
        made.add(row)
    return made


@pytest.mark.slow
@pytest.mark.parametrize("missing_usage", ["ungradable", "ignore"])
@pytest.mark.parametrize("param", PARAMS)
def test_a_limit_gives_what_grading_again_with_it_gives(param: str, missing_usage: str) -> None:
    chance = random.Random(param)
    cases = [
        orjson.dumps({"custom_id": f"q{n}", "inputs": {"trace": trace(chance)}}) for n in range(80)
    ]
    others = {name: PARAMS[name] for name in chance.sample(sorted(PARAMS), 3) if name != param}
    for in_force in (PARAMS[param], PARAMS[param] / 4 if param == "max_cost_usd" else 1):
        limits = {**others, param: in_force}
        made = swept(rows(cases, limits, missing_usage), param)
        assert set(made.limits) == {in_force}
        for candidate in made.candidates():
            graded_again = rows(cases, {**limits, param: candidate.limit}, missing_usage)
            again = Counter(str(row.outcome) for row in graded_again)
            told = (candidate.passed, candidate.failed, candidate.ungradable)
            assert told == (again["passed"], again["failed"], again["ungradable"])


@pytest.mark.parametrize("missing_usage", ["ungradable", "ignore"])
@pytest.mark.parametrize("param", [name for name in PARAMS if name != "max_cost_usd"])
def test_a_limit_that_was_not_in_force_is_derived_too(param: str, missing_usage: str) -> None:
    chance = random.Random(param)
    cases = [
        orjson.dumps({"custom_id": f"q{n}", "inputs": {"trace": trace(chance)}}) for n in range(80)
    ]
    in_force = {"max_steps": 6} if param != "max_steps" else {"max_tool_calls": 3}
    made = swept(rows(cases, in_force, missing_usage), param)
    assert not made.limits
    graded_again = rows(cases, {**in_force, param: PARAMS[param]}, missing_usage)
    again = Counter(str(row.outcome) for row in graded_again)
    candidate = made.at(PARAMS[param])
    told = (candidate.passed, candidate.failed, candidate.ungradable)
    assert told == (again["passed"], again["failed"], again["ungradable"])


def test_calls_of_a_tool_are_not_known_where_the_source_counts_more_calls_than_were_read() -> None:
    held = {"steps": [{"type": "llm"}, {"type": "tool", "name": "search"}]}
    counted = {"format": "weighbridge", **held, "counts": {"tool_calls": 5}}
    found = rows(
        [orjson.dumps({"custom_id": "q", "inputs": {"trace": counted}})], {"max_tool_calls": 9}
    )
    made = swept(found, "max_tool_calls_per_tool.search")
    for limit, outcomes in ((2, (0, 0, 1)), (0, (0, 1, 0))):
        candidate = made.at(limit)
        assert (candidate.passed, candidate.failed, candidate.ungradable) == outcomes


def test_a_trace_that_cannot_be_read_stays_ungradable() -> None:
    found = rows([orjson.dumps({"custom_id": "q", "inputs": {"trace": 3}})], {"max_steps": 3})
    candidate = swept(found, "max_steps").at(100)
    assert (candidate.passed, candidate.failed, candidate.ungradable) == (0, 0, 1)


def test_tokens_that_are_not_recorded_and_ignored_keep_every_limit() -> None:
    steps = [{"type": "llm", "output": "Well."}]
    line = orjson.dumps({"custom_id": "q", "inputs": {"trace": {"steps": steps}}})
    spec = GraderSpec("budget", {"max_tokens": 5, "missing_usage": "ignore"})
    found = [ResultRow.from_bytes(each) for each in graded([line], (spec,))]
    assert found[0].evidence[0]["observed"] is None
    candidates = swept(found, "max_tokens").candidates([0.0, 5.0, 100.0])
    assert [each.passed for each in candidates] == [1, 1, 1]


def test_the_least_score_that_passes_can_be_swept_for_any_grader() -> None:
    found = [ResultRow.from_bytes(line) for line in graded([case("a"), case("b", "Porto")])]
    made = swept(found, "score", "string-match")
    assert [(each.limit, each.passed) for each in made.candidates([0, 0.5, 1])] == [
        (0, 2),
        (0.5, 1),
        (1, 1),
    ]


def scored(scores: list[float]) -> list[ResultRow]:
    [row] = [orjson.loads(line) for line in graded([case("a")])]
    lines = [{**row, "result": {**row["result"], "score": score}} for score in scores]
    return [ResultRow.from_bytes(orjson.dumps(line)) for line in lines]


@pytest.mark.parametrize(
    ("scores", "limits"),
    [
        ([0.5, 0.8999999999999999, 0.9], [0.5, 0.8999, 0.9]),
        ([0.8999, 0.8999999999999999, 0.9], [0.8999, 0.89999, 0.9]),
        ([0.8999999999999998, 0.8999999999999999], [0.8999, 0.8999999999999999]),
        ([0.1 + 0.2, 1 / 3, 0.1234567891], [0.1234567891, 0.3, 0.3333]),
    ],
)
def test_a_long_measurement_becomes_a_short_limit_that_judges_the_same(
    scores: list[float], limits: list[float]
) -> None:
    made = swept(scored(scores), "score", "string-match")
    found = made.candidates()
    assert [each.limit for each in found] == limits
    assert [each.passed for each in found] == [made.at(each).passed for each in sorted(scores)]


def test_a_long_measured_duration_is_rounded_up_and_a_count_is_kept() -> None:
    made = Sweep("budget", "max_duration_ms")
    for observed in (1234.56789012345, 12_345_678_901_234, 3_000.25):
        made._measured[sweep_module.Measurement(observed, True, sweep_module.Verdict.PASS)] += 1
    assert [(each.limit, each.passed) for each in made.candidates()] == [
        (1235, 1),
        (3_000.25, 2),
        (12_345_678_901_234, 3),
    ]


@pytest.mark.parametrize("param", ["max_repeats", "case_sensitive", "", "max_tokens"])
def test_what_cannot_be_derived_is_refused(param: str) -> None:
    [row] = map(ResultRow.from_bytes, graded([case("a")], STRING_MATCH))
    with pytest.raises(InvalidFilterError, match="do not show what other values"):
        swept([row], param, "string-match")


@pytest.mark.parametrize(
    ("param", "limit", "told"),
    [
        ("max_tokens", float("nan"), "max_tokens must be an integer, not NaN"),
        ("max_tokens", float("inf"), "max_tokens must be an integer, not Infinity"),
        ("max_tokens", -1.0, "max_tokens must be greater than or equal to 0, not -1"),
        ("max_tokens", 100.5, "max_tokens must be an integer, not 100.5"),
        ("max_cost_usd", float("inf"), "max_cost_usd must be a finite number, not Infinity"),
        ("max_tool_calls_per_tool.search", 1.5, "per_tool.search must be an integer, not 1.5"),
        ("max_tool_calls_per_tool.a.b", 1.5, "must be an integer, not 1.5"),
        ("score", float("nan"), "score must be from 0 to 1, not nan"),
        ("score", 1.5, "score must be from 0 to 1, not 1.5"),
    ],
)
def test_a_limit_that_cannot_be_in_a_configuration_is_refused(
    param: str, limit: float, told: str
) -> None:
    made = swept(rows([SEARCHES], {"max_steps": 9}), param)
    with pytest.raises(WeighbridgeError) as refused:
        made.candidates([limit])
    assert told in refused.value.message


def test_counts_and_fractions_that_a_configuration_can_have_are_tried() -> None:
    found = rows([SEARCHES], {"max_steps": 9})
    for param, limit in (("max_tool_calls", 2.0), ("max_cost_usd", 0.5), ("score", 1.0)):
        [candidate] = swept(found, param).candidates([limit])
        assert candidate.limit == limit


SEARCHES = orjson.dumps(
    {
        "custom_id": "q",
        "inputs": {
            "trace": {
                "format": "weighbridge",
                "id": "t",
                "steps": [
                    {"id": f"s{n}", "type": "tool", "name": name, "output": "done", "arguments": {}}
                    for n, name in enumerate(["track_parcel", "book"])
                ],
            }
        },
    }
)


def test_a_tool_that_no_run_calls_is_noted_with_the_nearest_name() -> None:
    found = rows([SEARCHES], {"max_steps": 9})
    note = swept(found, "max_tool_calls_per_tool.trak_parcel").uncalled
    assert note == (
        "no run calls a tool 'trak_parcel'; did you mean 'track_parcel'? (called: book, track_parcel)"
    )
    assert swept(found, "max_tool_calls_per_tool.track_parcel").uncalled == ""
    assert swept(found, "max_tool_calls").uncalled == ""


@pytest.mark.parametrize(
    ("param", "meant"),
    [
        ("max_token", "did you mean 'max_tokens'?"),
        ("max_repeats", None),  # of `loop`
        ("max_repeat", None),
        ("missing_usage", None),  # of `budget`, but no limit
    ],
)
def test_only_a_misspelt_limit_has_a_suggestion(param: str, meant: str | None) -> None:
    with pytest.raises(InvalidFilterError) as refused:
        swept(rows([SEARCHES], {"max_steps": 9}), param)
    assert (meant or "") in refused.value.message
    assert ("did you mean" in refused.value.message) == bool(meant)


def test_other_labels_and_what_was_not_graded_are_left_out() -> None:
    found = [
        ResultRow.from_bytes(line)
        for line in graded([case("a"), b'{"custom_id": "b", "inputs": {}}'])
    ]
    made = swept(found, "score", "string-match")
    assert (made.results, made.ungraded) == (1, 1)
    assert swept(found, "score", "other").results == 0


def test_measurements_without_end_are_rounded_towards_failing(monkeypatch) -> None:
    monkeypatch.setattr(sweep_module, "_DISTINCT_LIMIT", 20)
    steps = [{"id": "u", "type": "user", "output": "Go."}]
    cases = [
        orjson.dumps(
            {
                "custom_id": f"q{n}",
                "inputs": {
                    "trace": {
                        "format": "weighbridge",
                        "id": "t",
                        "steps": [
                            *steps,
                            {
                                "id": "s",
                                "type": "llm",
                                "output": "x",
                                "usage": {"input_tokens": 1_000_000 + n, "output_tokens": 0},
                            },
                        ],
                    }
                },
            }
        )
        for n in range(100)
    ]
    made = swept(rows(cases, {"max_tokens": 1}), "max_tokens")
    assert made.is_rounded
    assert made.at(1_000_050).passed <= 51
    assert made.at(1_001_000).passed == 100
