"""The parts of the loop grader that are judged best alone: rows of numbers, results, texts."""

from __future__ import annotations

import random

import pytest

from weighbridge.graders.loop.arguments import Arguments
from weighbridge.graders.loop.cycles import Crowding, Stretch, crowded, repeats
from weighbridge.graders.loop.outcomes import Outcome
from weighbridge.graders.loop.wording import lists_items


def repeats_by_definition(row, period):
    found = []
    start = 0
    while start + period < len(row):
        end = start + period
        while end < len(row) and row[end] == row[end - period]:
            end += 1
        if end > start + period:
            found.append(Stretch(start, end))
            start = end - period + 1
        else:
            start += 1
    return found


def crowded_by_definition(row, limits):
    found = []
    for end in range(limits.window, len(row) + 1):
        part = row[end - limits.window : end]
        held = sum(part.count(number) >= limits.least_often for number in part)
        if min(part) < 0 or len(set(part)) > limits.most_different or held < limits.least_repeated:
            continue
        start = end - limits.window
        if found and start <= found[-1].end:
            found[-1] = Stretch(found[-1].start, end)
        else:
            found.append(Stretch(start, end))
    return found


def test_repeats_are_those_of_the_definition():
    rng = random.Random("repeats")
    for _ in range(2_000):
        row = [rng.randrange(rng.choice((2, 3, 9))) for _ in range(rng.randint(0, 25))]
        period = rng.randint(1, 6)
        assert list(repeats(row, period)) == repeats_by_definition(row, period)


def test_crowded_stretches_are_those_of_the_definition():
    rng = random.Random("crowded")
    for _ in range(2_000):
        row = [rng.randrange(-1, rng.choice((3, 5, 9))) for _ in range(rng.randint(0, 40))]
        row = [number if number >= 0 else -place - 1 for place, number in enumerate(row)]
        limits = Crowding(
            rng.randint(2, 10), rng.randint(1, 10), rng.randint(1, 4), rng.randint(1, 8)
        )
        assert crowded(row, limits) == crowded_by_definition(row, limits)


FAILED = [
    "Error: no such file",
    "ValueError: bad value",
    "\n  Traceback (most recent call last):\n",
    "bash: foo: command not found",
    "HTTP 503 Service Unavailable",
    "404 Not Found",
    '{"error": "timeout"}',
    '{"success": false, "message": "no"}',
    '{"status": "error"}',
    '{"output": "", "exit_code": 2}',
    "Login failed: wrong password.",
    "The file a.py does not exist.",
    "<tool_use_error>no</tool_use_error>",
    "fatal: not a git repository",
]
FINE = [
    "",
    "0 errors found",
    "ok",
    '{"error": null, "items": []}',
    '{"error": "", "items": []}',
    '{"exit_code": 0}',
    '{"success": true}',
    "A chapter on error handling",
    "The answer is 404.",
    "errors.py\nfailures.py",
]


@pytest.mark.parametrize("text", FAILED)
def test_a_result_that_says_so_has_failed(text):
    assert Outcome(text).has_failed


@pytest.mark.parametrize("text", FINE)
def test_a_result_that_only_speaks_of_failure_has_not(text):
    assert not Outcome(text).has_failed


def test_an_error_of_the_step_is_a_failure_and_its_result_where_there_is_no_other():
    assert Outcome("fine", "it broke").has_failed
    assert Outcome(None, "it broke").text == "it broke"
    assert Outcome(None).text is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("done at 2025-01-02T03:04:05Z ok", "done at 2026-11-12T13:14:15.678+02:00 ok"),
        ("built on 3 March 2025", "built on 14 Apr 2026"),
        ("at 10:15 pm all is well", "at 9:01 am all is well"),
        ("took 0.53s in all", "took 12 ms in all"),
        ('{"a": 1, "createdAt": "x"}', '{"a": 1, "createdAt": "y"}'),
        ('{"a": 1, "trace_id": "x"}', '{"a": 1, "trace_id": "y"}'),
        ("commit 881ed162 is the head of it", "commit cb5c7427 is the head of it"),
        ("it is 1735689600 seconds since then", "it is 1767225600 seconds since then"),
    ],
)
def test_times_durations_and_ids_are_noise(one, other):
    assert Outcome(one).steady == Outcome(other).steady


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("decoded 12 frames", "decoded 24 frames"),
        ("30s left", "20s left"),
        ("ETA: 30s", "ETA: 20s"),
        ("flight HAT123", "flight HAT124"),
        ("deadbeef01", "deadbeef02"),
        ("state: queued", "state: done"),
        ("the format: a", "the format: b"),
    ],
)
def test_what_a_result_tells_is_no_noise(one, other):
    assert Outcome(one).steady != Outcome(other).steady


def test_an_echo_of_what_was_asked_is_left_out_of_a_short_result():
    one = Outcome("No results for 'Red House'.", None, {"q": "red house"})
    other = Outcome("No results for 'red  car'.", None, {"q": "red  car"})
    assert one.text == other.text == "No results for '…'."
    assert Outcome("house " * 100, None, {"q": "house"}).text == "house " * 100


def test_equal_arguments_have_one_gist_and_different_digits_another():
    assert Arguments({"q": "Red House"}).gist == Arguments({"q": " red  house. "}).gist
    assert Arguments({"q": "1 5"}).gist != Arguments({"q": "15"}).gist
    assert Arguments({"q": "1.5"}).gist != Arguments({"q": "15"}).gist


def test_a_list_is_one_sentence_with_another_item_each_time():
    assert lists_items([f"the price of {item} today" for item in ("ants", "bees", "cats")])
    assert lists_items([f"{item} costs more than {item} did" for item in ("ants", "bees", "cats")])
    assert not lists_items(["one thing", "one thing", "another thing"])
    assert not lists_items(["go on", "go on now", "please go on", "do go on"])
    assert not lists_items(["red big house", "big red house", "house red big"])
