"""The rules of loops: what repeats, what stands between, and from how many on it is a loop.

Each rule is used by one finder, which has the conditions; `loops_in_calls` and `loops_in_texts` run the finders.
"""

from __future__ import annotations

from enum import Enum
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
        kinds: Kind | tuple[Kind, ...],
        repeated: str,
        between: str,
        least: Least,
        other_least: Least | None = None,
        when_other: str = "",
    ) -> None:
        self.kinds = (kinds,) if isinstance(kinds, Kind) else kinds
        self.repeated = repeated
        self.between = between
        self.when_other = when_other
        self._least = least
        self._other_least = other_least

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

    # Calls in a fixed order
    SAME_CALL = (Kind.IDENTICAL, "the same step", "", _MORE_THAN_REPEATS)
    SIMILAR_CALLS = (Kind.NEAR_IDENTICAL, "nearly the same step", "", _MORE_THAN_REPEATS)
    SAME_CYCLE = (Kind.CYCLE, "the same {steps}", "", _ROUNDS)
    SAME_CALLS_IN_ONE_MESSAGE = (
        Kind.PARALLEL,
        "the same {steps} in one message",
        "",
        _MORE_THAN_REPEATS,
        _ROUNDS,
        "for rounds of two calls or more",
    )
    NOISY_RESULTS = (
        Kind.NOISY_RESULTS,
        "the same {steps}, with results that differ only in noise,",
        "",
        _MORE_THAN_REPEATS,
        _ROUNDS,
        "for rounds of two or three calls",
    )
    FAILING_CALL = (
        Kind.IDENTICAL,
        "the same step, failing in about the same way,",
        "",
        _MORE_THAN_REPEATS,
    )
    RETOLD_SCREEN = (
        Kind.NOISY_RESULTS,
        "the same step, with one screen described in other words,",
        "",
        _MORE_THAN_REPEATS,
    )
    RETOLD_RESULTS = (
        Kind.NOISY_RESULTS,
        "the same step, with results that say the same in other words,",
        "",
        _MORE_THAN_REPEATS,
    )
    CYCLE_WITH_FAILURES = (
        Kind.CYCLE,
        "the same {steps}, with failures that are alike,",
        "",
        _ROUNDS,
    )
    CYCLE_WITH_NEW_IDS = (
        Kind.CYCLE,
        "the same {steps}, failing in each round,",
        "",
        Least(2, unit="rounds"),
    )
    VARIED_CYCLE = (
        Kind.CYCLE,
        "{steps}, some of which vary in vain,",
        "",
        _ROUNDS,
        Least(1, 2, most_times=2, unit="rounds"),
        "if as many steps vary as stay equal",
    )
    VARIED_WAITS = (
        Kind.NEAR_IDENTICAL,
        "waits of various lengths with one result",
        "",
        _TWICE,
    )

    # Calls in any order
    FEW_CALLS = (
        Kind.INTERLEAVED,
        "a few steps, with hardly anything new between them,",
        "",
        _MORE_THAN_TWICE,
        Least(4, 2),
        "if a third of the results say nothing or are missing",
    )
    FEW_CALLS_ALONE = (
        Kind.INTERLEAVED,
        "a few steps, with hardly anything else between them,",
        "",
        Least(3, 1),
        Least(4, 2),
        "if a third of the results say nothing or are missing",
    )
    FEW_FAILING_CALLS = (
        Kind.INTERLEAVED,
        "a few failing steps, with few others between them,",
        "",
        _MORE_THAN_TWICE,
        Least(4, 2),
        "if each comes less often",
    )
    CALLS_MADE_BEFORE = (
        Kind.INTERLEAVED,
        "steps that were all made before, with the same results,",
        "",
        _TWICE,
        _FOUR_TIMES,
        "if most are changes that succeed",
    )
    RECURRING_QUESTION = (
        Kind.INTERLEAVED,
        "one question with one long answer",
        "",
        _TWO_MORE,
    )
    RETRIED_FAILURE = (
        Kind.INTERLEAVED,
        "one call that fails in the same way",
        "",
        _MORE_THAN_REPEATS,
        _TWICE,
        "if the service was slow or busy and others lie between",
    )
    FAILURE_ACROSS_REQUESTS = (
        Kind.INTERLEAVED,
        "one call that fails in the same way, whatever was written between,",
        "",
        Least(1, 2),
        _TWICE,
        "if the service was slow or busy and others lie between",
    )

    ROUNDS_ACROSS_REQUESTS = (
        Kind.SAME_FAILURE,
        "calls that were all made before, a third of which tried to change something and failed,",
        "although the user wrote between them",
        _MORE_THAN_TWICE,
    )

    # Failures of calls that differ
    REFUSED_EDITS = (
        Kind.SAME_FAILURE,
        "related edits that are refused in the same words",
        "with little that is new read between them",
        _TWO_MORE,
    )
    EDITS_OF_ONE_FILE = (
        Kind.SAME_FAILURE,
        "edits of one file that are refused, half of them tried again,",
        "in more rounds than `max_repeats`, with no edit that is made and little that is new read between them",
        _TWICE,
    )
    EDITS_IN_VAIN = (
        Kind.SAME_FAILURE,
        "edits of one tool that are refused",
        "which are at least two of five calls in their range, with hardly an edit that is made",
        _THREE_TIMES,
    )
    VARIED_ATTEMPTS = (
        Kind.SAME_FAILURE,
        "calls that fail the same way",
        "which differ only in numbers, paths, options or wording, with nothing new between them",
        _TWICE,
        _THREE_TIMES,
        "for values tried once each, and for actions without effect",
    )
    RELATED_ATTEMPTS = (
        Kind.SAME_FAILURE,
        "related calls that fail, at least half of them in known ways,",
        "with nothing new between them",
        _TWO_MORE,
        _TWICE,
        "if the failures differ, or for commands",
    )
    KNOWN_FAILURES = (
        Kind.SAME_FAILURE,
        "calls that fail in known ways",
        "with nothing new between them",
        _THREE_TIMES,
        _TWICE,
        "if their words are related",
    )
    RETRIES_WHILE_READING = (
        Kind.SAME_FAILURE,
        "calls that fail with the same text",
        "which differ only in numbers, paths, options or wording, with nothing but reads and failures between them",
        _THREE_TIMES,
    )
    FAILURES_IN_A_ROW = (
        Kind.SAME_FAILURE,
        "calls in a row with the same failure",
        "with nothing else between them",
        _THREE_TIMES,
    )
    FAILING_ROW = (
        Kind.SAME_FAILURE,
        "calls in a row that fail, in few ways,",
        "with at most known results between them",
        _THREE_TIMES,
    )
    BROKEN_TOOL = (
        Kind.SAME_FAILURE,
        "questions to a tool that fails in the same way each time,",
        "with few other calls between them that work",
        Least(2, 1),
    )
    FAILING_STRETCH = (
        Kind.SAME_FAILURE,
        "calls that fail in known ways, beyond as many others as bring something new,",
        "in answer to one request",
        Least(2, 2),
    )
    FAILING_ROW_ACROSS_REQUESTS = (
        Kind.SAME_FAILURE,
        "calls in a row that try to change something and fail, in few ways,",
        "although the user wrote between them",
        Least(6),
    )
    ONE_REQUEST_OF_SEVERAL_TOOLS = (
        Kind.SAME_FAILURE,
        "one request of several tools",
        "with nothing but failures between them",
        Least(1, 2),
    )
    RETURNING_REASON = (
        Kind.SAME_FAILURE,
        "related calls that fail for one reason",
        "with nothing but failures between them",
        _TWICE,
        _TWO_MORE,
        "in a row of `2 * max_repeats` + 2 failures or more, or if no call reads or does anything",
    )
    UNCHANGED_FAILURE = (
        Kind.SAME_FAILURE,
        "related submissions that fail with one text",
        "whatever was changed between them",
        _TWO_MORE,
    )
    UNCHANGED_CHECK = (
        Kind.SAME_FAILURE,
        "a check that fails in one way",
        "whatever was changed between them",
        _TWO_MORE,
        _THREE_TIMES,
        "if the failure has less than 100 characters, or a check succeeds in the end, and that is more",
    )
    RETURNING_CHECK = (
        Kind.SAME_FAILURE,
        "a check that fails in two or three known ways",
        "whatever was changed between them",
        _THREE_TIMES,
    )
    VAIN_CHANGES = (
        Kind.SAME_FAILURE,
        "runs that fail for one reason",
        "with changes between most of them",
        _THREE_TIMES,
    )
    UNMET_CONDITION = (
        Kind.SAME_FAILURE,
        "calls that one unmet condition refuses",
        "with at most as many others between them",
        _TWICE,
    )
    DENIALS = (
        Kind.SAME_FAILURE,
        "calls that are denied in the same words",
        "with at most as many others between them",
        _THREE_TIMES,
    )
    MALFORMED_CALLS = (
        Kind.SAME_FAILURE,
        "malformed calls of one tool",
        "with no call of that tool between them that succeeds",
        _TWO_MORE,
        _THREE_TIMES,
        "if each begins with another unknown word",
    )
    ONE_MALFORMED_CALL = (
        Kind.SAME_FAILURE,
        "malformed calls in a row with the same values",
        "with nothing else between them",
        _MORE_THAN_REPEATS,
    )

    # Calls that bring nothing new, whether they fail or not
    GROWING_REQUESTS = (
        (Kind.NOTHING_NEW, Kind.SAME_FAILURE),
        "requests with one result",
        "each of which has the words of the one before",
        _TWICE,
    )
    REWORDED_QUESTION = (
        (Kind.NOTHING_NEW, Kind.SAME_FAILURE),
        "one question in other words",
        "each wording part of another, with no new result between",
        _MORE_THAN_REPEATS,
    )
    REWORDED_ATTEMPTS = (
        (Kind.NOTHING_NEW, Kind.SAME_FAILURE),
        "one request in other words",
        "whose results are alike, with no new result between",
        Least(1, 2),
    )
    ONE_OUTCOME = (
        (Kind.NOTHING_NEW, Kind.SAME_FAILURE),
        "calls with one failure or answer",
        "with no new result between",
        _TWICE,
    )
    RETURNING_OUTCOME = (
        (Kind.NOTHING_NEW, Kind.SAME_FAILURE),
        "related calls with one result",
        "which are at least two of three calls in their range",
        _THREE_TIMES,
    )
    ONE_STATE = (
        (Kind.NOTHING_NEW, Kind.SAME_FAILURE),
        "instructions that are answered with one state",
        "with nothing else between them",
        _THREE_TIMES,
    )
    NO_EFFECT = (
        (Kind.NOTHING_NEW, Kind.SAME_FAILURE),
        "actions in a row with one result",
        "which had no effect on what is shown",
        _FOUR_TIMES,
    )
    KNOWN_RESULTS = (
        Kind.NOTHING_NEW,
        "calls that brought nothing new after the first,",
        "with nothing else between them",
        _TWICE,
        _TWO_MORE,
        "if failed calls are repeated exactly, which count twice",
    )
    KNOWN_ANSWERS = (
        Kind.NOTHING_NEW,
        "calls that only read, with one or two answers,",
        "with nothing else between them",
        _THREE_TIMES,
        _FOUR_TIMES,
        "for questions in words, with one answer",
    )
    FEW_LONG_ANSWERS = (
        Kind.NOTHING_NEW,
        "commands with at most three long answers",
        "with nothing else between them",
        _FOUR_TIMES,
    )
    KNOWN_ITEMS = (
        Kind.NOTHING_NEW,
        "related searches that list hardly anything new",
        "with at most three calls between two of them, which change nothing",
        _MORE_THAN_REPEATS,
        _TWICE,
        "for other calls that read",
    )
    KNOWN_LINES = (
        Kind.NOTHING_NEW,
        "reads of files that show known lines",
        "with only calls between them that change nothing",
        _FOUR_TIMES,
    )
    KNOWN_SCREENS = (
        Kind.NOTHING_NEW,
        "screens without a new line",
        "with nothing else between them",
        _THREE_TIMES,
    )
    FAILING_SCREENS = (
        Kind.NOTHING_NEW,
        "screens without a new line, half of which show a failure,",
        "with at most half as many others between them",
        Least(8),
    )
    UNMOVED_SCREEN = (
        Kind.NOTHING_NEW,
        "actions that show one of a few known screens",
        "with nothing else between them",
        _FOUR_TIMES,
    )
    WALK_IN_CIRCLES = (
        Kind.NOTHING_NEW,
        "calls of a walk among known places",
        "with nothing else between them",
        Least(6),
    )
    REPEATED_CHANGE = (
        Kind.NOTHING_NEW,
        "one change that is made again",
        "with only calls between them that change nothing",
        _TWO_MORE,
        _THREE_TIMES,
        "if a file is written anew with nearly the same content",
    )
    UNDONE_CHANGES = (
        Kind.NOTHING_NEW,
        "edits that were undone",
        "with no new result of a check between them",
        _TWICE,
    )
    IDLE_WRITING = (
        Kind.NOTHING_NEW,
        "calls that write in hardly a new word",
        "with at most known results between them",
        _FOUR_TIMES,
    )
    SILENCE = (
        Kind.NOTHING_NEW,
        "calls that print nothing, although such calls usually do,",
        "with nothing but edits between them",
        _THREE_TIMES,
    )

    UNANSWERED_SEARCHES = (
        Kind.NOTHING_NEW,
        "searches of a tool that never finds anything,",
        "with nothing new between them, or for what other results show",
        _FOUR_TIMES,
    )

    ENDED_AGAIN = (
        Kind.NOTHING_NEW,
        "calls of one tool that report the work as done in nearly the same words",
        "with at most half as many others between them",
        _MORE_THAN_TWICE,
    )

    # Texts
    SAME_TEXT = (Kind.TEXT, "the same text", "", _MORE_THAN_REPEATS)
    SAME_TEXTS = (Kind.TEXT_CYCLE, "the same {texts}", "", _ROUNDS)
    FEW_TEXTS = (
        Kind.TEXT_CYCLE,
        "one or two texts, with hardly another between them,",
        "",
        Least(2, -1, minimum=3),
    )
    TEXT_BETWEEN_LABELS = (
        Kind.TEXT,
        "the same text, with short answers between,",
        "",
        _MORE_THAN_REPEATS,
    )
    EXCHANGE = (Kind.TEXT, "the same text after the same message", "", _ROUNDS)
    REPORTED_FAILURE = (
        Kind.TEXT,
        "the same report of a failure or of no change by one of several agents",
        "",
        _MORE_THAN_REPEATS,
    )
    REPEATED_REVIEW = (
        Kind.TEXT,
        "the same fault, found again by one of several agents,",
        "with at most one other review of that agent between two",
        _MORE_THAN_REPEATS,
    )
    WORK_HANDED_IN_AGAIN = (
        Kind.TEXT,
        "the same work, handed in again although faults were found,",
        "",
        _TWICE,
    )
    CODE_HANDED_IN_AGAIN = (
        Kind.TEXT,
        "the same code in other words, handed in again by one of several agents,",
        "",
        _TWICE,
    )
    SAME_BEGINNING = (
        Kind.SAME_BEGINNING,
        "texts with the same long beginning",
        "without an action or a reply between",
        _MORE_THAN_TWICE,
    )
    UNHEARD_ANSWERS = (
        Kind.SAME_BEGINNING,
        "questions with the same beginning",
        "half of whose answers repeat an earlier one",
        _TWICE,
    )
    REFUSED_WITHOUT_ACTION = (
        Kind.REFUSED,
        "answers without an action, refused the same way,",
        "without a call between",
        _MORE_THAN_REPEATS,
    )
    REFUSED_BETWEEN_ACTIONS = (
        Kind.REFUSED,
        "answers without an action, refused the same way,",
        "with fewer than twice as many others between them",
        _TWICE,
    )
    REFUSED_CLAIMS = (
        Kind.REFUSED,
        "claims to be done or unable, refused the same way,",
        "without a call between",
        _TWO_MORE,
    )
    REFUSED_STATE = (
        Kind.REFUSED,
        "answers that leave the state as it was",
        "without a call between",
        _THREE_TIMES,
    )
    CLOSING_ANSWERS = (
        Kind.REFUSED,
        "answers that end the work, although a prompt asks to continue,",
        "without a call between",
        _TWO_MORE,
    )
    REPEATED_PASSAGES = (
        Kind.REPEATED_PASSAGES,
        "the same passage within one message",
        "half of whose text or more repeats what stands before in it",
        _MORE_THAN_TWICE,
        Least(4, 2),
        "if the text is mostly code",
    )
    REPEATED_WORD = (
        Kind.REPEATED_PASSAGES,
        "the same word or syllable within one message",
        "which is half of its text or more",
        Least(0, 100),
        _MORE_THAN_TWICE,
        "if that is more",
    )
    FAILED_STEPS = (
        Kind.STANDSTILL,
        "steps that the agent itself says have failed",
        "in a row, without a new request between",
        _MORE_THAN_TWICE,
    )
    STANDSTILL = (
        Kind.STANDSTILL,
        "reports that nothing has changed,",
        "each after an outcome that the run had had before",
        _MORE_THAN_TWICE,
    )
    PLEASANTRIES = (
        Kind.PLEASANTRIES,
        "thanks and good wishes alone",
        "without a call between",
        _MORE_THAN_TWICE,
    )
    PROMISES = (
        Kind.PROMISES,
        "promises to act or to wait",
        "without a call between",
        _MORE_THAN_TWICE,
        _TWO_MORE,
        "if each announces an action, and is answered with no more than a prompt",
    )
    SAME_WORDS = (
        Kind.SAME_WORDS,
        "messages with hardly a new word",
        "with nothing else between",
        _MORE_THAN_FOUR_TIMES,
    )
    REPEATED_TALK = (
        Kind.SAME_WORDS,
        "messages and replies that mostly came before, word for word,",
        "with nothing new between",
        _MORE_THAN_FOUR_TIMES,
    )
    FAILED_ANSWERS = (
        Kind.FAILED_ANSWERS,
        "model calls that fail the same way",
        "without an answer or a call between",
        Least(3, 2),
    )
    FAILED_ANSWERS_IN_TURNS = (
        Kind.FAILED_ANSWERS,
        "model calls that fail in two ways in turns",
        "without an answer or a call between",
        Least(6, 1),
    )
    UNANSWERED_REQUESTS = (
        Kind.FAILED_ANSWERS,
        "model calls that fail with errors of before",
        "without an answer or a call between",
        Least(3, 1),
        Least(6, 2),
        "for one request",
    )
    CUT_OFF_ANSWERS = (
        Kind.CUT_OFF,
        "answers cut off at the output limit before they say or do anything,",
        "without a change, an answer or a new request between",
        _MORE_THAN_REPEATS,
    )
    STOPPED = (
        Kind.STOPPED,
        "answers until the harness stopped the agent,",
        "none of which got any further, as it says",
        _MORE_THAN_REPEATS,
    )


_WITH_OTHERS_BETWEEN = frozenset(
    (
        Rule.TEXT_BETWEEN_LABELS,
        Rule.EXCHANGE,
        Rule.REPORTED_FAILURE,
        Rule.REPEATED_REVIEW,
        Rule.CUT_OFF_ANSWERS,
        Rule.WORK_HANDED_IN_AGAIN,
        Rule.CODE_HANDED_IN_AGAIN,
    )
)
RULES = {rule.id: rule for rule in Rule}
