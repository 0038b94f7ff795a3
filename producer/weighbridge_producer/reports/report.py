"""A report: a file of result lines, and what else is known of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from weighbridge.errors import InputError
from weighbridge.jobs.result import ResultRow
from weighbridge_producer.gating.gates import GateResult

CasesOf = Callable[[Mapping[int, str]], Iterable[tuple[int, bytes]]]
"""Yields cases as they were submitted, with their lines: those asked for, of each the line and the custom_id."""


def not_a_result(file: Path, number: int, error: Exception | str) -> InputError:
    """Return the error of a line that is not a result."""
    return InputError(
        f"line {number} of {str(file)!r}: {error}"[:400],
        "give JSON Lines as `run -o NAME.jsonl` and `results` write them (plain, .gz or .zst)",
    )


@dataclass(frozen=True, slots=True)
class Report:
    """What a form of output is made of; the file is read as often as a form needs."""

    results: Path  #: JSON Lines
    name: str  #: of what was graded
    by_case: bool = False  #: a table has a row for each case, with columns for each label
    gates: tuple[GateResult, ...] = ()
    changes: tuple[str, ...] = ()  #: what changed since another run, in lines of text
    cases_of: CasesOf | None = None  #: None where the cases are not at hand

    def rows(
        self, read: Callable[[bytes], ResultRow] = ResultRow.from_bytes
    ) -> Iterator[ResultRow]:
        """Yield the results, each as `read` returns it."""
        with self.results.open("rb") as file:
            for number, line in enumerate(file, start=1):
                try:
                    row = read(line)
                except ValueError as error:
                    raise not_a_result(self.results, number, error) from None
                yield row
