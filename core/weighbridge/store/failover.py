"""Failover: recognizes the errors of a demoted primary, and drops connections to it, and those with unread replies."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

from redis.connection import Connection, SSLConnection, UnixDomainSocketConnection
from redis.exceptions import (
    ClusterDownError,
    ConnectionError,  # noqa: A004 - redis names it so, and it is not the built-in one
    ReadOnlyError,
    ResponseError,
)
from redis.sentinel import MasterNotFoundError, Sentinel, SentinelManagedConnection
from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Sequence

#: A replica refuses writes (READONLY, which older servers report inside a script's error), a demoted primary ends
#: blocking reads (UNBLOCKED), a replica that has lost its primary refuses reads (MASTERDOWN), and a primary without
#: replicas refuses writes (NOREPLICAS).
_SIGNS = re.compile(r"^(READONLY|UNBLOCKED|MASTERDOWN|NOREPLICAS)\b|: -READONLY ")

_ERROR_NAMES = re.compile(r" - (?:\w+:)?(\w+Error)\b")


def is_failover(error: Exception) -> bool:
    """Return whether an error means that a failover is taking place or has taken place."""
    if isinstance(error, ReadOnlyError | ClusterDownError):
        return True
    return isinstance(error, ResponseError) and bool(_SIGNS.search(str(error)))


class _LeavesDemoted:
    """Mixin that turns failover errors into a lost connection, so that retries connect to the new primary.

    It also reconnects after an interrupt, such as Ctrl-C, that came between a command and its reply: the next command
    would get that reply for its own.
    """

    def read_response(self, *args: Any, **kwargs: Any) -> Any:
        """Return the next reply; ConnectionError if the server is no longer primary."""
        try:
            return super().read_response(*args, **kwargs)  # type: ignore[misc]
        except ResponseError as error:
            if not is_failover(error):
                raise
            self.disconnect()  # type: ignore[attr-defined]
            raise ConnectionError(f"the Redis server is no longer primary: {error}") from error

    def should_reconnect(self) -> bool:
        """Return whether the connection is to be closed when it is returned to its pool."""
        interrupt = sys.exception()
        if interrupt is not None and not isinstance(interrupt, Exception):
            return True
        return bool(super().should_reconnect())  # type: ignore[misc]


class TcpConnection(_LeavesDemoted, Connection):
    """A connection over TCP."""


class TlsConnection(_LeavesDemoted, SSLConnection):
    """A connection over TLS."""


class UnixConnection(_LeavesDemoted, UnixDomainSocketConnection):
    """A connection over a Unix domain socket."""


class SentinelConnection(_LeavesDemoted, SentinelManagedConnection):
    """A connection to the primary that sentinels name."""


class SentinelTlsConnection(SentinelConnection, SSLConnection):
    """A connection over TLS to the primary that sentinels name."""


class Sentinels(Sentinel):
    """redis-py's sentinel client, with a short error message if no sentinel has a primary."""

    def __init__(self, hosts: Sequence[tuple[str, int]], options: dict[str, Any]) -> None:
        super().__init__(list(hosts), sentinel_kwargs=options)  # type: ignore[no-untyped-call]
        self._hosts = ", ".join(f"{host}:{port}" for host, port in hosts)

    @override
    def discover_master(self, service_name: str) -> tuple[str, int]:
        """Return the primary's address; MasterNotFoundError, a ConnectionError, if there is none."""
        try:
            host, port = super().discover_master(service_name)  # type: ignore[no-untyped-call]
        except MasterNotFoundError as error:
            # The original message is long: it describes each connection, followed by the error's name.
            kinds = sorted(set(_ERROR_NAMES.findall(str(error))))
            why = f" ({', '.join(kinds)})" if kinds else ""
            raise MasterNotFoundError(
                f"no sentinel names a primary of {service_name!r}; asked: {self._hosts}{why}"
            ) from None
        return host, port


#: Connection classes by URL scheme.
CONNECTIONS = {"redis": TcpConnection, "rediss": TlsConnection, "unix": UnixConnection}
