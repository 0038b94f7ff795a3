"""Commands in processes forked from one with the code imported, because starting Python and importing take 0.7 s.

Tests fork them as `ForkedProcess`, shells by the `weighbridge` in `program_folder()`, and forked commands fork their
workers. `forked_call` forks a single function in the same way.
"""

from __future__ import annotations

import atexit
import marshal
import multiprocessing
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from contextlib import contextmanager, suppress
from functools import cache
from multiprocessing import forkserver
from multiprocessing.connection import wait
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, NamedTuple

from support import forked_command
from weighbridge.child_process import tie_to_parent
from weighbridge_producer.run import local_worker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

COMMAND_LINE = "weighbridge_producer.cli:main"
WORKER = "weighbridge_worker.__main__:main"
_STREAMS = (0, 1, 2)
_POLL_SECONDS = 0.01

_forking = multiprocessing.get_context("fork")
_context = multiprocessing.get_context("forkserver")
# Only modules that do not read the environment when imported.
_context.set_forkserver_preload(
    [
        *(f"weighbridge.graders.{name}" for name in ("budget", "loop.judgement", "tool_schema")),
        *(f"weighbridge.graders.{name}" for name in ("string_match", "true_false")),
        *(f"celery.app.{name}" for name in ("amqp", "control", "events", "log", "routes")),
        *("argparse", "billiard.popen_fork", "billiard.sharedctypes", "multiprocessing.popen_fork"),
        "celery.apps.worker",
        "celery.backends.base",
        "celery.concurrency.prefork",
        "celery.events.receiver",
        "celery.fixups.django",
        *(f"celery.worker.{name}" for name in ("autoscale", "components", "strategy", "worker")),
        "celery.worker.consumer.delayed_delivery",
        "kombu.pidbox",
        "kombu.transport.redis",
        "weighbridge.broker.transport",
        *(
            f"weighbridge_worker.{name}"
            for name in ("__main__", "child.child", "child_cgroups", "child_lock", "child_pool")
        ),
        *(f"weighbridge_worker.{name}" for name in ("logs", "transport")),
        "weighbridge_worker.parent.supervisor",
        *(
            f"weighbridge_producer.cli.{name}"
            for name in ("batches", "commands", "keys", "results")
        ),
        *(f"weighbridge_producer.cli.{name}" for name in ("run", "serve", "verify", "workers")),
        "weighbridge_producer.client.redis_client",
        "weighbridge_producer.input.repeated_ids",
        "weighbridge_producer.input.rows.json_rows",
        "weighbridge_producer.input.yaml_file",
        "weighbridge_producer.run.local_run",
        "weighbridge_producer.run.local_service",
        "weighbridge_producer.run.missing_grader",
        "weighbridge_producer.run.options",
        "weighbridge_producer.server",
        "weighbridge_producer.service.service",
        __name__,
        "typer._adapters",
        "typer._click.decorators",
        "uvicorn.loops.uvloop",
        "anyio._backends._asyncio",
        "support.preloaded",
    ]
)


@cache
def _start_forking() -> None:
    """Start the process from which all are forked; Python 3.11 does not pass it the path for its imports."""
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    try:
        forkserver.ensure_running()
    finally:
        del os.environ["PYTHONPATH"]
        if before is not None:
            os.environ["PYTHONPATH"] = before


class _Running:
    """A multiprocessing process with the interface of `subprocess.Popen`."""

    def __init__(self, process: BaseProcess, arguments: Sequence[str]) -> None:
        """Start it."""
        self._process = process
        self._arguments = arguments
        process.start()
        assert process.pid
        self.pid: int = process.pid

    def poll(self) -> int | None:
        """Return its exit status, or None if it is running."""
        return self._process.exitcode

    def wait(self, seconds: float | None = None) -> int:
        """Wait for its end and return its exit status; raises subprocess.TimeoutExpired."""
        self._process.join(seconds)
        if self._process.exitcode is None:
            raise subprocess.TimeoutExpired(list(self._arguments), seconds or 0)
        return self._process.exitcode

    def terminate(self) -> None:
        """Send SIGTERM."""
        self._process.terminate()

    def kill(self) -> None:
        """Send SIGKILL."""
        self._process.kill()


class ForkedProcess(_Running):
    """A forked command in a new session."""

    def __init__(
        self,
        main: str,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        folder: Path,
        output: tuple[Path, Path],
        lifeline: Connection | None = None,
    ) -> None:
        """Call `main` with the arguments; standard output and error are redirected to two files."""
        _start_forking()
        order = _Order(main, list(arguments), dict(environment), str(folder))
        process = _context.Process(target=_become, args=(order, output, lifeline))
        super().__init__(process, arguments)


@contextmanager
def forked_call(
    function: Callable[..., object], *arguments: object
) -> Iterator[tuple[Connection, BaseProcess]]:
    """Call `function(sender, *arguments)` in a forked process; yield what receives from it, and the process.

    Such a process is much smaller than one forked from pytest's, so it starts and writes to its memory sooner.
    """
    _start_forking()
    receiver, sender = _context.Pipe(duplex=False)
    process = _context.Process(target=function, args=(sender, *arguments))
    process.start()
    sender.close()
    try:
        yield receiver, process
    finally:
        receiver.close()
        process.join()


class _ForkedWorker(local_worker._Started):
    """A worker forked by a forked command, instead of starting Python again."""

    def __init__(self, arguments: Sequence[str], environment: Mapping[str, str], log: int) -> None:
        if threading.active_count() > 1:  # a fork has only one of the threads, but all locks
            super().__init__(arguments, environment, log)
            return
        lifeline, self.held_end = os.pipe()
        ends = {"WEIGHBRIDGE_LIFELINE_FD": str(lifeline)}
        order = _Order(WORKER, arguments, {**os.environ, **environment, **ends}, str(Path.cwd()))
        process = _forking.Process(target=_become_worker, args=(order, log, self.held_end))
        self.process = _Running(process, arguments)
        os.close(lifeline)


class _Order(NamedTuple):
    """A request to run a command, in types that marshal supports."""

    main: str
    arguments: Sequence[str]
    environment: dict[str, str]
    folder: str


def _run(order: _Order) -> None:
    """Run a command in this process, with its current standard streams."""
    os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.environ.clear()
    os.environ.update(order.environment)
    sys.path[1:1] = filter(None, order.environment.get("PYTHONPATH", "").split(os.pathsep))
    os.chdir(order.folder)
    sys.argv = ["weighbridge", *order.arguments]
    local_worker._Started = _ForkedWorker
    if sys.stdout.isatty() or sys.stderr.isatty():
        from weighbridge_producer.cli import show  # imported here, because the tests do not need it

        # As if they were made only now, with the size and colours of this terminal.
        show.out.__dict__.update(show._console(stderr=False).__dict__)
        show.err.__dict__.update(show._console(stderr=True).__dict__)
    sys.exit(resolve_name(order.main)())


def _become(order: _Order, output: tuple[Path, Path], lifeline: Connection | None) -> None:
    if lifeline:
        order.environment["WEIGHBRIDGE_LIFELINE_FD"] = str(os.dup(lifeline.fileno()))
    else:
        tie_to_parent()
    for stream, path in zip((sys.stdout, sys.stderr), output, strict=True):
        with path.open("wb") as file:
            os.dup2(file.fileno(), stream.fileno())
    _run(order)


def _become_worker(order: _Order, log: int, held_end: int) -> None:
    os.close(held_end)
    if log == subprocess.DEVNULL:
        log = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(log, stream.fileno())
    _run(order)


@cache
def program_folder() -> Path:
    """Return a folder with a `weighbridge` for shells, which ends with its forked command, and vice versa."""
    # Not in pytest's folder, because a socket's path must be short.
    folder = Path(tempfile.mkdtemp(prefix="wb-"))
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(folder / "forker"))
    listener.listen()
    words = (sys.executable, "-IS", forked_command.__file__, str(folder / "forker"), COMMAND_LINE)
    script = folder / "weighbridge"
    script.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
    script.chmod(0o755)
    _start_forking()
    forker = _context.Process(target=_fork_for_others, args=(listener,))
    forker.start()
    atexit.register(_end, forker, folder)
    return folder


def _end(forker: BaseProcess, folder: Path) -> None:
    forker.kill()
    shutil.rmtree(folder, ignore_errors=True)


def _fork_for_others(listener: socket.socket) -> None:
    """Fork requested commands, forward signals, and report their exit status; they end with their requester."""
    tie_to_parent()
    asking: dict[socket.socket, BaseProcess] = {}
    while True:
        for ready in wait([listener, *asking], _POLL_SECONDS if asking else None):
            if ready is listener:
                asker, _ = listener.accept()
                asking[asker] = _forked(asker, [listener, *asking])
            else:
                _hand_on_signals(ready, asking[ready])
        # The sentinel is not used, because it also fires when a command execs another program.
        for asker in [asker for asker, process in asking.items() if process.exitcode is not None]:
            _tell_end(asker, asking.pop(asker))


def _forked(asker: socket.socket, others: list[socket.socket]) -> BaseProcess:
    length, streams, _, _ = socket.recv_fds(asker, forked_command.LENGTH_BYTES, len(_STREAMS))
    told = asker.recv(int.from_bytes(length), socket.MSG_WAITALL)
    order = _Order(*marshal.loads(told))
    process = _forking.Process(target=_become_asked, args=(order, streams, [asker, *others]))
    process.start()
    for stream in streams:
        os.close(stream)
    return process


def _become_asked(order: _Order, streams: list[int], not_ours: list[socket.socket]) -> None:
    tie_to_parent()
    for connection in not_ours:
        connection.close()
    for number, stream in zip(_STREAMS, streams, strict=True):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    _run(order)


def _hand_on_signals(asker: socket.socket, process: BaseProcess) -> None:
    numbers = asker.recv(64)
    for number in numbers:
        os.kill(process.pid, number)
    if not numbers:  # the requester has ended
        process.kill()
        process.join()


def _tell_end(asker: socket.socket, process: BaseProcess) -> None:
    with suppress(OSError):
        asker.sendall(process.exitcode.to_bytes(forked_command.STATUS_BYTES, signed=True))
    asker.close()
