"""A gate between forks and threads: a child inherits every lock of its parent as it is, held ones for ever."""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class ForkGate:
    """Lets this process fork only while one of its threads is between two duties.

    Where several gates hold a fork back, the one made last is waited for first.
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
        """Hold forks back for the time of a duty; the duty itself must not fork."""
        with self._lock:
            yield
