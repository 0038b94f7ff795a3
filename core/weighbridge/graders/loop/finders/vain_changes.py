"""Loops of changes and runs: whatever is changed, and however it is run, it fails for one reason."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING

from weighbridge.graders.loop.finders.findings import Finding
from weighbridge.graders.loop.finders.returning_reasons import reasons_in
from weighbridge.graders.loop.finders.rules import Rule
from weighbridge.graders.loop.finders.unchanged_failures import move_on
from weighbridge.graders.loop.history.actions import calls_at
from weighbridge.graders.loop.history.call_kinds import claims_done, is_trial, is_wait, writes
from weighbridge.graders.loop.history.failure_lines import last_line
from weighbridge.graders.loop.history.failures import without_places
from weighbridge.graders.loop.history.progress import count_one_way
from weighbridge.graders.loop.work_budget import WorkBudget

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from weighbridge.graders.loop.history.actions import Call
    from weighbridge.graders.loop.work_budget import Limits

_BETWEEN = 5  #: maximum other calls between two runs
_SHARE = 3 / 4  #: minimum share of runs that fail for the reason
_SAME = 1 / 2  #: maximum share of different lines with the reason, apart from places in files
_CHANGED = 1 / 2  #: minimum share of runs before which something was changed


def vain_changes(
    calls: Sequence[Call | None], limits: Limits, known: set[int]
) -> Iterator[Finding]:
    """Find `3 * max_repeats` runs in a row that fail for one reason, with changes between most of them.

    At most `_BETWEEN` other calls lie between two runs, none of which waits, and no run succeeds. Runs in `known` loops are
    not examined, nor are those that fail in another place or with a smaller number each time.
    """
    least = Rule.VAIN_CHANGES.least(limits)
    if sum(call is not None and call.result.has_failed for call in calls) < least:
        return
    budget = WorkBudget()
    for chain in _chains(calls):
        if len(chain) < least or not known.isdisjoint(chain):
            continue
        found: defaultdict[str, dict[int, str]] = defaultdict(dict)
        for index in chain:
            call = calls[index]
            if call and budget.is_left:
                for reason, line in reasons_in(call.result.masked, budget).items():
                    found[reason][index] = line
        most = max(found.values(), key=len, default={})
        runs = list(most)
        is_often = len(runs) >= max(least, _SHARE * len(chain))
        if is_often and _are_changed(calls, runs) and not _get_on(calls, most):
            yield Finding.by(Rule.VAIN_CHANGES, runs, least)


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


def _get_on(calls: Sequence[Call | None], runs: Mapping[int, str]) -> bool:
    """Return whether runs, with the lines that say why they fail, fail elsewhere each time, or in fewer things."""
    made = calls_at(calls, runs)
    return (
        len(set(map(without_places, runs.values()))) > _SAME * len(runs)
        or move_on(made)
        or count_one_way([last_line(call.result.text or "") for call in made])
    )
