"""What becomes of the chunk of a dead child, and what the log says of it, on a real server."""

from __future__ import annotations

import logging
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from support.chunks import a_batch, blamed, claimed, filled, recorded
from weighbridge.grading.line_grader import WHOLE_LINE
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge.store import Store
from weighbridge_worker.poison_isolation import Death, put_back_after_death
from weighbridge_worker.scoreboard import Assignment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weighbridge.embedded.server import EmbeddedServer
    from weighbridge.store import ClaimResult

QUEUE = "weighbridge"
LIMIT = 3


@pytest.fixture
def store(own_server: EmbeddedServer, caplog: pytest.LogCaptureFixture) -> Iterator[Store]:
    """The store on a server without workers; the worker's log is captured."""
    caplog.set_level(logging.INFO, "weighbridge.worker")
    with closing(Store(own_server.url)) as store:
        yield store


def killed_at(claim: ClaimResult, line: int | None) -> Death:
    """Return a child's death by SIGKILL at a line of its chunk."""
    work = Assignment(claim.batch, str(claim.chunk), claim.token)
    return Death(work, line, 0, ErrorCode.WORKER_KILLED, "signal 9 (SIGKILL)")


@pytest.mark.parametrize("lines", [1, 5])
def test_a_child_that_dies_after_it_recorded_its_chunk_is_not_said_to_have_lost_it(
    store: Store, caplog: pytest.LogCaptureFixture, lines: int
) -> None:
    batch = a_batch(store, QUEUE)
    [chunk] = filled(store, batch, [lines])
    claim = claimed(store, QUEUE)
    assert recorded(store, batch, chunk) == "new"
    assert not put_back_after_death(killed_at(claim, None), store, LIMIT)
    [message] = caplog.messages
    assert message == (
        f"a child died by signal 9 (SIGKILL) at chunk {chunk} of batch {batch}:"
        " nothing to put back, as it was recorded, released or given to another worker"
    )
    state = store.state(batch)
    assert (state.counts.passed, state.counts.total) == (lines, lines)


def test_a_child_that_dies_after_its_chunk_was_given_to_another_changes_nothing(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    batch = a_batch(store, QUEUE)
    [chunk] = filled(store, batch, [5])
    claim = claimed(store, QUEUE, "first/1")
    store.release(batch, str(chunk), "first/1")
    claimed(store, QUEUE, "second/1")
    assert not put_back_after_death(killed_at(claim, 2), store, LIMIT)
    assert "nothing to put back" in caplog.text
    assert store.open_chunks(batch) == [chunk]
    assert blamed(store, batch) == []


def test_a_child_that_dies_between_two_jobs_leaves_halves_and_blames_no_job(store: Store) -> None:
    batch = a_batch(store, QUEUE)
    [chunk] = filled(store, batch, [5])
    assert put_back_after_death(killed_at(claimed(store, QUEUE), None), store, LIMIT)
    assert store.open_chunks(batch) == [chunk.part(1, 3), chunk.part(3, 6)]
    assert blamed(store, batch) == []


def test_a_line_of_its_own_gets_the_failure_of_a_child_that_dies_between_two_jobs(
    store: Store,
) -> None:
    batch = a_batch(store, QUEUE)
    [chunk] = filled(store, batch, [1])
    for deaths in (1, 2, 3):
        assert put_back_after_death(killed_at(claimed(store, QUEUE), None), store, LIMIT)
        info = store.info(batch, chunk)
        assert info
        assert info.failures == {"-1 WORKER_KILLED": deaths}
    assert list(info.faults) == [WHOLE_LINE]


def test_an_error_that_the_child_survives_is_not_called_its_death(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    batch = a_batch(store, QUEUE)
    [chunk] = filled(store, batch, [1])
    claim = claimed(store, QUEUE)
    work = Assignment(batch, str(chunk), claim.token)
    how = "MemoryError: no room"
    error = Death(work, None, WHOLE_LINE, ErrorCode.OUT_OF_MEMORY, how, was_survived=True)
    assert put_back_after_death(error, store, LIMIT)
    assert caplog.messages == [
        f"grading raised {how} at chunk {chunk} of batch {batch}: put back as {chunk}"
    ]
    assert error.fault(LIMIT).message == f"grading it failed 3 times, the last time with {how}"
