"""Columns of answers that hold texts as JSON, such as `"Paris"` with its quotes, beside columns of plain texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from weighbridge.text import shorten
from weighbridge_producer.input.mapping.json_cells import JsonCell, hold_texts, texts_in
from weighbridge_producer.input.mapping.row_values import Path, json_within

if TYPE_CHECKING:
    from collections.abc import Mapping

    from weighbridge_producer.input.mapping.row_values import Value
    from weighbridge_producer.input.proposals.column_choice import Columns

_RESPONSE, _EXPECTED = "agent_response", "expected_output"
_SHOWN = 40  #: characters of a value


class JsonColumn(NamedTuple):
    """What is proposed for one of the answers in place of its column, whose texts are JSON."""

    field: str
    path: str
    note: str

    @property
    def value(self) -> Value:
        """The value at the path, or within the text at it."""
        return JsonCell.parse(self.path) or Path(self.path)


def json_column(
    taken: Mapping[str, str], columns: Columns, *, accepts_several: bool
) -> JsonColumn | None:
    """Return what to take for the one of two proposed answers whose texts are JSON, unlike the other's; None if none is.

    Of lists of JSON, an answer of the agent is the first entry, and so is the expected one unless its graders accept several.
    """
    for field, other in ((_EXPECTED, _RESPONSE), (_RESPONSE, _EXPECTED)):
        path = taken.get(field, "").removesuffix(".0")
        values, others = columns.get(path, []), columns.get(taken.get(other, ""), [])
        if not (others and hold_texts(values)) or any(map(texts_in, others)):
            continue
        present = [value for value in values if value]
        takes_one = field == _RESPONSE or not accepts_several
        if (form := _form(path, present, takes_one=takes_one)) is None:
            continue
        example = shorten(present[0], _SHOWN, "...")
        what = f"{path!r} has texts in the notation of JSON or Python, such as {example}"
        note = f"{field}: {what}; what they stand for is compared"
        return JsonColumn(field, form, note)
    return None


def _form(path: str, present: list[str], *, takes_one: bool) -> str | None:
    """Return the special form for texts at a path; the path of the first of several, and None if no path leads to it."""
    held = [texts_in(text) or [] for text in present]
    if not (takes_one and any(len(texts) > 1 for texts in held)):
        return str(JsonCell.in_(path))
    are_json = all(isinstance(json_within(text), list) for text in present)
    return f"{path}.0" if are_json else None
