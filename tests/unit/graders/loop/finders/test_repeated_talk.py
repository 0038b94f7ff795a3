"""Talk in circles with replies and calls between, of which none brings anything new."""

from __future__ import annotations

import pytest

from weighbridge.graders.loop import LoopGrader

AGENT = (
    "I am afraid that I could not find that flight, so shall I look at the day before instead?",
    "There is nothing on that day either, so please tell me the number of your reservation again.",
    "Thank you, I will now look at your reservations to find the flight that was delayed.",
)
USER = (
    "Yes, please look at the day before, I only want to know about my compensation.",
    "I do not remember the number, but please look at my reservations for me.",
    "Please go on, I only want to know about my compensation for the delay.",
)


def circles(rounds, between=()):
    """Return rounds in which an agent and a user say the same three things in another order each time."""
    steps = []
    for at in range(rounds):
        for place in ((0, 1, 2), (1, 0, 2), (2, 1, 0), (0, 2, 1))[at % 4]:
            steps += [{"type": "llm", "output": AGENT[place]}, *between]
            steps.append({"type": "user", "output": USER[(place + at) % 3]})
    return steps


def kinds(steps, **config):
    given = [{"id": f"s{at}", **step} for at, step in enumerate(steps, 1)]
    result = LoopGrader(config=config).grade({"format": "weighbridge", "steps": given})
    return {loop["kind"] for loop in result["details"]["loops"]}


def found(date, output="[]"):
    return {"type": "tool", "name": "search", "arguments": {"date": date}, "output": output}


def test_rounds_of_talk_in_known_phrases_are_a_loop():
    assert kinds(circles(4), similarity_threshold=1) == {"same_words"}
    assert kinds(circles(2), similarity_threshold=1) == set()


def test_the_replies_are_counted_and_the_evidence_says_that_they_are_no_steps_of_the_loop():
    steps = [{"id": f"s{at}", **step} for at, step in enumerate(circles(4))]
    config = {"similarity_threshold": 1}
    result = LoopGrader(config=config).grade({"format": "weighbridge", "steps": steps})
    [loop], [entry] = result["details"]["loops"], result["evidence"]
    assert (loop["rule"], entry["observed"] > loop["steps"]) == ("repeated_talk", True)
    assert f"; {loop['steps']} steps, without the replies; " in entry["description"]


@pytest.mark.parametrize("output", ["[]", "", "null", "no flight on that day"])
def test_calls_that_find_nothing_or_what_is_known_may_lie_between(output):
    steps = circles(5)
    for at in range(8, 0, -1):
        steps[2 * at : 2 * at] = [{"type": "llm"}, found(f"2024-05-{at:02}", output)]
    assert "same_words" in kinds(steps, similarity_threshold=1)


@pytest.mark.parametrize(
    "between",
    [
        found("2024-05-01", "HAT228 at 10:15"),
        {"type": "other", "name": "event"},
    ],
)
def test_a_new_result_or_an_event_between_ends_it(between):
    steps = circles(4)
    for at in (20, 14, 8, 2):
        output = {"tick": at} if between["type"] == "other" else f"{between['output']} {at}"
        steps[at:at] = [{"type": "llm"}, {**between, "output": output}]
    assert kinds(steps, similarity_threshold=1) == set()


def test_new_words_of_the_user_are_news():
    steps = circles(4)
    for at, step in enumerate(steps):
        if step["type"] == "user":
            step["output"] = f"What about {chr(97 + at)}bel {chr(98 + at)}cor on {chr(99 + at)}day?"
    assert kinds(steps, similarity_threshold=1) == set()


NAMES = (
    "Apfel",
    "Birne",
    "Kirsche",
    "Pflaume",
    "Traube",
    "Melone",
    "Quitte",
    "Feige",
    "Nuss",
    "Dattel",
    "Olive",
    "Mango",
)


def talk(said, reply, names=NAMES):
    return [
        step
        for at, name in enumerate(names)
        for step in (
            {"type": "llm", "output": said.format(name, at)},
            {"type": "user", "output": reply.format(name, at)},
        )
    ]


@pytest.mark.parametrize(
    "steps",
    [
        talk(
            "Here is your next card: {}. Think about what it means, and say next one please to go on.",
            "Next one please, dear teacher.",
        ),
        talk(
            "The order for the {} can still be cancelled and the money goes back to you. Shall I cancel it?",
            "Yes, please cancel it.",
        ),
        talk(
            "Good answer! The next question of our interview: what do you know about {} and its uses?",
            "I have used it in my last job and know it well.",
        ),
        talk(
            "Is your number greater than {1}? Then say more, or else say less, and I go on to guess.",
            "It is less than that.",
        ),
        talk(
            "I move a disk from the left peg to the right peg, which is move {1} of the puzzle now.",
            "Your move was legal, please make your next move.",
        ),
    ],
    ids=["cards", "confirmations", "interview", "guesses", "puzzle"],
)
def test_one_template_for_many_items_is_no_circle(steps):
    assert kinds(steps, similarity_threshold=1) == set()


def test_a_call_that_changes_something_is_news():
    said = "The file is fine, there is nothing in it that would have to be changed, so I go on with the next."
    steps = [
        step
        for name in NAMES * 2
        for step in (
            {"type": "llm", "output": said},
            {"type": "tool", "name": "mark_reviewed", "arguments": {"file": name}, "output": "ok, done"},
            {"type": "llm", "output": "I have marked the file as reviewed and now I open the next one of the list."},
            {"type": "user", "output": "Very good, please go on with the list."},
        )
    ]  # fmt: skip
    assert "same_words" not in kinds(steps, similarity_threshold=1)


def test_short_answers_of_an_agent_are_labels():
    votes = [
        {"type": kind, "output": said}
        for _ in range(20)
        for kind, said in (("llm", "I vote for the second."), ("user", "Please vote now."))
    ]
    assert kinds(votes, similarity_threshold=1) <= {"text", "text_cycle"}


def test_calls_that_are_loops_tell_it_already():
    steps = circles(5, between=[found("2024-05-01", "HAT228 at 10:15")])
    assert "same_words" not in kinds(steps)
    assert kinds(steps)
