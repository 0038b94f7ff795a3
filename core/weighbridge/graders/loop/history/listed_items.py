"""Items that a user lists in a request, `shop1.example, shop2.example and shop3.example` or `the tickets A1 to A9`."""

from __future__ import annotations

import re
from functools import cached_property
from itertools import islice, pairwise
from typing import TYPE_CHECKING, NamedTuple

from weighbridge.graders.loop.linear_patterns import linear, occurs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge.graders.loop.work_budget import WorkBudget

_CHARACTERS = 20_000  #: of the beginning of a message that are searched
_CHARACTERS_OF_LOOKUP = 4_000  #: of a message, searched for one item in a unit of the budget
_ITEM_CHARACTERS = 100  #: a longer value is no item
_RANGES = 50  #: maximum ranges of a message that are examined
_GAP_CHARACTERS = 200  #: maximum distance between two items of one list
#: A range from one item to another: `A1 to A9`, `7-12`, `shop1.example through shop9.example`.
_RANGE = (
    r"([^\s,;:()\d]{0,40}\d{1,9}[^\s,;:()\d]{0,40}?)\s?(?:to|through|thru|until|till|up to|bis|\.{2,3}|-)\s?(?:and including )?"
    r"([^\s,;:()\d]{0,40}\d{1,9}[^\s,;:()\d]{0,40}?)[,;:.?!)\]]{0,4}(?:\s|\z)"
)
_may_have_range = occurs(_RANGE)
_range_pattern = linear(_RANGE)
_NUMBERED = re.compile(r"(\D*)(\d{1,9})(\D*)")
_BEFORE_RANGE = " \t\n\r,;(["
_DASHES = str.maketrans("\u2013\u2014", "--")
_LETTERS, _DIGITS = re.compile(r"[^\W\d_]+"), re.compile(r"\d+")
_MARKS = " \t\"'`.,;:!?|/&+*()[]{}<>-"
_CONJUNCTIONS = frozenset(("", "and", "or", "then", "und", "oder"))
_OUTER_CHARACTERS = "\"'`.,;:!?([{<>}])*"


class _Range(NamedTuple):
    before: str
    first: int
    last: int
    after: str


class ListedItems:
    """The items that a message may list."""

    def __init__(self, text: str) -> None:
        self._message = text

    @cached_property
    def _text(self) -> str:
        return self._message[:_CHARACTERS].translate(_DASHES).casefold()

    @cached_property
    def _ranges(self) -> list[_Range]:
        return [*_ranges_in(self._text)]

    def name_all(self, items: Sequence[str], budget: WorkBudget) -> bool:
        """Return whether the message has all these items in one list, or in ranges."""
        found: list[tuple[int, int]] = []  #: start and end of each item
        shapes: set[str] = set()
        for item in (each.translate(_DASHES).casefold() for each in items):
            at = self._index_of(item, budget)
            if at < 0 and not self._is_in_range(item, budget):
                return False
            if at >= 0:
                found.append((at, at + len(item)))
                shapes.add(_LETTERS.sub("a", _DIGITS.sub("0", item)))
        found.sort()
        if any(after[0] - before[0] > _GAP_CHARACTERS for before, after in pairwise(found)):
            return False
        between = [self._text[before[1] : after[0]] for before, after in pairwise(found)]
        return len(shapes) <= 1 or 2 * sum(map(_is_separator, between)) >= len(between)

    def _index_of(self, item: str, budget: WorkBudget) -> int:
        """Return where an item stands in the message as a whole word, or -1."""
        if not item or len(item) > _ITEM_CHARACTERS:
            return -1
        budget.count_lookups(1 + len(self._text) // _CHARACTERS_OF_LOOKUP)
        at = self._text.find(item)
        while at >= 0:
            end = at + len(item)
            before, after = self._text[max(0, at - 2) : at], self._text[end : end + 2]
            if not (_continues(before[::-1]) or _continues(after)):
                return at
            budget.count_lookups(1)
            at = self._text.find(item, end)
        return -1

    def _is_in_range(self, item: str, budget: WorkBudget) -> bool:
        numbered = _NUMBERED.fullmatch(item)
        if numbered is None:
            return False
        budget.count_lookups(1 + len(self._ranges))
        before, number, after = numbered.groups()
        return any(
            (each.before, each.after) == (before, after) and each.first <= int(number) <= each.last
            for each in self._ranges
        )


def _is_separator(between: str) -> bool:
    """Return whether what is between two items may be between those of a list, and is no word that says what the next one is."""
    return "\n" in between or between.strip(_MARKS) in _CONJUNCTIONS


def _continues(beside: str) -> bool:
    """Return whether the two characters beside an item, the nearer one first, belong to its word."""
    nearest = beside[:1]
    return nearest.isalnum() or nearest == "_" or (nearest in ".-" and beside[1:].isalnum())


def _ranges_in(text: str) -> Iterator[_Range]:
    for found in islice(_range_pattern.finditer(text) if _may_have_range(text) else (), _RANGES):
        # The end of a time or of a number with a point is no item.
        if (text[max(0, found.start() - 1) : found.start()] or " ") not in _BEFORE_RANGE:
            continue
        first, last = (_NUMBERED.fullmatch(end.strip(_OUTER_CHARACTERS)) for end in found.groups())
        # The last one of `A1 to 9` has no name of its own.
        if first and last and last[1] in (first[1], "") and first[3] in (last[3], ""):
            yield _Range(first[1], int(first[2]), int(last[2]), last[3])
