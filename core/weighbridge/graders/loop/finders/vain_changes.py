"""Loops of changes and runs: whatever is changed, and however it is run, it fails for one reason."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING

from weighbridge.graders.loop.finders.findings import SAME_FAILURE, Finding
from weighbridge.graders.loop.finders.returning_reasons import reasons_in
from weighbridge.graders.loop.history.call_kinds import claims_done, is_trial, is_wait, writes
from weighbridge.graders.loop.work_budget import WorkBudget

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge.graders.loop.history.actions import Call
    from weighbridge.graders.loop.work_budget import Limits

_OFTEN = 3  #: multiple of `max_repeats` from which runs that fail for one reason are a loop
_BETWEEN = 5  #: maximum other calls between two runs
_SHARE = 3 / 4  #: minimum share of runs that fail for the reason
_CHANGED = 1 / 2  #: minimum share of runs before which something was changed


def vain_changes(
    calls: Sequence[Call | None], limits: Limits, known: set[int]
) -> Iterator[Finding]:
    """Find `3 * max_repeats` runs in a row that fail for one reason, with changes between most of them.

    At most `_BETWEEN` other calls lie between two runs, none of which waits, and no run succeeds. Runs in `known` loops are
    not examined.
    """
    least = _OFTEN * limits.max_repeats
    if sum(call is not None and call.result.has_failed for call in calls) < least:
        return
    budget = WorkBudget()
    for chain in _chains(calls):
        if len(chain) < least or not known.isdisjoint(chain):
            continue
        found: defaultdict[str, list[int]] = defaultdict(list)
        for index in chain:
            call = calls[index]
            for reason in reasons_in(call.result.masked, budget) if call and budget.is_left else ():
                found[reason].append(index)
        most = max(found.values(), key=len, default=[])
        if len(most) >= max(least, _SHARE * len(chain)) and _are_changed(calls, most):
            yield Finding(SAME_FAILURE, None, tuple(most))


def _chains(calls: Sequence[Call | None]) -> Iterator[list[int]]:
    """Yield the indices of runs that fail, split where one succeeds, and at requests, waits and many other calls."""
    chain: list[int] = []
    for index, call in enumerate(calls):
        is_over = call is None or is_wait(call) or (chain and index - chain[-1] > _BETWEEN + 1)
        if is_over or (call is not None and is_trial(call) and not call.result.is_unsuccessful):
            yield chain
            chain = []
        if call is not None and is_trial(call) and call.result.has_failed and not claims_done(call):
            chain.append(index)
    yield chain


def _are_changed(calls: Sequence[Call | None], runs: Sequence[int]) -> bool:
    """Return whether something was written before most runs, or by them."""
    changed = sum(
        any(call is not None and writes(call) for call in calls[one + 1 : other + 1])
        for one, other in pairwise(runs)
    )
    return changed >= _CHANGED * (len(runs) - 1)
