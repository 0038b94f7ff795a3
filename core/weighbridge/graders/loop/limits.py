"""From when on a repetition is a loop."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """The thresholds of one grader."""

    max_repeats: int
    similarity_threshold: float
    max_period: int

    @property
    def least_rounds(self) -> int:
        """How many full rounds of two or more steps are a loop."""
        return max(2, self.max_repeats)

    def least_length(self, period: int) -> int:
        """Return how many steps in a row are a loop of that period."""
        return self.max_repeats + 1 if period == 1 else period * self.least_rounds
