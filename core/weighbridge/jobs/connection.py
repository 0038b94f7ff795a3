"""Connections to Redis: patient with a server that restarts, and clear when it cannot be used."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

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
    from collections.abc import Iterator

CONNECT_SECONDS = 5.0
ANSWER_SECONDS = 30.0
PATIENCE_TRIES = 25  #: with a growing pause of at most 1 s: a restart of the server is waited out


def connect(url: str, *, patient: bool = True) -> Redis:
    """Return a client whose every command may be sent twice: ours are idempotent, and a dropped reply is no failure."""
    retry = Retry(
        ExponentialWithJitterBackoff(cap=1.0, base=0.02), PATIENCE_TRIES if patient else 1
    )
    try:
        return Redis.from_url(
            url,
            retry=retry,
            retry_on_error=[ConnectionError, TimeoutError, BusyLoadingError],
            socket_timeout=ANSWER_SECONDS,
            socket_connect_timeout=CONNECT_SECONDS,
            health_check_interval=25,
            protocol=2,
        )
    except ValueError as error:
        raise ServerError(
            f"not a Redis URL: {masked(url)!r}: {error}",
            "write redis://[[user]:password@]host[:port][/db], rediss:// for TLS, or unix:///path/to.sock?db=0",
        ) from None


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
