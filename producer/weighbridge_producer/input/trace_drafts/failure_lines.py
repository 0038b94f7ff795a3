"""The lines of a draft that say where errors are, and what else shows a failure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from weighbridge.text import pluralize
from weighbridge_producer.input.trace_drafts import fact_names as names
from weighbridge_producer.input.trace_drafts.draft import Line
from weighbridge_producer.input.trace_drafts.draft_text import quoted
from weighbridge_producer.input.trace_drafts.observed import (
    At,
    Observed,
)

if TYPE_CHECKING:
    pass

_FAILURES_LISTED = 12
_OUTCOMES = frozenset(["error", "failed", "failure"])


def is_error(value: Any) -> bool:
    """Return whether a value may be that of an error: a text, or true or false."""
    return type(value) is str or value is True or value is False


def add_errors(lines: list[Line], tools: Observed, models: Observed) -> None:
    """Add where errors are, and what else shows a failure."""
    found = [seen.find(names.ERROR, is_error, depth=1) for seen in (tools, models)]
    within = [at for at in tools.all() if len(at.keys) == 2 and at.keys[0] in names.RESULT and at.keys[1] == "error" and all(map(is_error, at.values))]  # fmt: skip
    pointers = dict.fromkeys(at.pointer for at in (*found, *within[:1]) if at)
    if pointers:
        lines.append(Line("step", "error", tuple(pointers)))
    add_failures(lines, "step", tools, [at for at in (*found, *within[:1]) if at])


def add_failures(lines: list[Line], section: str, seen: Observed, errors: Sequence[At]) -> None:
    """Add what shows that calls failed that have no error."""
    failed = {number for at in errors for number, value in _each(at) if value}
    for at in seen.all():
        key = at.keys[-1]
        found = {number: value for number, value in _each(at) if _is_failure(key, value)}
        new = found.keys() - failed
        if key in names.STATE_OF_CALL and new:
            remark = f"by this, {pluralize(len(new), 'call')} without a text of an error failed"
            words = sorted({json.dumps(value) for value in found.values()})[:_FAILURES_LISTED]
            literal = f"{{{quoted(at.pointer)}: [{', '.join(words)}]}}"
            line = Line(section, "failed_when", (at.pointer,), remark)
            line.literal = literal
            lines.append(line)
            return


def _each(at: At) -> Iterable[tuple[int, Any]]:
    return zip(at.entries, at.values, strict=True)


def _is_failure(key: str, value: Any) -> bool:
    if type(value) is str:
        return value.lower() in _OUTCOMES
    return value is False or (type(value) is int and value != 0 and key in names.EXIT_CODES)
