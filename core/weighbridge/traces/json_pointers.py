"""JSON Pointers (RFC 6901) to facts, with the use that is made of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

_NOTHING = object()  #: marker of an absent value, which differs from null
_EACH = "/*"  #: end of a pointer to the values of an object, or the items of an array

Pointers = dict[str, "tuple[str, ...] | Pointers"]
"""The JSON Pointers of each field, of which the first with a value counts, or those of its parts."""


class PointerUse:
    """Follows the pointers of a mapping, and notes which of them lead to a value."""

    def __init__(self) -> None:
        self._found: set[str] = set()
        self._followed: set[str] = set()

    def resolved(self, value: Any, name: str, pointer: str) -> Any:
        """Return the value at a pointer, which is recorded under its name; None if there is none."""
        self._followed.add(name)
        held = resolve(value, pointer, _NOTHING)
        if held is _NOTHING:
            return None
        self._found.add(name)
        return held

    def each(self, value: Any, name: str, pointers: tuple[str, ...]) -> Iterator[Any]:
        """Follow the pointers of one fact one after the other, and yield the values that are not null."""
        for at, pointer in enumerate(pointers):
            held = self.resolved(value, _place(name, at, pointers), pointer)
            if held is not None:
                yield held

    def picked(self, value: Any, within: str, pointers: Pointers) -> dict[str, Any]:
        """Return the fields found at pointers; absent ones are left out. `within` is the prefix of the pointers' names."""
        recorded: dict[str, Any] = {}
        for name, pointer in pointers.items():
            held = (
                self.picked(value, f"{within}{name}.", pointer)
                if isinstance(pointer, dict)
                else next(self.each(value, within + name, pointer), None)
            )
            if held is not None and held != {}:
                recorded[name] = held
        return recorded

    def without_value(self, named: dict[str, str]) -> dict[str, str]:
        """Return which pointers, given by their names, were followed and never led to a value."""
        unfound = self._followed - self._found
        return {name: pointer for name, pointer in named.items() if name in unfound}


def by_place(name: str, pointers: tuple[str, ...]) -> dict[str, str]:
    """Return the pointers of a fact by their names."""
    return {_place(name, at, pointers): pointer for at, pointer in enumerate(pointers)}


def _place(name: str, at: int, pointers: tuple[str, ...]) -> str:
    """Return the name of a pointer of a fact; only several of them have numbers, from 0."""
    return name if len(pointers) == 1 else f"{name}.{at}"


def by_name(within: str, pointers: Pointers) -> dict[str, str]:
    """Return all pointers of some fields by their names, such as `step.usage.input_tokens`; `within` is the prefix of these."""
    named: dict[str, str] = {}
    for name, pointer in pointers.items():
        if isinstance(pointer, dict):
            named |= by_name(f"{within}{name}.", pointer)
        else:
            named |= by_place(within + name, pointer)
    return named


def resolve(value: Any, pointer: str, otherwise: Any = None) -> Any:
    """Return the value at a JSON Pointer (RFC 6901); `otherwise` if there is none."""
    for token in pointer.split("/")[1:]:
        key = unescaped(token)
        if type(value) is dict:
            value = value.get(key, otherwise)
        elif type(value) is list and key.isdecimal() and len(key) < 10 and int(key) < len(value):
            value = value[int(key)]
        else:
            return otherwise
    return value


def entries_at(value: Any, pointer: str) -> list[tuple[str | None, Any]] | None:
    """Return the items of the array at a pointer; at one that ends with `/*` also the values of an object, with their keys.

    Return None if neither is there.
    """
    held = resolve(value, pointer.removesuffix(_EACH))
    if type(held) is dict and pointer.endswith(_EACH):
        return list(held.items())
    return [(None, item) for item in held] if type(held) is list else None


def escaped(key: str) -> str:
    """Return a key as a token of a JSON Pointer, without the slash before it."""
    return key.replace("~", "~0").replace("/", "~1")


def unescaped(token: str) -> str:
    """Return the key that a token of a JSON Pointer stands for."""
    return token.replace("~1", "/").replace("~0", "~")
