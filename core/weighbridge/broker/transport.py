"""Variants of kombu's transports that leave a demoted primary, support full servers, and accept our Sentinel URLs."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from kombu import transport
from kombu.transport import redis
from kombu.utils.json import dumps
from redis import Redis
from redis.exceptions import OutOfMemoryError

from weighbridge.store.failover import (
    SentinelConnection,
    Sentinels,
    SentinelTlsConnection,
    TcpConnection,
    TlsConnection,
)

#: Our own transport names, so that other users of kombu in this process are not affected.
ONE_SERVER, SENTINELS = "weighbridge-redis", "weighbridge-sentinel"


#: A full server rejects LPUSH, but not in a script that starts with a delete. The second key is unused.
_PUSH_WHEN_FULL = "redis.call('DEL', KEYS[2]) return redis.call('LPUSH', KEYS[1], ARGV[1])"


class _Client(Redis):
    """A client without transactions in pipelines: a full server rejects all commands of those, even LLEN and ZREM."""

    def pipeline(self, transaction: bool = False, shard_hint: Any = None) -> Any:
        """Return a pipeline."""
        return super().pipeline(transaction, shard_hint)


class _WorksWhenFull:
    """Mixin for channels that send, receive and acknowledge messages even if the server is full."""

    _kept: Redis | None = None  #: the client for commands that do not block

    def _create_client(self, asynchronous: bool = False) -> Any:
        """Return a client, the same one while its pool lasts: kombu asks for one to send each message."""
        if asynchronous:
            return super()._create_client(asynchronous)  # type: ignore[misc]
        if self._kept is None or self._kept.connection_pool is not self.pool:  # type: ignore[attr-defined]
            self._kept = super()._create_client()  # type: ignore[misc]
        return self._kept

    def _put(self, queue: str, message: Any, **options: Any) -> None:
        try:
            super()._put(queue, message, **options)  # type: ignore[misc]
        except OutOfMemoryError:
            # Workers free memory: they record results, and collected results are freed.
            with self.conn_or_acquire() as client:  # type: ignore[attr-defined]
                client.eval(_PUSH_WHEN_FULL, 2, queue, f"{queue}:", dumps(message))

    def _get_client(self) -> type[Redis]:
        return _Client

    def _queue_bind(self, *binding: Any) -> None:
        # The publisher binds the queue too, once there is memory.
        with suppress(OutOfMemoryError):
            super()._queue_bind(*binding)  # type: ignore[misc]


class Channel(_WorksWhenFull, redis.Channel):
    """A channel of a single server."""

    connection_class = TcpConnection
    connection_class_ssl = TlsConnection


class SentinelChannel(_WorksWhenFull, redis.SentinelChannel):
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


def name_transports(one_server: type[Any], sentinels: type[Any]) -> None:
    """Register these transports with kombu under our names in this process."""
    for name, found in ((ONE_SERVER, one_server), (SENTINELS, sentinels)):
        transport.TRANSPORT_ALIASES[name] = f"{found.__module__}:{found.__qualname__}"
        # There is no public API for this.
        transport._transport_cache.pop(name, None)  # type: ignore[attr-defined]  # noqa: SLF001


name_transports(Transport, SentinelTransport)
