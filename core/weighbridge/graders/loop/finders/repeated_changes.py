"""Loops of one change that is made again and again: the same edit, letter, booking or payment, although each succeeds."""

from __future__ import annotations

import re
from collections import Counter
from itertools import compress, pairwise
from operator import or_
from typing import TYPE_CHECKING

from weighbridge.graders.loop.finders.findings import Finding
from weighbridge.graders.loop.finders.rules import Rule
from weighbridge.graders.loop.finders.sequences.known_ranges import ranges
from weighbridge.graders.loop.history.actions import calls_at
from weighbridge.graders.loop.history.call_kinds import (
    acts_outside,
    is_abridged,
    is_read_only,
    writes,
)
from weighbridge.graders.loop.history.request_words import values_of
from weighbridge.graders.loop.history.tool_names import (
    is_overwriting_tool,
    moves_money,
    named_like,
    pays,
    takes_notes,
)
from weighbridge.graders.loop.linear_patterns import linear
from weighbridge.graders.loop.work_budget import WorkBudget

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge.graders.loop.history.actions import Call
    from weighbridge.graders.loop.work_budget import Limits

#: Minimum length of arguments. Several equal things with short arguments, such as cards or servers, may be wanted.
_CHARACTERS = 120
_ALIKE = 0.9  #: minimum share of common words of two contents that are nearly the same
#: Names of arguments that say which thing is written, so that it is the same one again.
_names_thing = named_like(
    re.compile(
        r"(?:^|[_\W])(?:path|file|filename|filepath|name|id|key|title|url|uri|slug|label|block|page|section|cell)(?:[_\W]|$)",
        re.IGNORECASE,
    )
)
_PER_OTHER = 2  #: changes made again for each other one between them
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
    """Find `max_repeats + 2` calls that write the same long content or note, or pay or send the same.

    Between them lie calls that change nothing, and fewer than half as many other changes. Their results may differ: a file grows
    by a copy each time, and each booking has another id. `3 * max_repeats` are needed if a file or the like is written anew with
    nearly the same content.
    """
    least = Rule.REPEATED_CHANGE.least(limits)
    changes = [index for index, call in enumerate(calls) if call is not None and _is_change(call)]
    if len(changes) >= least:
        yield from _changes_again(calls, changes, limits)
    times = Counter([call.arguments_id for call in calls if call is not None])
    if max(times.values(), default=0) >= least:
        yield from _repeated_acts(calls, least)


def _changes_again(
    calls: Sequence[Call | None], changes: Sequence[int], limits: Limits
) -> Iterator[Finding]:
    """Find changes that were made before, with others that change nothing between them."""
    budget = WorkBudget()
    for row in _undisturbed(calls, changes):
        made = calls_at(calls, row)
        equal = _made_before(made)
        found = [*_again(row, equal, Rule.REPEATED_CHANGE.least(limits))]
        least = Rule.REPEATED_CHANGE.least(limits, other=True)
        if not found and len(row) >= least:
            anew = (_rewrites(one, other, budget) for one, other in pairwise(made))
            known = [*map(or_, equal, (False, *anew))]
            found = [*_again(row, known, least)]
        yield from found


def _again(row: Sequence[int], known: Sequence[bool], least: int) -> Iterator[Finding]:
    """Find the changes that are known, with the one before them."""
    for first, last in ranges(known, _PER_OTHER, least - 1):
        indices = (row[first - 1], *compress(row[first:last], known[first:last]))
        yield Finding.by(Rule.REPEATED_CHANGE, indices, least)


def _undisturbed(calls: Sequence[Call | None], changes: Sequence[int]) -> Iterator[list[int]]:
    """Split changes where a call that may change something, or a new request, lies between two of them."""
    row: list[int] = []
    for index in changes:
        if row and not all(map(_leaves_alone, calls[row[-1] + 1 : index])):
            yield row
            row = []
        row.append(index)
    yield row


def _leaves_alone(call: Call | None) -> bool:
    return call is not None and is_read_only(call)


def _made_before(made: Sequence[Call]) -> list[bool]:
    """Return for each change whether an equal one was made before."""
    seen: set[int] = set()
    known = []
    for call in made:
        known.append(call.arguments_id in seen)
        seen.add(call.arguments_id)
    return known


def _rewrites(one: Call, other: Call, budget: WorkBudget) -> bool:
    """Return whether two calls write one thing anew, a file for instance, with nearly the same content."""
    before, after = one.arguments.value, other.arguments.value
    if (
        one.tool != other.tool
        or not is_overwriting_tool(one.tool)
        or type(before) is not dict
        or type(after) is not dict
        or before.keys() != after.keys()
    ):
        return False
    different = [name for name in before if before[name] != after[name]]
    is_named = any(_names_thing(name) for name in before if name not in different)
    if len(different) != 1 or not is_named or not budget.is_left:
        return False
    texts = before[different[0]], after[different[0]]
    if not all(type(text) is str and len(text) >= _CHARACTERS for text in texts):
        return False
    budget.count_attempt(len(one.arguments.key) + len(other.arguments.key))
    words, others = values_of(one), values_of(other)
    return len(words & others) >= _ALIKE * len(words | others)


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
    return is_content and writes(call) and not (is_abridged(call) or call.result.has_failed)
