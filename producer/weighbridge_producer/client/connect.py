"""The kinds of client: which one speaks to a URL, by its scheme."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weighbridge.errors import ServerError
from weighbridge.settings import read_settings

if TYPE_CHECKING:
    from weighbridge.settings import Settings
    from weighbridge_producer.client.base import Client


def kind_for(url: str | None, settings: Settings | None) -> type[Client]:
    """Return the class of client for a URL or, without one, for what the settings name."""
    if url is None:
        settings = settings or read_settings()
        over_http = settings.api_url is not None
    elif "://" not in url:
        raise ServerError(
            "the address names no scheme",
            "write http://host:port for a service, or redis://host:port/db for a Redis",
        )
    else:
        over_http = url.strip().lower().startswith(("http://", "https://"))
    if over_http:
        from weighbridge_producer.client.http_client import HttpClient

        return HttpClient
    from weighbridge_producer.client.redis_client import RedisClient

    return RedisClient
