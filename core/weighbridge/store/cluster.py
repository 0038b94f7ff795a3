"""Client for a Redis Cluster that retries while nodes restart, as the client for one server does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from redis.cluster import ClusterNode, ClusterPipeline, RedisCluster
from redis.exceptions import (
    ConnectionError,  # noqa: A004 - redis names it so, and it is not the built-in one
    RedisClusterException,
    SlotNotCoveredError,
    TimeoutError,  # noqa: A004 - likewise
)
from typing_extensions import override

from weighbridge.store.failover import is_failover

if TYPE_CHECKING:
    from collections.abc import Callable

    from redis.retry import Retry

    from weighbridge.store.addresses import ServerGroup

T = TypeVar("T")


class RetryingCluster(RedisCluster):
    """redis-py's cluster client with pauses between attempts, because its own retries end within milliseconds."""

    def __init__(self, outer_retry: Retry, **options: Any) -> None:
        self._outer_retry = outer_retry
        super().__init__(**options)

    @override
    def execute_command(self, *args: Any, **kwargs: Any) -> Any:
        """Send a command to its nodes."""
        send: Callable[..., Any] = super().execute_command
        return _with_retries(self._outer_retry, lambda: send(*args, **kwargs))

    @override
    def pipeline(
        self, transaction: bool | None = None, shard_hint: Any = None
    ) -> _RetryingPipeline:
        """Return a pipeline, which sends each node its commands together."""
        return _RetryingPipeline(
            self._outer_retry,
            nodes_manager=self.nodes_manager,
            commands_parser=self.commands_parser,
            startup_nodes=self.nodes_manager.startup_nodes,
            result_callbacks=self.result_callbacks,
            cluster_response_callbacks=self.cluster_response_callbacks,
            reinitialize_steps=self.reinitialize_steps,
            retry=self.retry,
            lock=self._lock,
            transaction=bool(transaction),
        )


class _RetryingPipeline(ClusterPipeline):
    """A pipeline that is retried as a whole, which is safe because our commands are idempotent."""

    def __init__(self, outer_retry: Retry, **options: Any) -> None:
        super().__init__(**options)
        self._outer_retry = outer_retry
        self._commands: list[tuple[tuple[Any, ...], dict[str, Any]]] = []

    @override
    def execute_command(self, *args: Any, **kwargs: Any) -> Any:
        """Queue a command for `execute`."""
        self._commands.append((args, kwargs))
        return self

    @override
    def execute(self, raise_on_error: bool = True) -> list[Any]:
        """Send the commands, and return their replies in order."""
        commands, self._commands = self._commands, []

        def send() -> list[Any]:
            for args, kwargs in commands:
                ClusterPipeline.execute_command(self, *args, **kwargs)  # type: ignore[no-untyped-call]
            return ClusterPipeline.execute(self, raise_on_error)

        return _with_retries(self._outer_retry, send)


def connect_cluster(group: ServerGroup, retry: Retry, **options: Any) -> RetryingCluster:
    """Return a client that is connected to a cluster. Raises redis-py's errors."""
    login = group.connection_options()
    login.pop("db", None)

    def build() -> RetryingCluster:
        nodes = [ClusterNode(*host) for host in group.hosts]  # type: ignore[no-untyped-call]
        return RetryingCluster(retry, startup_nodes=nodes, **options, **login)

    return _with_retries(retry, build)


def is_cluster(client: object) -> bool:
    """Return whether a client is for a cluster, where the keys of one command or script must share a hash tag."""
    return isinstance(client, RedisCluster)


def _with_retries(retry: Retry, do: Callable[[], T]) -> T:
    return retry.call_with_retry(do, lambda _: None, is_transient)


def is_transient(error: Exception) -> bool:
    """Return whether a cluster's error may be transient."""
    if isinstance(error, RedisClusterException):
        lacks_nodes = "cannot be connected" in str(error) or "not covered" in str(error)
        return lacks_nodes or isinstance(error, SlotNotCoveredError)
    return isinstance(error, ConnectionError | TimeoutError) or is_failover(error)
