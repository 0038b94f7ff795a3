"""Which workers are gone for certain: silent for some time in which others were heard."""

from __future__ import annotations

import time

_SURE_SECONDS = 1.5  #: of silence past the end of a heartbeat, while the others are heard
_GAP_SECONDS = (
    3.0  #: between two looks, after which silence says nothing: the server may have been away
)


class Liveness:
    """Remembers from look to look which workers were heard."""

    def __init__(self, gap_seconds: float = _GAP_SECONDS) -> None:
        self._gap_seconds = gap_seconds
        self._heard: dict[str, float] = {}  #: when each worker was heard last
        self._watching_since = self._looked_at = -1.0

    def note(self, alive: set[str], now: float | None = None) -> set[str]:
        """Take note of who is heard at this moment; return who turned out to be gone since the last look."""
        now = time.monotonic() if now is None else now
        if self._looked_at < 0 or now - self._looked_at > self._gap_seconds:
            self._watching_since = now
        before = {name for name in self._heard if self._is_gone_at(name, self._looked_at)}
        self._looked_at = now
        self._heard.update(dict.fromkeys(alive, now))
        return {name for name in self._heard if self._is_gone_at(name, now)} - before

    def is_gone(self, name: str) -> bool:
        """Whether a worker is gone for certain; one that was never heard is, after some time of listening."""
        return self._is_gone_at(name, self._looked_at)

    def is_heard(self, name: str) -> bool:
        """Whether a worker was heard at the last look."""
        return self._heard.get(name) == self._looked_at

    def forget(self) -> None:
        """Begin anew: others looked meanwhile."""
        self._heard.clear()
        self._watching_since = self._looked_at = -1.0

    def _is_gone_at(self, name: str, now: float) -> bool:
        heard = max(self._heard.get(name, self._watching_since), self._watching_since)
        return now - heard > _SURE_SECONDS
