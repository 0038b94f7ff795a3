"""Index of a results file by the lines that its results are of."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from weighbridge.jobs.result_line_parts import line_number_of
from weighbridge_producer.input.temporary import scratch_database
from weighbridge_producer.reports.case_lines import without_case

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import BinaryIO

    from weighbridge_producer.run.verification import Verification

_LAST_LINE = 2**63 - 1  #: the largest line number that the index can hold


class ResultIndex:
    """Index of a results file in any order: the offsets of each line's results."""

    def __init__(self, file: BinaryIO, outcome: Verification) -> None:
        self._file = file
        self._base = scratch_database(
            "results (line INTEGER, offset INTEGER, PRIMARY KEY (line, offset))"
        )
        self._base.executemany("INSERT INTO results VALUES (?, ?)", self._offsets(outcome))
        self._found = self._base.execute("SELECT line, offset FROM results ORDER BY line, offset")
        self._next: tuple[int, int] | None = self._found.fetchone()

    def _offsets(self, outcome: Verification) -> Iterator[tuple[int, int]]:
        offset = 0
        for at, row in enumerate(self._file, start=1):
            try:
                line = line_number_of(row)
            except ValueError:
                line = 0
            if 0 < line <= _LAST_LINE:
                yield line, offset
            else:
                outcome.surplus += 1
                outcome.add_problem(f"line {at} of the results is not a result")
            offset += len(row)

    def offsets(self, number: int) -> array[int]:
        """Return the offsets of a line's results; to be called for all lines in ascending order."""
        offsets = array("Q")
        while self._next and self._next[0] == number:
            offsets.append(self._next[1])
            self._next = self._found.fetchone()
        return offsets

    def read(self, offsets: Iterable[int]) -> Iterator[bytes]:
        """Yield the results at given offsets."""
        return map(self._at, offsets)

    def settle_rest(self, outcome: Verification) -> None:
        """Count results for line numbers beyond the cases."""
        while self._next:
            outcome.surplus += 1
            outcome.add_problem(f"line {self._next[0]}: the cases have no such line")
            self._next = self._found.fetchone()

    def _at(self, offset: int) -> bytes:
        self._file.seek(offset)
        return without_case(self._file.readline().removesuffix(b"\n"))

    def close(self) -> None:
        """Close the index."""
        self._base.close()
