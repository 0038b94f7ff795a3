"""Attempts with trivial differences and the same failure: a loop, unless there is new information in between."""

from __future__ import annotations

from itertools import cycle

import pytest

from weighbridge.graders.loop import LoopGrader

FOLDERS = ["src", "app/src", "/repo/src", "lib/src", "../src", "src/core"]
PAGERS = ["", " | head -20", " | tail -n 5", " | less", " | cat"]
SAYINGS = [
    "All the tests that I wrote pass, so the work is finished.",
    "I consider the task complete and hand it over.",
    "The cache is fixed; nothing else is needed from my side.",
    "This was the last change. Please close the ticket.",
    "Everything that was asked for is in place by now.",
    "My analysis ends here, with the patch applied as described above.",
    "The final state is reached and no step is left.",
]


def tool(name, arguments, output):
    return {"type": "tool", "name": name, "arguments": arguments, "output": output}


def bash(command, output):
    return tool("bash", {"command": command}, output)


def greps(count):
    pairs = zip(range(count), cycle(FOLDERS), cycle(PAGERS), strict=False)
    return [
        bash(f"grep -rn 'total(' {at}{pager}", "grep: Unmatched ( or \\(") for _, at, pager in pairs
    ]


def views(count):
    return [
        tool("view", {"path": "a.py", "view_range": [at * 40, at * 40 + 39]},
             f"Error: the range [{at * 40}, {at * 40 + 39}] of a.py cannot be shown: it is a binary file")
        for at in range(count)
    ]  # fmt: skip


def tickets(count):
    failed = '{"error": "request invalid, data error. status_code=500", "response": ""}'
    return [tool("open", {"title": f"Repair {at}", "queue": at % 3}, failed) for at in range(count)]


def claims(count, answer="Rejected: your patch is empty."):
    return [tool("task_done", {"message": said}, answer) for said in SAYINGS[:count]]


def kinds(steps, **config):
    given = [{"id": f"s{at}", **step} for at, step in enumerate(steps, 1)]
    result = LoopGrader(config=config).grade({"format": "weighbridge", "steps": given})
    return [(loop["kind"], loop["repeats"]) for loop in result["details"]["loops"]]


FAMILIES = pytest.mark.parametrize("attempts", [greps, views, tickets, claims])


@FAMILIES
def test_six_attempts_that_differ_in_trifles_and_fail_the_same_way_are_a_loop(attempts):
    assert kinds(attempts(6)) == [("same_failure", 6)]
    assert kinds(attempts(5)) == []


@FAMILIES
def test_the_limit_is_twice_the_repeats_of_one_call(attempts):
    assert kinds(attempts(4), max_repeats=2) == [("same_failure", 4)]
    assert kinds(attempts(6), max_repeats=4) == []


@FAMILIES
def test_an_attempt_that_is_sent_again_as_it_was_counts_twice(attempts):
    one, two, three, *_ = attempts(3)
    assert kinds([one, two, three, one, two]) == [("same_failure", 5)]
    assert kinds([one, two, one, two]) == []


@FAMILIES
def test_looks_that_show_what_is_known_do_not_part_them(attempts):
    look = bash("ls", "README a.py src")
    steps = [look]
    for attempt in attempts(6):
        steps += [attempt, look]
    assert [repeats for _, repeats in kinds(steps)] == [6]


@FAMILIES
@pytest.mark.parametrize(
    "news",
    [
        bash("cat b.py", "a file that was not read before"),
        tool("edit", {"path": "c.py", "new": "x"}, "The file was edited."),
        tool("fetch", {"url": "x.org"}, "Error: host x.org is not known here"),
        tool("edit", {"path": "c.py", "new": "x"}, None),
        {"type": "user", "output": "Now do the same for the other half of the files, please."},
    ],
    ids=["a result", "a change", "another error", "an unknown result", "a request"],
)
def test_anything_new_between_them_parts_them(attempts, news):
    steps = attempts(6)
    assert kinds([*steps[:3], news, *steps[3:]]) == []


def test_an_action_without_effect_on_nine_numbered_things_is_a_loop():
    steps = [tool("act", {"command": f"open box {at}"}, "It is still locked.") for at in range(9)]
    assert kinds(steps) == [("same_failure", 9)]
    assert kinds(steps[1:]) == []


@pytest.mark.parametrize(
    ("name", "shown"),
    [("act", "In box {}, you see a coin."), ("find_box", "Box not found."), ("act", "Taken.")],
)
def test_what_an_action_shows_of_numbered_things_is_news(name, shown):
    steps = [tool(name, {"command": f"open box {at}"}, shown.format(at)) for at in range(12)]
    assert kinds(steps) == []


def test_a_failure_whose_counter_advances_is_progress():
    steps = [
        bash(f"make test part={at}", f"Error: {20 - at} of 40 tests failed") for at in range(8)
    ]
    assert kinds(steps) == []


def test_one_question_after_the_other_is_a_list():
    names = [
        "Ann Lee",
        "Bo Hart",
        "Cy Moss",
        "Di Ford",
        "Ed Nash",
        "Flo Rye",
        "Gil Sage",
        "Hal Pine",
    ]
    steps = [
        tool("find", {"query": f"the current postal address and the telephone number of the customer {name}"},
             "Error: customer not found")
        for name in names
    ]  # fmt: skip
    assert kinds(steps) == []


def test_other_words_are_other_attempts():
    words = ["parcel", "delivery", "shipment", "courier", "package", "freight", "post", "mail"]
    assert kinds([tool("search", {"query": word}, "Error: no results") for word in words]) == []


PLANS = [
    "walk along the quay at noon and count whichever boats are moored there",
    "sum up a week of rainfall",
    "translate those minutes into Danish, keeping every name",
    "draw three circles",
    "which of our suppliers was late twice in spring?",
    "sort this list",
    "explain tides to a child of seven, with an example from kitchens",
    "write nine rhymes",
    "find mistakes in my invoice before Friday, then tell Anna about each",
    "plan Sunday",
]


def plans(count):
    """Return attempts that ask for different things."""
    return [
        tool("generate", {"goal": plan}, "Error: the model does not exist")
        for plan in PLANS[:count]
    ]


def test_nine_attempts_in_a_row_that_fail_with_one_text_are_a_loop_whatever_they_ask():
    assert kinds(plans(9)) == [("same_failure", 9)]
    assert kinds(plans(8)) == []
    looks = [tool("look", {"at": 1}, "a page"), tool("look", {"at": 2}, "another one")]
    assert kinds([*plans(5), *looks, *plans(10)[5:]]) == []


def test_things_that_are_tried_once_each_have_half_as_many_attempts_more():
    denied = "Error: permission denied"
    files = [tool("read_file", {"path": f"/data/{at}.csv"}, denied) for at in range(9)]
    assert kinds(files[:8]) == []
    assert kinds(files) == [("same_failure", 9)]
    assert kinds([*files[:5], files[2]]) == [("same_failure", 6)]


def test_a_limit_that_is_raised_is_another_attempt():
    steps = [
        tool("build", {"target": "all", "seconds": 5 * 2**at}, "Error: timed out")
        for at in range(9)
    ]
    assert kinds(steps) == []


def test_long_pieces_of_work_that_differ_are_other_work():
    text = "def total(rows):\n    return sum(row.price for row in rows if row.is_open)\n" * 8
    steps = [
        tool("edit", {"old": f"{text}{at}", "new": f"{at}"}, "Error: not found") for at in range(9)
    ]
    assert kinds(steps) == []


def test_a_number_in_the_failure_that_goes_up_and_down_is_noise():
    refused = [417, 993, 102, 556, 871, 240]
    steps = [
        tool(
            "open",
            {"title": f"Repair {at}", "queue": 7},
            f"403 Forbidden: no such right (request {number})",
        )
        for at, number in enumerate(refused)
    ]
    assert kinds(steps) == [("same_failure", 6)]


def test_what_failed_in_another_way_is_another_attempt():
    steps = [
        bash(
            f"cargo build -p part{at}", f"error[E0{300 + at}]: mismatched types\n --> m.rs:{at * 7}"
        )
        for at in range(8)
    ]
    assert kinds(steps) == []


def test_guesses_in_a_word_are_no_claims():
    words = ["red", "green", "blue", "white", "black", "brown", "grey"]
    assert kinds([tool("finish", {"answer": word}, "That is not it.") for word in words]) == []


@pytest.mark.parametrize(
    "between",
    [
        lambda at: tool("press", {"key": "reload"}, "The page was loaded."),
        lambda at: tool("read_file", {"path": f"notes/{at}"}, "(an empty file)"),
        lambda at: tool("press", {"key": f"F{at}"}, "Error: there is no such key"),
    ],
    ids=["the same again", "a look that shows what was seen", "another failure of before"],
)
def test_what_tells_nothing_new_between_attempts_parts_them_not(between):
    # The first of them is news, so it comes before the attempts.
    steps = [between(0)]
    for at, attempt in enumerate(greps(6), 1):
        steps += [attempt, between(at)]
    assert 6 in [repeats for _, repeats in kinds(steps)]


@pytest.mark.parametrize(
    "between",
    [
        lambda at: tool("press", {"key": f"F{at}"}, "The page was loaded."),
        lambda at: tool("read_file", {"path": "notes"}, f"line {'abcdefg'[at]}"),
    ],
    ids=["another deed", "something else seen"],
)
def test_what_is_new_between_attempts_parts_them(between):
    steps = [step for at, attempt in enumerate(greps(6)) for step in (attempt, between(at))]
    assert ("same_failure", 6) not in kinds(steps)


def test_a_row_of_one_failure_is_found_wherever_it_begins():
    done = [tool("press", {"key": f"F{at}"}, f"opened page {'abcdefg'[at]}") for at in range(7)]
    for before in (0, 1, 4, 7):
        assert kinds([*done[:before], *plans(9)]) == [("same_failure", 9)]


COLUMNS = ["city", "origin", "city", "depart", "origin", "start", "city", "start", "place", "place"]


def sql(condition, name):
    query = f"SELECT COUNT(*) FROM flights WHERE {condition}"
    return tool(
        "sql", {"query": query}, f"Error executing query: Unknown column '{name}' in 'where clause'"
    )


def test_failures_that_differ_in_what_they_quote_are_a_loop_if_half_of_them_are_known():
    steps = [sql(f"{name} = 'Rome' AND day = {at}", name) for at, name in enumerate(COLUMNS)]
    assert kinds(steps) == [("same_failure", 10)]
    assert kinds(steps[:9]) == [("same_failure", 9)]


def test_five_rewordings_of_one_request_that_fail_with_one_text_are_a_loop():
    requests = [
        "count the red cats of the pets",
        "count the red cats and old dogs",
        "list old dogs with red cats",
        "list the pets and old cats",
        "count the old pets with dogs",
    ]
    off = "Error executing query: the engine is off"
    steps = [tool("sql", {"query": request, "db": "pets"}, off) for request in requests]
    assert kinds(steps) == [("same_failure", 5)]
    assert kinds(steps[:4]) == []


def test_a_guess_that_fails_by_another_name_each_time_is_a_new_one():
    names = ["departure", "town.name", "code", "airport.id", "place_id", "iata", "area", "zone"]
    joins = ["", "JOIN a ", "JOIN a JOIN b ", "LEFT JOIN c "] * 2
    steps = [sql(f"{join}{name} = 'Rome'", name) for join, name in zip(joins, names, strict=True)]
    assert kinds(steps) == []


def test_nine_attempts_in_turns_of_known_failures_are_a_loop():
    failures = [
        "there is no table named like that",
        "the column in the list is unknown",
        "the end of the query is missing",
    ]
    verbs = ["count", "sum", "list", "join"]
    steps = [
        tool("sql", {"query": f"{verbs[at % 4]} pets {'abc'[at * at % 3]}"}, f"Error executing query: {failures[at % 3]}")
        for at in range(12)
    ]  # fmt: skip
    assert [kind for kind, _ in kinds(steps)] == ["same_failure"]
    assert kinds(steps[:9]) == []  # the first three were new


def test_one_failure_of_two_tools_in_turns_is_a_loop():
    denied = "Error: the session has expired, sign in again"
    steps = [
        tool("read_note" if at % 2 else "open_note", {"title": f"plan {'of work ' * (at // 2)}"}, denied)
        for at in range(6)
    ]  # fmt: skip
    assert kinds(steps) == [("same_failure", 6)]
    done = tool("sign_in", {}, "Signed in as Ann.")
    assert kinds([*steps[:3], done, *steps[3:]]) == []


def panics(count):
    panic = "thread 'main' panicked at src/main.rs:{}:9:\nindex out of bounds: the len is {} but the index is {}"
    inputs = ["1 2 3", "3 2 1 4", "5", "7 7", "0 0 9", "2 4 6 8", "1", "9 8"]
    return [
        bash(f"echo '{given}' | ./solve", panic.format(41, len(given), len(given) * 7 % 5))
        for given in inputs[:count]
    ]


def test_a_program_that_panics_alike_on_every_input_is_a_loop():
    assert kinds(panics(6)) == [("same_failure", 6)]
    assert kinds(panics(5)) == []
    built = bash("cargo build", "Compiling solve v0.1.0\nFinished in 2 s")
    assert kinds([*panics(3), built, *panics(6)[3:]]) == []


def test_what_failed_is_read_below_a_heading_with_the_exit_code():
    def ended(said):
        return f"<returncode>1</returncode>\n<output>\n{said}\n</output>"

    said = ["no such option: --fast", "the port is taken", "out of disk space", "bad magic number",
            "the lock is held by pid 7", "no route to host"]  # fmt: skip
    assert kinds([bash(f"make all part{at}", ended(text)) for at, text in enumerate(said)]) == []
    steps = [
        bash(f"make all part{at}", ended("make: *** No rule to make target")) for at in range(6)
    ]
    assert kinds(steps) == [("same_failure", 6)]


def test_a_traceback_above_many_lines_without_words_is_a_failure():
    said = "Traceback (most recent call last):\n  File 'solve.py', line 7\nKeyError: 'boats'\n"
    steps = [bash(f"cat part{at}.txt | ./solve", said + "-----\n" * 130) for at in range(6)]
    assert kinds(steps) == [("same_failure", 6)]


def test_a_result_that_denies_success_is_a_failure_not_a_confirmation():
    def attempts(success):
        plans = ("descend", "go down", "descend safely")
        output = f"Stepping towards (48, 5).\nsuccess: {success}"
        return [
            tool("macro", {"plan": plans[n % 3], "to": [65, 6], "then": "descend"}, output)
            for n in range(8)
        ]

    assert kinds(attempts("False")) == [("same_failure", 8)]
    assert kinds(attempts("True")) == []
