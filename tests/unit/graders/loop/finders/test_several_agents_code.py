"""Code that an agent hands in again in other words, although another agent asks for changes."""

from __future__ import annotations

from weighbridge.graders.loop import LoopGrader

CODE = "\n".join(f"def add_{at}(a, b):\n    return a + b + {at}" for at in range(8))
INTRODUCTIONS = (
    "Sure! Below are the modified files, in the format that you asked for.",
    "Here is the program with the comments of the reviewer worked in.",
    "I have gone through all remarks, and this is what came of it.",
    "The following version takes care of wrong input as suggested.",
    "Thank you for the review. Please find the revised sources here.",
    "All right, this time the messages to the player are clearer.",
    "As requested, the loop ends once the number has been guessed.",
)
REMARKS = (
    "Numbers outside of the range should be refused before they are compared.",
    "The player ought to learn the range at the very beginning of the game.",
    "Please count the attempts only when the input was a number at all.",
    "It would help if the game could be left by typing a single letter.",
    "The greeting and the question might be on lines of their own.",
    "A second class for the display would make this easier to read.",
    "There is no documentation of what the functions return.",
)


def said(name, text):
    return {"type": "llm", "name": name, "output": text}


def handed_in(code=CODE, at=0):
    return said("Programmer", f"{INTRODUCTIONS[at]}\n\n```python\n{code}\n```")


def review(rounds, *, codes=(CODE,) * 7, between=()):
    steps = []
    for at in range(rounds):
        steps += [handed_in(codes[at], at), *between, said("Reviewer", REMARKS[at])]
    return steps


def rules(steps):
    given = [{"id": f"s{at}", **step} for at, step in enumerate(steps, 1)]
    result = LoopGrader().grade({"format": "weighbridge", "steps": given})
    return {loop["rule"]: loop["step_ids"] for loop in result["details"]["loops"]}


def test_the_same_code_in_other_words_is_a_loop_from_twice_max_repeats_on():
    assert rules(review(6)) == {"code_handed_in_again": ["s1", "s3", "s5", "s7", "s9", "s11"]}
    assert rules(review(5)) == {}


def test_code_that_changes_meanwhile_is_none():
    changed = [CODE] * 7
    changed[3] = CODE.replace("a + b", "b + a")
    assert rules(review(7, codes=changed)) == {}


def test_code_that_another_agent_looks_at_each_time_is_none():
    steps = review(7)
    for at, step in enumerate(steps[1::2]):
        step["name"] = f"Reviewer {chr(65 + at)}"
    assert rules(steps) == {}
    steps[-1]["name"] = steps[-3]["name"] = "Reviewer A"
    assert "code_handed_in_again" in rules(steps)
    for at, step in enumerate(steps[1::2]):
        step["name"] = f"Reviewer, round {at}"
    assert "code_handed_in_again" in rules(steps)


def test_code_that_others_look_at_only_once_is_a_loop():
    steps = [handed_in(at=at) for at in range(6)]
    steps[1:1] = [said("Reviewer", REMARKS[0]), said("Tester", REMARKS[1])]
    assert "code_handed_in_again" in rules(steps)


def test_short_code_and_the_code_of_a_single_agent_are_none():
    assert rules(review(7, codes=["print(1)"] * 7)) == {}
    assert rules([handed_in(at=at) for at in range(7)]).keys().isdisjoint({"code_handed_in_again"})


def test_code_that_a_program_answers_or_a_tool_runs_is_none():
    ran = {"type": "user", "output": "exit code 0: the result is ready to be looked at"}
    assert rules(review(7, between=[ran])) == {}
    call = {"type": "tool", "name": "run_tests", "arguments": {}, "output": "3 passed"}
    assert "code_handed_in_again" not in rules(review(7, between=[call]))
