"""Noise in results: what differs between two results of a stuck agent without telling anything."""

from __future__ import annotations

import json

import pytest

from weighbridge.graders.loop import LoopGrader

TOKENS = [
    "1AAABlc9qgcoggP3LpCj33fNEWQww",
    "1AAABlc9quukgbH6s7KHxYddtHtAN",
    "9AXH0vVtAnwZ4sXXjD46TamXNwq45",
    "4AXH0vVucojYOKMAE1BYaQrXWIycN",
]


def is_loop(outputs):
    steps = [
        {
            "id": f"s{at}",
            "type": "tool",
            "name": "click",
            "arguments": {"index": 25},
            "output": output,
        }
        for at, output in enumerate(outputs)
    ]
    result = LoopGrader().grade({"format": "weighbridge", "steps": steps})
    return result["verdict"] == "fail"


@pytest.mark.parametrize(
    "outputs",
    [
        [f"Clicked: View PDF\nCurrent step: {at}/20Current date and time: 2025-03-26 02:0{at}" for at in range(4, 8)],
        [f"* Current step: {at} of 20\n* an empty page" for at in range(4, 8)],
        [f'{{"page": "the form is still there", "current_turn": {at}}}' for at in range(4, 8)],
        [f"The form is still there. Steps remaining: {9 - at}" for at in range(4)],
        [f"examine drier\nObservation {at}: The drier is stuffy." for at in range(9, 13)],
        [f"The form is still there. remaining_steps={9 - at}" for at in range(4)],
        [f"time {at}:\nYou are looking at a wall." for at in range(9, 13)],
        [f"TURN: {at}\nA locked door." for at in range(9, 13)],
        [f"Your score is 0 (total of 350 points), in {at} moves." for at in range(9, 13)],
        [f"URL: https://example.com/sign-in?ssi={token}&hl=de\nPlease sign in to see your orders" for token in TOKENS],
        [f"URL: https://example.com/sign-in?dsh=S{40 + at}8214777%3A17{at}39501882{at}&hl=de\nPlease sign in to see your orders" for at in range(1, 5)],
        [f"Cell In[{at}], line 2\nSyntaxError: unmatched ')'" for at in range(1, 5)],
        [f"The form is still there.\n{4_100 + 37 * at} prompt tokens, {90 - at} completion tokens, $0.0{at}" for at in range(1, 5)],
        [f"The form is still there.\nTokens: {4 + at}.1k sent, {9 - at}k received. Cost: $0.0{at}" for at in range(1, 5)],
        [*["The form is still there.\n"] * 3, "The form is still there.\nThis is your last step, so submit your answer now."],
        [*["The form is still there."] * 3, "The form is still there.\nOnly 4 rounds are allowed, stopping."],
        [f"Try {at}: the form is still there." for at in range(1, 5)],
        [f"The answer was saved to /data/dig_short_example_{mark}.txt" for mark in ("a97d71", "606cd5", "54dfb7", "88b9d8")],
        [f'{{"state": "the form is still there", "render_seconds": {at * 3.1}}}' for at in range(1, 5)],
        [f'{{"state": "the form is still there", "renderSeconds": {at * 3.1}}}' for at in range(1, 5)],
    ],
    ids=["steps and times", "steps", "turns in JSON", "steps left", "observations", "left steps", "game time", "game turns", "moves", "tokens in addresses", "encoded tokens", "cells",
         "use of tokens", "use of tokens, rounded", "last step", "end of the budget", "attempts", "marks in names of files", "seconds", "seconds in camel case"],
)  # fmt: skip
def test_what_a_harness_counts_and_what_a_site_makes_up_is_no_progress(outputs):
    assert is_loop(outputs)


@pytest.mark.parametrize(
    "outputs",
    [
        [f"Step {at}/10 : RUN make part-{at}" for at in range(1, 5)],
        [f"Page {at} of 9 of the orders" for at in range(1, 5)],
        [f"The job is running, step: {at}" for at in range(1, 5)],
        [
            f"URL: https://example.com/find?q=harbour+cafe+{name}"
            for name in ("west", "east", "old", "new")
        ],
        [
            f"URL: https://example.com/find?q=3%20best%20{name}%20cafes%20of%20the%20harbour"
            for name in ("west", "east", "old", "new")
        ],
        [f"{at} items remaining in the queue" for at in (9, 7, 4, 1)],
        [f"{at} total tokens in the file" for at in (900, 700, 400, 100)],
        [f'{{"status": "processing", "processed_seconds": {30 * at}}}' for at in range(1, 5)],
        [f'{{"status": "waiting", "retryAfterSeconds": {60 - at}}}' for at in range(1, 5)],
        [
            f"Please work on the ticket in queue/ticket_{mark}.json next"
            for mark in ("a97d71", "606cd5", "54dfb7", "88b9d8")
        ],
        [f"Saved.\nThe last step took the {way} way" for way in ("long", "short", "old", "new")],
    ],
    ids=[
        "steps of a build",
        "pages",
        "steps of a job",
        "queries",
        "encoded queries",
        "items",
        "tokens of a file",
        "seconds that were processed",
        "seconds to wait",
        "tickets",
        "a step that is described",
    ],
)
def test_what_advances_is_progress(outputs):
    assert not is_loop(outputs)


@pytest.mark.parametrize(
    "duration",
    [
        '"metadata":{{"exit_code":1,"duration_seconds":{0}.{1}}}',
        '"duration_s": {0}.{1}',
        '"duration_ms": {0}{1}',
        '"durationInMs": {0}{1}',
        '"executionTimeSeconds": {0}.{1}',
        '"avg_response_time_s": {0}.{1}',
        '"llm_call_duration_s": {0}.{1}',
        '"wallTimeSeconds": {0}.{1}',
        '"serverProcessingTimeSeconds": {0}.{1}',
        '"runtime": {0}.{1}',
        '"wall_clock_secs": "{0}.{1}"',
        '"time_taken": "0:0{0}"',
        '"took_millis": {0}{1}',
        '"duration": {{"secs": {0}, "nanos": {1}817}}',
        '"body": "{{\\"ok\\": false, \\"latency_ms\\": {0}{1}, \\"at\\": \\"pier\\"}}"',
        '"body": "{{\\"ok\\": false, \\"created_at\\": \\"2026-03-0{0}T10:1{1}\\"}}"',
    ],
)
def test_a_duration_beside_other_fields_is_noise_whatever_its_unit_and_nesting(duration):
    times = [(3, 5), (1, 9), (4, 2), (2, 7)]
    outputs = [f'{{"state": "shut", {duration.format(*time)}}}' for time in times]
    assert is_loop(outputs)
    assert is_loop([json.loads(output) for output in outputs])


@pytest.mark.parametrize(
    "count",
    [
        '"estimated_wait_time_seconds": {}',
        '"remainingTimeSeconds": {}',
        '"time_left_ms": {}',
        '"times": {}',
        '"time": {{"slot": "{}", "pier": 7}}',
        '"body": "{{\\"remaining_time\\": {}}}"',
        '"duration_minutes": {}15',
        '"runtime": {}15',
        '"processed_duration_s": {}5',
        '"videoTimeSeconds": {}5',
        '"flight_duration_s": {}500',
        '"total_flight_duration_s": {}500',
        '"totalFlightTimeSeconds": {}500',
    ],
)
def test_a_time_that_remains_a_count_of_times_and_the_length_of_a_thing_are_no_noise(count):
    assert not is_loop([f'{{"state": "shut", {count.format(number)}}}' for number in (9, 7, 4, 2)])


def test_results_with_too_many_numbers_to_compare_are_not_the_same():
    rows = [" ".join(str(at + row * 7) for row in range(1_100)) for at in range(5)]
    assert not is_loop(rows)


def test_a_call_that_fails_with_one_error_is_a_loop_whatever_else_is_on_the_page():
    error = "TimeoutError: click: another element intercepts pointer events at (30, 40)"
    short = "TimeoutError"

    def clicks(error):
        return [
            {
                "id": f"s{at}",
                "type": "tool",
                "name": "click",
                "arguments": {"index": 25},
                "output": f"slider 'now playing' value={5 * at}",
                "error": error,
            }
            for at in range(4)
        ]

    def verdict(steps):
        return LoopGrader().grade({"format": "weighbridge", "steps": steps})["verdict"]

    assert verdict(clicks(error)) == "fail"
    assert verdict(clicks(error)[:3]) == "pass"
    assert verdict(clicks(short)) == "pass"


@pytest.mark.parametrize(
    "link",
    [
        "([view file](contents/a-{}0bb57a{}.ts))",
        "![page](shots/1764390000{}.png)",
        "[a.ts](a-{}.ts).",
    ],
)
def test_another_link_in_place_of_what_was_read_is_another_result(link):
    assert not is_loop([link.format(at, at) for at in range(5)])
    assert is_loop([link.format(1, 1)] * 5)


@pytest.mark.parametrize(
    "refusal",
    [
        "HTTP 429 Too Many Requests, retry-after: {}",
        "Wrong PIN (failed logins: {})",
        "refused, errors so far: {}",
        "pier 0/1 CrashLoopBackOff {} (10s ago)",
        "the pod failed, restarts: {}",
    ],
)
def test_what_counts_failures_is_no_progress(refusal):
    assert is_loop([refusal.format(at) for at in range(3, 15)])
