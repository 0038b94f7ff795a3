"""Latency: one job submitted to an idle worker, from the call until its result is in hand, beside plain Celery.

Plain Celery is one task with a result backend on the same Redis, awaited with `.get()`; it confirms nothing and keeps
no promise. `submit` also waits until Redis confirms that the batch is on its disk; what that takes is shown apart.
The ways take turns, job by job, because the machine is shared: what counts is the ratio.

    python benchmarks/latency.py [--jobs 300]
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import orjson
from throughput import grade_one, plain

from weighbridge.broker.publisher import broker_url
from weighbridge.embedded.server import EmbeddedServer
from weighbridge.settings import GIB
from weighbridge_producer import Client
from weighbridge_producer.run.local_worker import LocalWorker

if TYPE_CHECKING:
    from collections.abc import Iterator

WARM_UP = 20
INPUTS = {"agent_response": "yes", "expected_output": "true"}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--jobs", type=int, default=300)
    options = parser.parse_args()
    taken: dict[str, list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        server = EmbeddedServer.start(folder / "server", maxmemory_bytes=GIB)
        with (
            server,
            celery_worker(server.url),
            LocalWorker(server.url, 1, folder / "worker.log"),
            Client(server.url) as client,
        ):
            while not client.workers():
                time.sleep(0.05)
            for number in range(options.jobs + WARM_UP):
                for way, seconds in one_round(client, number):
                    taken[way].append(seconds)
    print(f"{options.jobs} jobs, one at a time, on an idle worker")
    for way, seconds in taken.items():
        kept = sorted(seconds[WARM_UP:])
        last = kept[int(len(kept) * 0.99)]
        print(
            f"  {way:24} median {statistics.median(kept) * 1e3:6.1f} ms   99 % {last * 1e3:6.1f} ms"
        )
    ours, theirs = (sorted(taken[way][WARM_UP:]) for way in ("weighbridge", "plain celery"))
    ratio, at = statistics.median(ours) / statistics.median(theirs), int(len(ours) * 0.99)
    print(
        f"weighbridge / plain celery   {ratio:.2f} at the median, {ours[at] / theirs[at]:.2f} at 99 %"
    )


def one_round(client: Client, number: int) -> Iterator[tuple[str, float]]:
    """Yield the seconds that one job takes in each way."""
    case = {"custom_id": f"job-{number}", "inputs": INPUTS}
    start = time.perf_counter()
    batch = client.submit([case], graders=["true-false"])
    submitted = time.perf_counter()
    result = next(iter(batch.results()))
    end = time.perf_counter()
    assert result["status"] == "graded", result
    yield "weighbridge", end - start
    yield "  of it, submit returned", submitted - start
    line = orjson.dumps(case).decode()
    start = time.perf_counter()
    answer = orjson.loads(grade_one.delay(1, line).get())
    yield "plain celery", time.perf_counter() - start
    assert answer["status"] == "graded", answer


@contextmanager
def celery_worker(url: str) -> Iterator[None]:
    """Run a plain Celery worker with one child, which is up."""
    address = broker_url(url)
    plain.conf.update(broker_url=address, result_backend=address)
    environment = os.environ | {"PLAIN_URL": address, "PYTHONPATH": str(Path(__file__).parent)}
    command = ["-m", "celery", "-A", "throughput:plain", "worker", "-c1", "-lERROR"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    worker = subprocess.Popen([sys.executable, *command], env=environment, **quiet)  # type: ignore[call-overload]
    try:
        grade_one.delay(1, "{}").get(timeout=60)
        yield
    finally:
        worker.terminate()
        worker.wait()


if __name__ == "__main__":
    main()
