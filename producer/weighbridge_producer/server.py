"""The uvicorn server of the application, with limits on a request's head."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import uvicorn

from weighbridge_producer.app import create_app
from weighbridge_producer.service.limits.bounded_protocol import BoundedProtocol
from weighbridge_producer.service.process_memory import keep_little

if TYPE_CHECKING:
    from collections.abc import Callable

    from weighbridge_producer.service.service import Service

GRACE_SECONDS = 10  #: for requests in progress when the service stops
_BACKLOG = 2048
_CONNECTIONS = 65_536


class Server(uvicorn.Server):
    """A server that calls a function once it accepts requests."""

    def __init__(
        self, config: uvicorn.Config, service: Service, on_ready: Callable[[], None]
    ) -> None:
        super().__init__(config)
        self._service = service
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start accepting requests, and report that."""
        await super().startup(sockets=sockets)
        self._on_ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop event streams, let other requests finish, and close."""
        self._service.closing.set()
        await super().shutdown(sockets=sockets)


def make_server(service: Service, on_ready: Callable[[], None]) -> Server:
    """Return a server for one service; `run(sockets=[...])` serves until `should_exit` is set."""
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
    """Raise this process's limit on open files to the maximum allowed: many systems default to 1,024."""
    try:
        import resource
    except ImportError:  # not on Windows
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _CONNECTIONS if hard == resource.RLIM_INFINITY else min(_CONNECTIONS, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
