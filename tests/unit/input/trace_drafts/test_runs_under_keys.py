"""Drafts for documents whose runs are the values of an object, under their ids."""

from __future__ import annotations

import pytest


def steps(text):
    """Return the steps of one run."""
    return [
        {"type": "llm", "text": text},
        {"type": "tool_call", "name": "f", "args": {"q": text}},
        {"type": "tool_result", "output": "found"},
    ]


@pytest.mark.parametrize(
    ("document", "traces", "at"),
    [
        ({key: {"steps": steps(key)} for key in ("a", "b")}, '"/*"', "/steps"),
        ({"runs": {key: {"log": {"events": steps(key)}} for key in "ab"}}, '"/runs/*"', "/log/events"),
        ({"v": 1, "runs": {key: steps(key) for key in ("a", "b")}}, '"/runs/*"', '""'),
        ({key: {"steps": steps(key), key: 1, key * 2: "x"} for key in ("a", "b")}, '"/*"', "/steps"),
        ({key: steps(key) for key in ("a", "b")}, '"/*"', '""'),
        ({f"{number:03}": steps("x") for number in range(300)}, '"/*"', '""'),
    ],
)  # fmt: skip
def test_all_runs_are_read_by_their_keys(drafts, document, traces, at):
    mapping = drafts.of(document)
    assert f"traces: {traces}  # each value is taken for one run, and its key for the id" in mapping
    assert f"steps: {at}\n" in mapping
    assert "Other arrays" not in mapping
    types = drafts.types(mapping)
    assert types == [["llm", "tool"]] * len(types)
    assert len(types) == (300 if "000" in document else 2)


def test_parts_of_one_run_are_no_runs(drafts):
    parts = {
        "llm_calls": [{"model": "m", "prompt_tokens": 9, "completion_tokens": 1}],
        "tools_used": [{"tool": "f", "args": {"q": 1}}, {"tool": "g", "args": {"q": 2}}],
    }
    assert "traces:" not in drafts.of(parts)
    assert "traces:" not in drafts.of({"messages": steps("a"), "events": steps("b")})


def test_another_array_is_named_with_one_mark_for_all_runs(drafts):
    runs = {key: {"first": steps(key), "second": steps(key)} for key in "ab"}
    assert "may be the steps: /*/second (6 entries)" in drafts.of(runs)


def test_an_array_whose_key_is_the_mark_for_all_values_is_not_pointed_to(drafts):
    mapping = drafts.of({"*": steps("a"), "events": steps("b")})
    assert "steps: /events\n" in mapping


def test_entries_of_a_list_have_a_remark_with_the_line_that_makes_each_a_run(drafts):
    mapping = drafts.of(
        [{"input": f"question {number}", "output": "It is here."} for number in range(3)]
    )
    assert 'if each is a run of its own, write traces: "" here' in mapping
    assert len(drafts.traces(mapping)) == 1
    assert len(drafts.traces(f'traces: ""\n{mapping}')) == 3
