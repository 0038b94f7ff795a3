"""Attempts that fail alike: from how many on they are a loop depends on what varies; a spent budget ends the comparison."""

from __future__ import annotations

import pytest

from weighbridge.graders.loop import LoopGrader, work_budget


@pytest.mark.parametrize("limit", [700, 800, 900])
def test_a_kind_of_failures_that_is_described_no_more_is_left_out(limit, monkeypatch):
    monkeypatch.setattr(work_budget, "WORK_LIMIT", limit)
    steps = [
        {
            "id": f"s{at}",
            "type": "tool",
            "name": "bash",
            "arguments": {"command": "pytest"},
            "output": f"error: failed to do the thing word{'x' * (at % 3)} at a.py:{at}",
        }
        for at in range(30)
    ]
    result = LoopGrader().grade({"format": "weighbridge", "steps": steps})
    assert (result["verdict"], result["details"]["loops"]) == ("pass", [])


SHUT = "Pier 7 is shut for repairs"
CITIES = ("Rome", "Oslo", "Lima", "Bonn", "Graz", "Linz", "Bern", "Cork", "Kiel", "Metz")


def verdict(given, tool="book", *, has_failed=True, told=SHUT):
    steps = [
        {"id": f"s{at}", "type": "tool", "name": tool, "arguments": arguments, "output": "" if has_failed else told}
        | ({"error": told} if has_failed else {})
        for at, arguments in enumerate(given)
    ]  # fmt: skip
    return LoopGrader().grade({"format": "weighbridge", "steps": steps})["verdict"]


@pytest.mark.parametrize(
    ("argument", "least"),
    [
        (lambda at: {"host": "db1", "port": 5432 + at}, 6),
        (lambda at: {"room": 7, "start": f"{9 + at:02}:00"}, 6),
        (lambda at: {"x": at, "y": 50 - at, "unit": "m"}, 6),
        (lambda at: {"command": f"nc -z db1 {5432 + at}"}, 6),
        (lambda at: {"id": f"A{at}"}, 9),
        (lambda at: {"port": 5432 + at}, 9),
        (lambda at: {"domain": f"shop{at}.my-harbour.example"}, 9),
        (lambda at: {"domain": f"shop{at // 2}.my-harbour.example"}, 5),
    ],
    ids=[
        "one of two",
        "a time",
        "two of three",
        "command",
        "id",
        "number",
        "domain",
        "tried twice",
    ],
)
def test_from_how_many_attempts_on_there_is_a_loop_depends_on_what_varies(argument, least):
    given = [argument(at) for at in range(least)]
    assert verdict(given) == "fail"
    assert verdict(given[:-1]) == "pass"


def test_actions_without_effect_are_a_loop_from_three_times_the_limit_on():
    given = [{"door": 7, "key": at} for at in range(9)]
    assert verdict(given, "turn_key", has_failed=False, told="It is locked.") == "fail"
    assert verdict(given[:8], "turn_key", has_failed=False, told="It is locked.") == "pass"


def test_other_words_each_time_are_the_items_of_a_list():
    assert verdict([{"city": city} for city in CITIES]) == "pass"
    assert verdict([{"city": city, "days": 3} for city in CITIES]) == "pass"


def guesses(names):
    """Return guesses at the name of a table, none of which is right."""
    return [
        {
            "id": f"s{at}",
            "type": "tool",
            "name": "sql",
            "arguments": {"command": f"SELECT flag, COUNT(*) FROM {name} GROUP BY flag"},
            "error": f"Error executing query: Table 'harbour.{name}' doesn't exist",
        }
        for at, name in enumerate(names)
    ]


def test_guesses_that_come_back_to_earlier_ones_go_through_no_list():
    names = (
        "ships",
        "boats",
        "ship_list",
        "ships",
        "fleet",
        "ship_data",
        "boats",
        "vessels",
        "ship",
    )
    for tried, expected in ((names, "fail"), (names[:-1], "pass"), (dict.fromkeys(names), "pass")):
        given = {"format": "weighbridge", "steps": guesses(tried)}
        assert LoopGrader().grade(given)["verdict"] == expected


def test_a_time_limit_that_a_short_failure_repeats_makes_no_difference():
    given = [{"cmd": "backup", "timeout": 10 + 3 * at} for at in range(6)]
    steps = [
        {"id": f"s{at}", "type": "tool", "name": "run", "arguments": each, "error": f"timed out after {each['timeout']} s"}
        for at, each in enumerate(given)
    ]  # fmt: skip
    assert LoopGrader().grade({"format": "weighbridge", "steps": steps})["verdict"] == "fail"
    assert LoopGrader().grade({"format": "weighbridge", "steps": steps[:-1]})["verdict"] == "pass"


@pytest.mark.parametrize(
    ("again", "is_loop"), [({20: 5, 40: 17}, False), (dict.fromkeys(range(20, 60, 3), 5), True)]
)
def test_a_long_list_with_an_item_or_two_in_it_again_is_still_a_list(again, is_loop):
    names = [
        "".join("bcdfghjklm"[int(digit)] + "a" for digit in f"{again.get(at, at):06}")
        for at in range(60)
    ]
    steps = [
        {
            "id": f"s{at}",
            "type": "tool",
            "name": "get_item",
            "arguments": {"id": name},
            "error": "404: the item was not found in the store of items",
        }
        for at, name in enumerate(names)
    ]
    result = LoopGrader().grade({"format": "weighbridge", "steps": steps})
    assert (result["verdict"] == "fail") is is_loop


def test_a_search_that_prints_nothing_between_attempts_is_no_news():
    failed = [
        {"name": "bash", "arguments": {"command": f"nc -z db1 {5432 + at}"}, "output": "connection refused"}
        for at in range(6)
    ]  # fmt: skip

    def found(output):
        search = {"name": "bash", "arguments": {"command": "grep -o 'db[0-9]' hosts"}}
        given = [*failed[:3], {**search, "output": output}, *failed[3:]]
        steps = [{"id": f"s{at}", "type": "tool", **each} for at, each in enumerate(given)]
        return LoopGrader().grade({"format": "weighbridge", "steps": steps})["verdict"]

    assert found("") == "fail"
    assert found("db1 is 10.0.0.7\n") == "pass"
