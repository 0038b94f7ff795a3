"""Latency: one job submitted to an idle worker, from the call of `submit` until its result is in hand.

python benchmarks/latency.py [--jobs 300]
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path

from weighbridge.embedded.server import EmbeddedServer
from weighbridge.settings import GIB
from weighbridge_producer import Client
from weighbridge_producer.run.local_worker import LocalWorker

WARM_UP = 20


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--jobs", type=int, default=300)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        server = EmbeddedServer.start(folder / "server", maxmemory_bytes=GIB)
        with (
            server,
            LocalWorker(server.url, 1, folder / "worker.log"),
            Client(server.url) as client,
        ):
            while not client.workers():
                time.sleep(0.05)
            taken = sorted(
                [one_job(client, number) for number in range(options.jobs + WARM_UP)][WARM_UP:]
            )
    print(f"{options.jobs} jobs, one at a time, on an idle worker")
    print(f"  median {statistics.median(taken) * 1e3:.1f} ms   (aim: under 10 ms)")
    print(f"  95 %   {taken[int(len(taken) * 0.95)] * 1e3:.1f} ms")


def one_job(client: Client, number: int) -> float:
    """Return the seconds from submitting a job to having its result."""
    inputs = {"agent_response": "yes", "expected_output": "true"}
    start = time.perf_counter()
    batch = client.submit(
        [{"custom_id": f"job-{number}", "inputs": inputs}], graders=["true-false"]
    )
    result = next(iter(batch.results()))
    seconds = time.perf_counter() - start
    assert result["status"] == "graded", result
    return seconds


if __name__ == "__main__":
    main()
