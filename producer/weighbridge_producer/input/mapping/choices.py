"""Multiple choice: the entry of a list of choices that a value of the row selects, as `choices[answer]`, or its letter."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from math import isfinite
from string import ascii_uppercase
from typing import Any, Self

from weighbridge.errors import Fault
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge.text import pluralize, shorten
from weighbridge_producer.input.mapping.row_values import MISSING, Path, Row, json_within

_CHOICE = re.compile(r"([^\[\]|]+)\[([^\[\]|]+)\]")
_LETTER = re.compile(r"letter\((.+)\)")
_INDEX = re.compile(r"-?[0-9]{1,9}")
_WHOLE = re.compile(r"(-?[0-9]{1,9})(?:\.0{1,18})?")  #: a column of numbers with gaps has 1.0 for 1
_LABELS, _TEXTS = "label", "text"  #: keys of choices as two lists, as in ARC and CommonsenseQA
_SHOWN = 60  #: characters of a value
_INDEX_LIMIT = 10**9
_MOST = 10_000  #: choices of a row


_USUAL_CAUSE = (
    "correct the row; -1 usually stands for an unknown answer, and such a row can be left out"
)


class _NoEntryError(Exception):
    """A value selects no entry."""

    def __init__(self, message: str, hint: str = _USUAL_CAUSE) -> None:
        super().__init__(message)
        self.hint = hint


@dataclass(frozen=True, slots=True)
class Choice:
    """The entry that a value selects: in a list by an index from 0, a letter or its text, and in an object by its key."""

    text: str
    choices: Path
    chosen: Path

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """Parse `choices[answer]`; None if a text is written otherwise."""
        found = _CHOICE.fullmatch(text)
        if not found or _INDEX.fullmatch(found[2].strip()):
            return None
        return cls(text, Path(found[1].strip()), Path(found[2].strip()))

    def of(self, row: Row, number: int) -> Any:
        """Return the entry; None if there are no choices or nothing is chosen, MISSING if the row lacks it.

        A column whose name is the whole text takes precedence.
        """
        if self.text in row:
            return row[self.text]
        position, entries = self._selected(row, number)
        return position if position in (MISSING, None) else entries[position]

    def position(self, row: Row, number: int) -> Any:
        """Return the position of the entry among the others, from 0; None and MISSING as `of` does.

        That of an entry whose label is a letter is the letter's in the alphabet.
        """
        position, _ = self._selected(row, number)
        if position is MISSING or position is None:
            return position
        names, _ = _listed(_decoded(self.choices.of(row, number)), self.choices.text)
        label = names[position] if names else None
        is_letter = isinstance(label, str) and re.fullmatch("[A-Za-z]", label.strip())
        return _index_of(label) if is_letter else position

    def fault(self, row: Row, number: int) -> Fault | None:
        """Return why a row's value selects no entry; None if it does, or if the row lacks one of them."""
        try:
            if self.text not in row:
                self._look_up(row, number)
        except _NoEntryError as error:
            return _fault(f"{self.text}: {error}", error.hint)
        return None

    def paths(self) -> Iterable[Path]:
        """Return the column that the whole text may be, and the paths of the choices and of the value."""
        return (Path(self.text), self.choices, self.chosen)

    def __str__(self) -> str:
        return self.text

    def _selected(self, row: Row, number: int) -> tuple[Any, Sequence[Any]]:
        try:
            return self._look_up(row, number)
        except _NoEntryError:
            return MISSING, ()

    def _look_up(self, row: Row, number: int) -> tuple[Any, Sequence[Any]]:
        choices = _decoded(_given(self.choices.of(row, number)))
        chosen = _given(self.chosen.of(row, number))
        for value in (choices, chosen):
            if value is MISSING or value is None:
                return value, ()
        names, entries = _listed(choices, self.choices.text)
        what = f"{self.chosen.text} is {_shown(chosen)}"
        return _position(chosen, names, entries, what, self.choices.text), entries


@dataclass(frozen=True, slots=True)
class Letter:
    """The letter of an index from 0, or of the entry that a value selects: A for the first."""

    text: str
    index: Path | Choice

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """Parse `letter(answer)` or `letter(choices[answer])`; None if a text is written otherwise."""
        if not (found := _LETTER.fullmatch(text)):
            return None
        inner = found[1].strip()
        return cls(text, Choice.parse(inner) or Path(inner))

    def of(self, row: Row, number: int) -> Any:
        """Return the letter; None if nothing is chosen, MISSING if the row lacks it.

        A column whose name is the whole text takes precedence.
        """
        if self.text in row:
            return row[self.text]
        index = self._index(row, number)
        if index is MISSING or index is None:
            return index
        return ascii_uppercase[index] if 0 <= index < len(ascii_uppercase) else MISSING

    def fault(self, row: Row, number: int) -> Fault | None:
        """Return why a row's value has no letter; None if it has, or if the row lacks it."""
        if self.text in row:
            return None
        if isinstance(self.index, Choice) and (fault := self.index.fault(row, number)):
            return fault
        value = _given(self.index.of(row, number))
        if value is MISSING or value is None or self.of(row, number) is not MISSING:
            return None
        what = f"{self.index.text} is {_shown(value)}"
        return _fault(f"{self.text}: {what}, which is neither an index from 0 to 25 nor a letter")

    def paths(self) -> Iterable[Path]:
        """Return the column that the whole text may be, and the paths of the index."""
        inner = self.index
        paths = (inner.choices, inner.chosen) if isinstance(inner, Choice) else (inner,)
        return (Path(self.text), *paths)

    def __str__(self) -> str:
        return self.text

    def _index(self, row: Row, number: int) -> Any:
        if isinstance(self.index, Choice):
            return self.index.position(row, number)
        value = _given(self.index.of(row, number))
        if value is MISSING or value is None:
            return value
        found = _index_of(value)
        return MISSING if found is None else found


def _given(value: Any) -> Any:
    """Return a value; None for an empty cell of a table, as for null in JSON."""
    return None if isinstance(value, str) and not value.strip() else value


def _decoded(choices: Any) -> Any:
    return _decoded_text(choices) if isinstance(choices, str) else choices


@lru_cache(maxsize=1)
def _decoded_text(text: str) -> Any:
    """Return choices written as JSON. A row's are needed several times, and often all rows have the same ones."""
    return json_within(text)


def _listed(choices: Any, name: str) -> tuple[list[Any] | None, Sequence[Any]]:
    """Return the keys or labels of choices, None if they have none, and the entries."""
    if not isinstance(choices, (list, Mapping)):
        raise _NoEntryError(f"{name} is {_shown(choices)}, which is neither a list nor an object")
    if isinstance(choices, list):
        _limit(choices, name)
        return None, choices
    labels, texts = choices.get(_LABELS), choices.get(_TEXTS)
    if isinstance(labels, list) and isinstance(texts, list) and len(labels) == len(texts):
        _limit(labels, name)
        return labels, texts
    _limit(choices, name)
    return list(choices), list(choices.values())


def _limit(choices: Sized, name: str) -> None:
    """Raise _NoEntryError for more choices than can be looked through in each row."""
    if len(choices) > _MOST:
        raise _NoEntryError(
            f"{name} has {len(choices):,} choices, at most {_MOST:,} are allowed",
            "add a column with the text of the answer, and map that",
        )


def _position(
    chosen: Any, names: list[Any] | None, entries: Sequence[Any], what: str, where: str
) -> int:
    if names is not None:
        known = list(map(str, names))
        wanted = str(chosen)
        if wanted not in known:
            known, wanted = list(map(_plain, names)), _plain(chosen)
        if isinstance(chosen, bool) or wanted not in known:
            raise _NoEntryError(f"{what}, but {where} has {shorten(', '.join(known), _SHOWN)}")
        return known.index(wanted)
    of_text = entries.index(chosen) if isinstance(chosen, str) and chosen in entries else None
    index = _index_of(chosen)
    if of_text is not None:
        if index not in (None, of_text):
            raise _NoEntryError(
                f"{what}, an index and also the text of choice {of_text} in {where}"
            )
        return of_text
    if index is None:
        count = f"{pluralize(len(entries), 'choice')} in {where}"
        raise _NoEntryError(f"{what}, which is no index, letter or text of the {count}")
    if not 0 <= index < len(entries):
        count = pluralize(len(entries), "choice")
        raise _NoEntryError(f"{what}, but {where} has {count}, counted from 0")
    return index


def _plain(name: Any) -> str:
    """Return a key, a label or what selects one, as text; that of 1 for 1.0."""
    if isinstance(name, str):
        found = _WHOLE.fullmatch(name)
        return found[1] if found else name
    number = whole_number(name)
    return str(name) if number is None else str(number)


def _index_of(value: Any) -> int | None:
    """Return the index that a number, digits or a letter stand for; None if a value is none of these."""
    if isinstance(value, str) and re.fullmatch("[A-Za-z]", letter := value.strip()):
        return ascii_uppercase.index(letter.upper())
    return whole_number(value)


def whole_number(value: Any) -> int | None:
    """Return the integer that a number or digits stand for, also with zeros behind a decimal point; None for others."""
    if isinstance(value, str):
        found = _WHOLE.fullmatch(value.strip())
        return int(found[1]) if found else None
    if isinstance(value, (float, Decimal)) and isfinite(value):
        return int(value) if -_INDEX_LIMIT < value < _INDEX_LIMIT and value == int(value) else None
    return value if type(value) is int else None


def _shown(value: Any) -> str:
    return shorten(repr(value), _SHOWN)


def _fault(message: str, hint: str = _USUAL_CAUSE) -> Fault:
    return Fault(ErrorCode.INVALID_FIELD, message, hint)
