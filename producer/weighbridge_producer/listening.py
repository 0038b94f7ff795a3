"""The socket that the service listens on, and who can reach it."""

from __future__ import annotations

import socket
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import ip_address
from typing import TYPE_CHECKING

from weighbridge.errors import AddressError

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class Listener:
    """A bound socket."""

    socket: socket.socket
    url: str
    is_loopback: bool  #: True if only this machine can connect


@contextmanager
def listen(host: str, port: int) -> Iterator[Listener]:
    """Bind a socket to a host's first address; AddressError if that fails."""
    try:
        family, _, _, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        bound = socket.create_server((str(address[0]), port), family=family)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not an address"
        raise AddressError(
            f"cannot listen on {host[:80]}, port {port}: {reason}",
            "is another program there? --port and --host choose another address",
        ) from None
    with bound:
        name, number = bound.getsockname()[:2]
        shown = f"[{host}]" if ":" in host else host
        # Decided by the address that was bound, not by the host name given.
        yield Listener(
            bound, f"http://{shown}:{number}", ip_address(name.partition("%")[0]).is_loopback
        )
