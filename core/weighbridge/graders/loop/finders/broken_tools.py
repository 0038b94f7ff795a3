"""Loops of calls of a tool that fails in one way whatever it is asked, and has not worked since."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weighbridge.graders.loop.finders.findings import Finding
from weighbridge.graders.loop.finders.rules import Rule
from weighbridge.graders.loop.finders.sequences.request_lists import goes_through_list
from weighbridge.graders.loop.history.call_kinds import runs_code, writes
from weighbridge.graders.loop.history.tool_names import takes_notes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge.graders.loop.history.actions import Call
    from weighbridge.graders.loop.work_budget import Limits

_MESSAGES = 2  #: messages more than `max_repeats` in which such calls lie: those of one message cannot know of each other


def broken_tools(calls: Sequence[Call | None], limits: Limits) -> Iterator[Finding]:
    """Find `2 * max_repeats + 1` calls of a tool, in `max_repeats + 2` messages or more, whose failures are the same but for noise.

    The tool does not work between them, nothing is written, and the user writes nothing. Commands and code are left out, as
    each is another program.
    """
    least = Rule.BROKEN_TOOL.least(limits)
    failing: dict[str, tuple[str, list[int]]] = {}

    def ended(*tools: str) -> Iterator[Finding]:
        for tool in tools or [*failing]:
            _, found = failing.pop(tool, ("", []))
            if len(found) < least:
                continue
            row = [call for at in found if (call := calls[at])]
            messages = {call.message or call.step.id for call in row}
            # Some sources have all calls of a turn in one message, also those that followed the results of others.
            is_aware = len(messages) >= limits.max_repeats + _MESSAGES or found[-1] - found[
                0
            ] >= len(found)
            if is_aware and not goes_through_list(row):
                yield Finding.by(Rule.BROKEN_TOOL, found, least)

    for index, call in enumerate(calls):
        if call is None:
            yield from ended()
        elif call.command is not None or runs_code(call):
            continue
        elif not call.result.has_failed:
            is_change = writes(call) and not takes_notes(call.tool)
            yield from ended() if is_change else ended(call.tool)
        else:
            said = call.result.masked
            before = failing.get(call.tool)
            if before is not None and before[0] != said:
                yield from ended(call.tool)
            failing.setdefault(call.tool, (said, []))[1].append(index)
    yield from ended()
