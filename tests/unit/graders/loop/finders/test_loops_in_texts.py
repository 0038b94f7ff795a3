"""Turns of an agent: equal turns have equal texts and equal calls with equal results."""

from __future__ import annotations

from time import process_time

import pytest

from weighbridge.graders.loop import LoopGrader

SAID = "I look at the order again to see in which state it is at the moment."
OTHER = "Perhaps the parcel is at the customs office, so I ask for its state."


def turn(text, *calls):
    """Return the steps of a turn: a message, and calls of one tool, each with its argument and its result."""
    return [
        {"type": "llm", "output": text},
        *(
            {"type": "tool", "name": "look", "arguments": {"q": asked}, "output": output}
            for asked, output in calls
        ),
    ]


def kinds(*turns, **config):
    steps = [step for each in turns for step in each]
    given = [{"id": f"s{at}", **step} for at, step in enumerate(steps, 1)]
    result = LoopGrader(config={"step_types": ["llm"], **config}).grade(
        {"format": "weighbridge", "steps": given}
    )
    return [(loop["kind"], loop["repeats"]) for loop in result["details"]["loops"]]


def orders(*states):
    return [("order", f"Order 4 is {state}.") for state in states]


ONE = orders("open")
TWO = orders("open", "late")
NEXT = ["packed", "sent", "lost", "found", "here"]


def test_turns_with_equal_calls_and_results_are_a_loop():
    assert kinds(*[turn("", *ONE)] * 5) == [("text", 5)]
    assert kinds(*[turn("", *TWO)] * 5) == [("text", 5)]
    assert kinds(*[turn(SAID, *TWO)] * 5) == [("text", 5)]


def test_a_turn_whose_call_has_another_result_is_another_turn():
    assert kinds(*(turn("", *orders(state)) for state in NEXT)) == []


def test_a_turn_is_another_if_any_of_its_calls_has_another_result():
    assert kinds(*(turn("", *orders("open", state)) for state in NEXT)) == []
    assert kinds(*(turn("", *orders(state, "open")) for state in NEXT)) == []


def test_a_turn_with_a_further_call_is_another_turn():
    assert kinds(turn("", *ONE), turn("", *ONE, *ONE), turn("", *TWO), turn("", *ONE)) == []


def test_equal_calls_after_different_texts_are_different_turns():
    texts = ["", SAID, OTHER, SAID[20:], OTHER[20:]]
    assert kinds(*(turn(text, *ONE) for text in texts)) == []


def said(*texts, ask=None):
    """Return the loops in texts, each after a message of the user if `ask` says what it is."""
    steps = []
    for at, text in enumerate(texts):
        steps += [{"type": "user", "output": ask[at]}] if ask else []
        steps.append({"type": "llm", "output": text})
    given = [{"id": f"s{at}", **step} for at, step in enumerate(steps, 1)]
    result = LoopGrader(config={}).grade({"format": "weighbridge", "steps": given})
    return [(loop["kind"], loop["repeats"]) for loop in result["details"]["loops"]]


def test_two_texts_in_any_order_are_a_loop_if_each_comes_again():
    assert said(SAID, SAID, OTHER, OTHER, SAID, SAID) == [("text_cycle", 4)]
    assert said(SAID, SAID, OTHER, "Or it is lost.", SAID, SAID) == []


def test_votes_of_several_players_may_be_alike():
    votes = [
        f"I vote to eliminate {name}." for name in ["Eve", "Bob", "Bob", "Bob", "Eve", "Bob", "Bob"]
    ]
    assert said(*votes) == []
    assert said(*(vote.replace("I vote", "I want") for vote in votes)) != []


QUESTIONS = [
    *["The leader proposes players 2, 5 and 6. Do you agree?"] * 4,
    *["Which of the players do you suspect of being on the other side?"] * 4,
    *["Who should lead the next quest, and why do you trust this player?"] * 4,
    *["As a member of this quest, do you want it to succeed or to fail?"] * 4,
]
ANSWERS = [
    *("I agree.", "No, I object.", "I agree.", "Agreed, go on."),
    *("Player 3 spoke little.", "Nobody yet.", "Player 6, for the vote.", "It must be player 1."),
    *("Player 2 should.", "I would lead it.", "Player 5, as before.", "Let player 4 try."),
    *["I want it to succeed."] * 4,
]


def test_equal_answers_to_one_question_put_to_several_players_are_no_loop():
    assert said(*ANSWERS, ask=QUESTIONS) == []
    again = [*ANSWERS, "I want it to succeed."]
    assert said(*again, ask=[*QUESTIONS, QUESTIONS[-1]]) == [("text", 5)]


def test_two_agents_who_say_the_same_to_each_other_again_and_again_are_no_players():
    steps = [[{"type": "user", "output": "Build a game of chess."}]]
    drafts = (
        *("The board has eight rows and eight columns.", "Pieces move by rules of their own."),
        *("A king in check must leave it at once.", "Clocks count down from five minutes."),
    )
    for question, said in zip(QUESTIONS[::4], drafts, strict=True):
        names = ("coder", "reviewer") * 2
        steps.append([{"type": "user", "output": question}])
        steps.append([{"type": "llm", "name": names[0], "output": "I begin with the next part."}])
        steps += [[{"type": "llm", "name": name, "output": said}] for name in names]
    assert kinds(*steps) == [("text", 4)] * 4


def test_players_may_give_one_answer_to_three_questions_in_a_row():
    """Some of them answer before the harness asks again, so that a question stands for several answers."""
    same = ["I propose to give seven units for thirteen."] * 12
    steps = [[{"type": "llm", "output": "I am ready to play with all of you."}]]
    for at, (question, answer) in enumerate(zip(QUESTIONS[:12], ANSWERS[:12], strict=True)):
        asked = [{"type": "user", "output": question}] if at % 4 == 0 else []
        steps.append([*asked, {"type": "llm", "output": answer}])
    for at, answer in enumerate(same):
        asked = [{"type": "user", "output": f"Round {at} of proposals"}] if at % 4 == 0 else []
        steps.append([*asked, {"type": "llm", "output": answer}])
    assert kinds(*steps) == []
    assert kinds(*steps, [{"type": "llm", "output": same[0]}]) == [("text", 13)]


def test_equal_answers_to_one_question_alone_are_a_loop():
    assert said(*ANSWERS[-4:], ask=QUESTIONS[-4:]) == [("text", 4)]
    assert said(*ANSWERS[8:], ask=QUESTIONS[8:]) == [("text", 4)]


def test_what_a_harness_shows_as_json_is_no_question_to_players():
    asked = ['{"room": "hall"}' if ask == QUESTIONS[-1] else ask for ask in QUESTIONS]
    assert said(*ANSWERS, ask=QUESTIONS) == []
    assert said(*ANSWERS, ask=asked) != []


PLAN = (
    "We are working to address the following request: prove the theorem of Pythagoras with a diagram. To answer it, we have"
    " assembled a team: a surfer of the web who can search, a coder who can write programs, and a reader of files. The plan: "
)
STEPS = [
    "search three libraries for a picture, and give its address together with its licence",
    "let the coder draw two squares of which one is turned within the other, and save them",
    "ask the reader whether there is a drawing among the files that came with the request",
    "look for a video of the proof, since moving parts explain it better than a still one",
    "fall back to words where nothing can be drawn, and describe each triangle in turn",
    "take the classical arrangement from Euclid, as it needs no algebra to be understood",
    "give the team less time, so that an answer is ready before the request gets too old",
]


def plans(steps, name="orchestrator"):
    return [{"type": "llm", "name": name, "output": PLAN + step} for step in steps]


def test_plans_with_one_long_beginning_are_a_loop_while_nobody_acts():
    assert kinds(plans(STEPS)) == [("same_beginning", 7)]
    assert kinds(plans(STEPS[:6])) == []


def test_plans_with_one_beginning_are_no_loop_if_something_happens_between_them():
    call = {"type": "tool", "name": "search", "arguments": {"q": "proof"}, "output": "a picture"}
    reply = {"type": "llm", "name": "surfer", "output": "I have found a picture, and its licence."}
    asked = {"type": "user", "input": "And now with colours, please."}
    for between in (call, reply, asked):
        assert kinds(plans(STEPS[:3]), [between], plans(STEPS[3:])) == []


def test_answers_of_one_template_to_different_inputs_are_no_loop():
    steps = [{**plan, "input": f"Document {at}"} for at, plan in enumerate(plans(STEPS))]
    assert kinds(steps) == []


def players(*names):
    ready = "I have nothing more to add, and I am ready to vote."
    return [{"type": "llm", "name": name, "output": ready} for name in names]


def test_what_each_of_several_agents_says_once_is_no_loop():
    assert kinds(players("Owen", "Ada", "Gemma", "Jean")) == []
    assert kinds(players("Owen", "Ada", "Owen", "Ada")) == [("text", 4)]
    assert kinds(players(None, None, None, None)) == [("text", 4)]


@pytest.mark.parametrize(
    ("said", "is_loop"), [("hi", False), ("Hello!", False), ("/start", False), ("next", True)]
)
def test_one_answer_to_greetings_is_no_loop(said, is_loop):
    answer = "Hello! I am the assistant of the shop. Which order may I look up for you today?"
    steps = [
        {"id": f"s{at}", "type": kind, "output": text}
        for at, (kind, text) in enumerate([("user", said), ("llm", answer)] * 8)
    ]
    result = LoopGrader().grade({"format": "weighbridge", "steps": steps})
    assert (result["verdict"] == "fail") is is_loop


@pytest.mark.parametrize(
    ("question", "others", "is_loop"),
    [
        ("Which rooms are free today?", 2, False),
        ("Which rooms are free today?", 0, True),
        ("What is your next action?", 2, True),
        ("Book the last free room.", 2, True),
    ],
)
def test_one_answer_to_a_question_that_a_person_repeats_is_no_loop(question, others, is_loop):
    answer = "The rooms that are free today are the blue one, the green one, and the attic."
    other = [
        ("Who booked the hall?", "Ada did."),
        ("Cancel the hall for Monday.", "It is cancelled."),
    ]
    said = [*other[:others], *[(question, answer)] * 5]
    steps = [
        {"id": f"s{at}{kind}", "type": kind, "output": text}
        for at, pair in enumerate([("Good morning.", "Hello, how can I help?"), *said])
        for kind, text in zip(("user", "llm"), pair, strict=True)
    ]
    result = LoopGrader().grade({"format": "weighbridge", "steps": steps})
    assert (result["verdict"] == "fail") is is_loop


def talk(*said, **config):
    """Return the loops in messages of the agent, and of the user if they are pairs."""
    steps = [
        step
        for each in said
        for step in (
            [{"type": "llm", "output": each}]
            if type(each) is str
            else [{"type": "user", "output": each[0]}, {"type": "llm", "output": each[1]}]
        )
    ]
    given = [{"id": f"s{at}", **step} for at, step in enumerate(steps, 1)]
    result = LoopGrader(config=config).grade({"format": "weighbridge", "steps": given})
    return [loop["repeats"] for loop in result["details"]["loops"]]


def game(*said):
    """Return rounds in which the agent first decides whether to speak, each to a new state of the game."""
    history = "Here is the history of the messages so far, with the time of each of them, " * 4
    return [(f"[{at}] {history}{at * at}", each) for at, each in enumerate(said)]  # fmt: skip


def test_one_text_between_decisions_to_speak_is_a_loop():
    rounds = ["<send>", SAID, "<send>", SAID, "<wait>", SAID, "<send>", SAID]
    assert talk(*game(*rounds)) == [4]
    assert talk(*game(*rounds[:6])) == []
    assert talk(*game(*rounds[:6]), max_repeats=2) == [3]


def test_one_text_after_ever_other_short_texts_answers_them():
    names = ["Save", "Cancel", "Delete", "Continue", "Leave", "Sign out"]
    assert talk(*game(*[each for name in names for each in (name, SAID)])) == []


def test_three_rounds_of_one_message_and_one_answer_are_a_loop():
    thanks = "I thank you very much and wish you an excellent day!"
    bye = "You are welcome, and do come back if there is anything else."
    start = ("Please cancel my trip to the island.", "I have cancelled the trip to the island.")
    assert talk(start, *[(thanks, bye)] * 3) == [3]
    assert talk(start, *[(thanks, bye)] * 2) == []
    asked = "Which of the two ferries leaves first tomorrow, and from where?"
    assert talk(start, *[(asked, SAID)] * 3) == []
    assert talk(start, *[("Please continue with the work on the task now.", SAID)] * 3) == []


def test_reports_of_calls_to_requests_of_a_scheduler_are_judged_by_the_calls():
    report = "Backup check: the backup of last night is there and was verified."
    call = {"type": "tool", "name": "list_backups", "arguments": {"since": "24h"}}
    start = {"type": "user", "output": 'A scheduler will send you "[cron] backup check" each hour.'}
    steps = [
        start,
        *(
            step
            for at in range(8)
            for step in (
                {"type": "user", "output": "[cron] backup check"},
                {**call, "output": f"nas full {400 + at} GB"},
                {"type": "llm", "output": report},
            )
        ),
    ]
    given = [{"id": f"s{at}", **step} for at, step in enumerate(steps)]
    assert LoopGrader().grade({"format": "weighbridge", "steps": given})["verdict"] == "pass"
    silent = [step for step in given if step["type"] != "tool"]
    assert LoopGrader().grade({"format": "weighbridge", "steps": silent})["details"]["loops"]


def test_many_questions_that_are_each_asked_again_are_compared_in_linear_time():
    steps = [
        step
        for number in range(1_500)
        for step in (
            {"type": "user", "output": f"What is the price of the ferry number {number} on Sundays?"},
            *turn(f"The ferry number {number} costs {number} euro on each day of the week."),
        ) * 5
    ]  # fmt: skip
    began = process_time()
    assert ("text", 5) not in kinds(steps)
    assert process_time() - began < 3


def typed(
    words, told="Browser Error: port 4711 of localhost refused the connection, is it closed?"
):
    """Return what an agent that guesses words and one that types them say in turns."""
    said = [
        text
        for word in words
        for text in (("guesser", f"My guess is {word}."), ("typist", f"Typing {word}"), ("typist", told.format(word=word)))
    ]  # fmt: skip
    return [
        {"id": f"s{at}", "type": "llm", "name": name, "output": text}
        for at, (name, text) in enumerate(said)
    ]


def test_the_same_failure_reported_by_one_of_several_agents_is_a_loop_with_labels_between():
    def loops(steps):
        given = {"format": "weighbridge", "steps": [{"id": "u", "type": "user", "output": "Play."}, *steps]}  # fmt: skip
        return [loop["rule"] for loop in LoopGrader().grade(given)["details"]["loops"]]

    words = ("crane", "stony", "lumpy", "daisy")
    assert loops(typed(words)) == ["reported_failure"]
    assert loops(typed(words[:3])) == []
    assert loops(typed(words, "The tiles show that none of the letters of {word} is green.")) == []
