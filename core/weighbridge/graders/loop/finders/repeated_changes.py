"""Loops of one change that is made again and again: the same edit, letter, booking or payment, although each succeeds."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from weighbridge.graders.loop.finders.findings import Finding
from weighbridge.graders.loop.finders.rules import Rule
from weighbridge.graders.loop.history.call_kinds import acts_outside, is_read_only, writes
from weighbridge.graders.loop.history.tool_names import moves_money, pays, takes_notes
from weighbridge.graders.loop.linear_patterns import linear

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge.graders.loop.history.actions import Call
    from weighbridge.graders.loop.work_budget import Limits

#: Minimum length of arguments. Several equal things with short arguments, such as cards or servers, may be wanted.
_CHARACTERS = 120
_CONFIRMATION_CHARACTERS = 600  #: a longer result of a payment or a message shows something
#: An id, a number, or a time; in linear time, as each word is tried once.
_NUMBERED = re.compile(r"(?<![\w-])(?:[^\W\d]|-)*+\d[\w-]*+")
_REST = r"(?:remain|outstanding|(?:amount|balance)_?due|(?:(?:\b|_)(?:left|owed?)|(?-i:[a-z]Left))(?:\b|_))"
_NUMBER = r"(\d(?:[\d.,]{0,20}\d)?)"
#: What a result says of a sum that is paid in parts: how much of it is left, maybe after what it is left of
#: (`Remaining on account 4411: $950`). The number is in one of the groups.
_rests = linear(
    rf"""{_REST}\w{{0,30}}[\s"]{{0,2}}:\s?\{{[^{{}}\d]{{0,80}}{_NUMBER}
|{_REST}[^\n.,;}}]{{0,60}}?(?:[:=]|\bis|\bnow)\s{{0,3}}["']?(?:[^\w\s:=]|(?:[a-z]{{3}}|rs)\b\.?)?\s{{0,3}}{_NUMBER}
|{_REST}\w{{0,30}}[^\w\n.,;}}][^\d\n.,;}}]{{0,40}}{_NUMBER}|{_NUMBER}[^\d\n.,;:{{}}"]{{0,40}}{_REST}"""
).finditer


def repeated_changes(calls: Sequence[Call | None], limits: Limits) -> Iterator[Finding]:
    """Find `3 * max_repeats` calls that write the same long content, or the same note, or pay or send the same, with only calls between them that change nothing.

    Their results may differ: a file grows by a copy each time, and each booking has another id.
    """
    least = Rule.REPEATED_CHANGE.least(limits)
    times = Counter([call.arguments_id for call in calls if call is not None])
    if max(times.values(), default=0) < least:
        return
    yield from _repeated_acts(calls, least)
    run: list[int] = []
    last: int | None = None  #: the arguments of the change that is repeated
    for index, call in enumerate((*calls, None)):
        arguments = call.arguments_id if call is not None and _is_change(call) else None
        if arguments is not None and arguments == last:
            run.append(index)
        elif call is None or not is_read_only(call):
            if len(run) >= least:
                yield Finding.by(Rule.REPEATED_CHANGE, run, least)
            run, last = [index] if arguments is not None else [], arguments


def _repeated_acts(calls: Sequence[Call | None], least: int) -> Iterator[Finding]:
    """Find equal payments and messages, however short, with results that are equal but for numbers and ids.

    Only calls that read what is known lie between them.
    """
    run: list[int] = []
    last: tuple[int, str] | None = None  #: arguments and result of the call that is repeated
    known: set[tuple[int, str | None]] = set()
    for index, call in enumerate((*calls, None)):
        act = _act(call)
        read = (call.arguments_id, call.result.text) if call and is_read_only(call) else None
        if act is not None and act == last:
            run.append(index)
        elif act is not None or read not in known:
            if len(run) >= least:
                yield Finding.by(Rule.REPEATED_CHANGE, run, least)
            run, last = [index] if act is not None else [], act
        if read is not None:
            known.add(read)


def _act(call: Call | None) -> tuple[int, str] | None:
    """Return the arguments of a payment or a message that succeeded, and its result without numbers and ids other than what is left to pay; None for another call."""
    if call is None or not acts_outside(call) or call.result.is_unsuccessful:
        return None
    text = call.result.text
    if text is None or len(text) > _CONFIRMATION_CHARACTERS:
        return None
    may_be_part = pays(call.tool) or moves_money(call.tool)
    rests = (
        [next(filter(None, found.groups()), "") for found in _rests(text)] if may_be_part else ()
    )
    return call.arguments_id, " ".join((_NUMBERED.sub("#", text), *rests))


def _is_change(call: Call) -> bool:
    is_content = len(call.arguments.key) >= _CHARACTERS or takes_notes(call.tool)
    return is_content and writes(call) and not call.result.has_failed
