"""The application on a socket: uvicorn, with limits on what a request's head may be."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import uvicorn

from weighbridge_producer.app import create_app
from weighbridge_producer.service.memory_release import keep_little
from weighbridge_producer.service.protocol import BoundedProtocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from weighbridge_producer.service.service import Service

GRACE_SECONDS = 10  #: for requests that are being answered when the service ends
_BACKLOG = 2048
_CONNECTIONS = 65_536


class Server(uvicorn.Server):
    """A server that says when it accepts requests."""

    def __init__(
        self, config: uvicorn.Config, service: Service, on_ready: Callable[[], None]
    ) -> None:
        super().__init__(config)
        self._service = service
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to accept requests, and say so."""
        await super().startup(sockets=sockets)
        self._on_ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End event streams, let other requests end, and close."""
        self._service.closing.set()
        await super().shutdown(sockets=sockets)


def make_server(service: Service, on_ready: Callable[[], None]) -> Server:
    """Return a server for one service; `run(sockets=[...])` serves until it is told to exit."""
    _allow_many_connections()
    keep_little()
    config = uvicorn.Config(
        create_app(service),
        access_log=False,
        server_header=False,
        log_level="warning",
        ws="none",
        http=BoundedProtocol,
        lifespan="on",
        proxy_headers=bool(service.settings.trusted_proxies),
        forwarded_allow_ips=service.settings.trusted_proxies or None,
        timeout_graceful_shutdown=GRACE_SECONDS,
        backlog=_BACKLOG,
    )
    return Server(config, service, on_ready)


def _allow_many_connections() -> None:
    """Let this process have as many connections as the system grants it: by default there are 1,024 on many."""
    try:
        import resource
    except ImportError:  # not on Windows
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _CONNECTIONS if hard == resource.RLIM_INFINITY else min(_CONNECTIONS, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
