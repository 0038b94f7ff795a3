"""The lines of a draft that say where errors are, and what else shows a failure."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from weighbridge.text import pluralize
from weighbridge_producer.input.trace_drafts import fact_names as names
from weighbridge_producer.input.trace_drafts.draft import Line
from weighbridge_producer.input.trace_drafts.draft_text import quoted
from weighbridge_producer.input.trace_drafts.key_roles import Role, find_role, words_of
from weighbridge_producer.input.trace_drafts.observed import (
    At,
    Observed,
)

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


def add_errors(
    lines: list[Line], tools: Observed, models: Observed, kinds: Sequence[str] = ()
) -> None:
    """Add where errors are, and what else shows a failure."""
    found = [error_of(seen) for seen in (tools, models)]
    within = [at for at in tools.all() if len(at.keys) == 2 and at.keys[0] in names.RESULT and at.keys[1] == "error" and all(map(is_error, at.values))]  # fmt: skip
    pointers = dict.fromkeys(at.pointer for at in (*found, *within[:1]) if at)
    if pointers:
        lines.append(Line("step", "error", tuple(pointers)))
    add_failures(lines, "step", tools, [at for at in (*found, *within[:1]) if at], kinds)


def add_failures(
    lines: list[Line],
    section: str,
    seen: Observed,
    errors: Sequence[At],
    kinds: Sequence[str] = (),
) -> None:
    """Add what shows that calls failed that have no error: a code, a state, a kind, or how the texts of their results begin.

    `kinds` are the pointers to the kinds of steps, if these are the steps.
    """
    failed = {number for at in errors for number, value in _each(at) if value}
    _add_codes(lines, section, seen, failed)
    shown: list[tuple[str, list[str]]] = []
    remarks = []
    for at in seen.all():
        found = {number: value for number, value in _each(at) if _is_failure(at, value, kinds)}
        new = found.keys() - failed
        is_further = len(at.keys) > 1 and bool(shown)
        # A failure of all calls may be the state of the run.
        if not new or is_further or len(found) == seen.count > _ALL_FAILED:
            continue
        remarks.append(f"by {at.pointer}, {_without_text(new)}")
        words = sorted({json.dumps(value) for value in found.values()})
        shown.append((at.pointer, words[:_FAILURES_LISTED]))
        failed |= found.keys()
    if len(remarks) == 1:
        remarks = [f"by this, {remarks[0].partition(', ')[2]}"]
    outputs = [line.pointers for line in lines if (line.section, line.name) == (section, "output")]
    for pointer in outputs[0] if outputs else ():
        at_output = seen.at(pointer)
        beginnings = _failing_beginnings(at_output, failed) if at_output else []
        if beginnings:
            count = pluralize(len(beginnings), "result")
            begin = "begins" if len(beginnings) == 1 else "begin"
            remarks.append(f"guessed: {count} without an error elsewhere {begin} so")
            words = sorted({json.dumps(f"{text}*", ensure_ascii=False) for text in beginnings})
            shown.append((pointer, words[:_FAILURES_LISTED]))
    if shown:
        pointers = tuple(pointer for pointer, _ in shown)
        values = (f"{quoted(pointer)}: [{', '.join(words)}]" for pointer, words in shown)
        literal = f"{{{', '.join(values)}}}"
        lines.append(Line(section, "failed_when", pointers, "; ".join(remarks), literal=literal))


def _add_codes(lines: list[Line], section: str, seen: Observed, failed: set[int]) -> None:
    """Add the codes that calls ended with as errors, of which 0 is none."""
    for at in seen.all():
        is_code = at.keys[-1] in names.EXIT_CODES and all(type(held) is int for held in at.values)
        found = {number for number, value in _each(at) if value} if is_code else set()
        new = found - failed
        if not is_code or len(found) == seen.count > _ALL_FAILED:
            continue
        line = next(
            (each for each in lines if (each.section, each.name) == (section, "error")), None
        )
        if line is None:
            line = Line(section, "error", ())
            lines.append(line)
        line.pointers = (*line.pointers, at.pointer)
        line.remark = f"by {at.pointer}, {_without_text(new)}" if new else line.remark
        failed |= found
        return


def _without_text(numbers: Collection[int]) -> str:
    return f"{pluralize(len(numbers), 'call')} without a text of an error failed"


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


def _is_failure(at: At, value: Any, kinds: Sequence[str]) -> bool:
    """Return whether a value shows that a call failed: a state, or the kind of a step that tells of its failure."""
    if at.pointer in kinds:
        return type(value) is str and bool(names.FAILED & set(words_of(value)))
    if at.keys[-1] not in names.STATE_OF_CALL or at.keys[-1] in names.EXIT_CODES:
        return False
    return value is False or (type(value) is str and names.normal(value) in names.FAILED)
