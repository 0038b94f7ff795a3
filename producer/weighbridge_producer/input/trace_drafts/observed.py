"""What some objects have in common: the JSON Pointers at which they have values, and those with a usual name."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from weighbridge.traces.fields import id_of
from weighbridge.traces.json_pointers import escaped
from weighbridge_producer.input.trace_drafts.fact_names import normal

_DEPTH = 3  #: of the objects that are looked into
_KEYS = 100  #: of an object
_POINTERS = 600
_KEY_LENGTH = 200
_VALUES_KEPT = 3_000
_DISTINCT = 60

Test = Callable[[Any], bool]


@dataclass(slots=True)
class At:
    """The values at a pointer."""

    pointer: str
    keys: tuple[str, ...]  #: those on the way, in their normal form
    values: list[Any] = field(default_factory=list)  #: those other than null
    entries: list[int] = field(default_factory=list)  #: the numbers of the objects that have them


class Observed:
    """The values in some objects, by their pointers."""

    def __init__(self, entries: Sequence[Any]) -> None:
        self.count = len(entries)
        self._at: dict[str, At] = {}
        for number, entry in enumerate(entries[:_VALUES_KEPT]):
            self._add(entry, number, "", (), _DEPTH)

    def _add(
        self, value: Any, number: int, pointer: str, keys: tuple[str, ...], depth: int
    ) -> None:
        if type(value) is not dict:
            return
        for key in list(value)[:_KEYS]:
            held = value[key]
            if held is None or len(key) > _KEY_LENGTH:
                continue
            inner, names = f"{pointer}/{escaped(key)}", (*keys, normal(key))
            at = self._at.get(inner)
            if at is None:
                if len(self._at) >= _POINTERS:
                    continue
                at = self._at[inner] = At(inner, names)
            at.values.append(held)
            at.entries.append(number)
            if depth > 1:
                self._add(held, number, inner, names, depth - 1)

    def all(self) -> Iterable[At]:
        """Return what is at each pointer."""
        return self._at.values()

    def at(self, pointer: str) -> At | None:
        """Return what is at a pointer; None if there is nothing."""
        return self._at.get(pointer)

    def find(
        self,
        names: Sequence[str],
        test: Test,
        *,
        within: Collection[str] | None = None,
        depth: int = _DEPTH,
    ) -> At | None:
        """Return the values at the pointer whose last key has the first of some names, and all of which pass a test.

        Of several it is the one nearest to the top, then the one that most objects have. `within` are the keys that may be
        on the way; None for any.
        """
        rank = {name: place for place, name in enumerate(names)}
        found = [
            at
            for at in self._at.values()
            if at.keys[-1] in rank
            and len(at.keys) <= depth
            and (within is None or all(key in within for key in at.keys[:-1]))
            and all(map(test, at.values))
        ]
        return min(
            found,
            key=lambda at: (len(at.keys), rank[at.keys[-1]], -len(at.values)),
            default=None,
        )


def is_text(value: Any) -> bool:
    """Return whether a value is a text."""
    return type(value) is str


def is_word(value: Any) -> bool:
    """Return whether a value is a short text of one line."""
    return type(value) is str and 0 < len(value) <= 100 and "\n" not in value


def is_count(value: Any) -> bool:
    """Return whether a value is a whole number that is not negative."""
    return type(value) is int and value >= 0


def is_amount(value: Any) -> bool:
    """Return whether a value is a number that is not negative."""
    return type(value) in (int, float) and value >= 0


def is_id(value: Any) -> bool:
    """Return whether a value can be an id."""
    return id_of(value) is not None


def is_content(value: Any) -> bool:
    """Return whether a value is a text, an array or an object."""
    return type(value) in (str, dict, list)


def are_few(values: Sequence[Any], *, of: int) -> bool:
    """Return whether words are so few that they may be names of kinds or tools."""
    distinct = len(set(values))
    return distinct <= _DISTINCT and (distinct <= 12 or distinct * 2 <= of)
