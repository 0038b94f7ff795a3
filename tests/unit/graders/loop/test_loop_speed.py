"""The loop grader takes time proportional to a trace's size, for all shapes of traces."""

from __future__ import annotations

import random
import string
import sys
import time

import pytest

from weighbridge.graders.loop import LoopGrader
from weighbridge.graders.loop.work_budget import STEPS_LIMIT
from weighbridge.traces import Step, Trace

pytestmark = pytest.mark.slow

GRADER = LoopGrader()
CALLS = 12_500  #: a quarter of what a grader examines, in a quarter of the time that a job has
SECONDS = 2.5
JOB_DEADLINE_SECONDS = 10


def words(rng, characters):
    made = []
    while sum(map(len, made)) + len(made) < characters:
        made.append("".join(rng.choice(string.ascii_lowercase) for _ in range(rng.randint(3, 9))))
    return " ".join(made)[:characters]


def trace_of(calls):
    steps = []
    for place, (name, arguments, output) in enumerate(calls):
        llm = f"m{place}"
        steps.append(Step(id=llm, type="llm", output=f"Step {place}."))
        call = {"arguments": arguments, "output": output, "parent_id": llm}
        steps.append(Step(id=f"t{place}", type="tool", name=name, **call))
    return Trace(None, tuple(steps), "test")


def ordinary(count):
    rng = random.Random("ordinary")
    kinds = [
        lambda: ("read_file", {"path": f"src/{words(rng, 9)}.py"}, words(rng, 600)),
        lambda: ("search", {"query": words(rng, 40)}, words(rng, 400)),
        lambda: ("run", {"command": "pytest"}, f"{rng.random():.3f} s {words(rng, 200)}"),
        lambda: ("edit", {"path": "a.py", "old": words(rng, 90), "new": words(rng, 90)}, "ok"),
    ]
    return trace_of([rng.choice(kinds)() for _ in range(count)])


def functions_called(trace):
    """Return the number of Python and C function calls during grading, which is the same on any machine."""
    count = 0

    def counted(_frame, event, _function):
        nonlocal count
        count += event in {"call", "c_call"}

    sys.setprofile(counted)
    try:
        GRADER.grade(trace)
    finally:
        sys.setprofile(None)
    return count


def test_ten_times_the_steps_call_about_ten_times_as_many_functions():
    few, many = ordinary(250), ordinary(2_500)
    GRADER.grade(few)
    called = functions_called(few)
    assert called > 2_500
    assert functions_called(many) <= 11 * called


def million(rng):
    return words(rng, 1_000) * 1_000


HUGE = {
    "arguments of a million characters": lambda rng: [
        ("write", {"text": million(rng)}, "Error: no") for _ in range(5)
    ],
    "results of a million characters": lambda rng: [
        ("read", {"path": "a"}, million(rng)) for _ in range(5)
    ],
    "one word of a million letters": lambda _: [
        ("write", {"text": "a" * 10**6 + str(at)}, "1" * 10**6) for at in range(5)
    ],
    "a hundred thousand times of day": lambda _: [
        ("read", {"path": "a"}, f"10:{at}0:00 " * 100_000) for at in range(5)
    ],
    "a hundred thousand arguments": lambda _: [
        ("set", {f"k{key}": f"v{at}" for key in range(20_000)}, "Error: no") for at in range(5)
    ],
    "a million characters of what may be left out": lambda _: [
        ("execute", {key: f"{text * (10**6 // len(text))}'{at}"}, "Error: no")
        for at in range(2)
        for key, text in (
            ("code", " # "),
            ("code", "# " + " " * 999),
            ("sql", "select -- /* "),
            ("url", "?_=1&t=12345678901"),
            ("command", "cd " + " " * 999),
            ("command", "(#a\n"),
        )
    ],
    "equal calls": lambda _: [("get", {"id": 1}, "x")] * CALLS,
    "different calls": lambda _: [("get", {"q": f"{at:x}"}, f"{at:x}") for at in range(CALLS)],
    "results of one call": lambda _: [("get", {"id": 1}, f"item {at}") for at in range(CALLS)],
    "failures that come back after a long time": lambda _: [
        ("get", {"id": at % (CALLS // 10)}, "Error: no") for at in range(CALLS)
    ],
    "commands of options": lambda _: [
        ("bash", {"command": " -a" * 290 + str(at)}, "Error: no") for at in range(CALLS // 5)
    ],
    "failures of three kinds": lambda _: [
        ("get", {"id": at % 3}, "Error: no") for at in range(CALLS)
    ],
}


def seconds(calls):
    """Return the CPU time of grading; each call follows a response of the model."""
    trace = trace_of(calls)
    started = time.process_time()
    GRADER.grade(trace)
    return time.process_time() - started


@pytest.mark.parametrize("shape", HUGE)
def test_a_large_trace_ends_in_its_part_of_the_time(shape):
    assert seconds(HUGE[shape](random.Random(shape))) < SECONDS


def test_as_many_failures_that_differ_in_trifles_as_are_examined_end_in_time():
    calls = [("get", {"id": at, "of": at % 7}, "Error: no") for at in range(STEPS_LIMIT // 2)]
    assert seconds(calls) < JOB_DEADLINE_SECONDS
