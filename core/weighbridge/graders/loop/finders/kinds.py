"""Kinds of loops, with their words."""

from __future__ import annotations

from enum import StrEnum


class Kind(StrEnum):
    """What repeats in a loop."""

    IDENTICAL = "identical"
    NEAR_IDENTICAL = "near_identical"
    CYCLE = "cycle"
    NOISY_RESULTS = "noisy_results"
    SAME_FAILURE = "same_failure"
    NOTHING_NEW = "nothing_new"
    REFUSED = "refused"
    INTERLEAVED = "interleaved"
    PARALLEL = "parallel"
    TEXT = "text"
    TEXT_CYCLE = "text_cycle"
    SAME_BEGINNING = "same_beginning"
    REPEATED_PASSAGES = "repeated_passages"  #: within one entry
    STANDSTILL = "standstill"
    PLEASANTRIES = "pleasantries"
    PROMISES = "promises"
    SAME_WORDS = "same_words"
    FAILED_ANSWERS = "failed_answers"
    CUT_OFF = "cut_off"
    STOPPED = "stopped"


#: Kinds of findings whose entries are similar but have different numbers.
KINDS_OF_SIMILAR_STEPS = frozenset(
    (
        *(Kind.SAME_FAILURE, Kind.REFUSED, Kind.NOTHING_NEW, Kind.SAME_BEGINNING, Kind.STANDSTILL),
        *(Kind.PLEASANTRIES, Kind.PROMISES, Kind.SAME_WORDS),
        *(Kind.FAILED_ANSWERS, Kind.CUT_OFF, Kind.STOPPED),
    )
)
