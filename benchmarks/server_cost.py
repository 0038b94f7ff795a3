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
from pathlib import Path
from typing import Any

from throughput import write_jobs

from weighbridge.embedded.server import EmbeddedServer
from weighbridge.settings import GIB
from weighbridge_producer import Client


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


def measure(server: EmbeddedServer, cases: Path, jobs: int) -> None:
    with Client(server.url) as client:
        while not client.workers():
            time.sleep(0.05)
        redis: Any = client.store.redis  # type: ignore[attr-defined]
        before, cpu = commands(redis), cpu_seconds(server.pid)
        started = time.perf_counter()
        batch = client.submit(cases, graders=["true-false"])
        lines = sum(page.lines.count(b"\n") for page in batch.pages())
        seconds = time.perf_counter() - started
        cpu = cpu_seconds(server.pid) - cpu
        used = commands(redis) - before
        chunks = batch.status().chunks
    assert lines == jobs, f"{lines} results of {jobs} jobs"
    each = sum(used.values()) / chunks
    print(f"{jobs:,} jobs in {chunks} chunks, {seconds:.2f} s: {jobs / seconds:,.0f} jobs/s")
    print(f"{each:.1f} commands and {cpu / chunks * 1e3:.2f} ms of the server's CPU a chunk,")
    print(
        f"{cpu / jobs * 1e6:.2f} us a job; of a chunk's 1 ms + 0.3 us a job: {cpu / (chunks * 1e-3 + jobs * 0.3e-6):.2f}"
    )
    for name, calls in used.most_common(24):
        print(f"  {calls / chunks:6.2f} {name}")


if __name__ == "__main__":
    main()
