"""Multiple choice: the entry of a list of choices that a value of the row selects, as `choices[answer]`, or its letter."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Any, Self

from weighbridge.errors import Fault
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge_producer.input.mapping.choice_entries import (
    USUAL_CAUSE,
    AmbiguousEntryError,
    NoEntryError,
    decoded_choices,
    index_of,
    listed_choices,
    position_of,
    shown,
)
from weighbridge_producer.input.mapping.row_values import MISSING, Path, Row

_CHOICE = re.compile(r"([^\[\]|]+)\[([^\[\]|]+)\]")
_LETTER = re.compile(r"letter\((.+)\)")
_INDEX = re.compile(r"-?[0-9]{1,9}")


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
        names, _ = listed_choices(decoded_choices(self.choices.of(row, number)), self.choices.text)
        label = names[position] if names else None
        is_letter = isinstance(label, str) and re.fullmatch("[A-Za-z]", label.strip())
        return index_of(label) if is_letter else position

    def fault(self, row: Row, number: int) -> Fault | None:
        """Return why a row's value selects no entry; None if it does, or if the row lacks one of them."""
        error = self._error(row, number)
        return _fault(f"{self.text}: {error}", error.hint) if error else None

    def ambiguity(self, row: Row, number: int) -> Fault | None:
        """Return the fault of a row whose value selects one entry and is the text of another; None for others."""
        error = self._error(row, number)
        is_ambiguous = isinstance(error, AmbiguousEntryError)
        return _fault(f"{self.text}: {error}", error.hint) if error and is_ambiguous else None

    def paths(self) -> Iterable[Path]:
        """Return the column that the whole text may be, and the paths of the choices and of the value."""
        return (Path(self.text), self.choices, self.chosen)

    def __str__(self) -> str:
        return self.text

    def _error(self, row: Row, number: int) -> NoEntryError | None:
        try:
            if self.text not in row:
                self._look_up(row, number)
        except NoEntryError as error:
            return error
        return None

    def _selected(self, row: Row, number: int) -> tuple[Any, Sequence[Any]]:
        try:
            return self._look_up(row, number)
        except NoEntryError:
            return MISSING, ()

    def _look_up(self, row: Row, number: int) -> tuple[Any, Sequence[Any]]:
        choices = decoded_choices(_given(self.choices.of(row, number)))
        chosen = _only(_given(self.chosen.of(row, number)))
        for value in (choices, chosen):
            if value is MISSING or value is None:
                return value, ()
        names, entries = listed_choices(choices, self.choices.text)
        what = f"{self.chosen.text} is {shown(chosen)}"
        return position_of(chosen, names, entries, what, self.choices.text), entries


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
        what = f"{self.index.text} is {shown(value)}"
        return _fault(f"{self.text}: {what}, which is neither an index from 0 to 25 nor a letter")

    def ambiguity(self, row: Row, number: int) -> Fault | None:
        """Return the fault of a row whose value selects one entry and is the text of another; None for others."""
        if isinstance(self.index, Choice) and self.text not in row:
            return self.index.ambiguity(row, number)
        return None

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
        value = _only(_given(self.index.of(row, number)))
        if value is MISSING or value is None:
            return value
        found = index_of(value)
        return MISSING if found is None else found


def _given(value: Any) -> Any:
    """Return a value; None for an empty cell of a table, as for null in JSON."""
    return None if isinstance(value, str) and not value.strip() else value


def _only(value: Any) -> Any:
    """Return the entry of a list of one, as indexes of correct choices are written that may be several."""
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def _fault(message: str, hint: str = USUAL_CAUSE) -> Fault:
    return Fault(ErrorCode.INVALID_FIELD, message, hint)
