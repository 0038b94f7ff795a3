"""The command line: `weighbridge`."""

from __future__ import annotations

import signal
import sys
from typing import Any

import typer

from weighbridge.errors import WeighbridgeError
from weighbridge_producer.cli import batches, fleet, graders, run, verify
from weighbridge_producer.cli.show import EXIT_TROUBLE, complain, hush

app = typer.Typer(
    name="weighbridge",
    help="Grade AI-agent outputs in bulk, with evidence for every verdict.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for module in (run, batches, verify, graders, fleet):
    module.add_to(app)


class FileError(WeighbridgeError, OSError):
    """The system refuses a file or folder."""

    code = "FILE_ERROR"


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; exit 0, 100 or 1 (usage errors: 2)."""
    # `kill` means what Ctrl-C means: leave in order.
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        app(arguments, standalone_mode=True)
    except WeighbridgeError as error:
        complain(error)
        sys.exit(EXIT_TROUBLE)
    except BrokenPipeError:
        hush()
        sys.exit(EXIT_TROUBLE)
    except OSError as error:
        complain(FileError(f"{error.strerror or error}: {error.filename or 'a file'}"))
        sys.exit(EXIT_TROUBLE)


def _interrupt(*_: Any) -> None:
    raise KeyboardInterrupt
