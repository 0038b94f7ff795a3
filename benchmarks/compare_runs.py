"""Time and memory of comparing two result files, compared with only reading them.

    python -m benchmarks.compare_runs --results 1000000

It writes both files into a temporary folder (about 1 GB for 1,000,000 results), with 5 % of the results changed and the
second file in another order. Each figure is from a separate process; memory is the peak resident memory.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from weighbridge.grading.line_grader import LineGrader
from weighbridge.grading.tally import Tally
from weighbridge.jobs.chunk import Line
from weighbridge.jobs.grader_spec import GraderSpec

CHANGED = 0.05
TOPICS = ("refund", "shipping", "billing", "account")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=int, default=100_000)
    parser.add_argument("--step", choices=("read", "compare"), help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.step:
        measure(given.step, given.folder)
        return
    with tempfile.TemporaryDirectory(prefix="weighbridge-compare-") as folder:
        write(Path(folder), given.results)
        for step in ("read", "compare"):
            command = [
                sys.executable,
                "-m",
                "benchmarks.compare_runs",
                "--step",
                step,
                "--folder",
                folder,
            ]
            subprocess.run(command, check=True)


def write(folder: Path, results: int) -> None:
    grader = LineGrader((GraderSpec("string-match"),))
    chance = random.Random(13)
    rows: list[list[bytes]] = []
    for changed in (0.0, CHANGED):
        graded: list[bytes] = []
        for number in range(results):
            answer = "Lisbon" if chance.random() < 0.8 else "Porto"
            if changed and chance.random() < changed:
                answer = "Faro"
            case = {
                "custom_id": f"case-{number}",
                "inputs": {"agent_response": answer, "expected_output": "Lisbon"},
                "metadata": {"topic": TOPICS[number % len(TOPICS)]},
            }
            line = Line(number, number + 1, json.dumps(case).encode())
            graded.append(grader.grade(line, Tally()))
        rows.append(graded)
    chance.shuffle(rows[1])
    for name, lines in zip("ab", rows, strict=True):
        (folder / f"{name}.jsonl").write_bytes(b"".join(lines))


def measure(step: str, folder: Path) -> None:
    from weighbridge.jobs.result_line import ResultRow
    from weighbridge.settings import read_settings
    from weighbridge_producer.comparison.compare import compare_runs
    from weighbridge_producer.comparison.runs import run_of_file
    from weighbridge_producer.gating.fields import parse_field

    files = [folder / "a.jsonl", folder / "b.jsonl"]
    began, used = time.perf_counter(), time.process_time()
    if step == "read":
        for file in files:
            with file.open("rb") as lines:
                for line in lines:
                    ResultRow.from_bytes(line)
        told = ""
    else:
        runs = [run_of_file(file, read_settings()) for file in files]
        [comparison] = compare_runs(runs, by=(parse_field("metadata.topic"),))
        told = ", ".join(f"{count:,} {group}" for group, count in comparison.groups.items())
    seconds, used = time.perf_counter() - began, time.process_time() - used
    print(
        f"{step:<8} {seconds:7.1f} s  {used:7.1f} s of CPU  {peak_mib():6.0f} MiB  {told}",
        flush=True,
    )


def peak_mib() -> float:
    # Not getrusage, where a child process starts with the peak of its parent.
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


if __name__ == "__main__":
    main()
