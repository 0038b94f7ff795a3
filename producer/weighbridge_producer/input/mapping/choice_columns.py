"""Columns of choices by their names, and expected outputs that seem to be an index into one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge_producer.input.mapping.choices import whole_number
from weighbridge_producer.input.mapping.row_values import Path, json_within

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge_producer.input.mapping.row_values import Row

CHOICE_COLUMNS = frozenset({"choices", "options", "endings", "candidates", "alternatives"})


def choice_hint(rows: Sequence[Row], expected: str) -> str:
    """Return how to map an expected output that is an index into a column of choices; empty if it is none."""
    values = [Path(expected).of(row, 1) for row in rows] if expected else []
    named = (column for column in rows[0] if column.lower() in CHOICE_COLUMNS) if values else ()
    for column in named:
        lists = [json_within(row.get(column)) for row in rows]
        indexes = sum(map(_is_index_into, values, lists))  # some rows may have none, such as -1
        if indexes * 2 >= len(rows):
            if any(map(_is_behind, values, lists)):
                return (
                    f"expected_output: {expected} seems to be an index into {column} that counts from 1; {column}[...] and"
                    " letter(...) count from 0"
                )
            text = f"{column}[{expected}]"
            return (
                f"expected_output: {expected} is an index from 0 into {column}; write expected_output={text} if the agent answers"
                f" with the text, or expected_output=letter({text}) if it answers with a letter"
            )
    return ""


def _is_index_into(value: Any, choices: Any) -> bool:
    number = whole_number(value)
    return number is not None and isinstance(choices, list) and 0 <= number < len(choices)


def _is_behind(value: Any, choices: Any) -> bool:
    """Return whether a number would select the last of the choices if the first were number 1."""
    return isinstance(choices, list) and whole_number(value) == len(choices)
