"""Loops of calls in a row that bring nothing back at all, although most of them usually print something."""

from __future__ import annotations

import re
from itertools import compress, groupby
from typing import TYPE_CHECKING

from weighbridge.graders.loop.finders.findings import Finding
from weighbridge.graders.loop.finders.rules import Rule
from weighbridge.graders.loop.finders.sequences.request_lists import goes_through_list
from weighbridge.graders.loop.history.actions import calls_at
from weighbridge.graders.loop.history.call_kinds import is_wait, prints, writes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge.graders.loop.history.actions import Call
    from weighbridge.graders.loop.work_budget import Limits

_PROMPT_CHARACTERS = 400
#: A shell's prompt, with what was typed after it.
_PROMPT = re.compile(r"\s*[\w.-]{1,60}@[\w.-]{1,80}:[^\s$#]{0,200}[$#](?: [^\n]{0,300})?\s*")


def silent_rows(calls: Sequence[Call | None], limits: Limits) -> Iterator[Finding]:
    """Find `3 * max_repeats` calls in a row that usually print something, and print nothing, whatever was edited between.

    Other calls of their tools print something, so that the trace has their results.
    An empty list is an answer, and calls that go through a list may each have none.
    """
    least = Rule.SILENCE.least(limits)
    silent = [
        call is not None
        and ((text := call.result.text) is None or len(text) <= _PROMPT_CHARACTERS)
        and _is_silent(call)
        for call in calls
    ]
    if sum(silent) < least:
        return
    speaking = {
        call.tool
        for call, is_quiet in zip(calls, silent, strict=True)
        if call is not None and not is_quiet
    }
    for is_silent, group in groupby(range(len(calls)), silent.__getitem__):
        found = [*group] if is_silent else []
        if len(found) < least:
            continue
        row = calls_at(calls, found)
        printing = [call.result.text is not None and prints(call) for call in row]
        made = [*compress(row, printing)]
        is_heard = any(call.tool in speaking for call in made)
        if len(made) >= least and is_heard and not goes_through_list(made):
            yield Finding.by(Rule.SILENCE, compress(found, printing), least)


def _is_silent(call: Call) -> bool:
    """Return whether the result of a call, which is short, is empty, or not recorded for an edit."""
    text = call.result.text
    if text is None:
        return not call.result.omits_image and writes(call)
    is_silent = ("@" in text and _PROMPT.fullmatch(text) is not None) or not text.strip()
    return is_silent and not is_wait(call)
