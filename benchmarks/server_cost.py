"""What a chunk costs the server: commands and CPU time, by submitting, grading and collecting one batch.

python benchmarks/server_cost.py [--jobs 200000] [--workers 2]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from throughput import write_jobs

from weighbridge.embedded.server import EmbeddedServer
from weighbridge.settings import GIB
from weighbridge_producer.client.redis_client import RedisClient

IDLE_SECONDS = 10.0  #: in which nothing is submitted


def commands(redis: Any) -> Counter[str]:
    """Return how often each command was called, those of scripts too."""
    stats = redis.info("commandstats")
    return Counter({name.removeprefix("cmdstat_"): row["calls"] for name, row in stats.items()})


def cpu_seconds(pid: int) -> float:
    """Return the CPU time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=200_000)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        cases = Path(folder) / "cases.jsonl"
        write_jobs(cases, options.jobs)
        with EmbeddedServer.start(Path(folder) / "server", maxmemory_bytes=2 * GIB) as server:
            command = [sys.executable, "-m", "weighbridge_worker"]
            command += ["--concurrency", str(options.workers), "--redis-url", server.url]
            worker = subprocess.Popen(command, stderr=subprocess.DEVNULL)
            try:
                measure(server, cases, options.jobs)
            finally:
                worker.terminate()
                worker.wait()


@dataclass(frozen=True)
class Cost:
    """What a server did in some time."""

    commands: Counter[str]
    cpu: float
    seconds: float


class Meter:
    """Measures what a server does from now on."""

    def __init__(self, redis: Any, pid: int) -> None:
        self._redis, self._pid = redis, pid
        self._before, self._cpu, self._started = (
            commands(redis),
            cpu_seconds(pid),
            time.perf_counter(),
        )

    def read(self) -> Cost:
        seconds, cpu = time.perf_counter() - self._started, cpu_seconds(self._pid) - self._cpu
        return Cost(commands(self._redis) - self._before, cpu, seconds)


def measure(server: EmbeddedServer, cases: Path, jobs: int) -> None:
    with RedisClient(server.url) as client:
        while not client.workers():
            time.sleep(0.05)
        redis: Any = client.store.redis  # type: ignore[attr-defined]
        meter = Meter(redis, server.pid)
        time.sleep(IDLE_SECONDS)
        idle = meter.read()
        meter = Meter(redis, server.pid)
        batch = client.submit(cases, graders=["true-false"])
        lines = sum(page.lines.count(b"\n") for page in batch.pages())
        used = meter.read()
        chunks = batch.status().chunks
    assert lines == jobs, f"{lines} results of {jobs} jobs"
    print(
        f"{jobs:,} jobs in {chunks} chunks, {used.seconds:.2f} s: {jobs / used.seconds:,.0f} jobs/s"
    )
    share = used.seconds / idle.seconds
    report("all", used.commands.total(), used.cpu, chunks, jobs)
    beside = used.commands.total() - idle.commands.total() * share
    report("beside what an idle fleet costs", beside, used.cpu - idle.cpu * share, chunks, jobs)
    for name, calls in used.commands.most_common(24):
        print(f"  {calls / chunks:6.2f} {name}")


def report(what: str, calls: float, cpu: float, chunks: int, jobs: int) -> None:
    """Print a cost a chunk, and as a share of the 1 ms a chunk and 0.3 us a job that are promised."""
    of_promised = cpu / (chunks * 1e-3 + jobs * 0.3e-6)
    print(
        f"{what}: {calls / chunks:.1f} commands and {cpu / chunks * 1e3:.2f} ms of CPU a chunk, "
        f"{of_promised:.2f} of what is promised"
    )


if __name__ == "__main__":
    main()
