"""The wheel and the sdist, built once for all processes of a test run."""

from __future__ import annotations

import os
import subprocess
import sys
from fcntl import LOCK_EX, flock
from functools import cache
from pathlib import Path
from tempfile import gettempdir, mkdtemp
from zlib import crc32

ROOT = Path(__file__).resolve().parents[2]


def build(source: Path, target: Path, *kinds: str) -> None:
    """Build the packages of a folder into another, without a network."""
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(target)]
    command += [word for kind in kinds for word in ("-t", kind)]
    # For reproducible builds.
    environment = {**os.environ, "PYTHONPATH": "", "SOURCE_DATE_EPOCH": "1700000000"}
    subprocess.run(command, cwd=source, check=True, capture_output=True, env=environment)


@cache
def packages() -> Path:
    """Return a temporary folder with the wheel and the sdist of this repository; it is not removed here."""
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID")
    if run:
        # A test may start the tests of an unpacked sdist, which inherit the variable.
        folder = Path(gettempdir()) / f"wb-packages-{run}-{crc32(str(ROOT).encode())}"
        folder.mkdir(exist_ok=True)
    else:
        folder = Path(mkdtemp(prefix="wb-packages-"))
    built = folder / "built"
    with (folder / "lock").open("w") as lock:
        flock(lock, LOCK_EX)
        if not built.exists():
            build(ROOT, folder / "unfinished", "wheel", "sdist")
            (folder / "unfinished").rename(built)
    return built


def wheel() -> Path:
    """Return the wheel of this repository."""
    [found] = packages().glob("*.whl")
    return found
