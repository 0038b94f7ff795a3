"""Texts in other words to which the environment answers with the same refusal."""

from __future__ import annotations

from time import process_time

import pytest

from weighbridge.graders.loop import LoopGrader

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


CHAPTERS = (
    "Chapter 1. The ferry left the harbour before dawn, and Ida was the only passenger on deck.",
    "Chapter 2. On the island nobody had expected her. The lighthouse stood empty, its door unlocked.",
    "Chapter 3. The keeper's book ended in the middle of a word, and the ink had hardly dried.",
    "Chapter 4. At low tide she found the steps that led below the rock, just as the map had said.",
    "Chapter 5. The lamp went out. When the ferry whistled, she had come to the end of the passage.",
    "Chapter 6. They never asked what she carried home. The lighthouse has been lit ever since.",
)
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


MOVES = ("Wiggle", "Wiggle a lot", "Wiggle the left toe", "Wiggle and hum", "Wiggle back", "Wiggle east", "Wiggle in time", "Wiggle like a fish", "Wiggle again", "Wiggle harder", "Wiggle slowly", "Wiggle twice")  # fmt: skip


def moves(reply, count=12):
    return [
        {"id": f"s{at}{kind}", "type": kind, "output": text}
        for at, move in enumerate(MOVES[:count])
        for kind, text in (("llm", move), ("user", reply))
    ]


def test_twelve_moves_with_one_reply_are_a_loop():
    parser = "I only understood you as far as wanting to wiggle."
    assert found_in(moves(parser)) == [("same_reply", 12)]
    assert found_in(moves(parser, 11)) == []
    assert found_in([*moves(parser, 6), *moves("You can't see any such thing here.")[12:]]) == []


@pytest.mark.parametrize("reply", ["Go on.", "continue", "ok"])
def test_prompts_between_moves_say_nothing_of_them(reply):
    assert found_in(moves(reply)) == []


def test_a_user_who_orders_the_same_for_each_file_gets_longer_answers():
    steps = moves("Please rename the classes of this file to camelCase.")
    for at, step in enumerate(steps):
        if step["type"] == "llm":
            step["output"] = (
                f"I renamed the classes of file {at}: " + " ".join(MOVES[at // 2 :]) * 3
            )
    assert found_in(steps) == []


@pytest.mark.parametrize(
    "order", ["Name one more thing that could go wrong.", "Error: name taken. Suggest another."]
)
def test_what_came_before_the_first_answer_too_is_an_order_and_no_reply(order):
    steps = moves(order)
    assert found_in(steps) != []
    assert found_in([{"id": "first", "type": "user", "output": order}, *steps[:-1]]) == []


FIXES = ("I import the clock.", "Remove the import of the clock.", "Now the clock is a class.", "The clock goes first.", "I check the clock's name.", "Install the clock again.")  # fmt: skip


def after_tests(reports, fixes=FIXES):
    """A fix and what the program printed after it, with a summary of the report between."""
    return [
        {"id": f"{kind}{at}", "type": kind[:-1], "output": text}
        for at, (fix, report) in enumerate(zip(fixes, reports, strict=False))
        for kind, text in (
            ("llm1", fix),
            ("other2", report),
            ("llm3", f"The report number {at} is about {fix.lower()[:-1]} of the tower."),
        )
    ]


def test_one_failure_that_a_program_reports_after_each_answer_is_a_loop():
    error = "An error occurred: module 'clock' has no attribute 'hours'"
    assert [rule for rule, _ in found_in(after_tests([error] * 5))] == ["reported_again"]
    assert found_in(after_tests([error] * 4)) == []
    errors = [error.replace("hours", word) for word in ("hours", "days", "weeks", "years", "ticks")]
    assert found_in(after_tests(errors)) == []
    assert found_in(after_tests(["The clock runs and shows 12:00."] * 6)) == []


def test_failures_whose_number_only_falls_are_progress_and_times_are_no_such_number():
    left = "An error occurred: {} of 14 checks of module 'clock' failed"
    assert found_in(after_tests([left.format(number) for number in (11, 8, 5, 3, 1)])) == []
    times = [f"2026-05-04 10:{minute}:00 {left.format(11)}" for minute in (10, 12, 15, 21, 40)]
    assert [rule for rule, _ in found_in(after_tests(times))] == ["reported_again"]
