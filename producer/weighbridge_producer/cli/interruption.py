"""Ctrl-C and SIGTERM: both end a command in order, also if they come several times within a second."""

from __future__ import annotations

import signal
import time

#: a signal that comes sooner after the one before would only break off the ending
_REPEAT_SECONDS = 1.0


def expect_interruption() -> None:
    """Raise KeyboardInterrupt on Ctrl-C and SIGTERM; a SIGINT that the parent process ignores stays ignored."""
    interrupt = _Interrupt()
    if signal.getsignal(signal.SIGINT) == signal.default_int_handler:
        signal.signal(signal.SIGINT, interrupt)
    signal.signal(signal.SIGTERM, interrupt)


def ignore_interruption() -> None:
    """Let a command that is ending end: a second Ctrl-C would only break off its last steps."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)


class _Interrupt:
    """A signal handler that raises KeyboardInterrupt, but not again within _REPEAT_SECONDS."""

    def __init__(self) -> None:
        self._raised_at = float("-inf")  #: on the monotonic clock

    def __call__(self, *_: object) -> None:
        now = time.monotonic()
        if now - self._raised_at >= _REPEAT_SECONDS:
            self._raised_at = now
            raise KeyboardInterrupt
