"""The line of a result that says what failed, below headings and tracebacks."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from weighbridge.graders.loop.history.call_kinds import claims_done
from weighbridge.graders.loop.history.result_kinds import reports_failure
from weighbridge.graders.loop.linear_patterns import linear, occurs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge.graders.loop.history.actions import Call
    from weighbridge.graders.loop.work_budget import WorkBudget

_FAILURE_CHARACTERS = 600
_LAST_CHARACTERS = 200
_REMEMBERED = 64  #: last failures of which the line is known
_LINE_CHARACTERS = 20  #: a shorter first line may be a heading
_TOOL_CHARACTERS = 3  #: a shorter name of a tool may be part of another word
#: Arguments that a failure may repeat: numbers, paths and file names.
_ECHOED = linear(r"\w*[\d/.][\w./:@-]*")
_may_be_echoed = re.compile(r"[0-9/.]").search  #: in a fraction of the time
_HEADING_CHARACTERS = 60
#: Return whether a line says that a call failed, but not why.
is_heading = occurs(
    r"""\A(?:\W*(?:(?:return ?code|exit[ _]?(?:code|status)|rc|status|code|output|stdout|stderr|result|observation|error|failed|failure)
\W*(?:\d{1,5})?\W*)+|[\W\d]+)\z"""
)
#: Name that a shell puts before its own errors: it may be the script's, or the first word of a garbled command.
_SHELL = re.compile(r"\A\S{1,40}: (?:-c: )?line \d{1,5}: ")
_NUMBER = re.compile(r"\d{1,15}(?:\.\d{1,15})?")


class _Line(NamedTuple):
    """The line of a failure that says what failed, as calls of one tool have it."""

    text: str
    echoes: Sequence[str]  #: the numbers, paths and file names in it
    cause: str  #: without numbers


def failure_of(call: Call, budget: WorkBudget) -> tuple[str, str]:
    """Return the line that says what failed, without the numbers and paths in the call's arguments, and with them."""
    failure = call.result.masked
    if claims_done(call):
        text = _SHELL.sub("", gist_of(failure))
        return text, text
    line = _line_of(failure[:_FAILURE_CHARACTERS], failure[-_FAILURE_CHARACTERS:], call.tool)
    masked, marks = line.text, 0
    if line.echoes:
        key = call.arguments.key.decode("utf-8", "replace")
        # Most failures repeat nothing, and looking for their few words is faster than splitting the arguments.
        if any(map(key.__contains__, line.echoes)):
            given = set(_ECHOED.findall(key))
            masked, marks = _ECHOED.subn(
                lambda word: "@" if word[0] in given else word[0], line.text
            )
            marks += len(given)
    budget.count_masking(line.text, marks)
    return masked, line.cause


@lru_cache(_REMEMBERED)
def _line_of(beginning: str, end: str, tool: str) -> _Line:
    text = _SHELL.sub("", _gist(beginning, end))
    if len(tool) >= _TOOL_CHARACTERS and tool in text:  # as in `unknown tool: lookup`
        text = text.replace(tool, "@")
    echoes = _ECHOED.findall(text) if _may_be_echoed(text) else ()
    return _Line(text, echoes, _NUMBER.sub("#", text))


def gist_of(failure: str) -> str:
    """Return the line of a result that says most: the last line of a traceback, or else the first that is no heading.

    If that line reports no failure, it comes with the first that does. If it says what was done, as before the result of
    the tests, all lines are returned.
    """
    return _gist(failure[:_FAILURE_CHARACTERS], failure[-_FAILURE_CHARACTERS:])


@lru_cache(_REMEMBERED)  # as failures come again
def _gist(beginning: str, end: str) -> str:
    beginning = beginning.strip()
    lines = informative_lines(beginning) or [beginning]
    if lines[0].startswith("Traceback"):
        return (informative_lines(end) or lines)[-1]
    says_what_was_done = lines[0].endswith(":") and not reports_failure(lines[0])
    is_told = len(lines[0]) >= _LINE_CHARACTERS and not says_what_was_done
    if not is_told:
        return "\n".join(lines)
    return f"{lines[0]}\n{reported}" if (reported := _reported_below(lines)) else lines[0]


def _reported_below(lines: Sequence[str]) -> str:
    """Return the first line that reports a failure, if it is not the first of all."""
    if reports_failure(lines[0]):
        return ""
    long = (line for line in lines[1:] if len(line) >= _LINE_CHARACTERS)
    return next(filter(reports_failure, long), "")


def informative_lines(text: str) -> list[str]:
    """Return the lines of a text without blank ones and headings such as `<returncode>1</returncode>`."""
    return [
        line
        for line in map(str.strip, text.split("\n"))
        if line and not (len(line) <= _HEADING_CHARACTERS and is_heading(line))
    ]


def last_line(text: str) -> str:
    """Return the last line of a text that is not blank, or its end."""
    return text[-_LAST_CHARACTERS:].rstrip().rsplit("\n", 1)[-1].strip()
