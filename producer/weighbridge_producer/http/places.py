"""Places for what takes long: so many at once, and so many of one caller."""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING

from weighbridge_producer.http.problems import ProblemError

if TYPE_CHECKING:
    from collections.abc import Iterator


class Places:
    """Streams of results that run in this process, by who asked for them."""

    def __init__(self, most: int, most_of_one: int) -> None:
        self._most = most
        self._most_of_one = most_of_one
        self._taken: Counter[str] = Counter()

    def _check_room(self, who: str) -> None:
        if self._taken.total() < self._most and self._taken[who] < self._most_of_one:
            return
        raise ProblemError(
            503,
            "TOO_MANY_STREAMS",
            f"{self._most} streams of results run here already, or {self._most_of_one} of this key",
            "ask for pages (format=json), come again in a moment, or run more copies of the service",
            {"Retry-After": "5"},
        )

    @contextmanager
    def place(self, who: str) -> Iterator[None]:
        """Take a place; ProblemError when there is none for somebody."""
        self._check_room(who)
        self._taken[who] += 1
        try:
            yield
        finally:
            self._taken[who] -= 1
            self._taken += Counter()  # forgets who has none
