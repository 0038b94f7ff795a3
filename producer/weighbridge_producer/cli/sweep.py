"""`weighbridge sweep`: pass rates under other limits."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated

import typer

from weighbridge.settings import read_settings
from weighbridge.text import percent, pluralize
from weighbridge_producer.cli import options as opt
from weighbridge_producer.cli.completed_values import batch_ids, sweep_params
from weighbridge_producer.cli.run_names import open_lines
from weighbridge_producer.cli.show import err, out, print_json, shown, table
from weighbridge_producer.comparison.runs import rows_of
from weighbridge_producer.sweep import sweep_rows

if TYPE_CHECKING:
    from weighbridge_producer.sweep import Candidate, Sweep

_BAR_CELLS = 20
_EXPONENTS_FROM = 1e16  #: larger numbers are written with an exponent


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(sweep)


def sweep(
    run: Annotated[
        str,
        typer.Argument(
            metavar="RUN",
            autocompletion=batch_ids,
            help="A result file (.jsonl, plain, .gz or .zst) or a batch id.",
            callback=opt.utf8,
        ),
    ],
    param: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            autocompletion=sweep_params,
            help="The limit to vary, such as max_tokens or max_tool_calls_per_tool.TOOL; or score, for the lowest score that passes.",
        ),
    ],
    label: Annotated[
        str | None,
        typer.Option(
            help="The label whose results are swept. Default: the only one that has the limit."
        ),
    ] = None,
    limit: Annotated[
        list[float] | None,
        typer.Option(
            "--limit",
            metavar="VALUE",
            help="A value to try; repeatable. Default: quantiles of what was measured, and the limit in force.",
        ),
    ] = None,
    url: opt.Url = None,
    as_json: opt.AsJson = False,
) -> None:
    """Show the pass rates that other limits would give, computed from stored measurements without grading again.

    The label's other limits are unchanged. Only limits with measurements in the results are supported: those of the
    `budget` grader, and the lowest passing score of any grader.
    """
    with ExitStack() as stack:
        rows = rows_of(open_lines(run, read_settings(), url, stack))
        swept = sweep_rows(rows, param, label)
    candidates = swept.candidates(limit or ())
    if swept.uncalled:
        err.print(shown(swept.uncalled))
    if as_json:
        print_json(
            {
                "label": swept.label,
                "param": param,
                "results": swept.results,
                "ungraded": swept.ungraded,
                "rounded": swept.is_rounded,
                "limits_in_force": sorted(swept.limits),
                "candidates": [each.as_dict() for each in candidates],
            }
        )
    else:
        _print(swept, candidates)


def _print(swept: Sweep, candidates: list[Candidate]) -> None:
    numbers = (swept.param, "passed", "", "ungradable")
    rows = table(*numbers, "pass rate, 0 to 100 %", "95 %", right=numbers)
    for each in candidates:
        judged = each.passed + each.failed
        bar = "█" * round((each.rate or 0.0) * _BAR_CELLS)
        limits = each.interval
        in_force = "  in force" if each.limit in swept.limits else ""
        rows.add_row(
            _written(each.limit),
            f"{each.passed:,}/{judged:,}",
            percent(each.passed, judged),
            f"{each.ungradable:,}",
            f"{bar:·<{_BAR_CELLS}}",
            (f"\\[{limits.low * 100:.1f}, {limits.high * 100:.1f}]" if limits else "") + in_force,
        )
    out.print(rows)
    if not candidates:
        err.print(f"no result has a measurement for {shown(swept.param)}")
    if swept.ungraded:
        out.print(f"{pluralize(swept.ungraded, 'result')} left out: not graded")
    if swept.is_rounded:
        out.print("measurements are rounded to four digits, in the direction that makes a job fail")


def _written(limit: float) -> str:
    """Return a limit with all its digits, so that the same one is applied when it is given with `--limit`."""
    is_whole = float(limit).is_integer() and abs(limit) < _EXPONENTS_FROM
    return f"{int(limit) if is_whole else limit:,}"
