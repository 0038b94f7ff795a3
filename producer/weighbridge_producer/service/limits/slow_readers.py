"""Cut off connections that read too slowly."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weighbridge.settings import KIB, MIB

if TYPE_CHECKING:
    import asyncio

STALL_SECONDS = 60.0
LEAST_BYTES = 64 * KIB  #: that a client must read in each period
_HELD_BYTES = 128 * MIB  #: buffered for all connections together


class SlowReaders:
    """The connections of one service with unread responses, longest waiting first."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._timers: dict[asyncio.Transport, asyncio.TimerHandle] = {}

    def add(self, transport: asyncio.Transport) -> None:
        """Watch a connection; if too many bytes are buffered, close those that have waited longest."""
        self._watch(transport)
        held = sum(each.get_write_buffer_size() for each in self._timers)
        while held > _HELD_BYTES and len(self._timers) > 1:
            longest = next(iter(self._timers))
            held -= longest.get_write_buffer_size()
            self._abort(longest)

    def remove(self, transport: asyncio.Transport) -> None:
        """Stop watching a connection."""
        if timer := self._timers.pop(transport, None):
            timer.cancel()

    def _watch(self, transport: asyncio.Transport) -> None:
        left = transport.get_write_buffer_size()
        self._timers[transport] = self._loop.call_later(STALL_SECONDS, self._check, transport, left)

    def _check(self, transport: asyncio.Transport, before: int) -> None:
        if before - transport.get_write_buffer_size() < LEAST_BYTES:
            self._abort(transport)
        else:
            self._watch(transport)

    def _abort(self, transport: asyncio.Transport) -> None:
        self.remove(transport)
        transport.abort()
