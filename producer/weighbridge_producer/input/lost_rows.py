"""Rows that are left out as repeats although they differ from earlier ones, in columns that the mapping does not read."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from weighbridge.jobs.line import JSON_SPACE
from weighbridge.text import pluralize, shorten
from weighbridge_producer.input.mapping.missing_paths import listed
from weighbridge_producer.input.mapping.row_values import Path, Template
from weighbridge_producer.input.rows.numbered_ids import NumberedIds
from weighbridge_producer.input.sampling import id_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weighbridge_producer.input.mapping.row_values import Row
    from weighbridge_producer.input.source import Source
    from weighbridge_producer.input.source_lines import SourceLine

LOST_ROWS = "LOST_ROWS"
_WIDTH = 80


@dataclass(frozen=True, slots=True)
class LostRows:
    """Rows of which a mapping makes the same case as of an earlier, different row."""

    count: int
    custom_id: str = ""  #: of the first
    place: str = ""  #: of the first
    columns: tuple[str, ...] = ()  #: in which the first differs from the earlier row
    template: str = ""  #: of an id that the rows do not share

    @property
    def message(self) -> str:
        """What is lost, and where the first one is."""
        is_one = self.count == 1
        equal = (
            "an earlier one, though it differs" if is_one else "earlier ones, though they differ"
        )
        differs = f" differs from an earlier row in {listed(self.columns)}" if self.columns else ""
        first = f"{shorten(self.custom_id, _WIDTH)!r} ({self.place}){differs}"
        rows = pluralize(self.count, "row was", "rows were")
        return f"{rows} left out that the mapping makes equal to {equal}: {first}"

    @property
    def hint(self) -> str:
        """How to grade each of the rows."""
        return f"to grade each, put what tells them apart into the id: custom_id={self.template}"

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        first = {"custom_id": self.custom_id, "place": self.place, "columns": list(self.columns)}
        return {"count": self.count, "first": first if self.count else None}


NOTHING_LOST = LostRows(0)


def may_lose_rows(source: Source) -> bool:
    """Return whether rows of a source may be equal as cases although they differ as rows."""
    mapping = source.mapping
    return mapping is not None and not (mapping.takes_rest or mapping.numbers_repeats)


def lost_rows(source: Source) -> LostRows:
    """Read a source again, with all columns, and return what is lost of it; nothing if it can be read only once."""
    if not (source.rereadable and may_lose_rows(source)):
        return NOTHING_LOST
    found: list[tuple[int, SourceLine, Row]] = []
    count = 0

    def note(_: str) -> None:
        nonlocal count
        count += 1

    with closing(NumberedIds(note)) as cases:
        for number, line, row in _cases_with_rows(source):
            cases.id_of(_text(line), row)  # by its whole text, as equal cases have one id
            if count and not found:
                found.append((number, line, row))
    return _lost(source, count, *found[0]) if found else NOTHING_LOST


def _lost(source: Source, count: int, number: int, line: SourceLine, row: Row) -> LostRows:
    """Return `count` lost rows, given the first of them, which is compared with the earlier row of its case."""
    text = _text(line)
    earlier = next(each for _, other, each in _cases_with_rows(source) if _text(other) == text)
    columns = [name for name in {**earlier, **row} if earlier.get(name) != row.get(name)]
    job = line.as_job(number)
    custom_id = id_of(line) or ""
    mapped = source.mapping.custom_id if source.mapping else None
    known = f"{{{mapped}}}" if isinstance(mapped, Path) else "{id}"
    known = mapped.text if isinstance(mapped, Template) else known
    template = f"{known}/{{{columns[0] if columns else 'trial'}}}"
    place = job.location or f"line {number:,}"
    return LostRows(count, custom_id, place, tuple(columns), template)


def _cases_with_rows(source: Source) -> Iterator[tuple[int, SourceLine, Row]]:
    """Yield the number and the line of each case with a valid id, with the whole row that it is made of."""
    assert source.mapping is not None
    rows: list[Row] = []

    def keep(custom_id: str, row: Row) -> str:
        rows[:] = [row]
        return custom_id

    again = source.mapped(source.mapping)
    again.joins, again.only, again.graders = source.joins, source.only, source.graders
    again.on_row = keep
    for number, line in enumerate(again, 1):
        if rows and not line.fault and id_of(line):
            yield number, line, rows[0]


def _text(line: SourceLine) -> str:
    return line.raw.strip(JSON_SPACE).decode(errors="surrogateescape")
