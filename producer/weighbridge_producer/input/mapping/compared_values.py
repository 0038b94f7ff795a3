"""Answers and expected answers in different notations, of which none can be equal to the other whatever the agent knew.

Letters beside texts or letters within other text, numbers beside letters, numbers that count from 1 beside others that count from 0, whole numbers with
a decimal point, texts within JSON or braces, derivations before a marked answer, and equal numbers or times that are written otherwise. Most values of a column decide, because a few are often of another kind.
"""

from __future__ import annotations

import re
from collections import Counter
from string import ascii_uppercase
from types import MappingProxyType
from typing import TYPE_CHECKING

from weighbridge.text import pluralize
from weighbridge_producer.input.mapping.answer_sides import Kind, Side, pairs_of, side_of
from weighbridge_producer.input.mapping.choice_columns import (
    choice_column,
    index_from_1_hint,
    texts_of_choices,
)
from weighbridge_producer.input.mapping.equal_values import equal_values_hint
from weighbridge_producer.input.mapping.json_cells import form_for, mostly_hold_texts, texts_in
from weighbridge_producer.input.mapping.marked_answers import marked_hint

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from weighbridge_producer.input.mapping.field_mapping import FieldMapping
    from weighbridge_producer.input.mapping.row_values import Row

_RESPONSE, _EXPECTED = "agent_response", "expected_output"
_TEXTS_COMPARED = ", because texts are compared"
_INDEXES = 26
_WRAPPED_SHOWN = 40  #: characters of a text with a letter
_LETTER = re.compile("[A-Ja-j]").fullmatch  #: of one of ten choices
_MARKED_LETTER = re.compile(r"\W*[A-Ja-j]\W*").fullmatch
_LETTER_WITHIN = re.compile(r"\W*[A-Ja-j](?:\W*$|[).:])|.*(?:^|[^\w'])[A-J]\W*$", re.DOTALL).match
_INDEX_WITHIN = re.compile(r"\b[0-9]{1,2}\b").search
_WHOLE = re.compile("-?[0-9]{1,18}").fullmatch
_POINTED = re.compile(r"-?[0-9]{1,18}\.0{1,18}").fullmatch
_BRACED = re.compile(r"\{[^{}:]+\}").fullmatch  #: such as a set, or an array of PostgreSQL
_BOOLEANS = frozenset({"true", "false", "yes", "no"})


def compared_hint(
    rows: Sequence[Row], mapping: FieldMapping, joined: Mapping[str, str] = MappingProxyType({})
) -> str:
    """Return what in the first rows says that answers are compared that cannot be equal, and what to write instead.

    `joined` are the joined files by the names under which rows have their fields.
    """
    if not {_RESPONSE, _EXPECTED} <= mapping.inputs.keys():
        return ""
    for name in (_EXPECTED, _RESPONSE):
        if hint := index_from_1_hint(rows, name, mapping.inputs[name]):
            return hint
    answer, expected = (side_of(name, rows, mapping) for name in (_RESPONSE, _EXPECTED))
    if not (answer and expected and answer.present and expected.present):
        return ""
    sides = ((expected, answer), (answer, expected))
    for side, other in sides:
        if mostly_hold_texts(side.texts) and other.has_few(texts_in):
            return _json_hint(side, other, rows)
    if hint := next((hint for pair in sides if (hint := marked_hint(*pair, joined))), ""):
        return hint
    hint = next((hint for pair in sides if (hint := _hint(*pair, rows))), "")
    return hint or equal_values_hint(answer, expected)


def wants_integers(rows: Sequence[Row], mapping: FieldMapping) -> bool:
    """Return whether `compared_hint` says that whole numbers of one of the answers have a decimal point."""
    return compared_hint(rows, mapping).endswith(_TEXTS_COMPARED)


def _hint(side: Side, other: Side, rows: Sequence[Row]) -> str:
    """Return what is wrong with the values of a side, compared with the other's; empty if nothing is."""
    if side.are(_BRACED) and other.has_few(_BRACED):
        return _braces_hint(side, other)
    if side.are(_POINTED) and other.has_several(_is_whole_or_boolean):
        return _pointed_hint(side, other)
    column = choice_column(rows)
    texts = texts_of_choices(rows, column, other.texts) if column else {}
    beside = [text for number, text in enumerate(other.texts) if text and number not in texts]
    rest = Side(other.field, other.source, other.is_path, tuple(beside))
    are_choices = sum(texts.values()) > len(rest.present)
    if _are_letters(side, _LETTER_WITHIN) and other.are(_WHOLE) and not are_choices:
        return _letter_hint(side, other)
    if _are_letters(side) and _few(rest, _LETTER_WITHIN, texts):
        return _choice_hint(side, "letter", _LETTER, other, column)
    if _are_letters(side) and other.are(_LETTER_WITHIN) and other.has_few(_LETTER):
        return _wrapped_hint(side, other)
    is_index = _are_indexes(side, other, rows) and _few(rest, _INDEX_WITHIN, texts)
    if is_index and (are_choices or not _are_letters(other, _LETTER_WITHIN)):
        said = _choice_hint(side, "number", _is_index, other, column)
        return said if column else said + _of_columns(side, other, rows)
    return _shift_hint(side, other)


def _few(rest: Side, is_one: Kind, texts: dict[int, bool]) -> bool:
    """Return whether few values are of a kind, except those that are texts of their rows' choices."""
    return len(rest.those(is_one)) * 10 <= len(rest.present) + sum(texts.values())


def _has(side: Side, what: str, is_one: Kind, other: Side, others: str) -> str:
    return f"{side.field} has {side.said(what, is_one)}, and {other.field} {others}"


def _json_hint(side: Side, other: Side, rows: Sequence[Row]) -> str:
    others = other.said("plain texts", lambda text: not texts_in(text))
    what = _has(side, "texts in the notation of JSON or Python", texts_in, other, others)
    takes_one = side.field == _RESPONSE
    is_column = any(side.source in row for row in rows)
    form = (
        form_for(side.source, side.present, takes_one=takes_one, is_column=is_column)
        or f"json({side.source})"
    )
    return f"{what}: {_advice(side, form) or 'compare what they stand for, with json(COLUMN)'}"


def _braces_hint(side: Side, other: Side) -> str:
    others = other.said("texts", lambda text: not _BRACED(text))
    return (
        f"{_has(side, 'texts in braces', _BRACED, other, others)}: if they are several accepted answers, write them as a list"
        f' in JSON, such as ["A", "B"], and map {side.field}=json(COLUMN)'
    )


def _pointed_hint(side: Side, other: Side) -> str:
    others = other.said("values", _is_whole_or_boolean)
    what = _has(side, "whole numbers with a decimal point", _POINTED, other, others)
    can_be_integers = len(side.those(_POINTED)) == len(side.present)
    how = (
        "save them as integers (in pandas with astype('Int64'))"
        if can_be_integers
        else "save them without it"
    )
    return f"{what}: {how}{_TEXTS_COMPARED}"


def _advice(side: Side, form: object) -> str:
    return f"write {side.field}={form}" if side.is_path else ""


def _letter_hint(letters: Side, indexes: Side) -> str:
    """Return how to compare letters with indexes, from 0 or from 1."""
    pairs = pairs_of(letters, indexes, _MARKED_LETTER, _WHOLE)
    numbers = [(_position(a), int(b)) for a, b in pairs]
    what = _has(letters, "letters", _LETTER_WITHIN, indexes, indexes.said("numbers", _WHOLE))
    more = _beside_letters(letters)
    equal, shifted = (sum(b - a == shift for a, b in numbers) for shift in (0, 1))
    if shifted > equal and 0 not in {b for _, b in numbers}:
        return (
            f"{what} that seem to count from 1, where letter(...) counts from 0: subtract 1 from them, and write"
            f" letter(...){more}"
        )
    advice = _advice(indexes, f"letter({indexes.source})") or "compare letters with letter(COLUMN)"
    return f"{what}: {advice}{more}"


def _beside_letters(letters: Side) -> str:
    """Return what to do about what stands beside letters; empty if most are alone."""
    if letters.are(_LETTER):
        return ""
    if letters.are(_MARKED_LETTER):
        return ", and let string-match ignore the marks with --config ignore_punctuation=true"
    return ", and map a column with the letters alone"


def _wrapped_hint(letters: Side, wrapped: Side) -> str:
    """Return how to compare letters with letters that have marks or words around them."""
    what = f"{letters.field} has {letters.said('letters', _LETTER)}, and {wrapped.field} letters within other text"
    such = f"{what}, such as {wrapped.those(_LETTER_WITHIN)[0][:_WRAPPED_SHOWN]!r}"
    if wrapped.are(_MARKED_LETTER):
        return f"{such}: they are equal only if string-match ignores the marks (--config ignore_punctuation=true)"
    return (
        f"{such}: map a column with the letters alone, which a mapping does not take out of a text, or write a grader that"
        " extracts them"
    )


def _of_columns(indexes: Side, texts: Side, rows: Sequence[Row]) -> str:
    """Return how to compare numbers with texts that are columns of their own, such as option1 and option2; empty for others."""
    names = _columns_with(texts, rows)
    if not names:
        return ""
    from_1 = "0" not in indexes.present
    count = ", after subtracting 1 from the numbers, because it counts from 0" if from_1 else ""
    return (
        f"; the texts are in {' and '.join(names)}: write these as a list into one column, CHOICES, and map"
        f" {indexes.field}=CHOICES[{indexes.source}]{count}"
    )


def _columns_with(texts: Side, rows: Sequence[Row]) -> list[str]:
    """Return the names of the columns, two or more, of which one has the text of its row in most rows."""
    found: Counter[str] = Counter()
    with_text = 0
    for text, row in zip(texts.texts, rows, strict=True):
        names = [name for name, value in row.items() if text and value == text]
        names = [name for name in names if name != texts.source]
        with_text += bool(names)
        found.update(names)
    has_most = len(found) > 1 and with_text * 5 >= len(texts.present) * 4
    return [name for name in rows[0] if name in found] if has_most else []


def _choice_hint(side: Side, what: str, is_one: Kind, other: Side, column: str) -> str:
    """Return how to compare letters or numbers with the texts that they select."""
    said = _has(side, f"{what}s", is_one, other, other.said("texts", lambda text: not is_one(text)))
    if column and (advice := _advice(side, f"{column}[{side.source}]")):
        is_mixed = other.is_path and not other.has_few(_LETTER)
        more = f" and {other.field}={column}[{other.source}]|{other.source}" if is_mixed else ""
        return f"{said}: {advice}{more} to compare the texts"
    return (
        f"{said}; no {what} equals a text: map a column with the same kind of answers or, if rows have a list of choices,"
        " LIST[COLUMN]"
    )


def _shift_hint(side: Side, other: Side) -> str:
    """Return a note that one side counts from 0 and the other from 1, also by letters; empty if rows do not say so."""
    are_letters = _are_letters(side) and _are_letters(other)
    if not are_letters and not (side.are(_WHOLE) and other.are(_WHOLE)):
        return ""
    read, is_one = (_position, _LETTER) if are_letters else (int, _WHOLE)
    numbers = [(read(a), read(b)) for a, b in pairs_of(side, other, is_one)]
    if not _are_shifted(numbers):
        return ""
    rows = f"{sum(b - a == 1 for a, b in numbers)} of the first {pluralize(len(numbers), 'row')}"
    rows += " with both" if len(numbers) < len(side.texts) else ""
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


def _position(text: str) -> int:
    """Return the position in the alphabet of the letter within marks."""
    [letter] = filter(str.isalpha, text)
    return ascii_uppercase.index(letter.upper())


def _are_letters(side: Side, is_one: Kind = _LETTER) -> bool:
    """Return whether most values are letters of choices, and not all the same."""
    return side.are(is_one) and len({*side.those(is_one)}) > 1


def _are_indexes(side: Side, other: Side, rows: Sequence[Row]) -> bool:
    """Return whether most values are indexes beside texts, and not booleans beside two words for them."""
    if not side.are(_is_index) or _are_letters(other) or other.are(_WHOLE):
        return False
    words = Counter(text.casefold() for text in other.present)
    two = {word for word, _ in words.most_common(2)}
    are_two_words = other.are(lambda text: text.casefold() in two)
    are_booleans = {*side.those(_is_index)} <= {"0", "1"} and are_two_words
    return len(words) > 1 and not (are_booleans and not _columns_with(other, rows))


def _is_index(text: str) -> bool:
    return _WHOLE(text) is not None and 0 <= int(text) < _INDEXES


def _is_whole_or_boolean(text: str) -> bool:
    return _WHOLE(text) is not None or text.casefold() in _BOOLEANS
