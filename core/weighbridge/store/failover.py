"""Failover: what a server that is no primary any more says, and connections that are dropped when it says so."""

from __future__ import annotations

import re
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

#: A replica refuses a write (READONLY; older servers name it within a script's error), a demoted primary ends
#: waits (UNBLOCKED), a replica without its primary refuses reads, a primary without replicas refuses writes.
_SIGNS = re.compile(r"^(READONLY|UNBLOCKED|MASTERDOWN|NOREPLICAS)\b|: -READONLY ")

_ERROR_NAMES = re.compile(r" - (?:\w+:)?(\w+Error)\b")


def is_failover(error: Exception) -> bool:
    """Whether an error says that another server has to be asked, now or soon."""
    if isinstance(error, ReadOnlyError | ClusterDownError):
        return True
    return isinstance(error, ResponseError) and bool(_SIGNS.search(str(error)))


class _LeavesDemoted:
    """Turns such an answer into a lost connection, so that whatever retries connects anew, to the new primary."""

    def read_response(self, *args: Any, **kwargs: Any) -> Any:
        """Return the next answer; ConnectionError where the server is no primary any more."""
        try:
            return super().read_response(*args, **kwargs)  # type: ignore[misc]
        except ResponseError as error:
            if not is_failover(error):
                raise
            self.disconnect()  # type: ignore[attr-defined]
            raise ConnectionError(f"the Redis server is no longer primary: {error}") from error


class TcpConnection(_LeavesDemoted, Connection):
    """A connection over TCP."""


class TlsConnection(_LeavesDemoted, SSLConnection):
    """A connection over TLS."""


class UnixConnection(_LeavesDemoted, UnixDomainSocketConnection):
    """A connection over a socket of this machine."""


class SentinelConnection(_LeavesDemoted, SentinelManagedConnection):
    """A connection to the primary that sentinels name."""


class SentinelTlsConnection(SentinelConnection, SSLConnection):
    """A connection over TLS to the primary that sentinels name."""


class Sentinels(Sentinel):
    """Sentinels that are asked for a primary, and named in few words where none of them tells one."""

    def __init__(self, hosts: Sequence[tuple[str, int]], options: dict[str, Any]) -> None:
        super().__init__(list(hosts), sentinel_kwargs=options)  # type: ignore[no-untyped-call]
        self._hosts = ", ".join(f"{host}:{port}" for host, port in hosts)

    @override
    def discover_master(self, service_name: str) -> tuple[str, int]:
        """Return the primary's address; MasterNotFoundError, a ConnectionError, where there is none."""
        try:
            host, port = super().discover_master(service_name)  # type: ignore[no-untyped-call]
        except MasterNotFoundError as error:
            # Its text describes each connection at length, and names the error after it.
            kinds = sorted(set(_ERROR_NAMES.findall(str(error))))
            why = f" ({', '.join(kinds)})" if kinds else ""
            raise MasterNotFoundError(
                f"no sentinel names a primary of {service_name!r}; asked: {self._hosts}{why}"
            ) from None
        return host, port


#: By the scheme of a URL.
CONNECTIONS = {"redis": TcpConnection, "rediss": TlsConnection, "unix": UnixConnection}
