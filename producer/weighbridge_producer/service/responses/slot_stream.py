"""A streamed response that holds slots until its end."""

from __future__ import annotations

from contextlib import ExitStack, aclosing
from typing import TYPE_CHECKING

from starlette.responses import StreamingResponse

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from starlette.types import Receive, Scope, Send

    from weighbridge_producer.service.limits.slots import Slot


class HeldStream(StreamingResponse):
    """A stream that releases its slots when it ends, normally or not."""

    def __init__(
        self,
        pieces: AsyncGenerator[bytes],
        slots: list[Slot],
        media_type: str,
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(pieces, media_type=media_type, headers=headers)
        self._pieces = pieces
        self._slots = slots

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the stream."""
        with ExitStack() as held:
            for slot in self._slots:
                held.enter_context(slot)
            async with aclosing(self._pieces):
                await super().__call__(scope, receive, send)
