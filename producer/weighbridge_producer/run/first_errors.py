"""The first jobs of a run that errored, told in words."""

from __future__ import annotations

from heapq import nsmallest
from itertools import islice
from operator import attrgetter
from typing import TYPE_CHECKING

from weighbridge.jobs.outcome import Outcome
from weighbridge.jobs.result import ResultRow

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TOLD = 5
_LOOKED_AT = 10_000  #: results come nearly in the order of the input
_SIGN = b'"status":"errored"'


def first_errors(results: Path, *, names_locations: bool) -> list[str]:
    """Return what the first errored lines say, with the hint below, each text once, in the order of the input.

    `names_locations`: whether the messages say themselves where the line stands.
    """
    with results.open("rb") as rows:
        first = nsmallest(4 * TOLD, islice(_errored(rows), _LOOKED_AT), key=attrgetter("line"))
    return list(dict.fromkeys(_told(row, names_locations) for row in first))[:TOLD]


def _errored(rows: Iterator[bytes]) -> Iterator[ResultRow]:
    for raw in rows:
        if _SIGN in raw:
            row = ResultRow.from_bytes(raw)
            if row.outcome is Outcome.ERRORED:
                yield row


def _told(row: ResultRow, names_locations: bool) -> str:
    where = "" if names_locations else f"line {row.line}: "
    hint = f"\n  {row.error.hint}" if row.error and row.error.hint else ""
    return f"{where}{row.error}{hint}"
