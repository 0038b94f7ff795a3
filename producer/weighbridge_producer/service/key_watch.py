"""Keys that are revoked or expire: what they have open ends."""

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

LOOK_SECONDS = 1.0  #: between two reads of the keys in use, all of them by one command
PROJECT = "weighbridge.project"  #: of a request's scope: its key's project
_ENDED = "weighbridge.key_ended"
_log = logging.getLogger("weighbridge.http")


def key_ended(scope: MutableMapping[str, Any]) -> asyncio.Event:
    """Return the event of a request that is set when its key no longer opens anything."""
    event: asyncio.Event = scope.setdefault(_ENDED, asyncio.Event())
    return event


class KeyWatch:
    """The requests of this process that a key has opened."""

    def __init__(self, keys: ApiKeys) -> None:
        self._keys = keys
        self._open: dict[str, set[asyncio.Event]] = {}
        self._looking: asyncio.Task[None] | None = None
        # A thread of its own: slow requests must not put off the end of what a revoked key has open.
        self._threads = CapacityLimiter(1)

    def add(self, key_id: str, ended: asyncio.Event) -> None:
        """Set an event once a key is no longer valid."""
        self._open.setdefault(key_id, set()).add(ended)
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look_on())

    def remove(self, ended: asyncio.Event) -> None:
        """Forget a request that has ended."""
        for key_id, events in list(self._open.items()):
            events.discard(ended)
            if not events:
                del self._open[key_id]

    async def close(self) -> None:
        """Look no more."""
        if self._looking:
            self._looking.cancel()
            with suppress(asyncio.CancelledError):
                await self._looking

    async def _look_on(self) -> None:
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
                continue  # nobody learns anything from a store that does not answer
            for key_id in set(watched) - valid:
                self._end(key_id)

    def _end(self, key_id: str) -> None:
        events = self._open.pop(key_id, set())
        if events:
            _log.info("key %s is revoked or expired: %d requests end", key_id, len(events))
        for event in events:
            event.set()
