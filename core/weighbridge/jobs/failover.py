"""Failover: what a server that is no primary any more says, and connections that are dropped when it says so."""

from __future__ import annotations

import re
from typing import Any

from redis.connection import Connection, SSLConnection, UnixDomainSocketConnection
from redis.exceptions import (
    ClusterDownError,
    ConnectionError,  # noqa: A004 - redis names it so, and it is not the built-in one
    ReadOnlyError,
    ResponseError,
)
from redis.sentinel import SentinelManagedConnection

#: A replica refuses a write (READONLY; older servers name it within a script's error), a demoted primary ends
#: waits (UNBLOCKED), a replica without its primary refuses reads, a primary without replicas refuses writes.
_SIGNS = re.compile(r"^(READONLY|UNBLOCKED|MASTERDOWN|NOREPLICAS)\b|: -READONLY ")


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
            raise ConnectionError(f"the server is no primary any more: {error}") from error


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


#: By the scheme of a URL.
CONNECTIONS = {"redis": TcpConnection, "rediss": TlsConnection, "unix": UnixConnection}
