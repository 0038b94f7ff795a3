"""`graders profile`: what one grader costs per case, and its slowest cases."""

from __future__ import annotations

from heapq import nlargest
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weighbridge.settings import read_settings
from weighbridge.text import pluralize
from weighbridge_producer.cli import options as opt
from weighbridge_producer.cli.option_groups import takes_option_groups
from weighbridge_producer.cli.reading import source_of
from weighbridge_producer.cli.reading_notes import print_unused
from weighbridge_producer.cli.reading_options import USUAL_READING, ReadingOptions
from weighbridge_producer.cli.show import err, out, print_json, shown, table
from weighbridge_producer.gating.gates import ERROR

if TYPE_CHECKING:
    from weighbridge.jobs.grader_spec import GraderSpec
    from weighbridge_producer.cli.grader_times import CaseTimes, Times

_SLOWEST = 5  #: cases that are named
_ALL = "all"
_ID_WIDTH = 40
_REASON_WIDTH = 300


@takes_option_groups
def profile(
    grader: Annotated[str, typer.Argument(metavar="ID", help="A grader's id.")],
    cases: Annotated[list[str], typer.Argument(metavar="CASES", help=opt.CASES_HELP)],
    configs: opt.Configs = None,
    reading: ReadingOptions = USUAL_READING,
    rounds: Annotated[
        int,
        typer.Option(
            "--rounds",
            metavar="N",
            min=1,
            max=1_000,
            help="Grade each case N times; the shortest time of each stage counts.",
        ),
    ] = 3,
    as_json: opt.AsJson = False,
) -> None:
    """Measure a grader's CPU time per case, in this process, and show the slowest cases.

    Stages: parse (JSON and validation), import (of a trace), grade, and encode (receipt and result line). Graders that
    the cases name are ignored. Exit status: 0, or 1 when no case could be graded or something went wrong.
    """
    from weighbridge.child_process import collect_garbage_seldom
    from weighbridge_producer.cli.grader_times import measure

    specs = opt.specs([grader], configs)
    opt.check_here(specs)
    source = source_of(cases, specs, read_settings(), reading)
    lines = (line.as_job(number) for number, line in enumerate(source, 1) if line.raw.strip())
    collect_garbage_seldom()  # as workers do
    times = measure(specs[0], lines, rounds)
    print_unused(source)
    if as_json:
        print_json(_as_dict(specs[0], times, rounds))
    else:
        _print(specs[0], times, rounds)
    if not times.cases:
        raise typer.Exit(ERROR)


def _slowest(times: Times) -> list[CaseTimes]:
    return nlargest(_SLOWEST, times.cases, key=lambda case: case.total)


def _rows(times: Times) -> list[dict[str, Any]]:
    """Return the times of each stage and of all together, in microseconds per case."""
    from weighbridge_producer.cli.grader_times import STAGES, microseconds, percentile

    sums = {name: times.of(name) for name in (*STAGES, _ALL)}
    whole = sum(sums[_ALL]) or 1
    return [
        {
            "stage": name,
            "share": round(sum(each) / whole, 4),
            "median_us": microseconds(percentile(each, 0.5)),
            "p99_us": microseconds(percentile(each, 0.99)),
            "total_us": microseconds(sum(each)),
        }
        for name, each in sums.items()
    ]


def _as_dict(spec: GraderSpec, times: Times, rounds: int) -> dict[str, Any]:
    fault = times.first_fault
    return {
        "grader": spec.grader,
        "rounds": rounds,
        "cases": len(times.cases),
        "not_graded": times.faults,
        "first_error": None
        if fault is None
        else {"code": str(fault.code), "message": fault.message, "hint": fault.hint},
        "stages": _rows(times),
        "slowest": [case.as_dict() for case in _slowest(times)],
    }


def _print(spec: GraderSpec, times: Times, rounds: int) -> None:
    if times.first_fault is not None:
        fault = times.first_fault
        reason = shown(f"{fault.code}: {fault.message}", _REASON_WIDTH)
        err.print(f"[red]not graded: {pluralize(times.faults, 'line')}[/]; the first: {reason}")
    if not times.cases:
        return
    cases, each = pluralize(len(times.cases), "case"), pluralize(rounds, "round")
    out.print(
        f"[bold]{shown(spec.grader)}[/]: {cases}, CPU time in µs per case, shortest of {each}\n"
    )
    columns = ("stage", "share", "median", "p99", "total")
    rows = table(*columns, right=columns[1:])
    for row in _rows(times):
        numbers = (f"{row[name]:,.1f}" for name in ("median_us", "p99_us", "total_us"))
        rows.add_row(row["stage"], f"{row['share']:.1%}", *numbers)
    out.print(rows)
    _print_slowest(times)


def _print_slowest(times: Times) -> None:
    from weighbridge_producer.cli.grader_times import STAGES, microseconds

    columns = ("slowest case", "line", "bytes", "µs", *STAGES)
    rows = table(*columns, right=columns[1:])
    for case in _slowest(times):
        numbers = (f"{microseconds(took):,.1f}" for took in (case.total, *case.stages))
        name = shown(case.custom_id, _ID_WIDTH)
        rows.add_row(name, f"{case.line:,}", f"{case.bytes:,}", *numbers)
    out.print()
    out.print(rows)
