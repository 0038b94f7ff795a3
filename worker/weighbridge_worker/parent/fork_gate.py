"""Prevents forks while other threads may hold locks, which would stay locked forever in the child."""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class ForkGate:
    """Allows this process to fork only while one of its threads is idle.

    If several gates are closed, a fork waits for the most recently created one first.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        os.register_at_fork(
            before=self._lock.acquire,
            after_in_parent=self._lock.release,
            after_in_child=self._lock.release,
        )

    @contextmanager
    def closed(self) -> Iterator[None]:
        """Block forks inside the context, which must not fork itself."""
        with self._lock:
            yield
