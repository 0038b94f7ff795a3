"""The entry of a list or an object of choices that a value selects: by its index from 0, its letter, its text or its key."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Sized
from decimal import Decimal
from functools import lru_cache
from math import isfinite
from string import ascii_uppercase
from typing import Any

from weighbridge.text import pluralize, shorten
from weighbridge_producer.input.mapping.row_values import json_within

_WHOLE = re.compile(r"(-?[0-9]{1,9})(?:\.0{1,18})?")  #: a column of numbers with gaps has 1.0 for 1
_LABELS, _TEXTS = "label", "text"  #: keys of choices as two lists, as in ARC and CommonsenseQA
_SHOWN = 60  #: characters of a value
_INDEX_LIMIT = 10**9
_MOST = 10_000  #: choices of a row

USUAL_CAUSE = (
    "correct the row; -1 usually stands for an unknown answer, and such a row can be left out"
)


class NoEntryError(Exception):
    """A value selects no entry."""

    def __init__(self, message: str, hint: str = USUAL_CAUSE) -> None:
        super().__init__(message)
        self.hint = hint


class AmbiguousEntryError(NoEntryError):
    """A value selects one entry by its position or key, and is the text of another."""


def shown(value: Any) -> str:
    """Return a value for a message."""
    return shorten(repr(value), _SHOWN)


def decoded_choices(choices: Any) -> Any:
    """Return choices, also those that a text contains as JSON."""
    return _decoded_text(choices) if isinstance(choices, str) else choices


@lru_cache(maxsize=1)
def _decoded_text(text: str) -> Any:
    """Return choices written as JSON. A row's are needed several times, and often all rows have the same ones."""
    return json_within(text)


def listed_choices(choices: Any, name: str) -> tuple[list[Any] | None, Sequence[Any]]:
    """Return the keys or labels of choices, None if they have none, and the entries."""
    if not isinstance(choices, (list, Mapping)):
        raise NoEntryError(f"{name} is {shown(choices)}, which is neither a list nor an object")
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
    """Raise NoEntryError for more choices than can be looked through in each row."""
    if len(choices) > _MOST:
        raise NoEntryError(
            f"{name} has {len(choices):,} choices, at most {_MOST:,} are allowed",
            "add a column with the text of the answer, and map that",
        )


def position_of(
    chosen: Any, names: list[Any] | None, entries: Sequence[Any], what: str, where: str
) -> int:
    """Return the position of the entry that a value selects; `what` and `where` name the value and the choices.

    Raises NoEntryError, and AmbiguousEntryError for a value that selects an entry and is the text of another.
    """
    position = _named_position(chosen, names) if names is not None else index_of(chosen)
    of_text = entries.index(chosen) if isinstance(chosen, str) and chosen in entries else None
    if position is not None and 0 <= position < len(entries):
        if of_text is not None and entries[position] != chosen:
            raise _ambiguous(chosen, names, entries, (position, of_text), what, where)
        return position
    if of_text is not None and names is None:
        return of_text
    if names is not None:
        known = shorten(", ".join(map(_plain, names)), _SHOWN)
        raise NoEntryError(f"{what}, but {where} has {known}")
    count = pluralize(len(entries), "choice")
    if position is None:
        raise NoEntryError(f"{what}, which is no index, letter or text of the {count} in {where}")
    raise NoEntryError(f"{what}, but {where} has {count}, counted from 0")


def is_text_of(chosen: str, choices: Any) -> bool | None:
    """Return whether a text is the text of a choice; None if it is also the index, letter or label of another."""
    try:
        names, entries = listed_choices(decoded_choices(choices), "")
    except NoEntryError:
        return False  # no choices
    if chosen not in entries:
        return False
    try:
        position_of(chosen, names, entries, "", "")
    except AmbiguousEntryError:
        return None
    except NoEntryError:
        pass
    return True


def _named_position(chosen: Any, names: list[Any]) -> int | None:
    """Return the position of a key or label; None if there is none."""
    if isinstance(chosen, bool):
        return None
    known, wanted = list(map(str, names)), str(chosen)
    if wanted not in known:
        known, wanted = list(map(_plain, names)), _plain(chosen)
    return known.index(wanted) if wanted in known else None


def _ambiguous(
    chosen: Any,
    names: list[Any] | None,
    entries: Sequence[Any],
    positions: tuple[int, int],
    what: str,
    where: str,
) -> AmbiguousEntryError:
    """Return the error of a value that selects the first of two positions, and is the text of the second."""
    by_key, by_text = positions
    kind = (
        "label" if names is not None else "index" if whole_number(chosen) is not None else "letter"
    )
    other = names[by_text] if names is not None else by_text
    return AmbiguousEntryError(
        f"{what}, which is ambiguous: the {kind} of {shown(entries[by_key])}, and also the text of choice {other} in {where}",
        "leave the row out; if the column has only texts, map COLUMN itself; if it has only letters, map letter(COLUMN)",
    )


def _plain(name: Any) -> str:
    """Return a key, a label or what selects one, as text; that of 1 for 1.0."""
    if isinstance(name, str):
        found = _WHOLE.fullmatch(name)
        return found[1] if found else name
    number = whole_number(name)
    return str(name) if number is None else str(number)


def index_of(value: Any) -> int | None:
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
