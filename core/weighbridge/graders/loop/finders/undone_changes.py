"""Loops of changes that are undone: a file is edited and put back again and again, and no check in between shows anything new."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from weighbridge.graders.loop.finders.findings import Finding
from weighbridge.graders.loop.finders.rules import Rule
from weighbridge.graders.loop.history.arguments import canonical
from weighbridge.graders.loop.history.call_kinds import is_command, is_read_only
from weighbridge.graders.loop.history.failures import without_places
from weighbridge.graders.loop.history.tool_names import is_editor

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge.graders.loop.history.actions import Call
    from weighbridge.graders.loop.work_budget import Limits

_FEWEST = 2  #: arguments of an edit
_COMMAND_CHARACTERS = 400  #: a longer command does more than to put files back
_RESTORES = re.compile(r"\bgit (?:checkout|restore|reset --hard|stash)\b(?! -[bB]\b)")
#: Beginnings of the names of an edit's arguments, and ends of those that are flags.
_OLD, _NEW = ("old", "search"), ("new", "replace")
_FLAGS = ("all", "count", "once")


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
