"""The command line: `weighbridge`."""

from __future__ import annotations

import signal
import sys
from typing import Any


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; exit 0, 100 or 1 (usage errors: 2)."""
    # `kill` means what Ctrl-C means: leave in order.
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        # Loading takes long enough to be interrupted.
        from weighbridge_producer.cli.commands import run_app

        run_app(arguments)
    except KeyboardInterrupt:
        sys.exit(1)


def _interrupt(*_: Any) -> None:
    raise KeyboardInterrupt
