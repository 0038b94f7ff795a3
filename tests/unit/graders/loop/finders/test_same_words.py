"""Messages in which hardly a word is new: talk without a call that leads nowhere."""

from __future__ import annotations

import random

import pytest

from weighbridge.graders.loop import LoopGrader
from weighbridge.graders.loop.finders.same_words import same_words
from weighbridge.graders.loop.history.actions import Message
from weighbridge.graders.loop.work_budget import Limits, WorkBudget
from weighbridge.traces import Step

PARTS = (
    "we should all keep an eye on the masons",
    "one of the masons might be a werewolf",
    "does anyone have any information to share",
    "please pay close attention to every interaction in this game",
    "they could be working together to deceive the village",
)
WORDS = [f"{a}{b}" for a in ("bel", "cor", "dam", "fen", "gal", "hor") for b in PARTS[0].split()]


def talk(count, seed=1):
    """Return messages that put the same few parts in another order each time."""
    chance = random.Random(seed)
    return [". ".join(chance.sample(PARTS, k=len(PARTS))) for _ in range(count)]


def news(count, new, seed=2):
    """Return messages of twenty words of three letters or more, of which so many were not said before."""
    chance = random.Random(seed)
    said = [f"zz{chr(97 + at // 26)}{chr(97 + at % 26)}" for at in range(20)]
    fresh = (
        f"qq{chr(97 + at // 676)}{chr(97 + at // 26 % 26)}{chr(97 + at % 26)}" for at in range(9999)
    )
    for _ in range(count):
        words = [*chance.sample(said, k=20 - new), *(next(fresh) for _ in range(new))]
        chance.shuffle(words)
        yield " ".join(words)


def kinds(*steps, **config):
    given = [
        {"id": f"s{at}", **(step if type(step) is dict else {"type": "llm", "output": step})}
        for at, step in enumerate(steps, 1)
    ]
    result = LoopGrader(config={"similarity_threshold": 1, **config}).grade(
        {"format": "weighbridge", "steps": given}
    )
    return [(loop["kind"], loop["repeats"]) for loop in result["details"]["loops"]]


def test_more_than_four_times_max_repeats_messages_with_hardly_a_new_word_are_a_loop():
    # The first is all new.
    assert kinds(*talk(14)) == [("same_words", 14)]
    assert kinds(*talk(13)) == []
    assert kinds(*talk(10), max_repeats=2) == [("same_words", 10)]
    named = [
        {"type": "llm", "name": "abc"[at % 3], "output": said} for at, said in enumerate(talk(14))
    ]
    assert kinds(*named) == [("same_words", 14)]


@pytest.mark.parametrize(
    "between",
    [
        {"type": "tool", "name": "look", "output": "a map"},
        {"type": "other", "name": "event", "output": {"tick": 1}},
    ],
)
def test_nothing_else_lies_between_them(between):
    said = talk(20)
    assert kinds(*said[:10], between, *said[10:]) == []


def test_one_word_in_twenty_may_be_new():
    assert kinds(*news(40, 1))[0][0] == "same_words"
    assert kinds(*news(40, 2)) == []


def test_rows_that_overlap_are_one_finding():
    # Of rows of messages, each second one has two new words, so that each second row has enough of them.
    plain, fresh = (list(news(200, new)) for new in (0, 2))
    said = [(plain, fresh)[at % 2][at] for at in range(200)]
    turns = [
        Message(Step(id=f"s{at}", type="llm"), text, number=at) for at, text in enumerate(said)
    ]
    found = [*same_words(turns, Limits(10, 1, 4), WorkBudget())]
    assert 150 < sum(len(finding.indices) for finding in found) <= len(turns)


def test_what_was_said_long_before_is_new_again():
    chance = random.Random(3)
    assert kinds(*[" ".join(chance.sample(WORDS, k=16)) for _ in range(60)]) != []
    lines = [f"{chr(97 + at // 26)}{chr(97 + at % 26)}x" for at in range(960)]
    pages = [" ".join(f"{line}{at}" for line in lines[:16]) for at in "abcdefghijklmnopqrstuvwxyz"]
    longer = [*pages, *[page.upper()[::-1] for page in pages]]
    assert kinds(*longer, *longer) == []
    assert kinds(*pages, *pages) != []


@pytest.mark.parametrize(
    "said",
    [
        lambda at: f"White moves the pawn from {chr(97 + at % 8)}{at % 7} to c{at % 5}.",
        lambda at: f"I can offer you {1_000 + 7 * at} dollars for this car, given its age.",
        lambda at: f"All services are healthy: latency {at * 37 % 91} ms, queue length {at} jobs.",
        lambda at: f"The review {at} is friendly, with a confidence of 0.{at * 53 % 97}.",
    ],
)
def test_other_numbers_are_news(said):
    assert kinds(*map(said, range(30))) == []
    # The same numbers as before, and few for so many words, are none.
    assert kinds(*[text + f" {'I' * (at % 2)}" for at, text in enumerate([said(1)] * 30)]) != []
    assert kinds(*[f"Round {at}. {text}" for at, text in enumerate(talk(30))]) != []


def test_the_evidence_says_how_many_there_may_be():
    steps = [{"id": f"s{at}", "type": "llm", "output": text} for at, text in enumerate(talk(14))]
    result = LoopGrader(config={"similarity_threshold": 1}).grade(
        {"format": "weighbridge", "steps": steps}
    )
    said = result["evidence"][0]
    assert (said["limit"], said["observed"], len(said["step_ids"])) == (12, 13, 14)
    assert "messages with hardly a new word 13 times, limit 12" in said["description"]
