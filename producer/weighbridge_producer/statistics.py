"""Statistics of pass rates: intervals, tests and estimators, each a pure function of counts.

All intervals are two-sided 95 % intervals. Rates and differences are fractions of 1.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_Z = 1.959963984540054  #: the 97.5 % quantile of the standard normal distribution
_TAIL = 0.025  #: the probability beyond each end of an interval
_NEGLIGIBLE = 1e-17  #: terms smaller than this do not change the sum of a tail


class Interval(NamedTuple):
    """The limits of a 95 % confidence interval."""

    low: float
    high: float


class PairedCounts(NamedTuple):
    """Counts of paired results of two runs: the four cells of a 2 x 2 table."""

    both: int = 0
    only_first: int = 0
    only_second: int = 0
    neither: int = 0

    @property
    def pairs(self) -> int:
        """Number of pairs."""
        return sum(self)

    @property
    def first_passed(self) -> int:
        """Number of pairs that passed in the first run."""
        return self.both + self.only_first

    @property
    def second_passed(self) -> int:
        """Number of pairs that passed in the second run."""
        return self.both + self.only_second

    @property
    def difference(self) -> float | None:
        """The second run's pass rate minus the first run's; None without pairs."""
        return (self.only_second - self.only_first) / self.pairs if self.pairs else None


def wilson_interval(passed: int, judged: int) -> Interval | None:
    """Return Wilson's score interval of a rate; None if nothing was judged.

    Source: E. B. Wilson, Journal of the American Statistical Association 22 (1927), 209-212.
    """
    if not judged:
        return None
    rate, square = passed / judged, _Z * _Z
    centre = rate + square / (2 * judged)
    half = _Z * math.sqrt(rate * (1 - rate) / judged + square / (4 * judged * judged))
    whole = 1 + square / judged
    # The ends must be exactly 0 and 1, without a rounding error of 1e-17.
    low = 0.0 if not passed else (centre - half) / whole
    high = 1.0 if passed == judged else (centre + half) / whole
    return Interval(low, high)


def paired_interval(counts: PairedCounts) -> Interval | None:
    """Return the interval of the difference of two paired rates, second minus first; None without pairs.

    Source: method 10 of R. G. Newcombe, Statistics in Medicine 17 (1998), 2635-2650.
    """
    first = wilson_interval(counts.first_passed, counts.pairs)
    second = wilson_interval(counts.second_passed, counts.pairs)
    if not first or not second:
        return None
    first_rate, second_rate = (
        counts.first_passed / counts.pairs,
        counts.second_passed / counts.pairs,
    )
    correlation = _corrected_correlation(counts)
    below = _combined(second_rate - second.low, first.high - first_rate, correlation)
    above = _combined(second.high - second_rate, first_rate - first.low, correlation)
    difference = second_rate - first_rate
    return Interval(difference - below, difference + above)


def _combined(one: float, other: float, correlation: float) -> float:
    """Return the length of the sum of two correlated deviations."""
    return math.sqrt(max(0.0, one * one - 2 * correlation * one * other + other * other))


def _corrected_correlation(counts: PairedCounts) -> float:
    """Return the correlation of the pairs; a positive one has Newcombe's continuity correction."""
    both, only_first, only_second, neither = counts
    margins = math.prod(
        (both + only_first, only_second + neither, both + only_second, only_first + neither)
    )
    if not margins:
        return 0.0
    determinant: float = both * neither - only_first * only_second
    if determinant > 0:
        determinant = max(0.0, determinant - counts.pairs / 2)
    return determinant / math.sqrt(margins)


def mean(values: Mapping[float, int]) -> float | None:
    """Return the mean of values given with their frequencies; None without values."""
    count = sum(values.values())
    return math.fsum(value * times for value, times in values.items()) / count if count else None


def mean_interval(values: Mapping[float, int], least: float, most: float) -> Interval | None:
    """Return the normal interval of a mean of independent values, such as rates of cases; None for fewer than two.

    It ends at the limits of the values, which no mean exceeds. If all values are equal, it reaches as far as unseen
    values can move the mean: each value differs with at most the probability of the exact binomial interval.
    Source: E. Miller, arXiv:2411.00640 (2024), sections 2.1 and 4.2, for means over questions and for paired
    differences; C. J. Clopper and E. S. Pearson, Biometrika 26 (1934), 404-413.
    """
    count, centre = sum(values.values()), mean(values)
    if centre is None or count < 2:
        return None
    if len(values) == 1:
        others = 1 - _TAIL ** (1 / count)
        return Interval(centre - others * (centre - least), centre + others * (most - centre))
    squares = math.fsum(times * (value - centre) ** 2 for value, times in values.items())
    half = _Z * math.sqrt(squares / (count - 1) / count)
    return Interval(max(centre - half, least), min(centre + half, most))


def mcnemar_exact(only_first: int, only_second: int) -> float:
    """Return the two-sided p-value of McNemar's exact test on the discordant pairs.

    It is the probability that `only_first + only_second` fair coin tosses are at least as unevenly split.
    Source: Q. McNemar, Psychometrika 12 (1947), 153-157.
    """
    tosses, fewer = only_first + only_second, min(only_first, only_second)
    if only_first == only_second:
        return 1.0
    # Sum the tail from its largest term: each term is a fraction of the previous one.
    term = total = 1.0
    for heads in range(fewer, 0, -1):
        term *= heads / (tosses - heads + 1)
        total += term
        if term < total * _NEGLIGIBLE:
            break
    return min(1.0, 2 * total * math.exp(_log_half_binomial(tosses, fewer)))


def _log_half_binomial(tosses: int, heads: int) -> float:
    """Return the logarithm of the probability of `heads` heads in `tosses` fair coin tosses."""
    ways = math.lgamma(tosses + 1) - math.lgamma(heads + 1) - math.lgamma(tosses - heads + 1)
    return ways - tosses * math.log(2)


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Return p-values adjusted to control the false discovery rate, in the same order.

    Source: Y. Benjamini and Y. Hochberg, Journal of the Royal Statistical Society B 57 (1995), 289-300.
    """
    count, least = len(p_values), 1.0
    adjusted = [1.0] * count
    descending = sorted(range(count), key=p_values.__getitem__, reverse=True)
    for place, index in enumerate(descending):
        least = min(least, p_values[index] * count / (count - place))
        adjusted[index] = least
    return adjusted


def pass_at_k(repeats: int, passed: int, k: int) -> float | None:
    """Return the probability that at least one of `k` repeats passes; None if there are fewer than `k` repeats.

    It is the unbiased estimate from `passed` out of `repeats`.
    Source: M. Chen and others, arXiv:2107.03374 (2021), equation 1.
    """
    if not 1 <= k <= repeats:
        return None
    return 1 - math.comb(repeats - passed, k) / math.comb(repeats, k)


def pass_hat_k(repeats: int, passed: int, k: int) -> float | None:
    """Return the probability that all of `k` repeats pass, pass^k; None if there are fewer than `k` repeats.

    It is the unbiased estimate from `passed` out of `repeats`.
    Source: S. Yao and others, arXiv:2406.12045 (2024), section 3.
    """
    if not 1 <= k <= repeats:
        return None
    return math.comb(passed, k) / math.comb(repeats, k)
