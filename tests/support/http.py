"""The real HTTP service on a free port of this machine."""

from __future__ import annotations

import socket
import threading
from typing import Self

from weighbridge.settings import Settings
from weighbridge_producer.client import RedisClient
from weighbridge_producer.http import Service
from weighbridge_producer.http.serving import make_server

_START_SECONDS = 20.0
_STOP_SECONDS = 30.0


class HttpServer:
    """The service in a thread: `with HttpServer(redis_url) as served: httpx.get(served.url)`.

    Keywords are settings, `rate_limit_per_minute=5`.
    """

    def __init__(
        self,
        redis_url: str,
        *,
        keys_required: bool = False,
        **settings: object,
    ) -> None:
        client = RedisClient(redis_url, settings=Settings.model_validate(settings), patient=False)
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
        self._server.should_exit = True
        self._thread.join(_STOP_SECONDS)
        assert not self._thread.is_alive(), "the service did not stop"
        self._socket.close()
        self.service.client.close()

    def make_key(self, role: str, name: str = "test") -> str:
        """Return a new API key."""
        from weighbridge.jobs.api_keys import Role

        return self.service.keys.make(name, Role(role))[1]
