"""Measurement and model of the number of worker cores that one Redis server can supply with work.

    python -m benchmarks.capacity                                  the prediction for the built-in workloads
    python -m benchmarks.capacity --worker-us 500 --line-bytes 4000 --wire-bytes 1500     the prediction for your lines
    python -m benchmarks.capacity --measure --waiting 1 2 4 8      measure, fit the costs, and check the model

The model predicts the CPU time of the server's one thread from costs per chunk, line, kilobyte and second. The costs
are fitted to measurements and kept in `capacity.json`. With `--waiting`, workers sleep instead of grading
(`waiting_worker.py`), so that there may be more workers than cores, and the server's CPU time is compared with the
model.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.capacity_model import Capacity, Load, ServerCosts, capacity
from benchmarks.processes import ServerReading, descendants, tree_cpu_seconds
from benchmarks.waiting_worker import SECONDS_VARIABLE
from benchmarks.workloads import WORKLOADS
from weighbridge.embedded.server import EmbeddedServer
from weighbridge.settings import GIB, read_settings
from weighbridge_producer.client.redis_client import RedisClient

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

COSTS_FILE = Path(__file__).with_name("capacity.json")
LINES = {"booleans": 60_000, "strings": 12_000, "traces": 1_500}
SMALL_CHUNK_LINES = 200  #: small, to separate the cost of a chunk from that of a line
IDLE_SECONDS = 10.0  #: duration of a measurement without work
WAITING_LINES = {"booleans": 60_000, "strings": 12_000, "traces": 2_400}
#: waiting time, as a multiple of the grading time
WAITING_FACTOR = {
    "booleans": 20,
    "strings": 5,
    "traces": 1,
}


@dataclass(frozen=True, slots=True)
class Measured:
    """Measurements of one batch."""

    workload: str
    workers: int
    waiting: bool
    lines: int
    chunks: int
    seconds: float
    line_bytes: float
    worker_us: float  #: CPU time per line in worker processes
    producer_us: float  #: CPU time per line in the process that submits and collects
    server: ServerReading

    @property
    def wire_bytes(self) -> float:
        """Bytes per line that the server received and sent."""
        return (self.server.received_bytes + self.server.sent_bytes) / max(1, self.lines)

    @property
    def load(self) -> Load:
        """Load of a line, as input of the model."""
        return Load(self.worker_us, self.line_bytes, self.wire_bytes)


def measure(
    workload: str, workers: int, lines: int, *, line_seconds: float = 0.0, chunk_lines: int = 0
) -> Measured:
    """Submit, grade and collect one batch, with workers that wait if the seconds per line are given."""
    settings = read_settings()
    if chunk_lines:
        settings = settings.model_copy(update={"chunk_limit_jobs": chunk_lines})
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="capacity-")))
        cases = folder / "cases.jsonl"
        WORKLOADS[workload].write(cases, lines)
        server = stack.enter_context(
            EmbeddedServer.start(folder / "server", maxmemory_bytes=4 * GIB)
        )
        worker = start_workers(stack, server.url, workers, line_seconds)
        client = stack.enter_context(RedisClient(server.url, settings=settings))
        while not client.workers():
            time.sleep(0.02)
        graders = list(WORKLOADS[workload].graders)
        client.submit(list(head(cases, 50)), graders=graders).wait()
        redis: Any = client.store.redis
        before, started = ServerReading.of(redis), time.perf_counter()
        worker_cpu, own = tree_cpu_seconds(descendants(worker)), time.process_time()
        batch = client.submit(cases, graders=graders)
        rows = sum(page.lines.count(b"\n") for page in batch.pages())
        seconds, own = time.perf_counter() - started, time.process_time() - own
        worker_cpu = tree_cpu_seconds(descendants(worker)) - worker_cpu
        used = ServerReading.of(redis).since(before)
        assert rows == lines * len(graders), f"{rows} results of {lines} lines"
        return Measured(
            *(workload, workers, bool(line_seconds), lines, batch.status().chunks, seconds),
            *(cases.stat().st_size / lines, worker_cpu / lines * 1e6, own / lines * 1e6, used),
        )


def measure_idle(workers: int, seconds: float) -> Measured:
    """Measure workers that have no work."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="capacity-")))
        server = stack.enter_context(EmbeddedServer.start(folder, maxmemory_bytes=GIB))
        start_workers(stack, server.url, workers, 0.0)
        client = stack.enter_context(RedisClient(server.url))
        while not client.workers():
            time.sleep(0.02)
        before = ServerReading.of(client.store.redis)
        time.sleep(seconds)
        used = ServerReading.of(client.store.redis).since(before)
    return Measured("idle", workers, False, 0, 0, seconds, 0.0, 0.0, 0.0, used)


def head(path: Path, lines: int) -> Iterator[bytes]:
    """Yield the first lines of a file."""
    with path.open("rb") as source:
        yield from (line for _, line in zip(range(lines), source, strict=False))


def start_workers(stack: ExitStack, url: str, workers: int, line_seconds: float) -> int:
    """Start a worker process with a number of children, and return its process id."""
    module = "benchmarks.waiting_worker" if line_seconds else "weighbridge_worker"
    command = [sys.executable, "-m", module, "--concurrency", str(workers), "--redis-url", url]
    root = str(Path(__file__).resolve().parents[1])
    environment = {**os.environ, SECONDS_VARIABLE: str(line_seconds), "PYTHONPATH": root}
    worker = subprocess.Popen(
        command, env=environment, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    stack.callback(worker.wait)
    stack.callback(worker.terminate)
    return worker.pid


def fitted(measured: Sequence[Measured]) -> ServerCosts:
    """Return the non-negative costs with the smallest relative errors over the measurements."""
    from scipy.optimize import nnls

    rows, wanted = [], []
    for one in measured:
        used_us = one.server.cpu_seconds * 1e6
        kilobytes = (
            one.lines * one.wire_bytes / 1e3
        )  # without lines, traffic is part of the cost per second
        causes = (one.chunks, one.lines, kilobytes, one.seconds)
        rows.append([cause / used_us for cause in causes])
        wanted.append(1.0)
    found, _ = nnls(rows, wanted)
    return ServerCosts(*map(float, found))


def show_measured(measured: Sequence[Measured], costs: ServerCosts) -> None:
    """Print the measurement and the prediction for each batch."""
    print(
        "workload   workers  lines/s  chunks  commands  server us/line  model  worker us/line",
        end="",
    )
    print("  producer us/line  wire B/line  server busy")
    for one in measured:
        lines = one.lines
        server_us = one.server.cpu_seconds * 1e6 / lines
        model = costs.of(one.chunks, lines, lines * one.wire_bytes, one.seconds) / lines
        kind = "waiting" if one.waiting else "grading"
        print(
            f"{one.workload:9} {one.workers} {kind}  {lines / one.seconds:7,.0f}  {one.chunks:6}"
            f"  {one.server.commands / one.chunks:8.0f}  {server_us:14.2f}  {model:5.2f}"
            f"  {one.worker_us:14.1f}  {one.producer_us:16.1f}  {one.wire_bytes:11.0f}"
            f"  {one.server.cpu_seconds / one.seconds:11.1%}"
        )


def show_capacity(name: str, load: Load, costs: ServerCosts) -> None:
    """Print the predicted capacity for some lines."""
    found: Capacity = capacity(costs, load)
    print(
        f"{name:9} {load.lines_a_chunk:6,.0f} lines a chunk, {found.server_us:8.2f} us of the server a line:"
        f" feeds {found.cores:5,.0f} cores of workers, {found.lines_a_second:9,.0f} lines/s,"
        f" {found.wire_bytes_a_second / 1e6:6,.0f} MB/s"
    )


def measure_all(workers: Sequence[int], waiting: Sequence[int]) -> None:
    """Measure, fit and save the costs, and print everything."""
    graded = []
    for workload, lines in LINES.items():
        for count in workers:
            graded.append(measure(workload, count, lines))
            print(f"{workload}, {count} workers", file=sys.stderr)
    small = measure("booleans", 2, 40_000, chunk_lines=SMALL_CHUNK_LINES)
    idle = measure_idle(2, IDLE_SECONDS)
    costs = fitted([*graded, small, idle])
    # One worker leaves a core to the producer, so its figures are the most accurate.
    loads = {one.workload: one.load for one in reversed(graded)}
    producers = {one.workload: one.producer_us for one in reversed(graded)}
    kept = {
        "costs": asdict(costs),
        "loads": {name: asdict(load) for name, load in loads.items()},
        "producer_us": producers,
        "measured": [asdict(one) for one in (*graded, small, idle)],
    }
    COSTS_FILE.write_text(json.dumps(kept, indent=2) + "\n")
    waited = []
    for workload, lines in WAITING_LINES.items() if waiting else ():
        for count in waiting:
            seconds = loads[workload].worker_us * WAITING_FACTOR[workload] / 1e6
            waited.append(measure(workload, count, lines, line_seconds=seconds))
            print(f"{workload}, {count} waiting workers", file=sys.stderr)
    show_measured([*graded, small, *waited], costs)


def main() -> None:
    """Measure if requested, and print the predictions."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.capacity",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--measure", action="store_true", help="measure, and keep the costs")
    parser.add_argument("--workers", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--waiting", type=int, nargs="*", default=[])
    parser.add_argument("--worker-us", type=float, help="CPU a line in a worker")
    parser.add_argument("--line-bytes", type=float, default=1_000.0)
    parser.add_argument("--wire-bytes", type=float, default=500.0, help="to and from Redis a line")
    options = parser.parse_args()
    if options.measure:
        measure_all(options.workers, options.waiting)
    kept = json.loads(COSTS_FILE.read_text())
    costs = ServerCosts(**kept["costs"])
    print(
        f"one chunk costs the server {costs.chunk_us:,.0f} us, one line {costs.line_us:.2f} us,"
        f" one kilobyte received or sent {costs.kilobyte_us:.1f} us, one second {costs.second_us:,.0f} us"
    )
    if options.worker_us:
        load = Load(options.worker_us, options.line_bytes, options.wire_bytes)
        show_capacity("yours", load, costs)
        return
    for name, load in kept["loads"].items():
        show_capacity(name, Load(**load), costs)
        own = kept["producer_us"][name]
        print(
            f"{'':9} one process that submits and collects takes {own:.1f} us a line:"
            f" it keeps up with {load['worker_us'] / own:,.0f} cores of workers"
        )


if __name__ == "__main__":
    main()
