"""A model's messages as telemetry writes them: each system's own shape, read into one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import orjson

from weighbridge.traces.reading import parse_arguments, string_of, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable

_ROLES = {
    "human": "user",
    "ai": "assistant",
    "model": "assistant",
    "developer": "system",
    "function": "tool",
}
_KNOWN_ROLES = frozenset({"system", "user", "assistant", "tool"})
#: One key that holds a whole part, and what the part then is; None: what its own type says.
_HOLDERS: dict[str, str | None] = {
    "message_content": None,
    "tool_call": "tool_call",
    "toolUse": "tool_call",
    "function_call": "tool_call",
    "functionCall": "tool_call",
    "toolResult": "tool_result",
    "function_response": "tool_result",
    "functionResponse": "tool_result",
}
_CALLS = frozenset(
    {"tool_call", "tool_use", "tool-call", "function_call"}
    | {"server_tool_call", "server_tool_use", "mcp_tool_use"}
)
_RESULTS = frozenset(
    {"tool_call_response", "tool_result", "tool-result", "function_call_output"}
    | {"server_tool_call_response", "mcp_tool_result", "web_search_tool_result"}
)
_REASONING = frozenset({"reasoning", "thinking", "redacted_thinking"})
_CALLS_AND_RESULTS = _CALLS | _RESULTS
_ITEMS = _CALLS_AND_RESULTS | _REASONING
_PARTS = _ITEMS | {"text", "output_text"}
_CALL_IDS = ("tool_call_id", "tool_use_id", "toolUseId", "toolCallId", "call_id", "id")
_NAMES = ("name", "toolName", "tool_name")
_ARGUMENTS = ("arguments", "args", "input", "server_tool_call")
_OUTPUTS = ("response", "result", "content", "output", "server_tool_call_response")
#: Where the messages of a request or an answer stand in it.
_LISTS = ("messages", "contents", "choices", "output", "candidates")


@dataclass(slots=True)
class Call:
    """A tool call that a model asked for."""

    id: str | None
    name: str | None
    arguments: Any  #: None where they are not told


@dataclass(slots=True)
class Result:
    """What a tool answered."""

    call_id: str | None
    name: str | None
    output: Any
    error: str | None = None


@dataclass(slots=True)
class Message:
    """One message, with its parts by their kind."""

    role: str  #: system, user, assistant or tool
    texts: list[str] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
    reasoning: int = 0  #: how many parts are the model's reasoning

    @property
    def text(self) -> str | None:
        """The text of all parts; None for no text."""
        return "\n".join(self.texts) if self.texts else None


def json_of(value: Any) -> Any:
    """Return the array or object that a string holds, or else what was given, as it is."""
    if type(value) is not str or value.lstrip()[:1] not in {"[", "{"}:
        return value
    try:
        return orjson.loads(value)
    except ValueError:
        return value


def first_of(data: dict[str, Any], names: Iterable[str]) -> Any:
    """Return the value of the first of these names that has one."""
    for name in names:
        value = data.get(name)
        if value is not None:
            return value
    return None


def messages_in(value: Any, role: str) -> list[Message]:
    """Return the messages in a text, a message, a list of them, or a whole request or answer, as JSON or not.

    The role is that of a message which names none.
    """
    value = json_of(value)
    if type(value) is dict:
        held = next((value[key] for key in _LISTS if type(value.get(key)) is list), None)
        if held is None:
            return [read_message(value, role)]
        value = held
    if type(value) is str:
        return [Message(role, [value])] if value else []
    if type(value) is not list:
        return []
    if value and all(type(item) is list for item in value):  # a batch of one conversation
        value = value[0]
    if _is_content(value):
        return [read_message({"content": value}, role)]
    return [
        read_message(item if type(item) is dict else {"content": item}, role)
        for item in value
        if type(item) is dict or type(item) is str
    ]


def read_message(value: dict[str, Any], role: str) -> Message:
    """Return a message of any system; the role counts where it names none."""
    inner = value.get("message")
    if type(inner) is dict:
        value = {**value, **inner}
    elif type(inner) is str:
        value = {**value, "content": inner}
    message = Message(_role(value, role))
    content = first_of(value, ("parts", "content", "contents", "text"))
    if type(content) is dict and type(content.get("parts")) is list:  # a Gemini candidate
        message.role = _role(content, message.role)
        content = content["parts"]
    if _type(value) in _ITEMS:  # an item rather than a message
        _read_part(message, value)
        return message
    if message.role == "tool" and not _holds_results(content):
        message.results.append(_result(value, content))
        return message
    for part in _parts(content):
        _read_part(message, part)
    calls = value.get("tool_calls")
    for call in calls if type(calls) is list else ():
        _read_part(message, call, "tool_call")
    if type(value.get("function_call")) is dict:
        message.calls.append(_call(value["function_call"]))
    return message


def _type(value: dict[str, Any]) -> str:
    return string_of(value.get("type")) or ""


def _role(value: dict[str, Any], default: str) -> str:
    told = value.get("role", value.get("type"))
    if type(told) is not str:
        return default
    role = _ROLES.get(told.lower(), told.lower())
    return role if role in _KNOWN_ROLES else default


def _is_content(value: list[Any]) -> bool:
    """Whether a list is the parts of one message, and not a list of messages."""
    return bool(value) and all(
        type(part) is dict
        and "role" not in part
        and "message" not in part
        and (
            not _HOLDERS.keys().isdisjoint(part) or _type(part) in _PARTS or part.keys() == {"text"}
        )
        for part in value
    )


def _parts(content: Any) -> list[Any]:
    if type(content) is str:
        held = json_of(content) if content.startswith("[{") else None
        return held if type(held) is list and _is_content(held) else [content]
    if type(content) is dict:
        return [content]
    return content if type(content) is list else []


def _holds_results(content: Any) -> bool:
    held = json_of(content)
    return type(held) is list and any(
        type(part) is dict
        and (_type(part) in _CALLS_AND_RESULTS or any(_HOLDERS.get(key) for key in part))
        for part in held
    )


def _read_part(message: Message, part: Any, kind: str | None = None) -> None:
    if type(part) is str:
        message.texts.append(part)
    if type(part) is not dict:
        return
    for holder, held_kind in _HOLDERS.items():
        if type(part.get(holder)) is dict:
            part, kind = part[holder], held_kind
            break
    kind = kind or _type(part)
    if kind in _CALLS:
        message.calls.append(_call(part))
    elif kind in _RESULTS:
        message.results.append(_result(part, first_of(part, _OUTPUTS)))
    elif kind in _REASONING:
        message.reasoning += 1
    else:
        text = part.get("text", part.get("content"))
        if type(text) is str:
            message.texts.append(text)


def _call(part: dict[str, Any]) -> Call:
    function = part["function"] if type(part.get("function")) is dict else part
    call_id = string_of(first_of(part, _CALL_IDS))
    name = string_of(first_of(function, _NAMES))
    return Call(call_id, name, parse_arguments(first_of(function, _ARGUMENTS)))


def _result(part: dict[str, Any], content: Any) -> Result:
    output, error = result_of(content)
    failed = part.get("is_error", part.get("isError")) is True or part.get("status") == "error"
    if failed and not error:
        error = output if type(output) is str and output else "error"
    call_id = string_of(first_of(part, _CALL_IDS))
    return Result(call_id, string_of(first_of(part, _NAMES)), output, error)


def result_of(value: Any) -> tuple[Any, str | None]:
    """Return what a tool answered, and its error if it says so: the text where that is all it is."""
    held = value
    if type(value) is str:
        value = _unquoted(value)
        held = json_of(value) if '"content"' in value else value
    if type(held) is list:
        text = _joined(held)
        return value if text is None else text, None
    if type(held) is not dict:
        return value, None
    if held.keys() == {"type", "value"}:  # Vercel's
        return held["value"], None
    if type(held.get("content")) is not list:
        return value, None
    text = text_of(held["content"])  # MCP's
    failed = held.get("isError", held.get("is_error")) is True
    return value if text is None else text, (text or "error") if failed else None


def _unquoted(text: str) -> str:
    """Return the text in a JSON string, as decorators of functions record what these return; others as they are."""
    if not (len(text) > 1 and text.startswith('"') and text.endswith('"')):
        return text
    try:
        held = orjson.loads(text)
    except ValueError:
        return text
    return held if type(held) is str else text


def _joined(parts: list[Any]) -> str | None:
    """Return the text of the parts of a message; None for a list of anything else."""
    if not _is_content(parts):
        return None
    message = Message("tool")
    for part in parts:
        _read_part(message, part)
    return message.text
