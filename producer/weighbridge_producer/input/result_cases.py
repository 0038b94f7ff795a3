"""Result lines as input: the case in each line is graded again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weighbridge.errors import Fault, InputError
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge.jobs.line import JSON_SPACE
from weighbridge.jobs.result_line_parts import case_in
from weighbridge_producer.input.files.input_paths import repeatable_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weighbridge_producer.input.source_lines import SourceLine


def cases_of_results(lines: Iterator[SourceLine], name: str) -> Iterator[SourceLine]:
    """Yield the case in each result line; a case with several results is later counted as repeated lines.

    Raises InputError if the results have no cases.
    """
    seen = False
    for line in lines:
        if line.fault or not line.raw.strip(JSON_SPACE):
            yield line
            continue
        try:
            case = case_in(line.raw)
        except ValueError:
            yield line  # grading reports what is wrong with it
            continue
        if case is None and not seen:
            raise InputError(
                f"{name!r} has results without their cases",
                "write them with --with-cases (`run` and `results`), or grade the file of cases again:"
                f" weighbridge run CASES --only-failed {repeatable_name(name, 'RESULTS')}",
            )
        seen = True
        _take(line, case or b"null")
        yield line


def _take(line: SourceLine, case: bytes) -> None:
    """Replace a result line by its case."""
    if case == b"null":
        line.fault = Fault(
            ErrorCode.MISSING_FIELD,
            "the result has no case, because its input line was not one",
            "correct the line in the file that it came from",
        )
        line.raw = b"\n"
    else:
        line.raw = case + b"\n"
