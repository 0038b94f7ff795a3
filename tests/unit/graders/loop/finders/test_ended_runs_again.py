"""Calls with which an agent ends its work again and again: a loop, unless the user asks for more."""

from __future__ import annotations

from weighbridge.graders.loop import LoopGrader

SAID = (
    "The parser keeps comments now, and two tests cover them",
    "Comments are kept by the parser; all tests of the suite pass",
    "Fixed how the parser treats comments, with tests for both kinds",
)


def tool(name, arguments, output):
    return {"type": "tool", "name": name, "arguments": arguments, "output": output}


def finish(at, output=None):
    said = f"{SAID[at % 3]}, as step {at} of {at * 7} shows in the module m{at * at}."
    return tool(
        "finish", {"result": said}, f"[Tool 'finish' output]\n{said}" if output is None else output
    )


def check(at):
    return tool(
        "bash", {"command": f"pytest tests/test_{at}.py"}, f"{at * 3 + 1} passed, as in run {at}"
    )


def rules(steps, **config):
    given = [{"id": f"s{at}", **each} for at, each in enumerate(steps, 1)]
    result = LoopGrader(config=config).grade({"format": "weighbridge", "steps": given})
    return [loop["rule"] for loop in result["details"]["loops"]]


def test_seven_ends_of_one_run_in_other_words_are_a_loop_although_some_work_lies_between():
    assert rules([finish(at) for at in range(7)]) == ["ended_again"]
    assert rules([finish(at) for at in range(6)]) == []
    assert rules([finish(at) for at in range(6)], max_repeats=2) == ["ended_again"]
    worked = [
        step for at in range(9) for step in ((finish(at),) if at % 3 else (check(at), finish(at)))
    ]
    assert rules(worked) == ["ended_again"]


def test_ends_with_as_much_work_between_are_no_loop():
    assert rules([step for at in range(9) for step in (check(at), finish(at))]) == []


def test_an_end_of_each_request_of_the_user_is_no_loop():
    asked = [
        step
        for at in range(9)
        for step in (
            {"type": "user", "output": f"Now module {at}, please: {SAID[at % 3]}"},
            finish(at),
        )
    ]
    assert rules(asked) == []


def test_an_end_that_is_answered_with_what_is_missing_is_no_such_loop():
    told = "Not yet: {} of the cases in the table of module {} still fail, the first of them with a comment in line {}."
    assert rules([finish(at, told.format(90 - 9 * at, at, at * 5)) for at in range(9)]) == []


THINGS = (
    "the ferry timetable for winter has its own page",
    "every cabin shows which beds remain free",
    "refunds reach travellers within three working days",
    "cars longer than six metres pay another fare",
    "dogs travel on deck unless their owner objects",
    "night crossings print luggage tags beforehand",
    "a group gets one invoice instead of many",
    "harbours without staff open gates by phone",
)


def test_ends_of_different_things_are_no_loop():
    told = [tool("finish_subtask", {"summary": text}, "noted") for text in THINGS]
    assert rules(told) == []
    numbered = [tool("complete_task", {"id": at}, f"Task {at} marked complete") for at in range(8)]
    assert rules(numbered) == []
    turns = [tool("end_turn", {}, f"Turn {at} ends. Gold: {13 * at}.") for at in range(3, 11)]
    assert rules(turns) == []
