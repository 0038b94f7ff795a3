"""Rate limits, counted in the store for all instances of the service together."""

from __future__ import annotations

import math
from hashlib import sha256
from typing import Any

from weighbridge.errors import RateLimitedError
from weighbridge.store.connection import translate_errors
from weighbridge.store.key_names import shared_key

WINDOW_SECONDS = 60


#: Deletes an unused key first: on a full server, a script may write after it has deleted.
#: ARGV: length of a window (ms)
_COUNT = """
redis.call('DEL', KEYS[2])
local count, left = redis.call('INCR', KEYS[1]), redis.call('PTTL', KEYS[1])
if left < 0 then
  left = tonumber(ARGV[1])
  redis.call('PEXPIRE', KEYS[1], left)
end
return {count, left}
"""


class RateLimit:
    """Counts requests in windows of one minute that start with the first request."""

    def __init__(self, redis: Any) -> None:
        self._count = redis.register_script(_COUNT)

    def count(self, what: str, who: str, most: int) -> None:
        """Count one request of `who`; raises RateLimitedError above `most` in the window."""
        # A digest, because addresses and ids may contain any characters.
        name = shared_key(f"rate:{what}:{sha256(who.encode()).hexdigest()[:32]}")
        with translate_errors():
            count, left = self._count([name, shared_key("rate")], [WINDOW_SECONDS * 1000])
        if count > most:
            raise RateLimitedError(most, math.ceil(left / 1000))
