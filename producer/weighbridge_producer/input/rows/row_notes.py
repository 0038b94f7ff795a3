"""What is noted of rows while they are read: which are no cases, and what looks wrong in the values of the others."""

from __future__ import annotations

from collections import Counter
from itertools import chain, islice
from typing import TYPE_CHECKING

from weighbridge.settings import MIB
from weighbridge.text import pluralize, shorten
from weighbridge_producer.input.mapping.compared_values import compared_hint, wants_integers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from weighbridge_producer.input.mapping.field_mapping import FieldMapping
    from weighbridge_producer.input.mapping.row_values import Row
    from weighbridge_producer.input.rows.source_rows import SourceRow

_KINDS_NAMED = 6  #: kinds of rows in a note
_KIND_WIDTH = 40
_KINDS_COUNTED = 100  #: kinds of other rows that are counted one by one
_OTHER_KINDS = "of further kinds"
_ROWS_COMPARED = 100  #: first rows whose answers are compared
_BYTES_COMPARED = 8 * MIB


class RowNotes:
    """Counts of the rows read so far, and their first answers."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Begin with the first row again."""
        self.empty_expected = 0  #: rows that have an empty expected_output
        self.other_rows: Counter[str] = Counter()  #: rows that are no cases, by kind
        self.blank_rows = 0  #: rows of tables that have no value, and are left out
        self.odd_metadata = 0  #: rows with numbers in their metadata that JSON lacks
        self._first: list[Row] = []
        self._bytes = 0
        self._mapping: FieldMapping | None = None

    def count_empty_expected(self) -> None:
        """Count a row with an empty expected_output."""
        self.empty_expected += 1

    def count_blank(self) -> None:
        """Count a row without any value."""
        self.blank_rows += 1

    def count_odd_metadata(self) -> None:
        """Count a row with a number in its metadata that JSON lacks."""
        self.odd_metadata += 1

    def count_other(self, kind: str) -> None:
        """Count a row that is no case."""
        kind = shorten(kind, _KIND_WIDTH)
        known = kind in self.other_rows or len(self.other_rows) < _KINDS_COUNTED
        self.other_rows[kind if known else _OTHER_KINDS] += 1

    def watch(self, rows: Iterable[SourceRow], mapping: FieldMapping) -> Iterator[SourceRow]:
        """Return rows, of which the first are kept when they are read; the others are passed on at no cost."""
        self._mapping = mapping
        rows = iter(rows)
        return chain(map(self._kept, islice(rows, _ROWS_COMPARED)), rows)

    def _kept(self, row: SourceRow) -> SourceRow:
        self._bytes += row.size
        if not row.fault and len(self._first) < _ROWS_COMPARED and self._bytes <= _BYTES_COMPARED:
            self._first.append(row.values)
        return row

    def notes(self) -> list[str]:
        """Return all notes on the rows."""
        hint = compared_hint(self._first, self._mapping) if self._mapping else ""
        return [*self.counts(), *([hint] if hint else [])]

    @property
    def wants_integers(self) -> bool:
        """True if a note says to save numbers as integers."""
        return self._mapping is not None and wants_integers(self._first, self._mapping)

    def counts(self) -> list[str]:
        """Return the notes that count rows."""
        notes = (self.blank_rows_note(), self.other_rows_note(), self._odd_metadata_note())
        return list(filter(None, notes))

    def other_rows_note(self) -> str:
        """Return how many rows are no cases, by kind; empty if there are none."""
        count = self.other_rows.total()
        if not count:
            return ""
        kinds = [f"{rows:,} {kind}" for kind, rows in self._most_other_rows()]
        rows = (
            f"{count:,} row of another kind is"
            if count == 1
            else f"{count:,} rows of other kinds are"
        )
        return f"{rows} not graded: {', '.join(kinds)}"

    def blank_rows_note(self) -> str:
        """Return how many rows have no value; empty if there are none."""
        if not self.blank_rows:
            return ""
        return f"{pluralize(self.blank_rows, 'row')} without any value {'was' if self.blank_rows == 1 else 'were'} skipped"

    def _odd_metadata_note(self) -> str:
        if not self.odd_metadata:
            return ""
        has = "has a number" if self.odd_metadata == 1 else "have numbers"
        return (
            f"{pluralize(self.odd_metadata, 'row')} {has} in metadata that JSON lacks: NaN and Infinity became null, and"
            " integers beyond 64 bits became texts"
        )

    def _most_other_rows(self) -> list[tuple[str, int]]:
        most = self.other_rows.most_common(_KINDS_NAMED)
        rest = self.other_rows.total() - sum(rows for _, rows in most)
        return [*most, ("others", rest)] if rest else most
