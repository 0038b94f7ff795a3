"""Prose in place of a command, to which one state is described again and again: a loop."""

from __future__ import annotations

import pytest

from weighbridge.graders.loop import LoopGrader

ROOM = "[exec] known: room, shelf\nTURN: {turn}\nThe room has a shelf and a locked door.\nshelf.examine(): a row of old books"
THOUGHTS = [
    "it seems that nobody has been in here for many years, so where would they have put a key",
    "my partner told me about a map on the wall, but from this side there is nothing to see of it",
    "perhaps the colours of the books stand for the four digits that the lock on the far side wants",
    "the last message did not help us at all, so we had better think about what the riddle means",
    "if the hint about the tower is true then somebody must climb up there and look down at the yard",
    "we agreed to share whatever we find, and so far none of us has found anything worth sharing",
    "first of all we need light, since without a lamp even the largest letters cannot be read by us",
    "as far as the rules go every object may be used only once, which makes me want to wait a little",
    "an old trick is to pull one of the books so that the whole shelf swings open like a garden gate",
    "what about the sound that came from below when the other player stepped on the broken floor board",
    "considering how little time is left for both teams, asking for a hint may be the wisest choice now",
    "the poem speaks of rain and of seven brothers, and that might be a way of telling us the number",
]


def act(said, output, tool="act"):
    return {"type": "tool", "name": tool, "arguments": {"command": said}, "output": output}


def verdict(steps):
    return LoopGrader().grade({"format": "weighbridge", "steps": list(steps)})["verdict"]


def prose(rows=9, state=ROOM, tool="act"):
    return [act(said, state.format(turn=at), tool) for at, said in enumerate(THOUGHTS[:rows])]


def test_nine_times_prose_with_one_state_is_a_loop():
    assert verdict(prose(9)) == "fail"
    assert verdict(prose(8)) == "pass"


@pytest.mark.parametrize(
    "steps",
    [
        [
            act(said, ROOM.format(turn=at) + f"\nbook {at}: a page about {at}")
            for at, said in enumerate(THOUGHTS)
        ],
        prose(12, "The message was sent.\nThe customer will answer soon."),
        prose(12, tool="save_note"),
    ],
    ids=["states that change", "a confirmation", "notes"],
)
def test_prose_that_something_comes_of_is_none(steps):
    assert verdict(steps) == "pass"


QUERY = '{"sql_query": "SELECT name FROM staff"}'


def refused(tool, query=QUERY):
    output = f"I encountered an error while trying to use the tool: 1 validation error for {tool}\nfield required"
    return {"type": "tool", "name": tool, "arguments": {"input": query}, "output": output}


def test_one_request_of_two_tools_that_fails_five_times_is_a_loop():
    tools = ["check_sql", "check_sql", "run_sql", "run_sql", "run_sql"]
    assert verdict(map(refused, tools)) == "fail"
    assert verdict(map(refused, tools[:-1])) == "pass"
    # Other requests that fail may lie between.
    steps = [refused(tool) for tool in tools]
    steps.insert(2, refused("run_sql", QUERY[13:-1]))
    assert verdict(steps) == "fail"


def test_one_request_of_two_tools_is_no_loop_if_something_else_came_of_it():
    steps = [*map(refused, ["check_sql", "run_sql"] * 3)]
    steps[3] = act(QUERY, "staff: 12 rows", "run_sql")
    assert verdict(steps) == "pass"


PAGE = "RootWebArea 'Theses'\nResults 1-10 of 214\nlink 'A'\nlink 'B'\nbutton 'Next'"


@pytest.mark.parametrize("page", [PAGE, "Clicked. The page did not change.\nResults 1-10 of 214"])
@pytest.mark.parametrize(
    "where", [lambda at: {"bid": str(100 + at * 7)}, lambda at: {"x": 500 + at % 13, "y": 430 + at}]
)
def test_twelve_clicks_after_which_a_page_is_the_same_are_a_loop(page, where):
    def clicks(count, shown=page):
        return [{"type": "tool", "name": "click", "arguments": where(at), "output": shown.format(at)} for at in range(count)]  # fmt: skip

    assert verdict(clicks(12)) == "fail"
    assert verdict(clicks(11)) == "pass"
    assert (
        verdict(clicks(14, "Row {} of the list is selected, and has a price of its own")) == "pass"
    )
    assert verdict(clicks(14, "Done, saved.")) == "pass"
    one_line = "Form field toggled. Current url: https://example.org/settings/notifications"
    assert verdict(clicks(14, one_line)) == "pass"
