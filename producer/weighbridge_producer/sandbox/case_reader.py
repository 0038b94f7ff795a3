"""Cases of many parts are read in a process of their own, which may take as long, and as much, as a job may."""

from __future__ import annotations

import pickle
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, TypeVar

from weighbridge.process import limit_memory

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from weighbridge.settings import Settings

View = TypeVar("View")

_PARTS_HERE = 60_000  #: members of objects and arrays that are read in a fraction of a second
_START_SECONDS = 20.0
_OUT_OF_MEMORY = 77  #: the exit status that says so


class TooMuchError(Exception):
    """Why a case could not be read apart, for a person."""


def read_apart(
    settings: Settings,
    take_slot: Callable[[], AbstractContextManager[object]],
    view: Callable[..., View],
    line: bytes | None,
    *facts: object,
) -> View:
    """Return `view(line, *facts)`, worked out here or, for a line of many parts, in a process of its own.

    `take_slot` takes one of the places for such processes; it raises TooMuchError when there is none.
    Raises TooMuchError when that wants more time or memory than a job may have, or when many are being read.
    """
    if line is None or _parts(line) <= _PARTS_HERE:
        return view(line, *facts)
    with take_slot():
        return _in_process(settings, view, line, facts)


def _in_process(
    settings: Settings, view: Callable[..., View], line: bytes, facts: tuple[object, ...]
) -> View:
    seconds = settings.job_deadline_seconds
    limits = map(str, (seconds, settings.child_memory_limit_bytes))
    command = [sys.executable, "-m", __name__, *limits]
    try:
        ended = subprocess.run(
            command,
            input=pickle.dumps((view, line, facts)),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=seconds + _START_SECONDS,
            check=True,
        )
    except subprocess.TimeoutExpired:
        raise TooMuchError(f"reading the case takes more than {seconds:g} s") from None
    except subprocess.CalledProcessError as error:
        if error.returncode == -signal.SIGALRM:
            raise TooMuchError(f"reading the case takes more than {seconds:g} s") from None
        if error.returncode == _OUT_OF_MEMORY:
            raise TooMuchError("reading the case takes more memory than a job may have") from None
        raise TooMuchError(
            f"the process that read the case died of it (status {error.returncode})"
        ) from None
    seen: View = pickle.loads(ended.stdout)  # noqa: S301 - our own process wrote it
    return seen


def _parts(line: bytes) -> int:
    """Return about how many parts a line's JSON has: no fewer than there are, but for one or two."""
    return line.count(b",") + line.count(b"{") + line.count(b"[")


def main() -> None:
    """Work out one view, from standard input to standard output."""
    view, line, facts = pickle.load(sys.stdin.buffer)  # noqa: S301 - our own process wrote it
    # The signal's default ends the process, whatever it is at.
    signal.setitimer(signal.ITIMER_REAL, float(sys.argv[1]))
    limit_memory(int(sys.argv[2]))
    try:
        seen = pickle.dumps(view(line, *facts))
    except MemoryError:
        sys.exit(_OUT_OF_MEMORY)
    sys.stdout.buffer.write(seen)
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
