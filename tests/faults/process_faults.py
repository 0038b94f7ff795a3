"""Faults of processes: each is made, lasts a while, and is mended by the function that makes it."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random

    from faults.world import World

_HOUR_SECONDS = 3600.0


def child_killed(world: World, rng: random.Random) -> None:
    world.workers.choose(rng).kill_one_child(rng, signal.SIGKILL)


def child_told_to_end(world: World, rng: random.Random) -> None:
    world.workers.choose(rng).kill_one_child(rng, signal.SIGTERM)


def child_stopped(world: World, rng: random.Random) -> None:
    """Stop a child for less than a job may take, so that its job is not to blame."""
    pid = world.workers.choose(rng).kill_one_child(rng, signal.SIGSTOP)
    time.sleep(rng.uniform(1, 3))
    if pid:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)


def parent_killed(world: World, rng: random.Random) -> None:
    """Kill a worker's main process; its children notice by themselves."""
    worker = world.workers.choose(rng)
    worker.ended_by_us = True
    worker.process.kill()


def parent_stopped(world: World, rng: random.Random) -> None:
    worker = world.workers.choose(rng)
    os.kill(worker.main_pid(), signal.SIGSTOP)
    time.sleep(rng.uniform(1, 12))
    os.kill(worker.main_pid(), signal.SIGCONT)


def worker_killed_whole(world: World, rng: random.Random) -> None:
    worker = world.workers.choose(rng)
    worker.ended_by_us = True
    worker.signal_all(signal.SIGKILL)


def worker_stopped_whole(world: World, rng: random.Random) -> None:
    """Stop a worker and its children: longer than a lease, and it comes back with old work in its hands."""
    worker = world.workers.choose(rng)
    worker.signal_all(signal.SIGSTOP)
    time.sleep(rng.uniform(2, 20))
    worker.signal_all(signal.SIGCONT)


def deploy(world: World, rng: random.Random) -> None:
    """End a worker's whole process group politely, as service managers do."""
    worker = world.workers.choose(rng)
    worker.ended_by_us = True
    worker.signal_all(signal.SIGTERM)


def worker_told_to_end(world: World, rng: random.Random) -> None:
    worker = world.workers.choose(rng)
    worker.ended_by_us = True
    worker.process.terminate()


def producer_killed(world: World, rng: random.Random) -> int:
    """Kill the producers that run now; whoever waits for one resumes."""
    return _signal_producers(world, signal.SIGKILL)


def producer_stopped(world: World, rng: random.Random) -> int:
    stopped = _signal_producers(world, signal.SIGSTOP)
    time.sleep(rng.uniform(1, 5))
    _signal_producers(world, signal.SIGCONT)
    return stopped


def _signal_producers(world: World, how: signal.Signals) -> int:
    deadline = time.monotonic() + 5
    while not (running := list(world.submissions.running)) and time.monotonic() < deadline:
        time.sleep(0.05)
    for process in running:
        with suppress(ProcessLookupError):
            process.send_signal(how)
    return len(running)


def service_killed(world: World, rng: random.Random) -> None:
    world.service.kill()
    world.service.restart_if_ended()
    world.service.await_answer()


def clock_wrong(world: World, rng: random.Random) -> float:
    """Let a worker join whose clock is an hour off."""
    shift = rng.choice((-_HOUR_SECONDS, _HOUR_SECONDS))
    worker = world.start_worker(clock_shift_seconds=shift)
    try:
        time.sleep(rng.uniform(10, 15))
    finally:
        worker.end()
    return shift
