"""Memory: the peak resident size of every process of `weighbridge run`, for a batch and for one ten times as large.

python benchmarks/memory.py [--jobs 1000000]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

import psutil
from throughput import write_jobs

SAMPLE_SECONDS = 0.1
MB = 1_000_000


def peaks_of(cases: Path, out: Path) -> tuple[dict[str, int], dict[str, object]]:
    """Run the cases and return each role's peak in bytes, and what the run said of itself."""
    command = [
        sys.executable,
        "-c",
        "from weighbridge_producer.cli import main; main()",
        "run",
        str(cases),
    ]
    flags = ["--grader", "true-false", "--workers", "2", "-o", str(out), "--json"]
    run = subprocess.Popen([*command, *flags], stdout=subprocess.PIPE)
    peaks: dict[str, int] = defaultdict(int)
    root = psutil.Process(run.pid)
    while run.poll() is None:
        try:
            for process in [root, *root.children(recursive=True)]:
                role = role_of(process, root)
                peaks[role] = max(peaks[role], process.memory_info().rss)
        except psutil.NoSuchProcess:
            continue
        time.sleep(SAMPLE_SECONDS)
    assert run.stdout is not None
    return dict(peaks), json.loads(run.stdout.read())


def role_of(process: psutil.Process, root: psutil.Process) -> str:
    """Name a process's part in the run."""
    if process == root:
        return "run (producer and collector in one process)"
    words = " ".join(process.cmdline())
    if "weighbridge_worker" not in words:
        return "server"
    return "worker parent" if process.ppid() == root.pid else "worker child"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--jobs", type=int, default=1_000_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["WEIGHBRIDGE_STATE_DIR"] = str(folder / "state")
        for jobs in (options.jobs // 10, options.jobs):
            cases, out = folder / "cases.jsonl", folder / "out.jsonl"
            write_jobs(cases, jobs)
            peaks, said = peaks_of(cases, out)
            with out.open("rb") as file:
                lines = sum(1 for _ in file)
            counts = said["batch"]["counts"]  # type: ignore[index]
            print(
                f"{jobs:,} jobs: {lines:,} result lines, {counts['graded']:,} graded, in {said['seconds']:.1f} s"
            )
            for role, peak in sorted(peaks.items()):
                print(f"  {role:45} {peak / MB:6.0f} MB")


if __name__ == "__main__":
    main()
