"""Attempts after which a harness stopped the agent, because it got no further."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from weighbridge.graders.loop.finders.findings import Finding
from weighbridge.graders.loop.finders.rules import Rule
from weighbridge.graders.loop.history.actions import EDIT_TOOL

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence

    from weighbridge.graders.loop.history.actions import Message
    from weighbridge.graders.loop.work_budget import Limits

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
