"""The rules of loops: what repeats, what stands between, and from how many on it is a loop.

Each rule is used by one finder, which has the conditions; `loops_in_calls` and `loops_in_texts` run the finders.
"""

from __future__ import annotations

from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from weighbridge.graders.loop.finders.kinds import Kind

if TYPE_CHECKING:
    from weighbridge.graders.loop.work_budget import Limits


class Least(NamedTuple):
    """Minimum number that is a loop: a multiple of `max_repeats`, and more."""

    times: int
    plus: int = 0
    minimum: int = 0
    #: the multiple of `max_repeats` that is enough in any case; 0 if there is none
    most_times: int = 0
    unit: str = ""

    def of(self, max_repeats: int) -> int:
        """Return the number."""
        least = self.times * max_repeats + self.plus
        if self.most_times:
            least = min(least, self.most_times * max_repeats)
        return max(self.minimum, least) if self.minimum else least

    def __str__(self) -> str:
        """Return the number in terms of `max_repeats`."""
        multiple = "`max_repeats`" if self.times == 1 else f"`{self.times} * max_repeats`"
        more = f"{'-' if self.plus < 0 else '+'} {abs(self.plus)}" if self.plus else ""
        parts = (multiple, more, self.unit) if self.times else (str(self.plus), self.unit)
        least = " ".join(filter(None, parts))
        if self.most_times:
            least += f" (at most `{self.most_times} * max_repeats`)"
        return f"{least} (at least {self.minimum})" if self.minimum else least


_MORE_THAN_REPEATS = Least(1, 1)
_ROUNDS = Least(1, minimum=2, unit="rounds")
_TWO_MORE = Least(1, 2, most_times=2)
_TWICE, _THREE_TIMES, _FOUR_TIMES = Least(2), Least(3), Least(4)
_MORE_THAN_TWICE, _MORE_THAN_FOUR_TIMES = Least(2, 1), Least(4, 1)

_Row = tuple[tuple[Kind, ...], str, Least, str, tuple[Least, str] | None]


def _row(
    kinds: Kind | tuple[Kind, ...],
    repeated: str,
    least: Least,
    between: str = "",
    *,
    other: tuple[Least, str] | None = None,
) -> _Row:
    return (kinds,) if isinstance(kinds, Kind) else kinds, repeated, least, between, other


_interleaved = partial(_row, Kind.INTERLEAVED)
_failures = partial(_row, Kind.SAME_FAILURE)
_nothing_new = partial(_row, Kind.NOTHING_NEW)
_outcomes = partial(_row, (Kind.NOTHING_NEW, Kind.SAME_FAILURE))


class Rule(Enum):
    """A rule by which repetition is a loop; its id, which results name, is its name in lower case.

    A cycle may be half a round shorter; see `Limits.least_length`.
    """

    kinds: tuple[Kind, ...]  #: of its loops; of two kinds, the second is that of failures
    repeated: str  #: what repeats, in words; ends in a comma where more words after it need one
    between: str  #: what stands between the repeats, or how they differ; empty if they are alike
    when_other: str  #: in which case another number than usual is a loop; empty if there is none
    _least: Least
    _other_least: Least | None

    def __init__(
        self,
        kinds: tuple[Kind, ...],
        repeated: str,
        least: Least,
        between: str,
        other: tuple[Least, str] | None,
    ) -> None:
        self.kinds = kinds
        self.repeated = repeated
        self.between = between
        self._least = least
        self._other_least, self.when_other = other or (None, "")

    @property
    def id(self) -> str:
        """The name that results have."""
        return self.name.lower()

    def least(self, limits: Limits, *, other: bool = False) -> int:
        """Return the minimum number that is a loop, or the other one."""
        least = self._other_least if other and self._other_least else self._least
        return least.of(limits.max_repeats)

    @property
    def from_how_many(self) -> str:
        """The minimum number that is a loop, in terms of `max_repeats`."""
        other = f"; {self.when_other}: {self._other_least}" if self._other_least else ""
        return f"{self._least}{other}"

    def in_words(self, period: int | None) -> str:
        """Return what repeats, such as `the same 3 steps in the same order`, given the steps in a round."""
        steps, texts = "steps in the same order", "texts in the same order"
        if period:
            steps, texts = f"{period} {steps}", f"{period} {texts}"
        return self.repeated.format(steps="step" if period == 1 else steps, texts=texts)

    @property
    def described(self) -> str:
        """What repeats, and what stands between or how the repeats differ."""
        what = self.in_words(None).removesuffix(",")
        return f"{what}, {self.between}" if self.between else what

    @property
    def is_in_row(self) -> bool:
        """Whether steps of which one repeats come directly after each other."""
        return self not in _WITH_OTHERS_BETWEEN

    # fmt: off
    # A table, with each rule in as few lines as it needs.

    # Calls in a fixed order
    SAME_CALL = _row(Kind.IDENTICAL, "the same step", _MORE_THAN_REPEATS)
    SIMILAR_CALLS = _row(Kind.NEAR_IDENTICAL, "nearly the same step", _MORE_THAN_REPEATS)
    SAME_CYCLE = _row(Kind.CYCLE, "the same {steps}", _ROUNDS)
    SAME_CALLS_IN_ONE_MESSAGE = _row(Kind.PARALLEL, "the same {steps} in one message", _MORE_THAN_REPEATS,
        other=(_ROUNDS, "for rounds of two calls or more"))
    NOISY_RESULTS = _row(Kind.NOISY_RESULTS, "the same {steps}, with results that differ only in noise,", _MORE_THAN_REPEATS,
        other=(_ROUNDS, "for rounds of two or three calls"))
    FAILING_CALL = _row(Kind.IDENTICAL, "the same step, failing in about the same way,", _MORE_THAN_REPEATS)
    CYCLE_WITH_FAILURES = _row(Kind.CYCLE, "the same {steps}, with failures that are alike,", _ROUNDS)
    VARIED_CYCLE = _row(Kind.CYCLE, "{steps}, some of which vary in vain,", _ROUNDS,
        other=(Least(1, 2, most_times=2, unit="rounds"), "if as many steps vary as stay equal"))
    VARIED_WAITS = _row(Kind.NEAR_IDENTICAL, "waits of various lengths with one result", _TWICE)

    # Calls in any order
    FEW_CALLS = _interleaved("a few steps, with hardly anything new between them,", _MORE_THAN_TWICE,
        other=(Least(4, 2), "if a third of the results say nothing or are missing"))
    FEW_FAILING_CALLS = _interleaved("a few failing steps, with few others between them,", _MORE_THAN_TWICE,
        other=(Least(4, 2), "if each comes less often"))
    RECURRING_QUESTION = _interleaved("one question with one long answer", _TWO_MORE)
    RETRIED_FAILURE = _interleaved("one call that fails in the same way", _MORE_THAN_REPEATS,
        other=(_TWICE, "if the service was slow or busy and others lie between"))
    FAILURE_ACROSS_REQUESTS = _interleaved("one call that fails in the same way, whatever was written between,", Least(1, 2),
        other=(_TWICE, "if the service was slow or busy and others lie between"))

    # Failures of calls that differ
    REFUSED_EDITS = _failures("related edits that are refused in the same words", _TWO_MORE,
        "with little that is new read between them")
    EDITS_OF_ONE_FILE = _failures("edits of one file that are refused, half of them tried again,", _TWICE,
        "in more rounds than `max_repeats`, with no edit that is made and little that is new read between them")
    EDITS_IN_VAIN = _failures("edits of one tool that are refused", _THREE_TIMES,
        "which are at least two of five calls in their range, with hardly an edit that is made")
    VARIED_ATTEMPTS = _failures("calls that fail the same way", _TWICE,
        "which differ only in numbers, paths, options or wording, with nothing new between them",
        other=(_THREE_TIMES, "for values tried once each, and for actions without effect"))
    RELATED_ATTEMPTS = _failures("related calls that fail, at least half of them in known ways,", _TWO_MORE,
        "with nothing new between them", other=(_TWICE, "if the failures differ, or for commands"))
    KNOWN_FAILURES = _failures("calls that fail in known ways", _THREE_TIMES,
        "with nothing new between them", other=(_TWICE, "if their words are related"))
    FAILING_ROW = _failures("calls in a row that fail, in few ways,", _THREE_TIMES,
        "with at most known results between them")
    FAILING_STRETCH = _failures("calls that fail in known ways, beyond as many others as bring something new,", Least(2, 2),
        "in answer to one request")
    FAILING_ROW_ACROSS_REQUESTS = _failures("calls in a row that try to change something and fail, in few ways,", Least(6),
        "although the user wrote between them")
    RETURNING_REASON = _failures("related calls that fail for one reason", _TWICE,
        "with nothing but failures between them",
        other=(_TWO_MORE, "in a row of `2 * max_repeats` + 2 failures or more, or if no call reads or does anything"))
    UNCHANGED_FAILURE = _failures("related submissions that fail with one text", _TWO_MORE,
        "whatever was changed between them")
    UNCHANGED_CHECK = _failures("a check that fails in one way", _TWO_MORE,
        "whatever was changed between them",
        other=(_THREE_TIMES, "if the failure has less than 100 characters, or a check succeeds in the end, and that is more"))
    VAIN_CHANGES = _failures("runs that fail for one reason", _THREE_TIMES,
        "with changes between most of them")
    MALFORMED_CALLS = _failures("malformed calls of one tool", _TWO_MORE,
        "with no call of that tool between them that succeeds", other=(_THREE_TIMES, "if each begins with another unknown word"))

    # Calls that bring nothing new, whether they fail or not
    REWORDED_QUESTION = _outcomes("one question in other words", _MORE_THAN_REPEATS,
        "each wording part of another, with no new result between")
    REWORDED_ATTEMPTS = _outcomes("one request in other words", Least(1, 2),
        "whose results are alike, with no new result between")
    ONE_OUTCOME = _outcomes("calls with one failure or answer", _TWICE, "with no new result between")
    RETURNING_OUTCOME = _outcomes("related calls with one result", _THREE_TIMES,
        "which are at least two of three calls in their range")
    KNOWN_RESULTS = _nothing_new("calls that brought nothing new after the first,", _TWICE,
        "with nothing else between them", other=(_TWO_MORE, "if failed calls are repeated exactly, which count twice"))
    KNOWN_LONG_RESULTS = _nothing_new("calls with long results that their tools gave before,", _TWICE,
        "with at most as many others between them, which bring nothing new")
    KNOWN_LINES = _nothing_new("reads of files that show known lines", _FOUR_TIMES,
        "with only calls between them that change nothing")
    WALK_IN_CIRCLES = _nothing_new("calls of a walk among known places", Least(6),
        "with nothing else between them")
    KNOWN_OBSERVATIONS = _nothing_new("calls that show what was read before,", Least(2, 2),
        "with hardly anything new between them")
    REPEATED_CHANGE = _nothing_new("one change that is made again", _TWO_MORE,
        "with only calls between them that change nothing",
        other=(_THREE_TIMES, "if a file is written anew with nearly the same content"))
    UNDONE_CHANGES = _nothing_new("edits that were undone", _TWICE,
        "with no new result of a check between them")

    UNANSWERED_SEARCHES = _nothing_new("searches of a tool that never finds anything,", _FOUR_TIMES,
        "with nothing new between them, or for what other results show")

    ENDED_AGAIN = _nothing_new("calls of one tool that report the work as done in nearly the same words", _MORE_THAN_TWICE,
        "with at most half as many others between them")

    # Texts
    SAME_TEXT = _row(Kind.TEXT, "the same text", _MORE_THAN_REPEATS)
    SAME_TEXTS = _row(Kind.TEXT_CYCLE, "the same {texts}", _ROUNDS)
    FEW_TEXTS = _row(Kind.TEXT_CYCLE, "one or two texts, with hardly another between them,", Least(2, -1, minimum=3))
    TEXT_BETWEEN_LABELS = _row(Kind.TEXT, "the same text, with short answers between,", _MORE_THAN_REPEATS)
    EXCHANGE = _row(Kind.TEXT, "the same text after the same message", _ROUNDS)
    REPORTED_FAILURE = _row(Kind.TEXT, "the same report of a failure or of no change by one of several agents", _MORE_THAN_REPEATS)
    REPEATED_REVIEW = _row(Kind.TEXT, "the same fault, found again by one of several agents,", _MORE_THAN_REPEATS,
        "with at most one other review of that agent between two")
    CODE_HANDED_IN_AGAIN = _row(Kind.TEXT, "the same code in other words, handed in again by one of several agents,", _TWICE)
    SAME_BEGINNING = _row(Kind.SAME_BEGINNING, "texts with the same long beginning", _MORE_THAN_TWICE,
        "without an action or a reply between")
    REFUSED_WITHOUT_ACTION = _row(Kind.REFUSED, "answers without an action, refused the same way,", _MORE_THAN_REPEATS,
        "without a call between")
    REFUSED_BETWEEN_ACTIONS = _row(Kind.REFUSED, "answers without an action, refused the same way,", _TWICE,
        "with fewer than twice as many others between them")
    REPORTED_AGAIN = _row(Kind.REFUSED, "answers after each of which a program fails in the same words,", _TWO_MORE,
        "with fewer than four times as many others between them")
    REFUSED_CLAIMS = _row(Kind.REFUSED, "claims to be done or unable, refused the same way,", _TWO_MORE,
        "without a call between")
    SAME_REPLY = _row(Kind.REFUSED, "short texts that fail with one reply, letter for letter,", _FOUR_TIMES,
        "without a call between")
    KNOWN_STATES = _row(Kind.TEXT_CYCLE, "answers that lead back to a few states,", _FOUR_TIMES,
        "with hardly anything new between them")
    REPEATED_PASSAGES = _row(Kind.REPEATED_PASSAGES, "the same passage within one message", _MORE_THAN_TWICE,
        "half of whose text or more repeats what stands before in it", other=(Least(4, 2), "if the text is mostly code"))
    REPEATED_WORD = _row(Kind.REPEATED_PASSAGES, "the same word or syllable within one message", Least(0, 100),
        "which is half of its text or more", other=(Least(2, 1), "if that is more"))
    FAILED_STEPS = _row(Kind.STANDSTILL, "steps that the agent itself says have failed", _MORE_THAN_TWICE,
        "in a row, without a new request between")
    STANDSTILL = _row(Kind.STANDSTILL, "reports that nothing has changed,", _MORE_THAN_TWICE,
        "each after an outcome that the run had had before")
    PLEASANTRIES = _row(Kind.PLEASANTRIES, "thanks and good wishes alone", _MORE_THAN_TWICE,
        "without a call between")
    PROMISES = _row(Kind.PROMISES, "promises to act or to wait", _MORE_THAN_TWICE,
        "without a call between", other=(_TWO_MORE, "if each announces an action, and is answered with no more than a prompt"))
    SAME_WORDS = _row(Kind.SAME_WORDS, "messages with hardly a new word", _MORE_THAN_FOUR_TIMES,
        "with nothing else between")
    REPEATED_TALK = _row(Kind.SAME_WORDS, "messages and replies that mostly came before, word for word,", _MORE_THAN_FOUR_TIMES,
        "with nothing new between")
    FAILED_ANSWERS = _row(Kind.FAILED_ANSWERS, "model calls that fail the same way", Least(3, 2),
        "without an answer or a call between")
    UNANSWERED_REQUESTS = _row(Kind.FAILED_ANSWERS, "model calls that fail with errors of before", Least(3, 1),
        "without an answer or a call between", other=(Least(6, 2), "for one request"))
    CUT_OFF_ANSWERS = _row(Kind.CUT_OFF, "answers cut off at the output limit before they say or do anything,", _MORE_THAN_REPEATS,
        "without a change, an answer or a new request between")
    STOPPED = _row(Kind.STOPPED, "answers until the harness stopped the agent,", _MORE_THAN_REPEATS,
        "none of which got any further, as it says")
    # fmt: on


_WITH_OTHERS_BETWEEN = frozenset(
    (
        Rule.TEXT_BETWEEN_LABELS,
        Rule.EXCHANGE,
        Rule.REPORTED_FAILURE,
        Rule.REPEATED_REVIEW,
        Rule.CUT_OFF_ANSWERS,
        Rule.CODE_HANDED_IN_AGAIN,
    )
)
RULES = {rule.id: rule for rule in Rule}
