"""No large input takes a grader long, nor memory out of proportion: what would is given up before it begins."""

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

SIZE_BYTES = 200_000
#: Inputs that a limit on the size of a schema, of aliases or of a pattern rejects only at this size, one per limit.
AT_A_MEGABYTE = ("not_nest", "pattern_lookahead", "patternprops_many", "refs_chain", "tf_aliases")
MEGABYTE_BYTES = 900_000
LARGER_BYTES = (450_000, 600_000, MEGABYTE_BYTES)
SECONDS_LIMIT = 2.0  #: for a megabyte
SECONDS_PER_BYTE = SECONDS_LIMIT / MEGABYTE_BYTES
MEMORY_BYTES_PER_BYTE = 450
_BYTES_PER_KIB = 1024
_TRIES = 3


def cost_of(line):
    """Return the CPU seconds and the memory in bytes that grading a line takes, measured in a separate process."""
    default_registry().preload()  # as a worker does before its first job
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
        sender.send((seconds, (after - before) * _BYTES_PER_KIB, result))

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


@pytest.mark.parametrize(
    ("name", "size_bytes"),
    [(name, SIZE_BYTES) for name in HOSTILE] + [(name, MEGABYTE_BYTES) for name in AT_A_MEGABYTE],
)
def test_a_large_input_takes_neither_long_nor_much_memory(name, size_bytes):
    seconds, memory_bytes, result = cost_of(whole(name, size_bytes))
    assert memory_bytes < size_bytes * MEMORY_BYTES_PER_BYTE
    assert b'"status":"' in result
    if seconds >= size_bytes * SECONDS_PER_BYTE:
        # Work with a fixed bound may take more than a small input's share. A limit may reject the largest.
        for larger in LARGER_BYTES:
            assert least_seconds(whole(name, larger)) < SECONDS_LIMIT * slowness(), larger


def whole(name, size_bytes):
    line = HOSTILE[name](size_bytes)
    assert len(line) < 1.4 * size_bytes
    return line


def least_seconds(line):
    """Return the least CPU time of several, because other processes slow even CPU time down."""
    return min(cost_of(line)[0] for _ in range(_TRIES))


def test_ordinary_calls_are_all_judged():
    _, _, result = cost_of(HOSTILE["many_ordinary_calls"](SIZE_BYTES))
    assert b'"verdict":"pass"' in result
