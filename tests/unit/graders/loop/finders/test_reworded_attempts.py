"""Reworded attempts with the same failure: a loop, unless each one asks for something else."""

from __future__ import annotations

import json
from itertools import combinations

import pytest

from weighbridge.graders.loop import LoopGrader

NOTHING = "No data available"
QUERIES = [
    "harbour cafe recommended",
    "harbour cafe",
    "harbour cafe recommended",
    "harbour cafe recommended blog",
]
TIMEOUT = "Request timeout"


def tool(name, arguments, output):
    return {"type": "tool", "name": name, "arguments": arguments, "output": output}


def search(query, output=NOTHING, **more):
    return tool("blog_search", {"query": query, **more}, output)


def bash(command, output):
    return tool("bash", {"command": command}, output)


def loops(steps, **config):
    given = [{"id": f"s{at}", **step} for at, step in enumerate(steps, 1)]
    result = LoopGrader(config=config).grade({"format": "weighbridge", "steps": given})
    return [(loop["kind"], loop["steps"]) for loop in result["details"]["loops"]]


def test_four_searches_of_which_each_says_part_of_another_are_a_loop():
    steps = [
        search("harbour cafe recommended", display=1),
        search("harbour cafe", display=5),
        search("harbour cafe recommended", display=1),
        search("harbour cafe recommended", display=5),
    ]
    assert loops(steps) == [("same_failure", 4)]
    assert loops(steps[:3]) == []


def test_four_searches_of_which_two_each_say_part_of_the_other_are_a_loop():
    cafes, quays = (
        ["old harbour cafe", "old harbour cafe blog"],
        ["old harbour quay", "old harbour quay tea"],
    )
    assert loops(map(search, cafes + quays)) == [("same_failure", 4)]


def test_arguments_may_be_a_text_alone():
    assert loops([tool("blog_search", query, NOTHING) for query in QUERIES]) == [
        ("same_failure", 4)
    ]


def test_five_rewordings_of_a_question_that_find_nothing_are_a_loop():
    queries = [
        "harbour cafe recommended blog",
        "harbour cafe recommended",
        "old harbour cafe recommended blog",
        "waterfront cafe recommended blog",
        "harbour cafe tour blog",
    ]
    assert loops(map(search, queries)) == [("same_failure", 5)]
    assert loops(map(search, queries[:2] + queries[3:])) == []


def test_six_rewordings_of_which_none_says_part_of_another_are_a_loop():
    queries = [
        f"harbour cafe {one} {other}"
        for one, other in combinations(("old", "quay", "tea", "blog"), 2)
    ]
    assert loops(map(search, queries)) == [("same_failure", 6)]
    assert loops(map(search, queries[1:])) == []


@pytest.mark.parametrize("answers", [1, 3, 5])
def test_an_answer_parts_attempts_however_many_questions_it_answers(answers):
    queries = [
        f"harbour cafe {one} {other}"
        for one, other in combinations(("old", "quay", "tea", "blog"), 2)
    ]
    words = ("today", "in May", "at noon", "on Sunday", "tonight")
    answered = [search(f"is the pier open {word}", "closed") for word in words[:answers]]
    assert loops([*map(search, queries[:3]), *answered, *map(search, queries[3:])]) == []


def test_a_tool_out_of_reach_is_one_failure_whatever_the_words():
    queries = [
        "tide table 17 Bremen",
        "Bremen high water 17 hours",
        "Bremen high water 17 times",
        "high water 17 official times",
        "Bremen official high water 17 times",
    ]
    steps = [search(query, TIMEOUT) for query in queries]
    assert loops(steps) == [("same_failure", 5)]


def test_requests_in_any_form_to_a_server_that_is_down_are_a_loop():
    down = "HTTP/1.1 503 Service Unavailable\r\n\r\n<html><h1>503 Service Unavailable</h1></html>"
    requests = [
        "GET /",
        "GET /flag",
        "GET /flag close",
        "POST / close",
        "GET / host",
        "POST / host",
    ]
    steps = [bash(f"echo '{request}' | nc shop 80", down) for request in requests]
    assert loops(steps) == [("same_failure", 6)]
    assert loops(steps[:5]) == []


def test_an_argument_that_is_null_is_none():
    failed = "Invalid arguments: expected number, received null"
    read = [{"path": "a.txt"}, {"path": "a.txt"}, {"path": "a.txt", "head": None, "tail": None}]
    steps = [tool("read_text", given, failed) for given in (*read, read[0])]
    steps.insert(2, tool("read_file", {"path": "a.txt"}, "Invalid arguments for read_file"))
    assert [found for _, found in loops(steps)] == [4]


def test_a_command_that_only_grows_and_fails_the_same_is_a_loop():
    parts = ["find /data -name '*.txt'", "-exec cat {} ;", "-exec cat {} ;", "-exec cat {} ;"]
    commands = [" ".join(parts[:end]) for end in (1, 2, 3, 4)] + ["find /data -exec cat {} ;"]
    failed = "find: '/data': No such file or directory"
    assert loops([bash(command, failed) for command in commands]) == [("same_failure", 5)]
    assert loops([bash(command, failed) for command in commands[:4]]) == []


def test_a_number_that_the_agent_counts_up_itself_is_no_progress():
    steps = [
        bash(f"sort names | uniq -Dif{number}i", f"uniq: {number}i: invalid number of fields\n")
        for number in (1, 1, 2, 3, 4, 5)
    ]
    assert loops(steps) == [("same_failure", 6)]


def test_what_a_terminal_overwrites_and_how_fast_it_was_is_noise():
    def curl(speed):
        meter = f"\r  0     0    0     0    0     0      0      0 --:--:-- --:--:-- --:--:--     0\r100  1256  100  1256    0     0  {speed}      0 --:--:-- --:--:-- --:--:-- {speed - 80}\n"
        return bash("curl -o page http://shop.example/", f"% Total    % Received % Xferd{meter}")

    assert loops([curl(speed) for speed in (11199, 65519, 59571, 68268)]) == [
        ("identical", 4),
    ]


CITIES = ["Paris", "Rome", "Oslo", "Bern", "New York", "Lima", "Cairo"]
LESS = ["red leather shoes 42 men", "red leather shoes 42", "red leather shoes", "red shoes", "red"]
IDEAS = [
    "ferry timetable Bremen",
    "parking at the harbour",
    "tide on Sunday",
    "boats for hire",
    "museum opening hours",
    "harbour master telephone",
]


@pytest.mark.parametrize(
    "queries",
    [
        pytest.param([f"weather in {city}" for city in CITIES], id="one city after the other"),
        pytest.param(
            [f"status of order {7000 + at}" for at in range(7)], id="one number after the other"
        ),
        pytest.param(LESS, id="less each time"),
        pytest.param(IDEAS, id="one idea after the other"),
    ],
)
def test_searches_for_different_things_are_no_loop(queries):
    assert loops(map(search, queries)) == []


def test_adding_words_to_a_search_that_finds_nothing_is_tolerated_once_more():
    assert loops(map(search, LESS[::-1])) == [("same_failure", 5)]
    assert loops(map(search, LESS[:0:-1])) == []
    again = [LESS[3], LESS[2], LESS[2], LESS[1]]
    assert loops(map(search, again)) == [("same_failure", 4)]


def test_what_a_failure_quotes_and_suggests_does_not_make_it_another():
    suggested = ["Harbour", "Cafe Harbour", "Cafe Harbour", "Harbour"]
    queries = ["cafe quay harbour", "cafe quay", "cafe quay harbour", "quay cafe"]
    steps = [
        search(query, f"Could not find [{query}]. Similar: ['{other}']")
        for query, other in zip(queries, suggested, strict=True)
    ]
    assert loops(steps) == [("same_failure", 4)]


def test_a_new_suggestion_each_time_is_news():
    queries = ["cafe quay harbour", "cafe quay", "cafe quay harbour", "quay cafe"]
    others = ["Harbour", "Cafe Harbour", "Old Harbour", "Quay"]
    steps = [
        search(query, f"Could not find [{query}]. Similar: ['{other}']")
        for query, other in zip(queries, others, strict=True)
    ]
    assert loops(steps) == []


def test_six_searches_that_find_nothing_are_a_loop_whatever_each_suggests():
    added = ["", "2004", "2004 name change", "2004 name change acronym", "name acronym", "name"]
    queries = [f"Harbour Media AG {more}".strip() for more in added]
    others = [
        f"['{name}', 'Harbour Plus']" for name in ("Quay", "Tea", "Menu", "Blog", "Cafe", "Old")
    ]
    for beginning in ("Could not find [{}]", "No exact matches for {}", "Nothing was found: {}"):
        steps = [
            search(query, f"{beginning.format(query)}. Similar: {other}")
            for query, other in zip(queries, others, strict=True)
        ]
        assert [repeats for _, repeats in loops(steps)] == [6], beginning
        assert loops(steps[:5]) == []


def test_one_long_answer_to_five_inputs_is_a_loop():
    asked = "Are you fine with the primes that follow? " * 8
    inputs = ["Yes, I am here. Fine.", "Yes", "Yes, I am", "Yes Fine Fine 0", "0", "Yes 0"]
    steps = [bash(f"echo '{said}' | nc alice 1337", asked) for said in inputs]
    assert loops(steps[:5]) == [("nothing_new", 5)]
    assert loops(steps[:4]) == []


def test_one_long_answer_to_five_searches_is_a_loop_although_none_says_part_of_another():
    page = "Are you fine with the primes that follow? " * 8
    queries = [
        "cafe old harbour quay",
        "tea harbour old cafe",
        "harbour blog cafe old",
        "quay tea cafe harbour",
        "blog, quay: harbour cafe",
    ]
    steps = [search(query, page) for query in queries]
    assert loops(steps) == [("nothing_new", 5)]
    assert loops(steps[:4]) == []


def test_one_informative_answer_to_five_inputs_is_a_loop_although_it_is_short():
    said = "The harbour cafe opens at 8:30, on the quay next to the old ferry house; phone 5512."
    inputs = ["Yes, I am here. Fine.", "Yes", "Yes, I am", "Yes Fine Fine 0", "0"]
    steps = [bash(f"echo '{given}' | nc alice 1337", said) for given in inputs]
    assert loops(steps) == [("nothing_new", 5)]
    assert loops(steps[:4]) == []


def test_a_question_may_be_long():
    singers = [f"{first}{last}" for first in ("Anna", "Berta", "Carla") for last in CITIES[:4]]
    added = ["", "birth", "birth month", "birth date", "date month"]
    queries = [" and ".join(f"the singer {name} {more}" for name in singers) for more in added]
    order = [queries[at] for at in (0, 2, 1, 4, 3)]
    steps = [search(query, "Could not find that page, please try again.") for query in order]
    assert [found for _, found in loops(steps)] == [5]


def test_a_program_that_panics_each_time_fails():
    steps = [
        bash("./tool", f"panic: runtime error: index {at} out of range") for at in (3, 7, 3, 5)
    ]
    assert loops(steps) == [("noisy_results", 4)]


def test_looking_for_a_file_in_one_place_after_the_other_is_no_loop():
    paths = ["src/utils/x.py", "src/util/x.py", "src/x.py", "utils/x.py", "lib/x.py"]
    assert loops([tool("read_file", {"path": path}, "File not found") for path in paths]) == []


def test_options_that_are_tried_one_after_the_other_are_no_loop():
    flags = ["", " --debug", " --verbose", " --no-cache", " --safe"]
    assert loops([bash(f"./serve{flag}", "Error: port in use") for flag in flags]) == []


@pytest.mark.parametrize(
    "between",
    [
        search("harbour cafe opening hours", "Cafe Quay: 8 to 18 o'clock"),
        tool("set_region", {"region": "north"}, "done"),
        tool("wait", {"seconds": 30}, "waited"),
        {"type": "user", "output": "Try the region in the north as well, please."},
    ],
)
def test_news_a_change_or_a_wait_between_begins_anew(between):
    queries = ["harbour cafe recommended", "harbour cafe", "harbour cafe recommended blog"]
    steps = [*map(search, queries), between, *map(search, queries)]
    assert loops(steps) == []


def test_a_change_begins_anew_although_its_answer_is_known():
    change = tool("set_region", {"region": "north"}, "done")
    queries = ["harbour cafe recommended", "harbour cafe", "harbour cafe recommended blog"]
    assert loops([change, *map(search, queries), change, *map(search, queries)]) == []


def test_other_failures_between_begin_anew():
    queries = ["harbour cafe recommended", "harbour cafe", "harbour cafe recommended blog"]
    closed = "Error: the index is closed"
    others = [search("cafe menu", closed), search("menu of cafe", closed)]
    assert loops([*map(search, queries), *others, *map(search, queries)]) == []


def test_looks_at_what_is_known_do_not_part_rewordings():
    looks = [bash(f"cat {name}.md", f"about the {name}") for name in ("boat", "mast", "keel")]
    steps = [*map(search, QUERIES)]
    for at, look in enumerate(looks):
        steps.insert(2 * at + 1, look)
    assert loops([*looks[::-1], *steps]) == [("same_failure", 4)]


def test_rewordings_stay_a_loop_although_a_later_search_joins_two_others():
    others = ["ferry times", "museum hours", "ferry times museum hours"]
    assert loops(map(search, [*QUERIES, *others])) == [("same_failure", 4)]


def test_waiting_for_a_thing_in_other_words_is_no_loop():
    assert loops([tool("wait_for_post", {"query": query}, NOTHING) for query in QUERIES]) == []


def test_raising_the_limit_tolerates_more_rewordings():
    queries = ["harbour cafe recommended", "harbour cafe", "cafe harbour", "recommended cafe"]
    assert loops(map(search, queries), max_repeats=4) == []


@pytest.mark.parametrize(
    "empty",
    [
        '{"content": [{"type": "text", "text": "[]"}]}',
        {"content": [{"type": "text", "text": "[]"}], "isError": False},
        '{"content":[{"type":"text","text":"No results found"}],"isError":false}',
        "meta=None content=[TextContent(type='text', text='[]', annotations=None)] isError=False",
        "{}",
    ],
    ids=["text", "object", "words", "Python", "no fields"],
)
def test_an_empty_result_of_a_protocol_is_no_result(empty):
    queries = ["harbour cafe recommended", "harbour cafe", "harbour cafe here", "cafe harbour"]
    assert loops([search(query, empty) for query in queries]) == [("same_failure", 4)]
    found = '{"content": [{"type": "text", "text": "Cafe at the quay, open 9 to 5"}]}'
    other = '{"content": [{"type": "text", "text": "Cafe Anna, closed on Mondays"}]}'
    steps = [
        search(query, at) for query, at in zip(queries, [empty, found, empty, other], strict=True)
    ]
    assert loops(steps) == []


def test_a_question_that_is_shortened_a_seventh_time_in_vain_is_a_loop():
    words = [
        "yearly",
        "report",
        "on",
        "sales",
        "of",
        "the",
        "Acme",
        "company",
        "for",
        "Europe",
        "and",
        "Asia",
        "in",
        "2019",
    ]
    queries = [" ".join(words[: len(words) - at]) for at in range(7)]
    assert loops(map(search, queries)) == [("same_failure", 7)]
    assert loops(map(search, queries[1:])) == []


FILTERS = [
    "uniq -c",
    "sort | uniq -c",
    "awk '{print $1}' | uniq -c",
    "cut -d' ' -f1 | uniq -c",
    "cut -d' ' -f1 | sort | uniq -c",
    "awk '{print $1}' | sort | uniq -c",
]


@pytest.mark.parametrize("key", ["command", "action", "input"])
def test_one_short_answer_to_six_forms_of_a_command_that_only_reads_is_a_loop(key):
    steps = [tool("bash", {key: f"cat log | {filter_} | sort"}, "3 err") for filter_ in FILTERS]
    assert loops(steps) == [("nothing_new", 6)]
    assert loops(steps[1:]) == []


QUESTIONS = [
    "Who designed the Eiffel Tower?",
    "Name of the designer of the Eiffel Tower",
    "Eiffel Tower designer name",
    "who was the designer of the Eiffel Tower",
    "Eiffel Tower: who designed it?",
    "designer of the Eiffel Tower in Paris",
]


def test_one_short_answer_to_six_wordings_of_a_question_is_a_loop():
    steps = [tool("oracle", {"question": text}, "Ask me about Rome.") for text in QUESTIONS]
    assert loops(steps) == [("nothing_new", 6)]
    assert loops(steps[1:]) == []


@pytest.mark.parametrize(
    "commands",
    [
        [f"grep -c '{word}' log" for word in ("404", "500", "timeout", "panic", "refused", "OOM")],
        [f"wc -l < {name}.csv" for name in ("sales", "users", "stock", "costs", "rent", "team")],
        [
            f"tee {name}.log < start | sort"
            for name in ("one", "two", "three", "four", "five", "six")
        ],
    ],
    ids=["words", "files", "changes"],
)
def test_one_short_answer_about_different_things_is_no_loop(commands):
    assert loops([bash(command, "0") for command in commands]) == []


SEARCHES = (
    *("from:maria pier plan", "maria pier", "from:maria subject:pier", "pier plan", "Maria plan"),
    *('from:Maria "pier plan"', "pier", 'subject:"pier plan"', "maria pier plan draft"),
    *("from:maria plan pier", "pier plan maria mail", "from:maria pier plan"),
)


@pytest.mark.parametrize(("found", "kinds"), [("[]", {"same_failure"}), ("[{at}]", set())])
def test_searches_that_find_nothing_are_alike_whatever_time_they_took(found, kinds):
    folders = '"folders": [{"name": "Archive", "count": 18822}, {"name": "Sent", "count": 3310}]'
    steps = [
        tool(
            "search_mail",
            {"folder": "Inbox", "query": text},
            f'{{"folder": "Inbox", "query": {json.dumps(text)}, "total": 0, "results": {found.replace("{at}", str(at))}, '
            f'"took_ms": {took}, {folders}, "hint": "Mail older than 30 days is in \'Archive\'"}}',
        )
        for at, (text, took) in enumerate(
            zip(SEARCHES, (58, 50, 26, 23, 58, 28, 57, 38, 28, 44, 26, 42), strict=True)
        )
    ]  # fmt: skip
    assert {kind for kind, _ in loops(steps)} == kinds
