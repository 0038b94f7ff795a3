"""Messages that go round in themselves: most of a long text is passages that it has had before, word for word."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from weighbridge.graders.loop.finders.findings import REPEATED_PASSAGES, Finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge.graders.loop.history.actions import Message
    from weighbridge.graders.loop.work_budget import Limits, WorkBudget

_TEXT_CHARACTERS = 2_000  #: minimum length of a text that is examined
#: A shorter passage, or one of fewer different words, may recur in any text.
_PASSAGE_CHARACTERS = 40
_PASSAGE_WORDS = 7
_SHARE = 1 / 2  #: minimum share of a text that repeats earlier passages of it
_FENCE = "```"
_NUMBERING = re.compile(r"[\W\d_]*")


def repeated_passages(
    turns: Sequence[Message], limits: Limits, budget: WorkBudget
) -> Iterator[Finding]:
    """Find messages of which half repeats earlier passages, one of them more than `2 * max_repeats` times.

    A passage is a line of prose without its numbering. Code between fences is not examined.
    """
    for index, turn in enumerate(turns):
        if len(turn.text) >= _TEXT_CHARACTERS and budget.is_left:
            budget.count_reading(turn.text, 0)
            times = _times_repeated(turn.text)
            if times > 2 * limits.max_repeats:
                yield Finding(REPEATED_PASSAGES, None, (index,), times)


def _times_repeated(text: str) -> int:
    """Return how often the most frequent passage of a text occurs; 0 if less than half of the text repeats passages."""
    prose = "".join(text.split(_FENCE)[::2])
    lines = [_NUMBERING.sub("", line, count=1).rstrip() for line in prose.split("\n")]
    passages = Counter(line for line in lines if _is_passage(line))
    repeated = sum(len(passage) * (count - 1) for passage, count in passages.items())
    return max(passages.values(), default=0) if repeated >= _SHARE * len(prose) else 0


def _is_passage(line: str) -> bool:
    return len(line) >= _PASSAGE_CHARACTERS and len(set(line.split())) >= _PASSAGE_WORDS
