"""Redis servers on a fixed TCP port: for tests in which the server dies, or needs options of its own."""

from __future__ import annotations

import socket
import subprocess
from contextlib import suppress
from typing import TYPE_CHECKING, Self

import redis

from support.waiting import eventually
from weighbridge.server_binary import find_server

if TYPE_CHECKING:
    from pathlib import Path


class TcpServer:
    """A server on 127.0.0.1 that can be killed and started again under the same address, on the same data."""

    def __init__(self, folder: Path, **options: str) -> None:
        self.folder = folder
        self.port = free_port()
        self._options = {
            "bind": "127.0.0.1",
            "port": str(self.port),
            "dir": str(folder),
            "appendonly": "yes",
            "appendfsync": "everysec",
            "save": "",
            "maxmemory-policy": "noeviction",
            **options,
        }
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """The address, without user and password."""
        return f"redis://127.0.0.1:{self.port}/0"

    @property
    def pid(self) -> int:
        """The server's process id."""
        assert self._process
        return self._process.pid

    def start(self) -> Self:
        """Start the server and return it ready for commands."""
        words = [
            word
            for name, value in self._options.items()
            for word in (f"--{name.replace('_', '-')}", *value.split(" "))
        ]
        with (self.folder / "server.log").open("ab") as log:
            self._process = subprocess.Popen(
                [find_server().path, *words], stdout=log, stderr=log, start_new_session=True
            )
        eventually(self._answers, 15, "the server's answer")
        return self

    def kill(self) -> None:
        """End the server as SIGKILL does; a second call does nothing."""
        if self._process:
            self._process.kill()
            self._process.wait(10)
            self._process = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.kill()

    def _answers(self) -> bool:
        once = redis.retry.Retry(redis.backoff.NoBackoff(), 0)
        with (
            suppress(redis.exceptions.ConnectionError),
            redis.Redis(port=self.port, retry=once) as client,
        ):
            try:
                return bool(client.ping())
            except redis.exceptions.AuthenticationError:
                return True
            except redis.exceptions.BusyLoadingError:
                return False
        return False


def free_port() -> int:
    """Return a TCP port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
