"""Loops of one change that is made again and again: the same edit, letter or booking, although each succeeds."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from weighbridge.graders.loop.finders.findings import Finding
from weighbridge.graders.loop.finders.rules import Rule
from weighbridge.graders.loop.history.call_kinds import is_read_only, writes
from weighbridge.graders.loop.history.tool_names import takes_notes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge.graders.loop.history.actions import Call
    from weighbridge.graders.loop.work_budget import Limits

#: Minimum length of arguments. Several equal things with short arguments, such as cards or servers, may be wanted.
_CHARACTERS = 120


def repeated_changes(calls: Sequence[Call | None], limits: Limits) -> Iterator[Finding]:
    """Find `3 * max_repeats` calls that write the same long content, or the same note, with only calls between them that change nothing.

    Their results may differ: a file grows by a copy each time, and each booking has another id.
    """
    least = Rule.REPEATED_CHANGE.least(limits)
    times = Counter([call.arguments_id for call in calls if call is not None])
    if max(times.values(), default=0) < least:
        return
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


def _is_change(call: Call) -> bool:
    is_content = len(call.arguments.key) >= _CHARACTERS or takes_notes(call.tool)
    return is_content and writes(call) and not call.result.has_failed
