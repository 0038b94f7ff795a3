"""Grading again in a child process."""

from __future__ import annotations

import gc
from array import array
from typing import TYPE_CHECKING

from weighbridge.jobs.chunk import Line
from weighbridge.settings import Settings
from weighbridge_producer.run.regrading import ChildRegrader, LineToGrade

if TYPE_CHECKING:
    import pytest


def test_lines_whose_results_are_known_need_no_child_and_leave_no_warning(
    recwarn: pytest.WarningsRecorder,
) -> None:
    gc.collect()  # what other tests have left may warn too
    recwarn.clear()
    known = LineToGrade(Line(0, 1, b""), array("Q"), known=[b"{}"])
    assert [found for _, found in ChildRegrader(Settings())([], [known])] == [[b"{}"]]
    gc.collect()
    assert not recwarn.list
