"""Exit codes that the tools of coding agents write into results: which results are those of failed commands."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from support.trace_examples.editor_agents import ZED
from weighbridge.traces import Step, read_trace
from weighbridge.traces.failed_commands import with_failed_commands

IN_TERMINAL = "Command executed in terminal  within working directory '/w'. "
ROO = (
    IN_TERMINAL
    + "Command execution was not successful, inspect the cause and adjust as needed.\nExit code: 2\nOutput:\nno"
)
PLACE = "[Current working directory: /w]\n[Python interpreter: /usr/bin/python]"
GEMINI = "Output: no\nExit Code: 1\nSignal: 9\nBackground PIDs: 3, 4\nProcess Group PGID: 12"
FAILED = [
    ("run_in_terminal", "no such file\n\nCommand exited with code 1"),
    ("run_in_terminal", "Command produced no output\nCommand exited with code 1\n"),
    ("bash", "no\n\nCommand exited with code 127"),
    ("bash", "no\n<exited with exit code 1>"),
    ("powershell", "<exited with exit code -1073741510>"),
    ("powershell", "no\n<shellId: 4 completed with exit code 1>"),
    ("read_powershell", "no\n<command with id: 16 exited with exit code 2>"),
    ("run_shell_command", GEMINI),
    ("run_shell_command", "Command: ls\nDirectory: (root)\nOutput: (empty)\nError: (none)\nExit Code: 2\nSignal: (none)\nBackground PIDs: (none)\nProcess Group PGID: 7"),
    ("run_shell_command", "Output: no\nExit Code: 1"),
    ("execute_bash", "no\n[The command completed with exit code 1.]"),
    ("execute_bash", f"no\n[The command completed with exit code 2.]\n{PLACE}\n[Command finished with exit code 2]"),
    ("execute_bash", "no\n[The command completed with exit code 130. CTRL+C was sent.]"),
    ("terminal", f"no\n{PLACE}\n[Command finished with exit code 1]"),
    ("terminal", 'Command "cd a && ls" failed with exit code 2.\n\n```\nno\n```'),
    ("terminal", 'Command "cat <<E\nx\nE\nfalse" failed with exit code 1.'),
    ("terminal", 'Command "false" failed with exit code 1.'),
    ("execute_command", ROO),
    ("execute_command", f"[execute_command for 'ls\n-l'] Result:\n{ROO}"),
    ("execute_command", "Command failed with exit code 1.\nOutput:\nno"),
]  # fmt: skip


def chat(*results):
    """Return a chat with a call for each of the results, which are pairs with the name of the tool."""
    messages = [{"role": "user", "content": "Go."}]
    for number, (name, content) in enumerate(results):
        call = {"id": f"c{number}", "type": "function", "function": {"name": name, "arguments": "{}"}}  # fmt: skip
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": content})
    return messages


def errors(value):
    return [step.error for step in read_trace(value).steps_of("tool")]


@pytest.mark.parametrize(("name", "result"), FAILED)
def test_a_result_that_states_an_exit_code_other_than_0_is_the_error(name, result):
    assert errors(chat((name, result), (name, "ok"))) == [result, None]


@pytest.mark.parametrize(("name", "result"), FAILED)
def test_only_a_tool_that_runs_commands_states_exit_codes(name, result):
    assert errors(chat(("read_file", result))) == [None]


@pytest.mark.parametrize(
    ("name", "result"),
    [
        ("run_in_terminal", "Command exited with code 0"),
        ("run_in_terminal", "Command exited with code 1\nand was run again"),
        ("run_in_terminal", "it says: Command exited with code 1"),
        ("run_in_terminal", "no\n<exited with exit code 1>"),
        ("bash", "ok\n<exited with exit code 0>"),
        ("bash", "Exit code 1"),
        ("read_bash", "<command with id: 3 is still running>"),
        ("run_shell_command", "Output: Exit Code: 1\nProcess Group PGID: 12"),
        ("run_shell_command", GEMINI.replace("Code: 1", "Code: 0")),
        ("execute_bash", "[The command completed with exit code 1.]\nis what the log says"),
        ("execute_bash", "[The command completed with exit code 0.]"),
        ("terminal", "Command executed successfully."),
        ("terminal", 'echo Command "false" failed with exit code 1.'),
        ("execute_command", f"{IN_TERMINAL}Exit code: 0\nOutput:\nExit code: 1"),
        ("execute_command", f"{IN_TERMINAL}Exit code: 0\nOutput:\n{ROO}"),
        ("execute_command", "Command failed with exit code unknown\nOutput:\n1"),
        ("terminal", 'Command "a" ran\nCommand "b" failed with exit code 3.\n'),
    ],
)
def test_a_command_that_ended_well_or_prints_such_words_has_not_failed(name, result):
    assert errors(chat((name, result))) == [None]


@pytest.mark.parametrize(("name", "result"), FAILED[:4])
def test_the_format_in_which_a_call_comes_does_not_matter(name, result):
    call = {"tool_call_id": "c", "function_name": name, "arguments": {}}
    atif = {
        "schema_version": "ATIF-v1.6",
        "session_id": "s",
        "agent": {"name": "a", "version": "1"},
        "steps": [
            {"step_id": 1, "source": "user", "message": "Go."},
            {"step_id": 2, "source": "agent", "message": "", "tool_calls": [call], "observation": {"results": [{"source_call_id": "c", "content": result}]}},
        ],
    }  # fmt: skip
    span = {"traceId": "1" * 32, "spanId": "2" * 16, "name": f"execute_tool {name}", "startTimeUnixNano": 1, "endTimeUnixNano": 2}  # fmt: skip
    attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": name,
        "gen_ai.tool.call.id": "c",
        "gen_ai.tool.call.result": result,
    }
    told = [{"key": key, "value": {"stringValue": text}} for key, text in attributes.items()]
    otlp = {"resourceSpans": [{"scopeSpans": [{"spans": [{**span, "attributes": told}]}]}]}
    blocks = [
        {"role": "user", "content": "Go."},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": name, "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": [{"type": "text", "text": result}]}]},
    ]  # fmt: skip
    copilot = [
        {"type": "user.message", "data": {"content": "Go."}},
        {"type": "assistant.message", "data": {"content": "", "toolRequests": [{"toolCallId": "c", "name": name, "arguments": {}}]}},
        {"type": "tool.execution_complete", "data": {"toolCallId": "c", "success": True, "result": {"content": result}}},
    ]  # fmt: skip
    for value in (atif, otlp, blocks, copilot):
        assert errors(value) == [result]


@pytest.mark.parametrize("made", ["ATIF", "OTLP"])
def test_texts_of_codex_and_claude_code_count_in_trajectories_and_spans(made):
    results = [("exec_command", "Wall time: 1 seconds\nProcess exited with code 2\nOutput:\n"), ("Bash", "Exit code 1\nno")]  # fmt: skip
    calls = [{"tool_call_id": name, "function_name": name, "arguments": {}} for name, _ in results]
    told = [{"source_call_id": name, "content": text} for name, text in results]
    step = {"step_id": 1, "source": "agent", "message": "", "tool_calls": calls, "observation": {"results": told}}  # fmt: skip
    value = {"schema_version": "ATIF-v1.6", "session_id": "s", "agent": {"name": "a"}, "steps": [step]}  # fmt: skip
    if made == "OTLP":
        value = [
            {
                "traceId": "1" * 32,
                "spanId": f"{number}" * 16,
                "name": "execute_tool",
                "startTimeUnixNano": number,
                "endTimeUnixNano": number,
                "attributes": {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name, "gen_ai.tool.call.result": text},
            }
            for number, (name, text) in enumerate(results, 1)
        ]  # fmt: skip
    assert errors(value) == [text for _, text in results]


def test_the_result_may_stand_under_a_key_as_in_the_api_of_gemini():
    part = {"functionResponse": {"name": "run_shell_command", "response": {"output": GEMINI}}}
    contents = [
        {"role": "user", "parts": [{"text": "Go."}]},
        {"role": "model", "parts": [{"functionCall": {"name": "run_shell_command", "args": {}}}]},
        {"role": "user", "parts": [part]},
    ]
    assert errors({"contents": contents}) == [GEMINI]


def test_a_command_of_zed_has_failed_although_its_result_is_no_error():
    text = 'Command "ls" failed with exit code 1.'
    steps = (Step(id="c", type="tool", name="terminal", output=text),)
    (step,) = with_failed_commands(replace(read_trace(ZED), steps=steps)).steps
    assert step.error == text


def test_a_command_of_amp_that_is_done_has_failed_with_its_exit_code():
    def ran(number, code):
        run = {"status": "done", "result": {"output": "no", "exitCode": code}}
        return [
            {"role": "assistant", "content": [{"type": "tool_use", "id": f"c{number}", "name": "Bash", "input": {"cmd": "ls"}}]},
            {"role": "user", "content": [{"type": "tool_result", "toolUseID": f"c{number}", "run": run}]},
        ]  # fmt: skip

    assert errors([{"role": "user", "content": "Go."}, *ran(1, 1), *ran(2, 0)]) == ["error", None]


def test_the_native_form_says_itself_what_failed():
    step = {"id": "c", "type": "tool", "name": "bash", "output": "<exited with exit code 1>"}
    assert errors({"id": "r", "steps": [step]}) == [None]


def test_long_results_of_brackets_are_read_quickly():
    lines = "\n".join(["[a]" * 9] * 200_000)
    head = 'Command "' + '" failed with exit code ' * 300_000
    begun = time.process_time()
    assert errors(chat(("execute_bash", lines), ("terminal", head))) == [None, None]
    assert time.process_time() - begun < 2
