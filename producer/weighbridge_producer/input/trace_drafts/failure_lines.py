"""The lines of a draft that say where errors are, and what else shows a failure."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from weighbridge.text import pluralize
from weighbridge_producer.input.trace_drafts import fact_names as names
from weighbridge_producer.input.trace_drafts.draft import Line
from weighbridge_producer.input.trace_drafts.draft_text import quoted
from weighbridge_producer.input.trace_drafts.key_roles import Role, find_role, words_of
from weighbridge_producer.input.trace_drafts.observed import (
    At,
    Observed,
)

if TYPE_CHECKING:
    pass

_FAILURES_LISTED = 12
_ALL_FAILED = 5  #: number of calls that do not all fail
_WORD = r"(?:error|erro|errore|fehler|erreur|exception|failure|falha|fallo|ошибка|错误|失败)"
#: Beginnings of results that tell of an error. `Error handling` may be the title of a page that was found.
_FAILING = re.compile(
    rf"[\[(]{_WORD}\b"
    rf"|[^\w\n{{\[(]{{0,4}}{_WORD}(?=:|!|\s(?:ao|al|at|in|while|when|executing|calling|running|code|beim|lors|during)\b)"
    r"|(?-i:(?:[A-Z][a-z]{1,30}){1,4}(?:Error|Exception))(?=:)"
    r"|Traceback \(most recent"
    r"|failed to\b"
    r"|\{\s?[\"'](?:success|ok)[\"']:\s?false"
    r"|\{\s?[\"']error[\"']:\s?[\"']"
    r"|\{\s?[\"']status[\"']:\s?[\"'](?:error|failed)",
    re.IGNORECASE,
)


def is_error(value: Any) -> bool:
    """Return whether a value may be that of an error: a text, or true or false."""
    return type(value) is str or value is True or value is False


def error_of(seen: Observed, depth: int = 1) -> At | None:
    """Return where errors are, if they are."""
    usual = seen.find(names.ERROR, is_error, depth=depth)
    return usual or find_role(seen, Role.ERROR, is_error)


def add_errors(lines: list[Line], tools: Observed, models: Observed) -> None:
    """Add where errors are, and what else shows a failure."""
    found = [error_of(seen) for seen in (tools, models)]
    within = [at for at in tools.all() if len(at.keys) == 2 and at.keys[0] in names.RESULT and at.keys[1] == "error" and all(map(is_error, at.values))]  # fmt: skip
    pointers = dict.fromkeys(at.pointer for at in (*found, *within[:1]) if at)
    if pointers:
        lines.append(Line("step", "error", tuple(pointers)))
    add_failures(lines, "step", tools, [at for at in (*found, *within[:1]) if at])


def add_failures(lines: list[Line], section: str, seen: Observed, errors: Sequence[At]) -> None:
    """Add what shows that calls failed that have no error: a state, or how the texts of their results begin."""
    failed = {number for at in errors for number, value in _each(at) if value}
    shown: list[tuple[str, list[str]]] = []
    remarks = []
    for at in seen.all():
        key = at.keys[-1]
        found = {number: value for number, value in _each(at) if _is_failure(key, value)}
        if key in names.STATE_OF_CALL and found.keys() - failed:
            if len(found) == seen.count > _ALL_FAILED:  # then it may be the state of the run
                continue
            new = pluralize(len(found.keys() - failed), "call")
            remarks.append(f"by this, {new} without a text of an error failed")
            words = sorted({json.dumps(value) for value in found.values()})
            shown.append((at.pointer, words[:_FAILURES_LISTED]))
            failed |= found.keys()
            break
    outputs = [line.pointers for line in lines if (line.section, line.name) == (section, "output")]
    for pointer in outputs[0] if outputs else ():
        at_output = seen.at(pointer)
        beginnings = _failing_beginnings(at_output, failed) if at_output else []
        if beginnings:
            count = pluralize(len(beginnings), "result")
            remarks.append(
                f"guessed: {count} without an error elsewhere begin{'s' if len(beginnings) == 1 else ''} so"
            )
            words = sorted({json.dumps(f"{text}*", ensure_ascii=False) for text in beginnings})
            shown.append((pointer, words[:_FAILURES_LISTED]))
    if shown:
        line = Line(
            section, "failed_when", tuple(pointer for pointer, _ in shown), "; ".join(remarks)
        )
        values = (f"{quoted(pointer)}: [{', '.join(words)}]" for pointer, words in shown)
        line.literal = f"{{{', '.join(values)}}}"
        lines.append(line)


def add_names_of_failures(lines: list[Line], section: str, name: At) -> None:
    """Add that calls failed whose name is no tool's, but says so, such as `error` or `blocked`."""
    words = sorted({word for word in name.values if names.FAILED & set(words_of(word))})
    if words and len(words) < len(set(name.values)):
        remark = "guessed: these stand in place of the name of a tool"
        line = Line(section, "failed_when", (name.pointer,), remark)
        listed = ", ".join(map(json.dumps, words[:_FAILURES_LISTED]))
        line.literal = f"{{{quoted(name.pointer)}: [{listed}]}}"
        lines.append(line)


def _failing_beginnings(at: At, failed: Collection[int]) -> list[str]:
    """Return the beginnings of texts that tell of an error, of the steps that are not known to have failed."""
    texts = [value for number, value in _each(at) if number not in failed and type(value) is str]
    found = (_FAILING.match(text[:200]) for text in texts)
    return [match[0] for match in found if match and match[0].isprintable()]


def _each(at: At) -> Iterable[tuple[int, Any]]:
    return zip(at.entries, at.values, strict=True)


def _is_failure(key: str, value: Any) -> bool:
    if type(value) is str:
        return names.normal(value) in names.FAILED
    return value is False or (type(value) is int and value != 0 and key in names.EXIT_CODES)
