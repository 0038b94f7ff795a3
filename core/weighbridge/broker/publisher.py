"""The sending of wake-up messages, which announce work on a queue."""

from __future__ import annotations

from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

from redis.exceptions import OutOfMemoryError

from weighbridge.broker.wake_up import WakeUp
from weighbridge.errors import ServerError, ServerUnavailableError
from weighbridge.settings import masked
from weighbridge.store.addresses import checked_url, parse_group
from weighbridge.store.connection import connect, translate_errors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weighbridge.settings import Settings

#: A full server rejects LPUSH, but not in a script that starts with a removal. The second key is unused.
_PUSH_WHEN_FULL = "redis.call('UNLINK', KEYS[2]) return redis.call('LPUSH', KEYS[1], ARGV[1])"


def checked_broker(url: str) -> str:
    """Return the URL of a broker if Celery can use it; raises ServerError."""
    group = parse_group(checked_url(url))
    if group and group.kind == "cluster":
        raise ServerError(
            f"Celery's broker cannot be a Redis Cluster: {masked(url)}",
            "set WEIGHBRIDGE_BROKER_URL to a separate Redis server, redis:// or redis+sentinel://, for all"
            " producers, workers and services; the cluster remains the store",
        )
    return url


class Publisher:
    """Sends wake-up messages; lost or duplicate ones do no harm."""

    def __init__(self, settings: Settings, url: str, *, retry: bool = True) -> None:
        """Prepare to send to a broker, without connecting; with `retry`, `wake` waits while the broker restarts."""
        self.url = checked_broker(url)
        self.queue = settings.queue
        self._retry = retry

    def message(self, queue: str) -> bytes:
        """Return a message that wakes a worker of a queue, to be pushed to the queue's list."""
        return WakeUp().to_bytes(queue)

    def wake(self, queue: str = "", lane: str = "", hops: int = 0) -> None:
        """Wake a worker of a queue, by default the settings' queue."""
        queue = queue or self.queue
        message = WakeUp(lane=lane, hops=hops).to_bytes(queue)
        with self._named_errors():
            try:
                self._sender.lpush(queue, message)
            except OutOfMemoryError:
                # Workers free memory: they record results, and collected results are freed.
                push = self._sender.register_script(_PUSH_WHEN_FULL)
                push(keys=[queue, f"{queue}:"], args=[message])

    def queue_length(self, queue: str = "") -> int:
        """Return the number of messages waiting on a queue, by default the settings' queue."""
        with self._named_errors():
            return int(self._observer.llen(queue or self.queue))

    @contextmanager
    def _named_errors(self) -> Iterator[None]:
        """Translate errors to ours, and name the broker in those of a server that does not answer."""
        try:
            with translate_errors():
                yield
        except ServerUnavailableError as error:
            raise ServerUnavailableError(
                f"no answer from the broker {masked(self.url)}: {error.message}",
                "is the broker running, and is the URL right?",
            ) from error

    @cached_property
    def _sender(self) -> Any:
        return connect(self.url, retry=self._retry)

    @cached_property
    def _observer(self) -> Any:
        # Whoever asks for the length of a queue would rather know that there is no answer.
        return connect(self.url, retry=False)

    def close(self) -> None:
        """Close the connections."""
        for name in ("_sender", "_observer"):
            if name in self.__dict__:
                self.__dict__.pop(name).close()
