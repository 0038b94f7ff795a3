"""Answers on their way out: in pieces, counted while they wait, and for so long only."""

from __future__ import annotations

import asyncio
import time
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from weighbridge.settings import KIB
from weighbridge_producer.service.limits import end_turn, project_of

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, MutableMapping

    from starlette.types import Message, Scope, Send

    from weighbridge_producer.service.limits import ByteBudget

PIECE_BYTES = (
    256 * KIB
)  #: handed on at once; a connection keeps no more than that and what waits in its buffers
LEAST_BYTES_PER_SECOND = (
    256 * KIB
)  #: at which a large answer is read, or its memory is not for others
_TIMEOUT_SECONDS = 60.0  #: on top of that


class SlowReaderError(Exception):
    """A large answer is read too slowly."""


class AnswerSender:
    """Sends one answer. What is large is counted in a budget that all answers share, and waits for its turn in it."""

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
    """Yield what is to be sent in pieces, the request's turn ended and what is large counted meanwhile.

    Raises SlowReaderError when they are taken too slowly.
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
    """Return how long a large body may take to be read."""
    return _TIMEOUT_SECONDS + len(body) / LEAST_BYTES_PER_SECOND
