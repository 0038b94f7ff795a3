"""Tool invocations among the parts of an answer in VS Code's chat, with their results."""

from __future__ import annotations

from collections import defaultdict, deque
from typing import TYPE_CHECKING, Any

from weighbridge.traces.chat.call_parts import Call
from weighbridge.traces.fields import (
    id_of,
    object_of,
    objects_of,
    parse_arguments,
    string_of,
    word_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

INVOCATIONS = frozenset({"toolInvocationSerialized", "toolInvocation"})
_ID_SUFFIX = "__vscode-"  #: beginning of the suffix that VS Code appends to a model's call IDs
_RAISED = "ERROR while calling tool:"  #: begins a result if the tool raised an error


def is_inner(part: dict[str, Any]) -> bool:
    """Return whether a part is the invocation of a tool by another tool."""
    return word_of(part.get("toolId")).endswith("_internal")


def is_of_sub_agent(part: dict[str, Any]) -> bool:
    """Return whether a part is a sub-agent's tool invocation, or the invocation of a sub-agent."""
    shown = object_of(part.get("toolSpecificData"))
    return (
        string_of(part.get("subAgentInvocationId")) is not None or shown.get("kind") == "subagent"
    )


def latest(parts: Iterable[dict[str, Any]]) -> dict[str | None, dict[str, Any]]:
    """Return the invocations among parts by their ids, each in its latest state."""
    return {
        id_of(part.get("toolCallId")): part
        for part in parts
        if word_of(part.get("kind")) in INVOCATIONS
    }


def call_of(invocation: dict[str, Any]) -> Call:
    """Return a call with its command, its input, or else its displayed text, so that different calls do not look equal."""
    shown = object_of(invocation.get("toolSpecificData"))
    details = object_of(invocation.get("resultDetails"))
    line = _command(shown)
    given = {"command": line} if line else shown.get("rawInput", details.get("input"))
    message = invocation.get("invocationMessage")
    words = string_of(object_of(message).get("value", message))
    if given is None and words:
        given = {"invocationMessage": words}
    name = string_of(invocation.get("toolId"))
    return Call(id_of(invocation.get("toolCallId")), name, parse_arguments(given))


def _command(shown: dict[str, Any]) -> str | None:
    return string_of(object_of(shown.get("commandLine")).get("original", shown.get("command")))


def outcome(invocation: dict[str, Any]) -> tuple[Any, Any]:
    """Return the output of a call and its error."""
    shown = object_of(invocation.get("toolSpecificData"))
    terminal = object_of(shown.get("terminalCommandOutput")).get("text")
    details = object_of(invocation.get("resultDetails"))
    listed = [
        text for each in objects_of(details.get("output")) if (text := string_of(each.get("value")))
    ]
    output = terminal if terminal is not None else ("\n".join(listed) if listed else None)
    status = object_of(shown.get("terminalCommandState")).get("exitCode")
    error = details.get("isError") is True or (type(status) is int and status != 0)
    return output, error or None


def is_failure(content: Any) -> bool:
    """Return whether a result is what Copilot tells the model of a tool that raised an error."""
    return type(content) is str and content.startswith(_RAISED)


class Failures:
    """Failures of a request's calls in the displayed parts: by the model's call ID, or for commands, in order."""

    def __init__(self, parts: Iterable[dict[str, Any]]) -> None:
        self._by_id: dict[str, bool] = {}
        self._by_command: defaultdict[str, deque[bool]] = defaultdict(deque)
        for name, part in latest(parts).items():
            has_failed = outcome(part)[1] is True
            line = _command(object_of(part.get("toolSpecificData")))
            if line and not is_of_sub_agent(part):
                self._by_command[line].append(has_failed)
            elif name:
                self._by_id[name] = has_failed

    def take(self, call: Call) -> bool:
        """Return whether the next call of the rounds has failed."""
        command = object_of(call.arguments).get("command")
        shown = self._by_command.get(command) if type(command) is str else None
        if shown:
            return shown.popleft()
        return self._by_id.get((call.id or "").partition(_ID_SUFFIX)[0], False)
