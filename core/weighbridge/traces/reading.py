"""What importers share: text, arguments, numbers and times out of JSON that may hold anything."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal

import orjson

from weighbridge.traces.model import ToolDefinition, Usage

if TYPE_CHECKING:
    from collections.abc import Iterable

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_TOKENS_LIMIT = 10**15  #: more tokens than anything can have used
_NANOSECONDS_LIMIT = 2**63  #: the year 2262


def parse_arguments(value: Any) -> Any:
    """Return a tool call's arguments: the object that a string holds, or else what was given, as it is."""
    if type(value) is not str:
        return value
    try:
        parsed = orjson.loads(value)
    except (ValueError, RecursionError):
        return value
    return parsed if type(parsed) is dict else value


def text_of(content: Any) -> str | None:
    """Return the text of a message's content: a string, or the text parts of a list; None for no text."""
    if type(content) is str:
        return content
    if type(content) is not list:
        return None
    texts: list[Any] = [
        part["text"] if type(part) is dict else part
        for part in content
        if type(part) is str or (type(part) is dict and type(part.get("text")) is str)
    ]
    return "\n".join(texts) if texts else None


def count_of(value: Any) -> int | None:
    """Return a count of tokens; None for anything that is none."""
    if type(value) is float and value.is_integer():
        value = int(value)
    return value if type(value) is int and 0 <= value <= _TOKENS_LIMIT else None


def cost_of(value: Any) -> float | None:
    """Return an amount of money; None for anything that is none."""
    if type(value) is int and 0 <= value <= _TOKENS_LIMIT:
        return float(value)
    return value if type(value) is float and math.isfinite(value) and value >= 0 else None


def usage_of(
    input_tokens: Any = None,
    output_tokens: Any = None,
    total_tokens: Any = None,
    cached_tokens: Any = None,
) -> Usage | None:
    """Return counts of tokens, or None where there is none at all."""
    usage = Usage(*map(count_of, (input_tokens, output_tokens, total_tokens, cached_tokens)))
    known = usage.input_tokens, usage.output_tokens, usage.total_tokens
    return None if known == (None, None, None) else usage


def string_of(value: Any) -> str | None:
    """Return a string that is not empty; None for anything else."""
    return value if type(value) is str and value else None


def time_of(value: Any, unit: Literal["s", "ms", "us", "ns"] = "s") -> int | None:
    """Return a time as nanoseconds since 1970 UTC: ISO 8601, or a number (or its digits) in that unit.

    A time without a zone is taken as UTC. None for anything that is no time.
    """
    if type(value) is str:
        if value.isdecimal() and len(value) <= 20:
            value = int(value)
        else:
            return _iso_time(value)
    if type(value) is float and not math.isfinite(value):
        return None
    if type(value) is not int and type(value) is not float:
        return None
    nanoseconds = int(value * {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}[unit])
    return nanoseconds if 0 < nanoseconds < _NANOSECONDS_LIMIT else None


def _iso_time(text: str) -> int | None:
    try:
        moment = datetime.fromisoformat(text)
        since = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - _EPOCH
    except (ValueError, OverflowError):
        return None
    nanoseconds = since // _MICROSECOND * 1000
    return nanoseconds if 0 < nanoseconds < _NANOSECONDS_LIMIT else None


def iso_time(nanoseconds: int) -> str:
    """Write a time as ISO 8601, in as many digits as it has."""
    seconds, rest = divmod(nanoseconds, 10**9)
    whole = (_EPOCH + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S")
    digits = f".{rest:09d}".rstrip("0").rstrip(".")
    return f"{whole}{digits}Z"


def tools_of(listed: Any) -> tuple[ToolDefinition, ...]:
    """Return the tools of a list as OpenAI (with or without the `function` wrapper), Anthropic or MCP write it."""
    if type(listed) is dict:  # a whole answer to MCP's `tools/list`
        result = listed.get("result")
        listed = listed.get("tools") or (result.get("tools") if type(result) is dict else None)
    return tuple(_tools(listed if type(listed) is list else ()))


def _tools(listed: Iterable[Any]) -> Iterable[ToolDefinition]:
    for tool in listed:
        if type(tool) is not dict:
            continue
        facts = tool["function"] if type(tool.get("function")) is dict else tool
        name = string_of(facts.get("name"))
        if name:
            schema = next(
                (
                    facts[key]
                    for key in ("parameters", "input_schema", "inputSchema")
                    if key in facts
                ),
                None,
            )
            yield ToolDefinition(name, schema, string_of(facts.get("description")) or "")


class StepIds:
    """Gives each step an id of its own: the source's, marked where it comes again, or its place."""

    def __init__(self) -> None:
        self._used: dict[str, int] = {}

    def take(self, wanted: Any, place: int) -> str:
        """Return the id of the step at a place, from 1; `wanted` is the source's id, if it has one."""
        name = wanted if type(wanted) is str and wanted else f"s{place}"
        while (count := self._used.get(name, 0) + 1) > 1:
            self._used[name] = count
            name = f"{name}#{count}"
        self._used[name] = 1
        return name
