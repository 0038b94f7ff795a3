"""The reliability of cases that were run several times, and its change between runs, by label."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from heapq import heappush, heapreplace
from typing import Any

from weighbridge_producer.comparison.tallies import Conditions
from weighbridge_producer.statistics import (
    Interval,
    mcnemar_exact,
    mean,
    mean_interval,
    pass_at_k,
    pass_hat_k,
)

FLAKY_SHOWN = 20  #: per label and run
_KS = (1, 2, 3, 4, 5, 8, 10, 16, 20, 32, 50, 64, 100)

Repeats = tuple[int, int]  #: how often a case was judged, and how often it passed


@dataclass(frozen=True, slots=True)
class AtK:
    """Estimated probabilities that one or all of `k` repeats pass: means over the cases with at least `k` repeats."""

    k: int
    cases: int
    pass_at_k: float
    pass_hat_k: float

    def as_dict(self) -> dict[str, Any]:
        """Return the estimates in their JSON form."""
        return {
            "k": self.k,
            "cases": self.cases,
            "pass_at_k": self.pass_at_k,
            "pass_hat_k": self.pass_hat_k,
        }


@dataclass(slots=True)
class Reliability:
    """The reliability of one run's cases under one label."""

    cases: Counter[Repeats] = field(default_factory=Counter)
    ungradable: int = 0  #: results
    errored: int = 0  #: results that were not graded
    _flaky: list[tuple[float, str, Repeats]] = field(default_factory=list)

    def count(self, case: str, repeats: Repeats) -> None:
        """Count a case."""
        judged, passed = repeats
        if not judged:
            return
        self.cases[repeats] += 1
        if 0 < passed < judged:
            # A heap with the least flaky case on top, to be replaced by one with a rate closer to one half.
            item = (-abs(passed / judged - 0.5), case, repeats)
            if len(self._flaky) < FLAKY_SHOWN:
                heappush(self._flaky, item)
            elif item > self._flaky[0]:
                heapreplace(self._flaky, item)

    @property
    def unjudged(self) -> int:
        """Number of results that neither passed nor failed."""
        return self.ungradable + self.errored

    @property
    def repeated(self) -> int:
        """Number of cases that were judged more than once."""
        return sum(n for (judged, _), n in self.cases.items() if judged > 1)

    @property
    def flaky(self) -> int:
        """Number of cases that passed in some repeats and failed in others."""
        return sum(n for (judged, passed), n in self.cases.items() if 0 < passed < judged)

    @property
    def flaky_cases(self) -> list[tuple[str, Repeats]]:
        """The flakiest cases, each with how often it was judged and passed."""
        ordered = sorted(self._flaky, key=lambda item: (-item[0], item[1]))
        return [(case, repeats) for _, case, repeats in ordered]

    @property
    def rate(self) -> float | None:
        """The mean of the cases' pass rates; None without cases."""
        return mean(self._rates())

    @property
    def interval(self) -> Interval | None:
        """The confidence interval of that mean, over cases."""
        return mean_interval(self._rates(), 0.0, 1.0)

    def _rates(self) -> Counter[float]:
        rates: Counter[float] = Counter()
        for (judged, passed), n in self.cases.items():
            rates[passed / judged] += n
        return rates

    def at_k(self) -> list[AtK]:
        """Return pass@k and pass^k for some k, up to the largest number of repeats."""
        most = max((judged for judged, _ in self.cases), default=0)
        return [at for k in sorted({*_KS, most}) if (at := self.at(k))]

    def at(self, k: int) -> AtK | None:
        """Return pass@k and pass^k for one `k`; None if no case has as many repeats."""
        enough = {repeats: n for repeats, n in self.cases.items() if repeats[0] >= k > 0}
        cases = sum(enough.values())
        if not cases:
            return None
        any_of = sum(n * (pass_at_k(*repeats, k) or 0.0) for repeats, n in enough.items())
        all_of = sum(n * (pass_hat_k(*repeats, k) or 0.0) for repeats, n in enough.items())
        return AtK(k, cases, any_of / cases, all_of / cases)

    def as_dict(self) -> dict[str, Any]:
        """Return the reliability in its JSON form."""
        return {
            "cases": self.cases.total(),
            "unjudged_results": self.unjudged,
            "ungradable": self.ungradable,
            "errored": self.errored,
            "rate": self.rate,
            "interval": list(self.interval) if self.interval else None,
            "flaky": self.flaky,
            "at_k": [each.as_dict() for each in self.at_k()],
            "flaky_cases": [
                {"case": case, "judged": judged, "passed": passed}
                for case, (judged, passed) in self.flaky_cases
            ],
        }


@dataclass(slots=True)
class RepeatedLabel:
    """The cases of one label in each run, and the differences of their pass rates from the first run's."""

    label: str
    runs: list[Reliability]
    #: For each further run, the number of cases by the difference of their rates.
    differences: list[Counter[float]]
    #: For each further run, the number of cases with fewer judged repeats than in the first run.
    lost: list[int]
    lost_repeats: list[int]  #: for each further run, by how many repeats those cases have fewer
    #: For each further run, the repeats that were graded under other conditions than in the first run.
    conditions: list[Conditions]
    adjusted_p: list[float] = field(default_factory=list)

    def worse_and_better(self, run: int) -> tuple[int, int]:
        """Return how many cases pass less often, and how many more often, than in the first run."""
        differences = self.differences[run - 1]
        worse = sum(n for difference, n in differences.items() if difference < 0)
        return worse, sum(n for difference, n in differences.items() if difference > 0)

    def difference(self, run: int) -> float | None:
        """Return the mean difference of the cases' rates from the first run; None without common cases."""
        return mean(self.differences[run - 1])

    def interval(self, run: int) -> Interval | None:
        """Return the interval of that mean."""
        return mean_interval(self.differences[run - 1], -1.0, 1.0)

    def p(self, run: int) -> float:
        """Return the p-value of the exact sign test on worse and better cases."""
        return mcnemar_exact(*self.worse_and_better(run))

    def as_dict(self) -> dict[str, Any]:
        """Return the label in its JSON form."""
        return {
            "label": self.label,
            "runs": [run.as_dict() for run in self.runs],
            "differences": [self._difference(run) for run in range(1, len(self.runs))],
        }

    def _difference(self, run: int) -> dict[str, Any]:
        worse, better = self.worse_and_better(run)
        interval = self.interval(run)
        return {
            "cases": self.differences[run - 1].total(),
            "lost": self.lost[run - 1],
            "lost_repeats": self.lost_repeats[run - 1],
            "worse": worse,
            "better": better,
            "difference": self.difference(run),
            "difference_interval": list(interval) if interval else None,
            "p": self.p(run),
            "adjusted_p": self.adjusted_p[run - 1],
        }
