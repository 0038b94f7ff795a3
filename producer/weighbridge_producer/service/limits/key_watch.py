"""Ends the open requests of keys that are revoked or expire."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import TYPE_CHECKING

from anyio import CapacityLimiter, to_thread

from weighbridge.errors import ServerError

if TYPE_CHECKING:
    from collections.abc import MutableMapping
    from typing import Any

    from weighbridge.store.api_keys import ApiKeys

LOOK_SECONDS = 1.0  #: between two checks of all keys in use, with one command
PROJECT = "weighbridge.project"  #: entry in a request's scope with its key's project
_ENDED = "weighbridge.key_ended"
_log = logging.getLogger("weighbridge.http")


def key_ended(scope: MutableMapping[str, Any]) -> asyncio.Event:
    """Return a request's event that is set when its key is no longer valid."""
    event: asyncio.Event = scope.setdefault(_ENDED, asyncio.Event())
    return event


class KeyWatch:
    """The open requests of this process, by key."""

    def __init__(self, keys: ApiKeys) -> None:
        self._keys = keys
        self._open: dict[str, set[asyncio.Event]] = {}
        self._looking: asyncio.Task[None] | None = None
        # A separate thread, so that slow requests do not delay the check.
        self._threads = CapacityLimiter(1)

    def add(self, key_id: str, ended: asyncio.Event) -> None:
        """Register an event to be set when a key is no longer valid."""
        self._open.setdefault(key_id, set()).add(ended)
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._poll())

    def remove(self, ended: asyncio.Event) -> None:
        """Remove the event of a request that has ended."""
        for key_id, events in list(self._open.items()):
            events.discard(ended)
            if not events:
                del self._open[key_id]

    async def close(self) -> None:
        """Stop checking."""
        if self._looking:
            self._looking.cancel()
            with suppress(asyncio.CancelledError):
                await self._looking

    async def _poll(self) -> None:
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            if not self._open:
                return
            watched = list(self._open)
            try:
                valid = await to_thread.run_sync(
                    self._keys.valid_among, watched, limiter=self._threads
                )
            except ServerError:
                continue  # the store does not answer: no information about keys
            for key_id in set(watched) - valid:
                self._end(key_id)

    def _end(self, key_id: str) -> None:
        events = self._open.pop(key_id, set())
        if events:
            _log.info(
                "API key %s is no longer valid: ending %d open request(s)", key_id, len(events)
            )
        for event in events:
            event.set()
