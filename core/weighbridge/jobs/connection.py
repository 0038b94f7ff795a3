"""Connections to Redis: patient with a server that restarts, and clear when it cannot be used."""

from __future__ import annotations

from contextlib import contextmanager
from ssl import SSLCertVerificationError
from typing import TYPE_CHECKING, Any, TypeVar

from redis import Redis
from redis.backoff import ExponentialWithJitterBackoff
from redis.exceptions import (
    AuthenticationError,
    AuthorizationError,
    BusyLoadingError,
    ConnectionError,  # noqa: A004 - redis names it so, and it is not the built-in one
    NoPermissionError,
    OutOfMemoryError,
    RedisError,
    TimeoutError,  # noqa: A004 - likewise
)
from redis.retry import Retry

from weighbridge.errors import ServerError, ServerFullError, ServerUnavailableError
from weighbridge.settings import masked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

T = TypeVar("T")

CONNECT_SECONDS = 5.0
ANSWER_SECONDS = 30.0
IMPATIENT_ANSWER_SECONDS = 8.0  #: over the longest that a read for news waits
PATIENCE_TRIES = 25  #: with a growing pause of at most 1 s: a restart of the server is waited out


class _Patience(Retry):
    """Waits for a server that may come back; one that refuses us will not change its mind."""

    def call_with_retry(
        self,
        do: Callable[[], T],
        fail: Callable[[Exception], Any] | Callable[[Exception, int], Any],
        is_retryable: Callable[[Exception], bool] | None = None,
        with_failure_count: bool = False,
    ) -> T:
        """Do something, again and again while it fails for what may pass."""

        def may_pass(error: Exception) -> bool:
            return not _is_refusal(error) and (is_retryable is None or is_retryable(error))

        return super().call_with_retry(do, fail, may_pass, with_failure_count)


def _is_refusal(error: Exception) -> bool:
    reasons = (error, error.__cause__, error.__context__)
    refusals = (AuthenticationError, AuthorizationError, SSLCertVerificationError)
    return any(isinstance(reason, refusals) for reason in reasons)


def is_cluster(url: str) -> bool:
    """Whether a URL is that of a Redis Cluster."""
    return url.startswith("redis+cluster://")


def connect(url: str, *, patient: bool = True) -> Redis:
    """Return a client whose every command may be sent twice: ours are idempotent, and a dropped reply is no failure."""
    retry = _Patience(
        ExponentialWithJitterBackoff(cap=1.0, base=0.02), PATIENCE_TRIES if patient else 1
    )
    try:
        url.encode()  # raises where an environment variable was no UTF-8
        return Redis.from_url(
            url,
            retry=retry,
            retry_on_error=[ConnectionError, TimeoutError, BusyLoadingError],
            socket_timeout=ANSWER_SECONDS if patient else IMPATIENT_ANSWER_SECONDS,
            socket_connect_timeout=CONNECT_SECONDS,
            health_check_interval=25,
            protocol=2,
        )
    except ValueError:
        raise not_a_url(url) from None


def not_a_url(url: str) -> ServerError:
    """Return the error for what cannot be read as a URL; why not is left out, for it may quote a password."""
    return ServerError(
        f"not a Redis URL: {masked(url)!r}",
        "write redis://[[user]:password@]host[:port][/db], rediss:// for TLS, or unix:///path/to.sock?db=0;"
        " in a password write / ? # and @ as %2F %3F %23 and %40",
    )


@contextmanager
def plain_errors() -> Iterator[None]:
    """Turn the client library's errors into ours."""
    try:
        yield
    except OutOfMemoryError as error:
        raise ServerFullError(
            "Redis has no memory left", "raise its maxmemory, or delete finished batches"
        ) from error
    except (AuthenticationError, AuthorizationError, NoPermissionError) as error:
        raise ServerError(
            f"Redis refused the login or the command: {error}", "check user, password and ACL"
        ) from error
    except (ConnectionError, TimeoutError) as error:
        raise ServerUnavailableError(
            f"no answer from Redis: {error}", "is the server up, and the URL right?"
        ) from error
    except RedisError as error:
        if "OOM" in str(error):
            raise ServerFullError(
                "Redis has no memory left", "raise its maxmemory, or delete finished batches"
            ) from error
        raise ServerError(f"Redis refused a command: {error}") from error
