"""Drafts of trace mappings: what they give for files of the usual forms, and what they do with hostile ones."""

from __future__ import annotations

import json

import pytest

from support.trace_drafts import Drafts
from weighbridge.errors import InputError
from weighbridge_producer.input.trace_drafts import beginning as beginnings
from weighbridge_producer.input.trace_drafts.beginning import read_beginning
from weighbridge_producer.input.trace_drafts.draft_text import quoted, text_of
from weighbridge_producer.input.trace_drafts.drafting import draft_of
from weighbridge_producer.input.trace_drafts.kind_words import meaning_of
from weighbridge_producer.input.yaml_file import YamlFile

USAGE = {"prompt_tokens": 9, "completion_tokens": 1}


def lines(*rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def drafted(tmp_path, text):
    """Return the draft for a file with a text."""
    return Drafts(tmp_path).of(text)


def read_with(tmp_path, mapping):
    """Return the native traces that a mapping gives for the file."""
    return Drafts(tmp_path).traces(mapping)


def given(tmp_path, text):
    """Return the types of the steps of each trace that the draft gives, without `other`, and the draft."""
    mapping = drafted(tmp_path, text)
    return Drafts(tmp_path).types(mapping), mapping


def test_lines_of_one_tool_call_each_are_the_calls_of_their_runs(tmp_path):
    rows = [
        {"run_id": run, "tool_name": "search", "params": {"q": n}, "response": "x", "error": None}
        for run in ("a", "b")
        for n in range(2)
    ]
    types, mapping = given(tmp_path, lines(*rows))
    assert types == [["tool", "tool"], ["tool", "tool"]]
    assert "lines: /run_id\n" in mapping
    first = read_with(tmp_path, mapping)[0]["steps"][0]
    expected = {"type": "tool", "name": "search", "arguments": {"q": 0}, "output": "x"}
    assert first == expected


def test_lines_of_one_model_call_each_have_its_tokens_and_model(tmp_path):
    row = {"model": "m", "metadata": {"usage": USAGE}, "usd": 0.5, "answer": "x"}
    types, mapping = given(tmp_path, lines(row, row))
    assert types == [["llm", "llm"]]
    assert "lines: together  # " in mapping
    step = read_with(tmp_path, mapping)[0]["steps"][0]
    assert (step["model"], step["cost_usd"]) == ("m", 0.5)
    assert step["usage"] == {"input_tokens": 9, "output_tokens": 1}


def test_events_are_told_apart_by_their_kind_and_unknown_ones_have_a_remark(tmp_path):
    rows = [
        {"kind": "llm_request", "session": "s"},
        {"kind": "llm_response", "session": "s", **USAGE},
        {"kind": "TOOL_CALL::search", "session": "s"},
        {"kind": "tool_result", "session": "s", "output": "x"},
        {"kind": "rerank", "session": "s"},
    ]
    types, mapping = given(tmp_path, lines(*rows, *rows))
    assert types == [["llm", "tool"] * 2]
    assert "rerank: other  # not known, 2 of these" in mapping
    assert "llm_request: other  # " in mapping


def test_calls_within_the_messages_of_a_model_are_not_counted_again_as_messages_of_tools(tmp_path):
    messages = [
        {"speaker": "x", "role": "assistant", "calls": [{"id": "1", "tool": "f", "args": {}}]},
        {"speaker": "x", "role": "tool", "call_id": "1", "result": "y"},
    ]
    types, mapping = given(tmp_path, json.dumps({"talk": messages}))
    assert types == [["llm", "tool"]]
    assert read_with(tmp_path, mapping)[0]["steps"][1]["output"] == "y"


def test_the_beginning_of_a_call_is_no_result_of_it_where_its_end_has_one(tmp_path):
    call = {"tool": "read", "args": {"path": "a"}}
    rows = [
        {"event": "llm_start", "prompt": "Read a."},
        {"event": "llm_end", "response": "", "tool_calls": [call]},
        {"event": "tool_start", "tool": "read", "input": "{'path': 'a'}"},
        {"event": "tool_end", "output": "A"},
    ]
    types, mapping = given(tmp_path, lines(*rows, *rows))
    assert types == [["llm", "tool", "llm", "tool"]]
    assert "    tool_start: other  # the call, which stands within the model's step" in mapping
    (trace,) = read_with(tmp_path, mapping)
    tools = [step for step in trace["steps"] if step["type"] == "tool"]
    assert [(step["name"], step["output"]) for step in tools] == [("read", "A")] * 2
    assert "tool_calls" not in trace.get("missing", {})


def test_an_object_with_a_list_of_turns_of_thought_and_action_is_a_run(tmp_path):
    turn = {"thought": "I look.", "action": {"name": "f", "args": {}}, "observation": "x"}
    last = {"thought": "Done.", "action": None, "observation": None}
    document = {"task_id": "t", "model": "m", "rounds": [turn, last]}
    types, mapping = given(tmp_path, json.dumps([document, {**document, "task_id": "u"}]))
    assert types == [["llm", "tool", "llm"]] * 2
    assert [trace["id"] for trace in read_with(tmp_path, mapping)] == ["t", "u"]


def test_the_messages_given_to_a_model_are_not_the_steps_of_a_run(tmp_path):
    history = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}] * 3
    rows = [{"call_no": n, "sent": history, "model": "m", **USAGE} for n in range(3)]
    assert given(tmp_path, lines(*rows))[0] == [["llm"] * 3]


def test_definitions_of_tools_are_no_calls(tmp_path):
    tools = [{"name": "f", "description": "x", "parameters": {}}] * 3
    with pytest.raises(InputError, match="no draft can be made"):
        drafted(tmp_path, json.dumps({"offered": tools}))


def test_lines_with_the_totals_of_a_run_are_not_taken_for_model_calls(tmp_path):
    rows = [{"run_id": str(n), "steps": 5, "tool_calls": 4, **USAGE} for n in range(3)]
    types, mapping = given(tmp_path, lines(*rows))
    assert types == [[], [], []]
    assert [trace["counts"] for trace in read_with(tmp_path, mapping)] == [{"tool_calls": 4}] * 3
    assert "# llm_calls: /steps  # if" in mapping


def test_objects_with_tokens_and_steps_of_their_own_are_runs_and_no_model_calls(tmp_path):
    steps = [{"kind": "assistant", "text": "x"}, {"kind": "tool_call", "tool": "f"}]
    rows = [{"id": str(n), "usage": USAGE, "rounds": steps} for n in range(2)]
    types, mapping = given(tmp_path, lines(*rows))
    assert types == [["llm", "tool"]] * 2
    assert read_with(tmp_path, mapping)[0]["usage"] == {"input_tokens": 9, "output_tokens": 1}


def test_steps_with_a_line_for_their_beginning_and_one_for_their_end_count_once(tmp_path):
    rows = [
        {"run": "r", "event": f"item.{event}", "span": {"kind": kind}}
        for kind in ("llm", "tool", "check")
        for event in ("started", "completed")
    ]
    types, mapping = given(tmp_path, lines(*rows))
    assert types == [["llm", "tool"]]
    assert "item.started: other  # the beginning of a step" in mapping


def test_a_second_word_tells_apart_what_the_first_does_not(tmp_path):
    rows = [
        {"type": "message", "role": "user", "text": "a"},
        {"type": "message", "role": "assistant", "text": "b"},
        {"type": "tool_call", "function": "f", "args": {}},
    ]
    types, mapping = given(tmp_path, lines(*rows))
    assert types == [["user", "llm", "tool"]]
    assert "type: [/type, /role]" in mapping


def test_tokens_are_also_found_by_short_names_within_an_object_of_tokens(tmp_path):
    rows = [{"kind": "llm_call", "tokens": {"input": 5, "output": 2}}] * 2
    mapping = drafted(tmp_path, lines(*rows))
    usage = read_with(tmp_path, mapping)[0]["steps"][0]["usage"]
    assert usage == {"input_tokens": 5, "output_tokens": 2}


def test_model_calls_without_tokens_beside_others_with_some_have_a_remark(tmp_path):
    rows = [{"name": "a", "prompt_tokens": n, "completion_tokens": n} for n in (0, 5)]
    assert "in 1 of 2 they are 0" in drafted(tmp_path, lines(*rows))


def test_steps_that_name_a_tool_and_are_of_several_kinds_have_a_remark(tmp_path):
    rows = [{"event": word, "tool": "f", "args": {}} for word in ("scheduled", "over")] * 2
    assert "several kinds at /event: scheduled, over" in drafted(tmp_path, lines(*rows))


@pytest.mark.parametrize(
    ("word", "type_"),
    [
        ("assistant", "llm"),
        ("LLMResponseEvent", "llm"),
        ("tool/call", "tool"),
        ("ToolCallStarted", "tool"),
        ("function_call_output", "result"),
        ("TOOL_CALL::search", "tool"),
        ("human", "user"),
        ("assistant/chunk", None),
        ("successful_tool_action_of_user", None),
        ("tool_failed", "result"),
        ("tool_call_error", "result"),
        ("model_failed", None),
        ("", None),
    ],
)
def test_words_stand_for_the_types_of_steps(word, type_):
    found = meaning_of(word)
    assert (found and found.type) == type_


def test_failures_that_are_no_text_of_an_error_are_told_by_their_values(tmp_path):
    rows = [{"tool": "f", "args": {}, "success": n > 0} for n in range(3)]
    mapping = drafted(tmp_path, lines(*rows))
    assert "  failed_when: {/success: [false]}  # by this, 1 call" in mapping
    rows = [{"event": "tool_call"}, {"event": "tool_result", "data": {"status": "error"}}]
    mapping = drafted(tmp_path, lines(*rows))
    assert '  failed_when: {/data/status: ["error"]}  # by this, 1 call' in mapping
    assert "failed_when" not in drafted(tmp_path, lines({"tool": "f", "args": {}, "status": 200}))


def test_a_fact_that_a_run_cannot_be_read_with_is_left_out_with_the_reason(tmp_path):
    rows = [{"tool": "f", "args": {}, "timestamp": "yesterday"}] * 2
    mapping = drafted(tmp_path, lines(*rows))
    assert "# started_at: /timestamp  # left out: " in mapping
    assert len(read_with(tmp_path, mapping)[0]["steps"]) == 2


def test_tokens_that_other_steps_have_too_are_left_out_with_a_remark(tmp_path):
    rows = [{"event": "llm_call", **USAGE}, {"event": "run_end", **USAGE}]
    mapping = drafted(tmp_path, lines(*rows))
    assert "# usage.input_tokens: /prompt_tokens  # 1 step of" in mapping


def test_an_empty_file_is_refused(tmp_path):
    with pytest.raises(InputError, match="the file is empty"):
        drafted(tmp_path, "\n")


@pytest.mark.parametrize(
    "name",
    [
        "a: b",
        "x # y",
        "a/b~c",
        '"',
        "\\",
        "é\u2028\x85",
        "😀",
        "null",
        "- a",
        "{x}",
        "a,b",
        "*",
        " ",
    ],
)
def test_names_are_quoted_so_that_they_stand_for_themselves(tmp_path, name):
    rows = [{"kind": f"tool {name}", "t": "tool_call", name: {"run_id": "r"}, "tool": name}] * 2
    mapping = drafted(tmp_path, lines(*rows))
    assert read_with(tmp_path, mapping)[0]["steps"][0]["name"] == name
    (tmp_path / "one.yaml").write_text(f"{quoted(name)}: 1\n", encoding="utf-8")
    assert list(YamlFile(str(tmp_path / "one.yaml"), "x", InputError).parsed()) == [name]


def test_a_name_with_a_line_break_adds_no_line_to_the_mapping(tmp_path):
    rows = [{"kind": "llm_call", "x\nsteps: /evil": USAGE}, {"kind": "x\r\x1b[31m"}]
    mapping = drafted(tmp_path, lines(*rows))
    assert [line for line in mapping.splitlines() if line.startswith("steps:")] == ['steps: ""']
    assert "\x1b" not in mapping
    assert read_with(tmp_path, mapping)[0]["steps"][0]["usage"]["input_tokens"] == 9


def test_deep_wide_and_mixed_values_are_no_error_of_the_program(tmp_path):
    deep = json.loads("[" * 500 + "]" * 500)
    for value in (
        {"steps": [{"tool": deep, "args": deep}]},
        {f"k{n}": [{"tool": "f"}] for n in range(3_000)},
        [{f"k{n}": n for n in range(3_000)}] * 3,
        [1, "a", None, {"tool": 3}],
        {"": {"": [{"": ""}]}},
        3,
    ):
        try:
            drafted(tmp_path, json.dumps(value))
        except InputError as error:
            assert "no draft can be made" in error.message  # noqa: PT017


def test_only_the_beginning_of_a_large_file_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(beginnings, "READ_BYTES", 10_000)
    rows = [{"tool": "f", "args": {"n": n}} for n in range(2_000)]
    for text in (lines(*rows), json.dumps(rows), json.dumps(rows, indent=1)):
        (tmp_path / "runs.jsonl").write_text(text)
        read = read_beginning(tmp_path / "runs.jsonl")
        assert not read.is_whole
        kept = read.values if read.has_lines else read.values[0]
        assert kept == rows[: len(kept)]
        assert 50 < len(kept) < 500
        assert "tool  # each step is taken for a tool call" in text_of(draft_of(read), [])
