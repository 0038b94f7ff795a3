"""A model's messages as telemetry writes them: each system's own shape, read into one."""

from __future__ import annotations

import re
from ast import literal_eval
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from weighbridge.traces.chat.call_parts import (
    CALL_FIELDS,
    CALLS_AND_RESULTS,
    REASONING,
    Call,
    Result,
    are_foreign,
    calls_in,
    first_of,
    is_content,
    json_of,
    listed_calls,
    not_among,
    opened,
    result_in,
    results_in,
    text_in,
)
from weighbridge.traces.fields import (
    finish_reason_of,
    object_of,
    objects_of,
    parse_arguments,
    string_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

_ROLES = {
    "human": "user",
    "ai": "assistant",
    "model": "assistant",
    "developer": "system",
    "function": "tool",
    "aimessage": "assistant",
    "aimessagechunk": "assistant",
    "humanmessage": "user",
    "systemmessage": "system",
    "toolmessage": "tool",
}
_KNOWN_ROLES = frozenset({"system", "user", "assistant", "tool"})
#: Keys of the messages in a request or an answer.
_LISTS = ("messages", "contents", "choices", "output", "candidates", "generations")
_FINISH_KEYS = ("finish_reason", "finishReason", "stop_reason", "stopReason", "done_reason")
_METADATA = ("response_metadata", "generation_info")  #: what LangChain writes beside a message
_CALL_OR_REASONING = CALLS_AND_RESULTS | REASONING
#: A call as an OpenTelemetry instrumentation of OpenAI's Agents SDK prints it.
_PRINTED_CALL = re.compile(
    r"""ResponseFunctionToolCall\(arguments=('(?:[^'\\\n]|\\.)*+'|"(?:[^"\\\n]|\\.)*+"), """
    r"""call_id='([^'\\]+)', name='([^'\\]+)', type='function_call', .*\)"""
)
_NESTING_LIMIT = 4  #: maximum depth of lists in lists of messages, such as batches of choices


@dataclass(slots=True)
class Message:
    """One message, with its parts by their kind."""

    role: str  #: system, user, assistant or tool
    texts: list[str] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
    reasoning: int = 0  #: number of parts that are the model's reasoning
    finish_reason: str | None = None  #: of a message that the model answered with

    @property
    def text(self) -> str | None:
        """The text of all parts; None for no text."""
        return "\n".join(self.texts) if self.texts else None


def messages_in(value: Any, role: str) -> list[Message]:
    """Return the messages in a text, a message, a list of them, or a whole request or answer, as JSON or not.

    `role` is the role of messages that name none.
    """
    value = json_of(value)
    if type(value) is dict:
        held = [value[key] for key in _LISTS if type(value.get(key)) is list]
        if not held:
            return [read_message(value, role)]
        beside = [] if CALL_FIELDS.isdisjoint(value) else listed_calls(value)
        found = list(_listed_messages(held, role, _NESTING_LIMIT))
        recorded = [call for message in found for call in message.calls]
        more = not_among(recorded, beside)
        return [*found, Message(role, calls=more)] if more else found
    if type(value) is str:
        return [Message(role, [value])] if value else []
    return list(_listed_messages(value, role, _NESTING_LIMIT)) if type(value) is list else []


def _listed_messages(listed: list[Any], role: str, nesting: int) -> Iterator[Message]:
    if is_content(listed):
        yield read_message({"content": listed}, role)
        return
    for item in listed:
        if type(item) is dict:
            yield read_message(item, role)
        elif type(item) is str:
            yield read_message({"content": item}, role)
        elif type(item) is list and nesting:
            yield from _listed_messages(item, role, nesting - 1)


def read_message(value: dict[str, Any], role: str) -> Message:
    """Return a message in the form of any system; `role` is its role if it names none."""
    value = _unwrapped(value)
    message = Message(_role(value, role))
    if role == "assistant":
        message.finish_reason = finish_reason_of(_finish_reason(value))
    content = first_of(value, ("parts", "content", "contents", "text", "prompt"))
    if type(content) is dict and type(content.get("parts")) is list:  # a Gemini candidate
        message.role = _role(content, message.role)
        content = content["parts"]
    if (string_of(value.get("type")) or "") in _CALL_OR_REASONING:  # an item rather than a message
        _read_part(message, value)
        return message
    if message.role == "tool" and not _holds_results(content):
        if content is not None or CALL_FIELDS.isdisjoint(value):
            message.results.append(result_in(value, content))
    else:
        for part in _parts(content):
            _read_part(message, part)
    for other in (value.get("content"), value.get("contents")):
        if other is not content and type(other) is list and are_foreign(other):
            recorded = [call for part in objects_of(other) for call in calls_in(*opened(part))]
            message.calls += not_among(message.calls, recorded)
    if not CALL_FIELDS.isdisjoint(value):
        message.calls += not_among(message.calls, listed_calls(value))
    # OpenInference spreads a call over several fields.
    name = string_of(value.get("function_call_name"))
    if name:
        arguments = parse_arguments(value.get("function_call_arguments_json"))
        message.calls += not_among(message.calls, [Call(None, name, arguments)])
    return message


def _unwrapped(value: dict[str, Any]) -> dict[str, Any]:
    """Return a message with the fields inside its wrapper: a choice's message, or a LangChain object's arguments."""
    inner = value.get("message")
    if type(inner) is str:
        return {**value, "content": inner}
    if type(inner) is dict:
        value = {**value, **inner}
    kwargs = value.get("kwargs")
    return {**value, **kwargs} if type(kwargs) is dict and "lc" in value else value


def _finish_reason(value: dict[str, Any]) -> Any:
    """Return why an answer ended: of a choice, of Anthropic's answers, or beside a LangChain message."""
    holders = (value, *map(object_of, map(value.get, _METADATA)))
    return next(filter(None, (first_of(held, _FINISH_KEYS) for held in holders)), None)


def _role(value: dict[str, Any], default: str) -> str:
    recorded = value.get("role", value.get("type"))
    if type(recorded) is not str:
        return default
    role = _ROLES.get(recorded.lower(), recorded.lower())
    return role if role in _KNOWN_ROLES else default


def _parts(content: Any) -> list[Any]:
    if type(content) is str:
        held = json_of(content) if content.startswith("[{") else None
        return held if type(held) is list and is_content(held) else [content]
    if type(content) is dict:
        return [content]
    return content if type(content) is list else []


def _holds_results(content: Any) -> bool:
    held = json_of(content)
    return type(held) is list and are_foreign(held)


def _read_part(message: Message, part: Any) -> None:
    if type(part) is not dict:
        if type(part) is str:
            message.texts.append(part)
        return
    kind, held = opened(part)
    message.calls += calls_in(kind, held)
    message.results += results_in(kind, held)
    message.reasoning += kind == "reasoning"
    text = text_in(part)
    printed = None if text is None else _printed_call(text)
    if printed is not None:
        message.calls.append(printed)
    elif text is not None:
        message.texts.append(text)


def _printed_call(text: str) -> Call | None:
    """Return the call in a text that Python printed from a call of OpenAI's client; None for any other text."""
    found = _PRINTED_CALL.fullmatch(text) if text.startswith("ResponseFunctionToolCall(") else None
    if found is None:
        return None
    try:
        arguments = literal_eval(found[1])
    except (ValueError, SyntaxError):
        return None
    return Call(found[2], found[3], parse_arguments(arguments))
