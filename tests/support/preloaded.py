"""Commands in processes forked from one that has loaded them: starting Python and importing take 0.7 s each."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING

from weighbridge.child_process import tie_to_parent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from multiprocessing.connection import Connection

COMMAND_LINE = "weighbridge_producer.cli:main"
WORKER = "weighbridge_worker.__main__:main"

_context = multiprocessing.get_context("forkserver")
# Nothing that reads the environment when it is loaded.
_context.set_forkserver_preload(
    [
        *(f"weighbridge.graders.{name}" for name in ("budget", "loop", "tool_schema")),
        "celery.concurrency.prefork",
        "celery.worker.consumer",
        "celery.worker.worker",
        "kombu.transport.redis",
        "weighbridge_producer.cli.batches",
        "weighbridge_producer.cli.commands",
        "weighbridge_producer.cli.run",
        "weighbridge_producer.cli.serve",
        "weighbridge_producer.run.local_run",
        "weighbridge_producer.server",
        "weighbridge_producer.service.service",
    ]
)


class ForkedProcess:
    """A command with a session of its own, as `subprocess.Popen` shows it."""

    def __init__(
        self,
        main: str,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        folder: Path,
        output: tuple[Path, Path],
        lifeline: Connection | None = None,
    ) -> None:
        """Call `main` with the arguments; standard output and error go to two files."""
        self._arguments = arguments
        self._process = _context.Process(
            target=_become,
            args=(main, list(arguments), dict(environment), folder, output, lifeline),
        )
        self._process.start()
        assert self._process.pid
        self.pid: int = self._process.pid

    def poll(self) -> int | None:
        """Return its exit status; None while it runs."""
        return self._process.exitcode

    def wait(self, seconds: float) -> int:
        """Wait for its end and return its exit status; subprocess.TimeoutExpired."""
        self._process.join(seconds)
        if self._process.exitcode is None:
            raise subprocess.TimeoutExpired(list(self._arguments), seconds)
        return self._process.exitcode

    def terminate(self) -> None:
        """Send SIGTERM."""
        self._process.terminate()

    def kill(self) -> None:
        """Send SIGKILL."""
        self._process.kill()


def _become(
    main: str,
    arguments: list[str],
    environment: dict[str, str],
    folder: Path,
    output: tuple[Path, Path],
    lifeline: Connection | None,
) -> None:
    os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.clear()
    os.environ.update(environment)
    if lifeline:
        os.environ["WEIGHBRIDGE_LIFELINE_FD"] = str(os.dup(lifeline.fileno()))
    else:
        tie_to_parent()
    sys.path[1:1] = filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))
    os.chdir(folder)
    for stream, path in zip((sys.stdout, sys.stderr), output, strict=True):
        with path.open("wb") as file:
            os.dup2(file.fileno(), stream.fileno())
    sys.argv = ["weighbridge", *arguments]
    sys.exit(resolve_name(main)(arguments))
