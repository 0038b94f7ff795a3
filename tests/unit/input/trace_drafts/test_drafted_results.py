"""Drafts give each result to the call that it belongs to."""

from __future__ import annotations


def calls_in(drafts, mapping):
    """Return the name, output and error of each call of the first run, and its arguments."""
    steps = drafts.traces(mapping)[0]["steps"]
    calls = [step for step in steps if step["type"] == "tool"]
    return [
        (call["name"], call.get("output"), call.get("error"), call.get("arguments"))
        for call in calls
    ]


def test_a_step_without_a_result_does_not_take_that_of_the_next(drafts):
    steps = [
        {"thought": "a", "action": {"tool": "search", "args": {"q": 1}}, "observation": None},
        {"thought": "b", "action": {"tool": "open", "args": {"q": 2}}, "observation": "page"},
        {"thought": "c", "action": {"tool": "get", "args": {"q": 3}}, "observation": "6"},
    ]
    calls = calls_in(drafts, drafts.of({"steps": steps}))
    assert [(name, output) for name, output, *_ in calls] == [
        ("search", None),
        ("open", "page"),
        ("get", "6"),
    ]


def test_an_array_with_one_result_for_each_call_of_a_step_is_read_by_place(drafts):
    both = [{"tool": "f", "args": {"q": 1}}, {"tool": "g", "args": {"q": 2}}]
    steps = [{"role": "assistant", "text": "a", "tool_calls": both, "observation": ["F", "G"]}]
    mapping = drafts.of({"id": "x", "steps": steps * 3})
    assert [(name, output) for name, output, *_ in calls_in(drafts, mapping)] == [
        ("f", "F"),
        ("g", "G"),
    ] * 3


def test_one_result_for_several_calls_has_a_remark(drafts):
    both = [{"tool": "f", "args": {"q": 1}}, {"tool": "g", "args": {"q": 2}}]
    steps = [{"role": "assistant", "text": "a", "tool_calls": both, "observation": "F and G"}]
    mapping = drafts.of({"id": "x", "steps": steps * 3})
    assert "/observation is taken for the result of the first of several calls" in mapping


def test_an_event_that_a_tool_failed_is_the_result_of_its_call(drafts):
    rows = [
        {"type": "tool_call", "name": "f", "args": {"q": 1}},
        {"type": "tool_error", "name": "f", "error": "boom"},
        {"type": "tool_call", "name": "g", "args": {"q": 2}},
        {"type": "tool_result", "name": "g", "output": "G"},
    ]
    calls = calls_in(drafts, drafts.of_rows(*rows))
    assert [call[:3] for call in calls] == [("f", None, "boom"), ("g", "G", None)]


def test_results_that_name_their_tool_belong_to_the_call_of_that_name(drafts):
    rows = [{"type": "tool_call", "name": name, "args": {}} for name in "fg"]
    rows += [{"type": "tool_result", "name": name, "output": name.upper()} for name in "gf"]
    calls = calls_in(drafts, drafts.of_rows(*rows))
    assert [call[:2] for call in calls] == [("f", "F"), ("g", "G")]


def test_a_model_call_with_its_tool_in_a_row_keeps_the_arguments_and_the_result(drafts):
    usage = {"input_tokens": 5, "output_tokens": 2}
    rows = [{"tool": "f", "args": {"q": q}, "output": f"r{q}", **usage} for q in range(3)]
    mapping = drafts.of_rows(*rows, {"text": "It is done.", **usage})
    assert calls_in(drafts, mapping) == [("f", f"r{q}", None, {"q": q}) for q in range(3)]
    assert drafts.types(mapping) == [["llm", "tool"] * 3 + ["llm"]]


def test_a_call_in_the_row_of_an_answer_is_of_that_answer(drafts):
    row = {"run": "r", "role": "Agent", "thought": "x", "toolName": "ls", "toolInput": "/a", "observation": "ok"}  # fmt: skip
    asked = {"run": "r", "role": "User", "thought": "Which files are there?"}
    mapping = drafts.of_rows(asked, row, {**row, "toolInput": "/b", "observation": "none"})
    assert 'at: ""  # taken for the call that the answer beside it makes' in mapping
    assert calls_in(drafts, mapping) == [("ls", "ok", None, "/a"), ("ls", "none", None, "/b")]
    assert drafts.types(mapping) == [["user", "llm", "tool", "llm", "tool"]]


def test_the_names_of_speakers_in_a_chat_are_no_tools(drafts):
    said = {"run": "r", "role": "assistant", "name": "planner", "input": "p", "output": "o"}
    asked = {"run": "r", "role": "user", "name": "ann", "output": "Go on."}
    assert drafts.types(drafts.of_rows(asked, said, asked, said)) == [["user", "llm"] * 2]
