"""Writing selected results: as they arrive, as one JSON value, or gathered in a file for other forms."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import orjson
import typer

from weighbridge.errors import InterruptionError, WeighbridgeError
from weighbridge.jobs.result_line_parts import line_number_of
from weighbridge.text import pluralize
from weighbridge_producer.cli.show import err, error_value, print_error, shown, stdout_bytes
from weighbridge_producer.gating.gates import ERROR

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from contextlib import ExitStack

    from weighbridge_producer.cli.result_selection import ResultSelection


class CountedResults:
    """Blocks of result lines, and the number of results, and of their cases if wanted, in those that were read."""

    def __init__(self, blobs: Iterable[bytes], *, has_cases: bool) -> None:
        self._blobs = blobs
        self._cases: set[int] | None = set() if has_cases else None  #: by their line numbers
        self.results = 0

    def __iter__(self) -> Iterator[bytes]:
        for blob in self._blobs:
            lines = blob.splitlines()
            self.results += len(lines)
            if self._cases is not None:
                self._cases.update(map(line_number_of, lines))
            yield blob

    def __str__(self) -> str:
        """Return the numbers."""
        cases = "" if self._cases is None else f" of {pluralize(len(self._cases), 'case')}"
        return f"{pluralize(self.results, 'result')}{cases}"


def print_written(counted: CountedResults, outputs: Iterable[str]) -> None:
    """Print on standard error what was written to files, and in which form."""
    from weighbridge_producer.reports.forms import STDOUT, output_of

    written = [
        f"{output.target} ({output.description})"
        for output in map(output_of, outputs)
        if output.target != STDOUT
    ]
    if written:
        err.print(f"{counted} written to {shown(', '.join(written))}")


def stream_lines(blobs: Iterable[bytes]) -> None:
    """Write result lines to standard output as they arrive."""
    stdout = stdout_bytes()
    for blob in blobs:
        stdout.write(blob)
        stdout.flush()


def write_one_value(blobs: Iterable[bytes], wanted: ResultSelection) -> None:
    """Stream result lines as one JSON object, followed by the cursor."""
    target, between = stdout_bytes(), b""
    target.write(b'{"results":[')
    try:
        for rows in filter(None, (blob.splitlines() for blob in blobs)):
            target.write(between + b",".join(rows))
            between = b","
    except (WeighbridgeError, KeyboardInterrupt) as error:
        failure = (
            error
            if isinstance(error, WeighbridgeError)
            else InterruptionError("the command was interrupted")
        )
        target.write(b'],"error":%b}\n' % orjson.dumps(error_value(failure.fault)))
        target.flush()
        print_error(failure)
        raise typer.Exit(ERROR) from None
    target.write(b'],"cursor":%b}\n' % orjson.dumps(wanted.cursor or None))
    target.flush()


def gathered(blobs: Iterable[bytes], stack: ExitStack, *, sort: bool) -> Path:
    """Return a temporary file with the results, which is deleted when the stack closes."""
    from weighbridge_producer.run.result_file import sort_by_line

    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="weighbridge-"))
    gathered = Path(folder) / "results.jsonl"
    with gathered.open("wb") as file:
        file.writelines(blobs)
    if sort:
        sort_by_line(gathered)
    return gathered


def sorted_lines(blobs: Iterable[bytes], stack: ExitStack) -> Iterator[bytes]:
    """Return result lines in input order, from a temporary file that is deleted when the stack closes."""
    return stack.enter_context(gathered(blobs, stack, sort=True).open("rb"))
