"""Sending of responses: large ones in pieces, with limits on buffered bytes and on time."""

from __future__ import annotations

import asyncio
import time
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from weighbridge.settings import KIB
from weighbridge_producer.service.limits.slots import end_turn, project_of

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, MutableMapping

    from starlette.types import Message, Scope, Send

    from weighbridge_producer.service.limits.slots import ByteBudget

PIECE_BYTES = 256 * KIB  #: sent at a time, so that a connection buffers little more than this
LEAST_BYTES_PER_SECOND = 256 * KIB  #: minimum rate at which a client must read a large response
_TIMEOUT_SECONDS = 60.0  #: added to the time at the minimum rate


class SlowReaderError(Exception):
    """The client reads a large response too slowly."""


class ResponseSender:
    """Sends one response; a large one waits for its share of a byte budget common to all responses."""

    def __init__(self, scope: Scope, send: Send, budget: ByteBudget) -> None:
        self._scope = scope
        self._send = send
        self._budget = budget

    async def send(self, message: Message) -> None:
        """Send one piece of the body."""
        if len(message.get("body", b"")) <= PIECE_BYTES:
            end_turn(self._scope)
            await self._send(message)
            return
        body = message.pop("body")
        try:
            async with (
                asyncio.timeout(_seconds_for(body)),
                aclosing(counted_pieces(self._scope, self._budget, body)) as pieces,
            ):
                async for piece in pieces:
                    await self._send({**message, "body": piece, "more_body": True})
                await self._send({**message, "body": b""})
        except TimeoutError:
            raise SlowReaderError from None


async def counted_pieces(
    scope: MutableMapping[str, Any], budget: ByteBudget, body: bytes
) -> AsyncGenerator[bytes]:
    """Yield a body in pieces; a large body is counted in the budget until it is sent, and the request's turn ends.

    Raises SlowReaderError if the pieces are read too slowly.
    """
    if len(body) <= PIECE_BYTES:
        end_turn(scope)
        yield body
        return
    with await budget.turn(project_of(scope), len(body)):
        end_turn(scope)
        deadline = time.monotonic() + _seconds_for(body)
        for first in range(0, len(body), PIECE_BYTES):
            if time.monotonic() > deadline:
                raise SlowReaderError
            yield body[first : first + PIECE_BYTES]


def _seconds_for(body: bytes) -> float:
    """Return the time limit for sending a large body."""
    return _TIMEOUT_SECONDS + len(body) / LEAST_BYTES_PER_SECOND
