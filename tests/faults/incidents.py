"""What the server was made to forget, and when: only that excuses what a batch would otherwise not be allowed."""

from __future__ import annotations

import math
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass
class Incident:
    """One time that the server forgot something."""

    forgotten_since: float  #: what was written later may be gone; -inf when everything is
    ended_at: float = math.inf


class Incidents:
    """All incidents of a soak, on the monotonic clock."""

    def __init__(self) -> None:
        self._all: list[Incident] = []
        self._lock = threading.Lock()

    @contextmanager
    def forgetting(self, since: float) -> Iterator[None]:
        """Note that the server is about to forget what was written since then."""
        incident = Incident(since)
        with self._lock:
            self._all.append(incident)
        try:
            yield
        finally:
            incident.ended_at = time.monotonic()

    def excuse(self, earliest: float, latest: float) -> bool:
        """Whether what was written at some time between these two may have been forgotten."""
        with self._lock:
            return any(
                incident.forgotten_since <= latest and earliest <= incident.ended_at
                for incident in self._all
            )

    def any_since(self, moment: float) -> bool:
        """Whether the server forgot anything at all after a moment."""
        with self._lock:
            return any(incident.ended_at >= moment for incident in self._all)
