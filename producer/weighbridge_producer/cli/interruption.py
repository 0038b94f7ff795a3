"""Ctrl-C and SIGTERM: both end a command in order, once."""

from __future__ import annotations

import signal


def expect_interruption() -> None:
    """Handle SIGTERM like Ctrl-C: raise KeyboardInterrupt."""
    signal.signal(signal.SIGTERM, _interrupt)


def ignore_interruption() -> None:
    """Let a command that is ending end: a second Ctrl-C would only break off its last steps."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt
