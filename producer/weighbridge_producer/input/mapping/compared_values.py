"""Answers and expected answers in different notations, of which none can be equal to the other whatever the agent knew.

Letters beside texts, numbers beside letters, numbers that count from 1 beside others that count from 0, whole numbers with
a decimal point, and texts within JSON.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any

from weighbridge.text import pluralize, shorten
from weighbridge_producer.input.mapping.choice_columns import CHOICE_COLUMNS, index_from_1_hint
from weighbridge_producer.input.mapping.json_cells import JsonCell, hold_texts, texts_in
from weighbridge_producer.input.mapping.row_values import Path, Row, json_within

if TYPE_CHECKING:
    from weighbridge_producer.input.mapping.field_mapping import FieldMapping

_RESPONSE, _EXPECTED = "agent_response", "expected_output"
_LETTERS = 10  #: of choices, from A on
_INDEXES = 26
_LETTER = re.compile("[A-Ja-j]")
_LETTER_WITHIN = re.compile(r"\W*[A-Ja-j](?:\W*$|[).:])|.*(?:^|[^\w'])[A-J]\W*$", re.DOTALL)
_INDEX_WITHIN = re.compile(r"\b[0-9]{1,2}\b")
_WHOLE = re.compile("-?[0-9]{1,18}")
_POINTED = re.compile(r"-?[0-9]{1,18}\.0{1,18}")
_BOOLEANS = frozenset({"true", "false", "yes", "no"})
_FEW = 10  #: times as many are of another kind
_SHOWN = 40  #: characters of a value


@dataclass(frozen=True, slots=True)
class _Side:
    """The values of one of the two answers in the first rows, as texts."""

    field: str
    source: str  #: as it is written in the mapping
    is_path: bool  #: True if a special form can be written around the source
    texts: tuple[str, ...]

    @property
    def example(self) -> str:
        return repr(shorten(next(filter(None, self.texts)), _SHOWN, "..."))

    def has_few(self, is_one: Callable[[str], object]) -> bool:
        """Return whether at most one in ten of the values that are not empty is of a kind."""
        present = list(filter(None, self.texts))
        return sum(map(bool, map(is_one, present))) * _FEW <= len(present)

    def are(self, is_one: Callable[[str], object]) -> bool:
        """Return whether all values that are not empty are of a kind, and there are such values."""
        return any(self.texts) and all(map(is_one, filter(None, self.texts)))


def compared_hint(rows: Sequence[Row], mapping: FieldMapping) -> str:
    """Return what in the first rows says that answers are compared that cannot be equal, and what to write instead."""
    if not {_RESPONSE, _EXPECTED} <= mapping.inputs.keys():
        return ""
    for name in (_EXPECTED, _RESPONSE):
        if hint := index_from_1_hint(rows, name, mapping.inputs[name]):
            return hint
    answer, expected = (_side(name, rows, mapping) for name in (_RESPONSE, _EXPECTED))
    if not (answer and expected and any(answer.texts) and any(expected.texts)):
        return ""
    return _hint(expected, answer, rows) or _hint(answer, expected, rows)


def _side(name: str, rows: Sequence[Row], mapping: FieldMapping) -> _Side | None:
    """Return one of the answers; None if one of its values is an object or a list."""
    source = mapping.inputs[name]
    cases = [mapping.case(row, number)["inputs"] for number, row in enumerate(rows, 1)]
    values = [case.get(name) for case in cases]
    if any(isinstance(value, (Mapping, list)) for value in values):
        return None
    texts = tuple("" if value is None else _text(value) for value in values)
    return _Side(name, str(source), isinstance(source, Path), texts)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return format(value, "f") if isinstance(value, Decimal) else str(value).strip()


def _hint(side: _Side, other: _Side, rows: Sequence[Row]) -> str:
    """Return what is wrong with the values of a side, compared with the other's; empty if nothing is."""
    if hold_texts(side.texts) and not any(map(texts_in, other.texts)):
        return _json_hint(side, other)
    if side.are(_POINTED.fullmatch) and other.are(_is_whole_or_boolean):
        return (
            f"{_has(side, 'whole numbers with a decimal point', other, 'values')}: save them as integers (in pandas with"
            " astype('Int64')), because texts are compared"
        )
    if _are_letters(side) and other.are(_WHOLE.fullmatch):
        return _letter_hint(side, other)
    if _are_letters(side) and other.has_few(_LETTER_WITHIN.match):
        return _choice_hint(side, "letter", other, rows)
    if _are_indexes(side, other) and other.has_few(_INDEX_WITHIN.search):
        return _choice_hint(side, "number", other, rows)
    return _shift_hint(side, other)


def _has(side: _Side, what: str, other: _Side, others: str) -> str:
    return f"{side.field} has {what} such as {side.example}, and {other.field} {others} such as {other.example}"


def _json_hint(side: _Side, other: _Side) -> str:
    what = _has(side, "texts in the notation of JSON or Python", other, "plain texts")
    several = any(len(texts_in(text) or []) > 1 for text in side.texts)
    form = f"{side.source}.0" if several and side.field == _RESPONSE else JsonCell.in_(side.source)
    return f"{what}: {_advice(side, form) or 'compare what they stand for, with json(COLUMN)'}"


def _advice(side: _Side, form: object) -> str:
    return f"write {side.field}={form}" if side.is_path else ""


def _letter_hint(letters: _Side, indexes: _Side) -> str:
    """Return how to compare letters with indexes, from 0 or from 1."""
    numbers = [(ascii_uppercase.index(a.upper()), int(b)) for a, b in _pairs(letters, indexes)]
    what = _has(letters, "letters", indexes, "numbers")
    equal, shifted = (sum(b - a == shift for a, b in numbers) for shift in (0, 1))
    if shifted > equal and 0 not in {b for _, b in numbers}:
        return f"{what} that seem to count from 1, where letter(...) counts from 0: subtract 1 from them, and write letter(...)"
    return f"{what}: {_advice(indexes, f'letter({indexes.source})') or 'compare letters with letter(COLUMN)'}"


def _choice_hint(side: _Side, what: str, other: _Side, rows: Sequence[Row]) -> str:
    """Return how to compare letters or numbers with the texts that they select."""
    said = _has(side, f"{what}s", other, "texts")
    column = next((name for name in rows[0] if _has_choices(name, rows)), "")
    if column and (advice := _advice(side, f"{column}[{side.source}]")):
        return f"{said}: {advice} to compare the texts"
    return (
        f"{said}; no {what} equals a text: map a column with the same kind of answers or, if rows have a list of choices,"
        " LIST[COLUMN]"
    )


def _has_choices(name: str, rows: Sequence[Row]) -> bool:
    is_named = name.lower() in CHOICE_COLUMNS
    return is_named and all(isinstance(json_within(row.get(name)), (Mapping, list)) for row in rows)


def _shift_hint(side: _Side, other: _Side) -> str:
    """Return that one side counts from 0 and the other from 1, also by letters; empty if rows do not say so."""
    are_letters = _are_letters(side) and _are_letters(other)
    if not are_letters and not (side.are(_WHOLE.fullmatch) and other.are(_WHOLE.fullmatch)):
        return ""
    read = (lambda text: ascii_uppercase.index(text.upper())) if are_letters else int
    numbers = [(read(a), read(b)) for a, b in _pairs(side, other)]
    if not _are_shifted(numbers):
        return ""
    rows = f"{sum(b - a == 1 for a, b in numbers)} of the first {pluralize(len(numbers), 'row')}"
    return (
        f"{side.field} seems to count from 0 and {other.field} from 1: the latter is the next"
        f" {'letter' if are_letters else 'number'} in {rows}; correct one of the columns"
    )


def _are_shifted(numbers: Sequence[tuple[int, int]]) -> bool:
    """Return whether the second numbers are the first plus 1 in several rows, in more than are equal.

    So they are in most rows, or the numbers begin and end one later.
    """
    shifted = [a for a, b in numbers if b - a == 1]
    equal = sum(a == b for a, b in numbers)
    if len(set(shifted)) < 2 or len(shifted) <= equal:
        return False
    first, second = zip(*numbers, strict=True)
    begin_later = min(first) == 0 and min(second) == 1 and max(second) == max(first) + 1
    are_indexes = min(first) >= 0 and max(second) <= _INDEXES
    return are_indexes and (begin_later or len(shifted) >= max(2 * equal, len(numbers) / 2))


def _are_letters(side: _Side) -> bool:
    """Return whether values are letters of choices, and not all the same."""
    return side.are(_LETTER.fullmatch) and len({*filter(None, side.texts)}) > 1


def _are_indexes(side: _Side, other: _Side) -> bool:
    """Return whether values are indexes beside texts, and not booleans beside two words for them."""
    are_small = side.are(lambda text: _WHOLE.fullmatch(text) and 0 <= int(text) < _INDEXES)
    different = len({*filter(None, side.texts)})
    words = {text.casefold() for text in other.texts if text}
    return (
        are_small and not _are_letters(other) and len(words) > 1 and max(different, len(words)) > 2
    )


def _is_whole_or_boolean(text: str) -> bool:
    return _WHOLE.fullmatch(text) is not None or text.casefold() in _BOOLEANS


def _pairs(side: _Side, other: _Side) -> list[tuple[str, str]]:
    """Return the values of the rows that have both."""
    return [(a, b) for a, b in zip(side.texts, other.texts, strict=True) if a and b]
