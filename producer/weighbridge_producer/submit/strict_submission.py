"""Strict submission: the whole input is validated before any of it is submitted."""

from __future__ import annotations

import tempfile
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from weighbridge.errors import BadLine, InvalidInputError
from weighbridge.grading.line_grader import LineGrader
from weighbridge.jobs.line import JSON_SPACE, peek_custom_id
from weighbridge_producer.input.duplicates import Duplicate, DuplicateIndex
from weighbridge_producer.input.source import Source
from weighbridge_producer.submit.id_conflict import id_conflict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import IO

    from weighbridge.errors import Fault
    from weighbridge.jobs.grader_spec import GraderSpec
    from weighbridge.settings import Settings
    from weighbridge_producer.input.source_lines import SourceLine

FAULTS_SHOWN = 20


@contextmanager
def checked(source: Source, graders: Sequence[GraderSpec], settings: Settings) -> Iterator[Source]:
    """Validate all cases of a source, and provide a source of the same cases.

    A file is read in place. Input that can be read only once (a pipe, a stream, an iterable) is copied to a temporary
    file, which exists until the context ends.

    Raises InvalidInputError, with the first faults, if any line cannot be graded.
    """
    if source.rereadable:
        check(source, graders)
        yield source
        return
    with tempfile.NamedTemporaryFile(prefix="weighbridge-", suffix=".jsonl") as spool:
        check(source, graders, spool)
        spool.flush()
        yield Source(spool.name, settings)


def check(
    source: Source,
    graders: Sequence[GraderSpec],
    spool: IO[bytes] | None = None,
) -> None:
    """Validate the whole input in constant memory, and copy it to `spool` if given.

    Raises InvalidInputError if any line cannot be graded.
    """
    bad_lines: list[BadLine] = []
    total = 0
    grader = LineGrader(graders)
    with closing(DuplicateIndex()) as earlier_ids:
        for number, line in enumerate(source, 1):
            fault, _ = checked_line(number, line, grader, earlier_ids)
            if fault:
                total += 1
                location = line.as_job(number).location
                bad_lines.append(BadLine(number, fault, location))
                del bad_lines[FAULTS_SHOWN:]
            if spool:
                spool.write(line.raw)
    if bad_lines:
        raise InvalidInputError(source.name, bad_lines, total)


def checked_line(
    number: int, line: SourceLine, grader: LineGrader, earlier_ids: DuplicateIndex
) -> tuple[Fault | None, Duplicate]:
    """Return the reason why a line cannot be graded, or None, and how it relates to the lines before it with `earlier_ids`."""
    content = line.raw.strip(JSON_SPACE)
    if not line.fault and not content:
        return None, Duplicate.FIRST
    fault = grader.fault_of(line.as_job(number))
    custom_id = None if fault else peek_custom_id(content)
    if custom_id is None:
        return fault, Duplicate.FIRST
    claim = earlier_ids.claim(custom_id, content)
    return id_conflict(custom_id) if claim is Duplicate.CONFLICT else None, claim
