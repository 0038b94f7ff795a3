"""Searches of a tool that never finds anything: loops if nothing new lies between, or if other results show what is searched for."""

from __future__ import annotations

from itertools import zip_longest

import pytest

from weighbridge.graders.loop import LoopGrader

PATTERNS = (
    "def moor", "class Ferry", "moor.*deck|deck.*moor", "Ferry", "moor", "^import", "load_cargo\\(", "load_cargo", "cargo",
    "rope_length", "lower_anchor", "anchor", "@property", "def lower_anchor", "rope", "import",
)  # fmt: skip
FILE = "class Ferry:\n    def moor(self): ...\n    def load_cargo(self): ...\n    def lower_anchor(self): ...\n    rope_length = 4"
NOTHING = "No files found"


def call(name, arguments, output):
    return {"type": "tool", "name": name, "arguments": arguments, "output": output}


def searches(count, found=NOTHING, name="grep", argument="pattern"):
    return [call(name, {argument: text, "path": "/boat"}, found) for text in PATTERNS[:count]]


def reads(*shown):
    return [call("read_file", {"path": f"{at}.py"}, text) for at, text in enumerate(shown)]


def rules(steps, **config):
    given = [{"id": f"s{at}", **each} for at, each in enumerate(steps, 1)]
    result = LoopGrader(config=config).grade({"format": "weighbridge", "steps": given})
    return [(loop["rule"], loop["observed"]) for loop in result["details"]["loops"]]


@pytest.mark.parametrize("found", [NOTHING, "No matches found", "[]", ""])
@pytest.mark.parametrize(("name", "argument"), [("grep", "pattern"), ("search_code", "query")])
def test_four_times_max_repeats_searches_that_find_nothing_in_a_row_are_a_loop(
    found, name, argument
):
    assert rules(searches(12, found, name, argument)) == [("unanswered_searches", 12)]
    assert rules(searches(11, found, name, argument)) == []
    assert rules(searches(8, found, name, argument), max_repeats=2) == [("unanswered_searches", 8)]


def mixed(searched, between):
    """Return searches with something else after every second one, as long as there is something."""
    pairs = [searched[at : at + 2] for at in range(0, len(searched), 2)]
    return [step for pair, other in zip_longest(pairs, between) for step in (*pair, *filter(None, [other]))]  # fmt: skip


def test_reads_between_do_not_help_if_they_show_what_is_searched_for():
    assert rules(mixed(searches(12), reads(FILE, "ahoy", "land"))) == [("unanswered_searches", 12)]
    assert rules(mixed(searches(11), reads(FILE, "ahoy", "land"))) == []


@pytest.mark.parametrize(
    "steps",
    [
        pytest.param(mixed(searches(16), reads("ahoy", "land", "sea", "sky", "wind", "rain", "fog")), id="new results between"),
        pytest.param([*searches(8), *searches(16, "ferry.py:7: a match")[8:9], *searches(16)[8:]], id="one that finds something"),
        pytest.param([*searches(16), call("grep", {"pattern": "moor"}, "ferry.py:7: a match")], id="something found in the end"),
        pytest.param([*searches(8), {"type": "user", "output": "Now look for the charts of the island."}, *searches(16)[8:]], id="another request"),
        pytest.param([call("find_customer", {"query": f"{name} Mole"}, "[]") for name in
                      ("Ida", "Ole", "Ann", "Tom", "Eve", "Kim", "Bo", "Lea", "Max", "Pia", "Jan", "Uma", "Ben")], id="a list"),
        pytest.param([call("grep", {"pattern": f"{word}", "path": "/boat"}, NOTHING) for word in
                      ("TODO", "FIXME", "XXX", "HACK", "print", "pdb", "eval", "exec", "passwd", "secret", "token", "debug")], id="forbidden words"),
        pytest.param([call("search_trips", {"from": place, "to": "island", "date": f"2031-05-{day}"}, "[]")
                      for place in ("north", "south") for day in range(10, 20)], id="combinations"),
        pytest.param([call("read_log", {"pattern": text}, "") for text in PATTERNS], id="no search"),
    ],
)  # fmt: skip
def test_honest_searches_are_no_loop(steps):
    assert rules(steps) == []


def test_a_list_that_was_read_before_is_looked_up_without_a_loop():
    names = [
        f"{name} Mole"
        for name in (
            "Ida",
            "Ole",
            "Ann",
            "Tom",
            "Eve",
            "Kim",
            "Lea",
            "Max",
            "Pia",
            "Jan",
            "Uma",
            "Ben",
        )
    ]
    looked_up = [call("search_customers", {"query": name}, "[]") for name in names]
    assert rules([*reads("\n".join(names)), *mixed(looked_up, reads(*"abcdef"))]) == []


def test_names_that_are_part_of_later_ones_in_a_list_do_not_come_back():
    things = ("user", "order", "invoice", "payment", "address", "basket", "voucher")
    names = [name for thing in things for name in (f"get_{thing}", f"get_{thing}_name")]
    shown = reads("\n".join(f"def {name}(): ..." for name in names))
    removed = call("bash", {"command": "git rm deprecated.py"}, "rm 'deprecated.py'")
    looked = [call("grep", {"pattern": name, "path": "/shop"}, NOTHING) for name in names]
    assert rules([*shown, removed, *looked]) == []
    back = [call("grep", {"pattern": name, "path": "/shop"}, NOTHING) for name in reversed(names)]
    assert rules([*shown, *back]) == [("unanswered_searches", 14)]
