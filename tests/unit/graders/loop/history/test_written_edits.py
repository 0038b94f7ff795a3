"""Edits written as blocks in an agent's text: a loop if nearly one edit is refused again and again, or has one outcome."""

from __future__ import annotations

import pytest

from weighbridge.graders.loop import LoopGrader
from weighbridge.graders.loop.history.written_edits import edit_in

SEARCH = """\
    def total(self, items):
        # Sum the prices of all items in the basket
        amount = 0
        for item in items:
            amount += item.price * item.quantity
        return amount"""
REPLACE = """\
    def total(self, items):
        return sum(item.price * item.quantity for item in items)"""
#: One edit in nearly the same words: a full stop, a blank line, another indentation, another quantifier.
NEARLY = [
    SEARCH,
    SEARCH.replace("basket", "basket."),
    SEARCH.replace("\n        return", "\n\n        return"),
    SEARCH.replace("all items", "each item"),
    SEARCH.replace("    def", "def"),
]
#: Edits at other places of the file.
OTHERS = [
    SEARCH.replace("total", name).replace("price", of).replace("amount", name)
    for name, of in (
        ("weight", "grams"),
        ("tax", "duty_rate"),
        ("points", "bonus"),
        ("age", "days"),
    )
]
PLACES = ["basket.py", "cart.py", "order.py", "invoice.py"]


def said(search, path="shop/basket.py", replace=REPLACE, preface="Let me try this edit:"):
    text = f"{preface}\n\n{path}\n```python\n<<<<<<< SEARCH\n{search}\n=======\n{replace}\n>>>>>>> REPLACE\n```\n"
    return {"type": "llm", "output": text}


def user(text):
    return {"type": "user", "output": text}


def refused(at, search, quoted=""):
    """Return the answer of a harness that refuses an edit: it echoes it, quotes the file and counts tokens."""
    meant = (
        f"\nDid you mean to match some of these lines?\n\n```\n{quoted}\n```\n" if quoted else ""
    )
    return user(
        "# 1 SEARCH/REPLACE block failed to match!\n\n"
        f"## This SEARCH block failed to exactly match lines in shop/basket.py\n<<<<<<< SEARCH\n{search}\n=======\n"
        f"{REPLACE}\n>>>>>>> REPLACE\n{meant}\nThe SEARCH section must match the lines of the file.\n"
        f"{4200 + 317 * at} prompt tokens, {180 - 7 * at} completion tokens, $0.0{at + 1} cost"
    )


def applied(tests="Tests timed out after 60 seconds", at=0):
    return user(
        f"Applied edit to shop/basket.py\n\n{tests}\n{900 + at} prompt tokens, 80 completion tokens"
    )


def attempts(searches, quoted=()):
    quoted = [*quoted, *[""] * len(searches)]
    pairs = [(said(each), refused(at, each, quoted[at])) for at, each in enumerate(searches)]
    return [step for pair in pairs for step in pair]


def kinds(steps, **config):
    given = [{"id": f"s{at}", **step} for at, step in enumerate(steps, 1)]
    result = LoopGrader(config=config).grade({"format": "weighbridge", "steps": given})
    return [(loop["kind"], loop["repeats"]) for loop in result["details"]["loops"]]


def test_an_edit_that_is_refused_four_times_in_nearly_the_same_words_is_a_loop():
    assert kinds(attempts(NEARLY)) == [("near_identical", 5)]
    assert kinds(attempts(NEARLY[:4])) == [("near_identical", 4)]
    assert kinds(attempts(NEARLY[:3])) == []


def test_lines_that_a_refusal_quotes_do_not_make_it_another_refusal():
    quoted = [
        "def total(self):",
        "def totals(self, items):\n    ...",
        "class Basket:\n    pass",
        "x",
    ]
    assert kinds(attempts(NEARLY[:4], quoted)) == [("near_identical", 4)]


def test_the_last_attempt_may_be_without_an_answer_or_end_the_budget():
    assert kinds(attempts([*NEARLY[:3], NEARLY[2]])[:-1]) == [("identical", 4)]
    steps = attempts(NEARLY[:4])
    last = steps[-1]["output"].rpartition("\n")[0] + "\nOnly 4 reflections allowed, stopping."
    assert kinds([*steps[:-1], user(last)]) == [("near_identical", 4)]


def test_one_edit_that_is_applied_again_and_again_with_one_outcome_is_a_loop():
    prefaces = [
        "To fix it:",
        "This edit makes sure of it:",
        "I apologize. Once more:",
        "Here it is:",
    ]
    steps = [
        step
        for at, preface in enumerate(prefaces)
        for step in (said(SEARCH, preface=preface), applied(at=at))
    ]
    assert kinds(steps) == [("identical", 4)]


@pytest.mark.parametrize(
    "marks", [("<<<<<<< ORIGINAL", ">>>>>>> UPDATED"), ("------- SEARCH", "+++++++ REPLACE")]
)
def test_blocks_are_read_in_the_notations_of_several_agents(marks):
    steps = attempts(NEARLY[:4])
    for step in steps:
        for usual, mark in zip(("<<<<<<< SEARCH", ">>>>>>> REPLACE"), marks, strict=True):
            step["output"] = step["output"].replace(usual, mark)
    assert kinds(steps) == [("near_identical", 4)]


def test_a_patch_is_an_edit():
    patch = "Try:\n*** Begin Patch\n*** Update File: a.py\n@@\n-{}\n+{}\n*** End Patch\n"
    steps = [
        step
        for at, each in enumerate(NEARLY[:4])
        for step in (
            {"type": "llm", "output": patch.format(each, REPLACE)},
            user(f"error: the patch does not apply\n{at * 7 + 5} total tokens"),
        )
    ]
    assert kinds(steps) == [("near_identical", 4)]


HONEST = {
    "other places of the file": attempts(OTHERS),
    "other files": [
        step
        for at, path in enumerate(PLACES)
        for step in (said(SEARCH, path), refused(at, SEARCH))
    ],
    "an edit that is applied in the end": [*attempts(NEARLY[:3]), said(NEARLY[3]), applied()],
    "another error of the tests each time": [
        step
        for error in ("name sum is not defined", "the basket was None", "prices are text", "rounds down")
        for step in (said(SEARCH), applied(f"A test failed because {error}."))
    ],
    "fewer failures each time": [
        step for left in (9, 7, 4, 1) for step in (said(SEARCH), applied(f"{left} failed, 20 passed"))
    ],
    "other replacements with one outcome": [
        step
        for at, other in enumerate(OTHERS)
        for step in (said(SEARCH, replace=other), applied(at=at))
    ],
    "a shorter part of the file each time": attempts(
        [SEARCH.rsplit("\n", lines)[0] if lines else SEARCH for lines in range(4)]
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", HONEST)
def test_edits_that_get_on_are_not_a_loop(name):
    assert kinds(HONEST[name]) == []


def edit_call(search, output):
    arguments = {"path": "shop/basket.py", "old_str": search, "new_str": REPLACE}
    return {"type": "tool", "name": "str_replace", "arguments": arguments, "output": output}


def test_a_tool_that_refuses_an_edit_and_quotes_other_lines_each_time_brings_nothing_new():
    quoted = ["class Basket:", "def totals(self):\n    ...", "x = 1", "import shop"]
    answer = "String to replace not found in the file. The most similar lines are:\n```\n{}\n```"
    calls = [
        edit_call(each, answer.format(lines)) for each, lines in zip(NEARLY, quoted, strict=False)
    ]
    assert kinds(calls) == [("near_identical", 4)]
    others = [
        edit_call(each, answer.format(lines)) for each, lines in zip(OTHERS, quoted, strict=True)
    ]
    assert kinds(others) == []


def test_quoted_lines_of_an_applied_edit_are_its_result():
    answer = "The file has been edited. Here is the result:\n```\n{}\n```"
    lines = ["first()", "second(x)", "third: int", "fourth = y"]
    assert kinds([edit_call(SEARCH, answer.format(each)) for each in lines]) == []


def test_a_text_longer_than_twenty_thousand_characters_is_not_searched_for_an_edit():
    edit = said(SEARCH)["output"]
    assert edit_in(edit.rjust(20_000)) is not None
    assert edit_in(edit.rjust(20_001)) is None


def runs_of_tests(codes):
    """Return runs of the tests, each after a text with code, that fail alike."""
    return [
        step
        for code in codes
        for step in (
            {"type": "llm", "output": f"The next step:\n```python\n{code}\n```\n"},
            {
                "type": "tool",
                "name": "run_tests",
                "arguments": {},
                "output": "3 failed: total is not defined",
            },
        )
    ]


def test_a_call_without_arguments_after_new_code_is_another_call():
    functions = [
        f"def {name}(items):\n    return {name}_of(items)"
        for name in ("sum", "tax", "age", "sort", "join")
    ]
    assert kinds(runs_of_tests(functions)) == []
    assert kinds(runs_of_tests(functions[:1] * 5))
    assert kinds(runs_of_tests(functions)[1::2])
