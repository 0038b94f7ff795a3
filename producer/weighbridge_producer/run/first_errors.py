"""Messages of the first jobs of a run that errored."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from heapq import nsmallest
from itertools import islice
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from weighbridge.jobs.error_codes import ErrorCode
from weighbridge.jobs.outcome import Outcome
from weighbridge.jobs.result_line import ResultRow
from weighbridge.jobs.result_line_parts import ERRORED_BYTES, field_bytes
from weighbridge_producer.submit.id_conflict import ID_CONFLICT, id_conflict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

SHOWN = 5
_LOOKED_AT = 10_000  #: enough, because results are nearly in input order


class FirstErrors(NamedTuple):
    """Messages of the first errored lines, and how many jobs and lines they are of."""

    messages: list[
        str
    ]  #: distinct ones in input order, followed by hints, each of which is there once
    jobs: int  #: whose messages these are
    looked_at: int  #: errored jobs that were looked at
    lines: int  #: on which these are


NO_ERRORS = FirstErrors([], 0, 0, 0)


def first_errors(results: Path, *, names_locations: bool) -> FirstErrors:
    """Return the messages of the first errored lines.

    `names_locations` means that the messages already contain the line's location.
    """
    jobs: Counter[tuple[int, str]] = Counter()  #: by line and error
    with results.open("rb") as rows:
        distinct = _distinct(islice(_errored(rows), _LOOKED_AT), jobs)
        first = nsmallest(4 * SHOWN, distinct, key=attrgetter("line"))
    # Line numbers of the whole input are of no use where messages have files and their lines.
    earlier = {} if names_locations else _earlier_lines(results, first)
    told: Counter[str] = Counter()  #: jobs by message
    for row in first:
        message = _message_of(row, earlier, names_locations=names_locations)
        told[message] += jobs[row.line, str(row.error)]
    messages = list(told)[:SHOWN]
    lines = len({line for line, _ in jobs})
    jobs_told = sum(told[each] for each in messages)
    return FirstErrors(_with_each_hint_once(messages), jobs_told, jobs.total(), lines)


def _with_each_hint_once(messages: list[str]) -> list[str]:
    """Return messages without the hints that an earlier one has."""
    told: set[str] = set()
    shorter = []
    for message in messages:
        text, _, hint = message.partition("\n")
        shorter.append(text if hint in told else message)
        told.add(hint)
    return shorter


def _distinct(errored: Iterable[ResultRow], jobs: Counter[tuple[int, str]]) -> Iterator[ResultRow]:
    """Yield one of the jobs of a line that have the same error, under several labels, and count all."""
    for row in errored:
        key = row.line, str(row.error)
        jobs[key] += 1
        if jobs[key] == 1:
            yield row


def _earlier_lines(results: Path, errored: Iterable[ResultRow]) -> dict[str, int]:
    """Return the line of the case that each id in conflict belongs to, by id, as far as it has a result."""
    wanted = {row.custom_id for row in errored if row.custom_id and _is_conflict(row)}
    fields = [field_bytes("custom_id", name) for name in wanted]
    found: dict[str, int] = {}
    with results.open("rb") as rows:
        for raw in rows if wanted else ():
            if not any(field in raw for field in fields):
                continue
            row = ResultRow.from_bytes(raw)
            if row.custom_id in wanted and not _is_conflict(row):
                found[row.custom_id] = row.line
                if len(found) == len(wanted):
                    break
    return found


def _is_conflict(row: ResultRow) -> bool:
    return row.error is not None and row.error.code == ErrorCode.ID_CONFLICT


def _errored(rows: Iterator[bytes]) -> Iterator[ResultRow]:
    for raw in rows:
        if ERRORED_BYTES in raw:
            row = ResultRow.from_bytes(raw)
            if row.outcome is Outcome.ERRORED:
                yield row


def _message_of(row: ResultRow, earlier: dict[str, int], *, names_locations: bool) -> str:
    is_named = names_locations or (row.error is not None and row.error.names_line)
    where = "" if is_named else f"line {row.line}: "
    error = row.error
    if error and row.custom_id and _is_conflict(row):
        named = id_conflict(row.custom_id, earlier.get(row.custom_id))
        # The message begins with the location of the line if there may be several files.
        text = error.message.replace(ID_CONFLICT.message, named.message)
        error = replace(error, message=text)
    hint = f"\n  {error.hint}" if error and error.hint else ""
    return f"{where}{error}{hint}"
