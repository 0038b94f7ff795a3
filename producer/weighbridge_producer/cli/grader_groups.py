"""Messages about graders that need inputs which a file of traces lacks, or which one case must not have together."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from weighbridge.traces.split import is_trace
from weighbridge_producer.cli.show import err, shown
from weighbridge_producer.input.mapping.row_values import ROW_NUMBER

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge.jobs.grader_spec import GraderSpec
    from weighbridge.settings import Settings
    from weighbridge_producer.input.first_rows import Opened
    from weighbridge_producer.input.mapping.row_values import Row

    Groups = dict[tuple[str, ...], list[GraderSpec]]  #: graders by the inputs that they need

_WIDTH = 800


def print_traces(opened: Opened, groups: Groups, settings: Settings) -> None:
    """Say that a file is read as traces if some graders need other inputs."""
    from weighbridge_producer.input.first_rows import first_rows
    from weighbridge_producer.input.recognition import trace_format

    lacking = {needed: specs for needed, specs in groups.items() if needed != ("trace",)}
    format_name = trace_format(opened, settings) if lacking else None
    if format_name is None:
        return
    err.print(f"{shown(opened.label)}: read as traces ({shown(format_name)})", soft_wrap=True)
    for needed, specs in lacking.items():
        text = f"traces lack {_listed(needed)}, needed by {_labels(specs)}: give their paths with --map"
        err.print(f"  {shown(text, _WIDTH)}", soft_wrap=True)
    if len(groups) > 1:
        # The rows of a document may be the messages of its only trace.
        rows = [row for row in first_rows(opened, settings).rows if is_trace(row)]
        for text in runs_for_each(groups, rows, are_traces=True):
            err.print(f"  {shown(text, _WIDTH)}", soft_wrap=True)


def runs_for_each(
    groups: Groups, rows: Sequence[Row], *, are_traces: bool = False
) -> Iterator[str]:
    """Yield why graders of different inputs cannot share a run, and the option for a run of each."""
    from weighbridge_producer.input.mapping.known_datasets import shape_of
    from weighbridge_producer.input.proposals.mapping_proposals import propose
    from weighbridge_producer.input.proposals.trace_proposals import propose_beside_traces

    yield "a case has the inputs of only one of these kinds of graders, so use a run for each:"
    shape = shape_of(rows)
    for needed, specs in groups.items():
        names = " ".join(f"-g {spec.grader}" for spec in specs)
        is_trace = are_traces and needed == ("trace",)
        if is_trace or (shape and shape.mapping(needed) and not shape.lacking(rows, needed)):
            yield f"{names}, without a mapping"
            continue
        found = propose_beside_traces(rows, needed) if are_traces else propose(rows, needed)
        lacking = ",".join(f"{name}=COLUMN" for name in needed)
        text = found.text if found else f"custom_id={ROW_NUMBER},{lacking}"
        yield f"{names} --map {shlex.quote(text)}"


def _listed(names: Sequence[str]) -> str:
    return " and ".join(names)


def _labels(specs: Sequence[GraderSpec]) -> str:
    return _listed([spec.label for spec in specs])
