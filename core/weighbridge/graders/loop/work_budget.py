"""Thresholds of the loop grader, and its limits on the work of comparison."""

from __future__ import annotations

from dataclasses import dataclass

DEFAULT_THRESHOLD = 0.9  #: of similarity
STEPS_LIMIT = 120_000  #: of a trace that are examined
FOLDED_CHARACTERS = 100_000  #: longer values are compared exactly, including case and white space
HALF_ROUND_PERIOD = 4  #: from this period on, the last round of a cycle may be half complete
WORK_LIMIT = 500_000  #: units of one kind of work in one trace


@dataclass(frozen=True, slots=True)
class Limits:
    """The thresholds of one grader."""

    max_repeats: int
    similarity_threshold: float
    max_period: int

    @property
    def least_rounds(self) -> int:
        """Minimum number of full rounds of two or more steps that form a loop."""
        return max(2, self.max_repeats)

    @property
    def least_known(self) -> int:
        """Minimum number of calls with the result of an earlier call for reworded attempts to be a loop."""
        return (self.max_repeats + 1) // 2

    def least_length(self, period: int) -> int:
        """Return the minimum number of consecutive steps that form a loop of the given period."""
        if period == 1:
            return self.max_repeats + 1
        rounds = period * self.least_rounds
        return (
            rounds - period // 2
            if period >= HALF_ROUND_PERIOD and self.least_rounds > 2
            else rounds
        )


class WorkBudget:
    """Budget for the work of similarity comparison, which bounds the time that a trace takes.

    A unit is about a microsecond. Units are counted, not measured, so that a trace gets the same result on every machine.
    When the budget is spent, only equal values are treated as the same.
    """

    __slots__ = ("spent",)

    def __init__(self) -> None:
        self.spent = 0.0  #: units

    @property
    def is_left(self) -> bool:
        """Whether budget remains; a single operation may slightly exceed the limit."""
        return self.spent < WORK_LIMIT

    def count_description(self, text: str, *, is_by_word: bool) -> None:
        """Count the conversion of a text to the forms used in comparisons."""
        self.spent += 15 + min(len(text), FOLDED_CHARACTERS) / (6 if is_by_word else 50)

    def count_lookups(self, texts: int) -> None:
        """Count the comparison of the forms of texts."""
        self.spent += texts

    def count_comparison(self, characters: int, others: int) -> None:
        """Count the comparison of a text with others, given the total characters of the others."""
        self.spent += 1 + characters * others / 50_000

    def count_masking(self, text: str, marks: int) -> None:
        """Count the search of a result for one kind of noise, given the number of matches replaced."""
        self.spent += 4 + len(text) / 100 + 6 * marks

    def count_reading(self, text: str, words: int) -> None:
        """Count the extraction of words or numbers from a result."""
        self.spent += 1 + len(text) / 20 + words / 4

    def count_pass(self, entries: int) -> None:
        """Count another pass over entries of a row."""
        self.spent += entries / 2

    def count_attempt(self, characters: int) -> None:
        """Count the removal of insignificant parts from the arguments or the failure of a failed call."""
        self.spent += 30 + characters / 20
