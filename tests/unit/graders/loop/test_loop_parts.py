"""Parts of the loop grader that are best tested separately: sequences of numbers, results, texts."""

from __future__ import annotations

import random

import pytest

from weighbridge.graders.loop import LoopGrader
from weighbridge.graders.loop.finders.findings import Finding, joined
from weighbridge.graders.loop.finders.rules import Rule
from weighbridge.graders.loop.finders.sequences.cycles import (
    NoveltyLimits,
    Span,
    low_novelty,
    repeats,
)
from weighbridge.graders.loop.history.actions import Call
from weighbridge.graders.loop.history.arguments import Arguments, canonical
from weighbridge.graders.loop.history.call_kinds import claims_done
from weighbridge.graders.loop.history.essential_arguments import common_folder, normalized
from weighbridge.graders.loop.history.failures import FailureNumbers
from weighbridge.graders.loop.history.masking import beginning_of
from weighbridge.graders.loop.history.results import CallResult
from weighbridge.graders.loop.history.text_forms import ComparedText, lists_items
from weighbridge.graders.loop.reporting.differences import NAMED_TOOLS
from weighbridge.graders.loop.work_budget import WorkBudget
from weighbridge.traces import Step


def repeats_by_definition(row, period):
    found = []
    start = 0
    while start + period < len(row):
        end = start + period
        while end < len(row) and row[end] == row[end - period]:
            end += 1
        if end > start + period:
            found.append(Span(start, end))
            start = end - period + 1
        else:
            start += 1
    return found


def crowded_by_definition(row, limits):
    found = []
    for end in range(limits.window, len(row) + 1):
        part = row[end - limits.window : end]
        held = sum(part.count(number) >= limits.least_often for number in part)
        if min(part) < 0 or len(set(part)) > limits.most_different or held < limits.least_repeated:
            continue
        start = end - limits.window
        if found and start <= found[-1].end:
            found[-1] = Span(found[-1].start, end)
        else:
            found.append(Span(start, end))
    return found


ROUNDS = [1, 2] * 8


@pytest.mark.parametrize(
    ("row", "start", "indices"),
    [
        ([*ROUNDS, 7, 8, 9, 2], 0, [*range(16), 19]),
        ([*ROUNDS, 6, 7, 8, 9, 2], 0, range(16)),
        ([*ROUNDS, 7, 2, 7, 8, 9, 1], 0, [*range(16), 17, 21]),
        ([2, 7, 8, 9, *ROUNDS], 4, [0, *range(4, 20)]),
        ([2, 6, 7, 8, 9, *ROUNDS], 5, range(5, 21)),
        ([*ROUNDS, -1, 2], 0, range(16)),
        ([1, -1, *ROUNDS], 2, range(2, 18)),
    ],
)
def test_a_loop_takes_in_its_steps_that_come_close_by(row, start, indices):
    cycle = Finding.by(Rule.SAME_CYCLE, range(start, start + 16), 6, period=2)
    [found] = joined([cycle], row)
    assert found.indices == tuple(indices)
    assert found.measure == cycle.measure


def test_findings_that_overlap_are_one_and_others_are_not():
    row = [1, 2, 1, 2, 1, 2, 3, 4, 5, 6, 7, 7, 7, 7]
    cycle = Finding.by(Rule.SAME_CYCLE, (0, 1, 2, 3), 4, period=2)
    crowd = Finding.by(Rule.FEW_CALLS, (3, 4, 5), 3)
    same = Finding.by(Rule.SAME_CALL, (10, 11, 12, 13), 4, period=1)
    mixed = Finding(crowd.kind, None, (0, 1, 2, 3, 4, 5), crowd.measure)
    assert joined([same, crowd, cycle], row) == [mixed, same]


def test_repeats_are_those_of_the_definition():
    rng = random.Random("repeats")
    for _ in range(2_000):
        row = [rng.randrange(rng.choice((2, 3, 9))) for _ in range(rng.randint(0, 25))]
        period = rng.randint(1, 6)
        assert list(repeats(row, period)) == repeats_by_definition(row, period)


def test_crowded_stretches_are_those_of_the_definition():
    rng = random.Random("crowded")
    for _ in range(2_000):
        row = [rng.randrange(-1, rng.choice((3, 5, 9))) for _ in range(rng.randint(0, 40))]
        row = [number if number >= 0 else -place - 1 for place, number in enumerate(row)]
        limits = NoveltyLimits(
            rng.randint(2, 10), rng.randint(1, 10), rng.randint(1, 4), rng.randint(1, 8)
        )
        assert low_novelty(row, limits) == crowded_by_definition(row, limits)


FAILED = [
    "Error: no such file",
    "ValueError: bad value",
    "\n  Traceback (most recent call last):\n",
    "bash: foo: command not found",
    "HTTP 503 Service Unavailable",
    "404 Not Found",
    '{"error": "timeout"}',
    '{"success": false, "message": "no"}',
    "{'success': False, 'position': [3, 4]}",
    "move_to: stepping toward (48, 5)\nsuccess: False level: 3",
    "ok=false",
    '{"status": "error"}',
    '{"stdout": "' + "ready " * 200 + '", "timed_out": true}',
    '{"output": "", "exit_code": 2}',
    "Login failed: wrong password.",
    "The file a.py does not exist.",
    "<tool_use_error>no</tool_use_error>",
    "fatal: not a git repository",
    "OBSERVATION:\nError: message could not be delivered",
    "No replacement was performed, old_str did not appear verbatim in a.py.",
    "String to replace not found in file.",
    "--- FAIL: TestParse (0.32s)",
    "3 failed, 31 passed in 4 s",
    "took 1.002s\nTimeout 30000ms exceeded",
    '{"workdir": "/tmp/tmp1", "result": "Error: the state is locked"}',
    "URL: https://shop.example/\nLast action error: TimeoutError: click: 500 ms exceeded\n[12] button 'Buy'",
    "I encountered an error while trying to use the tool. This was the error: 1 validation error",
    "An unexpected error occurred. Please contact the administrator.",
    "API error while performing RESET: SERVER_ERROR. Please choose another action.",
]
FINE = [
    "",
    "0 errors found",
    "ok",
    '{"error": null, "items": []}',
    '{"error": "", "items": []}',
    '{"exit_code": 0}',
    '{"success": true}',
    '{"stdout": "' + "ready " * 200 + '", "timed_out": false}',
    "success: True",
    "the book: false friends",
    "A chapter on error handling",
    "The answer is 404.",
    "errors.py\nfailures.py",
    "No error during compilation.",
    "Finished without error while deploying.",
    "Notes\nError handling is due",
    "Mean: 3.2\nStandard error: 0.3",
    "How do I find out whether an error occurred in a call?\nBy its exit code.",
    "Settings\nLast action: saved",
]


@pytest.mark.parametrize("text", FAILED)
def test_a_result_that_says_so_has_failed(text):
    assert CallResult(text).has_failed


@pytest.mark.parametrize("text", FINE)
def test_a_result_that_only_speaks_of_failure_has_not(text):
    assert not CallResult(text).has_failed


def test_an_error_of_the_step_is_a_failure_and_its_result_where_there_is_no_other():
    assert CallResult("fine", "it broke").has_failed
    assert CallResult(None, "it broke").text == "it broke"
    assert CallResult(None).text is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("done at 2025-01-02T03:04:05Z ok", "done at 2026-11-12T13:14:15.678+02:00 ok"),
        ("built on 3 March 2025", "built on 14 Apr 2026"),
        ("at 10:15 pm all is well", "at 9:01 am all is well"),
        ("took 0.53s in all", "took 12 ms in all"),
        ('{"a": 1, "createdAt": "x"}', '{"a": 1, "createdAt": "y"}'),
        ('{"a": 1, "trace_id": "x"}', '{"a": 1, "trace_id": "y"}'),
        ("commit 881ed162 is the head of it", "commit cb5c7427 is the head of it"),
        ("it is 1735689600 seconds since then", "it is 1767225600 seconds since then"),
        ("Date: Tue, 20 Oct 2025 01:18:37 GMT", "Date: Friday, 4 Nov 2025 19:57:06 GMT"),
        ('{"object": "0x7fcc5f28b6bd"}', '{"object": "0x7f8113c923f3"}'),
        ("in /tmp/tmprqmwohfr now", "in /tmp/tmp.KqWxYvTrSu now"),
        ('{"b": 1, "a": "9s"}', '{"a": "7s", "b": 1}'),
        ("api  0/1  Pending  13m38s", "api  0/1  Pending  2h14m"),
        ("09:39:55 jobsd[43373]: exec format error", "09:41:02 jobsd[4471]: exec format error"),
        ("at page-2025-06-04T10-31-05-123Z.png", "at page-2025-07-05T11-32-06-124Z.png"),
        ("at shot-20250604_103105.png now", "at shot-20250705_113206.png now"),
        ("in /tmp/pip-install-9b9a2771/x", "in /tmp/pip-install-75853152/x"),
        ('{"state": "on", "context_id": "4c4dc6f4"}', '{"state": "on", "context_id": "76a9c1d0"}'),
        ("in /tmp/tmp7f8296e8 now", "in /tmp/tmpab_c27e9 now"),
        ("[pid 28586] up", "[pid 50792] up"),
        ('{"a": 1, "took": 474}', '{"a": 1, "took": 35}'),
        ("[9] text 'Ad: hiking boots'", "[9] text 'Ad: a grill'"),
        ("Cell In[8], line 1: no such key", "Cell In[9], line 1: no such key"),
        ('File "/tmp/ipykernel_7610/722589.py"', 'File "/tmp/ipykernel_61987/12209.py"'),
        ("in /tmp/tmpssbudqdf/shot-6e9b8c.png", "in /tmp/tmpllpdniaj/shot-304416.png"),
    ],
)
def test_times_durations_and_ids_are_noise(one, other):
    assert CallResult(one).masked == CallResult(other).masked


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("decoded 12 frames", "decoded 24 frames"),
        ("30s left", "20s left"),
        ("ETA: 30s", "ETA: 20s"),
        ("flight HAT123", "flight HAT124"),
        ("deadbeef01", "deadbeef02"),
        ("in /tmp/tmpssbudqdf/chapter1.txt", "in /tmp/tmpssbudqdf/chapter2.txt"),
        ("state: queued", "state: done"),
        ("the format: a", "the format: b"),
    ],
)
def test_what_a_result_tells_is_no_noise(one, other):
    assert CallResult(one).masked != CallResult(other).masked


def test_the_new_id_of_a_piece_of_work_is_noise_and_any_other_new_id_the_answer():
    receipts = [
        '{"status": "sent", "id": "c7d7faa4e01f"}',
        '{"status": "sent", "id": "34e0e1c37cff"}',
    ]
    letter = {"to": "mia@example.com", "body": "Dear Mia, " + "thank you for your patience. " * 4}
    one, other = (CallResult(receipt, None, letter).masked for receipt in receipts)
    assert one == other
    one, other = (CallResult(receipt, None, {"size": "small"}).masked for receipt in receipts)
    assert one != other


@pytest.mark.parametrize(
    "text",
    [
        "Nothing happens.",
        "It is locked.",
        "You bump into a wall.",
        "No results.",
        "Unknown verb",
    ],
)
def test_a_short_result_may_say_that_a_call_came_to_nothing(text):
    assert CallResult(text).is_unsuccessful
    assert not CallResult(f"{text} " + "But here is what there is. " * 20).is_unsuccessful


def test_a_result_begins_about_the_same_whatever_day_and_number_follow():
    assert beginning_of("Date: Tue, 20 Oct") == beginning_of("Date: Fri, 4 Nov") == "Date: "
    assert beginning_of("on Tue Oct 20 it") == beginning_of("on Fri Nov 4 it")
    assert beginning_of("12 files changed") == ""
    assert beginning_of("größer als 12 Bücher") == beginning_of("größer als 7 Bücher")
    months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    days = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    assert {beginning_of(f"on {word} 4 it") for word in (*months, *days)} == {"on "}


def test_a_result_begins_about_the_same_whatever_temporary_file_follows():
    assert beginning_of("saved in /var/tmpqxa of today") == "saved in /var/"
    assert beginning_of("saved in /var/tmpzwk of today") == "saved in /var/"


def test_the_lines_of_a_long_result_stay_in_order():
    def words(count):
        return CallResult("bee\nant\n" * (count // 8)).words.split("\n")[:2]

    assert words(100_000) == ["ant", "ant"]
    assert words(100_008) == ["bee", "ant"]


def test_a_failure_that_echoes_its_arguments_is_one_failure_unless_it_is_long():
    budget = WorkBudget()

    def numbers(length):
        failures = FailureNumbers(budget)
        words = ("alpha", "gamma", "delta")
        texts = [f"there is no {word} ".ljust(length, ".") for word in words]
        return [
            failures.number(Call(Step("s", "tool"), "find", Arguments({"q": word}), CallResult(text), None))
            for word, text in zip(words, texts, strict=True)
        ]  # fmt: skip

    assert numbers(401) == [0, 1, 2]
    assert budget.spent == 0
    assert numbers(400) == [0, 0, 0]
    assert budget.spent == 3 * (30 + (len('{"q":"alpha"}') + 400) / 20)


IDLE = [
    {"attempt": 3},
    {"tryNumber": 3},
    {"n_try": 3},
    {"retries": 2},
    {"nonce": "af91"},
    {"_": 1},
    {"request-id": "r1"},
    {"idempotencyKey": "k"},
    {"ts": "2025-08-14T22:14:54.028Z"},
    {"_t": 1_700_000_000_123},
    {"timestamp": 1_700_000_000.25},
    {"thought": "once more"},
]
TELLING = [
    {"timestamp": "2025-08-14T22:00:00Z"},
    {"ts": "1503435956.000247"},
    {"time": 12},
    {"t": 1_700_000_000_000},
    {"seed": 3},
    {"uuid": "c7d7faa4"},
    {"description": "a big one"},
]


@pytest.mark.parametrize("more", IDLE)
def test_what_tells_one_request_from_another_is_left_out_of_arguments(more):
    assert normalized({"q": "x"} | more) == {"q": "x"}
    inner = {key: value for key, value in more.items() if key == "thought"}
    assert normalized({"body": {"n": 1} | more}) == {"body": {"n": 1} | inner}


@pytest.mark.parametrize("more", TELLING)
def test_what_may_be_meant_stays_in_arguments(more):
    assert normalized({"q": "x"} | more) == {"q": "x"} | more


def test_an_id_or_a_remark_that_is_all_there_is_stays_in_arguments():
    for given in ({"request_id": "r1"}, {"thought": "so"}, "text", None, [1]):
        assert normalized(given) == given
    assert normalized({"thought": "so", "request_id": "r1"}) == {"thought": "so"}
    assert normalized({"nonce": "af91"}) == {}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://a.example/b?_=1497178260494", "http://a.example/b?_=14"),
        ("http://a.example/b?c=1&t=1497178260494", "http://a.example/b?c=1&t=1497178260495"),
    ],
)
def test_what_keeps_an_address_out_of_caches_is_left_out(one, other):
    assert normalized({"url": one}) == normalized({"url": other})
    assert normalized({"url": "http://a.example/watch?v=1&t=120"})["url"].endswith("?v=1&t=120")


@pytest.mark.parametrize(
    "command",
    [
        "make all 2>&1",
        "make all 2>&1 | tail -n 50",
        "make all | head -20",
        "(make all)",
        "make all || true",
        "make all; echo $?",
        "make all  # once more",
        "# build it\nmake all",
        "cd /work && make all",
        "cd /work; (make all 2>&1) | cat",
    ],
)
def test_what_only_shows_the_output_of_a_command_is_left_out(command):
    assert normalized({"command": command}, folder="/work") == {"command": "make all"}


@pytest.mark.parametrize(
    "command",
    [
        "grep -rn 'render' src",
        'grep -rn "render" src/',
        "grep -rn render ./src/",
    ],
)
def test_quotes_around_plain_words_and_the_spelling_of_a_path_change_no_command(command):
    assert normalized({"command": command}) == {"command": "grep -rn render src"}


@pytest.mark.parametrize(
    "command", ["echo '$HOME'", "grep -rn 'a b' src", "ls *.py", "rm -r /", "cat ../src"]
)
def test_quotes_and_slashes_that_a_shell_heeds_stay(command):
    assert normalized({"command": command}) == {"command": command}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"code": "# retry\ndf = read('a')"}, {"code": "df = read('a')  # once more"}),
        ({"sql": "SELECT a FROM b -- try 1"}, {"sql": "SELECT a FROM b /* try 2 */"}),
    ],
)
def test_comments_are_left_out_of_code_and_queries(one, other):
    assert normalized(one) == normalized(other)


@pytest.mark.parametrize(
    "given",
    [
        {"code": "#include <a.h>"},
        {"code": "#!/bin/sh"},
        {"code": "say('a # b')"},
        {"query": "cats -- dogs"},
        {"sql": "SELECT '-- a' FROM b"},
    ],
)
def test_what_only_looks_like_a_comment_stays(given):
    assert normalized(given) == given


def test_a_folder_is_left_out_only_where_all_commands_go_to_it():
    steps = [
        Step(f"s{at}", "tool", arguments={"cmd": f"cd {folder} && make"})
        for at, folder in enumerate("aab")
    ]
    assert common_folder(steps[:2]) == "a"
    assert common_folder(steps) == common_folder([]) == ""
    assert normalized({"cmd": "cd a && make"}) == {"cmd": "cd a && make"}
    assert normalized({"command": "2>&1"}) == {"command": "2>&1"}


def test_an_echo_of_what_was_asked_is_left_out_of_a_short_result():
    one = CallResult("No results for 'Red House'.", None, {"q": "red house"})
    other = CallResult("No results for 'red  car'.", None, {"q": "red  car"})
    assert one.text == other.text == "No results for '…'."
    assert CallResult("house " * 100, None, {"q": "house"}).text == "house " * 100
    written = CallResult("No results for [Red House].", None, {"action": "Search[red house]"})
    assert written.text == "No results for […]."


def test_an_edit_that_was_applied_has_not_failed_if_its_commit_did():
    edit = {"edit": "def total(self, items):\n    return sum(item.price for item in items)" * 2}
    answer = "{} shop/basket.py\nUnable to commit: Cmd('git') failed due to: exit code(128)"
    assert not CallResult(answer.format("Applied edit to"), None, edit).has_failed
    assert CallResult(answer.format("No edit of"), None, edit).has_failed
    assert CallResult(answer.format("Applied edit to"), None, {"run": "git commit"}).has_failed


def test_the_lines_of_a_text_in_an_object_are_lines_of_the_result():
    logged = {"rc": 1, "log": "first line\nlast line"}
    expected = '{"log":"first line\nlast line","rc":1}'
    assert CallResult(logged).text == expected
    assert CallResult('{"log":"first line\\nlast line","rc":1}').text == expected
    assert CallResult("no object: \\n").text == "no object: \\n"


def test_an_echo_of_content_is_left_out_of_the_beginning_of_a_long_result():
    said = "I look at the shelf again, because there may be something behind the books. " * 9
    state = "\n[exec] known: room, shelf\nThe room has a shelf and a locked door."
    one = CallResult(f"[exec] command = {said}{state}", None, {"command": said})
    assert one.text == f"[exec] command = …. {state}"
    assert CallResult(said + state, None, {"command": said}).text == f"…. {state}"
    late = "x" * 500 + said
    assert CallResult(late, None, {"command": said}).text == late


@pytest.mark.parametrize(
    "values", [(None, "None"), (1.5, "1.5"), (True, "True"), ([], {})], ids=repr
)
def test_values_of_different_types_differ_beside_a_number_that_json_cannot_hold(values):
    one, other = (canonical({"id": 10**400, "value": value}) for value in values)
    assert one != other
    assert one == canonical({"value": values[0], "id": 10**400})


def test_equal_arguments_have_one_gist_and_different_digits_another():
    assert Arguments({"q": "Red House"}).gist == Arguments({"q": " red  house. "}).gist
    assert Arguments({"q": "1 5"}).gist != Arguments({"q": "15"}).gist
    assert Arguments({"q": "1.5"}).gist != Arguments({"q": "15"}).gist


def test_a_list_is_one_sentence_with_another_item_each_time():
    assert lists_items([f"the price of {item} today" for item in ("ants", "bees", "cats")])
    assert lists_items([f"{item} costs more than {item} did" for item in ("ants", "bees", "cats")])
    assert lists_items(
        [f"the tale of {item} ends well" for item in ("war and peace", "old fox", "sea and sky")]
    )
    assert not lists_items(["one thing", "one thing", "another thing"])
    assert not lists_items(["go on", "go on now", "please go on", "do go on"])
    sermon = "we have to look at each of the many orders that came in on the day before we go on to any other of them"
    assert lists_items([sermon.replace("orders", item) for item in ("letters", "parcels", "cards")])
    asides = ("many", "orders", "came", "day", "other", "look")
    assert not lists_items([sermon.replace(f" {word} ", f" {word[::-1]} ") for word in asides])
    assert not lists_items([sermon.replace(f" {word} ", f" {word[::-1]} ") for word in asides[:4]])
    assert not lists_items(["red big house", "big red house", "house red big"])


def test_texts_of_ten_words_are_prose_and_cost_as_much_work_as_phrases():
    text = "in the shop at the corner nobody saw it"
    for words, kind in ((text, "phrase"), (f"{text} today", "prose")):
        budget = WorkBudget()
        assert ComparedText(words, budget).forms.kind == kind
        assert budget.spent == 15 + len(words) / 6
    budget = WorkBudget()
    assert ComparedText(text * 6, budget).forms.kind == "content"
    assert budget.spent == 15 + len(text * 6) / 50


def test_the_work_is_said_to_be_done_in_five_words_or_none():
    def call(name, *said):
        return Call(
            Step("s", "tool"), name, Arguments({"message": list(said)}), CallResult(""), None
        )

    assert claims_done(call("finish"))
    assert claims_done(call("finish", "all of it was done"))
    assert not claims_done(call("finish", "a map of rivers"))
    assert not claims_done(call("answer", "all of it was done"))


def test_two_variants_are_no_list():
    assert not lists_items([f"the price of {item} today" for item in ("ants", "bees")])


def test_arguments_of_many_parts_are_compared_in_full_or_not_at_all():
    def described(count, last):
        return Arguments([*[0] * (count - 1), last]).described(WorkBudget())

    assert described(500, "a").shape == described(500, "b").shape
    assert [text.text for text in described(500, "a").texts] == ["a"]
    assert described(501, "a").shape != described(501, "b").shape
    assert described(501, "a").texts == ()


def loop_entry(*steps, **config):
    trace = {"format": "weighbridge", "steps": list(steps)}
    result = LoopGrader(config=config or None).grade(trace)
    return result["evidence"][0], result["details"]["loops"][0]


def called(name, arguments, output):
    return {"type": "tool", "name": name, "arguments": arguments, "output": output}


def test_a_loop_names_its_tool_and_what_differs_between_its_repeats():
    steps = [called("search", {"q": "parcel", "attempt": n}, "Nothing.") for n in range(5)]
    entry, loop = loop_entry(*steps)
    assert entry["cause"] == "same_call, search"
    assert entry["description"].startswith("'search': the same step 5 times in a row, limit 3")
    assert "; what differs: argument 'attempt' has 5 values (0, 1, 2, …); " in entry["description"]
    assert loop["tools"] == ["search"]
    assert loop["differences"] == [
        {"tool": "search", "argument": "attempt", "values": ["0", "1", "2"], "distinct": 5}
    ]
    assert loop["distinct_results"] == 1


def test_a_loop_tells_only_the_differences_that_there_are():
    def described(*outputs):
        steps = [
            called("search", {"q": "parcel", "attempt": at % 3}, each)
            for at, each in enumerate(outputs)
        ]
        return loop_entry(*steps)[0]["description"]

    assert "what differs: argument 'attempt' has 3 values (0, 1, 2); " in described(
        *["Nothing."] * 6
    )
    assert "different results" not in described(*["Nothing."] * 6)


def test_a_loop_quotes_the_failure_that_its_calls_have_in_common():
    query = called("sql", {"query": "select age"}, "exit code 1\nError: no such column: age")
    entry, loop = loop_entry(*[query] * 5)
    assert '; all 5 failed: "Error: no such column: age"; ' in entry["description"]
    assert loop["outcome"] == {
        "text": "Error: no such column: age",
        "times": 5,
        "compared": 5,
        "failed": True,
    }


def test_a_loop_quotes_its_most_frequent_failure_even_if_most_of_its_calls_succeed():
    rounds = [
        called("open", {"page": "cart"}, "The cart has 2 items."),
        called("pay", {}, "Error: the card was declined"),
        called("look", {}, "A button: pay"),
    ] * 4
    entry, _ = loop_entry(*rounds)
    assert '; 4 of 12 failed: "Error: the card was declined"; ' in entry["description"]


def test_a_loop_says_how_many_failed_if_not_all_for_the_quoted_reason():
    reasons = ["Error: the read timed out", "Error: connection refused"]
    entry, loop = loop_entry(*[called("fetch", {"page": 1}, reasons[at % 2]) for at in range(10)])
    assert '; all 10 failed, 5 of them: "Error: the read timed out"; ' in entry["description"]
    assert (loop["outcome"]["times"], loop["outcome"]["compared"]) == (5, 10)


def test_a_loop_says_which_results_it_compared_if_not_those_of_all_calls():
    denied = called("fetch", {"page": 1}, "Error: denied")
    entry, _ = loop_entry(*[denied] * 201)
    assert '; the first 200 failed: "Error: denied"; ' in entry["description"]
    entry, _ = loop_entry(denied, *[called("fetch", {"page": 1}, None)] * 4, denied)
    assert '; the 2 recorded failed: "Error: denied"; ' in entry["description"]
    assert entry["observed"] == 6
    entry, _ = loop_entry(*[denied] * 200, called("fetch", {"page": 1}, None))
    assert '; the 200 recorded failed: "Error: denied"; ' in entry["description"]
    entry, _ = loop_entry(*[denied] * 201, called("fetch", {"page": 1}, None))
    assert '; the first 200 recorded failed: "Error: denied"; ' in entry["description"]


def test_a_loop_quotes_a_result_that_half_of_its_calls_have():
    entry, loop = loop_entry(*[called("status", {}, "The parcel is in transit.")] * 5)
    assert '; all 5 results: "The parcel is in transit."; ' in entry["description"]
    assert loop["outcome"]["failed"] is False


def test_a_loop_quotes_the_error_in_an_object():
    failed = '{"ok": false, "error": {"code": 7, "message": "the carrier did not answer"}}'
    entry, _ = loop_entry(*[called("track", {"parcel": 1}, failed)] * 5)
    assert '; all 5 failed: "the carrier did not answer"; ' in entry["description"]


def test_a_loop_says_that_its_results_are_empty():
    entry, _ = loop_entry(*[called("ls", {"in": "/srv"}, "")] * 5)
    assert "; all 5 results are empty; " in entry["description"]


def test_the_quoted_outcome_is_short_and_visible():
    entry, loop = loop_entry(*[called("cat", {}, "Error: \u202e" + "a" * 9_999)] * 5)
    assert "\u202e" not in entry["description"]
    assert len(loop["outcome"]["text"]) == 160


def test_a_long_warning_does_not_push_the_failure_out_of_the_quoted_outcome():
    warned = f"Warning: {'the module is old ' * 20}\nError: cannot find the module x"
    _, loop = loop_entry(*[called("run", {}, warned) | {"error": "exit code 1"}] * 5)
    assert loop["outcome"]["text"].endswith("…␊Error: cannot find the module x")


def test_a_loop_quotes_no_outcome_that_its_calls_do_not_share():
    talk = [{"type": "llm", "output": "Let me check that again for you now."}] * 5
    assert loop_entry(*talk)[1]["outcome"] is None
    seen = {"hall": "A clock ticks.", "attic": "Dust lies here.", "cellar": "Wine ages in barrels."}
    walk = [called("go", {"to": room}, each) for room, each in seen.items()]
    assert loop_entry(*walk * 4)[1]["outcome"] is None


def test_the_steps_of_a_round_of_one_tool_are_named_and_do_not_differ():
    entry, loop = loop_entry(
        *[called("bash", {"command": f"ls {each}"}, f"{each}.txt") for each in "ab"] * 4
    )
    assert '; the steps: "ls a", "ls b"; from step 1' in entry["description"]
    assert loop["differences"] == []
    assert loop["distinct_results"] == 2


def test_the_first_steps_of_a_long_round_are_named_with_their_tools_if_there_are_several():
    walk = [called("go", {"to": room, "by": "door"}, room) for room in ("hall", "attic", "cellar")]
    entry, _ = loop_entry(*[called("look", {}, "nothing"), *walk] * 4)
    named = 'look {}, go {"to": "hall", "by": "door"}, go {"to": "attic", "by": "door"} and 1 more'
    assert f"; the steps: {named}; " in entry["description"]


def test_steps_of_which_only_the_tool_is_recorded_are_not_named_twice():
    rooms = [{"type": "tool", "name": "go", "output": room * 99} for room in "ab"]
    entry, _ = loop_entry(*rooms * 5)
    assert "the steps: " not in entry["description"]


def test_a_step_that_varies_in_each_round_is_compared_with_the_same_place_in_the_round_before():
    def rounds(count):
        for at in range(count):
            yield called("bash", {"command": "ls a"}, "a.txt")
            yield called("bash", {"command": f"sleep {at + 3}"}, "")

    entry, loop = loop_entry(*rounds(6))
    assert '; the steps: "ls a", "sleep 3"; what differs: argument' in entry["description"]
    [difference] = loop["differences"]
    assert difference["values"] == ['"sleep 3"', '"sleep 4"', '"sleep 5"']
    assert difference["distinct"] == 6
    assert loop["min_similarity"] < 1


def test_the_steps_of_a_loop_in_no_order_are_named_once_whatever_their_results():
    order = (1, 2, 3, 1, 3, 2, 2, 1, 3, 3, 1, 2, 1, 2)
    entry, loop = loop_entry(
        *[called("bash", {"command": f"cat f{n}"}, f"text {n} of a file") for n in order]
    )
    assert loop["kind"] == "interleaved"
    assert '; the steps: "cat f1", "cat f2", "cat f3"; ' in entry["description"]
    assert loop["differences"] == []


@pytest.mark.parametrize(("count", "told"), [(NAMED_TOOLS, ""), (NAMED_TOOLS + 2, " and 2 more")])
def test_a_loop_names_a_few_of_its_tools_and_counts_the_others(count, told):
    entry, _ = loop_entry(*[called(f"tool{at}", {}, "nothing") for at in range(count)] * 4)
    names = [f"'tool{at}'" for at in range(NAMED_TOOLS)]
    assert entry["description"].startswith(f"{', '.join(names)}{told}: ")


def test_a_cycle_has_one_cause_wherever_it_begins():
    poll, look = called("poll", {"job": 1}, "pending"), called("look", {}, "nothing")
    causes = {
        loop_entry(*[poll, look] * 5)[0]["cause"],
        loop_entry(*[look, poll] * 5)[0]["cause"],
    }
    assert causes == {"same_cycle, look, poll"}


def test_a_cause_names_the_rule_as_the_table_of_rules_does():
    orders = ("ant bee cat", "bee ant cat", "cat bee ant", "ant cat bee")
    entry, loop = loop_entry(*[called("search", {"q": "x"}, order) for order in orders])
    assert loop["kind"] == "noisy_results"
    assert entry["cause"] == "noisy_results, search"


def test_a_loop_of_texts_names_no_tool():
    said = {"type": "llm", "output": "I am sorry, I cannot find your parcel in our system."}
    entry, loop = loop_entry(*[said] * 5)
    assert entry["cause"] == loop["rule"] == "same_text"
    assert entry["description"].startswith("the same text 5 times")
    assert loop["tools"] == []


def test_names_and_values_of_a_loop_are_short_and_printable():
    steps = [called("s\u202e" * 300, {"k\n" * 99: "v" * 900, "attempt": n}, "x") for n in range(5)]
    entry, loop = loop_entry(*steps)
    assert entry["description"].isprintable()
    assert len(entry["description"]) < 600
    assert entry["cause"].isprintable()
    assert len(loop["tools"][0]) <= 80
