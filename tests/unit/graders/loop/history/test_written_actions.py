"""Actions that an agent writes as text: a value after a label, or an object; repeats of them are loops of calls."""

from __future__ import annotations

import pytest

from weighbridge.graders.loop import LoopGrader
from weighbridge.graders.loop.history.written_actions import action_in, object_in

#: What a game answers to guesses.
ANSWERS = {
    "1234": "Your guess has 0 digits in place and 2 elsewhere (wrong position). Guess again:",
    "1256": "Your guess has 1 digits in place and 1 elsewhere (wrong position). Guess again:",
    "1278": "Your guess has 0 digits in place and 1 elsewhere (wrong position). Guess again:",
}
REFUSED = "API error while performing RESET: SERVER_ERROR. Please choose another action or RESET."
INVALID = "Invalid action payload: the field 'action' is required, and your answer lacks it."


def guess(number, why):
    return f"I think that {why}.\nSo I try other digits.\n\nGUESS: {number}"


def kinds(turns, **config):
    """Return the loops of an agent that only writes, and is answered by the user."""
    messages = [{"role": "user", "content": "Let us play."}]
    for said, answer in turns:
        messages += [{"role": "assistant", "content": said}, {"role": "user", "content": answer}]
    result = LoopGrader(config=config).grade({"messages": messages})
    return [(loop["kind"], loop["steps"]) for loop in result["details"]["loops"]]


def guesses(numbers):
    return [
        (guess(number, f"{at} of {at * 7} ways are left over"), ANSWERS.get(number, f"{at} fit"))
        for at, number in enumerate(numbers)
    ]


def test_guesses_whose_answers_are_known_are_a_loop_whatever_is_said_about_them():
    first = [*ANSWERS]
    assert kinds(guesses([*first, "1290", *first, *first])) == [("interleaved", 9)]
    assert kinds(guesses([*first, "1290", *first])) == []


def test_guesses_whose_answers_differ_only_in_numbers_are_no_loop():
    """A part in brackets such as "(wrong position)" is no failure of a guess."""
    turns = [
        (guess(1000 + at, "it is one of those left"), ANSWERS["1234"].replace("0", str(at % 3)))
        for at in range(12)
    ]
    assert kinds(turns) == []


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("so\n**Guess:** `1234`.", ("guess", {"input": "1234"})),
        ("so\nMy guess: 1234\n", ("guess", {"input": "1234"})),
        ("GUESS: 1234\nand that is all", None),
        ("Action: look[door]", ("look", {"input": "door"})),
        ("Other: 1234", None),
    ],
)
def test_an_action_has_a_tool_and_arguments(text, action):
    assert action_in(text, is_answered=True) == action


def test_a_guess_without_an_answer_is_no_action():
    assert action_in("GUESS: 1234", is_answered=False) is None


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ('{"action": "RESET", "why": "x"}', ("RESET", {"action": "RESET", "why": "x"})),
        ('```json\n{"command": "go north"}\n```', ("go north", {"command": "go north"})),
        ('{"tool": "look", "arguments": {"at": 1}}', ("look", {"at": 1})),
        ('{"name": "look", "arguments": {"at": 1}}', ("look", {"at": 1})),
        ('{"name": "Widget", "size": 7}', None),
        ('{"final": {"score": 0}}', None),
        ('{"action": "RESET"', None),
        ('I say {"action": "RESET"}', None),
    ],
)
def test_an_object_is_an_action_if_it_names_one(text, action):
    assert object_in(text) == action


LINES = ["db1 refused", "db2 timed out", "web unreachable", "disk full", "cache lost", "DNS broken"]


@pytest.mark.parametrize(
    "answer", ['{"action": "escalate", "team": "network"}', "CATEGORY: network"]
)
def test_answers_to_new_requests_are_no_actions(answer):
    turns = [(f"About {line}.\n{answer}", f"Error: {line}, what now?") for line in LINES]
    assert kinds(turns) == []
    assert kinds([(answer, following) for _, following in turns]) == []


@pytest.mark.parametrize("last", ["Mood: dark", "Score: 4", "Move: C", "Source: the manual"])
def test_notes_below_different_texts_are_no_actions(last):
    turns = [
        (f"{line} {line[::-1]} {at * line}\n{last}", "go on") for at, line in enumerate(LINES, 2)
    ]
    assert kinds(turns) == []


def resets(count):
    said = [
        f'{{"action": "RESET", "reasoning": "I try it for the {at}th time"}}' for at in range(count)
    ]
    end = '{"final": {"state": "over", "summary": "The game cannot be started: %d errors"}}'
    return [turn for at, each in enumerate(said) for turn in ((each, REFUSED), (end % at, INVALID))]


def test_an_action_that_fails_again_is_a_loop_whatever_reason_the_agent_gives():
    # What ends each round is no action, and refused for that.
    assert [kind for kind, _ in kinds(resets(6))] == ["identical", "refused"]
    assert kinds(resets(3)) == []


def clicked(said):
    return action_in(f"Thought: The menu is shut.\nAction: {said}", is_answered=True)


@pytest.mark.parametrize(
    "remark",
    [" to open the group menu.", " in order to pick a group", ".", " (to pick a group).", "(shut)"],
)
def test_a_click_on_an_element_is_the_same_whatever_it_is_for(remark):
    assert clicked(f"Click [9]{remark}") == ("Click", {"input": "9"})


@pytest.mark.parametrize(
    "rest",
    [
        ", for the menu is there",
        " on page 2",
        " to focus, then type [3] Alice",
        " (the 2nd of them)",
        " (shut), then wait",
    ],
)
def test_what_else_a_click_does_is_kept(rest):
    assert rest.strip(" .") in str(clicked(f"Click [9]{rest}"))


def test_clicks_that_are_wanted_for_other_words_each_time_are_a_loop():
    remarks = (
        "to open the menu",
        "to see the groups",
        "so that the list opens",
        "to list the groups",
        "",
    )
    steps = [
        {"id": f"s{at}", "type": "tool", "name": "act", "output": "The menu is shut.",
         "arguments": {"action": f"Click [9] {remark}"}}
        for at, remark in enumerate(remarks)
    ]  # fmt: skip
    loops = LoopGrader().grade({"format": "weighbridge", "steps": steps})["details"]["loops"]
    assert [(loop["kind"], loop["repeats"]) for loop in loops] == [("identical", 5)]
    for at, step in enumerate(steps):
        step["arguments"] = {"action": f"Click [{at}] to open the menu"}
    assert LoopGrader().grade({"format": "weighbridge", "steps": steps})["verdict"] == "pass"


TASK = f"You are in a house with many rooms. {'Find the lantern, and bring it to the porch. ' * 6}"
DOORS = "There is a door in each wall, and each of them is open."


def prompted(turns, label="Your current observation is: ", after="Choose one of the actions."):
    """Return turns of a harness whose prompt repeats the task and all earlier observations at each step."""
    history, said = "", []
    for at, (action, seen) in enumerate(turns):
        prompt = f"{TASK}{history} You are now at step {at}. {label}{seen}\n{after}"
        said.append((f"<action>{action}</action>", prompt))
        history += f" [Observation {at}: {seen!r}, Action: {action!r}]"
    return said


LOCKED = ("open chest", f"Error: the chest is locked. {DOORS}")
ROOMS = ["hall", "cellar", "garden", "attic", "kitchen", "porch"]
WALK = [(f"go to the {room}", f"You see the {room}. {DOORS}") for room in ROOMS]


def test_one_failure_among_the_observations_that_a_prompt_repeats_is_no_loop():
    assert kinds(prompted([LOCKED, *WALK])) == []


@pytest.mark.parametrize(
    "label",
    [
        "Your current observation is: ",
        "Current Observation: ",
        "**Current observation**:\n",
        "\n## Current observation\n",
    ],
)
def test_of_a_prompt_that_repeats_all_observations_the_current_one_is_the_result(label):
    assert kinds(prompted([LOCKED] * 6, label)) == [("identical", 5)]


@pytest.mark.parametrize(
    "turns",
    [
        prompted(
            [("right", "<image>")] * 6,
            after="Your admissible actions are up, down, left and right.",
        ),
        prompted([("right", "")] * 6),
        prompted([LOCKED] * 6, after="Answer like this: 'Current observation: what you see here.'"),
        # News before the label, in messages that do not repeat the task.
        [
            (
                "<action>talk</action>",
                f"The cook speaks of the {room}.\nCurrent observation: {DOORS}",
            )
            for room in ROOMS
        ],
    ],
    ids=["image", "nothing", "two labels", "news before it"],
)
def test_without_one_current_observation_that_is_recorded_the_whole_message_is_the_result(turns):
    assert kinds(turns) == []
