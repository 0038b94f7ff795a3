"""Fail fast when the Redis server does not answer."""

from __future__ import annotations

from contextlib import closing

from weighbridge.errors import ServerError
from weighbridge.settings import masked
from weighbridge.store.addresses import checked_url
from weighbridge.store.connection import connect, translate_errors


def check_connection(url: str) -> None:
    """Raise ServerError, which names the server, unless one answers within seconds.

    Later commands are retried instead: a server that has answered once and is silent is likely to come back.
    """
    checked_url(url)  # what is no address at all is told as that
    try:
        with closing(connect(url, retry=False)) as redis, translate_errors():
            redis.ping()
    except ServerError as error:
        raise type(error)(f"{masked(url)}: {error.message}", error.hint) from error
