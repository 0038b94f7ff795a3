"""Loops of questions to a tool that fails in one way whatever it is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weighbridge.graders.loop.finders.findings import Finding
from weighbridge.graders.loop.finders.rules import Rule
from weighbridge.graders.loop.finders.sequences.related_attempts import message_count
from weighbridge.graders.loop.finders.sequences.request_lists import goes_through_list
from weighbridge.graders.loop.history.actions import calls_at
from weighbridge.graders.loop.history.call_kinds import has_question, is_read_only, is_wait, writes
from weighbridge.graders.loop.history.failures import reports_outage
from weighbridge.graders.loop.history.tool_names import takes_notes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge.graders.loop.history.actions import Call
    from weighbridge.graders.loop.work_budget import Limits

_MESSAGES = 2  #: messages more than `max_repeats` in which such calls lie: those of one message are made before any result
_WORKED = 1 / 3  #: maximum number of other calls between that worked, for each that fails


def broken_tools(calls: Sequence[Call | None], limits: Limits) -> Iterator[Finding]:
    """Find `2 * max_repeats + 1` questions to a tool, in `max_repeats + 2` messages or more, that fail alike but for noise.

    Between them the tool does not work, nothing is written or waited for, the user writes nothing, and few other calls work, as
    these may answer the same questions. A service that is down may be back each time, and each command is another program.
    """
    least = Rule.BROKEN_TOOL.least(limits)
    has_enough = sum(call is not None and call.result.has_failed for call in calls) >= least
    if not has_enough:  # as in most runs
        return
    failing: dict[str, list[int]] = {}  #: indices of the last failures of each tool
    said: dict[str, str] = {}  #: how each tool failed last, without noise

    def ended(tools: Sequence[str]) -> Iterator[Finding]:
        for tool in tools:
            found = failing.pop(tool, [])
            if len(found) >= least and _is_loop(calls, found, limits):
                yield Finding.by(Rule.BROKEN_TOOL, found, least)

    for index, call in enumerate(calls):
        if call is None or is_wait(call):
            yield from ended([*failing])
        elif call.result.has_failed:
            if _asks(call):
                text = call.result.masked
                if said.get(call.tool) != text:
                    yield from ended([call.tool])
                said[call.tool] = text
                failing.setdefault(call.tool, []).append(index)
        elif writes(call) and not takes_notes(call.tool):
            yield from ended([*failing])
        else:
            yield from ended([call.tool])
    yield from ended([*failing])


def _asks(call: Call) -> bool:
    is_question = call.command is None and (has_question(call) or is_read_only(call))
    return is_question and not reports_outage(call.result)


def _is_loop(calls: Sequence[Call | None], found: Sequence[int], limits: Limits) -> bool:
    row = calls_at(calls, found)
    between = calls[found[0] : found[-1] + 1]
    worked = sum(call is not None and not call.result.has_failed for call in between)
    is_aware = message_count(row) >= limits.max_repeats + _MESSAGES
    return is_aware and worked <= _WORKED * len(found) and not goes_through_list(row)
