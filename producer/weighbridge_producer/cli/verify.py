"""`weighbridge verify`: prove results by grading again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from weighbridge.errors import InputError
from weighbridge_producer.cli import options as opt
from weighbridge_producer.cli.show import EXIT_TROUBLE, err, out, print_json, shown


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(verify)


def verify(
    results: Annotated[Path, typer.Argument(metavar="RESULTS", help="A .jsonl file of results.")],
    cases: Annotated[str, typer.Argument(metavar="CASES", help="The cases they came from.")],
    grader: opt.Graders = None,
    config: opt.Configs = None,
    as_json: opt.AsJson = False,
) -> None:
    """Grade CASES again, with the same --grader and --config, and prove RESULTS unchanged and complete."""
    if not results.is_file():
        raise InputError(
            f"the results {str(results)!r} do not exist", "give the .jsonl file that `run` wrote"
        )
    from weighbridge_producer.verifying import verify as verify_results

    specs = opt.specs(grader, config)
    opt.check_here(specs)
    outcome = verify_results(results, cases, specs, opt.settings())
    if as_json:
        print_json(outcome.as_dict())
    else:
        for complaint in outcome.complaints:
            err.print(shown(complaint))
        out.print(
            f"{outcome.proven:,} proven, {outcome.changed:,} changed, {outcome.missing:,} missing,"
            f" {outcome.surplus:,} surplus, {outcome.unproven:,} that grading again cannot prove"
        )
    raise typer.Exit(0 if outcome.ok else EXIT_TROUBLE)
