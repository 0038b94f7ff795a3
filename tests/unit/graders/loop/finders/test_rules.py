"""The rules of loops: each result names the one that made a loop, and its limit is the largest number that is no loop."""

from __future__ import annotations

import re
from itertools import islice, product
from pathlib import Path
from random import Random

import pytest

from support.loop_rules import check_rules
from support.synthetic_held_out import HELD_OUT_LOOPS
from support.synthetic_loops import LOOPS, NOT_IN, stuck
from support.synthetic_traces import FORMS, make_run
from weighbridge.graders.loop import LoopGrader, finders
from weighbridge.graders.loop.finders.exemptions.spared import Reason
from weighbridge.graders.loop.finders.findings import Finding
from weighbridge.graders.loop.finders.kinds import Kind
from weighbridge.graders.loop.finders.rules import RULES, Least, Rule
from weighbridge.graders.loop.work_budget import Limits

WORDS = ("anchor", "bell", "chart", "deck", "engine", "ferry", "galley", "helm", "island", "jetty")
LIMITS = Limits(3, 0.9, 10)


def call(name, arguments, output=None, error=None):
    step = {"type": "tool", "name": name, "arguments": arguments}
    step |= {} if output is None else {"output": output}
    return step | ({} if error is None else {"error": error})


def said(text):
    return {"type": "llm", "output": text}


def cycle(length):
    calls = [call("look", {"at": word}, f"a picture of the {word}") for word in WORDS[:length]]
    return [[each] for _ in range(20) for each in calls]


def runs_after_edits():
    for at in range(20):
        word = WORDS[at % 10]
        edit = {"path": "fees.sql", "old": f"-- {word} {at}", "new": f"-- {word} {at + 1}"}
        failed = f"Compiled {word} again\nDatabase Error: relation raw.harbour_fees does not exist"
        command = f"dbt run --select {word} --threads {at}"
        yield [
            call("edit_file", edit, "The file was edited."),
            call("bash", {"command": command}, failed, failed),
        ]


def undone_edits():
    for at in range(20):
        edit, back = (
            {"path": "ferry.py", "old_str": old, "new_str": new}
            for old, new in (("deck", f"deck {at}"), (f"deck {at}", "deck"))
        )
        yield [call("edit", edit, "replaced"), call("edit", back, "replaced")]


#: By rule, what is repeated and how often it passes.
REPEATED = {
    "same_call": ([[call("search", {"q": "x"}, "nothing")]] * 9, 3),
    "same_text": ([[said("I look at the order again, and it is still open.")]] * 9, 3),
    "varied_attempts": (
        [
            [call("bash", {"command": f"grep -r 'deck(' src/{word}"}, error="grep: Unmatched ( or \\(")]
            for word in WORDS
        ],
        5,
    ),
    "repeated_change": (
        [[call("append", {"path": "a.md", "text": "deck " * 40}, f"{at} lines")] for at in range(20)],
        4,
    ),
    "vain_changes": ([*runs_after_edits()], 8),
    "undone_changes": ([*undone_edits()], 5),
    "pleasantries": ([[said(text)] for text in ("Thank you!", "You're welcome!", "Bye!") * 4], 6),
    "promises": ([[said(f"I'm drawing the {word} now, one moment.")] for word in WORDS], 6),
}  # fmt: skip


def grade(steps, **config):
    given = [{"id": f"s{at}", **each} for at, each in enumerate(steps, 1)]
    return LoopGrader(config=config).grade({"format": "weighbridge", "steps": given})


def taken(pieces, count):
    return [step for piece in islice(pieces, count) for step in piece]


@pytest.mark.parametrize("rule", REPEATED)
def test_as_many_as_the_limit_pass_and_one_more_is_a_loop_of_that_rule(rule):
    pieces, limit = REPEATED[rule]
    assert grade(taken(pieces, limit))["verdict"] == "pass"
    result = grade(taken(pieces, limit + 1))
    [loop], [entry] = result["details"]["loops"], result["evidence"]
    assert loop["rule"] == rule
    assert (entry["limit"], entry["observed"]) == (limit, limit + 1)
    assert f"{limit + 1} times" in entry["description"]
    assert f", limit {limit}" in entry["description"]


@pytest.mark.parametrize(
    ("period", "steps", "limit", "observed"),
    [(2, 6, 2, 3), (3, 9, 2, 3), (4, 10, 2, 2.5), (5, 13, 2, 2.5), (7, 18, 2, 2.5), (4, 12, 2, 3)],
)
def test_the_rounds_of_a_cycle_are_more_than_its_limit(period, steps, limit, observed):
    result = grade(taken(cycle(period), steps))
    [loop], [entry] = result["details"]["loops"], result["evidence"]
    assert loop["rule"] == "same_cycle"
    assert (entry["limit"], entry["observed"]) == (limit, observed)
    least = LIMITS.least_length(period)
    assert grade(taken(cycle(period), least - 1))["verdict"] == "pass"


@pytest.mark.parametrize(
    ("steps", "limit", "observed"),
    [
        ([call("look", {})] * 8, 7, 8),
        ([call("scroll", {"direction": "down"})] * 30, 29, 30),
        ([call("next_page", {}), call("click", {"at": "first"})] * 6, 5, 6),
    ],
    ids=["looks", "scrolls", "two in turn"],
)
def test_the_limit_without_results_is_that_of_calls_without_results(steps, limit, observed):
    [entry] = grade(steps)["evidence"]
    assert (entry["limit"], entry["observed"]) == (limit, observed)
    assert grade(steps[:-1])["verdict"] == "pass"


def test_the_limit_follows_the_configuration():
    steps = [call("search", {"q": "x"}, "nothing")] * 9
    [entry] = grade(steps, max_repeats=5)["evidence"]
    assert (entry["limit"], entry["observed"]) == (5, 9)


def test_steps_of_a_loop_beyond_what_its_rule_found_are_not_counted_for_the_limit():
    search, read = call("search", {"q": "x"}, "nothing"), call("read", {"file": "a"}, "some text")
    result = grade([*[search] * 5, read, search])
    [loop], [entry] = result["details"]["loops"], result["evidence"]
    assert (loop["kind"], loop["rule"], loop["repeats"]) == ("interleaved", "same_call", 6)
    assert (entry["limit"], entry["observed"]) == (3, 5)
    assert (loop["limit"], loop["observed"], loop["steps"]) == (3, 5, 6)
    assert (
        'the same step 5 times, limit 3; all 6 results: "nothing"; 6 steps in the whole loop, each equal'
        in entry["description"]
    )


def test_only_the_steps_of_a_loop_that_repeat_another_of_it_are_called_equal():
    push = call("push", {"notes": " ".join(WORDS * 6)}, error="no such remote")
    searches = iter(taken(REPEATED["varied_attempts"][0], 7))
    steps = [push if each == "p" else next(searches) for each in "ppspssppsspspsp"]
    [entry] = grade([*steps[:8], call("read", {"file": "a"}, ""), *steps[8:]])["evidence"]
    assert "one call that fails in the same way 8 times, limit 3; " in entry["description"]
    assert "15 steps in the whole loop, 8 of which equal another; " in entry["description"]


@pytest.mark.parametrize("name", LOOPS | HELD_OUT_LOOPS)
def test_the_loops_of_a_family_are_beyond_the_limits_of_their_rules(name):
    for form in FORMS:
        if form not in NOT_IN.get(name, ()):
            rng = Random(f"rules {name} {form}")
            events = stuck((LOOPS | HELD_OUT_LOOPS)[name], rng)
            check_rules(LoopGrader().grade(make_run(events, form, rng).trace))


@pytest.mark.parametrize("max_repeats", [1, 2, 3, 10, 1000])
@pytest.mark.parametrize("rule", Rule, ids=lambda rule: rule.id)
def test_no_rule_takes_one_for_a_loop(rule, max_repeats):
    limits = Limits(max_repeats, 0.9, 10)
    assert min(rule.least(limits), rule.least(limits, other=True)) > 1


@pytest.mark.parametrize("max_repeats", [1, 2, 3, 4, 9])
def test_what_is_just_a_loop_is_more_than_what_is_just_none(max_repeats):
    for period, factor in product(range(1, 51), (1, 2)):
        least = factor * Limits(max_repeats, 0.9, 50).least_length(period)
        found = Finding.by(Rule.SAME_CYCLE, range(least), least, period=period)
        assert found.measure.observed > found.measure.limit


@pytest.mark.parametrize("rule", Rule, ids=lambda rule: rule.id)
def test_each_rule_is_that_of_one_finder(rule):
    sources = {
        path.stem: path.read_text("utf-8") for path in Path(finders.__path__[0]).glob("*.py")
    }
    del sources["rules"]
    using = [name for name, text in sources.items() if re.search(rf"Rule\.{rule.name}\b", text)]
    assert len(using) == 1


def rows_of(head):
    """Return the cells of a table in the reference."""
    page = Path(__file__).resolve().parents[5] / "docs/reference/graders/loop.md"
    table = page.read_text("utf-8").partition(f"\n| {head} |")[2].partition("\n\n")[0]
    return [[cell.strip() for cell in row.split(" | ")] for row in table.split("\n")[2:]]


def quoted(names):
    return ", ".join(f"`{name}`" for name in names)


def test_the_reference_has_each_rule_as_it_is():
    rows = [
        [f"| `{rule.id}`", quoted(rule.kinds), rule.described, f"{rule.from_how_many} |"]
        for rule in Rule
    ]
    assert rows_of("`rule`") == rows


def test_the_reference_has_each_kind_and_each_reason():
    kinds = [name.strip("| `") for row in rows_of("`kind`") for name in row[0].split(",")]
    assert sorted(kinds) == sorted(Kind)
    reasons = [[f"| `{reason}`", f"{reason.in_words} |"] for reason in Reason]
    assert rows_of("`reason`") == reasons


def test_each_kind_has_a_rule():
    assert {kind for rule in Rule for kind in rule.kinds} == set(Kind)


def test_a_kind_that_does_not_exist_is_refused():
    with pytest.raises(ValueError, match="repeat"):
        Kind("repeat")


def test_rules_have_ids_and_words_of_their_own():
    assert len(RULES) == len(Rule)
    assert len({(rule.repeated, rule.between, rule.from_how_many) for rule in Rule}) == len(Rule)
    assert Rule.SAME_CYCLE.in_words(3) == "the same 3 steps in the same order"
    assert Rule.SAME_CYCLE.in_words(None) == "the same steps in the same order"
    assert Rule.SAME_CALL.in_words(1) == "the same step"


@pytest.mark.parametrize(
    ("least", "words", "number"),
    [
        (Least(1, 1), "`max_repeats` + 1", 4),
        (Least(2), "`2 * max_repeats`", 6),
        (Least(1, 2, most_times=2), "`max_repeats` + 2 (at most `2 * max_repeats`)", 5),
        (Least(1, minimum=2, unit="rounds"), "`max_repeats` rounds (at least 2)", 3),
        (Least(0, 100), "100", 100),
        (Least(2, -1, minimum=3), "`2 * max_repeats` - 1 (at least 3)", 5),
    ],
)
def test_a_number_is_said_in_terms_of_the_configuration(least, words, number):
    assert (str(least), least.of(3)) == (words, number)
