"""The rules of the loop grader, one by one, on small traces."""

from __future__ import annotations

import itertools
import json
import random

import orjson
import pytest

from weighbridge.graders.loop import LoopGrader
from weighbridge.traces import Step, Trace, Usage
from weighbridge.traces.unread_counts import MADE_BY_OTHERS

PAGE = "A page of results that is long enough to tell one question from another, and then some more of it."


def tool(name="search", arguments=None, output="", **more):
    return {"type": "tool", "name": name, "arguments": arguments, "output": output, **more}


def llm(text=None, **more):
    return {"type": "llm", "output": text, **more}


def user(text):
    return {"type": "user", "output": text}


def times(count, make, *args, **more):
    return [make(*args, **more) for _ in range(count)]


def trace(steps):
    named = [{"id": f"s{place}", **step} for place, step in enumerate(steps, 1)]
    return {"format": "weighbridge", "steps": named}


def grade(steps, **config):
    return LoopGrader(config=config).grade(trace(steps))


def loops(steps, **config):
    return grade(steps, **config)["details"]["loops"]


def ids(steps, **config):
    return [loop["step_ids"] for loop in loops(steps, **config)]


def numbered(first, last):
    return [f"s{number}" for number in range(first, last + 1)]


# The same step


def test_a_step_more_than_max_repeats_times_in_a_row_is_a_loop():
    assert ids(times(3, tool, "search", {"q": "x"}, "none")) == []
    assert ids(times(4, tool, "search", {"q": "x"}, "none")) == [numbered(1, 4)]
    assert ids(times(4, tool, "search", {"q": "x"}, "none"), max_repeats=5) == []
    assert ids(times(2, tool, "search", {"q": "x"}, "none"), max_repeats=1) == [numbered(1, 2)]


def test_only_the_steps_of_the_loop_are_named():
    honest = [tool("read", {"path": f"{name}.py"}, f"text of {name}") for name in "abcd"]
    steps = [*honest[:2], *times(5, tool, "search", {"q": "x"}, "none"), *honest[2:]]
    assert ids(steps) == [numbered(3, 7)]


def test_the_order_of_keys_and_missing_nulls_make_no_difference():
    steps = [
        tool("find", {"a": 1, "b": "x"}, "none"),
        tool("find", {"b": "x", "a": 1}, "none"),
        tool("find", {"b": "x", "a": 1, "c": None}, "none"),
        tool("find", '{"b": "x", "a": 1}', "none"),
    ]
    assert ids(steps) == [numbered(1, 4)]
    listed = [{"name": "old boat"}, {"name": "old boat", "owner": None}]
    steps = [tool("find", {"any_of": [listed[at % 2]]}, "none") for at in range(4)]
    assert ids(steps) == [numbered(1, 4)]


@pytest.mark.parametrize(
    "part",
    [lambda name: {"type": "resource", "resource": {"uri": name}}, str],
    ids=["file", "text"],
)
def test_a_result_of_a_protocol_differs_by_parts_that_are_no_texts(part):
    text = {"type": "text", "text": "One file was found."}
    steps = [
        tool("find", {"a": 1}, {"content": [text, part(name)]})
        for name in ("boat", "mast", "keel", "lamp")
    ]
    assert ids(steps) == []
    assert ids([steps[0]] * 4) == [numbered(1, 4)]


def test_a_result_may_look_like_one_of_a_protocol():
    assert ids([tool("count", {"a": 1}, {"content": at}) for at in (7, 41, 23, 65)]) == []


def test_an_attempts_number_and_the_agents_own_remarks_make_no_difference():
    steps = [
        tool("find", {"q": "x", "attempt": at, "explanation": f"because of {word}"}, "none")
        for at, word in enumerate(("this", "that", "luck", "hope"))
    ]
    assert ids(steps) == [numbered(1, 4)]
    states = [
        {"evaluation_previous_goal": word, "memory": word[::-1], "next_goal": "open it"}
        for word in ("opened", "failed", "unknown", "once more")
    ]
    clicks = [
        tool("act", {"current_state": state, "action": [{"click": {"index": 4}}]}, "clicked")
        for state in states
    ]
    assert ids(clicks) == [numbered(1, 4)]
    commands = [
        tool("bash", {"command": "make", "description": word}, "no rule")
        for word in ("build", "try", "again", "hm")
    ]
    assert ids(commands) == [numbered(1, 4)]


REASONS = ("to find the price", "to compare the ferries", "to read the details", "to be sure")


@pytest.mark.parametrize("key", ["reason", "intent", "purpose", "goal"])
def test_what_an_address_is_wanted_for_makes_no_difference_and_alone_it_does(key):
    fetches = [tool("fetch", {"url": "u.example/f", key: why}, PAGE) for why in REASONS]
    assert ids(fetches) == [numbered(1, 4)]
    reads = [tool("read_file", {"path": "a.md", key: why}, "empty") for why in REASONS]
    assert ids(reads) == [numbered(1, 4)]
    assert ids([tool("list_returns", {key: why, "shop": 4}, "[]") for why in REASONS]) == []
    pages = [
        tool("fetch", {"url": "u.example/f", key: why}, f"{PAGE} {at}")
        for at, why in enumerate(REASONS)
    ]
    assert ids(pages) == []
    assert ids([tool("fetch", {"url": f"u.example/{why}", key: why}, "[]") for why in "abcd"]) == []


def test_other_arguments_are_another_step():
    for values in (range(6), ("a", "b", "c", "d", "e", "f"), (1, 2.5, True, None, "x", [])):
        assert ids([tool("find", {"q": value}, "none") for value in values]) == []


def test_another_tool_is_another_step():
    assert ids([tool(name, {"q": "x"}, "none") for name in "abcdef"]) == []


def test_the_same_call_that_comes_to_something_else_is_no_repeat():
    assert ids([tool("next_item", {}, word) for word in ("ant", "bee", "cat", "dog", "elk")]) == []


def test_retrying_until_it_works_is_no_loop():
    steps = [
        *times(3, tool, "fetch", {"url": "u"}, "Error: 503"),
        tool("fetch", {"url": "u"}, PAGE),
    ]
    assert ids(steps) == []


def test_texts_between_calls_do_not_hide_a_loop():
    steps = []
    for word in ("now", "so", "well", "then", "hm"):
        steps += [llm(f"Let me try {word}."), tool("search", {"q": "x"}, "none")]
    assert ids(steps) == [["s2", "s4", "s6", "s8", "s10"]]


# Cycles


@pytest.mark.parametrize("period", range(2, 11))
def test_a_cycle_is_a_loop_from_three_rounds_on_of_which_the_last_may_be_half_of_four_steps(period):
    round_of_calls = [tool(f"step_{at}", {"at": at}, f"result {at}") for at in range(period)]
    least = 3 * period - (period // 2 if period >= 4 else 0)
    assert ids((round_of_calls * 3)[:least]) == [numbered(1, least)]
    assert ids((round_of_calls * 3)[: least - 1]) == []
    [loop] = loops(round_of_calls * 4)
    assert (loop["kind"], loop["period"], loop["repeats"]) == ("cycle", period, 4)


def test_a_cycle_longer_than_max_period_is_none():
    calls = [tool(f"step_{at}", {"at": at}, f"result {at}") for at in range(4)]
    assert ids(calls * 3, max_period=3) == []
    assert ids(calls * 3, max_period=4) == [numbered(1, 12)]


def test_a_cycle_whose_edits_differ_is_editing_and_running_again():
    steps = []
    for word in ("one", "two", "three", "four", "five", "six"):
        steps.append(tool("edit", {"old": word, "new": word[::-1]}, "edited"))
        steps.append(tool("run_tests", {}, "Error: 1 failed"))
    assert ids(steps) == []


# Nearly the same step


def edit(text):
    return {"path": "a.py", "old": text, "new": "pass"}


BLOCK = "\n".join(
    f"    total = add(total, row.{name})"
    for name in ("price", "tax", "tip", "fee", "cost", "sum", "gain")
)
NOT_FOUND = "Error: old text not found"


def test_failing_edits_that_differ_in_a_word_or_in_white_space_are_one_step():
    variants = [BLOCK, BLOCK.replace("    ", "  "), BLOCK + "\n    # end", BLOCK.upper(), BLOCK]
    [loop] = loops([tool("edit", edit(text), NOT_FOUND) for text in variants])
    assert loop["step_ids"] == numbered(1, 5)
    assert loop["kind"] == "near_identical"
    assert 0 < loop["min_similarity"] < 1


def test_failing_requests_of_the_items_of_a_list_are_no_loop():
    def send(item):
        text = f"Please send the parcel of {item} from the depot in the north to the shop at the corner of the long street, and write the day of its arrival into the book of the shop, so that everybody there may know when it will come, and who has to wait for it"
        return tool("send", {"text": text}, "Error: the shop is closed")

    items = ("ants", "bees", "cats")
    look = tool("status", {"of": "shop"}, "closed")
    assert ids([*map(send, items), send("cats")]) == []
    assert ids([step for item in items for step in (send(item), look)]) == []
    assert ids([send(item) for item in ("ants", "bees", "ants", "bees")]) == [numbered(1, 4)]


def test_a_stricter_threshold_tells_them_apart():
    variants = [BLOCK + f"\n    {word} = {word}" for word in ("a", "bb", "ccc", "dddd", "eeeee")]
    steps = [tool("edit", edit(text), NOT_FOUND) for text in [*variants, *variants]]
    assert ids(steps) == [numbered(1, 10)]
    assert ids(steps[:8], similarity_threshold=1.0) == []


def test_short_questions_in_other_words_are_one_step_only_below_the_default_threshold():
    asked = (
        "export csv 504",
        "CSV export 504 code",
        "export csv 504 error",
        "csv export error 504",
    )
    steps = [tool("search_docs", {"query": query}, '{"page": 9}') for query in asked]
    assert ids(steps) == []
    assert ids(steps, similarity_threshold=0.6) == [numbered(1, 4)]


def test_noise_in_results_makes_equal_calls_no_less_alike():
    steps = [tool("f", {"q": "x"}, f"Error: no such table (took {at}.5 s)") for at in range(5)]
    (loop,) = loops(steps)
    assert loop["min_similarity"] == 1
    (entry,) = grade(steps)["evidence"]
    assert "each equal to the one before, ignoring noise in results; " in entry["description"]


def test_long_calls_that_differ_in_a_number_are_different():
    steps = [tool("edit", edit(f"{BLOCK}\n    line {at}"), NOT_FOUND) for at in range(8)]
    assert ids(steps) == []


def test_edits_that_succeed_are_no_repeat_however_alike():
    done = "The file was edited, and the former content was kept in the history of this work."
    words = ("ant", "bee", "cat", "dog", "elk", "fox")
    steps = [tool("edit", edit(f"{BLOCK}\n    # {word}"), done) for word in words]
    assert ids(steps) == []


def test_a_question_in_other_words_that_brings_the_same_answer_is_one_step():
    questions = (
        "capital of France",
        "What is the capital of France?",
        "the France capital",
        "capital, France",
    )
    assert ids([tool("ask", {"q": text}, PAGE) for text in questions]) == [numbered(1, 4)]
    assert ids([tool("ask", {"q": text}, "") for text in questions]) == [numbered(1, 4)]


def test_other_questions_are_other_steps_even_with_the_same_short_answer():
    words = ("ant", "bee", "cat", "dog", "elk", "fox")
    assert ids([tool("ask", {"q": f"price of the {word}"}, "unknown") for word in words]) == []


def test_failing_lookups_of_one_item_after_the_other_are_no_loop():
    letter = " ".join(["we", "kindly", "ask", "you", "to", "answer", "our", "letter"] * 5)
    names = ("Ann Moor", "Bob Stone", "Cleo Diaz", "Dan Wu", "Eve Koch", "Finn Ray")
    steps = [
        tool("send", {"text": f"Dear {name}, {letter}"}, "Error: mailbox is full") for name in names
    ]
    assert ids(steps) == []


# Noisy results


NOISE = {
    "a time": '{{"status": "pending", "checked_at": "2025-03-1{0}T10:0{0}:00Z"}}',
    "a request's id": "Error in request 3f2a9c{0}b77, nothing was found in the index",
    "a duration": "no new mail (took 0.{0}3 s)",
    "an address": "object <Job at 0x7f3a1c{0}d0> is still the same as before",
    "a uuid": "trace 0b6a7d9{0}-5c3e-4f1a-9b2d-7e8f9a0b1c2d of the unchanged record",
    "an attempt's number": "attempt: {0}, connection was not made",
}


@pytest.mark.parametrize("kind", NOISE)
def test_results_that_differ_by_noise_alone_are_the_same(kind):
    steps = [tool("get", {"id": 7}, NOISE[kind].format(digit)) for digit in (3, 1, 4, 2, 5)]
    assert ids(steps) == [numbered(1, 5)]


def test_results_in_another_order_are_the_same():
    words = ["ant", "bee", "cat", "dog"]
    steps = [
        tool("search", {"q": "x"}, " ".join(order))
        for order in itertools.islice(itertools.permutations(words), 5)
    ]
    [loop] = loops(steps)
    assert (loop["kind"], loop["step_ids"]) == ("noisy_results", numbered(1, 5))
    same = times(4, tool, "read", {"path": "a.py"}, "text of a")
    assert ids([*same, *steps]) == [numbered(1, 4), numbered(5, 9)]


@pytest.mark.parametrize(
    "progress",
    [
        "{at}0 % done",
        '{{"status": "running", "rows": {at}, "note": "the job is still at work on the table of orders, please wait"}}',
        "step {at} of 9",
        "{left} seconds left until the job is done",
        "ETA: {left}s for the whole job, which is at work on the table of all the orders",
        "state {word}, worker w",
    ],
)
def test_polling_that_progresses_is_no_loop(progress):
    words = ("queued", "starting", "running", "cleaning", "closing", "done")
    steps = [
        tool("get_status", {"job": 1}, progress.format(at=at + 1, left=90 - at * 7, word=word))
        for at, word in enumerate(words)
    ]
    assert ids(steps) == []


def test_reading_what_another_page_shows_is_no_retry():
    steps = []
    for word in ("alpha", "beta", "gamma", "delta", "eta"):
        steps += [tool("goto", {"url": f"/{word}/log"}, "navigated"), tool("read_page", {}, "404 - no such page")]  # fmt: skip
    assert ids(steps) == []


def test_a_map_on_which_something_moves_is_no_noise():
    maps = [f"|{'.' * at}@{'.' * (9 - at)}|\n|..........|\nDlvl:1 HP:16(16)" for at in range(8)]
    assert ids([tool("move", {"to": "east"}, shown) for shown in maps]) == []
    assert ids([tool("move", {"to": "east"}, maps[0]) for _ in maps]) == [numbered(1, 8)]


def test_polling_that_gets_stuck_is_a_loop_from_there_on():
    steps = [tool("get_status", {"job": 1}, f"{percent} %") for percent in (10, 20, 30, 30, 30, 30)]
    assert ids(steps) == [numbered(3, 6)]


def test_one_call_that_fails_in_several_ways_in_a_row_is_a_loop():
    errors = (
        "Error: timeout",
        "HTTP 502 Bad Gateway",
        "Error: connection reset by peer",
        "HTTP 503 Unavailable",
    )
    assert ids([tool("fetch", {"url": "u"}, error) for error in errors]) == [numbered(1, 4)]


@pytest.mark.parametrize(
    "failure",
    [
        "Error: job {word} of Ann raised KeyError: {word}",
        "make: *** {left} targets failed, Error 2",
        "error: timed out; {at} of 9 replicas are updated",
        '{{"status": 503, "error": "the model is loading", "estimated_time": {left}.5}}',
    ],
)
def test_one_call_whose_failure_is_another_each_time_is_no_loop(failure):
    words = ("ant", "bee", "cat", "dog", "elk", "fox")
    steps = [
        tool("go_on", {}, failure.format(word=word, at=at + 1, left=90 - at * 7))
        for at, word in enumerate(words)
    ]
    assert ids(steps) == []


@pytest.mark.parametrize(
    "failure",
    [
        "Error: process {digit}017 exited while it was reading the table of orders",
        "Login failed: wrong password. {left} attempts left.",
        "Error: timed out after 3{digit}.5 s (request 3f2a9c{digit}b77), attempt {at}",
    ],
)
def test_one_call_whose_failures_differ_by_noise_or_a_count_of_attempts_is_a_loop(failure):
    steps = [
        tool("go_on", {"id": 7}, failure.format(digit=digit, left=9 - at, at=at))
        for at, digit in enumerate((3, 1, 4, 2, 5))
    ]
    assert ids(steps) == [numbered(1, 5)]


def test_results_can_be_left_out_of_the_comparison():
    steps = [tool("next_item", {"of": "list"}, word) for word in ("ant", "bee", "cat", "dog")]
    assert ids(steps) == []
    assert ids(steps, compare_results=False) == [numbered(1, 4)]


# In no order


def test_failing_calls_in_no_order_are_a_loop():
    one, other = tool("open", {"path": "a"}, "Error: gone"), tool("book", {"id": 3}, "Error: full")
    order = [one, one, other, one, other, other, one, other, one, one, other, other]
    [loop] = loops(order)
    assert (loop["kind"], loop["period"], loop["step_ids"]) == (
        "interleaved",
        None,
        numbered(1, 12),
    )


def test_a_failing_call_with_nothing_but_looks_between_is_a_loop():
    steps = []
    for name in "abcde":
        steps.append(tool("bash", {"command": "make all"}, "Error: no rule"))
        steps.append(tool("read_file", {"path": name}, f"text of {name}"))
    assert ids(steps) == [["s1", "s3", "s5", "s7", "s9"]]


def test_a_call_that_comes_to_nothing_with_only_looks_between_is_a_loop_and_with_moves_is_none():
    vain = tool("open_door", {"door": "oak"}, "It is locked.")
    looked = [tool("look_at", {"thing": word}, f"a {word}, as ever") for word in "abcde"]
    moved = [tool("go_to", {"place": word}, f"you are in {word}") for word in "abcde"]
    both = [[step for look in others for step in (vain, look)] for others in (looked, moved)]
    assert ids(both[0]) == [["s1", "s3", "s5", "s7", "s9"]]
    assert ids(both[1]) == []


@pytest.mark.parametrize(
    "look",
    ["which python{at}", "uname -a; id {at}", "cat f{at} | grep x | wc -l", "terraform state show a{at}", "node{at} --version"],
)  # fmt: skip
def test_a_command_that_only_looks_does_not_help_a_program(look):
    steps = []
    for at in range(5):
        steps += [
            tool("bash", {"command": "pip install umber"}, "building...\nerror: 'gcc' failed"),
            tool("bash", {"command": look.format(at=at)}, f"{at}"),
        ]
    assert [len(each) for each in ids(steps)] == [5]


@pytest.mark.parametrize(
    "change",
    ["which python{at} > a", "sed -i s/a/b/ f{at}", "find . -name {at} -delete", "make {at}"],
)
def test_a_command_that_changes_something_may(change):
    steps = []
    for at in range(5):
        steps += [
            tool("bash", {"command": "pip install umber"}, "building...\nerror: 'gcc' failed"),
            tool("bash", {"command": change.format(at=at)}, f"{at}"),
        ]
    assert ids(steps) == []


def test_calls_named_after_their_attempts_ask_for_one_after_the_other():
    asked = [{"run": 5, "attempt_number": at} for at in range(1, 6)]
    assert ids([tool("get_run_attempt", given, "failure") for given in asked]) == []
    assert ids([tool("get_run", given, "failure") for given in asked]) == [numbered(1, 5)]


def test_a_new_id_of_what_was_made_is_a_new_thing_but_for_the_same_letter_again():
    letter = "Dear Mia, thank you for your patience with us, your parcel is on its way to you."
    for given, found in (({"size": "small"}, []), ({"text": letter}, [numbered(1, 5)])):
        made = [
            f'{{"id": "i-08e094db6c1818{at}", "status": "pending", "zone": "a"}}' for at in range(5)
        ]
        assert ids([tool("create_thing", given, result) for result in made]) == found


def test_a_program_tried_again_after_each_change_is_no_loop():
    steps = []
    for name in "abcdef":
        steps.append(tool("bash", {"command": "make all"}, "Error: no rule"))
        steps.append(tool("write_file", {"path": name, "content": name}, "written"))
    assert ids(steps) == []


def test_backing_off_is_no_loop():
    steps = []
    for seconds in (1, 2, 4, 8, 16):
        steps.append(tool("fetch", {"url": "u"}, "Error 429: too many requests"))
        steps.append(tool("wait", {"seconds": seconds}, f"waited {seconds}"))
    assert ids(steps) == []


def test_states_that_only_move_on_are_no_loop():
    states = ["queued"] * 3 + ["running"] * 3 + ["closing"] * 3 + ["done"] * 3
    assert ids([tool("get_job", {"id": 1}, {"state": state}) for state in states]) == []


def test_the_loop_names_neither_the_looks_between_nor_what_came_long_before():
    failing = tool("edit", edit(BLOCK), NOT_FOUND)
    look = tool("view", {"path": "a.py"}, "the text of the file")
    far = [tool("read", {"path": f"{name}"}, name) for name in "abcdefgh"]
    steps = [failing, *far, *[failing] * 4, look, *[failing] * 3]
    assert ids(steps) == [[*numbered(10, 13), *numbered(15, 17)]]


# Parallel calls and the user


def test_repeats_in_one_message_are_a_kind_of_their_own():
    steps = [llm(id="a"), *times(4, tool, "get", {"id": 1}, "x", parent_id="a")]
    [loop] = loops(steps)
    assert loop["kind"] == "parallel"
    other = [llm(id="a"), *[tool("get", {"id": at}, "x", parent_id="a") for at in range(6)]]
    assert ids(other) == []


def test_a_new_message_of_the_user_begins_anew_for_calls():
    call = tool("get_account", {"id": 1}, "account 1")
    steps = []
    for text in ("Who am I?", "What is my name?", "And now?", "Tell me more.", "Once more."):
        steps += [user(text), call]
    assert ids(steps) == []


def test_a_message_of_the_user_after_the_first_call_begins_anew():
    call = tool("get_account", {"id": 1}, "account 1")
    assert ids([call, user("Who am I?"), *[call] * 3]) == []
    assert ids([call, user("Who am I?"), *[call] * 4]) == [numbered(3, 6)]


def test_a_user_who_only_says_go_on_does_not():
    steps = []
    for _ in range(5):
        steps += [user("Go on."), tool("get_account", {"id": 1}, "account 1")]
    assert ids(steps) == [["s2", "s4", "s6", "s8", "s10"]]


@pytest.mark.parametrize("form", ["input", "output"])
def test_neither_does_the_first_time_that_the_user_says_so(form):
    steps = []
    for _ in range(4):
        steps += [
            tool("search", {"q": "x"}, "none"),
            {"type": "user", form: "Your answer was not read. Go on."},
        ]
    assert ids(steps) == [["s1", "s3", "s5", "s7"]]


def test_calls_of_a_simulated_user_are_not_the_agents():
    steps = [
        user("Wait.") | {"id": "u"},
        *times(6, tool, "check_phone", {}, "no signal", parent_id="u"),
    ]
    assert ids(steps) == []


def test_a_call_seen_from_within_is_counted_once():
    steps = []
    for at in range(3):
        steps.append(tool("get", {"id": 1}, "x") | {"id": f"outer{at}"})
        steps.append(tool("get", {"id": 1}, "x", parent_id=f"outer{at}"))
    assert ids(steps) == []


# Texts


def test_a_text_that_is_said_again_and_again_is_a_loop_whatever_the_user_says():
    steps = []
    for reply in ("No.", "Please do.", "Why?", "Come on!"):
        steps += [llm("I'm sorry, I cannot help with that request."), user(reply)]
    [loop] = loops(steps)
    assert (loop["kind"], loop["step_ids"]) == ("text", ["s1", "s3", "s5", "s7"])


def test_nearly_the_same_text_is_the_same_text():
    text = "It seems there is still an issue with the booking. Shall I look for another date?"
    said = (text, text + " Thank you.", text.upper(), "Well, " + text, text)
    assert ids([llm(each) for each in said]) == [numbered(1, 5)]


def test_a_long_text_that_counts_its_attempts_is_the_same_text_and_a_short_one_is_not():
    plan = "I look at the table of orders again, and then at the one of customers, as before."
    assert ids([llm(f"Attempt {at} of 9: {plan}") for at in range(1, 6)]) == [numbered(1, 5)]
    assert ids([llm(f"Round {at}: done.") for at in range(1, 6)]) == []
    assert ids([llm(f"[10:0{at}:11] {plan}") for at in range(1, 6)]) == [numbered(1, 5)]
    assert ids([llm(f"10:0{at} took the pill") for at in range(1, 6)]) == []


def test_a_name_made_of_parts_of_others_is_another_item_of_the_list():
    names = ("Noah Moreau", "Priya Tanaka", "Ravi Costa", "Ana Lind", "Priya Petrov", "Noah Tanaka")
    steps = [llm(f"Confirmed the table of {name} for Saturday evening.") for name in names]
    assert ids(steps) == []


def test_a_label_for_each_new_question_is_no_loop_and_a_sermon_for_each_is():
    sermon = "I cannot help with that, but I am glad to answer anything else that you may ask."
    label = "Category: bills of the wool and the yarn"
    answers = [
        ("Category: billing", []),
        ('{"label": "spam"}', []),
        (label, []),
        (f"{label}s", []),
        (label * 6, [5]),
    ]
    for answer, found in (*answers, (sermon, [5])):
        steps = []
        for word in ("refund", "parcel", "price", "robot", "garden"):
            steps += [user(f"Which category has this: where is my {word}?"), llm(answer)]
        assert [len(each) for each in ids(steps)] == found


@pytest.mark.parametrize("order", ["ABABAB", "AABABBBA", "ABCABCABC"])
def test_a_few_texts_in_turn_are_a_loop(order):
    texts = {
        "A": "You're welcome! Have a nice day!",
        "B": "Thank you, goodbye!",
        "C": "I have to check this first.",
    }
    assert ids([llm(texts[each]) for each in order]) == [numbered(1, len(order))]


def test_texts_about_other_things_are_no_loop():
    frame = (
        "Here comes the next part of the long list that you gave me a while ago, which is about {}"
    )
    words = ("ant", "bee", "cat", "dog", "elk", "fox")
    assert ids([llm(frame.format(word)) for word in words]) == []
    assert ids([llm(frame.format(at)) for at in range(6)]) == []


def test_the_same_words_beside_other_calls_are_no_loop():
    steps = []
    for name in "abcdef":
        steps += [
            llm("Let me look at the next file."),
            tool("read", {"path": name}, f"text of {name}"),
        ]
    assert ids(steps) == []


def test_the_same_closing_words_after_other_work_are_no_loop():
    steps = []
    for name in "abcdef":
        steps += [
            user(f"Do {name}."),
            llm(),
            tool("do", {"what": name}, "ok"),
            llm("Done. Anything else?"),
        ]
    assert ids(steps) == []


def test_one_answer_to_other_inputs_is_no_loop():
    steps = [
        llm("positive", input=f"Is this good: {word}?")
        for word in ("ant", "bee", "cat", "dog", "elk")
    ]
    assert ids(steps) == []
    same = [llm("positive", input="Is this good: ant?") for _ in range(5)]
    assert ids(same) == [numbered(1, 5)]


def test_one_answer_in_a_conversation_that_goes_on_is_a_loop():
    history = []
    steps = []
    for _ in range(5):
        history = [*history, {"role": "user", "content": "again"}]
        steps.append(llm("I cannot do that, as I told you.", input=history))
    assert ids(steps) == [numbered(1, 5)]


def test_the_same_prompt_is_a_repeat_where_the_answers_are_not_told():
    assert ids(times(4, llm, input="Sum up the report.")) == [numbered(1, 4)]
    assert ids(times(6, llm)) == []


# Actions written as text


def said(action, argument, observation):
    text = f"Thought: hm {argument}\nAction: {action}\nAction Input: {json.dumps({'q': argument})}"
    return [llm(text), user(f"Observation: {observation}")]


def test_an_action_written_as_text_is_a_call_and_what_follows_its_result():
    stuck = [step for _ in range(4) for step in said("search", "x", "Error: nothing")]
    assert ids(stuck) == [["s1", "s3", "s5", "s7"]]
    working = [
        step for word in ("a", "b", "c", "d") for step in said("scroll", "down", f"part {word}")
    ]
    assert ids(working) == []


def numbered_action(at, action, observation):
    text = f"Thought {at}: I look for it.\nAction {at}: {action}"
    return [llm(text), user(f"Observation {at}: {observation}")]


def test_the_number_of_a_written_action_makes_no_difference_and_the_tool_stands_before_the_brackets():
    queries = ["river child", "child of the river", "river and child", "a river child"]
    nothing = "Could not find that. Similar: ['River', 'Child']"
    steps = [
        step
        for at, query in enumerate(queries, 1)
        for step in numbered_action(at, f"Search[{query}]", nothing)
    ]
    assert ids(steps) == [["s1", "s3", "s5", "s7"]]
    items = [
        step
        for at, word in enumerate(("river", "child", "turtle", "Japan", "festival"), 1)
        for step in numbered_action(at, f"Lookup[{word}]", "No more results.")
    ]
    assert ids(items) == []


def test_a_fenced_command_is_compared_as_any_other():
    steps = []
    for at, note in enumerate(("first", "again", "once more", "now", "so")):
        steps += [
            llm(f"Check.\n```bash\n# {note}\ncurl localhost/health\n```"),
            user("curl: (7) Connection refused"),
            llm(f"Look.\n```bash\ncat /opt/conf{at}\n```"),
            user(f"port={at}"),
        ]
    assert ids(steps) == [[f"s{at}" for at in range(1, 20, 4)]]


def test_an_action_written_as_an_object_with_its_name_is_a_call_of_that_tool():
    steps = []
    for at in range(5):
        for name, given, result in (
            ("fetch", {"url": "u"}, "Error: connection refused"),
            ("wait", {"seconds": 2**at}, "waited"),
        ):
            called = f'{{"name": "{name}", "arguments": {json.dumps(given)}}}'
            steps += [llm(f"I try.\n<tool_call>\n{called}\n</tool_call>"), user(result)]
    assert ids(steps) == []
    assert ids([step for step in steps if "wait" not in str(step)]) == [
        ["s1", "s3", "s5", "s7", "s9"]
    ]


def test_a_command_at_the_end_of_a_text_is_an_action():
    steps = []
    for line in ("one", "two", "three", "four", "five"):
        steps += [llm("Let me read on.\n```\nscroll_down\n```"), user(f"line {line}")]
    assert ids(steps) == []


# What the trace does not tell


def test_without_results_the_arguments_tell():
    assert ids(times(4, tool, "search", {"q": "x"}, None)) == [numbered(1, 4)]


def test_without_results_a_step_that_moves_on_needs_twice_as_many():
    assert ids(times(6, tool, "click", {"at": "Save"}, None)) == []
    assert ids(times(8, tool, "click", {"at": "Save"}, None)) == [numbered(1, 8)]


def test_a_last_call_without_a_result_repeats_the_one_before():
    steps = [*times(3, tool, "search", {"q": "x"}, "none"), tool("search", {"q": "x"}, None)]
    assert ids(steps) == [numbered(1, 4)]


def test_without_arguments_only_a_long_result_tells():
    assert ids(times(6, tool, "search", None, None)) == []
    assert ids(times(6, tool, "search", None, "ok")) == []
    assert ids(times(6, tool, "search", None, PAGE)) == [numbered(1, 6)]


def test_pictures_that_were_left_out_tell_nothing():
    assert ids(times(6, tool, "click", {"x": 1}, "<image>")) == []


# Verdict, score, details and evidence


def test_a_loop_fails_with_the_share_of_the_steps_outside_it():
    honest = [tool("read", {"path": name}, f"text of {name}") for name in "abcdef"]
    result = grade([*honest, *times(4, tool, "search", {"q": "x"}, "none")])
    assert (result["verdict"], result["score"]) == ("fail", 0.6)
    assert grade(times(4, tool, "search", {"q": "x"}, "none"))["score"] == 0.0


def test_the_evidence_names_steps_limit_and_what_was_done():
    result = grade(times(5, tool, "search", {"q": "needle"}, "none"))
    [entry] = result["evidence"]
    assert entry["check"] == "loop"
    assert (entry["limit"], entry["observed"], entry["step_ids"]) == (3, 5, numbered(1, 5))
    assert "needle" in entry["excerpt"]
    assert "5 times in a row, limit 3" in entry["description"]


def test_a_pass_says_what_was_checked_and_how_near_it_came():
    result = grade([tool("a", {"x": 1}, "r"), *times(3, tool, "b", {"x": 1}, "r")])
    assert (result["verdict"], result["score"]) == ("pass", 1.0)
    repeated, cycles = result["evidence"]
    assert (repeated["limit"], repeated["observed"], repeated["step_ids"]) == (3, 3, numbered(2, 4))
    assert (cycles["limit"], cycles["observed"], cycles["step_ids"]) == (2, 0, [])
    assert result["details"]["longest_repeat"] == 3


def test_a_trace_with_nothing_to_examine_passes_and_says_so():
    for steps in ([], [user("hello")], times(9, llm, "the same")[:0]):
        result = grade(steps)
        assert (result["verdict"], result["score"]) == ("pass", 1.0)
        assert [(entry["check"], entry["passed"]) for entry in result["evidence"]] == [
            ("vacuous", True)
        ]


def test_a_source_without_tool_calls_is_ungradable_unless_its_texts_loop():
    without = {"tool_calls": "the log has texts alone"}
    fine = trace([llm("one"), llm("two")]) | {"missing": without}
    result = LoopGrader().grade(fine)
    assert result["verdict"] == "ungradable"
    assert "the log has texts alone" in result["evidence"][0]["description"]
    stuck = trace(times(4, llm, "the same text again")) | {"missing": without}
    assert LoopGrader().grade(stuck)["verdict"] == "fail"
    assert LoopGrader(config={"step_types": ["llm"]}).grade(fine)["verdict"] == "pass"


def test_a_trace_that_cannot_be_read_is_ungradable_with_all_details():
    unread, read = LoopGrader().grade({"what": "is this"}), grade([])
    assert unread["verdict"] == "ungradable"
    assert unread["details"].keys() == read["details"].keys()


def test_only_the_chosen_types_are_examined():
    calls, texts = times(4, tool, "search", {"q": "x"}, "none"), times(4, llm, "the same text")
    assert ids([*calls, *texts]) == [numbered(1, 4), numbered(5, 8)]
    assert ids([*calls, *texts], step_types=["tool"]) == [numbered(1, 4)]
    assert ids([*calls, *texts], step_types=["llm"]) == [numbered(5, 8)]


def test_answers_with_the_same_calls_repeat_where_only_answers_are_examined():
    steps = [step for _ in range(4) for step in (llm("Once more."), tool("get", {"id": 1}, "x"))]
    assert ids(steps, step_types=["llm"]) == [["s1", "s3", "s5", "s7"]]


def test_agents_are_examined_on_demand():
    steps = [
        {"type": "agent", "name": "writer", "arguments": {"task": "write"}, "output": "done"}
    ] * 4
    assert ids(steps) == []
    assert ids(steps, step_types=["agent"]) == [numbered(1, 4)]


def costly_loop(*after):
    """Return a trace with four repeats of a call, each requested by a response of 110 tokens, and further steps."""
    steps = [Step(id="m", type="llm", output="Let me see.", usage=Usage(1, 1), cost_usd=1.0)]
    for at in range(4):
        started = (at + 1) * 10**9
        steps.append(Step(id=f"m{at}", type="llm", usage=Usage(100, 10), cost_usd=0.25))
        call = {"name": "get", "arguments": {"id": 1}, "output": "x", "parent_id": f"m{at}"}
        times = {"started_at": started, "ended_at": started + 5_000_000}
        steps.append(Step(id=f"t{at}", type="tool", **times, **call))
    return Trace(None, (*steps, *after), "test")


def test_a_loop_that_lasts_to_the_end_costs_all_that_follows_its_first_repeat():
    lost = Step(id="e", type="tool", name="look", arguments={"at": 1}, error="no such thing")
    result = LoopGrader().grade(costly_loop(lost))
    [loop] = result["details"]["loops"]
    assert (loop["began_at"], loop["recovered"], loop["wasted_steps"]) == (3, False, 7)
    assert (loop["wasted_tokens"], loop["wasted_ms"], loop["wasted_usd"]) == (330, 2005, 0.75)
    assert result["evidence"][0]["description"].endswith(
        "from step 3 of 10 to the end: the agent did not leave the loop; "
        "cost from the first repeat: 7 steps, 330 tokens, 2.0 s, 0.7500 USD; with max_repeats 4 no loop would fail the run"
    )


def test_a_loop_that_the_agent_got_out_of_costs_what_came_before():
    after = Step(id="e", type="llm", output="It is x.", usage=Usage(9, 9), cost_usd=9.0)
    result = LoopGrader().grade(costly_loop(after))
    [loop] = result["details"]["loops"]
    assert (loop["began_at"], loop["recovered"], loop["wasted_steps"]) == (3, True, 6)
    assert (loop["wasted_tokens"], loop["wasted_ms"], loop["wasted_usd"]) == (330, 2005, 0.75)
    assert result["evidence"][0]["description"].endswith(
        "steps 3 to 9 of 10, then the agent left the loop; "
        "cost from the first repeat: 6 steps, 330 tokens, 2.0 s, 0.7500 USD; with max_repeats 4 no loop would fail the run"
    )


def test_the_time_that_a_long_loop_costs_is_exact():
    hour = 3_600 * 10**9
    call = {"name": "get", "arguments": {"id": 1}, "output": "x"}
    steps = [
        Step(f"s{at}", "tool", **call, started_at=at * hour, ended_at=(at + 1) * hour)
        for at in range(1, 5)
    ]
    [loop] = LoopGrader().grade(Trace(None, tuple(steps), "test"))["details"]["loops"]
    assert loop["wasted_ms"] == 3 * 3_600_000


def test_costs_that_a_trace_does_not_tell_are_null():
    [unknown] = loops(times(4, tool, "search", {"q": "x"}, "none"))
    costs = (unknown["wasted_tokens"], unknown["wasted_ms"], unknown["wasted_usd"])
    assert costs == (None, None, None)
    assert (unknown["began_at"], unknown["wasted_steps"]) == (1, 3)


def test_a_second_loop_to_the_end_is_no_way_out_of_the_first():
    steps = [
        *times(4, tool, "search", {"q": "x"}, "none"),
        *times(4, tool, "search", {"q": "y"}, "none"),
    ]
    assert [loop["recovered"] for loop in loops(steps)] == [False, False]
    found = [
        loop["recovered"] for loop in loops([*steps[:4], tool("get", {"id": 1}, "a"), *steps[4:]])
    ]
    assert found == [True, False]


def test_loops_that_the_agent_got_out_of_can_be_tolerated():
    stuck = times(5, tool, "search", {"q": "x"}, "none")
    out = [*stuck, llm("There is none.")]
    assert grade(out)["verdict"] == "fail"
    assert grade(stuck, fail_on="unrecovered")["verdict"] == "fail"
    result = grade(out, fail_on="unrecovered")
    assert (result["verdict"], result["details"]["fail_on"]) == ("pass", "unrecovered")
    assert [(entry["check"], entry["passed"]) for entry in result["evidence"]] == [("loop", True)]
    assert result["score"] == pytest.approx(1 / 6)


def test_evidence_and_details_stay_small():
    result = grade(times(3_000, tool, "search", {"q": "x"}, "none"))
    [loop], [entry] = result["details"]["loops"], result["evidence"]
    assert (loop["steps"], len(loop["step_ids"]), len(entry["step_ids"])) == (3_000, 1_000, 50)
    assert (
        "3,000 steps (the first 50 are named), each equal to the one before" in entry["description"]
    )
    many = []
    for at in range(80):
        many += [*times(4, tool, f"tool{at}", {"at": at}, f"result {at}"), user(f"word{at}")]
    result = grade(many)
    assert (len(result["details"]["loops"]), result["details"]["loops_found"]) == (50, 80)
    assert len(result["evidence"]) == 50
    assert result["evidence"][-1]["check"] == "more"


# Configuration


@pytest.mark.parametrize(
    ("config", "error"),
    [
        ({"max_repeats": 0}, ValueError),
        ({"max_repeats": 1_001}, ValueError),
        ({"max_repeats": "3"}, TypeError),
        ({"max_repeats": True}, TypeError),
        ({"similarity_threshold": 1.5}, ValueError),
        ({"similarity_threshold": "high"}, TypeError),
        ({"max_period": 0}, ValueError),
        ({"step_types": []}, ValueError),
        ({"step_types": ["tools"]}, ValueError),
        ({"step_types": "tool"}, TypeError),
        ({"compare_results": 1}, TypeError),
        ({"max_repeat": 3}, ValueError),
    ],
)
def test_a_bad_configuration_is_refused(config, error):
    with pytest.raises(error, match=next(iter(config))):
        LoopGrader(config=config)


def test_the_requirements_follow_the_step_types():
    assert LoopGrader.requirements().capabilities == ("tool_calls",)
    assert LoopGrader.requirements({"step_types": ["llm"]}).capabilities == ()
    assert LoopGrader.requirements({"step_types": ["llm"]}).step_types == ("llm",)


# Whatever comes


class Hostile:
    """An object whose special methods all raise."""

    def _refuse(self, *_):
        raise RuntimeError("hostile")

    __repr__ = __str__ = __bool__ = __len__ = __iter__ = __eq__ = __hash__ = __format__ = _refuse
    __getattr__ = __contains__ = __getitem__ = _refuse


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


def self_containing():
    value = {}
    value["self"] = [value, value]
    return value


ODD = [
    None,
    True,
    10**5_000,
    1 << 200_000,
    float("nan"),
    float("-inf"),
    b"bytes",
    {"a", "b"},
    (1, (2,)),
    1j,
    "\ud800lone",
    "\x00",
    nested(5_000),
    {"a": nested(300)},
    self_containing(),
    {1: 2, None: 3, ("a",): 4},
    {"\ud800": 1, "q": "\udfff"},
    Hostile(),
    [Hostile(), {"a": Hostile()}],
    {"command": Hostile(), "action": Hostile()},
    "a the " * 50_000,
    [],
    {},
    "",
    {"q": "x" * 5_000},
    {"thought": None},
    "Error: no",
]


def odd_steps(arguments, output):
    made = [("tool", "get"), ("llm", None), ("user", None), ("tool", None), ("agent", "a")]
    return tuple(
        Step(id=f"s{at}", type=kind, name=name, arguments=arguments, output=output, input=output)
        for at, (kind, name) in enumerate(made * 4)
    )


@pytest.mark.slow
@pytest.mark.parametrize("place", range(len(ODD)))
def test_steps_of_any_content_get_a_whole_result(place):
    grader = LoopGrader(config={"step_types": ["tool", "llm", "agent", "user", "system", "other"]})
    for other in (len(ODD) - 1, (place * 7 + 3) % len(ODD), place):
        steps = odd_steps(ODD[place], ODD[other])
        result = grader.grade(Trace(None, steps, "test"))
        assert result["verdict"] in {"pass", "fail"}
        assert orjson.loads(orjson.dumps(result)) == result
    assert orjson.dumps(grader.grade(Trace(None, steps, "test"))) == orjson.dumps(result)


def test_random_traces_name_only_steps_of_their_own_in_order():
    rng = random.Random("traces")
    for _ in range(150):
        steps = [
            rng.choice(
                [
                    tool(
                        rng.choice("ab"),
                        {"q": rng.choice("xyz")},
                        rng.choice(("ok", "Error: no", "7 %", None)),
                    ),
                    llm(rng.choice((None, "", "one text", "another text", "Action: go"))),
                    user(rng.choice(("go on", "no", f"{rng.random()}"))),
                ]
            )
            for _ in range(rng.randint(0, 60))
        ]
        config = {"max_repeats": rng.randint(1, 5), "max_period": rng.randint(1, 12)}
        result = grade(steps, **config)
        places = {f"s{place}": place for place in range(1, len(steps) + 1)}
        for loop in result["details"]["loops"]:
            named = [places[step_id] for step_id in loop["step_ids"]]
            assert named == sorted(set(named))
            assert 0 <= loop["min_similarity"] <= 1
            assert loop["repeats"] >= 1
        assert (result["verdict"] == "fail") is bool(result["details"]["loops"])
        assert 0 <= result["score"] < 1 or result["verdict"] == "pass"


def test_two_texts_in_a_row_of_turns_are_a_loop_and_three_are_none():
    said = [
        "I look at the first of the orders and then decide what to do.",
        "There may be more than one way to read this; let me think.",
        "Before anything else, somebody should check the stock.",
    ]
    two = [llm(said[number]) for number in (0, 1, 1, 0, 1, 0, 0, 1)]
    three = [llm(said[number]) for number in (0, 1, 2, 1, 0, 2, 2, 1, 0)]
    assert ids(two) == [numbered(1, 8)]
    assert ids(three) == []


def test_a_loop_after_steps_that_only_move_on_is_found():
    moved = times(5, tool, "scroll", {"direction": "down"}, None)
    between = [tool(name, {"at": name}, f"{name} was done") for name in ("open", "sort", "sum")]
    same = times(5, tool, "search", {"q": "x"}, "none")
    [loop] = loops([*moved, *between, *same])
    assert (loop["kind"], loop["step_ids"]) == ("identical", numbered(9, 13))


def test_one_call_that_fails_in_about_the_same_way_is_a_loop_however_often_it_does():
    def failures(count):
        return [
            tool("fetch", {"url": "a"}, f"Error: timeout, {'connection reset by peer' if at % 2 else 'no answer'} after {at * 37 % 11} s")
            for at in range(count)
        ]  # fmt: skip

    for count in (4, 5, 7):
        assert ids(failures(count)) == [numbered(1, count)]
    assert ids(failures(3)) == []


@pytest.mark.parametrize(("between", "is_loop"), [(2, True), (3, False)])
def test_an_attempt_that_fails_again_is_not_helped_by_the_odd_call_between(between, is_loop):
    steps = []
    for at in range(4):
        steps.append(tool("book", {"id": 3}, "Error: full"))
        steps += [
            tool("go_to", {"place": f"{at} {place}"}, f"in {'abcd'[at]}{'xyz'[place]}")
            for place in range(between)
        ]
    assert ids(steps) == ([["s1", "s4", "s7", "s10"]] if is_loop else [])


def test_a_loop_right_after_a_word_of_the_user_begins_with_its_first_call():
    noisy = [tool("stat", {"f": "a"}, f"size 4, read {at} ms ago") for at in (31, 7, 55, 12)]
    assert ids([user("go on"), *noisy]) == [numbered(2, 5)]


def test_five_calls_that_each_fail_three_times_among_others_are_a_loop():
    order = "abcdeafbgcdhaeibcjde"
    steps = [
        tool("open", {"name": name}, f"Error: {name} is gone")
        if name in "abcde"
        else tool("write", {"name": name}, f"{name} was written")
        for name in order
    ]
    [found] = ids(steps)
    assert found == [f"s{at}" for at, name in enumerate(order, 1) if name in "abcde"]


@pytest.mark.parametrize(
    ("report", "is_loop"),
    [
        ("Error: the build ended with a failure in the module of orders", True),
        ("No results were found for what I was asked to look up in the papers", True),
        ("I have looked at the papers that were given to me, as I was asked", False),
    ],
)
def test_what_one_of_several_agents_reports_in_vain_each_time_is_a_loop(report, is_loop):
    asked = [
        "please build it",
        "what about the tests",
        "have another go at this",
        "and what is it now",
    ]
    steps = [
        step
        for words in asked
        for step in (llm(words, name="planner"), llm(report, name="builder"))
    ]
    assert ids(steps) == ([["s2", "s4", "s6", "s8"]] if is_loop else [])


def test_a_number_that_goes_up_and_down_is_noise_beside_ten_words_that_stay():
    words = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa"]

    def read(count):
        said = " ".join(words[:count])
        return [tool("stat", {"f": "a"}, f"{said} {number}") for number in (31, 7, 55, 12)]

    assert ids(read(10)) == [numbered(1, 4)]
    assert ids(read(9)) == []


@pytest.mark.parametrize("reason", sorted(MADE_BY_OTHERS))
def test_without_the_calls_of_other_agents_and_scripts_what_the_run_itself_did_is_judged(reason):
    steps = [{"id": f"s{at}", "type": "tool", "name": "read", "output": f"{at}"} for at in range(3)]
    missing = {"tool_calls": reason}
    result = LoopGrader().grade({"format": "weighbridge", "steps": steps, "missing": missing})
    assert result["verdict"] == "pass"
    assert result["evidence"][-1]["description"] == (
        f"only what this agent did itself was examined: {reason}"
    )
    missing = {"tool_calls": "half of the file is lost"}
    result = LoopGrader().grade({"format": "weighbridge", "steps": steps, "missing": missing})
    assert result["verdict"] == "ungradable"


def test_numbered_things_are_new_requests_whatever_is_in_them():
    steps = [step for at in range(8) for step in (user(f"Review {at}: ok"), llm("positive"))]
    assert ids(steps) == []


def test_all_repeats_of_calls_with_noise_cost_something():
    boats = [3, 5, 2, 6, 4, 3, 7]
    said = "There are {} boats in sight of the pier, and the fog has not moved since the morning."
    [loop] = loops([tool("look", {"at": "pier"}, said.format(count)) for count in boats])
    assert (loop["kind"], loop["wasted_steps"]) == ("noisy_results", 6)


def test_calls_of_one_message_cost_what_comes_after_the_first():
    asked = [{"id": "m", "type": "llm", "output": ""}]
    calls = [{"type": "tool", "name": "look", "parent_id": "m", "arguments": {"at": "pier"}, "output": "fog"}] * 5  # fmt: skip
    [loop] = loops([*asked, *calls])
    assert (loop["kind"], loop["wasted_steps"]) == ("parallel", 4)


def test_a_call_that_a_client_ran_twice_under_one_id_is_made_once():
    def twice(at, mark):
        shown = tool("view", {"file": f"{at % 5}.py"}, f"def function_{at % 5}(): ...")
        return [
            llm(id=f"m{at}"),
            *({"parent_id": f"m{at}", "id": f"c{at}{more}", **shown} for more in ("", mark)),
        ]

    def views(mark):
        return [step for at in range(10) for step in twice(at, mark)]

    assert loops(views("#2")) == []
    assert loops(views("b")) != []
    steps = views("#2")
    calls = [step for step in steps if step["type"] == "tool"]
    for at, call in enumerate(calls, 1):
        call["id"] = f"c#{at}" if at > 1 else "c"
    assert loops(steps) == []


def test_a_refusal_after_a_call_that_a_client_ran_twice_is_its_result():
    def refused(at):
        pay = {"type": "tool", "name": "pay", "arguments": {"to": "a"}, "parent_id": f"m{at}"}
        refusal = {"type": "user", "output": "Error: invalid tool call, it could not be parsed."}
        return [llm(id=f"m{at}"), *({**pay, "id": f"c{at}{more}"} for more in ("", "#2")), refusal]

    [loop] = loops([step for at in range(5) for step in refused(at)])
    assert loop["outcome"]["times"] == 5
