"""The signals that ask a worker child to end: it finishes its chunk first, so that no job is interrupted by them.

Only the parent ends a child at once, by SIGKILL. A service manager signals every process of a worker, and Celery
sends SIGTERM to a child that it has no more use for.
"""

from __future__ import annotations

import signal
from contextlib import contextmanager
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

P = ParamSpec("P")
R = TypeVar("R")
_REQUESTS = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
#: SIGUSR1 is Celery's soft time limit, which raises in whatever runs: jobs have limits of their own.
_IGNORED = (signal.SIGUSR1, signal.SIGINT)
#: How long Celery has to tell the parent that the chunk's task has ended; a child that ends before looks lost.
_REPORT_SECONDS = 0.05


class DeferredSignals:
    """Takes note of requests to end that come while a child is at a chunk."""

    def __init__(self) -> None:
        self._asked = False

    def ask(self) -> None:
        """Let the child end after its chunk."""
        self._asked = True

    @contextmanager
    def deferred(self) -> Iterator[None]:
        """Defer requests to end until the chunk is done. Each time anew: a grader may have changed the handlers."""
        if self._asked:
            signal.setitimer(signal.ITIMER_REAL, 0)
        usual = {name: signal.signal(name, self._note) for name in _REQUESTS}
        usual |= {name: signal.signal(name, signal.SIG_IGN) for name in _IGNORED}
        try:
            yield
        finally:
            for name, handler in usual.items():
                signal.signal(name, handler or signal.SIG_DFL)
            if self._asked:
                signal.signal(signal.SIGALRM, _end)
                signal.setitimer(signal.ITIMER_REAL, _REPORT_SECONDS)

    def _note(self, _signal: int, _frame: Any) -> None:
        self._asked = True


class DefersSignals(Protocol):
    """What works on chunks."""

    @property
    def endings(self) -> DeferredSignals:
        """The requests to end that it got."""


S = TypeVar("S", bound=DefersSignals)


def deferring(work: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """Defer requests to end while a method runs."""

    @wraps(work)
    def deferred(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with self.endings.deferred():
            return work(self, *args, **kwargs)

    return deferred


def _end(_signal: int, _frame: Any) -> None:
    signal.raise_signal(signal.SIGTERM)  # billiard's handler ends the child in its own way
