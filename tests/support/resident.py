"""Growth of a process's resident memory."""

from __future__ import annotations

import threading
from typing import Self

import psutil


class Growth:
    """How much more a process has resident than at the beginning, at most."""

    def __init__(self, pid: int) -> None:
        self._process = psutil.Process(pid)
        self._before = self.resident()
        self._done = threading.Event()
        self.most = 0

    def resident(self) -> int:
        return int(self._process.memory_info().rss)

    def now(self) -> int:
        return self.resident() - self._before

    def __enter__(self) -> Self:
        self._sampling = threading.Thread(target=self._sample)
        self._sampling.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._sampling.join()

    def _sample(self) -> None:
        while not self._done.wait(0.02):
            self.most = max(self.most, self.now())
