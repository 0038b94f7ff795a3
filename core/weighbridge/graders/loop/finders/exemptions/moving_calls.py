"""Calls that move: their results go back and forth, or they scroll a screen that is not recorded."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from math import inf
from typing import TYPE_CHECKING

from weighbridge.graders.loop.history.actions import calls_at
from weighbridge.graders.loop.history.call_kinds import (
    explores,
    is_abridged,
    is_read_only,
    is_wait,
    observes,
    polls,
    presses_key_again,
    scrolls,
)
from weighbridge.graders.loop.history.failures import reports_delay, reports_outage
from weighbridge.graders.loop.history.result_kinds import acknowledges
from weighbridge.graders.loop.linear_patterns import occurs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from weighbridge.graders.loop.finders.findings import Finding
    from weighbridge.graders.loop.history.actions import Call
    from weighbridge.graders.loop.work_budget import Limits

_PAGE_LINES = 5  #: fewer lines are a remark
_SPREAD = 3  #: up to how many times as many calls are searched for waits as were found
_LOOKED_AT = 3  #: maximum different things that are looked at after each wait
_LATER = 10  #: number of calls after a wait in which what was waited for is expected
_RETRIES = 2  #: multiple of `max_repeats`: the calls of a busy service after which one may succeed
_LOOKS = 4  #: multiple of `max_repeats`: the looks without waits that may go on until there is something new
_CLICKED_CHARACTERS = 100  #: of a result that says what was pressed
_NOTE_CHARACTERS = 300  #: of a result, in which a harness speaks of repeats
#: A look itself failed.
_look_failed = occurs(
    r"""\b(?:no such|not found|cannot|can't|could not|couldn't|unable|denied|unauthori[sz]ed|forbidden|invalid|usage|unknown|refused|unreachable|timed? ?out)\b"""
)
_mentions_repeats = occurs(
    r"\b(?:repeat(?:ed|edly|ing)|loop(?:s|ing)?|again and again|same (?:arguments?|calls?|parameters|inputs?|requests?|results?|outputs?)|duplicates?"
    r"|identical|already (?:been )?(?:called|made|read|tried|run|seen|requested|executed|done)|too many (?:calls|times|repeats)"
    r"|(?:call|made|read|tried|requested|executed)[^.\n]{0,60} \d{1,6} times)\b"
)
#: The same of a look, of which work may speak in its end.
_mentions_refusal = occurs(
    r"\b(?:unchanged|not changed|no changes?|not (?:been )?executed|(?:budget|limit|quota)\b.{0,30}\b(?:exhausted|exceeded|reached))\b"
)
#: Multiple of `max_repeats` from which calls are a loop that may each have shown something unseen, such as scrolling without recorded screens.
_UNSEEN = 10


def without_moves(
    findings: Sequence[Finding],
    calls: Sequence[Call | None],
    limits: Limits,
    left_out: list[Finding],
) -> Iterator[Finding]:
    """Yield the findings that do not consist mainly of moves, and those of moves in twice as many steps of one order.

    The other findings of moves are added to `left_out`.

    A step through a maze may look like the step before it, and lead elsewhere, and so may a key that erases a letter.
    Scrolling or looking at screens that are not recorded is a loop only from `10 * max_repeats` calls on.
    """
    if not findings:
        return
    moving = _moving(calls, {index for finding in findings for index in finding.indices})
    for finding in findings:
        found = calls_at(calls, finding.indices)
        moves = sum(index in moving for index in finding.indices)
        pressed = sum(presses_key_again(call) and _tells_nothing(call) for call in found)
        least = 0
        are_moves = 2 * max(moves, pressed) > len(finding.indices)
        if are_moves:
            if finding.period is None:
                left_out.append(finding)
                continue
            least = 2 * limits.least_length(finding.period)
        least = max(least, least_of_unseen(found, limits))
        if len(finding.indices) >= least:
            yield finding.with_least(least)
        elif are_moves:
            left_out.append(finding)


def least_of_explorers(found: Sequence[Call], limits: Limits) -> int:
    """Return from how many calls on such calls are a loop, if most explore, and their results only say that it was done; else 0."""
    unseen = sum(explores(call) and acknowledges(call.result.text or "") for call in found)
    return _least_of(unseen, found, limits)


def opens_new_pages(found: Sequence[Call]) -> bool:
    """Return whether a harness writes after most calls what was not there before, as after each `Next` of a list."""
    known: set[tuple[str, str]] = set()
    news = 0
    for call in found:
        if not call.shown:
            continue
        pairs = set(pairwise(call.shown.split("\n")))
        news += bool(known) and len(pairs) >= _PAGE_LINES and len(pairs - known) > len(pairs) / 2
        known |= pairs
    return 2 * news > len(found)


def has_waited(found: Sequence[int], calls: Sequence[Call | None]) -> bool:
    """Return whether calls that look at what goes on elsewhere were soon followed by one that saw something new.

    So do one to three calls that are made after each wait. Between lie only waits and other looks, and words of the user if
    there is a wait for every other look.
    """
    made = calls_at(calls, found)
    is_dense = found[-1] - found[0] < _SPREAD * len(found)
    between = [call for call in calls[found[0] : found[-1]] if call is not None] if is_dense else []
    looks = [call for call in made if not is_wait(call)]
    looks = looks or [call for call in made if polls(call)]
    looks = looks or [call for call in between if not is_wait(call)]
    asked = {call.arguments_id for call in looks}
    rounds = len(looks) / len(asked) if 0 < len(asked) <= _LOOKED_AT else inf
    waits = sum(map(is_wait, between))
    is_polled = waits >= (1 if len(asked) == 1 else rounds / 2)
    if not looks or not (is_polled or all(map(polls, looks))):
        return False
    known = {call.result.masked for call in looks}
    for call in calls[found[-1] + 1 : found[-1] + 1 + _LATER]:
        if call is None:
            if 2 * waits < len(made):
                return False
            continue
        is_look = call.arguments_id in asked or polls(call)
        if not (is_look or is_wait(call) or is_read_only(call)):
            return False
        if is_look and call.result.masked not in known:
            return not call.result.has_failed or _saw_failure(call)
    return False


def has_ended(found: Sequence[int], calls: Sequence[Call | None], limits: Limits) -> bool:
    """Return whether equal calls that succeed were soon followed by one more with another result, as when a queue is empty.

    Between lie only waits and calls that read. Looks that no wait separates are at most `4 * max_repeats`. What a harness
    says of the repeats, or an outage, is no end. So do at most `2 * max_repeats` calls of a busy service, if the next one succeeds.
    """
    made = calls_at(calls, found)
    asked = {call.arguments_id for call in made}
    if len(asked) != 1:
        return False
    is_retried = len(made) <= _RETRIES * limits.max_repeats and all(
        reports_delay(call.result) for call in made
    )
    if not is_retried and any(call.result.is_unsuccessful for call in made):
        return False
    if len(made) > _LOOKS * limits.max_repeats and observes(made[0]):
        between = [call for call in calls[found[0] : found[-1]] if call is not None]
        if 2 * sum(map(is_wait, between)) < len(made):
            return False
    known = {call.result.masked for call in made}
    for call in calls[found[-1] + 1 : found[-1] + 1 + _LATER]:
        if call is None:
            return False
        if call.arguments_id in asked:
            if call.result.masked not in known:
                return _is_end(call) and not (is_retried and call.result.is_unsuccessful)
        elif not (is_wait(call) or is_read_only(call)):
            return False
    return False


def _is_end(call: Call) -> bool:
    """Return whether a result that is new may be the end of what equal calls did or waited for."""
    said = (call.result.text or "")[:_NOTE_CHARACTERS]
    has_seen = bool(said) and (not call.result.has_failed or _saw_failure(call))
    if is_read_only(call) and (not has_seen or _mentions_refusal(said)):
        return False
    return not (_mentions_repeats(said) or reports_outage(call.result))


def _saw_failure(call: Call) -> bool:
    """Return whether a look says that what it looked at has failed, such as a build, and did not fail itself."""
    said = (call.result.text or "")[:_NOTE_CHARACTERS]
    return not (call.step.error or _look_failed(said) or reports_outage(call.result))


def least_of_unseen(found: Sequence[Call], limits: Limits) -> int:
    """Return from how many calls on such calls are a loop, if most scroll or look, at what is not recorded; 0 for any others.

    Each of them may have shown something new. So may calls of which the trace has neither the arguments nor the results.
    """
    looks = any(call.result.omits_image for call in found)
    unseen = sum(
        call.result.omits_image
        or ((looks or call.result.text is None) and scrolls(call))
        or (call.result.text is None and is_abridged(call))
        for call in found
    )
    return _least_of(unseen, found, limits)


def _tells_nothing(call: Call) -> bool:
    """Return whether a result is too short to show what is on the screen, and reports no failure."""
    return len(call.result.text or "") <= _CLICKED_CHARACTERS and not call.result.is_unsuccessful


def _least_of(unseen: int, found: Sequence[Call], limits: Limits) -> int:
    """Return from how many calls on calls are a loop, if more than half of them are of a kind that may have shown something unseen."""
    is_unseen = unseen > len(found) / 2
    return _UNSEEN * limits.max_repeats + len(found) - unseen if is_unseen else 0


def _moving(calls: Sequence[Call | None], found: Iterable[int]) -> set[int]:
    """Return the indices, among those found, of calls that had one result, then another one, and then the first again.

    Calls that only read are left out, and so are those of which one result is a failure, or all say that nothing happened.
    """
    wanted = {call.arguments_id for index in found if (call := calls[index]) is not None}
    results: defaultdict[int, list[Call]] = defaultdict(list)
    for call in calls if wanted else ():
        if call is not None and call.arguments_id in wanted and call.result.text is not None:
            had = results[call.arguments_id]
            if not had or had[-1].pair_id != call.pair_id:
                had.append(call)
    moving = {arguments for arguments, had in results.items() if _returns(had)}
    return {
        index
        for index in found
        if moving and (call := calls[index]) is not None and call.arguments_id in moving
    }


def _returns(had: Sequence[Call]) -> bool:
    if is_read_only(had[0]) or len({call.pair_id for call in had}) == len(had):
        return False
    outcomes = [call.result for call in had]
    return not (
        any(outcome.has_failed for outcome in outcomes)
        or all(outcome.is_unsuccessful for outcome in outcomes)
    )
