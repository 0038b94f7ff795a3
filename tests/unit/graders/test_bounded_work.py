"""No input of a megabyte takes a grader long, nor memory out of proportion: what would is given up before it begins."""

from __future__ import annotations

import resource
from multiprocessing import get_context
from time import process_time

import pytest

from support.hostile_inputs import HOSTILE
from weighbridge.child_process import collect_garbage_seldom
from weighbridge.graders.registry import default_registry
from weighbridge.grading.line_grader import LineGrader, Tally
from weighbridge.jobs.chunk import Line

pytestmark = pytest.mark.slow

SIZE_BYTES = 900_000
SECONDS = 2.0
MEMORY_MIB = 400
_KIB_PER_MIB = 1024


def cost_of(line):
    """Return the processor seconds that grading a line takes, and the memory in MiB, in a process of its own."""
    default_registry().versions()  # loads the graders, as a worker does before its first job
    context = get_context("fork")
    receiver, sender = context.Pipe(duplex=False)

    def grade():
        collect_garbage_seldom()  # as a worker's children do
        resource.setrlimit(resource.RLIMIT_CPU, (30, 30))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        begun = process_time()
        result = LineGrader().grade(Line(0, 1, line), Tally())
        seconds = process_time() - begun
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        sender.send((seconds, (after - before) / _KIB_PER_MIB, result))

    process = context.Process(target=grade)
    process.start()
    sender.close()
    try:
        return receiver.recv()
    except EOFError:
        pytest.fail(
            f"grading the line took more than 30 s, or killed its process: {process.exitcode}"
        )
    finally:
        process.join()


def slowness():
    """Return how much slower this machine is now than one whose core adds ten million numbers in half a second."""
    begun, total = process_time(), 0
    for number in range(1_000_000):
        total += number
    return max(1.0, (process_time() - begun) / 0.05)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_megabyte_takes_neither_long_nor_much_memory(name):
    line = HOSTILE[name](SIZE_BYTES)
    assert len(line) < 1.4 * SIZE_BYTES
    seconds, memory, result = cost_of(line)
    if (
        seconds >= SECONDS
    ):  # the machine may be a slow one, or have slowed down meanwhile: once more
        seconds, memory, result = cost_of(line)
        assert seconds < SECONDS * slowness()
    assert memory < MEMORY_MIB
    assert b'"status":"' in result


def test_ordinary_calls_are_all_judged():
    _, _, result = cost_of(HOSTILE["many_ordinary_calls"](SIZE_BYTES))
    assert b'"verdict":"pass"' in result
