"""The model of what one server feeds, and how its costs are fitted to what was measured."""

from __future__ import annotations

from dataclasses import astuple

import pytest

from benchmarks.capacity import Measured, fitted
from benchmarks.capacity_model import CHUNK_BYTES, CHUNK_LINES, Load, ServerCosts, capacity
from benchmarks.processes import ServerReading

COSTS = ServerCosts(chunk_us=1_000, line_us=0.5, kilobyte_us=2, second_us=10_000)


def test_a_chunk_has_a_fifth_of_a_second_of_grading() -> None:
    assert Load(worker_us=200, line_bytes=100, wire_bytes=50).lines_a_chunk == 1_000


def test_a_chunk_of_quick_lines_ends_at_the_most_lines_and_one_of_large_lines_at_the_most_bytes() -> (
    None
):
    assert Load(worker_us=1, line_bytes=10, wire_bytes=5).lines_a_chunk == CHUNK_LINES
    assert Load(worker_us=1, line_bytes=CHUNK_BYTES / 8, wire_bytes=5).lines_a_chunk == 8


def test_a_line_that_takes_longer_than_a_chunk_is_a_chunk() -> None:
    assert Load(worker_us=10**6, line_bytes=10, wire_bytes=5).lines_a_chunk == 1


def test_a_server_feeds_as_many_cores_as_its_own_time_fits_into_theirs() -> None:
    # 1,000 lines a chunk: 1 us of the chunk's, 0.5 of the line's and 0.1 of its 50 bytes.
    found = capacity(COSTS, Load(worker_us=200, line_bytes=100, wire_bytes=50))
    assert found.server_us == pytest.approx(1.6)
    # A hundredth of its time goes to chores.
    assert found.cores == pytest.approx(125 * 0.99)
    assert found.lines_a_second == pytest.approx(618_750)
    assert found.wire_bytes_a_second == pytest.approx(618_750 * 50)


def measured(chunks: int, lines: int, line_wire_bytes: int, seconds: float = 1.0) -> Measured:
    wire = lines * line_wire_bytes
    cpu_seconds = COSTS.of(chunks, lines, wire, seconds) / 1e6
    server = ServerReading(cpu_seconds, received_bytes=wire // 2, sent_bytes=wire // 2)
    return Measured("booleans", 1, False, lines, chunks, seconds, 90, 20, 5, server)


@pytest.mark.slow
def test_costs_are_found_again_in_what_they_would_have_given() -> None:
    batches = (measured(20, 100_000, 40), measured(200, 40_000, 60), measured(40, 20_000, 400))
    costs = fitted([*batches, measured(0, 0, 0, seconds=10)])
    assert costs.chunk_us == pytest.approx(COSTS.chunk_us)
    assert costs.line_us == pytest.approx(COSTS.line_us)
    assert costs.kilobyte_us == pytest.approx(COSTS.kilobyte_us)
    assert costs.second_us == pytest.approx(COSTS.second_us)


@pytest.mark.slow
def test_no_cost_is_below_zero() -> None:
    costs = fitted([measured(20, 100_000, 40), measured(10, 100_000, 80)])
    assert min(astuple(costs)) >= 0
