"""Values that are cells of tables. An empty one is not an answer: it may be in a row of sums, a footer, or a test without result."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from weighbridge_producer.input.mapping.row_values import FirstOf

if TYPE_CHECKING:
    from weighbridge_producer.input.mapping.field_mapping import FieldMapping
    from weighbridge_producer.input.mapping.row_values import Path, Row, Value

_ANSWERS = ("agent_response", "expected_output")
#: First words of rows with sums and means in tables.
_TOTALS = re.compile(
    "total|totals|total general|total général|grand total|subtotal|sum|average|mean|overall"
    "|summe|gesamt|gesamtsumme|gesamtergebnis|durchschnitt|mittelwert"
    "|somme|moyenne|suma|promedio|totale|totale complessivo|media|totaal|gemiddelde|średnia|toplam|ortalama|summa|итого|всего|среднее"
    "|合計|合计|總計|总计|平均|平均值|합계|총계|평균",
    re.IGNORECASE,
).fullmatch


def is_of_totals(row: Row) -> bool:
    """Return whether the first filled cell of a row is a word for sums or means."""
    first = next((cell for cell in row.values() if cell not in ("", None)), None)
    return isinstance(first, str) and _TOTALS(first.strip(" :.")) is not None


@dataclass(frozen=True, slots=True)
class Cells:
    """Information on which values of a row are cells of text tables."""

    is_table: bool = False  #: True if the row is from a table
    joined: tuple[str, ...] = ()  #: names of the joined files that are tables

    def mapping(self, mapping: FieldMapping) -> FieldMapping:
        """Return a mapping in which the alternatives of an input skip empty cells."""
        inputs = {name: self._skipping_empty(value) for name, value in mapping.inputs.items()}
        return replace(mapping, inputs=inputs)

    def _skipping_empty(self, value: Value) -> Value:
        if isinstance(value, FirstOf) and (
            self.is_table or any(path.parts[0] in self.joined for path in value.paths())
        ):
            return replace(value, skips_empty=True)
        return value

    def hold_answers(self, row: Row, mapping: FieldMapping) -> bool:
        """Return whether both answers of a row are cells; constants, and values inside a cell's JSON, are not cells."""
        values = [value for name in _ANSWERS if (value := mapping.inputs.get(name))]
        return len(values) == len(_ANSWERS) and all(
            any(self._is_cell(row, path) for path in value.paths()) for value in values
        )

    def _is_cell(self, row: Row, path: Path) -> bool:
        return (self.is_table and path.text in row) or path.parts[0] in self.joined


NO_CELLS = Cells()
