"""The pool of children, with real children and an event loop as Celery makes anew after a lost connection."""

from __future__ import annotations

import os
from contextlib import ExitStack

import pytest
from celery.concurrency.asynpool import AsynPool
from kombu.asynchronous import Hub

from weighbridge_worker.child_pool import ChildPool


def watch_again(pool: AsynPool) -> list[int]:
    """Let an event loop watch a pool of which one child is dead; return the ids of the processes that it watches."""
    with ExitStack() as stack:
        stack.callback(pool.join)
        stack.callback(pool.terminate)
        before, after = Hub(), Hub()
        pool.register_with_event_loop(before)
        dead, alive = pool._pool
        pool._untrack_child_process(
            dead, before
        )  # as when its end is noticed, before it is replaced
        pool.register_with_event_loop(after)
        return [process.pid for process in (dead, alive) if process._sentinel_poll in after.readers]


@pytest.mark.slow
def test_a_lost_connection_just_after_the_death_of_a_child_does_not_end_the_worker() -> None:
    pool = ChildPool(processes=2, synack=False, threads=False)
    _, alive = [process.pid for process in pool._pool]
    assert watch_again(pool) == [alive]
    assert alive != os.getpid()


@pytest.mark.slow
def test_it_does_end_one_with_celerys_own_pool() -> None:
    """Once this fails, ChildPool is needed no more."""
    with pytest.raises(ValueError, match="file descriptor is None"):
        watch_again(AsynPool(processes=2, synack=False, threads=False))
