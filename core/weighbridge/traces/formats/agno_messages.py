"""The messages of a run of Agno; a failed one, which Agno 2 stores without them, has what else is recorded of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge.traces.chat.call_parts import Call
from weighbridge.traces.chat.conversation import PROGRAM
from weighbridge.traces.fields import id_of, object_of, objects_of, string_of, word_of
from weighbridge.traces.formats.agno_members import direct_members_of, members_of
from weighbridge.traces.formats.agno_metrics import start_of, usage_in

if TYPE_CHECKING:
    from weighbridge.traces.chat.conversation import Run

#: Statuses of failed runs; `content` is then usually the reason.
_FAILED = frozenset({"CANCELLED", "ERROR"})
_ERROR_EVENTS = frozenset({"RunError", "TeamRunError"})
MessageOfRun = tuple[Any, dict[str, Any]]  #: a message and its run


def messages_of(recorded: dict[str, Any]) -> list[MessageOfRun]:
    """Return the messages of a run; in a team's run, the messages of the members precede the last message.

    A member's run that was paused may be listed again when it continued; the last one is read.
    """
    own = _own_messages(recorded)
    members: dict[str | int, dict[str, Any]] = {}
    for member in members_of(recorded):
        members[id_of(member.get("run_id")) or len(members)] = member
    of_members = [each for member in members.values() for each in _own_messages(member)]
    return [*own[:-1], *of_members, *own[-1:]]


def _own_messages(recorded: dict[str, Any]) -> list[MessageOfRun]:
    listed = recorded.get("messages")
    listed = listed if type(listed) is list else []
    executions = objects_of(recorded.get("tools"))
    failed = {
        id_of(each.get("tool_call_id"))
        for each in executions
        if each.get("tool_call_error") is True
    } - {None}
    return [
        (single, recorded)
        for message in listed or _remains(recorded)
        for single in _single(message, failed)
    ]


def _remains(recorded: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the records of a run without messages as messages: its input, executed calls, an answer, an error.

    `content` is the answer, or the error of a failed run unless an event has the error. It may be another run's answer if
    members or steps ran for this run.
    """
    asked = object_of(recorded.get("input")).get("input_content")
    content = recorded.get("content")
    errors = [
        string_of(event.get("content"))
        for event in objects_of(recorded.get("events"))
        if word_of(event.get("event")) in _ERROR_EVENTS
    ]
    has_failed = word_of(recorded.get("status")) in _FAILED
    is_error = has_failed and (not errors or string_of(content) in errors)
    answer = None if is_error or direct_members_of(recorded) else content
    messages: list[dict[str, Any]] = []
    if asked:
        messages.append({"role": "user", "content": asked, "created_at": start_of(recorded)})
    executions = [each for each in objects_of(recorded.get("tools")) if "tool_name" in each]
    for number, execution in enumerate(executions):
        messages += _execution(execution, number)
    if answer or usage_in(object_of(recorded.get("metrics")), recorded):
        messages.append({"role": "assistant", "content": answer or None})
    if has_failed:
        error = errors[-1] if errors else string_of(content)
        messages.append({"role": "error", "content": error or "error", "tool_call_error": True})
    return messages


def _execution(execution: dict[str, Any], number: int) -> list[dict[str, Any]]:
    """Return a call that was executed, and its result, as messages."""
    call_id = id_of(execution.get("tool_call_id")) or f"call {number + 1}"
    arguments = execution.get("tool_args")
    call = Call(call_id, string_of(execution.get("tool_name")), arguments)
    result = {
        "role": "tool",
        "tool_call_id": call_id,
        "content": execution.get("result"),
        "tool_call_error": execution.get("tool_call_error"),
    }
    return [{"role": PROGRAM, "content": None, "tool_calls": [call]}, result]


def without_earlier(messages: list[MessageOfRun], run: Run) -> list[MessageOfRun]:
    """Return the messages without those of earlier runs, which were sent to the model again."""
    own = [each for each in messages if object_of(each[0]).get("from_history") is not True]
    if not own:
        return messages
    if len(own) < len(messages):
        run.notes.add("messages of earlier runs", len(messages) - len(own))
    return own


def _single(message: Any, failed: set[str | None]) -> list[Any]:
    """Return a message; a message with several results, as for Gemini until 2026, is divided into one for each result.

    `failed` has the IDs of failed calls, from the list of executed tools, since these messages lack the errors.
    """
    if type(message) is not dict or message.get("role") != "tool" or message.get("tool_call_id"):
        return [message]
    results = objects_of(message.get("tool_calls"))
    contents = message.get("content")
    contents = contents if type(contents) is list else []
    return [
        {
            "role": "tool",
            "tool_call_id": result.get("tool_call_id"),
            "name": result.get("tool_name"),
            "content": contents[number] if number < len(contents) else result.get("content"),
            "created_at": message.get("created_at"),
            "from_history": message.get("from_history"),
            "tool_call_error": id_of(result.get("tool_call_id")) in failed,
        }
        for number, result in enumerate(results)
    ] or [message]
