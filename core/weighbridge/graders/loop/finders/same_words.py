"""Talk that says nothing new: messages directly after one another, in which hardly a word has not been said before."""

from __future__ import annotations

import re
from collections import Counter, deque
from itertools import accumulate, groupby
from typing import TYPE_CHECKING

from weighbridge.graders.loop.finders.findings import Finding
from weighbridge.graders.loop.finders.rules import Rule
from weighbridge.graders.loop.history.words import words_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge.graders.loop.history.actions import Message
    from weighbridge.graders.loop.work_budget import Limits, WorkBudget

_NEWS = 0.05  #: maximum mean share of new words
_WORD = re.compile(r"[^\W\d_]{3,40}")
_FIGURE = re.compile(r"[^\W_]{0,20}\d[^\W_]{0,20}")  #: number, or a field of a board and the like
#: Different ones of a message; a shorter one may be a label, a vote or a move, of which the combination is the news.
_LEAST_WORDS = 15
_CHARACTERS = 3_000  #: of a message that are read
_REMEMBERED = 50  #: messages; in a longer conversation nearly every word has been said before


def same_words(turns: Sequence[Message], limits: Limits, budget: WorkBudget) -> Iterator[Finding]:
    """Find more than `4 * max_repeats` messages in a row, of one agent or several, in which one word in twenty at most is new.

    A word is new if none of the messages before it in the row has it; all numbers of a message are, unless one of these has
    the same. Nothing else lies in between: no call, no message of the user, no event.
    """
    least = Rule.SAME_WORDS.least(limits)
    if sum(not turn.calls for turn in turns) < least:
        return
    for row in _rows(turns):
        if len(row) >= least and budget.is_left:
            yield from _stale(row, [turns[index].text for index in row], least, budget)


def _rows(turns: Sequence[Message]) -> Iterator[list[int]]:
    """Yield the indices of the messages that follow each other as steps of the trace."""

    def before(index: int) -> int:
        turn = turns[index]
        # Consecutive numbers minus consecutive indices are equal.
        return turn.number - index if turn.text and not turn.calls else -1 - index

    for _, indices in groupby(range(len(turns)), before):
        yield [*indices]


def _stale(
    row: Sequence[int], texts: Sequence[str], least: int, budget: WorkBudget
) -> Iterator[Finding]:
    sums = [0.0, *accumulate(_news(texts, budget))]
    stale = [
        at for at in range(len(row) - least + 1) if sums[at + least] - sums[at] <= _NEWS * least
    ]
    spans: list[tuple[int, int]] = []
    for at in stale:
        begins = spans.pop()[0] if spans and at < spans[-1][1] else at
        spans.append((begins, at + least))
    for begin, end in spans:
        yield Finding.by(Rule.SAME_WORDS, row[begin:end], least)


def _news(texts: Sequence[str], budget: WorkBudget) -> Iterator[float]:
    """Yield the share of new words and numbers in each text; 1 for a text of few words."""
    known: Counter[str] = Counter()
    remembered: deque[set[str]] = deque()
    for text in texts:
        read = text[:_CHARACTERS].casefold()
        words, figures = set(words_in(read, _WORD)), _FIGURE.findall(read)
        budget.count_reading(read, len(words) + len(figures))
        is_read = len(words) >= _LEAST_WORDS
        numbers = " ".join(figures)
        new = sum(not known[word] for word in words) + len(figures) * (not known[numbers])
        yield new / (len(words) + len(figures)) if is_read else 1.0
        words.add(numbers)
        known.update(words)
        remembered.append(words)
        if len(remembered) > _REMEMBERED:
            known.subtract(remembered.popleft())
