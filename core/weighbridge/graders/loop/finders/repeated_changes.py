"""Loops of changes that come to nothing: made again with the same content, or undone."""

from __future__ import annotations

import re
from collections import Counter
from itertools import compress, pairwise
from operator import or_
from typing import TYPE_CHECKING

from weighbridge.graders.loop.finders.findings import Finding
from weighbridge.graders.loop.finders.rules import Rule
from weighbridge.graders.loop.finders.sequences.stretches import ranges
from weighbridge.graders.loop.history.actions import calls_at
from weighbridge.graders.loop.history.arguments import canonical
from weighbridge.graders.loop.history.call_kinds import (
    acts_outside,
    is_abridged,
    is_command,
    is_read_only,
    writes,
)
from weighbridge.graders.loop.history.failures import without_places
from weighbridge.graders.loop.history.request_words import values_of
from weighbridge.graders.loop.history.tool_names import (
    is_editor,
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
_FEWEST = 2  #: arguments of an edit
_COMMAND_CHARACTERS = 400  #: a longer command does more than to put files back
_RESTORES = re.compile(r"\bgit (?:checkout|restore|reset --hard|stash)\b(?! -[bB]\b)")
#: Beginnings of the names of an edit's arguments, and ends of those that are flags.
_OLD, _NEW = ("old", "search"), ("new", "replace")
_FLAGS = ("all", "count", "once")


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


def undone_changes(
    calls: Sequence[Call | None], limits: Limits, known: set[int]
) -> Iterator[Finding]:
    """Find `2 * max_repeats` edits that are undone, by the reverse edit or by a command that restores files.

    Between them lie only other edits, calls that only read, and checks with a result that their tool gave before. Calls in
    `known` loops are not examined.
    """
    least = Rule.UNDONE_CHANGES.least(limits)
    tools = {tool for tool in {call.tool for call in calls if call is not None} if is_editor(tool)}
    if not tools:
        return
    edits_of = _Edits()
    replaced = [
        edits_of.replaced_by(call) if call is not None and call.tool in tools else None
        for call in calls
    ]
    pairs = {(each[0], each[1]) for each in replaced if each is not None}
    reverse = sum((each[1], each[0]) in pairs for each in replaced if each is not None)
    if not pairs or (reverse <= least and not any(map(_restores, calls))):
        return
    edits = [_edit_of(*each) for each in zip(calls, replaced, strict=True)]
    made: set[tuple[str, str, bytes]] = set()
    shown: set[tuple[str, str]] = set()
    run: list[int] = []
    undone = changed = 0
    for index, (call, edit) in enumerate(zip((*calls, None), (*edits, None), strict=True)):
        if call is not None and edit is not None:
            old, new, rest = edit
            is_undo = (new, old, rest) in made
            made.discard((new, old, rest))
            if not is_undo:
                made.add(edit)
            changed += not is_undo
        else:
            is_undo = changed > 0 and _restores(call)
            changed = 0 if is_undo else changed
            is_check = not is_undo and (call is None or not is_read_only(call))
            result = (call.tool, without_places(call.result.masked)) if call and is_check else None
            if is_check and (result is None or result not in shown or index in known):
                if undone >= least:
                    yield Finding.by(Rule.UNDONE_CHANGES, run, least, count=undone)
                run, undone, changed = [], 0, 0
                made.clear()
            if result is not None:
                shown.add(result)
        if edit is not None or is_undo:
            run.append(index)
            undone += is_undo


class _Edits:
    """Recognition of edits by the names of their arguments, which most calls of a tool share."""

    def __init__(self) -> None:
        self._names: dict[tuple[object, ...], tuple[str, str] | None] = {}

    def replaced_by(self, call: Call) -> tuple[str, str, str, str] | None:
        """Return the text that an edit replaces, the new one, and the names of these arguments; None for any other call."""
        given = call.arguments.value
        if type(given) is not dict or len(given) < _FEWEST:
            return None
        shape = tuple(given)
        if shape not in self._names:
            self._names[shape] = _names_in(shape)
        names = self._names[shape]
        if names is None:
            return None
        before, after = given[names[0]], given[names[1]]
        is_text = type(before) is str and type(after) is str
        return (before, after, *names) if is_text else None


def _names_in(shape: tuple[object, ...]) -> tuple[str, str] | None:
    """Return the names of the old and the new text, if there is one of each; flags such as `replace_all` are none."""
    named = [name for name in shape if type(name) is str and not name.endswith(_FLAGS)]
    old = [name for name in named if name.startswith(_OLD)]
    new = [name for name in named if name.startswith(_NEW)]
    return (old[0], new[0]) if len(old) == len(new) == 1 else None


def _edit_of(
    call: Call | None, replaced: tuple[str, str, str, str] | None
) -> tuple[str, str, bytes] | None:
    """Return the text that an edit replaces, the new one, and its other arguments; None for an edit that changes nothing."""
    if call is None or replaced is None:
        return None
    before, after, *names = replaced
    if before == after or call.result.is_unsuccessful:
        return None
    rest = {name: value for name, value in call.arguments.value.items() if name not in names}
    return before, after, canonical(rest)


def _restores(call: Call | None) -> bool:
    """Return whether a call is a command that puts files back as they were."""
    if call is None:
        return False
    key = call.arguments.key
    return (
        b"git " in key
        and len(key) <= _COMMAND_CHARACTERS
        and is_command(call)
        and _RESTORES.search(call.arguments.texts) is not None
        and not call.result.is_unsuccessful
    )
