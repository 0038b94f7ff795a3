"""Deferred signals: a worker child that is asked to end finishes its chunk first, so that no job is interrupted.

Only the parent ends a child immediately, by SIGKILL. Service managers signal all processes of a worker, and Celery
sends SIGTERM to a child that it no longer needs.
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
#: SIGUSR1 is Celery's soft time limit, which raises in any code; jobs have separate limits.
_IGNORED = (signal.SIGUSR1, signal.SIGINT)
#: Time for Celery to report the end of the task to the parent; a child that exits before that appears lost.
_REPORT_SECONDS = 0.05


class DeferredSignals:
    """Records requests to end that arrive while a child grades a chunk."""

    def __init__(self) -> None:
        self._end_requested = False

    def request_end(self) -> None:
        """Make the child end after its chunk."""
        self._end_requested = True

    @contextmanager
    def deferred(self) -> Iterator[None]:
        """Defer requests to end inside the context; handlers are set each time, because graders may replace them."""
        if self._end_requested:
            signal.setitimer(signal.ITIMER_REAL, 0)
        usual = {name: signal.signal(name, self._note) for name in _REQUESTS}
        usual |= {name: signal.signal(name, signal.SIG_IGN) for name in _IGNORED}
        try:
            yield
        finally:
            for name, handler in usual.items():
                signal.signal(name, handler or signal.SIG_DFL)
            if self._end_requested:
                signal.signal(signal.SIGALRM, _end)
                signal.setitimer(signal.ITIMER_REAL, _REPORT_SECONDS)

    def _note(self, _signal: int, _frame: Any) -> None:
        self._end_requested = True


class DefersSignals(Protocol):
    """An object that processes chunks."""

    @property
    def endings(self) -> DeferredSignals:
        """Its deferred requests to end."""


S = TypeVar("S", bound=DefersSignals)


def deferring(work: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """Return a method that defers requests to end while it runs."""

    @wraps(work)
    def deferred(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with self.endings.deferred():
            return work(self, *args, **kwargs)

    return deferred


def _end(_signal: int, _frame: Any) -> None:
    signal.raise_signal(signal.SIGTERM)  # billiard's handler ends the child
