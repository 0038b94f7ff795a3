"""Expected answers that are objects, as the agent's answers are, instead of one of their values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from weighbridge_producer.input.mapping.path_texts import around, is_first_entry
from weighbridge_producer.input.mapping.row_values import Path, json_within

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge_producer.input.mapping.row_values import Row

OBJECTS_NOTE = (
    "both answers are objects, which graders of texts do not compare: see docs/how-to/grade-your-own-fields.md#answers-in-json"
    " in the repository"
)


def object_around(response: str, expected: str, rows: Sequence[Row]) -> str:
    """Return the path of the object around an expected answer if it has fields of the agent's objects; empty if it has none."""
    outer = around(around(expected) if is_first_entry(expected) else expected)
    return outer if outer and _keys(response, rows) & _keys(outer, rows) else ""


def _keys(path: str, rows: Sequence[Row]) -> set[str]:
    """Return the fields of the objects at a path; empty if most of the values are no objects."""
    values = [json_within(Path(path).of(row, 1)) for row in rows]
    objects = [value for value in values if isinstance(value, Mapping)]
    if len(objects) * 2 < len(values):
        return set()
    return {key for found in objects for key in found}
