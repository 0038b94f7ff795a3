"""Logs of OpenAI Evals (`oaieval`): a specification, events of several types, and a final report, one a line.

Only a `match` event has an answer beside the expected one. Source: `evals/record.py` in github.com/openai/evals.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from weighbridge_producer.input.mapping.row_values import MISSING, Path

if TYPE_CHECKING:
    from weighbridge_producer.input.mapping.row_values import Row, Value

_EVENT = frozenset({"event_id", "sample_id", "type", "data"})
_AROUND = ("spec", "final_report")  #: keys of the rows that are no events, each alone in its row
_MATCH = "match"


@dataclass(frozen=True, slots=True)
class EventsExcept:
    """The rows of a log that are no events of some types, which are the cases."""

    types: frozenset[str] = frozenset({_MATCH})

    def kind(self, row: Row) -> str:
        """Return the type of an event, or the key of another row; empty for a case and for rows of no log."""
        if is_event(row):
            return "" if row["type"] in self.types else row["type"]
        return next((key for key in _AROUND if row.keys() == {key}), "")

    def for_inputs(self, rows: Sequence[Row], inputs: Iterable[Value]) -> EventsExcept:
        """Return these rows for a mapping to inputs: all but `match` events or, if these lack one, those with all."""
        values = list(inputs)
        types = {
            row["type"]
            for row in rows
            if is_event(row) and all(value.of(row, 1) not in (MISSING, None) for value in values)
        }
        return EventsExcept(frozenset(types)) if types and _MATCH not in types else EventsExcept()

    def paths(self) -> Iterable[Path]:
        """Return the path of an event's type, and those of the other rows."""
        return map(Path, ("type", *_AROUND))


def is_event(row: Row) -> bool:
    """Return whether a row is an event of a log."""
    return (
        row.keys() >= _EVENT and isinstance(row["type"], str) and isinstance(row["data"], Mapping)
    )


def is_evals_row(row: Row) -> bool:
    """Return whether a row is an event, or has a key of the rows around them alone."""
    return is_event(row) or any(row.keys() == {key} for key in _AROUND)
