"""Loops of one call that is retried after it failed, although nothing between could have fixed the failure."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from weighbridge.graders.loop.finders.findings import Finding
from weighbridge.graders.loop.finders.rules import Rule
from weighbridge.graders.loop.history.call_kinds import is_read_only, is_trial, is_wait
from weighbridge.graders.loop.history.failures import reports_delay
from weighbridge.graders.loop.history.result_kinds import refuses_edit

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge.graders.loop.history.actions import Call
    from weighbridge.graders.loop.work_budget import Limits

_READS_BETWEEN = 5  #: maximum read-only calls between two attempts
_CALLS_BETWEEN = 2  #: maximum other calls between two attempts


def retried_failures(
    calls: Sequence[Call | None], row: list[int], limits: Limits
) -> Iterator[Finding]:
    """Find one call that fails repeatedly in the same way, without calls between that could have fixed it."""
    effects = CallEffects()
    attempts: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    often = Counter(row)
    if max(often.values(), default=0) <= limits.max_repeats:
        return
    for index, call in enumerate(calls):
        # A result that is not recorded has the number of the one before it.
        if call is None or call.result.text is None:
            continue
        if often[row[index]] > limits.max_repeats:
            attempts[call.arguments_id, row[index]].append(index)
    for indices in attempts.values():
        call = calls[indices[0]]
        if len(indices) > limits.max_repeats and call is not None and call.result.is_unsuccessful:
            for chain in chains_of_attempts(
                calls, indices, effects, changes=_changes_between(call)
            ):
                least = _least(call, chain, limits)
                if len(chain) >= least:
                    yield Finding.by(Rule.RETRIED_FAILURE, chain, least)


def failures_across_requests(
    calls: Sequence[Call | None], row: list[int], limits: Limits
) -> Iterator[Finding]:
    """Find one call, other than a trial, that fails alike `max_repeats + 2` times, although the user or a harness wrote between.

    `max_repeats` of them are made within one request. No two calls in sequence between them succeed, and none waits.
    """
    often = Counter(row)
    least = Rule.FAILURE_ACROSS_REQUESTS.least(limits)
    if max(often.values(), default=0) < least:
        return
    requests = [*accumulate(call is None for call in calls)]
    for failed in _failing(calls):
        attempts: defaultdict[tuple[int | None, int], list[int]] = defaultdict(list)
        for index, call in failed if len(failed) >= least else ():
            if _changes_between(call):
                # An edit is refused for its text, so that nearly the same one is the same attempt.
                is_edit = refuses_edit(call.result.text or "")
                attempts[None if is_edit else call.arguments_id, row[index]].append(index)
        for indices in attempts.values():
            attempt = calls[indices[0]]
            if attempt is None:
                continue
            enough = max(least, _least(attempt, indices, limits))
            if len(indices) < enough:
                continue
            within_one = max(Counter([requests[index] for index in indices]).values())
            if within_one >= limits.max_repeats:
                yield Finding.by(Rule.FAILURE_ACROSS_REQUESTS, indices, enough)


def _failing(calls: Sequence[Call | None]) -> Iterator[list[tuple[int, Call]]]:
    """Yield the calls that fail in rows between which two calls in sequence succeed, or one waits."""
    effects = CallEffects()
    failed: list[tuple[int, Call]] = []
    succeeded = 0
    for index, call in enumerate(calls):
        if call is None:
            continue
        is_wait = effects.starts_over(call)
        succeeded = 0 if call.result.is_unsuccessful else succeeded + 1
        if not succeeded and not is_wait:
            failed.append((index, call))
        elif failed and (succeeded > 1 or is_wait):
            yield failed
            failed = []
    yield failed


def _least(attempt: Call, chain: Sequence[int], limits: Limits) -> int:
    """Return the minimum number of attempts, higher for a service that was slow or busy if there are calls between.

    That may pass by itself, so that trying again after some other work is sensible.
    """
    is_in_row = chain[-1] - chain[0] < len(chain)
    is_temporary = not is_in_row and reports_delay(attempt.result)
    return Rule.RETRIED_FAILURE.least(limits, other=is_temporary)


class CallEffects:
    """Cached classification of the calls between two attempts by what they may have changed."""

    def __init__(self) -> None:
        self._is_read_only: dict[int, bool] = {}
        self._is_wait: dict[int, bool] = {}

    def changes_nothing(self, call: Call | None) -> bool:
        """Return whether a call that failed before this call still fails after it."""
        if call is None:
            return False
        if call.arguments_id not in self._is_read_only:
            self._is_read_only[call.arguments_id] = is_read_only(call)
        return self._is_read_only[call.arguments_id] or call.result.is_unsuccessful

    def starts_over(self, call: Call | None) -> bool:
        """Return whether this is a wait or a new request, after which a call that failed before may succeed."""
        if call is None:
            return True
        if call.arguments_id not in self._is_wait:
            self._is_wait[call.arguments_id] = is_wait(call)
        return self._is_wait[call.arguments_id]


def _changes_between(attempt: Call) -> int:
    """Return how many calls that may change something, but rarely fix a failure, may lie between two attempts.

    None may if the attempt is a trial such as a test run, has no arguments, or did not fail but found nothing, because it
    may then be repeated after any change.
    """
    has_arguments = attempt.arguments.key not in (b"{}", b"null")
    is_persistent = attempt.result.has_failed and has_arguments and not is_trial(attempt)
    return _CALLS_BETWEEN if is_persistent else 0


def chains_of_attempts(
    calls: Sequence[Call | None], indices: Sequence[int], effects: CallEffects, *, changes: int
) -> Iterator[list[int]]:
    """Split attempts where too many calls, or one that may have fixed the failure, lie between them.

    Up to `_READS_BETWEEN` calls that change nothing may lie between, and of other calls as many as `changes`.
    """
    chain = [*indices[:1]]
    for earlier, later in pairwise(indices):
        # Attempts may be far apart: the calls between are examined only if they are few.
        between = calls[earlier + 1 : min(later, earlier + _READS_BETWEEN + 2)]
        limit = _READS_BETWEEN if all(map(effects.changes_nothing, between)) else changes
        if len(between) > limit or any(map(effects.starts_over, between)):
            yield chain
            chain = []
        chain.append(later)
    yield chain
