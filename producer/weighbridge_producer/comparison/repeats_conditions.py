"""Pairs of repeats of two runs, to compare the conditions under which they were graded."""

from __future__ import annotations

from collections import defaultdict, deque
from operator import attrgetter
from typing import TYPE_CHECKING

from weighbridge_producer.comparison.pairs import Pair

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weighbridge_producer.comparison.compared_results import Entry

_REPEATS_LIMIT = 1_000  #: per case and run, so that a case of all results does not fill the memory


class GradedRepeats:
    """The graded repeats of one case in each run."""

    def __init__(self, runs: int) -> None:
        self._runs: list[list[Entry]] = [[] for _ in range(runs)]

    def add(self, run: int, entry: Entry) -> None:
        """Keep a repeat of a run, if it was graded and is not one of too many."""
        if entry.receipt and len(self._runs[run]) < _REPEATS_LIMIT:
            self._runs[run].append(entry)

    def pairs(self, run: int) -> Iterator[Pair]:
        """Yield the repeats of the first run, each with one of another run: with the same custom_id if there is one."""
        first, second = (sorted(self._runs[n], key=attrgetter("line")) for n in (0, run))
        named: dict[str | None, deque[Entry]] = defaultdict(deque)
        for entry in second:
            named[entry.custom_id].append(entry)
        unpaired = []
        for entry in first:
            if same := named[entry.custom_id]:
                yield _pair(entry, same.popleft())
            else:
                unpaired.append(entry)
        # Repeats under a metadata field may have other ids in each run.
        left = sorted((entry for same in named.values() for entry in same), key=attrgetter("line"))
        for before, after in zip(unpaired, left, strict=False):
            yield _pair(before, after)


def _pair(before: Entry, after: Entry) -> Pair:
    return Pair(before.custom_id or "", before.label, before, after)
