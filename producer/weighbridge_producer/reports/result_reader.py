"""Result lines from an untrusted file."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from weighbridge.jobs.result_line import ResultRow
from weighbridge_producer.input.files.input_paths import opened_input
from weighbridge_producer.input.files.lines import StreamLines
from weighbridge_producer.reports.report import not_a_result

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from weighbridge.settings import Settings

_LINES_PER_CASE_LINE = 4  #: a result may quote its case several times, so its line may be longer


class ResultLine(NamedTuple):
    """A result line, raw and parsed."""

    raw: bytes  #: newline included
    row: ResultRow


def result_lines(path: Path, settings: Settings) -> Iterator[ResultLine]:
    """Yield the results in a JSON Lines file (plain, gzip or zstd); raises InputError for other lines."""
    longest = settings.line_limit_bytes * _LINES_PER_CASE_LINE
    allowed = settings.model_copy(update={"line_limit_bytes": longest})
    with opened_input(path) as stream:
        for number, line in enumerate(StreamLines(stream, str(path), allowed), start=1):
            if line.fault:
                raise not_a_result(path, number, line.fault.message)
            try:
                yield ResultLine(
                    line.raw.rstrip(b"\n") + b"\n", ResultRow.from_foreign_bytes(line.raw)
                )
            except ValueError as error:
                raise not_a_result(path, number, error) from None
