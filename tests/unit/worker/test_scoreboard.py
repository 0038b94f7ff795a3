"""What a child records on the scoreboard, as its parent reads it."""

from __future__ import annotations

import os

from weighbridge_worker.scoreboard import Assignment, Scoreboard

WORK = Assignment("a batch", "a chunk", "a token")


def test_a_chunk_that_was_given_back_is_not_counted_as_graded() -> None:
    slot = Scoreboard(1).take(os.getpid())
    for jobs in (5, 0, 2):
        slot.enter(WORK)
        assert slot.read().work == WORK
        slot.leave(jobs)
        assert slot.read().work is None
    assert slot.done == (7, 2)
    assert slot.chunks_left == 3
