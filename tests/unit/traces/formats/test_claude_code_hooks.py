"""Logs of Claude Code's hooks."""

from __future__ import annotations

import pytest

from support.trace_examples.command_line_agents import CLAUDE_CODE_HOOKS
from weighbridge.traces import Step, read_trace, read_traces
from weighbridge.traces.formats.claude_code_hooks import IMPORTER
from weighbridge.traces.split import opens_session, single_traces

NOON = 1_735_732_800 * 10**9  #: 2025-01-01T12:00:00Z
SECOND = 10**9
PROMPT, BEFORE, AFTER, FAILED, BEGUN, STOP = CLAUDE_CODE_HOOKS


def test_events_become_steps_and_both_of_a_call_are_one():
    trace = read_trace(CLAUDE_CODE_HOOKS)
    assert trace.id == "h"
    assert trace.steps == (
        Step(id="s1", type="user", output="List.", started_at=NOON),
        Step(id="t1", type="tool", name="Bash", arguments={"command": "ls"}, output={"stdout": "a.md"}, started_at=NOON + SECOND, ended_at=NOON + 2 * SECOND),
        Step(id="call_3", type="tool", name="Read", arguments={"path": "b.md"}, output=FAILED["tool_response"], error="error"),
        Step(id="call_4", type="tool", name="Read", arguments={"path": "a.md"}),
    )  # fmt: skip
    assert trace.not_carried == ("events of type 'Stop' (1)",)
    assert "model's answers" in trace.missing["llm_calls"]
    assert trace.missing["token_usage"] == "the log has no token counts"
    assert opens_session(PROMPT)


def test_calls_without_ids_are_matched_by_tool_and_input():
    def event(name, at):
        return {"session_id": "h", "hook_event_name": name, "tool_name": "f", "tool_input": {"n": at}, **({"tool_response": at} if name == "PostToolUse" else {})}  # fmt: skip

    events = [
        event("PreToolUse", 1),
        event("PreToolUse", 2),
        event("PostToolUse", 1),
        event("PostToolUse", 2),
    ]
    trace = read_trace(events)
    assert [(step.arguments, step.output) for step in trace.steps_of("tool")] == [
        *(({"n": 1}, 1), ({"n": 2}, 2))
    ]


def test_each_session_of_a_log_is_a_trace():
    other = [{**event, "session_id": "i"} for event in CLAUDE_CODE_HOOKS]
    log = [*CLAUDE_CODE_HOOKS, *other]
    assert [trace.id for trace in read_traces(log)] == ["h", "i"]
    assert single_traces(log) == [("h", CLAUDE_CODE_HOOKS), ("i", other)]


@pytest.mark.parametrize(
    "value", [[], [1], [{"hook_event_name": "Stop"}], [{"session_id": "h"}], [STOP, 1]]
)
def test_other_values_are_not_claimed(value):
    assert not IMPORTER.matches(value)


def line(kind, second, **fields):
    return {"type": kind, "timestamp": f"2025-01-01T12:00:0{second}Z", **fields}


def used(second, **given):
    return line("tool_use", second, tool_name="bash", tool_input=given)


def ended(second, **given):
    return line("tool_result", second, tool_name="bash", tool_input=given, tool_output={"output": "x"})  # fmt: skip


def test_a_transcript_of_a_plug_in_is_a_session_with_its_calls():
    lines = [
        line("user", 0, content="Find x."),
        used(1, command="ls"),
        used(2, command="pwd"),
        ended(3, command="pwd", env={"A": "1"}),
        ended(4, command="cat a"),
        {**ended(5, command="ls"), "error": "no"},
        line("assistant", 6, content="Here."),
    ]
    trace = read_trace(lines)
    assert trace.format == "claude-code-hooks"
    assert [(step.type, step.arguments, step.output, step.error) for step in trace.steps] == [
        ("user", None, "Find x.", None),
        ("tool", {"command": "ls"}, {"output": "x"}, "error"),
        ("tool", {"command": "pwd"}, {"output": "x"}, None),
        ("tool", {"command": "cat a"}, {"output": "x"}, None),
        ("llm", None, "Here.", None),
    ]
    assert "only call tools" in trace.missing["llm_calls"]
    assert all(map(opens_session, lines))
    assert not opens_session({**lines[0], "id": "a"})
    assert not IMPORTER.matches([lines[0]])


def test_a_result_whose_input_a_hook_changed_is_of_the_call_with_the_text_that_is_in_it():
    lines = [
        used(1, command="git log", description="Look"),
        used(2, command="git status", description="Look"),
        used(3, command="", description="Look"),
        ended(4, command="export CI=true; git log", description="Look"),
        ended(5, command="export CI=true; git status", description="See"),
    ]
    trace = read_trace(lines)
    assert [(step.arguments["command"], bool(step.output)) for step in trace.steps] == [
        *(("git log", True), ("git status", False), ("", False)),
        ("export CI=true; git status", True),
    ]


@pytest.mark.parametrize(
    ("commands", "changed"),
    [
        (("ls -la", "ls"), ("export CI=1; ls -la", "export CI=1; ls")),
        (("ls -la", "ls"), ("ls -la; date", "ls; date")),
        (("ls", "export"), ("export CI=1; ls", "export CI=1; export")),
    ],
)
@pytest.mark.parametrize("is_reversed", [False, True])
def test_a_changed_input_is_of_the_call_of_which_it_has_most(commands, changed, is_reversed):
    asked = [used(number, command=command) for number, command in enumerate(commands, 1)]
    ends = [
        {**ended(number, command=command), "tool_output": {"output": command}}
        for number, command in enumerate(changed, 5)
    ]
    steps = read_trace([*(asked[::-1] if is_reversed else asked), *ends]).steps
    assert {step.arguments["command"]: step.output["output"] for step in steps} == dict(
        zip(commands, changed, strict=True)
    )


def test_fields_that_a_hook_added_are_of_the_call_of_which_the_input_has_most_fields():
    lines = [used(1, command="ls", depth=1), used(2, command="ls"), ended(3, command="ls", depth=1, env="x")]  # fmt: skip
    assert [bool(step.output) for step in read_trace(lines).steps] == [True, False]


def test_a_result_of_a_transcript_without_an_input_is_of_the_tools_last_call():
    lines = [used(1, command="ls"), used(2, command="sleep 90"), {**ended(3), "tool_name": "read"}]
    trace = read_trace([*lines, ended(4), ended(5), ended(6)])
    assert [(step.name, step.arguments, bool(step.output)) for step in trace.steps] == [
        ("bash", {"command": "ls"}, True),
        ("bash", {"command": "sleep 90"}, True),
        ("read", {}, True),
        ("bash", {}, True),
    ]
    ends = [step.ended_at - NOON for step in trace.steps]
    assert ends == [5 * SECOND, 4 * SECOND, 3 * SECOND, 6 * SECOND]


def test_a_result_of_a_log_without_an_input_is_a_call_of_its_own():
    [first, *_] = CLAUDE_CODE_HOOKS
    call = {"session_id": first["session_id"], "tool_name": "f"}
    events = [
        {**call, "hook_event_name": "PreToolUse", "tool_input": {"n": 1}},
        {**call, "hook_event_name": "PostToolUse", "tool_input": {}, "tool_response": "x"},
    ]
    assert len(read_trace(events).steps_of("tool")) == 2


def test_equal_calls_that_began_before_their_results_are_two_calls():
    lines = [used(1, command="ls"), used(2, command="ls"), ended(3, command="ls"), ended(4, command="ls")]  # fmt: skip
    steps = read_trace(lines).steps
    assert [(step.started_at - NOON, step.ended_at - NOON) for step in steps] == [
        (1 * SECOND, 3 * SECOND),
        (2 * SECOND, 4 * SECOND),
    ]
