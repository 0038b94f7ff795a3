"""Results of calls in Codex's rollouts: which of them state that a call failed, was refused, or was stopped."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from weighbridge.traces.fields import object_of, parse_arguments, string_of, word_of

RESULTS = frozenset({"function_call_output", "custom_tool_call_output"})  #: types of items
#: Forms of a command's exit code before or after its output.
_EXIT_CODE = re.compile(
    r"Exit code: (-?\d+)\nWall time: "
    r"|(?:Chunk ID: \S*\n)?Wall time: [^\n]*\nProcess exited with code (-?\d+)\n"
)
#: Start of an output that Codex states after the command.
_COMMAND = "Command: "
_AFTER_COMMAND = re.compile(r"\n(?=(?:Chunk ID: \S*\n)?Wall time: [\d.]{1,20} seconds\n)")
_WRAPPED = re.compile(r'\{\s{0,9}"output"\s{0,9}:')
#: Matches the start of each result that states an exit code, and of few others.
MAY_STATE_EXIT_CODE = rf"Exit code: |Chunk ID: |Wall time: |{_COMMAND}|{_WRAPPED.pattern}"
_WRAPPER_KEYS = frozenset({"output", "metadata"})
_HEAD_CHARACTERS = 200  #: number of first characters that may have the exit code
#: Tools of Codex that run commands or apply patches, and its others whose results it may refuse with the same words.
_COMMAND_TOOLS = frozenset(
    {
        *("shell", "container.exec", "local_shell", "shell_command", "exec_command"),
        *("write_stdin", "unified_exec", "apply_patch"),
    }
)
_OWN_TOOLS = _COMMAND_TOOLS | {
    *("exec", "wait", "update_plan", "request_user_input", "view_image", "read_file"),
    *("grep_files", "list_dir", "spawn_agent", "send_input", "wait_agent", "close_agent"),
    *("resume_agent", "send_message", "followup_task", "list_agents"),
}
_SHELL_CALL = "local_shell_call"  #: type of calls of a tool that has no name
_SERVER_PREFIX = "mcp__"  #: prefix of the namespaces of tools of MCP servers
#: What Codex says in place of an output of its own tools.
_REFUSED = (
    "apply_patch verification failed",
    "failed to parse function arguments",
    "failed to create exec command session",
    "failed to write to stdin",
    "unsupported call: ",
    "unsupported custom tool call: ",
    "unsupported payload for ",
    "unknown session id ",
    "failed in sandbox",
    "execution error: ",
    "exec_command failed",
    "write_stdin failed: ",
    "unified exec failed: ",
    "retry failed: ",
    "collab spawn failed: ",
    "collab tool failed: ",
    "exec command rejected: ",
    "patch rejected: ",
    "approval policy is ",
    # A script in code mode. One that was terminated or still runs has not failed.
    "Script failed\nWall time ",
)
#: In older versions, the beginnings of results of patches that cannot be applied.
_REFUSED_PATCH = ("error: ", "err: ")
#: Matches the whole result of a call of any tool that was refused, stopped or not run.
_is_stopped = re.compile(
    r"(?:exec command|patch) rejected by user"
    r"|command timed out after \d{1,20} milliseconds"
    r"|aborted(?: by user after [\d.]{1,20}s)?"
    r"|Wall time: [\d.]{1,20} seconds\naborted by user"
    r"|[\w.]{1,80} (?:handler received unsupported payload"
    r"|was cancelled before receiving a response|can only be used by the root thread"
    r"|is (?:unavailable|not allowed) in [\w ]{1,40})"
    r"|agent with id \S{1,80} not found"
    r"|unsupported (?:custom tool )?call: \S{1,200}"
    # Calls of an MCP server that failed, and ones whose arguments are no JSON.
    r'|err: (?:"(?s:.*)"|[^\n]* at line \d{1,20} column \d{1,20})'
).fullmatch
#: By tool: the beginning of the results of calls that were carried out. Any other text says why one was not.
_RESULT_PREFIXES = {
    **dict.fromkeys(
        ("spawn_agent", "send_input", "wait_agent", "close_agent", "resume_agent"), "{"
    ),
    "request_user_input": "{",
    "update_plan": "Plan updated",
}


def opening_of(output: Any) -> str:
    """Return the text of a result, or of its first part, which states how a script ended."""
    if type(output) is list:
        output = object_of(output[0]).get("text") if output else None
    return string_of(output) or ""


class Ended(NamedTuple):
    """What came of a command: its output and, apart from it, its exit code and the rest of what Codex states."""

    output: str
    exit_code: int
    metadata: dict[str, Any]


def ended_command(output: Any) -> Ended | None:
    """Return what an object such as `{"output":"","metadata":{"exit_code":0,"duration_seconds":0.1}}` states; None for another result."""
    if type(output) is not str or not _WRAPPED.match(output):
        return None
    held = object_of(parse_arguments(output))
    text, metadata = held.get("output"), object_of(held.get("metadata"))
    exit_code = metadata.get("exit_code")
    if held.keys() != _WRAPPER_KEYS or type(text) is not str or type(exit_code) is not int:
        return None
    return Ended(text, exit_code, metadata)


def own_tool_of(item: dict[str, Any]) -> str:
    """Return the name of the tool of Codex that an item calls; empty for another item, or a tool of someone else."""
    kind = word_of(item.get("type"))
    is_of_server = (string_of(item.get("namespace")) or "").startswith(_SERVER_PREFIX)
    name = "local_shell" if kind == _SHELL_CALL else word_of(item.get("name"))
    return own_tool_named(name) if kind not in RESULTS and not is_of_server else ""


def own_tool_named(name: str) -> str:
    """Return a name if it is that of a tool of Codex, and else an empty text."""
    return name if name in _OWN_TOOLS else ""


def states_exit_code(output: str) -> bool:
    """Return whether a result is that of a command in one of Codex's forms, which state its exit code."""
    return _exit_code_in(_without_command(output)) is not None or ended_command(output) is not None


def has_failed(output: str, own_tool: str) -> bool:
    """Return whether a call's result states a failure.

    It may be an exit code other than 0, a failed script, or that the call was refused, stopped or not run. Only of Codex's
    own tools is it known how the results of calls that it refused begin: those of others may quote such words.
    """
    output = _without_command(output)
    if found := _exit_code_in(output):
        return any(code is not None and int(code) != 0 for code in found.groups())
    if _is_stopped(output):
        return True
    if not own_tool:
        return False
    is_refusal = output.startswith(_REFUSED) or bool(
        output and not output.startswith(_RESULT_PREFIXES.get(own_tool, ""))
    )
    return is_refusal or (own_tool in _COMMAND_TOOLS and output.startswith(_REFUSED_PATCH))


def _without_command(output: str) -> str:
    """Return a result without the command that some results state first."""
    after = _AFTER_COMMAND.search(output) if output.startswith(_COMMAND) else None
    return output[after.end() :] if after else output


def _exit_code_in(output: str) -> re.Match[str] | None:
    return _EXIT_CODE.match(output[:_HEAD_CHARACTERS])
