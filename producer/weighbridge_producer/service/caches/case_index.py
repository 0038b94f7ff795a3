"""Index of a batch's cases in input order: the outcome of each, and the location of its results.

The store has results by chunk, in the order in which they were graded, because keeping cases sorted there would add a
cost to each job. The index is built from the results on demand, takes about 24 bytes per case, and can be extended.
"""

from __future__ import annotations

from array import array
from bisect import insort
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from weighbridge.jobs.chunk import ChunkId
from weighbridge.jobs.outcome import Outcome
from weighbridge.jobs.result_line import JobProfile
from weighbridge.jobs.result_line_parts import profile_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from weighbridge.store import Store
    from weighbridge.store.result_filter import ResultFilter

#: distinct profiles of cases; beyond half of them, causes are no longer distinguished
PROFILES_LIMIT = 65_535
_CHUNKS_AT_ONCE = 8
_ENTRIES_AT_ONCE = 1_000
_NO_SCORE = inf  #: for cases without a score, which are sorted last

CaseProfile = tuple[JobProfile, ...]  #: of a case's jobs


class _Block:
    """The cases of one chunk."""

    __slots__ = ("ends", "lines", "name", "profiles", "scores", "start", "starts")

    def __init__(self, name: str) -> None:
        self.name = name
        self.start = ChunkId.parse(name).start
        self.lines, self.starts, self.ends = array("Q"), array("I"), array("I")
        self.profiles, self.scores = array("H"), array("f")


class RowRange(NamedTuple):
    """The location of a case's results: a chunk, and the byte range in its results."""

    chunk: str
    start: int
    end: int


class CaseIndex:
    """The cases of a batch at one moment, numbered from 0 in input order."""

    def __init__(
        self, blocks: Sequence[_Block], profiles: Sequence[CaseProfile], *, is_folded: bool
    ) -> None:
        self._blocks = blocks
        self._profiles = profiles
        self.is_folded = is_folded  #: True if the profiles of some cases are incomplete
        self._firsts = array("I")
        total = 0
        for block in blocks:
            self._firsts.append(total)
            total += len(block.lines)
        self.total = total

    @staticmethod
    def none() -> array[int]:
        """Return an empty selection."""
        return array("I")

    def select(self, wanted: ResultFilter) -> array[int]:
        """Return the numbers of the cases with a job that matches a filter, in input order."""
        chosen = {
            number
            for number, profile in enumerate(self._profiles)
            if any(map(wanted.admits, profile))
        }
        if len(chosen) == len(self._profiles):
            return array("I", range(self.total))
        found = array("I")
        for first, block in zip(self._firsts, self._blocks, strict=True):
            found.extend(
                first + at for at, profile in enumerate(block.profiles) if profile in chosen
            )
        return found

    def failures_first(self, cases: Collection[int]) -> array[int]:
        """Sort cases by the worst outcome of their jobs; the sort is stable."""
        ranks = [
            min((job.outcome.rank for job in profile), default=0) for profile in self._profiles
        ]
        of_cases = array("B")
        for block in self._blocks:
            of_cases.extend(map(ranks.__getitem__, block.profiles))
        by_rank = [array("I") for _ in Outcome]
        for case in cases:
            by_rank[of_cases[case]].append(case)
        return _joined(by_rank)

    def by_score(self, cases: Collection[int]) -> array[int]:
        """Sort cases by the lowest score of their jobs, rounded to 0.001, those without a score last; stable."""
        scores = array("f")
        for block in self._blocks:
            scores.extend(block.scores)
        # A single sort of a million numbers would block all other threads.
        by_score: dict[float, array[int]] = {}
        for case in cases:
            by_score.setdefault(round(scores[case], 3), array("I")).append(case)
        return _joined([by_score[score] for score in sorted(by_score)])

    def location(self, case: int) -> RowRange:
        """Return the location of a case's results."""
        block, at = self._find(case)
        return RowRange(block.name, block.starts[at], block.ends[at])

    def profile(self, case: int) -> CaseProfile:
        """Return the outcomes of a case's jobs."""
        block, at = self._find(case)
        return self._profiles[block.profiles[at]]

    def blocks(self) -> Iterator[tuple[str, int, array[int]]]:
        """Yield each chunk with the number of its first case and the offsets of the cases' results."""
        for first, block in zip(self._firsts, self._blocks, strict=True):
            yield block.name, first, block.starts

    def of_line(self, line: int) -> list[int]:
        """Return the cases with a line number: one, or one per input file."""
        return [
            first + block.lines.index(line)
            for first, block in zip(self._firsts, self._blocks, strict=True)
            if line in block.lines
        ]

    def _find(self, case: int) -> tuple[_Block, int]:
        low, high = 0, len(self._firsts)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._firsts[middle] <= case else (low, middle)
        return self._blocks[low], case - self._firsts[low]


def _joined(parts: Sequence[array[int]]) -> array[int]:
    joined = array("I")
    for part in parts:
        joined.extend(part)
    return joined


class IndexBuilder:
    """Builds the index of a batch from its results, and extends it with new results."""

    def __init__(self, store: Store, batch: str) -> None:
        self._store = store
        self._batch = batch
        self._position = ""
        self._blocks: list[_Block] = []
        self._known: set[str] = set()
        self._numbers: dict[CaseProfile, int] = {}
        self._is_folded = False
        self.jobs = 0  #: jobs read so far

    def read_on(self) -> Iterator[int]:
        """Read the results recorded since the last call, and yield the number of jobs read from time to time."""
        while entries := self._store.read_log(self._batch, self._position, 0, _ENTRIES_AT_ONCE):
            self._position = entries[-1].position
            # After a rollback, a chunk's name may occur again.
            named = dict.fromkeys(entry.chunk for entry in entries if entry.chunk)
            names = [name for name in named if name not in self._known and ChunkId.is_name(name)]
            names = self._store.finished(self._batch, names)
            for at in range(0, len(names), _CHUNKS_AT_ONCE):
                some = names[at : at + _CHUNKS_AT_ONCE]
                for name, results in zip(some, self._store.results(self._batch, some), strict=True):
                    self._add(name, results or b"")
                yield self.jobs

    def index(self) -> CaseIndex:
        """Return the index of the results read so far."""
        return CaseIndex(tuple(self._blocks), tuple(self._numbers), is_folded=self._is_folded)

    def _add(self, name: str, results: bytes) -> None:
        block, at = _Block(name), 0
        line, begin, score = 0, 0, _NO_SCORE
        jobs: list[JobProfile] = []
        for raw in results.splitlines(keepends=True):
            number, job, own_score = _profile_of(raw)
            if jobs and (number != line or not number):
                self._close(block, line, (begin, at), tuple(jobs), score)
                jobs, begin, score = [], at, _NO_SCORE
            line = number
            jobs.append(job)
            score = score if own_score is None else min(score, own_score)
            at += len(raw)
        if jobs:
            self._close(block, line, (begin, at), tuple(jobs), score)
        self._known.add(name)
        insort(self._blocks, block, key=lambda each: each.start)

    def _close(
        self,
        block: _Block,
        line: int,
        bounds: tuple[int, int],
        profile: CaseProfile,
        score: float,
    ) -> None:
        block.lines.append(max(line, 0))
        block.starts.append(bounds[0])
        block.ends.append(bounds[1])
        block.profiles.append(self._number_of(profile))
        block.scores.append(score)
        self.jobs += len(profile)

    def _number_of(self, profile: CaseProfile) -> int:
        if profile not in self._numbers and len(self._numbers) >= PROFILES_LIMIT // 2:
            self._is_folded = True
            profile = tuple(job._replace(cause="") for job in profile)
            if profile not in self._numbers and len(self._numbers) >= PROFILES_LIMIT:
                profile = ()
        return self._numbers.setdefault(profile, len(self._numbers))


def _profile_of(line: bytes) -> tuple[int, JobProfile, float | None]:
    try:
        return profile_of(line)
    except ValueError:  # forged or corrupt
        return 0, JobProfile(None, None, Outcome.ERRORED, ""), None
