"""Messages that go round in themselves: most of a long text is passages that it has had before, word for word."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from weighbridge.graders.loop.finders.findings import Finding
from weighbridge.graders.loop.finders.rules import Rule
from weighbridge.graders.loop.history.words import words_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge.graders.loop.history.actions import Message
    from weighbridge.graders.loop.work_budget import Limits, WorkBudget

_TEXT_CHARACTERS = 1_000  #: minimum length of a text that is examined
#: A shorter text may have a table whose rows are the same but for the number or date that they begin with.
_TABLE_CHARACTERS = 2_000
_ROW = "|"  #: start of a row
#: A shorter passage, or one of fewer different words, may recur in any text.
_PASSAGE_CHARACTERS = 40
_PASSAGE_WORDS = 7
_LINE_CHARACTERS = 20  #: a shorter line of code may recur in any code
_SHARE = 1 / 2  #: minimum share of a text that repeats earlier passages of it
#: Of a word or a syllable that is repeated without end: its length, how often, and the characters that are looked at.
_UNIT_CHARACTERS, _UNITS, _WINDOW = 100, 100, 300
_FENCE = "```"
_NUMBERING = re.compile(r"[\W\d_]*")


def repeated_passages(
    turns: Sequence[Message], limits: Limits, budget: WorkBudget
) -> Iterator[Finding]:
    """Find messages of which half repeats earlier passages, one of them more than `2 * max_repeats` times.

    A passage is a line of prose without its numbering, which rows of a table keep in a text of less than 2,000 characters.
    Lines of code between fences count as repeated only if the passage comes twice as often. It may also be a word or a
    syllable that comes a hundred times in a row, in code too.
    """
    for index, turn in enumerate(turns):
        if len(turn.text) >= _TEXT_CHARACTERS and budget.is_left:
            budget.count_reading(turn.text, 0)
            rule, times, least = _repetition(turn.text, limits)
            if times >= least:
                yield Finding.by(rule, (index,), least, count=times)


def _repetition(text: str, limits: Limits) -> tuple[Rule, int, int]:
    """Return the rule by which a text repeats itself, how often it does so, and how often is a loop."""
    rule = Rule.REPEATED_PASSAGES
    least, least_in_code = (rule.least(limits, other=is_code) for is_code in (False, True))
    prose = "".join(text.split(_FENCE)[::2])
    passages = Counter(line for line in _lines(prose) if _is_passage(line))
    times = max(passages.values(), default=0)
    if times >= least and _repeated(passages) >= _SHARE * len(prose):
        return rule, times, least
    if times >= least_in_code:
        lines = Counter(line for line in _lines(text) if len(line) >= _LINE_CHARACTERS)
        if _repeated(lines) >= _SHARE * len(text):
            return rule, times, least_in_code
    most = max(least, Rule.REPEATED_WORD.least(limits))
    return Rule.REPEATED_WORD, _times_in_row("".join(text.split())), most


def _lines(text: str) -> list[str]:
    rows = _ROW if len(text) < _TABLE_CHARACTERS else ()
    return [
        line.rstrip() if line.startswith(rows) else _NUMBERING.sub("", line, count=1).rstrip()
        for line in text.split("\n")
    ]


def _repeated(lines: Counter[str]) -> int:
    """Return the number of characters in repeats of earlier lines."""
    return sum(len(line) * (count - 1) for line, count in lines.items())


def _times_in_row(text: str) -> int:
    """Return how often a text without spaces repeats one word or syllable in a row; 0 if this is less than half of it."""
    for start in range(0, len(text), max(_WINDOW, len(text) // 4)):
        window = text[start : start + _WINDOW]
        for length in range(2, min(_UNIT_CHARACTERS, len(window) // 2)):
            if not window.startswith(window[length:]):
                continue
            unit = window[:length]
            times = text.count(unit)
            is_word = len(set(unit)) > 1 and unit.isalpha()
            if is_word and times >= _UNITS and times * length >= _SHARE * len(text):
                return times
            break
    return 0


def _is_passage(line: str) -> bool:
    if len(line) < _PASSAGE_CHARACTERS:
        return False
    words = line.split() if line.isascii() else words_in(line)
    return len(set(words)) >= _PASSAGE_WORDS
