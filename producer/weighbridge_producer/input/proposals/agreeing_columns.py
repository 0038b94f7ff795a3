"""Columns that agree with one of two proposed answers in the first rows, where the other never does."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from weighbridge_producer.input.mapping.mapping_text import value_of
from weighbridge_producer.input.mapping.path_texts import is_within, lists_on
from weighbridge_producer.input.mapping.row_values import Path
from weighbridge_producer.input.proposals.column_names import (
    USUAL_NAMES,
    can_be,
    has_word_for,
    is_agents,
    is_always_agents,
    is_asked,
    is_metric,
    is_wrong,
    may_name_text,
    normal,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from weighbridge_producer.input.mapping.row_values import Row

_RESPONSE, _EXPECTED = "agent_response", "expected_output"
_ROWS_LEAST = 2
_SHARE = 5  #: at least one row in as many agrees
#: Names of what an answer is chosen from.
_OPTIONS = re.compile(r"choice|option|^[a-h]$|^candidates$")


class AgreeingColumn(NamedTuple):
    """A column that equals the other answer in several rows, while the column that was chosen for the field never does."""

    field: str
    chosen: str
    path: str
    rows: int  #: that were compared
    has_several_texts: bool  #: True if different texts agree
    is_named: bool  #: True if its name may be one of the field

    @property
    def note(self) -> str:
        """What the first rows say against the chosen column."""
        other = _EXPECTED if self.field == _RESPONSE else _RESPONSE
        never = f"no value of {self.chosen!r} equals {other} in the first {self.rows} rows"
        return f"{self.field}: {never}, but some of {self.path!r} do"


def agreeing_column(
    rows: Sequence[Row], paths: Iterable[str], response: str, expected: str
) -> AgreeingColumn | None:
    """Return the column that agrees most with one of two answers; None if they agree themselves in a row, or none does."""
    answers, known = _texts_at(response, rows), _texts_at(expected, rows)
    if any(_agreed(answers, known)):
        return None
    chosen = {_RESPONSE: response, _EXPECTED: expected}
    others = [path for path in paths if not any(_overlap(path, own) for own in chosen.values())]
    for name, compared in ((_RESPONSE, known), (_EXPECTED, answers)):
        found = [
            AgreeingColumn(name, chosen[name], path, len(rows), several, _names(name, path, chosen[name]))
            for path in others
            if _may_be(name, path) and (several := _has_several(path, rows, compared)) is not None
        ]  # fmt: skip
        if found:
            return max(found, key=lambda each: each.is_named)
    return None


def _has_several(path: str, rows: Sequence[Row], compared: list[frozenset[str]]) -> bool | None:
    """Return whether a path agrees in several texts; None if in too few rows, or if its values are booleans."""
    if any(isinstance(Path(path).of(row, 0), (bool, dict)) for row in rows):
        return None
    agreed = [texts for texts in _agreed(_texts_at(path, rows), compared) if texts]
    if len(agreed) < _ROWS_LEAST or len(agreed) * _SHARE < len(rows):
        return None
    return len(frozenset().union(*agreed)) > 1


def _may_be(field: str, path: str) -> bool:
    """Return whether a name does not forbid that a column is a field."""
    name = normal(Path(path).name)
    is_option = any(_OPTIONS.search(normal(part)) for part in Path(path).parts)
    if (
        is_wrong(path)
        or is_metric(path)
        or is_option
        or not (may_name_text(path) and can_be(field, path))
    ):
        return False
    if field == _RESPONSE:
        return True
    is_other = is_agents(path) or is_always_agents(path) or has_word_for(_RESPONSE, path)
    is_usual = name in USUAL_NAMES[_EXPECTED] or has_word_for(_EXPECTED, path)
    return is_usual or not (is_other or is_asked(path))


def _names(field: str, path: str, chosen: str) -> bool:
    """Return whether a path has a usual name or a word for a field, or contains the name of the chosen one."""
    name = normal(Path(path).name)
    is_usual = name in USUAL_NAMES[field] or has_word_for(field, path)
    return is_usual or normal(Path(chosen).name) in name


def _overlap(path: str, chosen: str) -> bool:
    """Return whether one of two paths is the other, or within it, or both are in the same list."""
    chosen = chosen.partition("|")[0]
    outer = next(iter(lists_on(chosen)), chosen)
    return path == outer or is_within(path, outer) or is_within(chosen, path)


def _agreed(some: list[frozenset[str]], others: list[frozenset[str]]) -> list[frozenset[str]]:
    return [one & other for one, other in zip(some, others, strict=True)]


def _texts_at(path: str, rows: Sequence[Row]) -> list[frozenset[str]]:
    value = value_of(path)
    return [frozenset(_texts(value.of(row, number))) for number, row in enumerate(rows, 1)]


def _texts(value: Any) -> Iterable[str]:
    """Yield the texts that are compared: without case and surrounding spaces, those of each entry of a list."""
    if isinstance(value, list):
        for each in value:
            yield from _texts(each) if not isinstance(each, list) else ()
    elif isinstance(value, (str, int, float)) and (text := str(value).strip().casefold()):
        yield text
