"""The command line: `weighbridge`."""

from __future__ import annotations

import signal
import sys
from typing import Any

from weighbridge.child_process import collect_garbage_seldom
from weighbridge_producer.run.local_worker import discard_prepared_worker, prepare_worker

_OTHER_ENDS = frozenset({"-h", "--help", "--clean"})  #: options with which `run` does not grade


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; exit 0, 100 or 1 (usage errors: 2)."""
    # SIGTERM is handled like Ctrl-C: as an orderly exit.
    signal.signal(signal.SIGTERM, _interrupt)
    collect_garbage_seldom()  # garbage collection takes a tenth of the time of the imports
    try:
        if _will_grade(sys.argv[1:] if arguments is None else arguments):
            prepare_worker()
        # Imported here, because the import is slow enough to be interrupted.
        from weighbridge_producer.cli.commands import run_app

        run_app(arguments)
    except KeyboardInterrupt:
        _report_interruption(arguments)
        sys.exit(1)
    finally:
        discard_prepared_worker()


def _report_interruption(arguments: list[str] | None) -> None:
    """Print the error object that a program which reads JSON expects; a person knows of the interruption."""
    from weighbridge.errors import InterruptionError
    from weighbridge_producer.cli.commands import report, wants_json

    if wants_json(arguments):
        report(InterruptionError("the command was interrupted"), as_json=True)


def _will_grade(arguments: list[str]) -> bool:
    return arguments[:1] == ["run"] and not _OTHER_ENDS.intersection(arguments)


def _interrupt(*_: Any) -> None:
    raise KeyboardInterrupt
