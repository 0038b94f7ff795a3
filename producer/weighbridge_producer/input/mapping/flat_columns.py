"""The columns of a table in which an object was written with a column for each of its keys, such as `outputs.answer`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from weighbridge_producer.input.mapping.row_values import MISSING, Path

if TYPE_CHECKING:
    from collections.abc import Iterable

    from weighbridge_producer.input.mapping.row_values import Row


@dataclass(frozen=True, slots=True)
class FlatColumns:
    """The first column of an object that has one of some names, or else its only column; MISSING if it has several others."""

    prefix: str
    names: tuple[str, ...]

    def __str__(self) -> str:
        """Return the columns as alternatives."""
        return "|".join(f"{self.prefix}.{name}" for name in (*self.names, "*"))

    def of(self, row: Row, number: int) -> Any:  # noqa: ARG002
        """Return the value of the column."""
        for name in self.names:
            if f"{self.prefix}.{name}" in row:
                return row[f"{self.prefix}.{name}"]
        columns = [column for column in row if column.startswith(f"{self.prefix}.")]
        return row[columns[0]] if len(columns) == 1 else MISSING

    def paths(self) -> Iterable[Path]:
        """Return the paths of the named columns."""
        return [Path(f"{self.prefix}.{name}") for name in self.names]
