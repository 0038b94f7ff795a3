"""A report: a results file, and the information that its outputs need."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from weighbridge.errors import InputError
from weighbridge.jobs.result_line import ResultRow
from weighbridge_producer.gating.gates import GateResult
from weighbridge_producer.gating.slices import Slice

_Read = TypeVar("_Read")
CasesOf = Callable[[Mapping[int, str]], Iterable[tuple[int, bytes]]]
"""A function that yields the submitted lines of requested cases, given their line numbers and custom_ids."""


def not_a_result(file: Path, number: int, error: Exception | str) -> InputError:
    """Return the error for a line that is not a result."""
    return InputError(
        f"line {number} of {str(file)!r}: {error}"[:400],
        "give JSON Lines as `run -o NAME.jsonl` and `results` write them (plain, .gz or .zst)",
    )


def parsed_lines(results: Path, read: Callable[[bytes], _Read]) -> Iterator[_Read]:
    """Yield what `read` makes of each line of a results file; raises InputError where it raises ValueError."""
    with results.open("rb") as file:
        for number, line in enumerate(file, start=1):
            try:
                row = read(line)
            except ValueError as error:
                raise not_a_result(results, number, error) from None
            yield row


@dataclass(frozen=True, slots=True)
class Report:
    """The source of all output forms; a form may read the results file several times."""

    results: Path  #: JSON Lines
    name: str  #: name of the input
    by_case: bool = False  #: tables have one row per case, with columns for each label
    gates: tuple[GateResult, ...] = ()
    slices: tuple[Slice, ...] = ()  #: by the requested metadata fields
    changes: tuple[str, ...] = ()  #: changes since another run, as lines of text
    cases_of: CasesOf | None = None  #: None if the cases are not available
    #: True if JUnit has ungradable jobs as errors, not as skipped
    ungradable_is_error: bool = False

    def rows(self) -> Iterator[ResultRow]:
        """Yield the results."""
        return parsed_lines(self.results, ResultRow.from_bytes)
