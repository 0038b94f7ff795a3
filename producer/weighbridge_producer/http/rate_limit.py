"""How often somebody may ask: counted in the store, for all copies of the service together."""

from __future__ import annotations

import time
from hashlib import sha256
from typing import Any

from weighbridge.errors import RateLimitedError
from weighbridge.jobs.connection import plain_errors

WINDOW_SECONDS = 60


class RateLimit:
    """Counts requests in windows of one minute."""

    def __init__(self, redis: Any) -> None:
        self._redis = redis

    def count(self, what: str, who: str, most: int) -> None:
        """Count one request of somebody's; raise RateLimitedError past `most` in this window."""
        now = time.time()
        window, passed = divmod(now, WINDOW_SECONDS)
        # Addresses and ids may hold anything; a digest is short, and no part of a key's syntax.
        name = f"wb:rate:{what}:{sha256(who.encode()).hexdigest()[:32]}:{int(window)}"
        with plain_errors():
            pipe = self._redis.pipeline(transaction=False)
            pipe.incr(name)
            pipe.expire(name, 2 * WINDOW_SECONDS)
            count = int(pipe.execute()[0])
        if count > most:
            raise RateLimitedError(most, int(WINDOW_SECONDS - passed) + 1)
