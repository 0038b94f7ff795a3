"""The client that stands on `weighbridge serve`: the same methods as over Redis, by HTTP."""

from __future__ import annotations

from weighbridge_producer.interface import Client


class HttpClient(Client):
    """A connection to a `weighbridge serve`."""
