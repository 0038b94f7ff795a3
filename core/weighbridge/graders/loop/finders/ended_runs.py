"""Loops of runs that have ended: the agent reports the work as done again and again, or its harness has stopped it."""

from __future__ import annotations

import re
from collections import Counter
from itertools import compress
from typing import TYPE_CHECKING, Any

from weighbridge.graders.loop.finders.findings import Finding
from weighbridge.graders.loop.finders.rules import Rule
from weighbridge.graders.loop.finders.sequences.stretches import ranges
from weighbridge.graders.loop.history.actions import EDIT_TOOL, calls_at
from weighbridge.graders.loop.history.call_kinds import claims_done, ends_work
from weighbridge.graders.loop.history.words import words_in

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence

    from weighbridge.graders.loop.history.actions import Call, Message
    from weighbridge.graders.loop.work_budget import Limits

_WORD = re.compile(r"\w+")
_PER_OTHER = 2  #: minimum endings for each other call between them
_CLAIM_WORDS = 5  #: an ending with fewer words may be of one of several things
_OWN = 0.25  #: maximum share of words that only one ending has, as one that ends something else has many
_LINE_CHARACTERS = 200
#: What aider, OpenHands, and Gemini CLI and Qwen Code say, in a line of its own, when they stop an agent.
_STOPS = re.compile(
    r"(?:only \d{1,3} reflections allowed, stopping|AgentStuckInLoopError: Agent got stuck in a loop"
    r"|a potential loop was detected\. this can happen due to repetitive tool calls or other model behavior\."
    r" the request has been halted)\.?",
    re.IGNORECASE,
)
#: What aider asks after it has applied an edit and run the tests or a linter on it.
_WAS_TESTED = re.compile(r"^Attempt to fix (?:test|lint) errors\?", re.MULTILINE)
#: What the orchestrator of Magentic-One writes after several rounds that brought no progress.
_STALLED = "Stalled."
_STALLS = re.compile(r"Stalled\.{2,8} Replanning\.{2,8}")


def repeated_endings(
    calls: Sequence[Call | None], limits: Limits, known: set[int]
) -> Iterator[Finding]:
    """Find more than `2 * max_repeats` calls of one tool that report the same work as done within one request.

    At most half as many other calls lie between. Their results only acknowledge or repeat what they say, and hardly a word of
    any is in none of the others. Calls in `known` loops are not examined.
    """
    least = Rule.ENDED_AGAIN.least(limits)
    last_of = {call.tool: call for call in calls if call is not None}
    if not any(map(ends_work, last_of.values())):
        return
    ends = [
        call is not None and index not in known and _ends(call) for index, call in enumerate(calls)
    ]
    if sum(ends) < least:
        return
    start = 0
    for index, call in enumerate((*calls, None)):
        if call is None:
            for first, last in ranges(ends[start:index], _PER_OTHER, least):
                places = range(start + first, start + last)
                found = [*compress(places, ends[places.start : places.stop])]
                if _end_the_same(calls_at(calls, found)):
                    yield Finding.by(Rule.ENDED_AGAIN, found, least)
            start = index + 1


def _ends(call: Call) -> bool:
    """Return whether a call ends the work with a sentence, and its result says nothing of its own."""
    if not claims_done(call) or call.arguments.texts.count(" ") < _CLAIM_WORDS - 1:
        return False
    return not (call.result.is_long or call.result.has_failed)


def _end_the_same(made: Sequence[Call]) -> bool:
    said = [frozenset(words_in(call.arguments.texts.casefold(), _WORD)) for call in made]
    counts = Counter(word for words in said for word in words)
    own = sum(sum(counts[word] == 1 for word in words) / max(1, len(words)) for words in said)
    return len({call.tool for call in made}) == 1 and own <= _OWN * len(made)


def stopped_runs(
    turns: Sequence[Message], limits: Limits, looped_ids: Container[Any]
) -> Iterator[Finding]:
    """Find the last `max_repeats + 1` answers to one request before a harness says that it has stopped the agent in a loop.

    It says so in the last line of its reply to an answer, or of the result of an edit that is written in one, or, as the
    orchestrator of several agents, at the beginning of a message of its own. If calls of the answers are in loops
    (`looped_ids`), these tell it already. An edit that was applied and tested is no repeat, however few of them are allowed.
    """
    begin = 0  #: after the last answers that were found
    for index, turn in enumerate(turns):
        if index - begin < limits.max_repeats or not _is_stopped(turn):
            continue
        first = index - limits.max_repeats
        made = (call.step.id for at in range(first, index + 1) for call in turns[at].calls)
        is_one_request = turns[first].requests_before == turn.requests_before
        was_tested = any(
            _WAS_TESTED.search(turns[at].reply or "") for at in range(first, index + 1)
        )
        is_new = not (was_tested or any(each in looped_ids for each in made))
        if is_one_request and is_new:
            begin = index + 1
            least = Rule.STOPPED.least(limits)
            yield Finding.by(Rule.STOPPED, range(first, index + 1), least)


def _is_stopped(turn: Message) -> bool:
    if turn.reply and (_is_stall(turn.reply) or _is_stop(turn.reply)):
        return True
    edits = [call.result.text for call in turn.calls if call.tool == EDIT_TOOL]
    return _is_stall(turn.text) or any(map(_is_stop, edits))


def _is_stall(text: str) -> bool:
    return text.startswith(_STALLED) and _STALLS.match(text) is not None


def _is_stop(text: str | None) -> bool:
    if not text:
        return False
    last_line = text[-_LINE_CHARACTERS:].rstrip().rpartition("\n")[2].strip()
    return _STOPS.fullmatch(last_line) is not None
