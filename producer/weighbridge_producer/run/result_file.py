"""The JSON Lines file of a run's results: appended to during the run, sorted at its end."""

from __future__ import annotations

import os
import shutil
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from weighbridge.jobs.result_line_parts import line_number_of
from weighbridge_producer.reports.case_lines import in_order, with_cases
from weighbridge_producer.reports.forms import output_of
from weighbridge_producer.run.durable_files import sync
from weighbridge_producer.run.run_folder import partial_name, sorting_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from weighbridge.jobs.grader_spec import GraderSpec

_COPY_BYTES = 1024 * 1024


class SortedPart(NamedTuple):
    """A part of a results file whose lines are in input order."""

    first: int  #: number of the first input line that it may have results of
    last: int
    offset: int  #: in bytes
    size: int


class GrowingFile:
    """Append-only file of result lines; on resuming, it is truncated to the length of the last checkpoint."""

    def __init__(self, path: Path, *, keep_bytes: int = 0) -> None:
        self.path = path
        # Do not follow a symbolic link, which another user may have created.
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        self._file = os.fdopen(os.open(path, flags, 0o666), "r+b")
        self._file.truncate(keep_bytes)
        self._file.seek(0, os.SEEK_END)
        sync(path.parent)

    def append(self, lines: bytes) -> int:
        """Append lines and return the new length of the file in bytes."""
        self._file.write(lines)
        self._file.flush()
        return self._file.tell()

    def sync(self) -> None:
        """Sync the lines written so far to disk."""
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def results_path(outputs: Iterable[str], folder: Path) -> Path:
    """Return the path for a run's results: beside its first plain output, to be renamed, or in its folder."""
    for output in map(output_of, sorted(outputs)):
        if output.is_plain and output.file:
            return output.file.with_name(partial_name(folder))
    return folder / "results.jsonl"


def copy_out(results: Path, stdout: BinaryIO) -> None:
    """Copy a results file to standard output."""
    with results.open("rb") as source:
        shutil.copyfileobj(source, stdout, _COPY_BYTES)
    stdout.flush()


def sort_by_line(path: Path, known: Sequence[SortedPart] = ()) -> None:
    """Sort a results file into input order, in place, without loading it into memory.

    `known` are the parts at its end: they need not be read to be sorted.
    """
    with path.open("rb") as file:
        parts = [*_parts_in(file, known[0].offset if known else None), *known]
        if any(earlier.last >= later.first for earlier, later in pairwise(sorted(parts))):
            parts = _parts_in(file)
        if parts == sorted(parts):
            return
        target = sorting_name(path)
        with target.open("wb") as out:
            for part in sorted(parts):
                file.seek(part.offset)
                _copy(file, out, part.size)
    sync(target)
    target.replace(path)
    sync(path.parent)


def _parts_in(file: BinaryIO, end: int | None = None) -> list[SortedPart]:
    """Return the parts of a file, up to an offset, in which no line is out of order or missing."""
    parts: list[SortedPart] = []
    first = last = -1
    start = offset = 0
    file.seek(0)
    while offset != end and (row := file.readline()):
        number = line_number_of(row)
        if offset > start and not last <= number <= last + 1:
            parts.append(SortedPart(first, last, start, offset - start))
            start = offset
        if offset == start:
            first = number
        offset, last = offset + len(row), number
    if offset > start:
        parts.append(SortedPart(first, last, start, offset - start))
    return parts


def add_cases(
    path: Path, cases: Iterable[tuple[int, bytes]], graders: Sequence[GraderSpec]
) -> None:
    """Add the case to each line of a results file; `cases` and file are both in input order."""
    target = sorting_name(path)
    with path.open("rb") as file, target.open("wb") as out:
        out.writelines(with_cases(file, in_order(cases), graders))
    sync(target)
    target.replace(path)
    sync(path.parent)


def _copy(source: BinaryIO, target: BinaryIO, size: int) -> None:
    while size > 0:
        block = source.read(min(size, _COPY_BYTES))
        target.write(block)
        size -= len(block)
