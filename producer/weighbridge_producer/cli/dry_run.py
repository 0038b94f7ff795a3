"""`weighbridge run --dry-run`: read and check everything, show the first cases, and grade nothing."""

from __future__ import annotations

from contextlib import closing
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
    grader = LineGrader(graders)
    jobs = lines = faults = repeats = 0
    first: list[bytes] = []
    bad_lines: list[BadLine] = []
    with closing(DuplicateIndex()) as earlier_ids:
        for number, line in enumerate(source, 1):
            content = line.raw.strip(JSON_SPACE)
            if not (line.fault or content):
                continue
            lines += 1
            job = line.as_job(number)
            fault, claim = checked_line(number, line, grader, earlier_ids)
            if claim is Duplicate.REPEAT:
                repeats += 1
                continue
            if fault:
                faults += 1
                if len(bad_lines) < FAULTS_SHOWN:
                    bad_lines.append(BadLine(number, fault, job.location))
                continue
            jobs += grader.jobs_of(job)
            if len(first) < _CASES_SHOWN:
                first.append(content)
    print_chosen(source, only_failed)
    print_unused(source)
    print_notes(source, graders)
    lost = lost_rows(source) if repeats else NOTHING_LOST
    cases = lines - faults - repeats
    if as_json:
        left = {"repeats": repeats, "lost_rows": lost.as_dict()}
        print_json(_as_dict(cases, jobs, faults, first, bad_lines) | left)
    else:
        for content in first:
            out.print(shown(shorten(content.decode(), _WIDTH)), soft_wrap=True)
        bad = f"; {pluralize(faults, 'line')} cannot be graded" if faults else ""
        out.print(f"{pluralize(cases, 'case')}, {pluralize(jobs, 'job')}{bad}. Nothing was graded.")
        print_left_out(repeats, lost, source, out)
        for bad_line in bad_lines:
            err.print(shown(str(bad_line)), soft_wrap=True)
    raise typer.Exit(ERROR if faults or not lines or lacks_output else 0)


def _as_dict(
    cases: int, jobs: int, faults: int, first: list[bytes], bad_lines: list[BadLine]
) -> dict[str, Any]:
    return {
        "cases": cases,
        "jobs": jobs,
        "bad_lines": faults,
        "first_cases": [orjson.loads(content) for content in first],
        "first_bad_lines": [
            {"line": bad.number, **{k: getattr(bad.fault, k) for k in ("code", "message", "hint")}}
            for bad in bad_lines
        ],
    }
