"""`weighbridge completion`: the script that completes commands in a shell."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer
from typer._completion_shared import get_completion_script

from weighbridge_producer.cli import options as opt
from weighbridge_producer.cli.commands import COMPLETE_VARIABLE
from weighbridge_producer.cli.show import print_json


class _Shell(StrEnum):
    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(completion)


def completion(
    shell: Annotated[_Shell, typer.Argument(metavar="SHELL", help="bash, zsh or fish.")],
    as_json: opt.AsJson = False,
) -> None:
    """Print the script that completes commands, options, grader ids and batch ids in a shell.

    In ~/.bashrc: eval "$(weighbridge completion bash)". In ~/.zshrc, after compinit: eval "$(weighbridge completion zsh)".
    For fish: weighbridge completion fish > ~/.config/fish/completions/weighbridge.fish
    """
    script = get_completion_script(
        prog_name="weighbridge", complete_var=COMPLETE_VARIABLE, shell=shell
    )
    print_json({"shell": shell, "script": script}) if as_json else typer.echo(script)
