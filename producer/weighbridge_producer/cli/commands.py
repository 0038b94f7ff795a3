"""All commands; each command's module is imported when it is called."""

from __future__ import annotations

import os
import sys
from collections.abc import MutableMapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, NoReturn

import typer
from typer.core import TyperArgument, TyperGroup
from typer.main import get_group
from typing_extensions import override

from weighbridge.errors import FileError, WeighbridgeError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_INTERRUPTED = 130  #: typer's exit status for Ctrl-C; ours is 1, as for all other errors
_TROUBLE = 1
COMPLETE_VARIABLE = "_WEIGHBRIDGE_COMPLETE"  #: set by shells to request completions


class Entry(NamedTuple):
    """A command whose module is not imported yet."""

    module: str  #: name of the module in this package
    summary: str  #: its line in the list of commands


COMMANDS = {
    "init": Entry("init", "Write starter files: answers, a mapping, graders, a CI workflow."),
    "run": Entry("run", "Grade cases on this machine and write the results."),
    "submit": Entry("submit", "Submit cases as one batch and print its id."),
    "status": Entry("batches", "Show the state of a batch."),
    "watch": Entry("batches", "Follow a batch to its end."),
    "results": Entry("results", "Write the results of a batch or of a file, in any form."),
    "cancel": Entry("batches", "Cancel the jobs of a batch that are not graded yet."),
    "retry": Entry(
        "batches", "Grade again jobs that were cancelled, expired or had a temporary error."
    ),
    "pause": Entry("batches", "Stop workers from starting work on a batch or queue."),
    "unpause": Entry("batches", "Let workers continue a paused batch or queue."),
    "delete": Entry("batches", "Delete a batch with its inputs and results."),
    "batches": Entry("batches", "List the newest batches."),
    "dead-letters": Entry("batches", "List the jobs that were given up, or grade them again."),
    "verify": Entry("verify", "Grade cases again and compare with earlier results."),
    "compare": Entry("compare", "Compare runs: what regressed, and whether pass rates differ."),
    "baseline": Entry("baselines", "Store the results of a run, to compare later runs with it."),
    "sweep": Entry("sweep", "Show the pass rates that other limits would give."),
    "serve": Entry("serve", "Serve the HTTP API and the web UI."),
    "audit": Entry("audit", "Show the audit log: who did what to batches and keys."),
    "worker": Entry("workers", "Start a worker on this machine."),
    "workers": Entry("workers", "List the running workers."),
    "drain": Entry("workers", "Stop a worker once its work in progress is completed."),
    "doctor": Entry("doctor", "Check Redis, the workers and the batches."),
    "graders": Entry(
        "graders", "List the installed graders, describe one, or measure its CPU time."
    ),
    "trace": Entry("traces", "Show, check and convert traces, and draft trace mappings."),
    "settings": Entry("settings", "Print the settings, with their defaults and values."),
    "errors": Entry("settings", "Print what error codes mean."),
    "keys": Entry("keys", "Create, list and revoke API keys."),
    "completion": Entry("completion", "Print the script that completes commands in a shell."),
}


class _Argument(TyperArgument):
    """An argument whose help omits its Python type."""

    @override
    def display_type_rich(self, ctx: Any) -> str | None:
        return None if self.nargs == -1 else super().display_type_rich(ctx)


class _LazyCommands(MutableMapping[str, Any]):
    """The commands by name; a look-up imports the module with its commands."""

    def __init__(self) -> None:
        self._loaded: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._loaded:
            self._loaded |= _commands_of(COMMANDS[name].module)
        return self._loaded[name]

    def __setitem__(self, name: str, command: Any) -> None:
        self._loaded[name] = command

    def __delitem__(self, name: str) -> None:
        del self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)


@cache  # a process that runs several commands builds them once
def _commands_of(module_name: str) -> Mapping[str, Any]:
    module = import_module(f"weighbridge_producer.cli.{module_name}")
    part = typer.Typer(rich_markup_mode=None)
    # Keeps typer from replacing a group that has a single command by the command.
    part.callback()(lambda: None)
    module.add_to(part)
    commands = get_group(part).commands
    for parameter in (one for each in commands.values() for one in each.params):
        if type(parameter) is TyperArgument:
            parameter.__class__ = _Argument  # typer takes no class of one's own for them
    # Otherwise lists and shells show the beginning of the help, cut within a sentence.
    for name, command in commands.items():
        command.short_help = COMMANDS[name].summary
        for within in getattr(command, "commands", {}).values():
            within.short_help = _first_sentence(within.help)
    return commands


def _first_sentence(text: str) -> str:
    return " ".join(text.split()).split(". ", 1)[0].removesuffix(".") + "."


class _LazyGroup(TyperGroup):
    """A group that lists its commands without importing their modules."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = _LazyCommands()

    @override
    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    @override
    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            error.message = error.message.removeprefix("Value error, ")  # which pydantic adds
            raise

    @override
    def format_commands(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.summary) for name, entry in COMMANDS.items()])


app = typer.Typer(
    cls=_LazyGroup,
    name="weighbridge",
    help="Grade AI-agent outputs and traces in bulk, with evidence for every verdict.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,  # replaced by `completion`, which supports any shell
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"weighbridge {version('weighbridge')}")
        raise typer.Exit


@app.callback()
def _every_command(
    _version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=_print_version, is_eager=True),
    ] = False,
) -> None:
    pass


def run_app(arguments: list[str] | None) -> NoReturn:
    """Run the command in the arguments, and exit; errors are printed without a traceback.

    Raises KeyboardInterrupt on Ctrl-C.
    """
    if COMPLETE_VARIABLE in os.environ:
        from weighbridge_producer.cli.shells import register_shells

        register_shells()
    as_json = wants_json(arguments)
    try:
        app(arguments, prog_name="weighbridge", standalone_mode=True)
    except SystemExit as ending:
        if ending.code != _INTERRUPTED:
            raise
        raise KeyboardInterrupt from None
    except WeighbridgeError as error:
        report(error, as_json=as_json)
    except BrokenPipeError:
        _silence_stdout()
    except OSError as error:
        fault = FileError(f"{error.strerror or error}: {error.filename or 'a file'}")
        report(fault, as_json=as_json)
    sys.exit(_TROUBLE)


def wants_json(arguments: list[str] | None) -> bool:
    """Return whether the arguments of a command, by default those of this process, ask for JSON."""
    return "--json" in (sys.argv[1:] if arguments is None else arguments)


def report(error: WeighbridgeError, *, as_json: bool) -> None:
    """Print an error, unless standard output is closed."""
    from weighbridge_producer.cli.show import print_error

    try:
        print_error(error, as_json=as_json and sys.stdout is not None)
    except OSError:  # standard output cannot be written; standard error has the error
        _silence_stdout()


def _silence_stdout() -> None:
    from weighbridge_producer.cli.show import silence_stdout

    silence_stdout()
