"""A child, its worker or the server dies at each point of a chunk's execution, as the page of the protocol lists them."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from faults.dying_worker import POINTS
from support.cases import assert_graded_right, results_by_id, true_false_cases
from support.waiting import eventually
from weighbridge.jobs.batch_state import BatchStatus
from weighbridge_producer.client.redis_client import RedisClient

if TYPE_CHECKING:
    from support.servers import TcpServer
    from support.workers import StartWorker, WorkerProcess
    from weighbridge.embedded.server import EmbeddedServer

pytestmark = pytest.mark.slow

JOBS = 5
ROOT = Path(__file__).parents[2]
DYING_WORKER = str(Path(__file__).with_name("dying_worker.py"))
QUICK = {"lease_seconds": 1, "sweep_seconds": 0.3, "heartbeat_seconds": 0.3}
HALVES = [(1, 3), (3, 6)]
NOTHING: list[tuple[int, int]] = []
#: By point: the lines of the parts in which the parent puts a dead child's chunk back.
PARTS = {
    "before it claims": None,
    "after it claimed": None,
    "before its first job": HALVES,
    "at a job": [(1, 3), (3, 4), (4, 6)],
    "between two jobs": HALVES,
    "before it records": HALVES,
    "after it recorded": NOTHING,
    "after it noted the end": None,
}


class Site:
    """A batch of one chunk, and a worker of which a process dies at a point of its execution."""

    def __init__(self, url: str, start_worker: StartWorker, folder: Path) -> None:
        self.url, self._start_worker = url, start_worker
        self._mark = folder / "dead"

    def start_dying(self, point: str, process: str, *, is_awaited: bool = True) -> WorkerProcess:
        command = [sys.executable, DYING_WORKER, point, process, str(self._mark), "run"]
        return self._start_worker(
            self.url, 1, command=[*command, "--concurrency"], is_awaited=is_awaited, **QUICK
        )

    def await_death(self) -> None:
        eventually(self._mark.exists, 30, "the death")

    def assert_graded_once(self, client: RedisClient, batch_id: str) -> None:
        batch = client.batch(batch_id)
        batch.wait(60)
        state = batch.status()
        assert (state.status, state.nondeterministic) == (BatchStatus.COMPLETED, 0)
        assert state.counts.errored == 0
        results = results_by_id(batch)
        assert (len(results), state.counts.total) == (JOBS, JOBS)
        assert_graded_right(results, JOBS)


def put_back(worker: WorkerProcess) -> list[tuple[int, int]] | None:
    """Return the lines of the parts that the log says a dead child's chunk was put back in; None if it says nothing."""
    found = re.search(r"a child died by signal 9 \(SIGKILL\) at .*: (.*)", worker.log)
    if not found:
        return None
    parts = re.findall(r"\d+[:~](\d+)-(\d+)\.", found[1].removeprefix("put back as"))
    return [(int(start), int(end)) for start, end in parts]


def test_the_page_of_the_protocol_lists_each_point() -> None:
    text = (ROOT / "docs/explanation/protocol.md").read_text("utf-8")
    table = text.partition("**A child dies.**")[2].partition("**A worker dies**")[0]
    listed = [line[2:] for line in table.splitlines() if line.startswith(("| before", "| after"))]
    listed += [line[2:] for line in table.splitlines() if line.startswith(("| at", "| between"))]
    assert len(listed) == len(POINTS)
    assert [point for point in POINTS if not any(row.startswith(point) for row in listed)] == []


@pytest.mark.parametrize("point", POINTS)
def test_a_child_dies(
    own_server: EmbeddedServer, start_worker: StartWorker, tmp_path: Path, point: str
) -> None:
    site = Site(own_server.url, start_worker, tmp_path)
    worker = site.start_dying(point, "child")
    with RedisClient(own_server.url) as client:
        batch = client.submit(true_false_cases(JOBS)).id
        site.await_death()
        site.assert_graded_once(client, batch)
        expected = PARTS[point]
        if expected is not None:
            eventually(lambda: put_back(worker) is not None, 10, "what the parent says")
        assert put_back(worker) == expected
        # Only the sweeper puts back a lease of which the parent does not know.
        assert ("put back chunk 0:" in worker.log) is (point == "after it claimed")


@pytest.mark.parametrize("point", POINTS)
def test_a_whole_worker_dies(
    own_server: EmbeddedServer, start_worker: StartWorker, tmp_path: Path, point: str
) -> None:
    site = Site(own_server.url, start_worker, tmp_path)
    worker = site.start_dying(point, "worker")
    with RedisClient(own_server.url) as client:
        batch = client.submit(true_false_cases(JOBS)).id
        site.await_death()
        worker.await_end()
        other = start_worker(own_server.url, 1, **QUICK)
        site.assert_graded_once(client, batch)
        is_held = point not in ("before it claims", "after it recorded", "after it noted the end")
        assert ("put back chunk 0:" in other.log) is is_held
        assert put_back(other) is None


@pytest.mark.parametrize("point", POINTS)
def test_the_server_dies(
    tcp_server: TcpServer, start_worker: StartWorker, tmp_path: Path, point: str
) -> None:
    site = Site(tcp_server.url, start_worker, tmp_path)
    with RedisClient(tcp_server.url) as client:
        # It is confirmed to be on the disk before the server may die.
        batch = client.submit(true_false_cases(JOBS)).id
        # The server may die before it tells of the worker's first heartbeat.
        worker = site.start_dying(point, str(tcp_server.pid), is_awaited=False)
        site.await_death()
        tcp_server.kill()
        tcp_server.start()
        site.assert_graded_once(client, batch)
        assert "a child died" not in worker.log
