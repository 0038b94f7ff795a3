"""Rows of actions whose results only say that they were done, and whose effect a later look shows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from weighbridge.graders.loop.history.actions import calls_at
from weighbridge.graders.loop.history.call_kinds import (
    is_command,
    is_read_only,
    is_wait,
    observes,
    writes,
)
from weighbridge.graders.loop.history.result_kinds import acknowledges
from weighbridge.graders.loop.history.tool_names import (
    NAME_CHARACTERS,
    creates,
    hands_over,
    named_like,
    stores,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge.graders.loop.history.actions import Call
    from weighbridge.graders.loop.work_budget import Limits

_OFTEN = 10  #: multiple of `max_repeats` from which actions without a look are a loop, whatever they had done
_LATER = 2  #: number of calls after a row in which a look at its effect is expected
_CHARACTERS = 120  #: longer arguments are content, which has its effect at once
_SPREAD = 3  #: up to how many times as many calls are searched for looks as were found
_EARLIER = 100  #: number of calls before a row whose results looks are compared with
_ECHO_CHARACTERS = 100  #: a longer result says more than that an action was done
_STEM = 3  #: number of letters that a verb and its past tense share
#: The past tense of what was done, at the beginning of a result.
_PAST = re.compile(
    r"[\W_]{0,6}(?:successfully )?((?:[a-z]{2,15}ed|undid|sent|put|went|set|hit|ran))\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]{3,40}")
_is_look = named_like(
    re.compile(
        r"(?:^|[_\W])(?:extract|focus(?:ed)?|snapshot|screenshot|capture|content|text|title|value|pose|tree|html|dom|page_?source)(?:[_\W]|$)",
        re.IGNORECASE,
    )
)


def had_effect(found: Sequence[int], calls: Sequence[Call | None], limits: Limits) -> bool:
    """Return whether actions, whose results only say that they were done, have an effect that looks between or soon after show.

    Each of these has another result than the look of its kind before it, or is the first.
    """
    made = calls_at(calls, found)
    begin, end = found[0], found[-1] + 1
    if end - begin > _SPREAD * len(found) or not all(map(_only_acts, made)):
        return False
    shown: dict[int, str] = {}
    for call in calls[max(0, begin - _EARLIER) : begin]:
        if call is not None:
            shown[call.arguments_id] = call.result.masked
    acted = looks = 0  #: actions since the last look
    for index, call in enumerate(calls[begin : end + _LATER], begin):
        if call is not None and _looks(call):
            if call.result.masked == shown.get(call.arguments_id):
                return False
            shown[call.arguments_id] = call.result.masked
            acted, looks = 0, looks + 1
        elif index < end:
            acted += 1
            if acted >= _OFTEN * limits.max_repeats:
                return False
        if index >= end - 1 and looks:
            return True
    return False


def _looks(call: Call) -> bool:
    is_look = (observes(call) or _is_look(call.tool)) and not is_wait(call)
    return is_look and bool(call.result.text) and not call.result.is_unsuccessful


def _may_add_up(call: Call) -> bool:
    """Return whether a call may go on where an equal one stopped, as a step or a click does, but no change of content does."""
    tool = call.tool
    is_content = writes(call) or creates(tool) or stores(tool) or hands_over(tool)
    is_short = len(call.arguments.key) <= _CHARACTERS
    return is_short and not (is_content or is_read_only(call) or is_command(call))


def _only_acts(call: Call) -> bool:
    """Return whether a call acts, and its result says nothing but that."""
    text = call.result.text
    if text is None or call.result.is_unsuccessful or not _may_add_up(call):
        return False
    if acknowledges(text):
        return True
    done = _PAST.match(text) if len(text) <= _ECHO_CHARACTERS else None
    if done is None:
        return False
    told = (
        f"{call.tool[:NAME_CHARACTERS]} {call.arguments.key.decode('utf-8', 'replace')}".casefold()
    )
    stem, said = done[1][:_STEM].casefold(), set(_WORD.findall(text.casefold()))
    words = _WORD.findall(told.replace("_", " "))
    return any(word.startswith(stem) or word in said for word in words)
