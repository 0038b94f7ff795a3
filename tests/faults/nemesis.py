"""The faults: each is made, lasts a while, and is mended by the function that makes it."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from typing import TYPE_CHECKING

import redis

from faults import partition
from faults.disk_faults import DISK_FAULTS
from faults.recovery import measured_recovery
from faults.store_server import Replica

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    from faults.proxy import Link
    from faults.world import World

    Fault = Callable[[World, random.Random], object]

QUEUE = "weighbridge"
_HOUR_SECONDS = 3600.0


# Processes


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


# The server


def server_killed(world: World, rng: random.Random) -> None:
    world.server.kill()
    time.sleep(rng.uniform(0, 3))
    world.server.start()


def server_restarted(world: World, rng: random.Random) -> None:
    world.server.stop()
    world.server.start()


def server_stalled(world: World, rng: random.Random) -> None:
    with world.server.stalled():
        time.sleep(rng.uniform(2, 15))


def server_rolled_back(world: World, rng: random.Random) -> None:
    """Let the server forget its last second, as after a crash of its machine."""
    since, place = time.monotonic(), world.server.place()
    with world.incidents.forgetting(since):
        time.sleep(rng.uniform(0.5, 1.5))
        world.server.roll_back(place)


def failed_over(world: World, rng: random.Random) -> None:
    """Promote a replica that has everything; connections to the old primary stay open, to a replica now."""
    with Replica(world.server, world.new_folder("server")) as replica:
        promoted = replica.promote_in_step()
        old = world.lead_to(promoted)
    try:
        time.sleep(rng.uniform(3, 10))
    finally:
        old.kill()


def failed_over_behind(world: World, rng: random.Random) -> None:
    """Promote a replica that lags: the primary dies with what only it had."""
    with (
        Replica(world.server, world.new_folder("server")) as replica,
        world.incidents.forgetting(time.monotonic()),
    ):
        world.lead_to(replica.promote_behind(rng.uniform(0.5, 1.5)))


def server_full(world: World, rng: random.Random) -> None:
    with world.server.full():
        time.sleep(rng.uniform(2, 10))


def server_emptied(world: World, rng: random.Random) -> None:
    with world.incidents.forgetting(float("-inf")), world.server.admin() as admin:
        admin.flushall()


def password_changed(world: World, rng: random.Random) -> None:
    with world.server.another_password():
        for link in world.links():
            link.cut()
        time.sleep(rng.uniform(1, 4))


def file_rewritten(world: World, rng: random.Random) -> None:
    """Have the append-only file rewritten while everything goes on."""
    with world.server.admin() as admin:
        with suppress(redis.exceptions.ResponseError):  # one is on its way already
            admin.bgrewriteaof()
        while admin.info("persistence")["aof_rewrite_in_progress"]:
            time.sleep(0.1)


# Connections


def _some(world: World, rng: random.Random) -> list[Link]:
    links = world.links()
    return rng.sample(links, rng.randint(1, len(links)))


def connections_cut(world: World, rng: random.Random) -> None:
    for link in _some(world, rng):
        link.cut()


def connections_refused(world: World, rng: random.Random) -> None:
    links = _some(world, rng)
    for link in links:
        link.refuse()
    time.sleep(rng.uniform(1, 5))
    for link in links:
        link.refuse(False)


def connections_half_closed(world: World, rng: random.Random) -> None:
    for link in _some(world, rng):
        link.half_close()


def connections_silent(world: World, rng: random.Random) -> None:
    """Let what there is lead nowhere, without a word; new connections are served."""
    for link in _some(world, rng):
        link.silence()


def connections_delayed(world: World, rng: random.Random) -> None:
    links, seconds = _some(world, rng), rng.uniform(0.02, 0.3)
    for link in links:
        link.delay(seconds)
    time.sleep(rng.uniform(2, 6))
    for link in links:
        link.delay(0)


def replies_dropped(world: World, rng: random.Random) -> None:
    """Have commands executed whose callers never hear so."""
    for link in _some(world, rng):
        link.drop_replies(rng.randint(1, 5))
    time.sleep(2)
    for link in world.links():
        link.drop_replies(0)


def partition_healed(world: World, rng: random.Random) -> None:
    """Part a worker from the server for longer than a lease, and join them again."""
    link = world.workers.choose(rng).link
    link.freeze()
    time.sleep(rng.uniform(5, 20))
    link.thaw()


def partition_not_healed(world: World, rng: random.Random) -> str:
    """Part a worker from the server for good: it is destroyed while it is apart, and another one starts."""
    if why := partition.available():
        worker = world.workers.choose(rng)
        worker.link.freeze()
        time.sleep(rng.uniform(5, 15))
        worker.ended_by_us = True
        worker.destroy()
        worker.link.thaw()
        return f"by the proxy: {why}"
    with partition.Network() as network:
        worker = world.start_worker(host=network.host, prefix=network.prefix)
        try:
            time.sleep(rng.uniform(8, 12))
            network.part()
            time.sleep(rng.uniform(5, 15))
        finally:
            worker.destroy()
    return "by a network namespace"


def network_parted_and_healed(world: World, rng: random.Random) -> str:
    """Pull a worker's cable and put it back, where namespaces can be had; else freeze its link."""
    if why := partition.available():
        partition_healed(world, rng)
        return f"by the proxy: {why}"
    with partition.Network() as network:
        worker = world.start_worker(host=network.host, prefix=network.prefix)
        try:
            time.sleep(rng.uniform(8, 12))
            network.part()
            time.sleep(rng.uniform(3, 15))
            network.heal()
            time.sleep(rng.uniform(5, 10))
        finally:
            worker.end()
    return "by a network namespace"


# Messages and clocks


def queue_deleted(world: World, rng: random.Random) -> int:
    with world.server.admin() as admin:
        return int(admin.delete(QUEUE))


def messages_doubled(world: World, rng: random.Random) -> int:
    with world.server.admin() as admin:
        messages = admin.lrange(QUEUE, 0, -1)
        for message in messages:
            admin.lpush(QUEUE, message)
    return len(messages)


def messages_lost(world: World, rng: random.Random) -> int:
    """Take every other message away."""
    with world.server.admin() as admin:
        messages = admin.lrange(QUEUE, 0, -1)[::2]
        return sum(admin.lrem(QUEUE, 1, message) for message in messages)


def clock_wrong(world: World, rng: random.Random) -> float:
    """Let a worker join whose clock is an hour off."""
    shift = rng.choice((-_HOUR_SECONDS, _HOUR_SECONDS))
    worker = world.start_worker(clock_shift_seconds=shift)
    try:
        time.sleep(rng.uniform(10, 15))
    finally:
        worker.end()
    return shift


FAULTS: dict[str, Fault] = {
    fault.__name__: fault
    for fault in (
        child_killed,
        child_told_to_end,
        child_stopped,
        parent_killed,
        parent_stopped,
        worker_killed_whole,
        worker_stopped_whole,
        deploy,
        worker_told_to_end,
        producer_killed,
        producer_stopped,
        service_killed,
        server_killed,
        server_restarted,
        server_stalled,
        server_rolled_back,
        failed_over,
        failed_over_behind,
        server_full,
        server_emptied,
        password_changed,
        file_rewritten,
        connections_cut,
        connections_refused,
        connections_half_closed,
        connections_silent,
        connections_delayed,
        replies_dropped,
        partition_healed,
        partition_not_healed,
        network_parted_and_healed,
        queue_deleted,
        messages_doubled,
        messages_lost,
        clock_wrong,
        measured_recovery,
        *DISK_FAULTS,
    )
}
