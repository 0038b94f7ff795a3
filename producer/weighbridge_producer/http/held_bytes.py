"""What requests hold in memory while they arrive, all of them together."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from weighbridge_producer.http.problems import ProblemError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class HeldBytes:
    """Counts the bytes of bodies that are kept whole, and refuses more than there is room for."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._held = 0

    @contextmanager
    def account(self) -> Iterator[Callable[[int], None]]:
        """Give a function that counts what one request brings; all of it is let go at the end."""
        taken = 0

        def take(size: int) -> None:
            nonlocal taken
            if self._held + size > self._most:
                raise ProblemError(
                    503,
                    "TOO_MANY_BODIES",
                    f"the requests that arrive have over {self._most:,} bytes together",
                    "send it again in a moment",
                    {"Retry-After": "5", "Connection": "close"},
                )
            self._held += size
            taken += size

        try:
            yield take
        finally:
            self._held -= taken
