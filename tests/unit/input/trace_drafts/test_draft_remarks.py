"""Remarks of drafts on what a count depends on, and on what the steps do not show."""

from __future__ import annotations

import json

import pytest

USAGE = {"prompt_tokens": 9, "completion_tokens": 1}
CALL = {"tool": "f", "args": {"q": 1}}


def test_agent_stands_for_the_model_where_a_word_says_who_speaks(drafts):
    messages = [
        {"role": "usuario", "text": "a"},
        {"role": "agent", "text": "b", "calls": [{"name": "f", "args": {}}]},
    ]
    mapping = drafts.of({"steps": messages, "id": "x"})
    assert drafts.types(mapping) == [["user", "llm", "tool"]]
    rows = [{"type": "agent"}, {"type": "tool_call"}]
    assert "agent: other  # not known" in drafts.of_rows(*rows, *rows)


@pytest.mark.parametrize(
    ("result", "beginning"),
    [
        ("Error: no such file", "Error*"),
        ("[Erro ao executar f]", "[Erro*"),
        ("ValueError: 3", "ValueError*"),
        ("{'success': False, 'why': 1}", "{'success': False*"),
        ('{"error": "gone"}', r"{\"error\": \"*"),
        ("Traceback (most recent call last):", "Traceback (most recent*"),
    ],
)
def test_failures_that_only_begin_the_text_of_a_result_are_guessed_by_that(
    drafts, result, beginning
):
    rows = [{**CALL, "result": result}, {**CALL, "result": "fine"}]
    mapping = drafts.of_rows(*rows)
    assert f'failed_when: {{/result: ["{beginning}"]}}  # guessed: 1 result' in mapping
    steps = drafts.traces(mapping)[0]["steps"]
    assert [bool(step.get("error")) for step in steps] == [True, False]


@pytest.mark.parametrize(
    "result", ["Error handling in Python", "No errors", "terror: a film", {"error": None}]
)
def test_texts_that_only_have_the_word_are_no_failures(drafts, result):
    mapping = drafts.of_rows({**CALL, "result": result}, {**CALL, "result": "fine"})
    assert "failed_when" not in mapping


def test_calls_named_by_their_failure_have_failed(drafts):
    rows = [{"action": word, "why": "It is there."} for word in ("click", "error", "page_blocked")]
    mapping = drafts.of_rows(*rows)
    assert 'failed_when: {/action: ["error", "page_blocked"]}  # guessed' in mapping
    calls = [step for step in drafts.traces(mapping)[0]["steps"] if step["type"] == "tool"]
    assert [bool(call.get("error")) for call in calls] == [False, True, True]


def test_a_state_that_all_calls_have_is_not_taken_for_their_failure(drafts):
    rows = [{"tool": "f", "args": {"n": n}, "success": False} for n in range(6)]
    assert "failed_when" not in drafts.of_rows(*rows)
    assert "failed_when: {/success: [false]}" in drafts.of_rows(*rows, {**CALL, "success": True})


def test_one_id_on_all_lines_has_a_remark(drafts):
    rows = [{"trace_id": "0000", "n": n, **CALL} for n in range(3)]
    mapping = drafts.of_rows(*rows)
    assert "lines: /trace_id  # all 3 lines have the same id" in mapping
    assert "the same id" not in drafts.of_rows(rows[0], {**rows[1], "trace_id": "1"}, rows[2])


def test_lines_with_an_id_of_an_unusual_name_that_stand_together_are_one_run(drafts):
    rows = [{"review_id": run, **CALL} for run in "aabbb"]
    mapping = drafts.of_rows(*rows)
    assert "lines: /review_id  # guessed: " in mapping
    assert drafts.types(mapping) == [["tool"] * 2, ["tool"] * 3]
    for key, ids in (("review_id", "ababa"), ("call_id", "aabbb")):
        mapping = drafts.of_rows(*({key: run, **CALL} for run in ids))
        assert "lines: together" in mapping


def test_several_ids_in_one_array_have_a_remark(drafts):
    entries = [{"requestId": run, **CALL} for run in "aabb"]
    mapping = drafts.of({"agent": "x", "entries": entries})
    assert "steps: /entries  # 2 different ids at /requestId: if each is a run" in mapping
    mapping = drafts.of(entries)
    assert 'steps: ""  # 2 different ids at /requestId: if each is a run' in mapping
    assert drafts.types(f"lines: /requestId\n{mapping}") == [["tool", "tool"]] * 2


def test_answers_messages_and_tokens_beside_the_steps_have_a_remark(drafts):
    answer = {"choices": [{"message": {"role": "assistant", "content": "x"}}], "usage": USAGE}
    messages = [{"role": "user", "content": "Hi"}] * 2
    run = {
        "guard": answer,
        "tokens": {"a": {"in": 7}},
        "asked": {"before": messages},
        "done": [{"ok": False}, {"ok": True}],
        "log": [CALL, CALL],
    }
    mapping = drafts.of(run)
    note = "Beside the steps, and not read: /guard (an answer of a model), /tokens (numbers of tokens), /asked/before (2 messages), /done (results with errors)"
    assert f"# {note}. If calls, or failures of calls, are recorded there" in mapping
    assert "Beside" not in drafts.of({"usage": USAGE, "log": [CALL, CALL]})


def test_calls_that_state_their_duration_leave_the_span_of_a_log_out(drafts):
    rows = [{"ts": f"2025-01-0{n}T00:00:00Z", "latency_ms": 900, **CALL} for n in (1, 2)]
    mapping = drafts.of_rows(*rows)
    assert "  duration_ms: /latency_ms\n" in mapping
    assert "  # started_at: /ts  # left out: " in mapping
    assert drafts.traces(mapping)[0]["least_duration_ms"] == 1800


def test_calls_of_a_run_end_after_the_duration_that_they_state(drafts):
    rows = [{"run_id": run, "ts": 1_700_000_000 + n, "took_seconds": 2, **CALL} for n, run in enumerate("aab")]  # fmt: skip
    mapping = drafts.of_rows(*rows)
    assert "  duration_s: /took_seconds\n" in mapping
    step = drafts.traces(mapping)[0]["steps"][0]
    assert step["ended_at"] == "2023-11-14T22:13:22Z"


@pytest.mark.parametrize(("value", "line"), [(2.5, "duration_s"), (2500, "duration_ms")])
def test_the_unit_of_a_duration_is_guessed_by_its_size(drafts, value, line):
    mapping = drafts.of_rows({"latency": value, **CALL}, {"latency": value, **CALL})
    assert f"  {line}: /latency  # if it is in " in mapping


def test_durations_that_other_steps_have_too_are_left_out(drafts):
    rows = [{"event": "tool_call", "duration_ms": 5}, {"event": "the_end", "duration_ms": 9}]
    assert "# duration_ms: /duration_ms  # steps of other types" in drafts.of_rows(*rows)


def test_steps_without_a_kind_are_listed_by_another_word_that_they_have(drafts):
    rows = [{"kind": "tool_call", "tool": "f"}, {"type": "request"}, {"type": "info"}]
    mapping = drafts.of_rows(*rows, *rows)
    assert "type: [/kind, /type]" in mapping
    assert "request: other  # not known, 2 of these" in mapping


def test_steps_that_name_no_tool_are_listed_by_the_word_that_they_have(drafts):
    rows = [
        {"payload": {"tool": "f"}, "node": "run_f"},
        {"payload": {}, "node": "llm_decision"},
        {"payload": {}, "node": "route"},
    ]
    mapping = drafts.of_rows(*rows, *rows)
    assert drafts.types(mapping) == [["tool", "llm"] * 2]
    assert "route: other  # not known, 2 of these" in mapping


def test_calls_that_another_step_records_too_are_not_counted_twice(drafts):
    rows = [{"type": "tool", "tool": "f"}, {"event": "tool_call", "tool": "f"}, {"event": "x"}]
    assert drafts.types(drafts.of_rows(*rows, *rows)) == [["tool", "tool"]]


def test_totals_of_runs_are_drafted_without_steps(drafts):
    run = {"turns": 3, "usage": {"deep": {"input_tokens": 7, "output_tokens": 2}}, "model": "m"}
    mapping = drafts.of(json.dumps({"task_id": "t", **run}, indent=1))
    assert "taken for the totals of a run" in mapping
    assert drafts.traces(mapping)[0]["usage"] == {"input_tokens": 7, "output_tokens": 2}
    mapping = drafts.of_rows({"id": "a", "turns": 2, **USAGE}, {"id": "b", "turns": 1, **USAGE})
    assert [trace["id"] for trace in drafts.traces(mapping)] == ["a", "b"]
    listed = drafts.of([{"id": "a", "turns": 2, **USAGE}, {"id": "b", "turns": 1, **USAGE}])
    assert [trace["id"] for trace in drafts.traces(listed)] == ["a", "b"]
    assert "2 of 3 have no tokens" not in mapping


def test_a_run_without_steps_has_no_known_number_of_model_calls_if_only_tools_are_mapped(drafts):
    rows = [{"id": "a", "steps": [CALL, CALL]}, {"id": "b", "steps": []}]
    traces = drafts.traces(drafts.of_rows(*rows))
    assert "llm_calls" in traces[1]["missing"]


@pytest.mark.parametrize("value", ["", 5, {"x": 1}, "long " * 30])
def test_one_value_that_is_no_word_takes_no_kind_away(drafts, value):
    rows = [{"event": "llm_response", "text": "a"}, {"event": "tool_call", "name": "f", "args": {}}]
    mapping = drafts.of_rows(*rows * 10, {"event": value, "x": 1})
    assert drafts.types(mapping) == [["llm", "tool"] * 10]


def test_codes_are_errors_if_they_are_other_than_0_whatever_codes_the_file_has(drafts):
    rows = [{**CALL, "stdout": "x", "exit_code": code} for code in (0, 0, 1)]
    assert "error: /exit_code  # by /exit_code, 1 call without" in drafts.of_rows(*rows)
    mapping = drafts.of_rows(*rows[:2])
    assert "error: /exit_code\n" in mapping
    drafts.of_rows(*rows[:2], rows[0] | {"exit_code": 127}, rows[0] | {"exit_code": -9})
    steps = drafts.traces(mapping)[0]["steps"]
    assert [bool(step.get("error")) for step in steps] == [False, False, True, True]


def test_all_states_that_show_failures_are_drafted(drafts):
    states = [(False, "error"), (True, "timeout"), (True, "done"), (True, "error")]
    rows = [{**CALL, "ok": ok, "status": status} for ok, status in states]
    mapping = drafts.of_rows(*rows)
    assert 'failed_when: {/ok: [false], /status: ["error", "timeout"]}  # by /ok, 1 call' in mapping
    steps = drafts.traces(mapping)[0]["steps"]
    assert [bool(step.get("error")) for step in steps] == [True, True, False, True]


def test_events_that_say_that_a_tool_failed_are_failures_without_a_text_of_an_error(drafts):
    rows = [{"type": "tool_call", "name": "f", "args": {}}, {"type": "tool_failed", "note": "gone"}]
    mapping = drafts.of_rows(*rows, rows[0], {"type": "tool_result", "output": "x"})
    assert 'failed_when: {/type: ["tool_failed"]}' in mapping
    steps = drafts.traces(mapping)[0]["steps"]
    assert [bool(step.get("error")) for step in steps] == [True, False]


def test_texts_and_objects_of_calls_that_are_not_read_are_named(drafts):
    steps = [
        {"kind": "llm", "said": "I look for it.", "took": 3},
        {"kind": "tool", "fn": "f", "with": {"q": 1}, "gave": "found"},
    ]
    mapping = drafts.of({"steps": steps})
    assert "Not read of the tool calls: /with, /gave. If these are their arguments or results" in mapping  # fmt: skip
    assert "Not read of the model calls: /said. If these are their answers" in mapping
    named = drafts.of({"steps": [{"kind": "llm", "text": "I look."}, {"kind": "tool", **CALL, "result": "x"}]})  # fmt: skip
    assert "Not read" not in named


def test_a_plain_name_beside_a_kind_is_that_of_the_tool(drafts):
    rows = [{"kind": "tool", "name": name, "duration_ms": 3} for name in "fg"]
    assert [step["name"] for step in drafts.traces(drafts.of({"log": rows}))[0]["steps"]] == [
        "f",
        "g",
    ]
