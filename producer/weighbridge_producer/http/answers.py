"""Answers on their way out: in pieces, counted while they wait, and for so long only."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from weighbridge.jobs.projects import DEFAULT_PROJECT
from weighbridge.settings import KIB
from weighbridge_producer.http.key_watch import PROJECT
from weighbridge_producer.http.turns import end_turn, has_turn

if TYPE_CHECKING:
    from starlette.types import Message, Scope, Send

    from weighbridge_producer.http.limits import ByteBudget

PIECE_BYTES = (
    256 * KIB
)  #: handed on at once; a connection keeps no more than that and what waits in its buffers
LEAST_BYTES_PER_SECOND = (
    256 * KIB
)  #: at which a large answer is read, or its memory is not for others
_PATIENCE_SECONDS = 60.0  #: on top of that


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
        body = message.get("body", b"")
        if len(body) <= PIECE_BYTES and not has_turn(self._scope):
            await self._send(message)
            return
        project = self._scope.get(PROJECT, DEFAULT_PROJECT)
        with await self._budget.turn(project, max(1, len(body))):
            end_turn(self._scope)
            await self._send_within_time(body, message)

    async def _send_within_time(self, body: bytes, message: Message) -> None:
        try:
            async with asyncio.timeout(_PATIENCE_SECONDS + len(body) / LEAST_BYTES_PER_SECOND):
                last = 0
                for last in range(0, len(body) - PIECE_BYTES, PIECE_BYTES):
                    piece = body[last : last + PIECE_BYTES]
                    await self._send({**message, "body": piece, "more_body": True})
                rest = body[last + PIECE_BYTES :] if len(body) > PIECE_BYTES else body
                await self._send({**message, "body": rest})
        except TimeoutError:
            raise SlowReaderError from None
