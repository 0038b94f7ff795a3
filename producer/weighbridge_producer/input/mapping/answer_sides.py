"""The values of the agent's answers and of the expected ones in the first rows, and the kinds that most of them are of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, time
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from weighbridge.text import shorten
from weighbridge_producer.input.mapping.row_values import Path, Row

if TYPE_CHECKING:
    from weighbridge_producer.input.mapping.field_mapping import FieldMapping

Kind = Callable[[str], object]  #: whether a text is of a kind, by its truth

_MOST, _OF = 4, 5  #: share of the values that are most of them
_FEW = 10  #: times as many are of another kind
_SHOWN = 40  #: characters of a value


@dataclass(frozen=True, slots=True)
class Side:
    """The values of one of the two answers in the first rows, as texts."""

    field: str
    source: str  #: as it is written in the mapping
    is_path: bool  #: True if a special form can be written around the source
    texts: tuple[str, ...]

    @property
    def present(self) -> list[str]:
        """The values that are not empty."""
        return list(filter(None, self.texts))

    def are(self, is_one: Kind) -> bool:
        """Return whether most values that are not empty, and at least two, or all of them are of a kind."""
        present, fitting = len(self.present), len(self.those(is_one))
        is_all = fitting == present > 0
        return is_all or (fitting >= 2 and fitting * _OF >= present * _MOST)

    def has_several(self, is_one: Kind) -> bool:
        """Return whether more than half of the values that are not empty, and at least two, or all are of a kind."""
        present, fitting = len(self.present), len(self.those(is_one))
        return fitting == present > 0 or (fitting >= 2 and fitting * 2 > present)

    def has_few(self, is_one: Kind) -> bool:
        """Return whether at most one in ten of the values that are not empty is of a kind."""
        return len(self.those(is_one)) * _FEW <= len(self.present)

    def those(self, is_one: Kind) -> list[str]:
        """Return the values of a kind that are not empty."""
        return [text for text in self.present if is_one(text)]

    def said(self, what: str, is_one: Kind) -> str:
        """Return `mostly letters such as 'A'` for values of a kind, without `mostly` if all are such."""
        fitting = self.those(is_one) or self.present
        most = "" if len(fitting) == len(self.present) else "mostly "
        return f"{most}{what} such as {shorten(fitting[0], _SHOWN, '...')!r}"


def side_of(field: str, rows: Sequence[Row], mapping: FieldMapping) -> Side | None:
    """Return one of the answers; None if one of its values is an object or a list."""
    source = mapping.inputs[field]
    cases = [mapping.case(row, number)["inputs"] for number, row in enumerate(rows, 1)]
    values = [case.get(field) for case in cases]
    if any(isinstance(value, (Mapping, list)) for value in values):
        return None
    texts = tuple("" if value is None else _text(value) for value in values)
    return Side(field, str(source), isinstance(source, Path), texts)


def pairs_of(
    one: Side, other: Side, is_one: Kind, is_other: Kind | None = None
) -> list[tuple[str, str]]:
    """Return the values of the rows in which both are of their kinds."""
    is_other = is_other or is_one
    pairs = zip(one.texts, other.texts, strict=True)
    return [(a, b) for a, b in pairs if a and b and is_one(a) and is_other(b)]


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (date, time)):
        return value.isoformat()
    return format(value, "f") if isinstance(value, Decimal) else str(value).strip()
