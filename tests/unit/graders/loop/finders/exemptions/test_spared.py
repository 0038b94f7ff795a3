"""Why the evidence of a pass says that the longest repetition is no loop, if it is beyond a limit."""

import pytest

from weighbridge.graders.loop import LoopGrader


def called(name, arguments, output):
    return {"type": "tool", "name": name, "arguments": arguments, "output": output}


def bash(command, output):
    return called("bash", {"command": command}, output)


def graded(*steps, order="Please do it."):
    said = [{"type": "user", "output": order}, *steps, {"type": "llm", "output": "It has ended."}]
    given = [{"id": f"s{at}", **step} for at, step in enumerate(said)]
    return LoopGrader().grade({"format": "weighbridge", "steps": given})


def descriptions(*steps, order="Please do it."):
    result = graded(*steps, order=order)
    assert result["verdict"] == "pass"
    return [entry["description"] for entry in result["evidence"]]


PENDING = [called("check_build", {"id": 7}, "PENDING")] * 8
LOOKS = [bash("cat status.txt", "not yet"), bash("sleep 5", "")] * 6


def test_a_row_that_ends_with_another_result_says_so():
    row, cycle = descriptions(*PENDING, called("check_build", {"id": 7}, "SUCCESS"))
    because = "no loop, because the same call soon had another result"
    assert row.endswith(f"at most 8 alike in a row, limit 3; {because}")
    assert cycle.endswith("3 are a loop")


def test_a_cycle_of_looks_and_waits_that_ends_with_something_new_says_so():
    row, cycle = descriptions(*LOOKS, bash("cat status.txt", "ready"))
    assert row.endswith("limit 3")
    assert cycle.endswith("3 are a loop; no loop, because the waiting ended with something new")


@pytest.mark.parametrize(
    ("steps", "order", "at"),
    [
        ([bash("python roll.py", "ok")] * 6, "Run python roll.py 6 times.", 0),
        (LOOKS, "Check status.txt every ten minutes until noon.", 1),
    ],
)
def test_repeats_that_the_user_ordered_say_so(steps, order, at):
    shown = descriptions(*steps, order=order)
    assert shown[at].endswith("; no loop, because the user ordered it")
    assert "no loop" not in shown[1 - at]


def test_repeats_within_the_limits_give_no_reason():
    assert not any("no loop" in shown for shown in descriptions(*PENDING[:3], *LOOKS[:4]))


BALLOTS = [called("cast_vote", {"day": at // 4, "target": "BC"[at // 4]}, "Vote recorded.") for at in range(8)]  # fmt: skip


def test_votes_of_players_whom_the_trace_does_not_tell_apart_are_no_loop():
    shown = " ".join(descriptions(*BALLOTS[:8]))
    assert "no loop, because players vote anew in each round" in shown
    refused = [{**each, "output": "Error: it is not the time to vote."} for each in BALLOTS[:8]]
    assert graded(*refused)["verdict"] == "fail"
    for name in ("devote", "get_votes"):
        others = [{**each, "name": name} for each in BALLOTS]
        assert graded(*others)["verdict"] == "fail"
    assert graded(*BALLOTS[:4], *BALLOTS[:4])["verdict"] == "fail", "one agent, one vote"


VOTES = [
    {**called("vote", {"target": "Gemma"}, "voted"), "parent_id": name}
    for name in ("Ada", "Ben", "Cleo", "Dan")
]
PLAYERS = [{"id": name, "type": "agent", "name": name} for name in ("Ada", "Ben", "Cleo", "Dan")]


@pytest.mark.parametrize(
    ("steps", "order", "spared"),
    [
        (
            [*PENDING, called("check_build", {"id": 7}, "SUCCESS")],
            "Please do it.",
            ("same_call", "ended", 8, "s1", "s8"),
        ),
        (
            [*LOOKS, bash("cat status.txt", "ready")],
            "Please do it.",
            ("same_cycle", "waited", 12, "s1", "s12"),
        ),
        (
            [bash("python roll.py", "ok")] * 6,
            "Run python roll.py 6 times.",
            ("same_call", "ordered", 6, "s1", "s6"),
        ),
        ([*PLAYERS, *VOTES], "Please do it.", ("same_call", "chorus", 4, "s5", "s8")),
        (
            [
                called("submit", {"cmd": "north"}, seen)
                for seen in ("A wall.", "done", *["A wall."] * 4)
            ],
            "Please do it.",
            ("same_call", "moves", 4, "s3", "s6"),
        ),
    ],
    ids=["ended", "waited", "ordered", "chorus", "moves"],
)
def test_what_is_spared_is_listed_with_its_rule_its_steps_and_the_reason(steps, order, spared):
    details = graded(*steps, order=order)["details"]
    names = ("rule", "reason", "steps", "first_step_id", "last_step_id")
    assert details["spared"] == [dict(zip(names, spared, strict=True))]
    assert details["spared_found"] == 1
    assert details["loops"] == []


def test_what_is_spared_beside_a_loop_is_listed_too():
    builds = [*PENDING, called("check_build", {"id": 7}, "SUCCESS")]
    details = graded(*builds, *[bash("make", "Error: no rule to make it")] * 5)["details"]
    assert [loop["rule"] for loop in details["loops"]] == ["same_call"]
    assert [each["reason"] for each in details["spared"]] == ["ended"]


def test_twenty_of_what_is_spared_are_listed():
    steps = []
    for at in range(25):
        waits = [called("check_build", {"id": at}, "PENDING")] * 4
        steps += [*waits, called("check_build", {"id": at}, f"SUCCESS of {at}")]
    details = graded(*steps)["details"]
    assert (len(details["spared"]), details["spared_found"]) == (20, 25)
