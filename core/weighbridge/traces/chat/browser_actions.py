"""Messages of browser-use's model calls: an answer is one call of `AgentOutput`, whose actions are the calls that were made.

The results of the actions are messages of the user: `Action result: ...`, or `Action error: ...`, after which the rest of the
actions is not done. Before the history stands an example of an answer, which is no part of it.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from weighbridge.traces.chat.dialects import Dialect
from weighbridge.traces.fields import object_of, objects_of, parse_arguments, string_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_OUTPUT = "AgentOutput"
_CALLS = "tool_calls"
_BEGIN = "[Your task history memory starts here]"
_RESULT, _ERROR = "Action result:", "Action error:"
_LOOKED_AT = 20  #: number of messages of which one has such an answer
_SAID = ("thinking", "evaluation_previous_goal", "memory", "next_goal")


def with_browser_actions(messages: list[Any]) -> list[Any]:
    """Return messages with each action of an `AgentOutput` as a call of its own, and with the results; others as they are."""
    if not any(_output_of(message) for message in messages[:_LOOKED_AT]):
        return messages
    begin = next((at for at, each in enumerate(messages) if _text(each) == _BEGIN), 0)
    instructions = [each for each in messages[:begin] if object_of(each).get("role") == "system"]
    asked = [
        each
        for each in messages[:begin]
        if object_of(each).get("role") == "user" and not _text(each).startswith("Example output")
    ]
    return [*instructions, *asked, *_with_actions(messages[begin:])]


def _with_actions(messages: Iterable[Any]) -> Iterator[Any]:
    answered: set[str | None] = set()  #: ids of the calls of `AgentOutput`
    open_ids: deque[str] = deque()  #: of the last answer's actions without a result
    for message in messages:
        if output := _output_of(message):
            answered.add(output["id"])
            calls = list(_actions(output))
            open_ids = deque(call["id"] for call in calls)
            yield {**message, "content": _said(output["arguments"]), _CALLS: calls}
            continue
        role, text = object_of(message).get("role"), _text(message)
        if role == "tool" and string_of(message.get("tool_call_id")) in answered:
            continue
        if role == "user" and open_ids and text.startswith((_RESULT, _ERROR)):
            mark = _RESULT if text.startswith(_RESULT) else _ERROR
            told = text.removeprefix(mark).strip()
            result = {"role": "tool", "tool_call_id": open_ids.popleft(), "content": told}
            if mark == _ERROR:
                result["error"] = told
                open_ids.clear()
            yield result
            continue
        yield message


def _output_of(message: Any) -> dict[str, Any] | None:
    """Return the id and the arguments of an answer's only call if it is `AgentOutput`."""
    calls = objects_of(object_of(message).get(_CALLS))
    if len(calls) != 1:
        return None
    called = object_of(calls[0].get("function")) or calls[0]
    arguments = parse_arguments(called.get("arguments", called.get("args")))
    has_actions = called.get("name") == _OUTPUT and type(object_of(arguments).get("action")) is list
    call_id = string_of(calls[0].get("id"))
    return {"id": call_id, "arguments": arguments} if has_actions and call_id else None


def _actions(output: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for number, action in enumerate(objects_of(output["arguments"]["action"]), 1):
        # Some dumps have all actions, with null for those that are not asked for.
        asked = [name for name, held in action.items() if held is not None] or list(action)
        for name in asked[:1]:
            called = {"name": name, "arguments": action[name]}
            yield {"id": f"{output['id']}.{number}", "type": "function", "function": called}


def _said(arguments: dict[str, Any]) -> str:
    thoughts = {**arguments, **object_of(arguments.get("current_state"))}
    return "\n".join(text for key in _SAID if (text := string_of(thoughts.get(key))))


def _text(message: Any) -> str:
    return string_of(object_of(message).get("content")) or ""


DIALECT = Dialect(frozenset({_CALLS}), with_browser_actions)
