"""Throughput, end to end: `weighbridge run`, the same with no queue, and plain Celery, in one run.

No queue means a process pool, in two forms: one whose parent parses the lines and checks nothing, and one that gets raw
slices of the file and checks every line as Weighbridge does.

All grade the same lines with the same grader to the same output, with as many worker processes, which are up
before the clock starts; it runs from the first line read to the last result written. What counts is the ratio: the
machine is shared, so the ways take turns and the medians are compared.

    python benchmarks/throughput.py [--jobs 200000] [--celery-jobs 4000] [--rounds 5] [--workers 2]
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import orjson
from celery import Celery

from weighbridge.broker.publisher import broker_url
from weighbridge.child_process import collect_garbage_seldom
from weighbridge.embedded.server import EmbeddedServer
from weighbridge.grading.case import Case
from weighbridge.grading.line_grader import LineGrader, Tally
from weighbridge.jobs.chunk import Line
from weighbridge.jobs.model import parse_specs
from weighbridge.settings import GIB

WAYS = ("weighbridge", "no queue", "raw slices", "plain celery")
LINES_A_TASK = 1_000
RESPONSES = ("yes", "no", "True", "false", "maybe", "1", "0", " YES ")
#: Plain Celery as its tutorial has it: the broker and a result backend, nothing else set.
plain = Celery("plain", broker=os.environ.get("PLAIN_URL"), backend=os.environ.get("PLAIN_URL"))
SPECS = parse_specs(["true-false"])
_grader = LineGrader(SPECS)


@plain.task(name="plain.grade")
def grade_one(number: int, line: str) -> str:
    """Grade one job."""
    return _grader.grade(Line(number - 1, number, line.encode()), Tally()).decode()


def write_jobs(path: Path, jobs: int) -> None:
    """Write a file of small true-false jobs."""
    with path.open("wb") as file:
        for number in range(jobs):
            inputs = {
                "agent_response": RESPONSES[number % 8],
                "expected_output": ("true", "false")[number // 3 % 2],
            }
            case = {"custom_id": f"job-{number:07d}", "inputs": inputs}
            file.write(orjson.dumps(case, option=orjson.OPT_APPEND_NEWLINE))


def run_weighbridge(cases: Path, out: Path, workers: int) -> float:
    """Return the seconds that `weighbridge run` says it took."""
    command = [
        sys.executable,
        "-c",
        "from weighbridge_producer.cli import main; main()",
        "run",
        str(cases),
    ]
    flags = ["--grader", "true-false", "--workers", str(workers), "-o", str(out), "--json"]
    answer = subprocess.run([*command, *flags], capture_output=True, check=False)
    if answer.returncode not in {0, 100}:
        sys.exit(answer.stderr.decode())
    return float(json.loads(answer.stdout)["seconds"])


def grade_slice(job: tuple[int, bytes]) -> bytes:
    """Grade some lines in a pool's process."""
    first, raw = job
    tally = Tally()
    lines = enumerate(raw.split(b"\n"), start=first)
    return b"".join(
        _grader.grade(Line(number - 1, number, line), tally) for number, line in lines if line
    )


def run_pool(cases: Path, out: Path, pool: multiprocessing.pool.Pool) -> float:
    """Return the seconds that a process pool takes, fed raw slices."""
    start = time.perf_counter()
    with cases.open("rb") as source, out.open("wb") as target:
        for results in pool.imap_unordered(grade_slice, slices(source)):
            target.write(results)
    return time.perf_counter() - start


def grade_cases(job: tuple[int, list[dict[str, Any]]]) -> bytes:
    """Grade some parsed lines in a pool's process."""
    first, values = job
    tally = Tally()
    numbered = enumerate(values, start=first)
    return b"".join(
        _grader.grade_case(Line(number - 1, number, b""), as_case(value), tally)
        for number, value in numbered
    )


def as_case(value: dict[str, Any]) -> Case:
    """Return a parsed line as a case."""
    return Case(value["custom_id"], value["inputs"], SPECS, value.get("metadata"))


def run_parsing_pool(cases: Path, out: Path, pool: multiprocessing.pool.Pool) -> float:
    """Return the seconds that a process pool takes whose parent parses."""
    start = time.perf_counter()
    with cases.open("rb") as source, out.open("wb") as target:
        parsed = (
            (first, [orjson.loads(line) for line in raw.splitlines()])
            for first, raw in slices(source)
        )
        for results in pool.imap_unordered(grade_cases, parsed):
            target.write(results)
    return time.perf_counter() - start


def slices(source):  # type: ignore[no-untyped-def]
    """Yield the lines of a file in slices, each with the number of its first."""
    number = 1
    while lines := [line for _, line in zip(range(LINES_A_TASK), source, strict=False)]:
        yield number, b"".join(lines)
        number += len(lines)


def run_celery(cases: Path, out: Path, jobs: int) -> float:
    """Return the seconds that plain Celery takes, one task a job."""
    start = time.perf_counter()
    with cases.open("rb") as source, out.open("w") as target:
        lines = (line.decode() for _, line in zip(range(jobs), source, strict=False))
        waiting = [grade_one.delay(number, line) for number, line in enumerate(lines, start=1)]
        for result in waiting:
            target.write(result.get())
    return time.perf_counter() - start


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--jobs", type=int, default=200_000)
    parser.add_argument("--celery-jobs", type=int, default=4_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["WEIGHBRIDGE_STATE_DIR"] = str(folder / "state")
        cases = folder / "cases.jsonl"
        write_jobs(cases, options.jobs)
        rates = measure(folder, cases, options)
    for way, values in rates.items():
        spread = f"{min(values):,.0f} to {max(values):,.0f}"
        print(
            f"{way:12} {statistics.median(values):>10,.0f} jobs/s   ({spread}, {len(values)} rounds)"
        )
    ours = rates["weighbridge"]
    no_queue = statistics.median(a / b for a, b in zip(ours, rates["no queue"], strict=True))
    celery = statistics.median(a / b for a, b in zip(ours, rates["plain celery"], strict=True))
    slices = statistics.median(a / b for a, b in zip(ours, rates["raw slices"], strict=True))
    print(f"weighbridge / no queue       {no_queue:.2f}   (aim: 0.7 or more)")
    print(f"weighbridge / raw slices     {slices:.2f}   (a pool that checks every line too)")
    print(f"weighbridge / plain celery  {celery:.0f}      (aim: 50 or more)")


def measure(folder: Path, cases: Path, options: argparse.Namespace) -> dict[str, list[float]]:
    """Let the three ways take turns; return jobs a second, round by round."""
    rates: dict[str, list[float]] = {way: [] for way in WAYS}
    pool = multiprocessing.Pool(options.workers, collect_garbage_seldom)
    with EmbeddedServer.start(folder / "plain", maxmemory_bytes=GIB) as server:
        url = broker_url(server.url)
        plain.conf.update(broker_url=url, result_backend=url)
        environment = os.environ | {"PLAIN_URL": url, "PYTHONPATH": str(Path(__file__).parent)}
        command = [
            sys.executable,
            "-m",
            "celery",
            "-A",
            "throughput:plain",
            "worker",
            f"-c{options.workers}",
            "-lERROR",
        ]
        worker = subprocess.Popen(
            command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            grade_one.delay(1, "{}").get(timeout=60)  # the worker is up
            for _ in range(options.rounds):
                seconds = run_weighbridge(cases, folder / "weighbridge.jsonl", options.workers)
                rates["weighbridge"].append(options.jobs / seconds)
                for way, run in (("no queue", run_parsing_pool), ("raw slices", run_pool)):
                    rates[way].append(options.jobs / run(cases, folder / "pool.jsonl", pool))
                    check_same(folder)
                rates["plain celery"].append(
                    options.celery_jobs / run_celery(cases, folder / "c", options.celery_jobs)
                )
        finally:
            worker.terminate()
            worker.wait()
            pool.terminate()
    return rates


def check_same(folder: Path) -> None:
    """Make sure that both ways wrote the same results."""
    ours, theirs = (
        sorted((folder / name).read_bytes().splitlines())
        for name in ("weighbridge.jsonl", "pool.jsonl")
    )
    if ours != theirs:
        sys.exit("weighbridge and the pool wrote different results")


if __name__ == "__main__":
    main()
