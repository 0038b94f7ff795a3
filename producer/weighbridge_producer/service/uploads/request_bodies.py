"""Reading of request bodies with limits on size and time."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from weighbridge.settings import MIB
from weighbridge.store.projects import DEFAULT_PROJECT
from weighbridge_producer.service.problems import ProblemError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from fastapi import Request

    from weighbridge_producer.service.limits.slots import ByteBudget

#: Read and discarded beyond the limit, so that the client receives the error instead of a broken connection.
_DRAINED_BYTES = 16 * MIB
_BODY_SECONDS = 60.0
_CLOSE = {"Connection": "close"}  #: otherwise the rest of the body would be read and discarded


async def whole_body(request: Request, limit_bytes: int, project: str = DEFAULT_PROJECT) -> bytes:
    """Return a request's body; raises ProblemError if it is too large or takes too long."""
    async with with_body_timeout():
        body = await _body_within(request, limit_bytes, project)
    if body is None:
        raise ProblemError(
            413,
            "BODY_TOO_LARGE",
            f"the body has more than {limit_bytes:,} bytes",
            "submit it as a batch, or raise WEIGHBRIDGE_TRY_IT_LIMIT_BYTES",
            _CLOSE,
        )
    return body


@asynccontextmanager
async def with_body_timeout() -> AsyncIterator[None]:
    """Raise ProblemError if reading a body inside the context takes too long."""
    try:
        async with asyncio.timeout(_BODY_SECONDS):
            yield
    except TimeoutError:
        raise ProblemError(
            408,
            "BODY_TOO_SLOW",
            f"the body did not arrive within {_BODY_SECONDS:g} s",
            "send it again",
            _CLOSE,
        ) from None


def declared_size(request: Request) -> int:
    """Return the Content-Length of a request; 0 if it has none."""
    declared = request.headers.get("content-length", "")
    return int(declared) if declared.isdecimal() and len(declared) < 20 else 0


async def _body_within(request: Request, limit_bytes: int, project: str) -> bytes | None:
    if declared_size(request) > limit_bytes + _DRAINED_BYTES:
        return None
    body, size = bytearray(), 0
    # Annotated here because that module imports this one.
    held: ByteBudget = request.app.state.service.arriving_bytes
    with held.account(project) as take:
        async for part in request.stream():
            size += len(part)
            if size <= limit_bytes:
                take(len(part))
                body += part
            elif size > limit_bytes + _DRAINED_BYTES:
                break
    return bytes(body) if size <= limit_bytes else None
