"""What every route needs: the settings, the store's client, the keys, and who may ask."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

from anyio import CapacityLimiter
from fastapi import Depends
from starlette.requests import HTTPConnection

from weighbridge.jobs.api_keys import ApiKeys
from weighbridge.settings import MIB
from weighbridge_producer.http.held_bytes import HeldBytes
from weighbridge_producer.http.live import LiveBatches
from weighbridge_producer.http.metrics import RequestMetrics
from weighbridge_producer.http.places import Places
from weighbridge_producer.http.rate_limit import RateLimit
from weighbridge_producer.http.upload import Uploads
from weighbridge_producer.trials import Trials

if TYPE_CHECKING:
    from weighbridge.settings import Settings
    from weighbridge_producer.client import RedisClient

_HELD_BYTES = 256 * MIB  #: of forms and single jobs, while they arrive
_STREAMS = 64  #: of results, at once: each holds some megabytes
_STREAMS_OF_ONE = 32  #: of them, for one key
_STREAM_THREADS = 8  #: that read results for streams
_PROBE_THREADS = 2  #: that ask whether the store answers
_PREVIEW_THREADS = 2  #: that look at the beginnings of inputs


class Service:
    """One copy of the service; it keeps nothing that another copy would miss."""

    def __init__(self, client: RedisClient, *, keys_required: bool = True) -> None:
        self.client = client
        self.settings: Settings = client.settings
        self.keys = ApiKeys(client.store.redis)
        self.rate_limit = RateLimit(client.store.redis)
        self.metrics = RequestMetrics()
        self.trials = Trials(client.settings)
        #: Set when the process is about to end: event streams end then.
        self.closing = asyncio.Event()
        self.uploads = Uploads(client.settings.uploads_at_once)
        self.result_streams = Places(_STREAMS, _STREAMS_OF_ONE)
        self.held_bytes = HeldBytes(_HELD_BYTES)
        self.stream_threads = CapacityLimiter(_STREAM_THREADS)
        self.probe_threads = CapacityLimiter(_PROBE_THREADS)
        self.preview_threads = CapacityLimiter(_PREVIEW_THREADS)
        self.live = LiveBatches(client, self.closing)
        self.keys_required = keys_required  #: False only where nobody but this machine can ask
        names = (name.strip().lower() for name in (client.settings.public_hosts or "").split(","))
        #: The names it answers to, besides this machine's own; empty: any, where keys are required.
        self.public_hosts = frozenset(filter(None, names))


def served(connection: HTTPConnection) -> Service:
    """Return the service that an application was made for."""
    service: Service = connection.app.state.service
    return service


Served = Annotated[Service, Depends(served)]
