"""A private server process on a unix socket, which ends with the process that started it."""

import os
import shutil
import socket
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Self
from urllib.parse import quote

from weighbridge.child_process import GuardedProcess
from weighbridge.embedded.binary import ServerBinary, find_server
from weighbridge.errors import ServerError

__all__ = ["EmbeddedServer", "ServerBinary", "find_server"]

_SOCKET_NAME = "redis.sock"
_LONGEST_SOCKET_PATH_BYTES = 100  # the kernel's limit is 108 on Linux and 104 on macOS
_LOG_NAME = "server.log"
_LOG_TAIL_LINES = 8
_STATE_FILES = ("appendonlydir", "appendonly.aof*", "temp-*", "dump.rdb", _LOG_NAME)
_APPEND = os.O_WRONLY | os.O_APPEND | os.O_CREAT
_STOP_SECONDS = 10.0


class EmbeddedServer:
    """A running private server; its data persists in a directory, for a restart."""

    def __init__(
        self, binary: ServerBinary, state_dir: Path, maxmemory_bytes: int, log: BinaryIO
    ) -> None:
        self.binary = binary
        self.state_dir = state_dir
        self._log_start = log.tell()
        socket_dir = _short_private_dir()
        self.socket_path = socket_dir / _SOCKET_NAME
        options = _options(state_dir, self.socket_path, maxmemory_bytes)
        self._process = GuardedProcess(
            [str(binary.path), *options], scratch_dir=socket_dir, output=log
        )

    @classmethod
    def start(cls, state_dir: Path, *, maxmemory_bytes: int, timeout_seconds: float = 10.0) -> Self:
        """Start a server on the data in `state_dir` and return it ready for commands.

        This waits while the server loads its data. Raises ServerError if the server is silent for
        `timeout_seconds`, if it ends, or if another server uses the directory for that long.
        """
        binary = find_server()
        state_dir = state_dir.absolute()
        with _opened_log(state_dir) as log:
            _claim(log, state_dir, timeout_seconds)
            server = cls(binary, state_dir, maxmemory_bytes, log)
        try:
            server._await_ready(timeout_seconds)
        except BaseException:
            server._process.end(0)
            raise
        return server

    @property
    def url(self) -> str:
        """The URL for redis-py."""
        return f"unix://{quote(str(self.socket_path))}?db=0"

    @property
    def pid(self) -> int:
        """The server's process id."""
        return self._process.pid

    def stop(self, *, remove: bool = False) -> None:
        """Stop the server, with its data synced to disk or, with `remove`, deleted; a second call has no effect."""
        if not self._process.owned:
            return
        # SHUTDOWN acts immediately, SIGTERM at the server's next tick, up to 100 ms later. Neither
        # saves a snapshot, as none is configured; both sync the append-only file.
        _ask(self.socket_path, b"SHUTDOWN")
        self._process.end(_STOP_SECONDS)
        if remove:
            _remove_state(self.state_dir)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()

    def _await_ready(self, timeout_seconds: float) -> None:
        deadline = time.monotonic() + timeout_seconds
        pause_seconds = 0.0005
        while not (reply := _ask(self.socket_path, b"PING")).startswith(b"+PONG"):
            if reply.startswith(b"-LOADING"):
                deadline = time.monotonic() + timeout_seconds
            if time.monotonic() > deadline:
                raise self._failure(f"was not ready after {timeout_seconds:g} s")
            if (status := self._process.wait(pause_seconds)) is not None:
                raise self._failure(f"exited during startup with status {status}")
            pause_seconds = min(pause_seconds * 2, 0.005)

    def _failure(self, what: str) -> ServerError:
        return ServerError(
            f"the private server {self.binary.path} (version {self.binary.version}) {what}; "
            + _log_tail(self.state_dir / _LOG_NAME, self._log_start),
            "give --redis-url to use another Redis server",
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
        "lazyfree-lazy-expire": "yes",  # the expiry of a large batch must not block others
        # Newer servers call it listpack, but accept this name, the only one in 6.2.
        "hash-max-ziplist-entries": "512",
        "daemonize": "no",
        # Standard output is the log file, so that it has messages of the shell and the loader too.
        "logfile": "",
    }
    return [word for name, value in options.items() for word in (f"--{name}", value)]


def _short_private_dir() -> Path:
    """Create a 0700 directory with a path short enough for the socket's name."""
    folder = Path(tempfile.mkdtemp(prefix="weighbridge-"))
    if len(os.fsencode(folder / _SOCKET_NAME)) <= _LONGEST_SOCKET_PATH_BYTES:
        return folder
    folder.rmdir()
    return Path(tempfile.mkdtemp(prefix="weighbridge-", dir="/tmp"))


def _opened_log(state_dir: Path) -> BinaryIO:
    try:
        state_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        return os.fdopen(os.open(state_dir / _LOG_NAME, _APPEND, 0o600), "ab")
    except OSError as error:
        raise ServerError(
            f"the private server cannot keep its data in {state_dir}: {error.strerror}",
            "name a writable directory with WEIGHBRIDGE_STATE_DIR, or for `serve` with --folder",
        ) from error


def _claim(log: BinaryIO, state_dir: Path, timeout_seconds: float) -> None:
    """Lock the log file; the server inherits the lock and holds it as long as it runs."""
    import fcntl  # missing on Windows, where find_server() has failed already

    deadline = time.monotonic() + timeout_seconds
    while True:
        try:
            return fcntl.flock(log, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            # After its parent was killed, a server takes a moment to exit.
            if time.monotonic() > deadline:
                raise ServerError(
                    f"another private server is using {state_dir}",
                    "wait until the command that started it ends, or name another directory with WEIGHBRIDGE_STATE_DIR, or for"
                    " `serve` with --folder",
                ) from None
            time.sleep(0.01)


def _ask(socket_path: Path, command: bytes) -> bytes:
    """Return the start of the server's reply, or b"" if there is none within a second."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client, suppress(OSError):
        client.settimeout(1.0)
        client.connect(os.fspath(socket_path))
        client.sendall(command + b"\r\n")
        return client.recv(64)
    return b""


def _log_tail(log_path: Path, start: int) -> str:
    with log_path.open("rb") as log:
        log.seek(start)
        lines = log.read().decode(errors="replace").splitlines()[-_LOG_TAIL_LINES:]
    return "\n".join(["its log ends:", *lines]) if lines else "its log is empty"


def _remove_state(state_dir: Path) -> None:
    for path in [path for pattern in _STATE_FILES for path in state_dir.glob(pattern)]:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
    # Other content belongs to the caller.
    with suppress(OSError):
        state_dir.rmdir()
