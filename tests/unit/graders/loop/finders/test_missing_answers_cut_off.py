"""Answers that are cut off at the output limit again and again, and of which nothing is left."""

from __future__ import annotations

import pytest

from weighbridge.graders.loop import LoopGrader

BEGIN = [
    {"type": "user", "output": "Write a guide to each part of the program, of 700 lines each."},
    {"type": "llm", "output": "I begin with the parser.", "finish_reason": "stop"},
    {"type": "user", "output": "Good plan. Write all of them now, in the folder of the guides."},
]
CUT = {"type": "llm", "finish_reason": "length", "usage": {"output_tokens": 4_096}}
GO_ON = {"type": "user", "output": "conitune"}


def found(*steps, **config):
    named = [{"id": f"s{at}", **step} for at, step in enumerate([*BEGIN, *steps], 1)]
    result = LoopGrader(config=config).grade({"format": "weighbridge", "steps": named})
    return [(loop["rule"], loop["repeats"]) for loop in result["details"]["loops"]]


def cut(count, *between):
    return [step for _ in range(count - 1) for step in (CUT, *between)] + [CUT]


def calls(name, arguments, **result):
    asked = {"type": "llm", "output": "I look.", "finish_reason": "tool_call"}
    return [asked, {"type": "tool", "name": name, "arguments": arguments, **result}]


FOUND = ("cut_off_answers", 4)


def test_more_than_max_repeats_answers_of_which_nothing_is_left_are_a_loop():
    assert found(*cut(4, GO_ON)) == [FOUND]
    assert found(*cut(4)) == [FOUND]
    assert found(*cut(3, GO_ON)) == []
    assert found(*cut(2, GO_ON), max_repeats=1) == [("cut_off_answers", 2)]


def test_an_answer_that_ends_by_itself_is_no_cut_off_one():
    ended = {**CUT, "finish_reason": "stop"}
    assert found(*[ended] * 6) == []
    assert found(*[{**CUT, "finish_reason": None}] * 6) == []


@pytest.mark.parametrize("written", ["max_tokens", "MAX_TOKENS", "max_output_tokens"])
def test_the_words_of_each_provider_count(written):
    assert found(*[{**CUT, "finish_reason": written}] * 4) == [FOUND]


def test_calls_between_that_read_or_fail_bring_nothing():
    look = calls("view", {"file_path": "guides/parser.md"}, output="# The parser\n" * 20)
    refused = calls("write", {"file_path": "guides/a.md"}, error="missing parameter: content")
    assert FOUND in found(*cut(4, *look))
    assert FOUND in found(*cut(4, *refused))
    looks = [step for at in range(7) for step in calls("view", {"file_path": f"{at}.md"}, output=f"{at}" * 90)]  # fmt: skip
    assert FOUND in found(*cut(4, *looks[:12]))
    assert FOUND not in found(*cut(4, *looks))


def test_a_change_an_answer_or_a_request_between_begins_anew():
    write = calls("write", {"file_path": "guides/a.md", "content": "# A"}, output="written")
    answer = {"type": "llm", "output": "The guide to the parser is in its place.", "finish_reason": "stop"}  # fmt: skip
    request = {"type": "user", "output": "Leave the guides, and fix the test of the lexer instead."}
    question = {"type": "user", "output": "What is a lexer?"}
    for other in ([*write], [answer], [request], [question]):
        assert found(*cut(3), *other, *cut(3)) == []
        assert found(*cut(3), *other, *cut(4)) == [FOUND]


def test_a_text_that_is_delivered_in_parts_is_content():
    parts = [
        {**CUT, "output": f"## Part {at}\n" + " ".join(f"word{at * 200 + n}" for n in range(200))}
        for at in range(8)
    ]
    assert found(*[step for part in parts for step in (part, GO_ON)]) == []
    begun = [
        {**CUT, "output": text}
        for text in (
            "# The lexer",
            "Now the guide to",
            "I think that",
            "Each part of a program has",
        )
    ]
    assert found(*[step for text in begun for step in (text, GO_ON)]) == [FOUND]


def test_a_cut_off_answer_with_a_call_that_has_an_effect_is_not_lost():
    write = {"type": "tool", "name": "write", "parent_id": "", "output": "written"}
    written = [
        step
        for at in range(6)
        for step in (
            {**CUT, "id": f"m{at}"},
            {**write, "parent_id": f"m{at}", "arguments": {"path": f"{at}.md", "content": f"{at}"}},
        )
    ]
    assert found(*written) == []
    failing = {"output": None, "error": "missing parameter: content"}
    failed = [step | failing if step["type"] == "tool" else step for step in written]
    assert ("cut_off_answers", 6) in found(*failed)


def test_answers_with_a_small_limit_or_inputs_of_their_own_are_no_loop():
    yes = {**CUT, "output": "Yes", "usage": {"output_tokens": 1}}
    assert found(*[yes] * 2, *[{**yes, "output": "No"}] * 2) == []
    assert found(*[{**CUT, "input": f"{at}: which way?"} for at in range(6)]) == []


def test_a_run_without_any_text_does_not_record_them():
    steps = [{"id": f"s{at}", **CUT} for at in range(6)]
    result = LoopGrader().grade({"format": "weighbridge", "steps": steps})
    assert result["details"]["loops"] == []


def test_the_evidence_says_what_was_counted():
    steps = [{"id": f"s{at}", **step} for at, step in enumerate([*BEGIN, *cut(4, GO_ON)], 1)]
    said = LoopGrader().grade({"format": "weighbridge", "steps": steps})["evidence"][0]
    assert (said["cause"], said["limit"], said["observed"]) == ("cut_off_answers", 3, 4)
    assert said["step_ids"] == ["s4", "s6", "s8", "s10"]


def test_short_answers_of_which_nothing_is_missing_are_no_loop():
    labels = [
        {"type": "llm", "output": label, "finish_reason": "length"}
        for label in ("positive", "negative", "neutral", "mixed", "unclear", "none of them")
    ]
    assert found(*labels) == []
    assert (
        found(
            *[
                step
                for at, label in enumerate(labels)
                for step in ({"type": "user", "output": f"text {at}"}, label)
            ]
        )
        == []
    )
    title = {"output": "A walk along the piers of the old harbour in"}
    titles = [{**label, "output": f"{at}: {title['output']}"} for at, label in enumerate(labels)]
    assert (
        found(
            *[
                step
                for at, each in enumerate(titles)
                for step in ({"type": "user", "output": f"text {at}"}, each)
            ]
        )
        == []
    )
    lines = [
        {**CUT, "output": f"Line {at}: " + "the sea " * 40, "usage": {"output_tokens": 100}}
        for at in range(6)
    ]
    assert ("cut_off_answers", 6) not in found(*[step for line in lines for step in (line, GO_ON)])


def test_answers_without_tokens_that_say_what_they_begin_are_lost():
    begun = [
        {"type": "llm", "output": f"I write the guide to {part}:", "finish_reason": "length"}
        for part in ("the parser", "all the tokens", "names and scopes", "what is printed")
    ]
    assert found(
        *[step for each in begun for step in (each, {"type": "user", "output": "continue"})]
    ) == [FOUND]
