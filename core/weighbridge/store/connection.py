"""Connections to Redis that retry while a server restarts, and translate redis-py's errors to ours."""

from __future__ import annotations

from contextlib import contextmanager
from functools import cache
from ssl import SSLCertVerificationError
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from redis import DriverInfo, Redis, RedisCluster
from redis.backoff import ExponentialWithJitterBackoff, NoBackoff
from redis.exceptions import (
    AuthenticationError,
    AuthorizationError,
    BusyLoadingError,
    ConnectionError,  # noqa: A004 - redis names it so, and it is not the built-in one
    NoPermissionError,
    OutOfMemoryError,
    RedisClusterException,
    RedisError,
    ResponseError,
    TimeoutError,  # noqa: A004 - likewise
)
from redis.retry import Retry

from weighbridge.errors import (
    CertificateError,
    ServerError,
    ServerFullError,
    ServerUnavailableError,
)
from weighbridge.store.addresses import checked_url, invalid_url, parse_group
from weighbridge.store.cluster import connect_cluster, is_cluster, is_transient
from weighbridge.store.failover import (
    CONNECTIONS,
    SentinelConnection,
    Sentinels,
    SentinelTlsConnection,
    TcpConnection,
    is_failover,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from weighbridge.store.addresses import ServerGroup

__all__ = [
    "connect",
    "evicting_policy",
    "invalid_url",
    "is_cluster",
    "memory_share",
    "server_time",
    "translate_errors",
]

T = TypeVar("T")

_KEEPS = "noeviction"  #: the policy with which a full server refuses writes
CONNECT_SECONDS = 5.0
ANSWER_SECONDS = 30.0
NO_RETRY_ANSWER_SECONDS = 8.0  #: more than the longest blocking read
RETRIES = 25  #: with growing pauses of at most 1 s, which outlasts a restart of the server


class _RetryPolicy(Retry):
    """Retries unless the server has refused the login or its certificate is invalid."""

    def call_with_retry(
        self,
        do: Callable[[], T],
        fail: Callable[[Exception], Any] | Callable[[Exception, int], Any],
        is_retryable: Callable[[Exception], bool] | None = None,
        with_failure_count: bool = False,
    ) -> T:
        """Call `do`, and repeat it after errors that may be transient."""

        def is_transient(error: Exception) -> bool:
            return not _is_refusal(error) and (is_retryable is None or is_retryable(error))

        return super().call_with_retry(do, fail, is_transient, with_failure_count)


def _is_refusal(error: Exception) -> bool:
    reasons = (error, error.__cause__, error.__context__)
    refusals = (AuthenticationError, AuthorizationError, SSLCertVerificationError)
    return any(isinstance(reason, refusals) for reason in reasons)


def connect(url: str, *, retry: bool = True) -> Any:
    """Return a client that repeats a command if its reply is lost, because all our commands are idempotent.

    It is a `Redis` or, for `redis+cluster://`, a `RedisCluster`; see `is_cluster`. Only the latter connects at once.
    """
    group = parse_group(checked_url(url))
    options = {
        "socket_timeout": ANSWER_SECONDS if retry else NO_RETRY_ANSWER_SECONDS,
        "socket_connect_timeout": CONNECT_SECONDS,
        "health_check_interval": 25,
        "protocol": 2,
        "driver_info": _driver(),
    }
    tries = RETRIES if retry else 1
    try:
        if group is None:
            connection = CONNECTIONS.get(urlsplit(url).scheme.lower(), TcpConnection)
            return Redis.from_url(url, connection_class=connection, **_retries(tries), **options)
        if group.kind == "sentinel":
            return _primary(group, _retries(tries) | options)
        with translate_errors():
            return connect_cluster(group, _cluster_retry(tries), **options)
    except ValueError:
        raise invalid_url(url) from None


@cache
def _driver() -> DriverInfo:
    """Return what a client tells a server about redis-py, which reads its version from a file for each connection."""
    return DriverInfo()


def _retries(tries: int) -> dict[str, Any]:
    return {
        "retry": _RetryPolicy(_backoff(), tries),
        "retry_on_error": [ConnectionError, TimeoutError, BusyLoadingError],
    }


def _cluster_retry(tries: int) -> Retry:
    errors = (ConnectionError, TimeoutError, RedisClusterException, ResponseError)
    return _RetryPolicy(_backoff(), tries, supported_errors=errors)


def _backoff() -> ExponentialWithJitterBackoff:
    return ExponentialWithJitterBackoff(cap=1.0, base=0.02)


def _primary(group: ServerGroup, options: dict[str, Any]) -> Redis:
    """Return a client that asks the sentinels for the primary on every connect."""
    login = group.connection_options()
    sentinels = Sentinels(group.hosts, sentinel_options(group))
    tls = login.pop("ssl", False)
    primary: Redis = sentinels.master_for(  # type: ignore[no-untyped-call]
        group.service,
        connection_class=SentinelTlsConnection if tls else SentinelConnection,
        **options,
        **login,
    )
    return primary


def sentinel_options(group: ServerGroup) -> dict[str, Any]:
    """Return redis-py's connection options for a sentinel; TLS options are those of the servers."""
    login = group.connection_options()
    tls = {name: value for name, value in login.items() if name.startswith("ssl")}
    return {
        "socket_timeout": CONNECT_SECONDS,
        "socket_connect_timeout": CONNECT_SECONDS,
        "protocol": 2,
        # If a sentinel does not answer, the next one is asked at once.
        "retry": Retry(NoBackoff(), 0),
        **tls,
        **group.sentinel_login,
    }


@contextmanager
def translate_errors() -> Iterator[None]:
    """Translate redis-py's errors to ours."""
    try:
        yield
    except OutOfMemoryError as error:
        raise ServerFullError(
            "Redis has no memory left", "raise its maxmemory, or delete finished batches"
        ) from error
    except NoPermissionError as error:
        raise ServerError(
            f"Redis refused a command: {error}",
            "the user in the URL has no right to this; of those in deploy/redis-acl.conf, weighbridge-operator may run every"
            " command but `worker` and `serve`",
        ) from error
    except (AuthenticationError, AuthorizationError) as error:
        raise ServerError(
            f"Redis refused the login: {error}", "check the user and the password in the URL"
        ) from error
    except (ConnectionError, TimeoutError) as error:
        if refused := CertificateError.reason_in(error):
            raise CertificateError(
                f"the certificate of Redis is not valid here: {refused}",
                "of an authority of your own, name the certificate in the URL: ?ssl_ca_certs=/path/to/ca.pem",
            ) from error
        raise ServerUnavailableError(
            f"no answer from Redis: {error}", "is Redis running, and is the URL right?"
        ) from error
    except RedisClusterException as error:
        if is_transient(error):
            raise ServerUnavailableError(
                f"no answer from the Redis Cluster: {error}", "are all its masters running?"
            ) from error
        raise ServerError(f"the Redis Cluster refused a command: {error}") from error
    except RedisError as error:
        if is_failover(error):
            raise ServerUnavailableError(
                f"Redis has no primary at the moment: {error}", "wait for its failover to end"
            ) from error
        if "OOM" in str(error):
            raise ServerFullError(
                "Redis has no memory left", "raise its maxmemory, or delete finished batches"
            ) from error
        raise ServerError(f"Redis refused a command: {error}") from error


def server_time(client: Any) -> float:
    """Return the server's time in seconds since the epoch; clients' clocks may be wrong by hours."""
    with translate_errors():
        seconds, micros = client.time()
    return float(seconds + micros / 1e6)


def memory_share(client: Any) -> float:
    """Return the used share of a server's memory limit, 0.0 to 1.0; a cluster's fullest master; 0.0 without a limit."""
    with translate_errors():
        memories = _memories(client)
    return max(
        memory["used_memory"] / memory["maxmemory"] if memory.get("maxmemory") else 0.0
        for memory in memories
    )


def evicting_policy(client: Any) -> str:
    """Return the `maxmemory-policy` of a server that drops keys when its memory limit is reached; a cluster's first such master.

    It is empty for `noeviction`, without a limit, and if the server refuses to report it.
    """
    try:
        with translate_errors():
            memories = _memories(client)
    except ServerUnavailableError:
        raise
    except ServerError:
        return ""  # access rules may forbid INFO
    policies = (
        str(memory.get("maxmemory_policy", _KEEPS))
        for memory in memories
        if memory.get("maxmemory")
    )
    return next((policy for policy in policies if policy != _KEEPS), "")


def _memories(client: Any) -> list[dict[str, Any]]:
    """Return what the server, or each master of a cluster, reports of its memory."""
    if not is_cluster(client):
        return [client.info("memory")]
    reply = client.info("memory", target_nodes=RedisCluster.PRIMARIES)
    # If there is a single master, the reply is not keyed by node name.
    return [reply] if "used_memory" in reply else list(reply.values())
