"""Detection of dead workers: those without a heartbeat for some time in which others had one."""

from __future__ import annotations

import time

_SURE_SECONDS = 1.5  #: after a heartbeat has expired, while others are valid
_GAP_SECONDS = 3.0  #: after a longer gap between checks, the server may have been unavailable


class Liveness:
    """Tracks across checks which workers had a heartbeat."""

    def __init__(self, gap_seconds: float = _GAP_SECONDS) -> None:
        self._gap_seconds = gap_seconds
        self._heard: dict[str, float] = {}  #: time of each worker's last heartbeat
        self._checking_since = self._checked_at = -1.0

    def note(self, alive: set[str], now: float | None = None) -> set[str]:
        """Record the workers that are alive; return those found dead since the last check."""
        now = time.monotonic() if now is None else now
        if self._checked_at < 0 or now - self._checked_at > self._gap_seconds:
            self._checking_since = now
        before = {name for name in self._heard if self._is_gone_at(name, self._checked_at)}
        self._checked_at = now
        self._heard.update(dict.fromkeys(alive, now))
        return {name for name in self._heard if self._is_gone_at(name, now)} - before

    def is_gone(self, name: str) -> bool:
        """Return whether a worker is certainly dead; one without any heartbeat is, after some time of checking."""
        return self._is_gone_at(name, self._checked_at)

    def was_alive(self, name: str) -> bool:
        """Return whether a worker had a heartbeat at the last check."""
        return self._heard.get(name) == self._checked_at

    def forget(self) -> None:
        """Discard all records, because another worker has been checking meanwhile."""
        self._heard.clear()
        self._checking_since = self._checked_at = -1.0

    def _is_gone_at(self, name: str, now: float) -> bool:
        heard = max(self._heard.get(name, self._checking_since), self._checking_since)
        return now - heard > _SURE_SECONDS
