"""Why a row has no value for a field: which path leads nowhere, and from what."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge.text import shorten
from weighbridge_producer.input.mapping.path_texts import path_of
from weighbridge_producer.input.mapping.promptfoo_assertions import EqualsAssertion
from weighbridge_producer.input.mapping.row_values import EACH_ENTRY, MISSING, FirstOf, json_within

if TYPE_CHECKING:
    from weighbridge_producer.input.mapping.row_values import Path, Row, Value

_WIDTH = 60
_FENCE = "```"
_JSON_STARTS = ("{", "[")


def why_absent(value: Value, row: Row, number: int) -> str:
    """Return the reason why a row has no value, by the first of its paths that the row does not have."""
    first = value.values[0] if isinstance(value, FirstOf) else value
    if isinstance(first, EqualsAssertion) and (why := first.why_absent(row, number)):
        return why
    absent = [path for path in value.paths() if path.of(row, number) is MISSING]
    if isinstance(value, FirstOf):  # one of them is the column that the whole text may be
        absent = [path for path in absent if "|" not in path.text]
    path = next(iter(absent), None)
    return f"no value in {_quoted(str(value))}" if path is None else _why(path, row)


def _why(path: Path, row: Row) -> str:
    parts = path.parts
    if parts[0] not in row:
        return f"no {_quoted(path_of(parts[:1]))}"
    held: Any = row
    for place, part in enumerate(parts):
        within = json_within(held)
        if not isinstance(within, dict) or part not in within:
            where = path_of(parts[:place])
            if isinstance(within, list) and (part == EACH_ENTRY or part.lstrip("-").isdigit()):
                return f"no value at {_quoted(path.text)}"
            return f"no {_quoted(path.text)}: {_quoted(where)} {_what(within, part)}"
        held = within[part]
    return f"no value at {_quoted(path.text)}"


def _what(held: Any, part: str) -> str:
    """Return what is at the place that has no such part."""
    if isinstance(held, dict):
        return f"has no {_quoted(part)}"
    if isinstance(held, str):
        begin = held.lstrip()
        if not begin:
            return "is empty"
        if begin.startswith(_FENCE):
            return f"begins with {_FENCE} and is not JSON"
        return "is not valid JSON" if begin.startswith(_JSON_STARTS) else "is not JSON"
    if held is None:
        return "is null"
    return "is a list" if isinstance(held, list) else "is neither an object nor a list"


def _quoted(text: str) -> str:
    return repr(shorten(text, _WIDTH))
