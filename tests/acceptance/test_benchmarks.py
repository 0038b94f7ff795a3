"""`python -m benchmarks`, with few lines."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from benchmarks.capacity import measure

ROOT = Path(__file__).resolve().parents[2]


def test_two_ways_are_measured_and_reported(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "benchmarks", "--out", str(tmp_path), "--rounds", "1"]
    chosen = ["--workloads", "booleans", "--ways", "run", "one-process", "--lines", "400"]
    answer = subprocess.run(
        [*command, *chosen], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert answer.returncode == 0, answer.stderr
    [comparison] = json.loads((tmp_path / "report.json").read_text())["comparisons"]
    assert comparison["skipped"] == {}
    assert set(comparison["turns"]) == {"run", "one-process"}
    [turn] = comparison["turns"]["run"]
    assert turn["lines"] == 400
    assert turn["seconds"] > 0
    assert turn["peak_bytes"] > 10**7
    assert turn["server"]["commands"] > 10
    assert "`weighbridge run`" in answer.stdout
    assert (tmp_path / "booleans-2.svg").read_text().startswith("<svg")


def test_workers_that_wait_do_all_else_that_workers_do() -> None:
    measured = measure("booleans", 2, 400, line_seconds=1e-5)
    assert (measured.waiting, measured.lines) == (True, 400)
    assert measured.chunks > 1
    assert measured.server.commands > 10
