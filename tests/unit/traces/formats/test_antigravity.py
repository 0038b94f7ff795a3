"""Transcripts of Google Antigravity."""

from __future__ import annotations

import pytest

from support.trace_examples.editor_agents import ANTIGRAVITY
from weighbridge.graders import default_registry
from weighbridge.traces import Step, Usage, read_trace
from weighbridge.traces.fields import time_of
from weighbridge.traces.split import opens_session


def line(kind, source="MODEL", **more):
    return {"step_index": 1, "source": source, "type": kind, "status": "DONE", **more}


def answer(*calls, **more):
    asked = [{"name": name, "args": given} for name, given in calls]
    return line("PLANNER_RESPONSE", tool_calls=asked, **more)


def outcomes(lines):
    return [(step.name, step.output) for step in read_trace(lines).steps if step.type == "tool"]


def at(seconds):
    return time_of(f"2026-01-01T12:00:{seconds:02}Z")


def test_lines_become_steps():
    assert all(map(opens_session, ANTIGRAVITY))
    trace = read_trace(ANTIGRAVITY)
    assert trace.steps == (
        Step(id="s1", type="user", output="<USER_REQUEST>\nFind x.\n</USER_REQUEST>", started_at=at(0)),
        Step(id="s2", type="llm", ended_at=at(2)),
        Step(id="call 1", type="tool", parent_id="s2", name="run_command", arguments={"CommandLine": "make", "WaitMs": 500}, output="The command failed with exit code: 2", error="The command failed with exit code: 2", started_at=at(2), ended_at=at(4)),
        Step(id="call 2", type="tool", parent_id="s2", name="list_dir", arguments={"DirectoryPath": "/x"}, output="a.md", started_at=at(2), ended_at=at(3)),
        Step(id="s5", type="llm", output="I look.", ended_at=at(5)),
        Step(id="call 3", type="tool", parent_id="s5", name="view_file", arguments={"AbsolutePath": "/x/b.md"}, output="no such file", error="no such file", started_at=at(5), ended_at=at(6)),
        Step(id="s7", type="other", output="The model API is overloaded.", error="The model API is overloaded.", ended_at=at(8)),
        Step(id="s8", type="llm", output="Not there.", model="m", usage=Usage(9, 3, None, 4), ended_at=at(9)),
    )  # fmt: skip


def test_arguments_of_a_full_transcript_are_as_they_are():
    calls = ("grep_search", {"Query": '"x"', "toolAction": "Searching"}), ("view_file", {"n": "5"})
    steps = read_trace([answer(*calls)]).steps
    assert [step.arguments for step in steps[1:]] == [{"Query": '"x"'}, {"n": "5"}]
    cut = answer(("write_to_file", {"Content": '"# Tit<truncated 9 bytes>'}), truncated_fields=["tool_calls"])  # fmt: skip
    written = answer(("write_to_file", {"Content": '"# Title"'}))
    steps = read_trace([written, cut]).steps
    assert [step.arguments for step in steps if step.type == "tool"] == [
        {"Content": "# Title"},
        {"Content": '"# Tit<truncated 9 bytes>'},
    ]


def test_a_result_belongs_to_the_first_call_of_its_tool_or_else_to_the_first():
    names = ("default_api:write_to_file", "view_file", "fetch", "view_file", "view_file")
    kinds = ("VIEW_FILE", "VIEW_FILE", "GENERIC", "CODE_ACTION", "ODD")
    asked = answer(*((name, {}) for name in names))
    results = [line(kind, content=f"{kind} {at}") for at, kind in enumerate(kinds)]
    assert outcomes([asked, *results]) == [
        ("default_api:write_to_file", "CODE_ACTION 3"),
        ("view_file", "VIEW_FILE 0"),
        ("fetch", "GENERIC 2"),
        ("view_file", "VIEW_FILE 1"),
        ("view_file", "ODD 4"),
    ]


def test_lines_of_an_unknown_source_are_told_apart_by_their_type():
    lines = [answer(), line("USER_INPUT", "?", content="Go."), line("GENERIC", "?", content="x")]
    trace = read_trace(lines)
    assert [step.type for step in trace.steps] == ["llm", "user"]
    assert trace.not_carried == ("lines of type 'GENERIC' (1)",)


@pytest.mark.parametrize("between", [answer(), line("USER_INPUT", "USER_EXPLICIT", content="Go.")])
def test_a_result_without_a_call_is_counted(between):
    trace = read_trace([answer(("view_file", {})), between, line("VIEW_FILE", content="# A")])
    assert outcomes([answer(("view_file", {})), between, line("VIEW_FILE")]) == [("view_file", None)]  # fmt: skip
    assert trace.missing["tool_calls"] == "the calls of 1 result are not recorded"


@pytest.mark.parametrize(
    ("more", "error"),
    [
        ({"status": []}, None),
        ({"status": "ERROR"}, "x"),
        ({"error": "denied"}, "denied"),
        ({"status": "RUNNING"}, None),
    ],
)
def test_a_result_says_whether_it_is_a_failure(more, error):
    step = read_trace([answer(("view_file", {})), line("VIEW_FILE", content="x") | more]).steps[-1]
    assert step.error == error


@pytest.mark.parametrize(
    ("more", "has_failed"),
    [
        ({"content": "\n\n\t\t\t\tThe command failed with exit code: 1\nOutput: x"}, True),
        ({"content": "The command exited with code 127.\nOutput:\n"}, True),
        ({"content": "The command exited with code 0.\nOutput:\n"}, False),
        ({"content": "Output: The command failed with exit code: 1"}, False),
        ({"exit_code": 1, "content": "x"}, True),
        ({"exit_code": 0, "content": "The command exited with code 1."}, False),
        ({"exit_code": "1", "content": "x"}, False),
        ({"type": "VIEW_FILE", "content": "The command failed with exit code: 1"}, False),
    ],
)
def test_a_command_with_an_exit_code_other_than_0_has_failed(more, has_failed):
    trace = read_trace([answer(("run_command", {})), line("RUN_COMMAND") | more])
    assert trace.steps[-1].error == (more["content"] if has_failed else None)
    assert not trace.not_carried


def test_what_a_user_does_is_said_by_the_user():
    lines = [line("RUN_COMMAND", "USER_EXPLICIT", content="The USER ran make."), answer()]
    assert [step.type for step in read_trace(lines).steps] == ["user", "llm"]


def test_a_call_made_again_and_again_is_a_loop():
    asked = [
        answer(("run_command", {"CommandLine": "make", "toolAction": f"Try {at}"}))
        for at in range(6)
    ]
    lines = [
        each
        for at, call in enumerate(asked)
        for each in (call, line("RUN_COMMAND", content=f"Created At: 2026-01-01T12:00:0{at}Z\nno rule"))
    ]  # fmt: skip
    assert default_registry().create("loop", {}).grade(trace=lines)["verdict"] == "fail"
