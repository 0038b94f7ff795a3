"""Texts in other words to which the environment answers with the same state, or with the same prompt to continue."""

from __future__ import annotations

from time import process_time

import pytest

from weighbridge.graders.loop import LoopGrader

CELL = "North: a wall. East: a corridor of one meter that ends at a wall. South: a wall. West: a wall. Your move?"
THOUGHTS = (
    *("Perhaps the east is a dead end, so S", "I have not been in the west yet: W"),
    *("Let me try the other way round. N", "The compass points north, I follow it. N"),
    *("South again, something may have opened. S", "A good explorer keeps left, which is W"),
    *("I count the corridors first. There is one. S", "Back to where I came from, if I can. W"),
    *("None of the walls moved. I go N", "Once more in the direction of the sun. S"),
)


def verdict(replies):
    steps = [
        {"type": "user", "output": "Find the exit of the maze, and answer with a direction."},
        *(
            step
            for thought, reply in zip(THOUGHTS, replies, strict=False)
            for step in ({"type": "llm", "output": thought}, {"type": "user", "output": reply})
        ),
    ]
    given = [{"id": f"s{at}", **step} for at, step in enumerate(steps, 1)]
    return LoopGrader(config={}).grade({"format": "weighbridge", "steps": given})["verdict"]


def test_one_state_described_nine_times_is_a_loop_whatever_the_agent_says():
    assert verdict([CELL] * 8) == "pass"
    assert verdict([CELL] * 9) == "fail"


@pytest.mark.parametrize(
    "replies",
    [
        [CELL.replace("one meter", f"{number} meters") for number in range(2, 11)],
        [*[CELL] * 4, CELL.replace("East: a corridor", "West: a corridor"), *[CELL] * 4],
        ["Please continue with the task on whatever approach you think is suitable for the user."]
        * 9,
        ["Yes."] * 9,
    ],
    ids=["other numbers", "another state between", "prompts to continue", "short answers"],
)
def test_other_states_and_prompts_are_no_loop(replies):
    assert verdict(replies) == "pass"


GO_ON = "Please proceed to the next step using your best judgment."
CLOSINGS = (
    "With the server out of reach, we have come to the end of what can be done here. Keep practising!",
    "Having summed up all approaches, I conclude our session with three tips: read, build, and share.",
    "As there are no further questions, the notes above are the outcome. May they serve you well.",
    "It was a pleasure to explore this with you. I wish you every success with the next puzzle.",
    "The exercise has been completed as far as this environment allows. Farewell!",
    "We have reached a natural stopping point, so nothing remains but to thank you.",
)
CHAPTERS = (
    "Chapter 1. The ferry left the harbour before dawn, and Ida was the only passenger on deck.",
    "Chapter 2. On the island nobody had expected her. The lighthouse stood empty, its door unlocked.",
    "Chapter 3. The keeper's book ended in the middle of a word, and the ink had hardly dried.",
    "Chapter 4. At low tide she found the steps that led below the rock, just as the map had said.",
    "Chapter 5. The lamp went out. When the ferry whistled, she had come to the end of the passage.",
    "Chapter 6. They never asked what she carried home. The lighthouse has been lit ever since.",
)


def kinds(said, prompts=()):
    steps = [{"type": "user", "output": "Solve the puzzle on the server at port 9000."}]
    for at, text in enumerate(said):
        prompt = prompts[at % len(prompts)] if prompts else GO_ON
        steps += [{"type": "llm", "output": text}, {"type": "user", "output": prompt}]
    given = [{"id": f"s{at}", **step} for at, step in enumerate(steps[:-1], 1)]
    result = LoopGrader(config={}).grade({"format": "weighbridge", "steps": given})
    return [(loop["kind"], len(loop["step_ids"])) for loop in result["details"]["loops"]]


def test_five_closing_statements_on_the_same_prompt_to_continue_are_a_loop():
    assert kinds(CLOSINGS[:5]) == [("refused", 5)]
    assert kinds(CLOSINGS[:4]) == []
    assert kinds([*CHAPTERS[:3], *CLOSINGS]) == [("refused", 6)]


def test_a_closing_phrase_may_stand_at_the_end_of_a_long_text():
    summary = "The table lists each of the attempts, its time and its outcome. " * 12
    texts = [f"{at}. {summary}{closing}" for at, closing in enumerate(CLOSINGS[:5])]
    assert kinds(texts) == [("refused", 5)]


@pytest.mark.parametrize(
    "said",
    [
        pytest.param(CHAPTERS, id="chapters"),
        pytest.param([*CLOSINGS[:2], *CHAPTERS[:2], *CLOSINGS[2:4], CHAPTERS[3], *CLOSINGS[4:]],
                     id="twice"),
        pytest.param([f"Step {at} of 9 is complete: table {at} was moved. Next comes table {at + 1}."
                      for at in range(1, 9)], id="steps that are done"),
    ],
)  # fmt: skip
def test_texts_that_go_on_as_they_were_prompted_are_no_loop(said):
    assert kinds(said) == []


def test_closing_statements_that_answer_different_users_are_no_loop():
    thanks = [
        "Thanks. Please continue with the parcels that are still in the depot at the harbour.",
        "Well done. Proceed with the letters for the island, which have to leave before noon.",
        "And now keep going with the invoices, of which each has to be checked by two people.",
    ]
    assert kinds(CLOSINGS, thanks) == []
    in_turn = [prompt for other in thanks * 2 for prompt in (GO_ON, other)]
    assert kinds([*CLOSINGS, *CLOSINGS[:4]], in_turn) == []


QUESTION = "Who lives on the island today, and since when?"


def test_closing_statements_that_answer_a_question_are_no_loop():
    assert kinds(CLOSINGS, [QUESTION]) == []
    asked_once = [GO_ON] * 3 + [QUESTION] + [GO_ON] * 4
    assert kinds([*CLOSINGS, *CLOSINGS[:2]], asked_once) == []


def test_a_closing_statement_before_a_call_does_not_count():
    steps = []
    for text in CLOSINGS[:4]:
        steps += [{"type": "llm", "output": text}, {"type": "user", "output": GO_ON}]
    work = {"type": "tool", "name": "run", "arguments": {"command": "make"}, "output": "built"}
    steps += [{"type": "llm", "output": CLOSINGS[4]}, work]
    given = [{"id": f"s{at}", **step} for at, step in enumerate(steps, 1)]
    result = LoopGrader(config={}).grade({"format": "weighbridge", "steps": given})
    assert result["details"]["loops"] == []


def test_closing_statements_with_work_between_are_no_loop():
    work = {"type": "tool", "name": "run", "arguments": {"command": "make"}, "output": "built"}
    steps = []
    for text in CHAPTERS[:4]:
        steps += [{"type": "llm", "output": text}, {"type": "user", "output": GO_ON}]
    for at, text in enumerate(CLOSINGS):
        call = {**work, "arguments": {"command": f"make part{at}"}, "output": f"built part {at}"}
        steps += [{"type": "llm", "output": text}, {"type": "user", "output": GO_ON}, call]
    given = [{"id": f"s{at}", **step} for at, step in enumerate(steps, 1)]
    result = LoopGrader(config={}).grade({"format": "weighbridge", "steps": given})
    assert result["details"]["loops"] == []


MISSING = (
    "The problem does not provide enough information to determine how many miles Lynn ran.",
    "I cannot continue without the distance that relates Lynn's run to that of the others.",
    "It is not possible to calculate the miles: we need additional information on her run.",
    "As stated before, it is impossible to proceed with the facts that were given here.",
    "I must apologize, but there is insufficient data for any answer to be determined.",
    "Without further details of Lynn's distance, this cannot be solved by anybody.",
)
CONTINUE = "Continue. Please keep solving the problem until you need to query."


def by_proxy(answers, proxy="mathproxy", prompt=CONTINUE):
    """Return the verdict on a chat in which a user's proxy speaks as a model after its first message."""
    steps = [{"type": "user", "name": "mathproxy", "output": "How many miles did Lynn run?"}]
    for answer in answers:
        steps += [{"type": "llm", "name": "assistant", "output": answer},
                  {"type": "llm", "name": proxy, "output": prompt}]  # fmt: skip
    given = [{"id": f"s{at}", **step} for at, step in enumerate(steps, 1)]
    result = LoopGrader(config={}).grade({"format": "weighbridge", "steps": given})
    return [(loop["kind"], loop["repeats"]) for loop in result["details"]["loops"]]


def test_who_cannot_go_on_and_is_told_to_continue_by_a_proxy_of_the_user_is_in_a_loop():
    assert by_proxy(MISSING) == [("refused", 6)]
    assert by_proxy(MISSING[:4]) == []


def test_other_answers_to_a_proxy_are_no_loop():
    assert by_proxy(CHAPTERS) == []
    assert by_proxy(MISSING, proxy="verifier", prompt="Here is another idea: use the map.") == []


UNABLE = (
    "I'm currently unable to search the code. From the results so far, `draw_text` is the place.",
    "As a language model, I cannot run searches; what I found before stands: `draw_text`.",
    "I'm sorry, but without new results I can only repeat that `draw_text` unpacks the value.",
    "I am presently not able to look further into the files. The method is `draw_text`.",
    "Unfortunately, there is nothing else that I could examine here besides `draw_text`.",
)


@pytest.mark.parametrize("word", ["precise", "specific", "accurate", "acceptable"])
def test_an_answer_may_be_refused_because_it_is_not_good_enough(word):
    def found(reply, answers=UNABLE):
        steps = []
        for answer in answers:
            steps += [{"type": "llm", "output": answer}, {"type": "user", "output": reply}]
        given = [{"id": f"s{at}", **step} for at, step in enumerate(steps, 1)]
        result = LoopGrader(config={}).grade({"format": "weighbridge", "steps": given})
        return [(loop["kind"], loop["repeats"]) for loop in result["details"]["loops"]]

    assert found(f"The location is not {word}. Search for more information.") == [("refused", 5)]
    assert found(f"The location is not {word}. Search for more information.", CHAPTERS[:5]) == []
    assert found(f"The location is {word}. Search for more information.") == []


NO_CALLS = (
    "No tool calls found in the response. Every response MUST include at least one tool call."
)


@pytest.mark.parametrize("recorded", [True, False], ids=["empty answers", "no answers"])
def test_refusals_of_answers_without_an_action_are_a_loop_although_the_answers_say_nothing(
    recorded,
):
    call = {
        "id": "c",
        "type": "tool",
        "name": "bash",
        "arguments": {"command": "ls"},
        "output": "a",
    }

    def found(count):
        steps = [{"id": "u", "type": "user", "output": "List them."}, call]
        for at in range(count):
            steps += [{"id": f"a{at}", "type": "llm", "output": None}] * recorded
            steps += [{"id": f"u{at}", "type": "user", "output": NO_CALLS}]
        steps += [{"id": "end", "type": "llm", "output": "There is one file: a."}]
        loops = LoopGrader().grade({"format": "weighbridge", "steps": steps})["details"]["loops"]
        return [(loop["kind"], loop["repeats"], loop["step_ids"][0]) for loop in loops]

    assert found(9) == [("refused", 9, "a0" if recorded else "u0")]
    assert found(3) == []


@pytest.mark.parametrize("heading", ["Tool results: ", "Function outputs:\n"])
def test_a_heading_without_results_of_tools_says_that_nothing_was_done(heading):
    assert verdict([heading] * 4) == "fail"
    assert verdict([heading] * 3) == "pass"
    results = ("a wall", "a door", "a cat", "a cup")
    assert verdict([f"{heading} {result}" for result in results]) == "pass"


@pytest.mark.parametrize("reply", ["Observation:\n", "Output:", "Result: []", "Tool response: {}"])
def test_an_action_may_have_no_output(reply):
    assert verdict([reply] * 6) == "pass"


@pytest.mark.parametrize(
    "wish",
    [
        "Please help, I want you to change the names of all classes in the files from dashes to capitals.",
        "Here is the next file of the project: show me how its classes are called without any dashes in them.",
        "Use the index only.\n\nSearch my drive, and find all documents that are related to the strategy of last year.",
        "Please summarise the minutes of the meeting in ten lines, and name who has to do what until when.",
    ],
)
def test_a_wish_that_the_user_sends_again_for_each_of_several_things_is_no_state(wish):
    assert verdict([wish] * 9) == "pass"


@pytest.mark.parametrize(
    "state",
    [
        "Search results for 'hammer', page 1 of 1: no product matches. Buttons: [Back to Search], [Next], [Previous].",
        "List of exits: north is a wall, east is a corridor of one meter, south is a wall, west is a wall. Your move?",
        "Update: the door is still locked, the window is still closed, and the cat is still asleep. What do you do?",
        "make: *** No rule to make target 'all'. Stop. The build has left the folder as it was, with nothing in it.",
    ],
)
def test_a_state_may_begin_with_a_word_of_orders(state):
    assert verdict([state] * 9) == "fail"


FORMAT = "Please always provide EXACTLY ONE action in triple backticks, found 0 actions."
PLANS = (
    "I will restore the missing method by inserting it before the next one.",
    "The registry still lacks what the extension asks for, so I add it.",
    "A small patch will do: read the file, look for the class, write it.",
    "To move forward I make sure that the method exists before it is used.",
    "This time the patch goes in at the end of the class instead.",
    "The builder is not known yet, which the next patch takes care of.",
)


def patched(refused_after, count=6):
    """Return rounds with a refused plan and then some commands that bring something new."""
    steps = []
    for at in range(count):
        steps += [{"type": "llm", "output": PLANS[at]}, {"type": "user", "output": FORMAT}]
        for look in range(refused_after):
            called = {"command": f"sed -n {at + 10 * look}p registry.py"}
            steps.append({"id": f"m{at}{look}", "type": "llm", "output": ""})
            steps.append(
                {
                    "type": "tool",
                    "name": "bash",
                    "parent_id": f"m{at}{look}",
                    "arguments": called,
                    "output": f"def method_{at}_{look}(self):",
                }
            )
    return [{"id": f"s{at}", **step} for at, step in enumerate(steps)]


def found_in(steps):
    result = LoopGrader().grade({"format": "weighbridge", "steps": steps})
    return [(loop["rule"], loop["steps"]) for loop in result["details"]["loops"]]


def test_answers_that_lack_an_action_again_and_again_are_a_loop_although_others_act():
    assert found_in(patched(1)) == [("refused_between_actions", 6)]
    assert found_in(patched(1, count=5)) == []
    assert found_in(patched(2)) == []


def test_answers_to_several_requests_that_lack_an_action_once_each_are_none():
    asked = [{"type": "user", "output": each} for each in ("Where does the river begin?", "Book a table for four.", "What did I order in May?", "Cancel the newspaper.", "Who wrote it?", "Is there a night train?")]  # fmt: skip
    rounds = [patched(1)[4 * at : 4 * at + 4] for at in range(6)]
    steps = [step for ask, each in zip(asked, rounds, strict=True) for step in (ask, *each)]
    assert found_in([{**step, "id": f"t{at}"} for at, step in enumerate(steps)]) == []


def test_many_kinds_of_refusals_are_compared_in_time_that_grows_with_their_number():
    steps = []
    for at in range(3_000):
        word = "".join(chr(97 + int(digit)) for digit in str(at))
        for _ in range(6):
            steps.append({"type": "llm", "output": f"I think about {word} and what {at} is"})
            steps.append({"type": "user", "output": f"{word}: {FORMAT}"})
    began = process_time()
    found_in([{"id": f"s{at}", **step} for at, step in enumerate(steps)])
    assert process_time() - began < 5
