"""Columns of answers that hold texts as JSON, such as `"Paris"` with its quotes, beside columns of plain texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from weighbridge.text import shorten
from weighbridge_producer.input.mapping.json_cells import form_for, mostly_hold_texts, texts_in
from weighbridge_producer.input.mapping.path_texts import around, is_first_entry

if TYPE_CHECKING:
    from collections.abc import Mapping

    from weighbridge_producer.input.mapping.row_values import Value
    from weighbridge_producer.input.proposals.column_values import Columns

_RESPONSE, _EXPECTED = "agent_response", "expected_output"
_SHOWN = 40  #: characters of a value
_FEW = 10  #: times as many are plain texts


class JsonColumn(NamedTuple):
    """What is proposed for one of the answers in place of its column, whose texts are JSON."""

    field: str
    value: Value  #: at a path, or within the text at it
    note: str

    @property
    def path(self) -> str:
        """The value as it is written."""
        return str(self.value)


def json_column(
    taken: Mapping[str, str], columns: Columns, *, accepts_several: bool
) -> JsonColumn | None:
    """Return what to take for the one of two proposed answers whose texts are JSON, unlike the other's; None if none is.

    Of lists of JSON, an answer of the agent is the first entry, and so is the expected one unless its graders accept several.
    """
    for field, other in ((_EXPECTED, _RESPONSE), (_RESPONSE, _EXPECTED)):
        path = taken.get(field, "")
        path = around(path) if is_first_entry(path) else path
        values, others = columns.get(path, []), columns.get(taken.get(other, ""), [])
        holds_few = sum(map(bool, map(texts_in, others))) * _FEW <= len(others)
        if not (others and holds_few and mostly_hold_texts(values)):
            continue
        present = [value for value in values if value]
        takes_one = field == _RESPONSE or not accepts_several
        if (
            form := form_for(
                path, present, takes_one=takes_one, is_column=around(path) not in columns
            )
        ) is None:
            continue
        holding = [value for value in present if texts_in(value) is not None]
        most = "" if len(holding) == len(present) else "mostly "
        example = shorten(holding[0], _SHOWN, "...")
        what = f"{path!r} has {most}texts in the notation of JSON or Python, such as {example}"
        note = f"{field}: {what}; what they stand for is compared"
        return JsonColumn(field, form, note)
    return None
