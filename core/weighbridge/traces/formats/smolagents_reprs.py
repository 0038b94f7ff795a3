"""Steps of smolagents' memories as texts in Python's notation: `ActionStep(tool_calls=[ToolCall(...)], error=None, ...)`.

Such a text is not valid Python: members of enumerations and images are written as `<...>`. So only its quotes and
brackets are parsed, and each field is read separately.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any

from weighbridge.traces.fields import python_object_in

if TYPE_CHECKING:
    from collections.abc import Iterator

UNREAD = "unread"  #: key that marks a step of which a part could not be read
_NAMES = r"(?:ActionStep|PlanningStep|TaskStep|SystemPromptStep|FinalAnswerStep)"
_is_step = re.compile(rf"\s{{0,9}}{_NAMES}\(").match
_are_steps = re.compile(rf"\s{{0,9}}\[{_NAMES}\(").match
_STRING = r"""(?:'[^'\\]*+(?:\\.[^'\\]*+)*'|"[^"\\]*+(?:\\.[^"\\]*+)*")"""
_token = re.compile(rf"{_STRING}|[\[({{]|[\])}}]|,|[^'\"\[\](){{}},]++", re.DOTALL).match
_is_string = re.compile(_STRING, re.DOTALL).fullmatch
_first_string = re.compile(rf"\w{{1,100}}\(\s{{0,9}}({_STRING})", re.DOTALL).match
_field = re.compile(r"\s{0,9}(\w{1,100})=", re.ASCII).match
_OPENS, _CLOSES = frozenset("[({"), frozenset("])}")
_TEXTS = frozenset(
    {"model_output", "code_action", "observations", "plan", "facts", "task", "system_prompt"}
)
_NUMBERS = frozenset(
    {
        *("step_number", "step", "start_time", "end_time", "input_tokens", "output_tokens"),
        *("total_tokens", "input_token_count", "output_token_count"),
    }
)
_RECORDS = frozenset({"timing", "token_usage"})
_OLD_NAMES = {"llm_output": "model_output"}


def is_step_in_python(text: str) -> bool:
    """Return whether a text begins like a step."""
    return _is_step(text) is not None


def are_steps_in_python(text: str) -> bool:
    """Return whether a text begins like a list of steps."""
    return _are_steps(text) is not None


def steps_in_python(text: str) -> list[dict[str, Any]]:
    """Return the steps in the text of a list; if the text is cut off, an unread step is added at the end."""
    parts, is_whole = _inside(text)
    steps = [step_in_python(step) for step in parts]
    if not is_whole:
        steps.append({UNREAD: True})
    return steps


def step_in_python(text: str) -> dict[str, Any]:
    """Return a step as an object with the fields that could be read; it is marked if a part could not be read."""
    parts, is_whole = _inside(text)
    step: dict[str, Any] = {}
    for name, written in _fields(parts):
        value = _value(name, written)
        if value is not None:
            step[name] = value
    if not (is_whole and is_step_in_python(text)):
        step[UNREAD] = True
    if text.lstrip().startswith("ActionStep"):
        step = {"model_output": None, "observations": None, "step_number": 0, **step}
    return step


def _fields(parts: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the names of a record's fields, each with the text of its value."""
    for part in parts:
        found = _field(part)
        if found is not None:
            yield _OLD_NAMES.get(found[1], found[1]), part[found.end() :]


def _inside(text: str) -> tuple[list[str], bool]:
    """Return the parts between the commas in a text's outermost brackets, and whether the brackets are closed."""
    parts: list[str] = []
    at, depth, start = 0, 0, 0
    while at < len(text):
        token = _token(text, at)
        if token is None:  # a quote that is not closed
            break
        at = token.end()
        kind = token[0] if len(token[0]) == 1 else ""
        if kind in _OPENS:
            depth += 1
            start = at if depth == 1 else start
        elif kind in _CLOSES:
            depth -= 1
        is_end = depth == 0 and kind in _CLOSES
        if is_end or (depth == 1 and kind == ","):
            parts.append(text[start : at - 1].strip())
            start = at
        if is_end:
            return [part for part in parts if part], True
    parts.append(text[start:].strip())
    return [part for part in parts if part], False


def _value(name: str, written: str) -> Any:
    if name in _NUMBERS:
        return _number(written)
    if name in _TEXTS or name == "action_output":
        return _text(written)
    if name in _RECORDS:
        return dict(_numbers(written)) or None
    if name == "error" and written != "None":
        found = _first_string(written)
        return _text(found[1]) if found else written
    if name == "tool_calls" and written.startswith("["):
        return [_call(call) for call in _inside(written)[0]]
    if name == "model_output_message" and written.startswith("ChatMessage("):
        listed = _held_in(written).get("tool_calls", "None")
        return {"tool_calls": _value("tool_calls", listed)}
    return None


def _held_in(written: str) -> dict[str, str]:
    """Return the fields of a record, each with the text of its value."""
    return dict(_fields(_inside(written)[0]))


def _numbers(written: str) -> Iterator[tuple[str, Any]]:
    for name, value in _fields(_inside(written)[0]):
        if name in _NUMBERS:
            yield name, _number(value)


def _number(written: str) -> int | float | None:
    try:
        return int(written) if written.isdecimal() else float(written)
    except ValueError:
        return None


def _text(written: str) -> str | None:
    """Return the text of a string literal; any other value as it is written."""
    if written == "None":
        return None
    if _is_string(written) is None:
        return written
    try:
        held = ast.literal_eval(written)
    except (SyntaxError, ValueError, MemoryError):
        return written
    return held if type(held) is str else written


def _call(written: str) -> dict[str, Any]:
    held = _held_in(written)
    if "function" in held:  # in a message of the model
        held |= _held_in(held["function"])
    arguments = held.get("arguments", "None")
    return {
        "id": _text(held.get("id", "None")),
        "function": {
            "name": _text(held.get("name", "None")),
            "arguments": python_object_in(arguments) or _text(arguments),
        },
    }
