"""A slow run with little CPU use: cases that sleep, and their expected results."""

from __future__ import annotations

import os
from itertools import islice
from typing import TYPE_CHECKING, Any

from support.cases import sleepy_cases, true_false_cases, write_cases
from support.plugins.hazard_graders import SlowGrader
from support.workers import PLUGINS
from weighbridge.graders.registry import Registry
from weighbridge.grading.line_grader import LineGrader
from weighbridge.grading.tally import Tally
from weighbridge.jobs.chunk import Line
from weighbridge.jobs.grader_spec import parse_specs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from support.cases import Case
    from support.cli import Cli

CHUNK_JOBS = 25
QUICK, SLEEPY = 480, 20
COUNT = QUICK + SLEEPY
_SLEEP_SECONDS = 0.2


def write_unhurried(cli: Cli, path: Path) -> Path:
    """Write cases that take two workers two seconds, and configure the command line for them.

    Results arrive from the start, with one chunk every 100 ms.
    """
    cli.environment |= {
        "PYTHONPATH": os.pathsep.join((str(PLUGINS), os.environ.get("PYTHONPATH", ""))),
        "WEIGHBRIDGE_CHUNK_LIMIT_JOBS": str(CHUNK_JOBS),
    }
    return write_cases(path, unhurried_cases())


def unhurried_cases() -> Iterator[Case]:
    """Yield the `true_false_cases`, with one of the `sleepy_cases` in each chunk of CHUNK_JOBS."""
    quick = true_false_cases(QUICK)
    for sleepy in sleepy_cases(SLEEPY, _SLEEP_SECONDS):
        yield from islice(quick, CHUNK_JOBS - 1)
        yield sleepy


class _Awake(SlowGrader):
    """Returns the same results as `sleeps`, immediately."""

    def harm(self, _: object) -> Any:
        return super().harm(0)


def graded_here(path: Path, graders: Sequence[str | Mapping[str, Any]] = ()) -> list[bytes]:
    """Return the library's result lines for cases, sorted."""
    grader = LineGrader(parse_specs(graders), Registry(graders=[_Awake]))
    lines = path.read_bytes().splitlines()
    results = b"".join(
        grader.grade(Line(number - 1, number, line), Tally())
        for number, line in enumerate(lines, 1)
    )
    return sorted(results.splitlines(keepends=True))


def sorted_lines(path: Path) -> list[bytes]:
    """Return the lines of a file, sorted."""
    return sorted(path.read_bytes().splitlines(keepends=True))
