"""Search for similar items among the most recent ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from rapidfuzz import fuzz, process

from weighbridge.graders.loop.history.text_forms import ComparedText, digits_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from weighbridge.graders.loop.history.text_forms import TextForms
    from weighbridge.graders.loop.work_budget import WorkBudget

COMPARED = 12  #: maximum recent items to compare with, because comparing all would be quadratic
_MISSES_LIMIT = 60  #: consecutive items without a similar one, after which fewer are compared
_COMPARED_AFTER_MISSES = 4  #: recent items to compare with from then on
#: items with longer texts are similar only if they have the same meaning
_COMPARED_CHARACTERS = 8_000
_LONG_CHARACTERS = 1_000  #: from this length, comparing characters costs more than comparing forms
#: From this length, comparing the beginnings of texts first costs less.
_RULED_OUT_CHARACTERS = 200
#: Length of a beginning, as a multiple of the characters in which those of similar texts may differ.
_BEGINNING = 1.5
_MOST_OF_A_TEXT = 0.6  #: a beginning of a larger share of the text costs more than it saves
_PARTS = "\x00"
ItemT = TypeVar("ItemT")


class ComparedItem:
    """Item as texts to compare, and a shape that must be equal for two items to be similar."""

    __slots__ = ("joined_text", "meaning", "shape", "texts")

    def __init__(self, shape: object, texts: Sequence[ComparedText]) -> None:
        self.shape = shape
        self.texts = texts
        self.meaning = (shape, *[text.forms.meaning for text in texts])
        self.joined_text = _PARTS.join([text.forms.plain for text in texts])


class Threshold(NamedTuple):
    """Minimum similarity of items with different meanings."""

    score: float  #: from 0 to 1
    #: of texts that may differ in characters; if empty, only items with the same meaning are similar
    kinds: frozenset[str]


class Match(NamedTuple, Generic[ItemT]):
    """Similar earlier item, and whether it is similar only in characters, not in meaning."""

    item: ItemT
    is_fuzzy: bool


class Recent(Generic[ItemT]):
    """Most recent items that differ from each other."""

    def __init__(self, threshold: Threshold, budget: WorkBudget) -> None:
        self._threshold = threshold
        self._budget = budget
        self._items: list[tuple[ItemT, ComparedItem]] = []
        self._by_meaning: dict[object, ItemT] = {}
        self._misses = 0  #: consecutive items without a similar one

    def add(self, item: ItemT, described: ComparedItem) -> None:
        """Add an item, and drop the oldest."""
        self._items.append((item, described))
        self._by_meaning.setdefault(described.meaning, item)
        if len(self._items) > COMPARED:
            _, oldest = self._items.pop(0)
            self._by_meaning.pop(oldest.meaning, None)

    def matches(self, described: ComparedItem) -> Iterator[Match[ItemT]]:
        """Yield the similar items: first one with the same meaning, then the others by decreasing similarity."""
        same = self._by_meaning.get(described.meaning)
        if same is not None:
            yield Match(same, is_fuzzy=False)
        if self._threshold.kinds and 0 < len(described.joined_text) <= _COMPARED_CHARACTERS:
            yield from self._fuzzy_matches(described)

    def _fuzzy_matches(self, described: ComparedItem) -> Iterator[Match[ItemT]]:
        threshold, budget = self._threshold, self._budget
        near = (
            self._items if self._misses < _MISSES_LIMIT else self._items[-_COMPARED_AFTER_MISSES:]
        )
        self._misses += 1
        if len(described.joined_text) > _LONG_CHARACTERS:
            budget.count_lookups(len(near) * (1 + len(described.texts)))
            near = [each for each in near if _may_be_alike(described, each[1], threshold)]
        text, comparable = described.joined_text, [other.joined_text for _, other in near]
        budget.count_comparison(len(text), sum(map(len, comparable)))
        if len(text) >= _RULED_OUT_CHARACTERS and near:
            indices = _not_ruled_out(text, comparable, threshold.score)
            near = [near[index] for index in indices]
            comparable = [comparable[index] for index in indices]
        for _, score, index in _most_alike(text, comparable, 100 * threshold.score):
            item, other = near[index]
            budget.count_lookups(1 + len(described.texts))
            if not _may_be_alike(described, other, threshold):
                continue
            if (len(described.texts) == 1 and score > 0) or _are_alike(
                described, other, threshold, budget
            ):
                self._misses = 0
                yield Match(item, is_fuzzy=True)


class _Text:
    """Numbered text, described only once another text has the same digits."""

    __slots__ = ("described", "digits", "number", "text")

    def __init__(self, number: int, text: str) -> None:
        self.number = number
        self.text = text
        self.digits = digits_of(text)
        self.described: ComparedItem | None = None


class RecentTexts:
    """Most recent texts that differ from each other."""

    def __init__(self, threshold: Threshold, budget: WorkBudget) -> None:
        self._threshold = threshold
        self._budget = budget
        self._texts: list[_Text] = []
        self._by_meaning: dict[object, int] = {}

    def add(self, number: int, text: str, kind_of: Callable[[int], int]) -> set[int]:
        """Add a text, and drop the oldest; return the kinds of the similar texts."""
        added = _Text(number, text)
        near = [each for each in self._texts if each.digits == added.digits]
        kinds = self._kinds_alike(added, near, kind_of) if near else set()
        self._texts.append(added)
        if len(self._texts) > COMPARED:
            oldest = self._texts.pop(0).described
            if oldest is not None:
                self._by_meaning.pop(oldest.meaning, None)
        return kinds

    def _kinds_alike(
        self, added: _Text, near: Sequence[_Text], kind_of: Callable[[int], int]
    ) -> set[int]:
        """Return the kinds of the texts that are similar to an added one, given the texts with the same digits."""
        others = [(each.number, self._describe(each)) for each in near]
        described = self._describe(added)
        same = self._by_meaning[described.meaning]
        kinds = set() if same == added.number else {kind_of(same)}
        threshold, budget, text = self._threshold, self._budget, described.joined_text
        if not 0 < len(text) <= _COMPARED_CHARACTERS:
            return kinds
        budget.count_lookups(len(others))
        for number, other in reversed(others):
            if kind_of(number) in kinds or not _may_be_alike(described, other, threshold):
                continue
            budget.count_comparison(len(text), len(other.joined_text))
            if fuzz.ratio(text, other.joined_text, score_cutoff=100 * threshold.score) > 0:
                kinds.add(kind_of(number))
        return kinds

    def _describe(self, text: _Text) -> ComparedItem:
        if text.described is None:
            text.described = ComparedItem((), (ComparedText(text.text, self._budget),))
            self._by_meaning.setdefault(text.described.meaning, text.number)
        return text.described


def _not_ruled_out(text: str, others: Sequence[str], score: float) -> Sequence[int]:
    """Return the indices of the texts that may be similar, judged by their lengths and beginnings.

    Two texts differ in at least as many characters as their beginnings of equal length, less the difference between the
    lengths of the texts.
    """
    lengths = [len(other) for other in others]
    indices: Sequence[int] = range(len(others))
    most = (1 - score) * (len(text) + max(lengths)) + 1  # one more for rounding errors
    longer: float = max(max(lengths) - len(text), len(text) - min(lengths))
    if longer > most:
        indices = [index for index in indices if abs(lengths[index] - len(text)) <= most]
        longer = most
    room = most + longer
    beginning = int(_BEGINNING * room) + 1
    if beginning > _MOST_OF_A_TEXT * len(text):
        return indices
    beginnings = [others[index][:beginning] for index in indices]
    least = 100 * (1 - room / (2 * beginning))
    return sorted([indices[at] for _, _, at in _most_alike(text[:beginning], beginnings, least)])


def _most_alike(text: str, others: Sequence[str], least: float) -> list[tuple[str, float, int]]:
    """Return the similar texts by decreasing similarity, each with its score (0 to 100) and index."""
    if not others:
        return []
    return process.extract(text, others, scorer=fuzz.ratio, limit=COMPARED, score_cutoff=least)


def _may_be_alike(one: ComparedItem, other: ComparedItem, threshold: Threshold) -> bool:
    """Return whether two items differ at most in the characters of their texts."""
    return one.shape == other.shape and all(
        _may_be_alike_texts(text.forms, another.forms, threshold)
        for text, another in zip(one.texts, other.texts, strict=True)
    )


def _may_be_alike_texts(one: TextForms, other: TextForms, threshold: Threshold) -> bool:
    if one.meaning == other.meaning:
        return True
    if (
        one.kind not in threshold.kinds
        or other.kind not in threshold.kinds
        or one.digits != other.digits
    ):
        return False
    return "content" in (one.kind, other.kind) or one.names == other.names


def _are_alike(
    one: ComparedItem, other: ComparedItem, threshold: Threshold, budget: WorkBudget
) -> bool:
    """Return whether all texts in equal positions are similar, for items that differ at most in characters."""
    for text, another in zip(one.texts, other.texts, strict=True):
        if text.forms.meaning != another.forms.meaning:
            plain, others = text.forms.plain, another.forms.plain
            budget.count_comparison(len(plain), len(others))
            if not fuzz.ratio(plain, others, score_cutoff=100 * threshold.score) > 0:
                return False
    return True
