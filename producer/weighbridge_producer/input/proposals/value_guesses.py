"""Guesses at the fields of a case from the values of columns whose names say nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, pairwise
from typing import Any

import orjson

from weighbridge.jobs.line import is_valid_name
from weighbridge.traces.split import is_trace
from weighbridge_producer.input.mapping.conversations import is_by_agent, is_conversation
from weighbridge_producer.input.proposals.column_names import (
    can_be,
    has_word_for,
    is_agents,
    is_asked,
    is_metric,
    is_reference,
    may_name_text,
)

Columns = Mapping[str, Sequence[Any]]  #: the values of the first rows by path

_ID = re.compile(r"(?=.*\d)[\w/:@#-]{1,64}")
_DATE = re.compile(r"\d{4}[-/]\d\d[-/]\d\d.*")
_ROWS_READ = 3  #: of a trace
_COLUMNS_COMPARED = 12
_PROSE_WORDS = 3  #: of a text on average
_CHARACTERS_COMPARED = 400
_AGREEMENT_LEAST = 0.15  #: by which rows must agree more with themselves than with the next row


def guessed_id(columns: Columns, rows: int) -> str | None:
    """Return the first column with a different short code in each row, or with consecutive numbers."""
    for path, values in columns.items():
        if len(values) == rows > 1 and not is_asked(path) and _are_codes(values):
            return path
    return None


def guessed_trace(columns: Columns) -> str | None:
    """Return the first column that has a trace of a known format in each row, and not only what the agent was asked."""
    for path, values in columns.items():
        first = list(map(_structure, values[:_ROWS_READ]))
        if first and all(map(is_trace, first)) and not all(map(_is_asked_alone, first)):
            return path
    return None


def _is_asked_alone(messages: Any) -> bool:
    return is_conversation(messages) and not any(map(is_by_agent, messages))


def guessed_answers(columns: Columns, response: str | None, expected: str | None) -> list[str]:
    """Return the columns of the response and of the expected output, or none.

    They are the two columns of texts that agree most within a row, compared with the agreement between different rows.
    A column that is known already is one of them; otherwise the response is the one that comes first. What the agent wrote
    in several forms, such as `response.text` and `response.parsed`, is no pair. If what is known is
    no column, such as the last answer in a conversation, there are none.
    """
    if {response, expected} - {None} - columns.keys():
        return []
    texts = {
        path: [_words(value) for value in values]
        for path, values in columns.items()
        if (_are_texts(values) and not (is_asked(path) or is_metric(path)))
        or path in {response, expected}
    }
    paths = list(texts)[:_COLUMNS_COMPARED]
    pairs: Iterable[tuple[str, str]] = (
        (one, other) if can_be("agent_response", one) and not is_agents(other) else (other, one)
        for one, other in combinations(paths, 2)
        if not (is_reference(one) and is_reference(other))
    )
    if response:
        pairs = (
            (response, path)
            for path in paths
            if can_be("expected_output", path) and not has_word_for("agent_response", path)
        )
    elif expected:
        pairs = ((path, expected) for path in paths if can_be("agent_response", path))
    # An object around an answer, such as the record of a run, agrees with it in part.
    objects = {path for path in paths if any(map(_is_object, columns[path]))}
    scored = {
        pair: _agreement(texts, *pair)
        for pair in pairs
        if pair[0] != pair[1]
        and (pair[0] == response or can_be("agent_response", pair[0]))
        and not is_agents(pair[1])
        and len(objects.intersection(pair)) != 1
    }
    best = max(scored, key=lambda pair: scored[pair], default=None)
    if best and scored[best] >= _AGREEMENT_LEAST:
        return list(best)
    if expected and not response and (rest := _only_prose(columns, expected)):
        return [rest, expected]
    return []


def _only_prose(columns: Columns, expected: str) -> str | None:
    """Return the only column, except what was asked and expected answers, with a different text of several words in each row."""
    prose = [
        path
        for path, values in columns.items()
        if path != expected and not is_asked(path) and may_name_text(path) and _are_prose(values)
    ]
    left = [path for path in prose if not is_reference(path)]
    return left[0] if len(left) == 1 and can_be("agent_response", left[0]) else None


def _are_prose(values: Sequence[Any]) -> bool:
    """Return whether values are different texts of, on average, several words."""
    texts = [value for value in values if isinstance(value, str)]
    words = sum(len(text.split()) for text in texts)
    return len(values) > 1 and len(set(texts)) == len(values) and words >= _PROSE_WORDS * len(texts)


def _are_codes(values: Sequence[Any]) -> bool:
    if all(
        type(value) is int or (isinstance(value, str) and value.isdecimal()) for value in values
    ):
        numbers = [int(str(value)[:18]) for value in values]
        return all(after - before == 1 for before, after in pairwise(numbers))
    codes = [value for value in values if isinstance(value, str) and _ID.fullmatch(value)]
    are_all = len(codes) == len(values) == len(set(codes))
    return are_all and all(is_valid_name(code) and not _DATE.fullmatch(code) for code in codes)


def _structure(value: Any) -> Any:
    if not isinstance(value, str) or value.lstrip()[:1] not in {"{", "["}:
        return value
    try:
        return orjson.loads(value)
    except orjson.JSONDecodeError:
        return None


def _is_object(value: Any) -> bool:
    return isinstance(_structure(value), Mapping)


def _are_texts(values: Sequence[Any]) -> bool:
    return len(values) > 1 and all(
        value is None or isinstance(value, (str, int, float)) for value in values
    )


def _words(value: Any) -> frozenset[str]:
    text = "" if value is None else str(value)[:_CHARACTERS_COMPARED].casefold()
    return frozenset(re.findall(r"\w+", text))


def _agreement(texts: Mapping[str, list[frozenset[str]]], one: str, other: str) -> float:
    """Return the mean overlap of two columns' words within rows, less that with the next row."""
    left, right = texts[one], texts[other]
    shifted = right[1:] + right[:1]
    return (_overlap(left, right) - _overlap(left, shifted)) / max(len(left), 1)


def _overlap(left: Sequence[frozenset[str]], right: Sequence[frozenset[str]]) -> float:
    pairs = zip(left, right, strict=False)
    return sum(len(a & b) / len(a | b) for a, b in pairs if a and b)
