"""The stream of Cursor's command line: texts, and calls that begin and end."""

from __future__ import annotations

import pytest

from support.trace_examples.command_line_agents import CURSOR_CLI
from weighbridge.graders import default_registry
from weighbridge.traces import Step, Usage, read_trace
from weighbridge.traces.split import opens_session, session_id


def text(words, **more):
    message = {"role": "assistant", "content": [{"type": "text", "text": words}]}
    return {"type": "assistant", "message": message, "session_id": "s", **more}


def called(name, subtype="completed", **more):
    held = {"args": {"path": name}, "result": {"success": {"content": name}}}
    return {
        "type": "tool_call",
        "subtype": subtype,
        "call_id": name,
        "tool_call": {"readToolCall": held},
        **more,
    }


def said(lines):
    return [(step.type, step.output) for step in read_trace(lines).steps]


def test_lines_become_steps():
    trace = read_trace(CURSOR_CLI)
    assert (trace.format, trace.id, trace.usage) == ("cursor-cli", "s", Usage(29, 5, None, 20))
    assert trace.steps == (
        Step(id="s1", type="user", output="Find x."),
        Step(id="s2", type="llm", output="I look.", model="m"),
        Step(id="c1", type="tool", parent_id="s2", name="read", arguments={"path": "a.md"}, output="# A"),
        Step(id="s4", type="llm", model="m"),
        Step(id="c2", type="tool", parent_id="s4", name="shell", arguments={"command": "make"}, output="no rule", error="no rule"),
        Step(id="s6", type="llm", model="m"),
        Step(id="c3", type="tool", parent_id="s6", name="get", arguments={"id": 7}, output="not allowed", error="not allowed"),
        Step(id="s8", type="llm", output="Not there.", model="m"),
    )  # fmt: skip


def test_a_loop_in_such_a_stream_is_found():
    calls = [called("a") | {"call_id": f"c{at}"} for at in range(5)]
    result = default_registry().create("loop", {}).grade(trace=[*CURSOR_CLI[:2], *calls])
    assert result["verdict"] == "fail"


@pytest.mark.parametrize("whole", [{}, {"timestamp_ms": 9, "model_call_id": "m1"}])
def test_pieces_of_a_text_and_the_text_as_a_whole_are_one_answer(whole):
    pieces = [text(words, timestamp_ms=1) for words in ("I ", "look", ".")]
    lines = [*CURSOR_CLI[:2], *pieces, text("I look.", **whole), called("a")]
    assert said(lines) == [("user", "Find x."), ("llm", "I look."), ("tool", "a")]
    assert said([*CURSOR_CLI[:2], pieces[1], text("look", **whole)])[1:] == [("llm", "look")]


def test_a_text_that_is_said_again_after_a_call_counts_again():
    lines = [*CURSOR_CLI[:2], text("Again."), called("a"), text("Again."), called("b")]
    assert [kind for kind, _ in said(lines)] == ["user", "llm", "tool", "llm", "tool"]


def test_calls_of_one_model_call_belong_to_one_answer():
    calls = [
        called(name, subtype, model_call_id="m1")
        for name in "ab"
        for subtype in ("started", "completed")
    ]
    trace = read_trace([*CURSOR_CLI[:2], *calls, called("c", model_call_id="m2")])
    assert [(step.id, step.parent_id) for step in trace.steps[1:]] == [
        ("s2", None),
        ("a", "s2"),
        ("b", "s2"),
        ("s5", None),
        ("c", "s5"),
    ]  # fmt: skip


def outcome(result):
    line = called("a")
    line["tool_call"] = {"shellToolCall": {"args": {"command": "make"}, "result": result}}
    (call,) = read_trace([CURSOR_CLI[0], line]).steps_of("tool")
    return call.output, call.error


def test_a_command_that_fails_keeps_what_it_printed():
    failure = {"exitCode": 2, "stdout": "a", "stderr": "no rule"}
    assert outcome({"isBackground": False, "failure": failure}) == ("a\nno rule", "a\nno rule")
    assert outcome({"success": {"stdout": "a", "exitCode": -9}}) == ("a", "a")
    assert outcome({"success": {"stdout": "", "exitCode": 0}}) == (
        {"stdout": "", "exitCode": 0},
        None,
    )
    assert outcome({"error": "no shell"}) == ("no shell", "no shell")
    assert outcome({"timeout": {"seconds": 5}}) == ("timeout", "timeout")


def test_calls_without_ids_and_with_reused_ones_count_once_each():
    for name in (None, "c"):
        calls = [
            called("a", kind) | {"call_id": name}
            for _ in range(2)
            for kind in ("started", "completed")
        ]
        trace = read_trace([CURSOR_CLI[0], *calls])
        assert [step.output for step in trace.steps_of("tool")] == ["a", "a"]


def test_runs_in_one_file_use_what_all_of_them_use():
    trace = read_trace([*CURSOR_CLI, *CURSOR_CLI])
    assert trace.usage == Usage(58, 10, 68, 40)


def test_how_long_a_run_took_is_known_if_it_has_one_result():
    lines = [*CURSOR_CLI[:-1], CURSOR_CLI[-1] | {"duration_ms": 900}]
    assert read_trace(lines).duration_ms == 900
    assert read_trace(lines * 2).duration_ms is None
    assert read_trace(CURSOR_CLI).duration_ms is None


def test_a_run_that_ends_with_an_error_says_so():
    failed = {"type": "result", "subtype": "error", "is_error": True, "result": "no quota"}
    trace = read_trace([*CURSOR_CLI[:3], failed])
    assert (trace.steps[-1].type, trace.steps[-1].error) == ("other", "no quota")


@pytest.mark.parametrize("at", range(len(CURSOR_CLI)))
def test_each_line_belongs_to_a_run(at):
    assert opens_session(CURSOR_CLI[at])


def test_a_file_of_lines_is_one_run():
    assert session_id(CURSOR_CLI) == "s"
