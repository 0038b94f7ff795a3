"""Drafts for logs that record a call twice: at its beginning and at its end."""

from __future__ import annotations

import pytest


def twice(field, begin, end):
    """Return three model calls and three tool calls, each with a line for its beginning and one for its end."""
    rows = []
    for number in range(3):
        for call in ({"type": "llm"}, {"type": "tool", "name": "f", "args": {"q": number}}):
            rows += [{**call, field: begin}, {**call, field: end}]
    return rows


@pytest.mark.parametrize(
    ("field", "begin", "end"),
    [
        ("phase", "before", "after"),
        ("phase", "input", "output"),
        ("stage", "pre_call", "post_call"),
        ("status", "in_progress", "completed"),
        ("state", "running", "done"),
        ("direction", "request", "response"),
        ("subtype", "started", "finished"),
        ("action", "begin", "end"),
    ],
)
def test_a_call_with_a_line_for_its_beginning_and_one_for_its_end_counts_once(
    drafts, field, begin, end
):
    mapping = drafts.of_rows(*twice(field, begin, end))
    assert f"{begin}: other  # the beginning of a step" in mapping
    assert drafts.types(mapping) == [["llm", "tool"] * 3]


def test_arguments_that_only_the_beginning_has_are_kept_and_the_end_is_the_result(drafts):
    rows = []
    for number in range(2):
        rows.append({"type": "tool", "name": "f", "phase": "before", "args": {"q": number}})
        rows.append({"type": "tool", "name": "f", "phase": "after", "result": f"r{number}"})
    mapping = drafts.of_rows(*rows)
    assert "after: result  # the end of a call" in mapping
    calls = drafts.traces(mapping)[0]["steps"]
    assert [(call["arguments"], call["output"]) for call in calls] == [
        ({"q": 0}, "r0"),
        ({"q": 1}, "r1"),
    ]


def test_what_only_the_beginning_of_model_calls_has_is_named_as_not_read(drafts):
    ends = ({"phase": "before", "input": "Find it."}, {"phase": "after", "text": "It is here."})
    mapping = drafts.of_rows(*({"type": "llm", **end} for end in (*ends, *ends)))
    assert "what only the beginning has, such as /input, is not read" in mapping
    assert drafts.types(mapping) == [["llm", "llm"]]


def test_a_state_that_few_calls_stay_in_does_not_make_them_beginnings(drafts):
    rows = [{"type": "tool", "name": "f", "args": {}, "status": "done"} for _ in range(4)]
    mapping = drafts.of_rows(*rows, rows[0] | {"status": "pending"})
    assert len(drafts.types(mapping)[0]) == 5


def test_actions_named_like_a_beginning_and_an_end_are_calls(drafts):
    rows = [{"type": "tool_call", "name": "f", "operation": word} for word in ("input", "output")]
    assert len(drafts.types(drafts.of_rows(*rows, *rows))[0]) == 4


def test_states_that_are_not_known_and_come_in_equal_numbers_have_a_remark(drafts):
    mapping = drafts.of_rows(*twice("state", "opening", "closing"))
    assert "as many have each of these at /state: opening, closing" in mapping


def test_calls_of_which_several_have_one_id_have_a_remark(drafts):
    rows = [
        {"type": "assistant", "message_id": f"m{number}", "text": "word " * length}
        for number in range(2)
        for length in (1, 2)
    ]
    call = {"type": "tool_call", "name": "f", "args": {}}
    assert "4 steps have 2 different ids at /message_id" in drafts.of_rows(*rows, call)
    turns = [{**call, "id": "m0"}, {**call, "id": "m1"}]
    assert "different ids" not in drafts.of_rows(
        *({"type": "assistant", "id": f"m{number % 2}", "text": "word"} for number in range(4)), *turns
    )  # fmt: skip
