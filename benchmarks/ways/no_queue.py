"""Ways without a queue, process pools and a single process, which lose all results when a process dies."""

from __future__ import annotations

import multiprocessing
from typing import TYPE_CHECKING, Any

import orjson

from benchmarks.task import grade_line, grade_slice, line_grader, numbered_lines, slices, task
from benchmarks.ways.way import Way
from weighbridge.child_process import collect_garbage_seldom
from weighbridge.grading.case import Case
from weighbridge.grading.tally import Tally
from weighbridge.jobs.chunk import Line
from weighbridge.jobs.grader_spec import parse_specs

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import ExitStack


class OneProcess(Way):
    """Single process that reads, grades and writes."""

    def start(self, stack: ExitStack) -> None:
        """Import the modules for grading."""
        collect_garbage_seldom()
        line_grader()

    def grade_all(self) -> None:
        """Grade slice by slice."""
        with task().out.open("wb") as target:
            for first, raw in slices():
                target.write(grade_slice(first, raw))

    def grade_one(self, number: int, line: bytes) -> bytes:
        """Grade one line."""
        return grade_line(number, line)


class SlicePool(Way):
    """Process pool that receives raw slices of the file and checks every line, as Weighbridge does."""

    def start(self, stack: ExitStack) -> None:
        """Start the pool."""
        self._pool = stack.enter_context(multiprocessing.Pool(task().workers, prepare))
        self._pool.map(len, [b""] * 4 * task().workers)

    def grade_all(self) -> None:
        """Write results as they come."""
        with task().out.open("wb") as target:
            for results in self._pool.imap_unordered(grade_job, slices()):
                target.write(results)


class ParsedPool(SlicePool):
    """Process pool whose parent process parses the lines without checks."""

    def grade_all(self) -> None:
        """Write results as they come."""
        with task().out.open("wb") as target:
            for results in self._pool.imap_unordered(grade_parsed, parsed_slices()):
                target.write(results)


def prepare() -> None:
    """Prepare a process of the pool for grading."""
    collect_garbage_seldom()
    line_grader()


def grade_job(job: tuple[int, bytes]) -> bytes:
    """Grade a slice in a pool's process."""
    return grade_slice(*job)


def parsed_slices() -> Iterator[tuple[int, list[Any]]]:
    """Yield the parsed lines of the task, as many at a time as a message has."""
    held: list[Any] = []
    for number, line in numbered_lines():
        held.append(orjson.loads(line))
        if len(held) == 1_000 or len(line) > 10_000:
            yield number - len(held) + 1, held
            held = []
    if held:
        yield task().lines - len(held) + 1, held


def grade_parsed(job: tuple[int, list[dict[str, Any]]]) -> bytes:
    """Grade parsed lines in a pool's process."""
    first, values = job
    grader, tally, specs = line_grader(), Tally(), parse_specs(list(task().graders))
    return b"".join(
        grader.grade_case(
            Line(number - 1, number, b""),
            Case(value["custom_id"], value["inputs"], specs, value.get("metadata")),
            tally,
        )
        for number, value in enumerate(values, start=first)
    )
