"""Progress: a number that only rises or only falls in the results of attempts."""

from __future__ import annotations

import pytest

from weighbridge.graders.loop import LoopGrader
from weighbridge.graders.loop.history.progress import count_one_way


@pytest.mark.parametrize(
    ("counts", "goes_one_way"),
    [
        ((9, 7, 4, 1), True),
        ((1, 4, 7, 9), True),
        ((9, 4, 7, 1), False),
        ((9, 9, 7, 7, 4), True),
        ((9, 9, 7, 7), False),  # half of the attempts changed nothing
        ((9, 9, 9, 9), False),
    ],
)
def test_a_count_goes_one_way_if_most_attempts_change_it(counts, goes_one_way):
    assert count_one_way([f"{count} failed, 20 passed" for count in counts]) is goes_one_way


def test_lines_with_more_or_fewer_numbers_have_no_count_in_common():
    assert not count_one_way(["9 failed, 20 passed", "7 failed", "4 failed"])


@pytest.mark.parametrize("told", ["Report {}", "You are at airport {}.", "entry {}", "country {} of 40", "grid {}", "port {} is open", "paid {}"])  # fmt: skip
def test_a_number_after_a_word_that_ends_like_a_counter_is_progress(told):
    assert verdict(told) == "pass"


@pytest.mark.parametrize("told", ["try {}: busy", "icmp_seq={}", "requestId: {}", "from port 5200{}", "attempt {}"])  # fmt: skip
def test_a_number_that_counts_the_attempts_is_no_progress(told):
    assert verdict(told) == "fail"


def verdict(told):
    steps = [
        {"id": f"s{at}", "type": "tool", "name": "next", "arguments": {"by": 1}, "output": told.format(at)}
        for at in range(1, 9)
    ]  # fmt: skip
    return LoopGrader().grade({"format": "weighbridge", "steps": steps})["verdict"]
