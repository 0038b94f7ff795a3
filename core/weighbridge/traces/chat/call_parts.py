"""Readers of the tool calls and results in messages, in the spellings of all providers and frameworks."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Literal

import orjson
from msgspec import Struct

from weighbridge.traces.chat.stated_failures import mcp_failure, stated_failure
from weighbridge.traces.equality import key_of
from weighbridge.traces.fields import (
    id_of,
    json_in,
    objects_of,
    parse_arguments,
    string_of,
    text_with_images,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

#: Keys that hold a whole part, with the part's type; None if the part has its own type.
HOLDERS: dict[str, str | None] = {
    "message_content": None,
    "tool_call": "tool_call",
    "toolCall": "tool_call",
    "toolUse": "tool_call",
    "function_call": "tool_call",
    "functionCall": "tool_call",
    "toolInvocation": "dynamic-tool",
    "toolResult": "tool_result",
    "function_response": "tool_result",
    "functionResponse": "tool_result",
}
_CALLS = frozenset(
    {"tool_call", "tool_use", "tool-call", "function_call"}
    | {"server_tool_call", "server_tool_use", "mcp_tool_use", "invalid_tool_call"}
)
_RESULTS = frozenset(
    {"tool_call_response", "tool_result", "tool-result", "function_call_output", "tool-error"}
    | {"server_tool_call_response", "mcp_tool_result", "web_search_tool_result"}
)
REASONING = frozenset({"reasoning", "thinking", "redacted_thinking"})
CALLS_AND_RESULTS = _CALLS | _RESULTS
_PARTS = CALLS_AND_RESULTS | REASONING | {"text", "output_text"}
#: Fields with the id of a call, in the call or in its result.
CALL_IDS = (
    *("tool_call_id", "tool_use_id", "toolUseId", "toolUseID", "toolCallId", "toolCallID"),
    *("call_id", "callId", "callID", "function_call_id", "functionCallId", "id"),
)
#: Those of a part, which has the call's ID also where other objects have a tool's.
_PART_IDS = (*CALL_IDS, "tool_id")
_NAMES = ("name", "toolName", "tool_name", "function", "tool")
_ARGUMENTS = ("arguments", "args", "input", "server_tool_call")
_OUTPUTS = ("response", "result", "content", "output", "server_tool_call_response", "error")
_LISTS_OF_CALLS = (
    *("tool_calls", "toolCalls", "invalid_tool_calls", "toolInvocations", "tool_invocations"),
)
_SINGLE_CALLS = ("function_call", "functionCall", "tool_call", "toolCall")
_NESTED = "additional_kwargs"  #: key of the provider's own spelling in LangChain's messages
CALL_FIELDS = frozenset({*_LISTS_OF_CALLS, *_SINGLE_CALLS, _NESTED})
_TYPED_TOOL = "tool-"  #: prefix of the type of a part with a call of one tool: `tool-getWeather`
_ANSWERED = frozenset({"result", "output", "errorText"})

PartKind = Literal["call", "result", "both", "reasoning", ""]


class Call(Struct, frozen=True, gc=False):
    """A tool call that a model asked for."""

    id: str | None
    name: str | None
    arguments: Any  #: None if they are not recorded


class Result(Struct, frozen=True, gc=False):
    """Result of a tool call."""

    call_id: str | None
    name: str | None
    output: Any
    error: str | None = None


def first_of(data: dict[str, Any], names: Iterable[str]) -> Any:
    """Return the value of the first of these names that has a value other than None."""
    for name in names:
        value = data.get(name)
        if value is not None:
            return value
    return None


def json_of(value: Any) -> Any:
    """Return the array or object in a JSON string, or else the value unchanged."""
    if type(value) is not str or value.lstrip()[:1] not in {"[", "{"}:
        return value
    try:
        return json_in(value)
    except ValueError:
        return value


def is_content(value: list[Any]) -> bool:
    """Return whether a list is the parts of one message, and not a list of messages."""
    return bool(value) and all(
        type(part) is dict
        and "role" not in part
        and "message" not in part
        and (
            not HOLDERS.keys().isdisjoint(part) or _type(part) in _PARTS or part.keys() == {"text"}
        )
        for part in value
    )


def _type(value: dict[str, Any]) -> str:
    return string_of(value.get("type")) or ""


def opened(part: dict[str, Any], kind: str | None = None) -> tuple[PartKind, dict[str, Any]]:
    """Return a part's type and the object that has its fields; `kind` is the default type."""
    if not HOLDERS.keys().isdisjoint(part):
        for holder, held_kind in HOLDERS.items():
            if type(part.get(holder)) is dict:
                part, kind = part[holder], held_kind
                break
    kind = kind or _type(part)
    if kind in _CALLS or kind.endswith(("tool_use", "tool_call", "toolUse", "toolCall")):
        return "call", part
    if kind in _RESULTS or kind.endswith(("tool_result", "toolResult")):
        return "result", _with_run(part) if "run" in part else part
    if kind in REASONING or part.get("thought") is True:
        return "reasoning", part
    is_typed = kind.startswith(_TYPED_TOOL) and "toolCallId" in part
    return ("both" if is_typed or kind == "dynamic-tool" else ""), part


def _with_run(part: dict[str, Any]) -> dict[str, Any]:
    """Return a result of Amp with the status, and the result or the error, that stand in its `run`.

    A command that failed is done, with its exit code.
    """
    run = part["run"]
    if type(run) is not dict:
        return part
    error = run.get("error")
    reason = error.get("message", error) if type(error) is dict else error
    result = run.get("result", reason)
    has_failed = type(result) is dict and bool(stated_failure(result))
    return {**part, "result": result, "status": "error" if has_failed else run.get("status")}


def calls_in(kind: PartKind, part: dict[str, Any]) -> Iterator[Call]:
    """Yield the call in a part, if its kind is that of a call."""
    if kind in {"call", "both"}:
        yield call_of(part)


def results_in(kind: PartKind, part: dict[str, Any]) -> Iterator[Result]:
    """Yield the result in a part, if its kind is that of a result and it has one."""
    if kind == "result" or (kind == "both" and not _ANSWERED.isdisjoint(part)):
        yield result_in(part, first_of(part, (*_OUTPUTS, "errorText")))


def call_of(part: dict[str, Any]) -> Call:
    """Return the call in an object, whose name and arguments may stand under `function` or `custom`."""
    function = part.get("function")
    if type(function) is not dict:
        custom = part.get("custom")
        # The input of a custom tool is text.
        function = (
            {**custom, "arguments": {"input": custom.get("input")}}
            if type(custom) is dict
            else part
        )
    name = string_of(first_of(function, _NAMES))
    kind = _type(part)
    if name is None and kind.startswith(_TYPED_TOOL) and kind not in CALLS_AND_RESULTS:
        name = kind.removeprefix(_TYPED_TOOL)
    call_id = id_of(first_of(part, _PART_IDS))
    return Call(call_id, name, parse_arguments(first_of(function, _ARGUMENTS)))


def result_in(part: dict[str, Any], content: Any) -> Result:
    """Return the result with this content; the object has the ID of its call and says whether the call failed."""
    output, error = result_of(content)
    error = error or _error_of_response(part)
    failed = (
        part.get("is_error", part.get("isError")) is True
        or part.get("status") == "error"
        or part.get("type") == "tool-error"
        or string_of(part.get("errorText")) is not None
    )
    if failed and not error:
        error = output if type(output) is str and output else "error"
    call_id = id_of(first_of(part, _PART_IDS))
    return Result(call_id, string_of(first_of(part, _NAMES)), output, error)


def _error_of_response(part: dict[str, Any]) -> str | None:
    """Return the error in the `response` of a Gemini result, under the key that the API defines."""
    response = part.get("response") if "type" not in part else None
    error = response.get("error") if type(response) is dict else None
    if type(error) is dict and error:
        return string_of(error.get("message")) or "error"
    return string_of(error)


def result_of(value: Any) -> tuple[Any, str | None]:
    """Return a tool's result, and its error if it is marked as an error; the error is the result's text."""
    held = value
    if type(value) is str:
        value = _unquoted(value)
        held = json_of(value) if '"content"' in value else value
    if type(held) is list:
        text = _joined(held)
        return value if text is None else text, None
    if type(held) is not dict:
        return value, None
    if held.keys() == {"type", "value"}:  # the form of Vercel's AI SDK
        failed = type(held["type"]) is str and held["type"].startswith("error")
        return held["value"], (string_of(held["value"]) or "error") if failed else None
    message = _tool_message(held)
    if message is not None:
        content = message["content"]
        text = _joined(content) if type(content) is list else None
        output = content if text is None else text
        failed = message.get("status") == "error"
        return output, (string_of(output) or "error") if failed else None
    if type(held.get("content")) is not list:
        return value, None
    text = text_with_images(held["content"])  # the form of MCP
    failure = mcp_failure(held)
    error = (text or "error") if failure is True else failure or None
    return value if text is None else text, error


def _tool_message(held: dict[str, Any]) -> dict[str, Any] | None:
    """Return the fields of a LangChain tool message, which repeats the call's ID; None for any other value."""
    kwargs = held.get("kwargs")
    if "lc" in held and type(kwargs) is dict and "content" in kwargs:
        return kwargs
    return held if held.keys() >= {"content", "tool_call_id"} else None


def _unquoted(text: str) -> str:
    """Return the text in a JSON string, as a function's decorator records the return value; other text unchanged."""
    if not (len(text) > 1 and text.startswith('"') and text.endswith('"')):
        return text
    try:
        held = orjson.loads(text)
    except ValueError:
        return text
    return held if type(held) is str else text


def _joined(parts: list[Any]) -> str | None:
    """Return the joined text of a message's parts; None if the value is not a list of text parts."""
    if not is_content(parts):
        return None
    texts = [text for part in parts if (text := text_in(part)) is not None]
    return "\n".join(texts) if texts else None


def text_in(part: Any) -> str | None:
    """Return the text of a part that is neither a call, a result nor reasoning."""
    if type(part) is str:
        return part
    if type(part) is not dict:
        return None
    kind, held = opened(part)
    text = held.get("text", held.get("content")) if kind == "" else None
    return text if type(text) is str else None


def listed_calls(message: dict[str, Any]) -> list[Call]:
    """Return the calls listed outside a message's content, without duplicates in other spellings."""
    calls: list[Call] = []
    kwargs = message.get(_NESTED)
    for holder in (message, kwargs) if type(kwargs) is dict else (message,):
        for key in _LISTS_OF_CALLS:
            if holder.get(key):
                calls += not_among(calls, map(_listed_call, as_list(holder[key])))
        for key in _SINGLE_CALLS:
            if type(holder.get(key)) is dict:
                calls += not_among(calls, [call_of(holder[key])])
    return calls


def without_listed(message: dict[str, Any]) -> dict[str, Any]:
    """Return a message without the fields that `listed_calls` reads; others beside calls in LangChain's own field are fields of it."""
    recorded = {key: item for key, item in message.items() if not is_listed(key, item)}
    nested = recorded.get(_NESTED)
    if type(nested) is dict and not CALL_FIELDS.isdisjoint(nested):
        del recorded[_NESTED]
        others = {key: item for key, item in nested.items() if not is_listed(key, item)}
        recorded |= {f"{_NESTED}.{key}": item for key, item in others.items()}
    return recorded


def is_listed(key: str, item: Any) -> bool:
    """Return whether `listed_calls` reads all that a message's field holds."""
    if key == _NESTED:
        return type(item) is dict and all(is_listed(name, held) for name, held in item.items())
    return key in _LISTS_OF_CALLS or (key in _SINGLE_CALLS and (type(item) is dict or not item))


def _listed_call(value: Any) -> Call:
    """Return an item of a list of calls, an object or its JSON, as a call; any other value becomes a call without a name."""
    if type(value) is Call:
        return value
    value = json_of(value)
    if type(value) is not dict:
        return Call(None, None, {})
    return call_of(opened(value, "tool_call")[1])


def as_list(calls: Any) -> list[Any]:
    """Return calls as a list; tables keep them as JSON in a string, and some sources write a single call without a list."""
    if type(calls) is str:
        try:
            calls = json_in(calls)
        except ValueError:
            return [calls]
    return calls if type(calls) is list else [calls]


def not_among(known: list[Call], calls: Iterable[Call]) -> list[Call]:
    """Return the calls that are not among the known ones, compared by ID, or by content if either has no ID."""
    listed = list(calls)
    if not known or not listed:
        return listed
    ids = {call.id for call in known if call.id is not None}
    alike = Counter(map(name_and_arguments, known))
    alike_unnamed = Counter(name_and_arguments(call) for call in known if call.id is None)
    new = []
    for call in listed:
        if call.id is not None and call.id in ids:
            continue
        key = name_and_arguments(call)
        waiting = alike if call.id is None else alike_unnamed
        if waiting[key] > 0:
            alike[key] -= 1
            waiting[key] -= waiting is not alike
        else:
            new.append(call)
    return new


def name_and_arguments(call: Call) -> tuple[str | None, bytes]:
    """Return a key for comparing calls that have no IDs."""
    return call.name, key_of(call.arguments)


def are_foreign(parts: list[Any]) -> bool:
    """Return whether any of a message's parts is a call or a result."""
    return any(opened(part)[0] not in {"", "reasoning"} for part in objects_of(parts))
