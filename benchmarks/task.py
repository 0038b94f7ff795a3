"""Task of one turn of one way, which every process of the turn reads from the environment."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weighbridge.grading.line_grader import LineGrader
from weighbridge.grading.tally import Tally
from weighbridge.jobs.chunk import Line
from weighbridge.jobs.grader_spec import parse_specs

if TYPE_CHECKING:
    from collections.abc import Iterator

TASK_VARIABLE = "WEIGHBRIDGE_BENCHMARK_TASK"
URL_VARIABLE = "WEIGHBRIDGE_BENCHMARK_URL"
LINES_A_MESSAGE = 1_000
BYTES_A_MESSAGE = 256 * 1024


@dataclass(frozen=True, slots=True)
class Task:
    """Lines of a file, to be graded by one way with a number of worker processes."""

    way: str
    cases: str
    lines: int  #: number of lines, from the start of the file
    graders: tuple[Any, ...]
    workers: int
    folder: str  #: folder of the output, the log and the server's data
    one_by_one: bool = False  #: whether each line is awaited before the next is sent

    @property
    def out(self) -> Path:
        """Path of the file of result lines."""
        return Path(self.folder) / "results.jsonl"

    def environment(self) -> dict[str, str]:
        """Return the environment variables that pass the task to a process."""
        return {TASK_VARIABLE: json.dumps(asdict(self))}


@cache
def task() -> Task:
    """Return the task of this process."""
    given = json.loads(os.environ[TASK_VARIABLE])
    return Task(**{**given, "graders": tuple(given["graders"])})


@cache
def line_grader() -> LineGrader:
    """Return the grader that all ways use."""
    return LineGrader(parse_specs(list(task().graders)))


def grade_line(number: int, raw: bytes) -> bytes:
    """Return the result lines of one line."""
    return line_grader().grade(Line(number - 1, number, raw.rstrip(b"\n")), Tally())


def grade_slice(first: int, raw: bytes) -> bytes:
    """Return the result lines of complete lines, given the number of the first one."""
    grader, tally = line_grader(), Tally()
    lines = enumerate(raw.split(b"\n"), start=first)
    return b"".join(
        grader.grade(Line(number - 1, number, line), tally) for number, line in lines if line
    )


def numbered_lines() -> Iterator[tuple[int, bytes]]:
    """Yield the lines of the task, each with its number."""
    with Path(task().cases).open("rb") as source:
        yield from zip(range(1, task().lines + 1), source, strict=False)


def slices() -> Iterator[tuple[int, bytes]]:
    """Yield the lines of the task in messages of many lines, each with the number of its first line."""
    held: list[bytes] = []
    size, first = 0, 1
    for number, line in numbered_lines():
        held.append(line)
        size += len(line)
        if len(held) == LINES_A_MESSAGE or size >= BYTES_A_MESSAGE:
            yield first, b"".join(held)
            held, size, first = [], 0, number + 1
    if held:
        yield first, b"".join(held)
