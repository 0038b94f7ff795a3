"""Variants of kombu's transports for workers, which leave a demoted primary and admit only wake-up messages.

Anyone with access to the broker can write to the queue. Celery trusts its content: a single item that is not a
message, or a header of an unexpected type, stops the worker, or is put back for the next one.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from kombu import transport
from kombu.transport import redis
from redis import Redis
from redis.exceptions import OutOfMemoryError

from weighbridge.broker.wake_up import WakeUp
from weighbridge.store.failover import (
    SentinelConnection,
    Sentinels,
    SentinelTlsConnection,
    TcpConnection,
    TlsConnection,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Our own transport names, so that other users of kombu in this process are not affected.
ONE_SERVER, SENTINELS = "weighbridge-redis", "weighbridge-sentinel"
_MESSAGE_LIMIT_BYTES = 16_384  #: ten times the size of our messages
_SHOWN_BYTES = 200
_log = logging.getLogger("weighbridge.worker")


class _Client(Redis):
    """A client without transactions in pipelines: a full server rejects all commands of those, even LLEN and ZREM."""

    def pipeline(self, transaction: bool = False, shard_hint: Any = None) -> Any:
        """Return a pipeline."""
        return super().pipeline(transaction, shard_hint)


class _Admission:
    """Mixin for channels that check each item before kombu parses it, and receive messages even if the server is full."""

    sep: str

    def _create_client(self, asynchronous: bool = False) -> Any:
        client: Any = super()._create_client(asynchronous)  # type: ignore[misc]
        client.set_response_callback("BRPOP", self._admit)
        return client

    def _admit(self, found: Sequence[bytes] | None, **_: Any) -> tuple[bytes, bytes] | None:
        """Return the key and item from BRPOP, or None to drop the item."""
        if not found:
            return None
        key, item = found
        queue = key.decode(errors="replace").rsplit(self.sep, 1)[0]
        if message := sanitize(item, queue):
            return key, message
        # BRPOP has already removed it from the queue.
        _log.warning(
            "dropped a message on queue %r that is not from Weighbridge: %r; find the program that sent it",
            *(queue, item[:_SHOWN_BYTES]),
        )
        return None

    def _get_client(self) -> type[Redis]:
        return _Client

    def _queue_bind(self, *binding: Any) -> None:
        # A full server refuses it. Our messages are pushed to the queue's key, and so need no binding.
        with suppress(OutOfMemoryError):
            super()._queue_bind(*binding)  # type: ignore[misc]


class Channel(_Admission, redis.Channel):
    """A channel of a single server."""

    connection_class = TcpConnection
    connection_class_ssl = TlsConnection


class SentinelChannel(_Admission, redis.SentinelChannel):
    """A channel of the primary reported by Sentinel."""

    connection_class = SentinelConnection
    connection_class_ssl = SentinelTlsConnection
    from_transport_options = (*redis.SentinelChannel.from_transport_options, "sentinels")
    sentinels: list[tuple[str, int]]
    sentinel_kwargs: dict[str, Any]
    master_name: str

    def _sentinel_managed_pool(self, asynchronous: bool = False) -> Any:
        options = self._connparams(asynchronous)  # type: ignore[attr-defined]
        for name in ("host", "port"):
            options.pop(name, None)
        found = Sentinels(self.sentinels, self.sentinel_kwargs)
        # kombu closes this pool.
        if asynchronous:
            self._async_sentinel_manager = found
        else:
            self._sentinel_manager = found
        primary = found.master_for(self.master_name, **options)  # type: ignore[no-untyped-call]
        return primary.connection_pool


class Transport(redis.Transport):
    """kombu's transport with our channel."""

    Channel = Channel


class SentinelTransport(redis.SentinelTransport):
    """kombu's transport for Sentinel with our channel."""

    Channel = SentinelChannel


def sanitize(item: bytes, queue: str) -> bytes | None:
    """Return a clean wake-up message for an item, without time limits or dates; None if it is not one of ours."""
    if len(item) > _MESSAGE_LIMIT_BYTES:
        return None
    found = WakeUp.from_bytes(item)
    if found is None:
        return None
    message, task_id = found
    return message.to_bytes(queue, task_id)


for _name, _transport in ((ONE_SERVER, Transport), (SENTINELS, SentinelTransport)):
    transport.TRANSPORT_ALIASES[_name] = f"{_transport.__module__}:{_transport.__qualname__}"
