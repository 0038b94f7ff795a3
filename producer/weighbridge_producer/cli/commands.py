"""Every command, put together."""

from __future__ import annotations

import sys
from importlib.metadata import version
from typing import Annotated, NoReturn

import typer

from weighbridge.errors import FileError, WeighbridgeError
from weighbridge_producer.cli import (
    audit,
    batches,
    doctor,
    fleet,
    graders,
    keys,
    run,
    serve,
    traces,
    verify,
)
from weighbridge_producer.cli.show import EXIT_TROUBLE, complain, hush, out

_INTERRUPTED = 130  #: typer's own answer to Ctrl-C; ours is 1, as for whatever else went wrong

app = typer.Typer(
    name="weighbridge",
    help="Grade AI-agent outputs and traces in bulk, with evidence for every verdict.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        out.print(f"weighbridge {version('weighbridge')}")
        raise typer.Exit


@app.callback()
def _every_command(
    _version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=_print_version, is_eager=True),
    ] = False,
) -> None:
    pass


for module in (run, batches, verify, graders, traces, serve, keys, audit, fleet, doctor):
    module.add_to(app)


def obey(arguments: list[str] | None) -> NoReturn:
    """Run the command that the arguments name, and exit; what goes wrong is told in words."""
    try:
        app(arguments, standalone_mode=True)
    except SystemExit as ending:
        if ending.code != _INTERRUPTED:
            raise
    except WeighbridgeError as error:
        complain(error)
    except BrokenPipeError:
        hush()
    except OSError as error:
        complain(FileError(f"{error.strerror or error}: {error.filename or 'a file'}"))
    sys.exit(EXIT_TROUBLE)
