"""JSON of the JavaScript library flatted, which writes a value that repeats or contains itself as a list with references.

The list has each value once, the whole one first. Within its objects and lists, a text is the position of another value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from weighbridge.traces.fields import json_in
from weighbridge.traces.importer import damaged

_DEPTH_LIMIT = 100  #: of values in one another, which are put together
_POSITION_DIGITS = 9
#: How much longer what is put together and looked at may be than the text, and the least that it may have, in characters.
_TIMES_AS_LONG, _LEAST_CHARACTERS = 16, 2**16
_OF_VALUE = 8  #: characters that one value counts as that is only looked at


@dataclass(slots=True)
class _Source:
    """The values of a text, and how many characters may still be put together or looked at."""

    values: list[Any]
    left: int

    def at(self, reference: Any) -> Any:
        """Return the value that stands in an object or a list, with the references in it."""
        if type(reference) is not str:
            return reference
        if reference.isascii() and reference.isdigit() and len(reference) <= _POSITION_DIGITS:
            position = int(reference)
            if position < len(self.values):
                return self.values[position]
        raise damaged("a reference in its data leads to no value")

    def spend(self, characters: int) -> None:
        """Count what was put together or looked at."""
        self.left -= characters
        if self.left < 0:
            raise damaged("values of its data are repeated too often")


@dataclass(frozen=True, slots=True)
class LazyValue:
    """A JSON value, plain or of flatted, of which only what is asked for is put together.

    Asking raises TraceError if a reference leads nowhere, or too much was asked for the text that the value is from.
    """

    shallow: Any  #: the value; of flatted, with references in it
    _source: _Source | None = None

    def __getitem__(self, key: str) -> LazyValue:
        """Return what an object holds; null for anything else."""
        return self._inner(self.shallow.get(key) if type(self.shallow) is dict else None)

    def items(self) -> list[tuple[str, LazyValue]]:
        """Return what an object holds, by its keys; empty for anything else."""
        held = self.shallow if type(self.shallow) is dict else {}
        return [(key, self._inner(each)) for key, each in held.items()]

    def each(self) -> list[LazyValue]:
        """Return the items of a list; empty for anything else."""
        return list(map(self._inner, self.shallow)) if type(self.shallow) is list else []

    def first(self) -> LazyValue:
        """Return the first item of a list; null if there is none."""
        held = self.shallow if type(self.shallow) is list else []
        return self._inner(held[0] if held else None)

    def whole(self) -> Any:
        """Return the value itself, in which one that contains itself is null. Raises TraceError if it is nested too deeply."""
        return self.shallow if self._source is None else _whole(self.shallow, self._source, [])

    def _inner(self, held: Any) -> LazyValue:
        if self._source is None:
            return LazyValue(held)
        found = self._source.at(held)
        self._source.spend(_OF_VALUE + (len(found) if type(found) is str else 0))
        return LazyValue(found, self._source)


def _whole(held: Any, source: _Source, around: list[int]) -> Any:
    if type(held) is str:
        source.spend(len(held))
        return held
    if type(held) is not dict and type(held) is not list:
        source.spend(1)
        return held
    if id(held) in around:
        return None
    if len(around) == _DEPTH_LIMIT:
        raise damaged("values of its data are nested too deeply")
    around.append(id(held))
    source.spend(len(held) + 2)
    whole: Any
    if type(held) is dict:
        source.spend(sum(map(len, held)))
        whole = {key: _whole(source.at(each), source, around) for key, each in held.items()}
    else:
        whole = [_whole(source.at(each), source, around) for each in held]
    around.pop()
    return whole


def flatted(text: str) -> LazyValue:
    """Return the value that flatted wrote as a text. Raises TraceError if it is damaged."""
    try:
        values = json_in(text)
    except ValueError:
        values = None
    if type(values) is not list or not values:
        raise damaged("its data is not JSON as the library flatted writes it")
    return LazyValue(values[0], _Source(values, _TIMES_AS_LONG * len(text) + _LEAST_CHARACTERS))
