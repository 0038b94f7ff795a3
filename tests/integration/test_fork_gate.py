"""Forks in a process with threads: a child must not inherit locks that a thread holds."""

from __future__ import annotations

import os
import threading

from weighbridge_worker.parent.fork_gate import ForkGate


def fork_and_reap() -> int:
    """Fork a child that acquires a lock held by a thread of the parent at times; return its exit status."""
    if (pid := os.fork()) == 0:
        os._exit(0 if DUTY_LOCK.acquire(blocking=False) else 1)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


DUTY_LOCK = threading.Lock()


def test_a_fork_waits_for_the_end_of_a_duty_so_that_no_child_inherits_its_locks():
    gate = ForkGate()
    begun, may_end = threading.Event(), threading.Event()

    def duty():
        with gate.closed(), DUTY_LOCK:
            begun.set()
            may_end.wait(10)

    worker = threading.Thread(target=duty)
    worker.start()
    begun.wait(10)
    statuses: list[int] = []
    forking = threading.Thread(target=lambda: statuses.append(fork_and_reap()))
    forking.start()
    forking.join(0.3)
    assert statuses == []
    may_end.set()
    forking.join(10)
    worker.join(10)
    assert statuses == [0]


def test_the_gate_is_open_again_after_a_fork_in_parent_and_child():
    gate = ForkGate()
    assert fork_and_reap() == 0
    with gate.closed():
        pass
    if (pid := os.fork()) == 0:
        with gate.closed():
            os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
