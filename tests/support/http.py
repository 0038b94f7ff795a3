"""The real HTTP service on a free port of this machine."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Self

from weighbridge.settings import Settings
from weighbridge_producer.client.redis_client import RedisClient
from weighbridge_producer.server import make_server
from weighbridge_producer.service.service import Service

if TYPE_CHECKING:
    from fastapi import FastAPI

#: It dies with the tests, however they end.
SERVE = (
    sys.executable,
    "-c",
    (
        f"from weighbridge.process import tie_to_parent; tie_to_parent({os.getpid()});"
        " from weighbridge_producer.cli import main; main()"
    ),
    "serve",
)
_START_SECONDS = 20.0
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
        """Tell it to end, as SIGTERM would."""
        self._server.should_exit = True

    @property
    def app(self) -> FastAPI:
        """The application."""
        app: FastAPI = self._server.config.app
        return app

    @property
    def connections(self) -> int:
        """How many connections are open."""
        return len(self._server.server_state.connections)

    def make_key(self, role: str, name: str = "test", project: str = "default") -> str:
        """Return a new API key."""
        from weighbridge.store.api_keys import Role

        return self.service.keys.make(name, Role(role), project=project)[1]


class ServeProcess:
    """`weighbridge serve` as a process of its own: `with ServeProcess(environment(redis_url)) as served`."""

    def __init__(self, env: dict[str, str], *options: str) -> None:
        self._process = subprocess.Popen(
            [*SERVE, "--port", "0", *options],
            env=env | {"PYTHONUNBUFFERED": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            text=True,
        )
        self.pid = self._process.pid
        self.said: list[str] = []  #: the lines of its output so far
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
        """Read its output until a line begins so, and return that line."""
        assert self._process.stdout
        for line in self._process.stdout:
            self.said.append(line.rstrip())
            if line.strip().startswith(beginning):
                return line.strip()
        assert self._process.stderr
        raise AssertionError(f"it ended before {beginning!r}: {self._process.stderr.read()}")

    def end(self, by: signal.Signals = signal.SIGTERM) -> tuple[int, str]:
        """Tell it to end, and return its exit status and what it wrote to standard error."""
        self._process.send_signal(by)
        return self.await_end()

    def await_end(self) -> tuple[int, str]:
        """Wait until it has ended, and return its exit status and what it wrote to standard error."""
        rest, err = self._process.communicate(timeout=_STOP_SECONDS)
        self.said += rest.splitlines()
        return self._process.returncode, err

    def kill(self) -> None:
        """Kill it, as the kernel would; its own processes end by themselves."""
        self._process.kill()
        self._process.wait(10)
        for pipe in (self._process.stdout, self._process.stderr):
            if pipe:
                pipe.close()
