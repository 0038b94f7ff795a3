"""Drafts for turns with arrays of calls, and arrays of their results in the turn after."""

from __future__ import annotations

import pytest


def turns(calls, results):
    """Return two runs, in each of which a turn makes two calls and the next has their results."""
    return [
        {
            "turns": [
                {"speaker": "person", "utterance": "Find it."},
                {"speaker": "assistant", "utterance": "I look.", calls: listed},
                {"speaker": "tools", results: [{"no": n, "content": f"r{n}", "problem": why} for n, why in ((run + 2, "gone"), (run + 1, None))]},
                {"speaker": "assistant", "utterance": "It is here."},
            ]
        }
        for run in (0, 10)
        for listed in [[{"no": run + n, "function": f"f{n}", "args": {"q": n}} for n in (1, 2)]]
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("calls", "results"),
    [("tool_requests", "tool_responses"), ("invocations", "observations"), ("actions", "results")],
)
def test_each_result_is_that_of_its_call_and_their_turn_is_no_step(drafts, calls, results):
    mapping = drafts.of_rows(*turns(calls, results))
    assert f"at: /{results}" in mapping
    assert drafts.types(mapping) == [["user", "llm", "tool", "tool", "llm"]] * 2
    for run, trace in zip((0, 10), drafts.traces(mapping), strict=True):
        found = [step for step in trace["steps"] if step["type"] == "tool"]
        assert [(call["arguments"], call["output"]) for call in found] == [
            ({"q": 1}, f"r{run + 1}"),
            ({"q": 2}, f"r{run + 2}"),
        ]


def test_definitions_of_tools_and_lists_of_other_objects_are_no_calls(drafts):
    usage = {"prompt_tokens": 9, "completion_tokens": 1}
    tools = [{"tool": "f", "description": "It finds.", "input_schema": {"type": "object"}}] * 2
    for beside in ({"functions_offered": tools}, {"requests": [{"id": 1, "name": "a"}]}):
        mapping = drafts.of_rows(*[{"role": "assistant", "text": "I look.", **usage, **beside}] * 3)
        assert drafts.types(mapping) == [["llm"] * 3]
