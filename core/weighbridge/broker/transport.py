"""Kombu's transports as ours are: they leave a server that is no primary any more, and read sentinels from our URLs."""

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

#: What kombu knows these by: names of our own, so that whoever uses kombu beside us keeps its transports.
ONE_SERVER, SENTINELS = "weighbridge-redis", "weighbridge-sentinel"


#: A full server refuses LPUSH, but not in a script that has begun with a write that frees. The second key holds nothing.
_PUSH_WHEN_FULL = "redis.call('DEL', KEYS[2]) return redis.call('LPUSH', KEYS[1], ARGV[1])"


class _Client(Redis):
    """A client whose pipelines are no transactions, of which a full server refuses every command, LLEN and ZREM too."""

    def pipeline(self, transaction: bool = False, shard_hint: Any = None) -> Any:
        """Return a pipeline."""
        return super().pipeline(transaction, shard_hint)


class _WorksWhenFull:
    """A channel on which messages are taken and acknowledged whether or not there is room for more."""

    def _put(self, queue: str, message: Any, **options: Any) -> None:
        try:
            super()._put(queue, message, **options)  # type: ignore[misc]
        except OutOfMemoryError:
            # Workers that are woken make room: they record, and what is collected is freed.
            with self.conn_or_acquire() as client:  # type: ignore[attr-defined]
                client.eval(_PUSH_WHEN_FULL, 2, queue, f"{queue}:", dumps(message))

    def _get_client(self) -> type[Redis]:
        return _Client

    def _queue_bind(self, *binding: Any) -> None:
        # Whoever publishes binds the queue as well, once there is room.
        with suppress(OutOfMemoryError):
            super()._queue_bind(*binding)  # type: ignore[misc]


class Channel(_WorksWhenFull, redis.Channel):
    """A channel of one server."""

    connection_class = TcpConnection
    connection_class_ssl = TlsConnection


class SentinelChannel(_WorksWhenFull, redis.SentinelChannel):
    """A channel of the primary that sentinels name."""

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
        # Kombu closes what it finds here.
        if asynchronous:
            self._async_sentinel_manager = found
        else:
            self._sentinel_manager = found
        primary = found.master_for(self.master_name, **options)  # type: ignore[no-untyped-call]
        return primary.connection_pool


class Transport(redis.Transport):
    """Kombu's transport with that channel."""

    Channel = Channel


class SentinelTransport(redis.SentinelTransport):
    """Kombu's transport with sentinels."""

    Channel = SentinelChannel


def name_transports(one_server: type[Any], sentinels: type[Any]) -> None:
    """Let kombu find these transports by our names in this process."""
    for name, found in ((ONE_SERVER, one_server), (SENTINELS, sentinels)):
        transport.TRANSPORT_ALIASES[name] = f"{found.__module__}:{found.__qualname__}"
        # There is no public way.
        transport._transport_cache.pop(name, None)  # type: ignore[attr-defined]  # noqa: SLF001


name_transports(Transport, SentinelTransport)
