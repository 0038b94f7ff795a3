"""Steps through a world that looks alike in many places: no loop, unless they repeat in one order for long."""

from __future__ import annotations

from functools import partial

import pytest

from weighbridge.graders.loop import LoopGrader
from weighbridge.graders.loop.finders.exemptions.moving_calls import has_ended, has_waited
from weighbridge.graders.loop.history.actions import Call
from weighbridge.graders.loop.history.arguments import Arguments
from weighbridge.graders.loop.history.results import CallResult
from weighbridge.graders.loop.work_budget import Limits

MAZE = "You are in a maze. All passages look alike."
WALL = "There is a wall."
HALL = "You are in a hall."
DEAD = "A dead end."


def walk(*moves):
    names = {"n": "north", "e": "east", "s": "south", "w": "west"}
    return [
        {"type": "tool", "name": "go", "arguments": {"to": names[way]}, "output": shown}
        for way, shown in moves
    ]


def found(steps):
    given = [{"id": f"s{at}", **step} for at, step in enumerate(steps, 1)]
    result = LoopGrader(config={}).grade({"format": "weighbridge", "steps": given})
    return result["verdict"] == "fail"


#: Each way leads once more where it led before something else was met.
EXPLORED = walk(
    ("n", MAZE), ("e", HALL), ("n", WALL), ("e", MAZE), ("s", MAZE), ("n", MAZE), ("e", DEAD),
    ("s", WALL), ("e", MAZE), ("s", MAZE), ("n", MAZE), ("n", MAZE), ("n", MAZE), ("n", MAZE),
    ("e", HALL),
)  # fmt: skip


def test_moves_whose_results_go_back_and_forth_are_no_loop():
    assert not found(EXPLORED)


def test_a_move_that_leads_to_the_same_sight_eight_times_is_a_loop():
    assert found([*EXPLORED, *walk(("n", MAZE)) * 8])


def test_moves_with_one_result_each_are_a_loop_as_any_other_call():
    assert found(walk(*[("n", MAZE), ("e", HALL), ("s", WALL)] * 3))


def test_results_in_turns_that_all_say_that_nothing_happens_show_no_move():
    assert found(walk(*[("n", "Nothing happens."), ("n", "The door is still shut.")] * 3))


def scrolled(count, output=None):
    """Turns of a model that scrolls a list, of which the trace has no screen, between other actions."""
    opening = {"type": "tool", "name": "computer", "arguments": {"action": "click(12, 30)"}}
    page = {
        "type": "tool",
        "name": "computer",
        "arguments": {"action": "hotkey('pagedown')"},
        "output": output,
    }
    turns = [
        step
        for number in range(count)
        for step in (page, {"type": "llm", "output": f"The list shows fonts from {number} on."})
    ]
    return [opening, *turns, opening]


def test_scrolling_whose_screen_is_not_recorded_is_a_loop_from_thirty_times_on():
    assert not found(scrolled(29))
    assert found(scrolled(30))


def test_scrolling_that_shows_the_same_each_time_is_a_loop_as_any_other_call():
    assert found(scrolled(4, "Inter, Jost, Karla"))


def looked(count, action, shown="[screenshot]"):
    """Turns of a model that acts on a screen and looks at it, where the trace omits what it saw."""
    does = {"type": "tool", "name": "computer", "arguments": action, "output": "Done."}
    looks = {
        "type": "tool",
        "name": "computer",
        "arguments": {"action": "screenshot"},
        "output": shown,
    }
    return [does, looks] * count


def test_looks_at_screens_that_the_trace_omits_may_each_have_shown_something_new():
    page_down = {"action": "key", "text": "Page_Down"}
    assert not found(looked(14, page_down))
    assert found(looked(15, page_down))
    assert found(looked(3, page_down, "Fonts: Inter, Jost, Karla"))


def test_one_click_with_omitted_screens_is_a_loop_from_twice_as_many_rounds_on():
    click = {"action": "left_click", "coordinate": [12, 30]}
    assert not found(looked(5, click))
    assert found(looked(6, click))
    assert found(looked(3, click, "Fonts: Inter, Jost, Karla"))


def explored(count, output="Success: True", name="Explore"):
    return [{"type": "tool", "name": name, "arguments": {"agent": at % 3}, "output": output}
            for at in range(count)]  # fmt: skip


def test_exploring_of_which_only_the_success_is_recorded_is_a_loop_from_thirty_times_on():
    assert not found(explored(29))
    assert found(explored(30))


def test_exploring_that_shows_the_same_each_time_is_a_loop_as_any_other_call():
    assert found(explored(18, "You see the wall of the reservoir and nothing else."))
    assert found(explored(18, name="Recharge"))


def polled(result, *, name="write_stdin", arguments=None, count=12):
    """Calls that wait for a program, with something else in the middle, and then `result`."""
    wait = {"type": "tool", "name": name, "arguments": arguments or {"session_id": 7, "chars": ""}}
    look = {"type": "tool", "name": "exec", "arguments": {"cmd": "docker ps"}, "output": "2 images"}
    empty = [{**wait, "output": "Wall time 5.0 seconds\n"}] * count
    return [*empty[:-3], look, *empty[-3:], {**wait, "output": result}]


CODE = {
    "input": 'const r = await tools.write_stdin({session_id:7,chars:"",yield_time_ms:1000}); text(r)'
}


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("write_stdin", None), ("exec", CODE), ("BashOutput", {"bash_id": "b1"}), ("get_task_output", {}),
        ("bash", {"command": "kubectl get pods"}), ("bash", {"command": "sleep 60 && tail -3 train.log"}),
    ],
)  # fmt: skip
def test_waiting_for_a_program_is_a_loop_only_if_nothing_comes_of_it(name, arguments):
    assert not found(polled("built in 133 s", name=name, arguments=arguments))
    assert found(polled("Wall time 5.0 seconds\n", name=name, arguments=arguments))


@pytest.mark.parametrize("last", ["available", "creating"])
def test_one_call_after_each_wait_is_a_loop_only_if_nothing_comes_of_it(last):
    def look(state):
        return {"type": "tool", "name": "aws", "arguments": {"cmd": "rds x"}, "output": state}

    waits = [{"type": "tool", "name": "sleep", "arguments": {"seconds": 60}, "output": "slept"}] * 6
    steps = [step for wait in waits for step in (wait, look("creating"))]
    assert bool(found([*steps, waits[0], look(last)])) == (last == "creating")


@pytest.mark.parametrize(
    "between",
    [
        {
            "type": "tool",
            "name": "edit",
            "arguments": {"path": "a", "new": "b"},
            "output": "edited",
        },
        {
            "type": "user",
            "output": "It runs now. Please look at what it says about the third file.",
        },
    ],
)
def test_what_changes_by_an_action_or_a_request_was_not_waited_for(between):
    look = {
        "type": "tool",
        "name": "bash",
        "arguments": {"command": "tail -3 a.log"},
        "output": "a",
    }
    assert not found([look] * 6 + [{**look, "output": "b"}])
    assert found([look] * 6 + [between, {**look, "output": "b"}])
    assert found(
        [look] * 6 + [{**look, "output": "tail: cannot open 'a.log': No such file or directory"}]
    )


def test_another_duration_of_the_wait_is_nothing_new():
    wait = {"type": "tool", "name": "write_stdin", "arguments": {"session_id": 7, "chars": ""}}
    longer = {**wait, "arguments": {**wait["arguments"], "yield_time_ms": 30_000}}
    waits = [{**wait, "output": "Wall time 5.0 seconds\n"}] * 8
    assert found([*waits, {**longer, "output": "Wall time 30.1 seconds\n"}])
    assert not found([*waits, {**longer, "output": "Wall time 30.1 seconds\nbuilt"}])


def test_what_is_typed_into_a_program_is_no_wait():
    typed = {"session_id": 7, "chars": "y\n"}
    assert found(polled("ok", arguments=typed)[:-1])
    assert not found(polled("ok", arguments=typed))  # it has an end nevertheless


def test_reads_of_which_only_a_label_is_recorded_may_be_of_other_parts():
    read = {"type": "tool", "name": "read_file", "arguments": {"summary": "Read file: a.ts"}}
    assert not found([read] * 20)
    assert found([read] * 30)
    assert found([{**read, "output": "const a = 1"}] * 4)
    assert found([{**read, "arguments": {"path": "a.ts"}}] * 4)


def test_edits_of_which_nothing_is_recorded_may_have_written_something_new():
    edit = {
        "type": "tool",
        "name": "Edit",
        "output": "The file /srv/ferry/plan.md has been updated successfully, and its state is current.",
    }
    assert not found([edit] * 40)
    assert found([{**edit, "arguments": {"new_string": "b"}}] * 4)
    assert found([{**edit, "name": "undo"}] * 4)


def test_a_browser_that_is_closed_is_no_end_of_what_was_waited_for():
    noop = {
        "type": "tool",
        "name": "noop",
        "arguments": {"ms": 1000},
        "output": "a captcha asks for all images with a ferry",
    }
    closed = "Error: TargetClosedError: Page.wait: Target page, context or browser has been closed"
    assert found([*[noop] * 5, {**noop, "output": closed}])
    assert not found(
        [
            *[noop] * 5,
            {**noop, "output": "the captcha is gone, and the results are: ferries in Graz"},
        ]
    )


def page(*titles):
    """Return what a harness writes of the page that is open."""
    head = (
        "Here is the page that is open now. Choose your next action from those that it offers.\n"
        * 9
    )
    return {"type": "user", "output": head + "\n".join(titles)}


def test_a_click_after_which_a_harness_shows_another_page_each_time_is_no_loop():
    click = {"type": "tool", "name": "click", "arguments": {"id": "L11"}, "output": "clicked Next"}
    pages = [
        page(*(f"{word} {at} {word[::-1]}" for word in ("ants", "bees", "cats", "dogs", "eels")))
        for at in range(8)
    ]
    assert not found([step for shown in pages for step in (click, shown)])
    assert found([step for _ in pages for step in (click, pages[0])])
    remarks = [page(f"Step {at} of 20") for at in range(8)]
    assert found([step for shown in remarks for step in (click, shown)])


def drained(last, **other):
    """Batches of a queue, and then `last`."""
    batch = {
        "type": "tool",
        "name": "replay_queue",
        "arguments": {"max": 100},
        "output": "replayed: 100",
    }
    return [batch] * 7 + [{**batch, "output": last, **other}]


def test_equal_work_that_has_another_result_in_the_end_is_no_loop():
    assert not found(drained("replayed: 43"))
    assert found(drained("replayed: 100"))
    assert found(drained("replayed: 43")[:-1])


def test_work_may_end_with_a_failure_and_a_look_may_not():
    assert not found(drained("Error: the queue is empty", error="the queue is empty"))
    look = {
        "type": "tool",
        "name": "get_order",
        "arguments": {"id": 7},
        "output": "status: packing",
    }
    assert not found([look] * 6 + [{**look, "output": "status: sent"}])
    assert found([look] * 6 + [{**look, "output": "Error: no such order"}])


def test_what_failed_or_was_changed_between_did_not_end_by_itself():
    change = {"type": "tool", "name": "edit_file", "arguments": {"path": "a"}, "output": "edited"}
    assert found([*drained("x")[:-1], change, *drained("replayed: 43")[-1:]])
    refused = [{**step, "output": "Error: busy", "error": "busy"} for step in drained("x")[:-1]]
    assert found([*refused, *drained("replayed: 43")[-1:]])


def test_retries_of_a_busy_service_are_no_loop_if_one_soon_succeeds():
    busy, limits = "HTTP 503 Service Unavailable", 6
    read = {"type": "tool", "name": "get_order", "arguments": {"id": 7}, "output": busy}
    assert not found([read] * limits + [{**read, "output": "status: sent"}])
    assert found([read] * (limits + 1) + [{**read, "output": "status: sent"}])
    assert found([read] * limits + [{**read, "output": "Error: no such order"}])
    refused = {**read, "output": "Error: no such order"}
    assert found([refused] * limits + [{**read, "output": "status: sent"}])


def test_a_random_source_goes_back_and_forth():
    flips = "HTHHTTHTHTTHHTHTHHTT"
    assert not found(
        [
            {
                "type": "tool",
                "name": "flip_coin",
                "arguments": {},
                "output": f"The coin shows {side}.",
            }
            for side in flips
        ]
    )


LIMITS = Limits(max_repeats=3, similarity_threshold=0.9, max_period=8)


class Calls(list):
    def __iter__(self):
        raise AssertionError("all calls were walked through, for one of many findings")


@pytest.mark.parametrize("looks_behind", [partial(has_ended, limits=LIMITS), has_waited])
def test_only_the_calls_behind_a_loop_show_how_it_ended(looks_behind):
    call = Call(None, "bash_output", Arguments({}), CallResult("pending"), None)
    assert not looks_behind((0, 1), Calls([call, call, None]))


LOOK = {
    "type": "tool",
    "name": "read_file",
    "arguments": {"path": "a.py"},
    "output": "x = 1\ny = 2",
}
NOTES = [
    "You have read this file 6 times.",
    "Repeated call: the output is the same as before.",
    "Warning: loop detected.",
    "This call was not executed.",
    "File unchanged since the last read.",
    "The limit of calls was reached.",
    "",
]


@pytest.mark.parametrize("note", NOTES)
def test_what_a_harness_says_of_repeats_is_not_the_result_that_they_waited_for(note):
    assert found([LOOK] * 6 + [{**LOOK, "output": note}])


@pytest.mark.parametrize("last", ["nothing to do, queue unchanged", "the limit was reached"])
def test_work_may_end_with_nothing_changed_or_at_a_limit(last):
    assert not found(drained(last))


def test_an_outage_is_not_the_end_of_repeated_work():
    assert found(drained("Error: too many requests, rate limit"))


def test_only_a_few_looks_without_waits_may_wait_for_something_new():
    wait = {"type": "tool", "name": "sleep", "arguments": {"seconds": 60}, "output": "slept"}
    end = {**LOOK, "output": "x = 1\ny = 3"}
    assert not found([LOOK] * 12 + [end])
    assert found([LOOK] * 13 + [end])
    assert not found([LOOK, wait] * 13 + [end])


@pytest.mark.parametrize(
    "end", ["SUCCESS", "FAILED", "failed: out of memory", "exit code 1", '{"error": "2 tests"}']
)
@pytest.mark.parametrize("name", ["get_job", "check_build"])
def test_what_was_waited_for_may_have_failed(name, end):
    look = {"type": "tool", "name": name, "arguments": {"id": 7}, "output": "running"}
    assert not found([look] * 8 + [{**look, "output": end}])
    assert found([look] * 8 + [{**look, "output": end, "error": "the look failed"}])
    assert found([look] * 8 + [{**look, "output": "Error: no such job"}])


@pytest.mark.parametrize(
    "command", ["cat status.txt", "systemctl is-active web", "pg_isready", "tail -1 a.log"]
)
def test_a_wait_of_its_own_parts_looks_as_well_as_one_in_the_command(command):
    def bash(command, output):
        return {"type": "tool", "name": "bash", "arguments": {"command": command}, "output": output}

    rounds = [bash("sleep 5", ""), bash(command, "starting")] * 5
    assert not found([*rounds, bash("sleep 5", ""), bash(command, "ready now")])
    assert found(rounds)


def test_a_status_that_changes_after_many_looks_without_waits_was_not_waited_for():
    look = {"type": "tool", "name": "session_status", "arguments": {}, "output": "Context: 3 %"}
    assert not found([look] * 12 + [{**look, "output": "Context: none"}])
    assert found([look] * 13 + [{**look, "output": "Context: none"}])


def test_several_looks_after_each_wait_are_a_wait_if_one_sees_something_new():
    def look(name, state):
        return {"type": "tool", "name": name, "arguments": {"id": 7}, "output": state}

    wait = {"type": "tool", "name": "wait", "arguments": {"seconds": 60}, "output": "ok"}
    steps = [look("get_build", "building"), look("get_lock", "held by Ida"), wait] * 5
    assert not found([*steps, look("get_build", "built"), look("get_lock", "free")])
    assert found([*steps, look("get_build", "building"), look("get_lock", "held by Ida")])
    unwaited = [step for step in steps if step is not wait]
    assert found([*unwaited, wait, look("get_build", "built"), look("get_lock", "free")])


def test_a_word_of_the_user_does_not_end_a_wait():
    look = {
        "type": "tool",
        "name": "bash",
        "arguments": {"command": "sleep 60; gh pr checks 312"},
        "output": "build pending, lint pass",
    }
    asked = {"type": "user", "output": "Is there any news of the build of this change by now?"}
    passed = {**look, "output": "build pass, lint pass"}
    assert not found([*[look] * 5, asked, passed])
    assert found([*[look] * 5, asked, look])
