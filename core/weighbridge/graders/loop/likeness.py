"""Finding, among the last few things, one that is alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from rapidfuzz import fuzz, process

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge.graders.loop.wording import Forms, Wording

COMPARED = 12  #: the last things that differ: more would make it quadratic
_COMPARED_CHARACTERS = 8_000  #: things with longer texts are of the same meaning, or not alike
_PARTS = "\x00"
ItemT = TypeVar("ItemT")


class Described:
    """A thing as texts, and all that must be equal for two of them to be alike."""

    __slots__ = ("comparable", "meaning", "shape", "texts")

    def __init__(self, shape: object, texts: Sequence[Wording]) -> None:
        self.shape = shape
        self.texts = texts
        self.meaning = (shape, *[text.forms.meaning for text in texts])
        self.comparable = _PARTS.join([text.forms.plain for text in texts])


class Least(NamedTuple):
    """How alike things must be that are not of the same meaning."""

    score: float  #: from 0 to 1
    sorts: frozenset[
        str
    ]  #: of the texts that may differ; none, and only things of the same meaning are alike


class Alike(NamedTuple, Generic[ItemT]):
    """An earlier thing, and whether it is alike only by its characters, not by its meaning."""

    item: ItemT
    is_fuzzy: bool


class Recent(Generic[ItemT]):
    """The last few things that differ from each other."""

    def __init__(self, least: Least) -> None:
        self._least = least
        self._items: list[tuple[ItemT, Described]] = []
        self._comparable: list[str] = []
        self._by_meaning: dict[object, ItemT] = {}

    def add(self, item: ItemT, described: Described) -> None:
        """Remember a thing, and forget the oldest."""
        self._items.append((item, described))
        self._comparable.append(described.comparable)
        self._by_meaning.setdefault(described.meaning, item)
        if len(self._items) > COMPARED:
            _, oldest = self._items.pop(0)
            self._by_meaning.pop(oldest.meaning, None)
            self._comparable.pop(0)

    def alike(self, described: Described) -> Iterator[Alike[ItemT]]:
        """Yield the things that are alike: one of the same meaning first, then those that are most alike."""
        same = self._by_meaning.get(described.meaning)
        if same is not None:
            yield Alike(same, is_fuzzy=False)
        least = self._least
        if not least.sorts or not 0 < len(described.comparable) <= _COMPARED_CHARACTERS:
            return
        for _, _, place in process.extract(
            described.comparable,
            self._comparable,
            scorer=fuzz.ratio,
            limit=COMPARED,
            score_cutoff=100 * least.score,
        ):
            item, other = self._items[place]
            if _are_alike(described, other, least):
                yield Alike(item, is_fuzzy=True)


def _are_alike(one: Described, other: Described, least: Least) -> bool:
    """Whether all texts that stand in the same place are alike."""
    return one.shape == other.shape and all(
        _are_alike_texts(text.forms, another.forms, least)
        for text, another in zip(one.texts, other.texts, strict=True)
    )


def _are_alike_texts(one: Forms, other: Forms, least: Least) -> bool:
    if one.meaning == other.meaning:
        return True
    if one.sort not in least.sorts or other.sort not in least.sorts or one.digits != other.digits:
        return False
    if "work" not in (one.sort, other.sort) and one.names != other.names:
        return False
    return fuzz.ratio(one.plain, other.plain, score_cutoff=100 * least.score) > 0
