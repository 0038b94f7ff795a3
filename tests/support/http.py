"""The real HTTP service on a free local port."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Self

from support.preloaded import COMMAND_LINE, ForkedProcess, sandbox_command
from support.waiting import eventually
from weighbridge.settings import Settings
from weighbridge_producer.client.redis_client import RedisClient
from weighbridge_producer.server import make_server
from weighbridge_producer.service.service import Service

if TYPE_CHECKING:
    from fastapi import FastAPI

#: The process ends with the tests, even if they are killed.
_COMMAND = (
    sys.executable,
    "-c",
    (
        f"from weighbridge.child_process import tie_to_parent; tie_to_parent({os.getpid()});"
        " from weighbridge_producer.cli import main; main()"
    ),
)
_START_SECONDS = 20.0
_LINE_SECONDS = 60.0
_STOP_SECONDS = 30.0


class HttpServer:
    """The service in a thread: `with HttpServer(redis_url) as served: requests.get(served.url)`.

    Keywords are settings, `rate_limit_per_minute=5`.
    """

    def __init__(
        self,
        redis_url: str,
        *,
        keys_required: bool = False,
        **settings: object,
    ) -> None:
        client = RedisClient(redis_url, settings=Settings.model_validate(settings), retry=False)
        self.service = Service(client, keys_required=keys_required)
        self.service.sandbox.command = sandbox_command()
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._socket.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._ready = threading.Event()
        self._server = make_server(self.service, self._ready.set)
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [self._socket]}, name="http", daemon=True
        )

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(_START_SECONDS), "the service did not start"
        return self

    def __exit__(self, *_: object) -> None:
        self.ask_to_stop()
        self._thread.join(_STOP_SECONDS)
        assert not self._thread.is_alive(), "the service did not stop"
        self._socket.close()
        self.service.client.close()

    def ask_to_stop(self) -> None:
        """Request a shutdown, as SIGTERM does."""
        self._server.should_exit = True

    @property
    def app(self) -> FastAPI:
        """The FastAPI application."""
        app: FastAPI = self._server.config.app
        return app

    @property
    def connected_ports(self) -> set[int]:
        """The clients' ports of the open connections."""
        clients = (connection.client for connection in set(self._server.server_state.connections))
        return {client[1] for client in clients if client}

    def make_key(self, role: str, name: str = "test", project: str = "default") -> str:
        """Create and return an API key."""
        from weighbridge.store.api_keys import Role

        return self.service.keys.make(name, Role(role), project=project)[1]


class ServeProcess:
    """`weighbridge serve` as a separate process: `with ServeProcess(environment(redis_url)) as served`."""

    def __init__(
        self,
        env: dict[str, str],
        *options: str,
        preloaded: bool = True,
        folder: Path | None = None,
    ) -> None:
        """Fork it from a process with the code imported or, without `preloaded`, start the command."""
        self._folder = tempfile.TemporaryDirectory(prefix="wb-")
        output = Path(self._folder.name) / "out", Path(self._folder.name) / "err"
        self._out, self._err = output
        for path in output:
            path.touch()
        words = ["serve", "--port", "0", *options]
        if preloaded:
            self._process: ForkedProcess | subprocess.Popen[bytes] = ForkedProcess(
                COMMAND_LINE, words, env, folder or Path.cwd(), output
            )
        else:
            self._process = _executed(words, env, output)
        self.pid = self._process.pid
        self._lines = self._out.open("rb")
        self.said: list[str] = []  #: lines of output so far
        self.url = ""

    def __enter__(self) -> Self:
        try:
            self.url = self.await_line("Weighbridge is at ").rsplit(" ", 1)[1].rstrip("/")
        except BaseException:
            self.kill()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def await_line(self, beginning: str) -> str:
        """Read its output up to a line with a given beginning, and return that line."""
        return eventually(lambda: self._line(beginning), _LINE_SECONDS, f"a line {beginning!r}")

    def _line(self, beginning: str) -> str:
        has_ended = self._process.poll() is not None
        while (line := self._lines.readline()).endswith(b"\n"):
            said = line.decode().strip()
            self.said.append(said)
            if said.startswith(beginning):
                return said
        self._lines.seek(-len(line), os.SEEK_CUR)  # the line is incomplete
        assert not has_ended, f"it ended before {beginning!r}: {self._err.read_text()}"
        return ""

    def end(self, by: signal.Signals = signal.SIGTERM) -> tuple[int, str]:
        """Send it a signal to stop, and return its exit status and standard error."""
        os.kill(self.pid, by)
        return self.await_end()

    def await_end(self) -> tuple[int, str]:
        """Wait until it has ended, and return its exit status and standard error."""
        status = self._process.wait(_STOP_SECONDS)
        self.said += self._lines.read().decode().splitlines()
        return status, self._err.read_text()

    def kill(self) -> None:
        """Kill it with SIGKILL; its child processes end by themselves."""
        self._process.kill()
        self._process.wait(10)
        self._lines.close()
        self._folder.cleanup()


def _executed(
    words: list[str], env: dict[str, str], output: tuple[Path, Path]
) -> subprocess.Popen[bytes]:
    with output[0].open("wb") as out, output[1].open("wb") as err:
        return subprocess.Popen(
            [*_COMMAND, *words],
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
