"""One example job for each cause of failure in a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weighbridge.jobs.result_line import ResultRow
from weighbridge.jobs.result_line_parts import PASSED_BYTES, line_number_of
from weighbridge_producer.reports.row_names import file_of, with_file

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from weighbridge.jobs.outcome import GraderSummary

Examples = dict[tuple[str, str], str]
"""Example texts by label and cause."""

_LOOKED_AT = 20_000  #: jobs that did not pass; a rarer cause may get no example
#: First results, of which all are read to see which lines come before the examples.
_FOLLOWED = 20_000
_BLOCK_BYTES = 256 * 1024  #: read at once


def first_examples(results: Path, summary: Iterable[GraderSummary], most: int) -> Examples:
    """Return an example for each of the `most` commonest causes of a label, like `q7: Expected 'a' but got 'b'`.

    The example is the first in input order, not in the order of grading. Errored jobs are excluded, because a run's
    report lists them separately.
    """
    wanted = {
        (row.label, cause)
        for row in summary
        for cause, _ in row.causes[:most]
        if row.failed or row.ungradable
    }
    found = _first_rows(results, wanted) if wanted else {}
    return {key: f"{_name(row)}: {row.reason()}" for key, row in found.items()}


def _first_rows(results: Path, wanted: set[tuple[str, str]]) -> dict[tuple[str, str], ResultRow]:
    found: dict[tuple[str, str], ResultRow] = {}
    latest = 0  #: the last line of the input with an example
    looked_at = 0
    seen = _SeenLines()
    with results.open("rb", buffering=_BLOCK_BYTES) as file:
        for index, line in enumerate(file):
            has_passed = PASSED_BYTES in line
            if has_passed and index >= _FOLLOWED:
                continue
            number = line_number_of(line)
            is_later = len(found) == len(wanted) and number >= latest
            if looked_at == _LOOKED_AT or (is_later and seen.next_line() >= latest):
                break
            looked_at += not has_passed
            if index < _FOLLOWED:
                seen.add(number)
            if has_passed or is_later:  # no example, so not worth parsing
                continue
            row = ResultRow.from_bytes(line)
            key = row.label or "", row.cause
            is_first = key not in found or row.line < found[key].line
            if key in wanted and is_first and not row.error:
                found[key] = row
                latest = max(example.line for example in found.values())
    return found


class _SeenLines:
    """The lines of the input whose results were read, in any order."""

    def __init__(self) -> None:
        self._numbers: set[int] = set()
        self._next = 1

    def add(self, number: int) -> None:
        """Add a line by its number, from 1."""
        self._numbers.add(number)

    def next_line(self) -> int:
        """Return the first line that was not seen."""
        while self._next in self._numbers:
            self._next += 1
        return self._next


def _name(row: ResultRow) -> str:
    return with_file(row.custom_id or f"line {row.line}", file_of(row))
