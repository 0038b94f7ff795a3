"""Ctrl-C and SIGTERM: both end a command in order, however often they come."""

from __future__ import annotations

import signal
import time

_REPEAT_SECONDS = 1.0  #: a signal that comes sooner after the one before would only break off the ending

_interrupted = float("-inf")  #: when KeyboardInterrupt was last raised, on the monotonic clock


def expect_interruption() -> None:
    """Raise KeyboardInterrupt on Ctrl-C and SIGTERM; a SIGINT that the parent process ignores stays ignored."""
    if signal.getsignal(signal.SIGINT) == signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt)
    signal.signal(signal.SIGTERM, _interrupt)


def ignore_interruption() -> None:
    """Let a command that is ending end: a second Ctrl-C would only break off its last steps."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)


def _interrupt(*_: object) -> None:
    global _interrupted
    now = time.monotonic()
    if now - _interrupted >= _REPEAT_SECONDS:
        _interrupted = now
        raise KeyboardInterrupt
