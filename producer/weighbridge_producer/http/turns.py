"""Requests that take much memory or time take turns; who waits holds no thread."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from fastapi import Depends

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

_LARGE_READS = 4  #: of one case with its results, of up to 32 MiB each


async def _turn() -> AsyncIterator[None]:
    yield


#: Of a route's function; the answer is sent after it. Named behind the key, so that who has none does not wait.
LargeRead = Annotated[None, Depends(_turn, scope="function", max_concurrency=_LARGE_READS)]
