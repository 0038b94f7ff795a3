"""The CPU time and memory that grading lines takes, measured in a separate process."""

from __future__ import annotations

import resource
from time import process_time
from typing import TYPE_CHECKING, NamedTuple

from support.preloaded import forked_call
from weighbridge.child_process import collect_garbage_seldom
from weighbridge.graders.registry import Registry
from weighbridge.grading.line_grader import LineGrader
from weighbridge.grading.tally import Tally
from weighbridge.jobs.chunk import Line

if TYPE_CHECKING:
    from collections.abc import Sequence
    from multiprocessing.connection import Connection

_BYTES_PER_KIB = 1024
_CPU_SECONDS_LIMIT = 30


class GradingCost(NamedTuple):
    """What grading a line took, and its result."""

    seconds: float
    memory_bytes: int  #: that the process has grown by since before its first line
    result: bytes


def costs_of(lines: Sequence[bytes]) -> list[GradingCost]:
    """Grade lines in a process forked from a small one, as a worker's children are; fail after 30 CPU seconds."""
    costs: list[GradingCost] = []
    with forked_call(_grade, lines) as (receiver, process):
        try:
            while len(costs) < len(lines):
                costs.append(GradingCost(*receiver.recv()))
        except EOFError:
            process.join()
            raise AssertionError(
                f"grading line {len(costs) + 1} of {len(lines)} took more than {_CPU_SECONDS_LIMIT} s, or killed its process: {process.exitcode}"
            ) from None
    return costs


def cost_of(line: bytes) -> GradingCost:
    """Grade one line as `costs_of` does."""
    return costs_of([line])[0]


def _grade(sender: Connection, lines: Sequence[bytes]) -> None:
    registry = Registry()
    registry.preload()  # as a worker does before its first job
    collect_garbage_seldom()  # as a worker's children do
    resource.setrlimit(resource.RLIMIT_CPU, (_CPU_SECONDS_LIMIT, _CPU_SECONDS_LIMIT))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for line in lines:
        begun = process_time()
        result = LineGrader(registry=registry).grade(Line(0, 1, line), Tally())
        seconds = process_time() - begun
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        sender.send((seconds, (after - before) * _BYTES_PER_KIB, result))
