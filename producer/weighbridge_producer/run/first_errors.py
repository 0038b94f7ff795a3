"""Messages of the first jobs of a run that errored."""

from __future__ import annotations

from heapq import nsmallest
from itertools import islice
from operator import attrgetter
from typing import TYPE_CHECKING

from weighbridge.jobs.outcome import Outcome
from weighbridge.jobs.result_line import ResultRow
from weighbridge.jobs.result_line_parts import ERRORED_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SHOWN = 5
_LOOKED_AT = 10_000  #: enough, because results are nearly in input order


def first_errors(results: Path, *, names_locations: bool) -> list[str]:
    """Return the distinct messages of the first errored lines, each followed by its hint, in input order.

    `names_locations` means that the messages already contain the line's location.
    """
    with results.open("rb") as rows:
        first = nsmallest(4 * SHOWN, islice(_errored(rows), _LOOKED_AT), key=attrgetter("line"))
    return list(dict.fromkeys(_message_of(row, names_locations) for row in first))[:SHOWN]


def _errored(rows: Iterator[bytes]) -> Iterator[ResultRow]:
    for raw in rows:
        if ERRORED_BYTES in raw:
            row = ResultRow.from_bytes(raw)
            if row.outcome is Outcome.ERRORED:
                yield row


def _message_of(row: ResultRow, names_locations: bool) -> str:
    is_named = names_locations or (row.error is not None and row.error.names_line)
    where = "" if is_named else f"line {row.line}: "
    hint = f"\n  {row.error.hint}" if row.error and row.error.hint else ""
    return f"{where}{row.error}{hint}"
