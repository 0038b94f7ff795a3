"""`weighbridge verify`: prove results by grading again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from weighbridge.errors import InputError
from weighbridge.settings import read_settings
from weighbridge_producer.cli import options as opt
from weighbridge_producer.cli.option_groups import takes_option_groups
from weighbridge_producer.cli.reading import source_of
from weighbridge_producer.cli.reading_notes import print_unused
from weighbridge_producer.cli.reading_options import USUAL_READING, ReadingOptions
from weighbridge_producer.cli.run_names import result_file
from weighbridge_producer.cli.show import err, out, print_json, shown
from weighbridge_producer.gating.gates import ERROR


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(verify)


@takes_option_groups
def verify(
    results: Annotated[Path, typer.Argument(metavar="RESULTS", help="A .jsonl file of results.")],
    cases: Annotated[list[str], typer.Argument(metavar="CASES", help="The cases they came from.")],
    grader: opt.Graders = None,
    config: opt.Configs = None,
    graders: opt.GradersFile = None,
    reading: ReadingOptions = USUAL_READING,
    allow_unproven: Annotated[
        bool,
        typer.Option(
            "--allow-unproven",
            help="Accept results of jobs that were cancelled, expired or had a temporary error.",
        ),
    ] = False,
    as_json: opt.AsJson = False,
) -> None:
    """Grade CASES again, read and graded with the same options as in the run, and prove RESULTS unchanged and complete.

    RESULTS are JSON Lines, as `run -o NAME.jsonl` and `results` write them. The first 20 lines that differ are named.

    Exit status: 0 when every result is proven; 1 when one is changed, missing or surplus, when one cannot be proven,
    and when something went wrong; 2 for a usage error. A timeout, for example, cannot be reproduced by grading again,
    so such a result could hide a failure. --allow-unproven accepts such results.
    """
    if not results.is_file():
        raise InputError(
            f"the results {str(results)!r} do not exist", "give the .jsonl file that `run` wrote"
        )
    result_file(str(results))
    from weighbridge_producer.run.regrading import ChildRegrader
    from weighbridge_producer.run.verify import verify as verify_results

    specs = opt.specs(grader, config, graders)
    opt.check_here(specs, graders)
    settings = read_settings()
    source = source_of(cases, specs, settings, reading)
    regrade = ChildRegrader(settings)
    outcome = verify_results(results, source, specs, allow_unproven=allow_unproven, regrade=regrade)
    print_unused(source)
    if as_json:
        print_json(outcome.as_dict())
    else:
        for problem in outcome.problems:
            err.print(shown(problem))
        if outcome.more_problems:
            err.print(f"... and {outcome.more_problems:,} more")
        out.print(
            f"{outcome.proven:,} proven, {outcome.changed:,} changed, {outcome.missing:,} missing,"
            f" {outcome.surplus:,} surplus, {outcome.unproven:,} unproven"
        )
        for advice in outcome.advice():
            err.print(advice)
    raise typer.Exit(0 if outcome.ok else ERROR)
