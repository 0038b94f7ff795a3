"""`weighbridge run --dry-run`: read and check everything, show the first cases, and grade nothing."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import orjson
import typer

from weighbridge.errors import BadLine
from weighbridge.grading.line_grader import LineGrader
from weighbridge.jobs.line import JSON_SPACE
from weighbridge.text import pluralize, shorten
from weighbridge_producer.cli.reading_notes import (
    print_chosen,
    print_left_out,
    print_notes,
    print_unused,
)
from weighbridge_producer.cli.show import err, out, print_json, shown
from weighbridge_producer.gating.gates import ERROR
from weighbridge_producer.input.duplicates import Duplicate, DuplicateIndex
from weighbridge_producer.input.lost_rows import NOTHING_LOST, lost_rows
from weighbridge_producer.submit.strict_submission import FAULTS_SHOWN, checked_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge.jobs.grader_spec import GraderSpec
    from weighbridge_producer.input.lost_rows import LostRows
    from weighbridge_producer.input.source import Source

_CASES_SHOWN = 3
_WIDTH = 300


def dry_run(
    source: Source,
    graders: Sequence[GraderSpec],
    only_failed: str = "",
    *,
    as_json: bool,
    lacks_output: bool,
) -> None:
    """Read a source as a run would, print what it would grade, and exit.

    The status is 0 when every line can be graded and no output of the run would be left out, which `lacks_output` says;
    1 otherwise.
    """
    read = _read(source, graders)
    print_chosen(source, only_failed)
    print_unused(source)
    print_notes(source, graders)
    lost = lost_rows(source) if read.repeats else NOTHING_LOST
    if as_json:
        print_json(_as_dict(read, lost))
    else:
        for content in read.first_cases:
            out.print(shown(shorten(content.decode(), _WIDTH)), soft_wrap=True)
        bad = f"; {pluralize(read.faults, 'line')} cannot be graded" if read.faults else ""
        counts = f"{pluralize(read.cases, 'case')}, {pluralize(read.jobs, 'job')}{bad}"
        out.print(f"{counts}. Nothing was graded.")
        print_left_out(read.repeats, lost, source, out)
        for bad_line in read.first_bad_lines:
            err.print(shown(str(bad_line)), soft_wrap=True)
    is_empty = not (read.cases or read.faults)
    raise typer.Exit(ERROR if read.faults or is_empty or lacks_output else 0)


@dataclass(slots=True)
class _Read:
    """The lines of a source, counted, with the first of them."""

    cases: int = 0  #: that can be graded, without repeats
    jobs: int = 0
    faults: int = 0
    repeats: int = 0
    first_cases: list[bytes] = field(default_factory=list)
    first_bad_lines: list[BadLine] = field(default_factory=list)


def _read(source: Source, graders: Sequence[GraderSpec]) -> _Read:
    """Read all lines of a source, and check each as a run would."""
    grader, read = LineGrader(graders), _Read()
    with closing(DuplicateIndex()) as earlier_ids:
        for number, line in enumerate(source, 1):
            content = line.raw.strip(JSON_SPACE)
            if not (line.fault or content):
                continue
            job = line.as_job(number)
            fault, claim = checked_line(number, line, grader, earlier_ids)
            if claim is Duplicate.REPEAT:
                read.repeats += 1
            elif fault:
                read.faults += 1
                if len(read.first_bad_lines) < FAULTS_SHOWN:
                    read.first_bad_lines.append(BadLine(number, fault, job.location))
            else:
                read.cases += 1
                read.jobs += grader.jobs_of(job)
                if len(read.first_cases) < _CASES_SHOWN:
                    read.first_cases.append(content)
    return read


def _as_dict(read: _Read, lost: LostRows) -> dict[str, Any]:
    return {
        "cases": read.cases,
        "jobs": read.jobs,
        "bad_lines": read.faults,
        "first_cases": [orjson.loads(content) for content in read.first_cases],
        "first_bad_lines": [
            {"line": bad.number, **{k: getattr(bad.fault, k) for k in ("code", "message", "hint")}}
            for bad in read.first_bad_lines
        ],
        "repeats": read.repeats,
        "lost_rows": lost.as_dict(),
    }
