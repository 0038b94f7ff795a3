"""Commands in processes forked from one with the code imported, because starting Python and importing take 0.7 s.

Tests fork them as `ForkedProcess`, shells by the `weighbridge` in `program_folder()`, and forked commands fork their
workers and the processes of their sandboxes. `forked_call` forks a single function in the same way.
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
from fcntl import F_DUPFD, fcntl
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
_SANDBOX = "weighbridge_producer.sandbox.child:main"
_MOST_FILES = 64  #: open files of a requested command
_ADDRESS = "PYTEST_FORK_SERVER"  #: the environment variable with the fork server's address

_forking = multiprocessing.get_context("fork")
_context = multiprocessing.get_context("forkserver")


@contextmanager
def fork_server() -> Iterator[None]:
    """Run the process from which all others are forked, for this process and those of pytest-xdist."""
    # Not in pytest's folder, because a socket's path must be short.
    with tempfile.TemporaryDirectory(prefix="wb-") as folder:
        address = str(Path(folder) / "forks")
        alive_end, alive = os.pipe()
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(address)
            listener.listen()
            fds = listener.fileno(), alive_end
            kept = {name: os.environ[name] for name in os.environ if "WEIGHBRIDGE_" not in name}
            server = subprocess.Popen(
                [sys.executable, "-m", "support.fork_server", *map(str, fds)],
                env=kept | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                stdin=subprocess.DEVNULL,
                pass_fds=fds,
            )
        os.close(alive_end)
        os.environ[_ADDRESS] = address
        try:
            yield
        finally:
            del os.environ[_ADDRESS]
            os.close(alive)
            server.kill()
            server.wait()


@cache
def _use_fork_server() -> None:
    """Make multiprocessing fork from `fork_server()`, instead of from a process of its own."""
    server = forkserver._forkserver
    server._forkserver_address = os.environ[_ADDRESS]
    # It ends with the process that runs it, whichever others there are.
    server._forkserver_alive_fd = os.open(os.devnull, os.O_WRONLY)
    server.ensure_running = lambda: None


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
        _use_fork_server()
        forker = str(_forker_address())
        order = _Order(main, list(arguments), dict(environment), str(folder), forker)
        process = _context.Process(target=_become, args=(order, output, lifeline))
        super().__init__(process, arguments)


@contextmanager
def forked_call(
    function: Callable[..., object], *arguments: object
) -> Iterator[tuple[Connection, BaseProcess]]:
    """Call `function(sender, *arguments)` in a forked process; yield what receives from it, and the process.

    Such a process is much smaller than one forked from pytest's, so it starts and writes to its memory sooner.
    """
    _use_fork_server()
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
    #: the address of what forks the processes of its sandbox, which a worker has not
    forker: str = ""


def _run(order: _Order) -> None:
    """Run a command in this process, with its current standard streams."""
    # Imported here, because most tests do not need it.
    from weighbridge_producer.sandbox.pool import Sandbox

    os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.environ.clear()
    os.environ.update(order.environment)
    sys.path[1:1] = filter(None, order.environment.get("PYTHONPATH", "").split(os.pathsep))
    os.chdir(order.folder)
    sys.argv = ["weighbridge", *order.arguments]
    local_worker._Started = _ForkedWorker
    Sandbox.command = _forking_command(order.forker, _SANDBOX)
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


def sandbox_command() -> tuple[str, ...]:
    """Return the command of a sandbox whose processes are forked."""
    return _forking_command(str(_forker_address()), _SANDBOX)


def _forking_command(forker: str, main: str) -> tuple[str, ...]:
    return (sys.executable, "-IS", forked_command.__file__, forker, main)


@cache
def program_folder() -> Path:
    """Return a folder with a `weighbridge` for shells, which ends with its forked command, and vice versa."""
    forker = _forker_address()
    script = forker.with_name("weighbridge")
    script.write_text(
        f'#!/bin/sh\nexec {shlex.join(_forking_command(str(forker), COMMAND_LINE))} "$@"\n'
    )
    script.chmod(0o755)
    return forker.parent


@cache
def _forker_address() -> Path:
    """Return the address of a process that forks commands for other programs."""
    # Not in pytest's folder, because a socket's path must be short.
    folder = Path(tempfile.mkdtemp(prefix="wb-"))
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(folder / "forker"))
    listener.listen()
    _use_fork_server()
    forker = _context.Process(target=_fork_for_others, args=(listener,))
    forker.start()
    atexit.register(_end, forker, folder)
    return folder / "forker"


def _end(forker: BaseProcess, folder: Path) -> None:
    forker.kill()
    shutil.rmtree(folder, ignore_errors=True)


def _fork_for_others(listener: socket.socket) -> None:
    """Fork requested commands, forward signals, and report their exit status; they end with their requester."""
    tie_to_parent()
    # A process' sentinel also fires when a command execs another program.
    ended, ends = socket.socketpair()
    ends.setblocking(False)
    signal.set_wakeup_fd(ends.fileno())
    signal.signal(signal.SIGCHLD, lambda *_: None)
    asking: dict[socket.socket, BaseProcess] = {}
    while True:
        for ready in wait([listener, ended, *asking]):
            if ready is listener:
                asker, _ = listener.accept()
                not_theirs = [asker, listener, ended, ends, *asking]
                if process := _forked(asker, listener.getsockname(), not_theirs):
                    asking[asker] = process
            elif ready is ended:
                ended.recv(4096)
            else:
                _hand_on_signals(ready, asking[ready])
        for asker in [asker for asker, process in asking.items() if process.exitcode is not None]:
            _tell_end(asker, asking.pop(asker))


def _forked(
    asker: socket.socket, forker: str, not_theirs: list[socket.socket]
) -> BaseProcess | None:
    length, files, _, _ = socket.recv_fds(asker, forked_command.LENGTH_BYTES, _MOST_FILES)
    told = asker.recv(int.from_bytes(length), socket.MSG_WAITALL)
    if not told:  # the requester was killed
        return None
    *order, numbers = marshal.loads(told)
    order = _Order(*order, forker)
    received = dict(zip(numbers, files, strict=True))
    process = _forking.Process(target=_become_asked, args=(order, received, not_theirs))
    process.start()
    for file in files:
        os.close(file)
    return process


def _become_asked(order: _Order, files: dict[int, int], not_ours: list[socket.socket]) -> None:
    tie_to_parent()
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for connection in not_ours:
        connection.close()
    # First out of the way of the numbers that they get.
    free = max(*files, *files.values()) + 1
    moved = {number: fcntl(file, F_DUPFD, free) for number, file in files.items()}
    for file in files.values():
        os.close(file)
    for number, file in moved.items():
        os.dup2(file, number)
        os.close(file)
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
