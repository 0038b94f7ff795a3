"""The loop grader's work on any trace is limited, as measured by counting operations."""

from __future__ import annotations

import random
import string

import pytest
import rapidfuzz

from weighbridge.graders.loop import LoopGrader, judgement, work_budget
from weighbridge.graders.loop.history import similarity, text_forms
from weighbridge.graders.loop.history.call_kinds import is_read_only, is_trial
from weighbridge.graders.loop.history.history_reader import history_of
from weighbridge.graders.loop.history.identity import CallNumbering
from weighbridge.graders.loop.reporting import evidence
from weighbridge.graders.loop.work_budget import WORK_LIMIT, WorkBudget
from weighbridge.traces import Step, Trace

pytestmark = pytest.mark.slow

GRADER = LoopGrader()
SMALL_LIMIT = WORK_LIMIT // 8  #: with which a trace that exceeds it is soon made and graded
PAIRS_LIMIT = 3 * 50_000 * SMALL_LIMIT  #: of characters, for calls, texts and the report together


class Spy:
    """Wrapper of `rapidfuzz` that counts the pairs of characters compared."""

    def __init__(self, real):
        self.real = real
        self.pairs = 0

    def ratio(self, one, other, **options):
        self.pairs += len(one) * len(other)
        return self.real.fuzz.ratio(one, other, **options)

    def extract(self, one, others, **options):
        self.pairs += len(one) * sum(map(len, others))
        return self.real.process.extract(
            one, others, **(options | {"scorer": self.real.fuzz.ratio})
        )


@pytest.fixture
def spy(monkeypatch):
    spy = Spy(rapidfuzz)
    for module, name in ((similarity, "fuzz"), (similarity, "process"), (text_forms, "fuzz")):
        monkeypatch.setattr(module, name, spy)
    return spy


@pytest.fixture
def budgets(monkeypatch):
    """All budgets that are made."""
    made = []

    def start(budget):
        budget.spent = 0.0
        made.append(budget)

    monkeypatch.setattr(WorkBudget, "__init__", start)
    return made


def varied(rng, text, changes):
    letters = list(text)
    for place in rng.sample(range(len(letters)), changes):
        letters[place] = rng.choice(string.ascii_lowercase)
    return "".join(letters)


def letters(rng, count):
    return "".join(rng.choices(string.ascii_lowercase + "    ", k=count))


def with_reads(made):
    """Return calls with one that succeeds after every seven, because a long row of failures is a loop."""
    for place, each in enumerate(made):
        yield each
        if place % 7 == 6:
            yield "read", {"page": place}, f"This is page {place}."


def calls(made):
    return [
        Step(id=f"t{place}", type="tool", name=name, arguments=arguments, output=output)
        for place, (name, arguments, output) in enumerate(made)
    ]


def near_calls(rng, count, characters, changes):
    text = letters(rng, characters)
    return calls(
        with_reads(
            ("edit", {"text": varied(rng, text, changes)}, "Error: it failed") for _ in range(count)
        )
    )


def near_texts(rng, count, characters, changes):
    text = letters(rng, characters)
    return [
        Step(id=f"a{place}", type="llm", output=varied(rng, text, changes))
        for place in range(count)
    ]


#: Each takes all of a small budget, or it would not show that there is a limit.
HOSTILE = {
    "near-duplicate calls with long arguments": lambda rng: near_calls(rng, 150, 3_900, 500),
    "near-duplicate calls with two long arguments": lambda rng: calls(
        ("edit", {"old": letters(rng, 3_900), "new": "x" * 3_900}, "Error: no") for _ in range(110)
    ),
    "near-duplicate short calls": lambda rng: near_calls(rng, 3_000, 250, 40),
    "near-duplicate long texts": lambda rng: near_texts(rng, 115, 3_900, 900),
    "a loop of near-duplicate long texts": lambda rng: near_texts(rng, 330, 3_900, 100),
    "near-duplicate short texts": lambda rng: near_texts(rng, 2_000, 190, 40),
    "arguments of many parts": lambda rng: calls(
        ("set", {f"k{key}": letters(rng, 9) for key in range(200)}, "Error: no") for _ in range(90)
    ),
    "different long commands that fail the same": lambda rng: calls(
        ("bash", {"command": f"./load {letters(rng, 900)}"}, "Error: no") for _ in range(1_700)
    ),
    "different long commands that fail the same, with news between": lambda rng: calls(
        each
        for place in range(1_200)
        for each in (
            ("bash", {"command": f"./load {letters(rng, 900)}"}, "Error: no"),
            ("read", {"path": "a"}, f"line {place} {letters(rng, 20)}"),
        )
    ),
    "different searches that find nothing": lambda rng: calls(
        ("search", {"query": letters(rng, 40)}, "No data available") for _ in range(1_100)
    ),
    "long results with much noise": lambda _: calls(
        ("read", {"path": "a"}, f"{place} " + "1 s " * 3_000) for place in range(25)
    ),
    "long results with many numbers": lambda _: calls(
        ("read", {"path": "a"}, "so it is " * 10 + f"7 {place * 7 % 5} " * 400)
        for place in range(100)
    ),
}


def work_on(steps):
    """Return the units of work needed to distinguish calls."""
    budget = WorkBudget()
    history = history_of(steps, frozenset(["tool"]), frozenset(["llm"]), budget)
    CallNumbering(0.9, budget, compare_results=True).apply(history)
    return budget.spent


@pytest.mark.parametrize("shape", HOSTILE)
def test_no_trace_makes_it_compare_more_than_the_limit(shape, spy, budgets, monkeypatch):
    monkeypatch.setattr(work_budget, "WORK_LIMIT", SMALL_LIMIT)
    steps = HOSTILE[shape](random.Random(shape))
    result = GRADER.grade(Trace(None, tuple(steps), "test"))
    assert result["verdict"] in {"pass", "fail"}
    assert spy.pairs <= 1.1 * PAIRS_LIMIT
    assert SMALL_LIMIT <= max(budget.spent for budget in budgets) <= 1.1 * SMALL_LIMIT


def different_failures(count):
    rng = random.Random("failures")
    return calls(
        with_reads(("edit", {"text": letters(rng, 300)}, "Error: no") for _ in range(count))
    )


def test_ten_times_the_steps_are_about_ten_times_the_work():
    assert work_on(different_failures(5_000)) <= 12 * work_on(different_failures(500))


def test_an_ordinary_number_of_calls_that_nearly_repeat_is_compared_in_full():
    steps = different_failures(1_000)
    result = GRADER.grade(Trace(None, tuple(steps), "test"))
    assert work_on(steps) < WORK_LIMIT / 4
    assert [entry["check"] for entry in result["evidence"]] == ["repeated_steps", "repeated_cycles"]


def test_a_trace_that_is_not_compared_in_full_says_so_and_equal_calls_in_it_are_still_found():
    steps = near_calls(random.Random("near"), 420, 3_900, 1_500)
    result = GRADER.grade(Trace(None, tuple(steps), "test"))
    assert (result["verdict"], result["evidence"][-1]["check"]) == ("pass", "likeness")
    again = calls([("edit", {"text": "the same"}, "Error: no")] * 4)
    again = [Step(id=f"again{place}", **_facts(step)) for place, step in enumerate(again)]
    result = GRADER.grade(Trace(None, (*steps, *again), "test"))
    assert result["verdict"] == "fail"
    [loop] = result["details"]["loops"]
    assert loop["step_ids"] == ["again0", "again1", "again2", "again3"]


def _facts(step):
    return {name: getattr(step, name) for name in ("type", "name", "arguments", "output")}


@pytest.fixture
def steps_limit(monkeypatch):
    """A limit that is soon exceeded, on the steps that are examined."""
    limit = 1_000
    for module in (judgement, evidence):
        monkeypatch.setattr(module, "STEPS_LIMIT", limit)
    return limit


def test_more_steps_than_are_examined_are_no_pass(steps_limit):
    count = steps_limit + 1
    steps = [Step(id="u", type="user", output="go on")] * count
    result = GRADER.grade(Trace(None, tuple(steps), "test"))
    [entry] = result["evidence"]
    assert (result["verdict"], entry["check"]) == ("ungradable", "max_steps_examined")
    assert (entry["limit"], entry["observed"]) == (steps_limit, count)


def test_a_loop_among_more_steps_than_are_examined_is_found(steps_limit):
    step = {"type": "tool", "name": "get", "arguments": {"id": 1}, "output": "x"}
    rest = (Step(id="u", type="user"),) * steps_limit
    loop = tuple(Step(id=f"t{place}", **step) for place in range(4))
    result = GRADER.grade(Trace(None, (*loop, *rest), "test"))
    assert result["verdict"] == "fail"
    assert [entry["check"] for entry in result["evidence"]] == ["loop", "max_steps_examined"]
    result = GRADER.grade(Trace(None, (*rest, *loop), "test"))
    assert [entry["check"] for entry in result["evidence"]] == ["max_steps_examined"]


def test_very_long_arguments_are_equal_or_not():
    """Equality remains exact for arguments too long for a similarity comparison."""
    long = "x" * 150_000

    def verdict(ends):
        made = [("write", {"text": long + end + long}, "Error: no") for end in ends]
        return GRADER.grade(Trace(None, tuple(calls(made)), "test"))["verdict"]

    assert verdict(["a"] * 4) == "fail"
    assert verdict(["a", "b", "c", "d"]) == "pass"


def test_the_nature_of_a_call_is_told_by_the_beginning_of_its_name():
    [call] = history_of(
        calls([("get_status_" + "aA" * 500_000, {"q": 1}, "x")]),
        frozenset(["tool"]),
        frozenset(["llm"]),
        WorkBudget(),
    ).calls
    assert is_read_only(call)
    assert is_trial(call)


def test_a_run_of_dots_before_a_letter_is_read_in_one_pass():
    """With quadratic time it would exceed the time limit of a test."""
    dots = "." * 300_000 + "x"
    assert text_forms._SEPARATORS.split(dots) == [dots]
    assert text_forms.ComparedText("." * 3_900 + "x", WorkBudget()).forms.plain == "x"
