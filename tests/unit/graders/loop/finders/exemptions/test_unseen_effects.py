"""Actions of which the results only say that they were done: no loop if a look after them shows their effect."""

from __future__ import annotations

import pytest

from weighbridge.graders.loop import LoopGrader


def call(name, arguments, output):
    return {"type": "tool", "name": name, "arguments": arguments, "output": output}


def verdict(steps, **config):
    given = [{"id": f"s{at}", **each} for at, each in enumerate(steps, 1)]
    return LoopGrader(config=config).grade({"format": "weighbridge", "steps": given})["verdict"]


NEXT = call("browser_click", {"index": 31}, "Clicked button with index 31: Next month")
TITLE = call("browser_extract", {"what": "calendar title"}, "October, as far as can be seen")
FORWARD = call("forward", {"metres": 0.5}, "ok")
POSE = call("get_pose", {}, "x=3.98, near the door")
UNDO = call("editor_undo", {}, "Undid last action.")
LAYERS = call("list_layers", {}, "background, house, sky")
KEY = call("press_key", {"key": "Tab"}, "pressed Tab")
FOCUSED = call("focused_element", {}, "input 'Street'")


@pytest.mark.parametrize(
    ("action", "look"), [(NEXT, TITLE), (FORWARD, POSE), (UNDO, LAYERS), (KEY, FOCUSED)]
)
def test_actions_whose_effect_a_look_shows_are_no_loop(action, look):
    before = {**look, "output": "nothing of it"}
    assert verdict([before, *[action] * 8, look]) == "pass"
    assert verdict([look, *[action] * 8, look]) == "fail"
    assert verdict([before, *[action] * 8]) == "fail"
    assert verdict([before, *[action] * 31, look]) == "fail"
    assert verdict([before, *[action] * 21, look], max_repeats=2) == "fail"


def test_a_result_that_says_more_than_that_it_was_done_is_compared():
    told = {**NEXT, "output": "The calendar does not move: March is the first month that is open"}
    assert verdict([*[told] * 8, TITLE]) == "fail"
    failed = {**NEXT, "output": "Clicked button with index 31, but it is not visible"}
    assert verdict([*[failed] * 8, TITLE]) == "fail"


@pytest.mark.parametrize(
    "action",
    [
        call("write_file", {"path": "a.md", "text": "A."}, "ok"),
        call("transfer_to_sales", {}, "Transferred to sales."),
        call("bash", {"command": "make clean"}, "ok"),
        call("look_up", {"q": "ferry"}, "Looked up ferry."),
    ],
)
def test_changes_of_content_hand_overs_commands_and_reads_do_not_add_up(action):
    assert verdict([*[action] * 8, TITLE]) == "fail"


def test_looks_between_actions_have_to_differ_too():
    looks = [{**POSE, "output": f"x={at}.0 on the way to the door"} for at in range(10)]
    steps = [step for look in looks for step in (*[FORWARD] * 4, look)]
    assert verdict(steps) == "pass"
    assert verdict([step for _ in looks for step in (*[FORWARD] * 4, POSE)]) == "fail"


@pytest.mark.parametrize(
    "arguments",
    [{"value": "//button[@data-key='\N{LEFTWARDS ARROW}']"}, {"key": "Backspace"}, {"key": "ArrowDown"}],
)  # fmt: skip
def test_keys_that_erase_or_move_a_cursor_may_be_pressed_twice_as_often(arguments):
    pressed = call("press_key", arguments, '{"result": "Element clicked."}')
    assert verdict([pressed] * 7) == "pass"
    assert verdict([pressed] * 8) == "fail"
    other = call("press_key", {"key": "F5"}, '{"result": "Element clicked."}')
    assert verdict([other] * 4) == "fail"
    failed = call("press_key", arguments, "Error: the element does not exist")
    assert verdict([failed] * 4) == "fail"
