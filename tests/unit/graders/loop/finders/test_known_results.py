"""Calls that return only known results: a loop, whatever their wording, unless something new happens in between."""

from __future__ import annotations

import pytest

from weighbridge.graders.loop import LoopGrader

COUNTED = "SELECT COUNT(*) FROM country WHERE "
REWORDED = [
    f"{COUNTED}{condition}"
    for condition in (
        "form LIKE '%Republic%'",
        "form LIKE '%republic%' OR form LIKE '%Republic%'",
        "LOWER(form) LIKE '%republic%'",
        "form REGEXP 'republic'",
        "form LIKE '%Republic' OR form LIKE 'Republic%'",
        "UPPER(form) LIKE '%REPUBLIC%'",
        "form LIKE '%Republic%' AND form IS NOT NULL",
    )
]


def tool(name, arguments, output):
    return {"type": "tool", "name": name, "arguments": arguments, "output": output}


def query(text, output):
    return tool("run_sql", {"query": text}, output)


def bash(command, output):
    return tool("bash", {"command": command}, output)


def unknown(column):
    return query(
        f"SELECT content FROM channel WHERE {column} = 'Sky'",
        f"Error: Unknown column '{column}' in 'where clause'",
    )


def kinds(steps, **config):
    given = [{"id": f"s{at}", **step} for at, step in enumerate(steps, 1)]
    result = LoopGrader(config=config).grade({"format": "weighbridge", "steps": given})
    return [(loop["kind"], loop["steps"]) for loop in result["details"]["loops"]]


def test_one_answer_to_six_wordings_of_a_question_is_a_loop():
    assert kinds([query(text, "[(143,)]") for text in REWORDED[:6]]) == [("nothing_new", 6)]
    assert kinds([query(text, "[(143,)]") for text in REWORDED[:5]]) == []


@pytest.mark.parametrize("answer", ["[(0,)]", "No rows were found."])
def test_one_short_answer_in_a_row_to_six_wordings_of_a_question_is_a_loop(answer):
    assert kinds([query(text, answer) for text in REWORDED[:6]]) == [("nothing_new", 6)]
    assert kinds([query(text, answer) for text in REWORDED[:5]]) == []


@pytest.mark.parametrize("answer", ["True", "ok", "Saved."])
def test_an_answer_that_many_questions_have_tells_nothing(answer):
    assert kinds([query(text, answer) for text in REWORDED]) == []


def test_a_new_answer_between_is_progress():
    steps = [query(text, "[(143,)]") for text in REWORDED[:6]]
    steps[3]["output"] = "[(122,)]"
    assert kinds(steps) == []


def test_the_first_of_the_answers_may_come_a_few_questions_earlier():
    tables = ("rivers", "lakes", "hills", "towns", "roads")
    others = [query(f"SELECT name FROM {each}", f"[('old {each}',)]") for each in tables]
    first, *rest = [query(text, "[(143,)]") for text in REWORDED[:6]]
    assert kinds([first, *others[:4], *rest]) == [("nothing_new", 6)]
    assert kinds([first, *others, *rest]) == []


def test_known_answers_to_two_questions_in_turns_are_a_loop():
    texts = [f"{text}{' LIMIT 7' * (at % 2)}" for at, text in enumerate(REWORDED[:4])]
    count, name = [
        [query(text.replace("form", column), answer) for text in texts]
        for column, answer in (("form", "[(143,)]"), ("name", "[(12, 'Malta')]"))
    ]
    steps = [count[0], name[0], name[1], count[1], count[2], name[2], name[3]]
    assert kinds(steps) == [("nothing_new", 7)]
    assert kinds(steps[:6]) == []
    assert kinds([count[0], name[0], count[1]], max_repeats=1) == [("nothing_new", 2)]


def test_one_answer_to_questions_about_other_things_is_none():
    numbers = [query(f"SELECT state FROM orders WHERE id = {at}", "in store 12") for at in range(9)]
    assert kinds(numbers) == []
    names = ["Ada", "Bo", "Cem", "Dia", "Eli", "Fay", "Gus", "Hal", "Ina"]
    assert kinds([query(f"{COUNTED}name = '{name}'", "[(143,)]") for name in names]) == []


def test_one_answer_after_changes_is_none():
    steps = [
        tool("save_row", {"row": text, "at": at}, "row 12 of 40")
        for at, text in enumerate(REWORDED)
    ]
    assert kinds(steps) == []


def test_failures_that_name_two_things_in_turn_are_a_loop_once_both_are_known():
    steps = [
        unknown("serial"), unknown("name"), unknown("title"),
        *[query(f"{step['arguments']['query']} -- {at}", step["output"])
          for at, step in enumerate([unknown("name"), unknown("serial"), unknown("name"), unknown("title"), unknown("serial")])],
    ]  # fmt: skip
    assert kinds(steps) == [("nothing_new", 8)]


#: What each of some queries selects, its condition's column, and its value.
TRIED = [
    ("content", "name", "Sky"),
    ("all", "serial", "Sea"),
    ("id", "serial", "Sky"),
    ("id", "name", "Sea"),
    ("content", "serial", "Sea"),
    ("id", "name", "Sea"),
]


def queries_that_quote(quoted, tried=TRIED):
    """Return queries of which each fails with a quotation of its column."""
    return [
        query(
            f"SELECT {selected} FROM channel WHERE {column} = '{value}'",
            f"Error: Unknown column '{quoted(column)}' in 'where clause'",
        )
        for selected, column, value in tried
    ]


@pytest.mark.parametrize(
    "quoted",
    [
        str,
        str.upper,
        "main.{}".format,
        "the column of the table in which the channels are kept, its {}".format,
    ],
    ids=["the word", "in capitals", "a path", "a phrase"],
)
def test_failures_that_quote_what_different_requests_name_are_a_loop(quoted):
    assert [kind for kind, _ in kinds(queries_that_quote(quoted))] == ["nothing_new"]


def test_a_change_that_fails_in_another_way_fixes_no_earlier_failure():
    steps = queries_that_quote(str)
    for step in steps:
        change = step["arguments"]["query"].replace("SELECT", "UPDATE").replace("FROM", "IN")
        step["arguments"] = {"query": change}
    assert kinds(steps) == [("nothing_new", 6)]


def test_a_quotation_has_three_letters_at_least():
    def named(least):
        return [(selected, column[:least], value) for selected, column, value in TRIED]

    assert [kind for kind, _ in kinds(queries_that_quote(str, named(3)))] == ["nothing_new"]
    assert kinds(queries_that_quote(str, named(2))) == []


@pytest.mark.parametrize("quoted", ["{}s", "{} of it"])
def test_failures_that_quote_what_no_request_names_are_no_loop(quoted):
    assert kinds(queries_that_quote(quoted.format)) == []


def test_a_long_command_that_fails_of_the_same_word_each_time_is_a_loop():
    said = (
        "This command lists all text files of the tree, sorts them and writes the list to a file."
    )
    more = [
        f"Option -{option} {what}, so that {why}."
        for option, what, why in (
            ("u", "prints unique lines", "no line is there twice"),
            ("d", "shows what is doubled", "one sees the copies at once"),
            ("c", "counts how often each came", "the numbers stand before them"),
        )
    ]
    steps = [
        bash(f"ls /data/*.txt | uniq > all.txt {said} {' '.join(more[at % 3 :])} {said}"[: 280 + at], "uniq: extra operand 'This'")
        for at in range(6)
    ]  # fmt: skip
    assert [kind for kind, _ in kinds(steps)] == ["same_failure"]


FILES = [
    tool("read_file", {"path": f"{at}.md"}, f"# Chapter {at} tells of sheep") for at in range(5)
]


def test_reading_five_files_a_second_time_is_none():
    assert kinds(FILES * 2) == []


def test_reading_five_files_a_third_time_is_a_loop_in_any_order():
    third = [FILES[at] for at in (3, 1, 4, 0, 2)]
    assert kinds([*FILES, *FILES[::-1], *third]) == [("nothing_new", 15)]


QUESTIONS = [
    ("When does the ferry leave?", "The ferry leaves at noon."),
    ("Anna's address", "Anna lives in Oslo, in the north."),
    ("how many boats are moored", "There are 41 boats."),
    ("colours of the flag", "Red, blue and green."),
    ("who built that bridge and when", "The bridge was built in 1907."),
    ("Can I bring a dog on board?", "Yes, with two exceptions of note."),
    ("distance to the island", "About twelve kilometres."),
    ("weather at the weekend", "It rains on Sunday, they say."),
    ("telephone of Mr Lund", "Nobody by that name is known here."),
    ("price of bread", "A loaf costs 3 crowns."),
    ("Describe the museum", "The museum has four floors."),
]


def test_going_round_more_questions_than_a_cycle_may_have_is_none():
    asked = [tool("ask_guide", {"question": text}, answer) for text, answer in QUESTIONS]
    assert kinds(asked * 3) == []
    assert kinds(asked * 3, max_period=11) != []


def test_trying_again_after_a_change_is_none():
    failing = [unknown(column) for column in ("serial", "name", "title", "city", "year", "form")]
    change = tool("create_table", {"name": "channel"}, "Table channel was created.")
    assert kinds([*failing, change, *failing]) == []


def test_code_that_fails_with_one_text_is_another_try_each_time():
    steps = [
        tool("python", {"code": f"print(min(rows, key=len){' ' * at} + {'rows' * at})"}, "Failed 3/3 tests. Try again.")
        for at in range(8)
    ]  # fmt: skip
    assert kinds(steps) == []


def search(text, output, **more):
    return tool("news_search", {"query": text, **more}, output)


def test_searches_that_only_order_known_words_anew_and_find_nothing_are_a_loop():
    texts = ["chips ai korea", "ai chips", "korea chips", "korea ai", "chips korea ai", "ai"]
    found_nothing = '{"built": "Fri, 19 Dec 2025 11:51:1%d +0900", "total": 0, "items": []}'
    steps = [search(text, found_nothing % at) for at, text in enumerate(texts)]
    assert kinds(steps) == [("nothing_new", 6)]
    assert kinds(steps[:3]) == []
    other = [search(f"{text} {'xyzuvw'[at]}", found_nothing % at) for at, text in enumerate(texts)]
    assert kinds(other) == []


def test_searches_that_say_known_words_and_fail_in_two_ways_in_turns_are_a_loop():
    boats = ("lost boat of Anna", "boat Anna lost", "Anna of lost boat", "boat of Anna")
    weather = ("weather on Sunday north", "north weather Sunday", "Sunday weather on north")
    failed = [search(text, "Error: the index is closed") for text in boats]
    refused = [search(text, "Error: too many words, or too few") for text in weather]
    steps = [*failed[:1], *refused[:1], *failed[1:2], *refused[1:], *failed[2:]]
    assert kinds(steps) == [("nothing_new", 7)]


def test_a_failed_call_that_is_sent_as_it_was_counts_twice():
    quotes = [tool("quote", {"symbol": "A"}, "Request timeout")] * 3
    plain = tool("quote", {"symbol": "A", "market": ""}, "Request timeout")
    other = tool("quote", {"market": "X"}, "Request timeout")
    assert [steps for _, steps in kinds([plain, plain, *quotes])] == [5]
    assert kinds([plain, other, *quotes]) == []


def test_how_many_results_are_asked_for_is_no_difference():
    steps = [search("chips", "Request timeout", limit=limit) for limit in (10, 5, 20, 3, 50, 8)]
    assert [count for _, count in kinds(steps)] == [6]
    raised = [search("chips", "Request timeout", limit=5 * 2**at) for at in range(6)]
    assert kinds(raised) == []


def test_words_of_any_script_part_attempts():
    names = ["서울", "부산", "대구", "인천", "광주", "대전", "울산", "수원"]
    steps = [search(f"{name} 날씨", "No data available") for name in names]
    assert kinds(steps) == []


def test_the_screen_that_all_commands_of_a_message_share_is_one_result():
    commands = [f"jq .cases.{key} in.json" for key in "abcdefgh"]
    screen = "".join(f"ida@ferry:/app# {each}\nbash: jq: command not found\n" for each in commands)

    def typed(parents, output=screen):
        return [
            {**bash(each, output), "parent_id": parents(at)} for at, each in enumerate(commands)
        ]

    def message(at, output=screen):
        given = {"id": f"m{at}", "type": "llm", "output": "Look at each of the keys."}
        return [given, *typed(lambda _: f"m{at}", output)]

    assert kinds(message(0)) == []
    assert kinds([step for at in range(4) for step in message(at)]) == [("cycle", 32)]
    # Each of several failures with one text is one of its own.
    refused = (
        "Error: the service that keeps the cases refuses the request, which has no valid token"
    )
    assert kinds(message(0, refused)) == [("same_failure", 8)]
    assert kinds(typed(lambda at: f"m{at}", refused)) == [("same_failure", 8)]


STUB = "<h1>Index</h1>\n<p>This module is under construction.</p>"


def test_files_that_turn_out_to_be_alike_were_not_known():
    reads = [
        tool("read", {"file_path": f"/srv/shop/resources/views/{name}/{page}.html"}, STUB)
        for name in ("risks", "tasks", "users", "teams", "audits")
        for page in ("index", "edit", "show")
    ]
    assert kinds(reads) == []
    shown = [bash(f"cat {read['arguments']['file_path']}", STUB) for read in reads]
    assert kinds(shown) == []
    again = [
        tool("read", {"file_path": "views/index.html", "offset": at, "why": "to see it"}, STUB)
        for at in (1, 1, 2, 1, 2, 1, 2, 1)
    ]
    assert kinds(again) != []
