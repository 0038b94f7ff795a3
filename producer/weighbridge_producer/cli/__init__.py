"""The command line: `weighbridge`."""

from __future__ import annotations

import sys
from typing import NoReturn

from weighbridge_producer.cli.interruption import expect_interruption, ignore_interruption

_OTHER_ENDS = frozenset({"-h", "--help", "--clean"})  #: options with which `run` does not grade


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; exit 0, 100 or 1 (usage errors: 2)."""
    expect_interruption()
    try:
        _run(arguments)
    except KeyboardInterrupt:
        ignore_interruption()
        _report_interruption(arguments)
        sys.exit(1)
    finally:
        ignore_interruption()


def _run(arguments: list[str] | None) -> NoReturn:
    # Imported here, because the imports are slow enough to be interrupted.
    from weighbridge.child_process import collect_garbage_seldom
    from weighbridge.memory import keep_freed_memory
    from weighbridge_producer.run.local_worker import discard_prepared_worker, prepare_worker

    collect_garbage_seldom()  # garbage collection takes a tenth of the time of the imports
    keep_freed_memory()
    try:
        if _will_grade(sys.argv[1:] if arguments is None else arguments):
            prepare_worker()
        from weighbridge_producer.cli.commands import run_app

        run_app(arguments)
    finally:
        discard_prepared_worker()


def _report_interruption(arguments: list[str] | None) -> None:
    """Print that the command was interrupted, also as the error object that a program which reads JSON expects."""
    given = sys.argv[1:] if arguments is None else arguments
    if "--json" not in given:
        print("interrupted", file=sys.stderr)
        return
    from weighbridge.errors import InterruptionError
    from weighbridge_producer.cli.commands import report

    report(InterruptionError("the command was interrupted"), as_json=True)


def _will_grade(arguments: list[str]) -> bool:
    return arguments[:1] == ["run"] and not _OTHER_ENDS.intersection(arguments)
