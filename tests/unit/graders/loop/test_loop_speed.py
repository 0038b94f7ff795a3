"""The loop grader does work proportional to a trace's size, for all shapes of traces."""

from __future__ import annotations

import random
import string
import sys
import time

import pytest

from weighbridge.graders.loop import LoopGrader, judgement
from weighbridge.traces import Step, Trace

pytestmark = pytest.mark.slow

GRADER = LoopGrader()
SECONDS = 2.5  #: for what takes tens of milliseconds, on a machine that is busy


def words(rng, characters):
    made, length = [], 0
    while length < characters:
        made.append("".join(rng.choice(string.ascii_lowercase) for _ in range(rng.randint(3, 9))))
        length += len(made[-1]) + 1
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
    return [rng.choice(kinds)() for _ in range(count)]


#: Functions of the number of calls.
LONG = {
    "ordinary work": ordinary,
    "equal calls": lambda count: [("get", {"id": 1}, "x")] * count,
    "different calls": lambda count: [("get", {"q": f"{at:x}"}, f"{at:x}") for at in range(count)],
    "results of one call": lambda count: [("get", {"id": 1}, f"item {at}") for at in range(count)],
    "failures that come back after a long time": lambda count: [
        ("get", {"id": at % (count // 10)}, "Error: no") for at in range(count)
    ],
    "failures that differ in trifles": lambda count: [
        ("get", {"id": at, "of": at % 7}, "Error: no") for at in range(count)
    ],
    "failures of three kinds": lambda count: [
        ("get", {"id": at % 3}, "Error: no") for at in range(count)
    ],
    "rows of refused edits with other work between": lambda count: [
        (
            "edit",
            {"old": f"a = {at % 10} or b", "of": "b or c"},
            "Error: could not find exact match in x.py",
        )
        if at % 10 < 6
        else ("edit", {"old": f"c{at}", "of": f"d{at}"}, f"edited\nline {at}\nof the file")
        for at in range(count)
    ],
    "edits that are undone": lambda count: [
        ("edit", {"path": "a", "old": f"x{at % 2}", "new": f"x{(at + 1) % 2}"}, "done")
        if at % 9
        else ("bash", {"command": "git checkout a"}, f"Updated {at} paths")
        for at in range(count)
    ],
    "steps with a look now and then": lambda count: [
        ("forward", {"metres": 1}, "ok") if at % 6 else ("get_pose", {}, f"x={at}")
        for at in range(count)
    ],
    "notes in known words": lambda count: [
        ("save_note", {"text": f"fee {at % 7} of {at % 5}"}, f"saved n_{at}") for at in range(count)
    ],
    "screens in turns": lambda count: [
        (
            "click",
            {"x": at},
            f"The page {at % 4 if at % 50 else at} of the list is shown\nwith rows",
        )
        for at in range(count)
    ],
    "failures with known results between": lambda count: [
        ("get", {"id": at}, "Error: no") if at % 2 else ("look", {"id": at}, "It is as before.")
        for at in range(count)
    ],
    "commands of options": lambda count: [
        ("bash", {"command": " -a" * 50 + str(at)}, "Error: no") for at in range(count // 10)
    ],
    "a few commands of many options": lambda count: [
        ("bash", {"command": " -a" * (count // 4) + str(at)}, "Error: no") for at in range(10)
    ],
}


def lines_run(calls):
    """Return the number of lines of Python run during grading, which is the same on any machine."""
    trace, count = trace_of(calls), 0

    def counted(_frame, _event, _value):
        nonlocal count
        count += 1
        return counted

    tracing = sys.gettrace()
    sys.settrace(counted)
    try:
        GRADER.grade(trace)
    finally:
        sys.settrace(tracing)
    return count


@pytest.mark.parametrize("shape", LONG)
def test_ten_times_the_calls_run_about_ten_times_as_many_lines(shape, monkeypatch):
    # A run that fails is searched again, at most as often as its length allows.
    monkeypatch.setattr(judgement, "searches_for", lambda *_: 0)
    few, many = LONG[shape](60), LONG[shape](600)
    # Afterwards, none of the few calls is among the last ones that are remembered.
    GRADER.grade(trace_of(many))
    ran = lines_run(few)
    assert ran > 5_000
    assert lines_run(many) <= 11 * ran


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
}


@pytest.mark.parametrize("shape", HUGE)
def test_calls_with_a_million_characters_end_in_time(shape):
    trace = trace_of(HUGE[shape](random.Random(shape)))
    started = time.process_time()
    GRADER.grade(trace)
    assert time.process_time() - started < SECONDS


#: Many short calls, each of which a pattern could take long for.
MANY = {
    "reads of names of many letters": [
        ("read_file", {"file": "abcdefghij" * 190 + str(at)}, "x") for at in range(600)
    ],
    "failures that name many places": [
        call
        for at in range(1_000)
        for call in (
            ("bash", {"command": f"sed -i s/{at}/b/ a.py"}, ""),
            (
                *("bash", {"command": "pytest"}),
                "\n".join(
                    f"file.py:{at * row % 9999}: error: failed to compile the thing"
                    for row in range(200)
                ),
            ),
        )
    ],
    "things made with many new ids": [
        call
        for at in range(1_000)
        for call in (
            ("create_issue", {"t": "x"}, " ".join(f"a{at * word % 997}b" for word in range(300))),
            ("bash", {"command": "make"}, "error: failed to build the thing, cannot go on"),
        )
    ],
}


@pytest.mark.parametrize("shape", MANY)
def test_many_calls_that_patterns_are_searched_in_end_in_time(shape):
    trace = trace_of(MANY[shape])
    started = time.process_time()
    GRADER.grade(trace)
    assert time.process_time() - started < SECONDS


@pytest.mark.parametrize("letter", ["x", "é", "中"])
def test_results_of_one_long_word_take_no_longer(letter):
    run = trace_of([("f", {"q": "abc"[at % 3]}, letter * 48_000) for at in range(12)])
    start = time.process_time()
    GRADER.grade(run)
    assert time.process_time() - start < SECONDS
