"""Commands about graders."""

from __future__ import annotations

from typing import Annotated

import orjson
import typer
from rich.markup import escape
from rich.table import Table

from weighbridge.graders.registry import default_registry
from weighbridge_producer.cli import options as opt
from weighbridge_producer.cli.show import err, out, print_json


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(
        help="List the graders installed here; `graders show ID` tells all about one."
    )
    group.callback(invoke_without_command=True)(listed)
    group.command("show")(show)
    app.add_typer(group, name="graders")


def listed(context: typer.Context, as_json: opt.AsJson = False) -> None:
    """List the graders installed here."""
    if context.invoked_subcommand:
        return
    registry = default_registry()
    if as_json:
        print_json({"graders": registry.catalogue()})
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("id", "name", "version", "description"):
        table.add_column(name)
    for grader in registry.catalogue():
        table.add_row(
            *(escape(str(grader[name])) for name in ("id", "name", "version", "description"))
        )
    out.print(table)
    for name, reason in registry.failures.items():
        err.print(f"[red]the plug-in {escape(name)} is left out[/]: {escape(reason)}")


def show(
    grader: Annotated[str, typer.Argument(metavar="ID", help="A grader's id.")],
    as_json: opt.AsJson = False,
) -> None:
    """Show a grader's configuration and an example of its verdict."""
    registry = default_registry()
    registry.get(grader)
    facts = next(entry for entry in registry.catalogue() if entry["id"] == grader)
    example = facts["example"]
    verdict = registry.create(grader, example["config"]).grade(**example["inputs"])
    if as_json:
        print_json({**facts, "example": {**example, "result": verdict}})
        return
    out.print(
        f"[bold]{escape(facts['id'])}[/]  {escape(facts['name'])}, version {facts['version']}"
    )
    out.print(escape(facts["description"]))
    for title, value in (
        ("Config schema", facts["config_schema"]),
        ("Inputs schema", facts["inputs_schema"]),
        ("Example config", example["config"]),
        ("Example inputs", example["inputs"]),
        ("Its result", verdict),
    ):
        out.print(f"\n[bold]{title}[/]")
        out.print(escape(orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()))
