"""Lines that are buffered until the input's kind is known are returned unchanged."""

from __future__ import annotations

import pytest

from weighbridge.errors import Fault
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge_producer.input.source_lines import HeldLines, SourceLine


@pytest.mark.parametrize("count", [0, 1, 4_095, 4_096, 4_097, 9_000])
def test_lines_come_back_with_the_bytes_that_they_took(count):
    lines = [SourceLine(b"x" * (at % 9) + b"\n", None, at % 11) for at in range(count)]
    held = HeldLines()
    for line in lines:
        held.add(line)
    assert held.text() == b"".join(line.raw for line in lines)
    assert list(held.lines()) == lines


def test_a_fault_at_the_end_of_a_block_is_kept():
    faulty = SourceLine(b"\n", Fault(ErrorCode.LINE_TOO_LONG, "too long", "shorten it"), 9)
    held = HeldLines()
    for line in [*[SourceLine(b"x\n", None, 2)] * 4_095, faulty]:
        held.add(line)
    assert list(held.lines())[-1] == faulty


@pytest.mark.parametrize("places", [(0,), (100,), (4_095,), (4_095, 4_096), (4_999,)])
def test_faults_stay_in_their_places(places):
    fault = Fault(ErrorCode.LINE_TOO_LONG, "too long", "shorten it")
    lines = [
        SourceLine(b"\n", fault, 7) if at in places else SourceLine(b"%d\n" % at, None, at)
        for at in range(5_000)
    ]
    held = HeldLines()
    for line in lines:
        held.add(line)
    assert list(held.lines()) == lines
