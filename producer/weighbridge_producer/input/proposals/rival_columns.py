"""Further columns that may be an answer as well as the one that was chosen."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from weighbridge_producer.input.mapping.path_texts import around, last_part
from weighbridge_producer.input.proposals.column_fit import fits, is_agents_column
from weighbridge_producer.input.proposals.column_names import (
    can_be,
    has_word_for,
    is_by_name_expected,
    is_model,
    is_value_name,
)
from weighbridge_producer.input.proposals.number_columns import are_numbers, is_number

if TYPE_CHECKING:
    from weighbridge_producer.input.proposals.column_values import Columns

_VERSION = re.compile(r"\d\.\d")


def _around(path: str, columns: Columns) -> str:
    """Return the path of the object that a value is in; the dot in `gemini-1.5-pro` is part of a column's name."""
    outer = around(path)
    is_name = outer not in columns and bool(_VERSION.search(path)) and is_model(path)
    return "" if is_name else outer


def rivals_of(chosen: str, columns: Columns, taken: set[str | None]) -> tuple[str, ...]:
    """Return the other columns beside a chosen one that are the answers of agents by their names, such as two models'."""
    return tuple(
        path
        for path in _columns_beside("agent_response", chosen, columns)
        if path not in taken and (named := _name_giver(path, chosen, columns))
        if can_be("agent_response", named)
        and (is_agents_column(path, columns[path]) or has_word_for("agent_response", named))
    )


def expected_rivals_of(chosen: str, columns: Columns, taken: set[str | None]) -> tuple[str, ...]:
    """Return the other columns beside a chosen one that are expected answers by their names, with other values."""
    return tuple(
        path
        for path in _columns_beside("expected_output", chosen, columns)
        if path not in taken
        and columns[path] != columns[chosen]
        and can_be("expected_output", path)
        and is_by_name_expected(_name_giver(path, chosen, columns))
    )


def _columns_beside(name: str, chosen: str, columns: Columns) -> list[str]:
    """Return the columns of texts that may hold a field, beside a chosen one or at the same place in an object beside its own."""
    outer, last = _around(chosen, columns), last_part(chosen)
    most = max(map(len, columns.values()))
    has_texts = not any(map(is_number, columns[chosen]))
    return [
        path
        for path, values in columns.items()
        if path != chosen
        and (_around(path, columns) == outer or _is_beside(path, outer, last))
        and len(values) * 2 >= most
        and fits(name, path, values)
        and not all(isinstance(value, (bool, int, float)) for value in values if value is not None)
        and not (has_texts and are_numbers(values))
    ]


def _is_beside(path: str, outer: str, last: str) -> bool:
    """Return whether a path is that of the same value in another object, such as `b.text` for `a.text`."""
    other = around(path)
    is_same = bool(outer and other) and last_part(path) == last and is_value_name(path)
    return is_same and around(other) == around(outer)


def _name_giver(path: str, chosen: str, columns: Columns) -> str:
    """Return the path whose name says what a value is: that of the object if it is in another one than the chosen value."""
    outer = _around(path, columns)
    return path if outer == _around(chosen, columns) else outer
