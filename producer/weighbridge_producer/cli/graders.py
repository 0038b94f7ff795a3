"""Commands about graders."""

from __future__ import annotations

from typing import Annotated

import orjson
import typer

from weighbridge_producer.cli import options as opt
from weighbridge_producer.cli.show import err, out, print_json, shown, table


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(help="List the graders installed here; `graders show ID` describes one.")
    group.callback(invoke_without_command=True)(listed)
    group.command("show")(show)
    app.add_typer(group, name="graders")


def listed(context: typer.Context, as_json: opt.AsJson = False) -> None:
    """List the graders installed here."""
    if context.invoked_subcommand:
        return
    from weighbridge.graders.registry import default_registry

    registry = default_registry()
    if as_json:
        print_json({"graders": registry.catalogue()})
        return
    columns = ("id", "name", "version", "description")
    rows = table(*columns)
    for grader in registry.catalogue():
        rows.add_row(*(shown(str(grader[name])) for name in columns))
    out.print(rows)
    for name, reason in registry.failures.items():
        err.print(f"[red]the plug-in {shown(name)} is left out[/]: {shown(reason)}")


def show(
    grader: Annotated[str, typer.Argument(metavar="ID", help="A grader's id.")],
    as_json: opt.AsJson = False,
) -> None:
    """Show a grader's configuration and an example of its verdict."""
    from weighbridge.graders.registry import default_registry

    registry = default_registry()
    registry.get(grader)
    facts = next(entry for entry in registry.catalogue() if entry["id"] == grader)
    example = facts["example"]
    verdict = registry.create(grader, example["config"]).grade(**example["inputs"])
    if as_json:
        print_json({**facts, "example": {**example, "result": verdict}})
        return
    out.print(f"[bold]{shown(facts['id'])}[/]  {shown(facts['name'])}, version {facts['version']}")
    out.print(shown(facts["description"]))
    for title, value in (
        ("Config schema", facts["config_schema"]),
        ("Inputs schema", facts["inputs_schema"]),
        ("Example config", example["config"]),
        ("Example inputs", example["inputs"]),
        ("Its result", verdict),
    ):
        out.print(f"\n[bold]{title}[/]")
        text = orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
        out.print("\n".join(map(shown, text.splitlines())))
