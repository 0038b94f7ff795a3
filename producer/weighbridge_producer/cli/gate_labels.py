"""Gates for labels that no grader of a run has, which are refused before anything is graded."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from weighbridge.errors import LineError
from weighbridge.grading.case import parse_case
from weighbridge.jobs.line import JSON_SPACE
from weighbridge.text import closest, did_you_mean
from weighbridge_producer.gating.gates import EACH

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from weighbridge.jobs.grader_spec import GraderSpec
    from weighbridge_producer.gating.gates import Gate
    from weighbridge_producer.input.source import Source
    from weighbridge_producer.input.source_lines import SourceLine

_NAMED = 10  #: labels in the error
_GRADER = b'"grader'  #: in every line that names graders of its own


def check_labels(gates: Sequence[Gate], graders: Sequence[GraderSpec], source: Source) -> None:
    """Raise a usage error for a gate with a label that neither the graders nor those of any case have.

    An input that can be read once is not looked into; its gates are decided at the end.
    """
    labels = {spec.label for spec in graders}
    unknown = {gate.label: gate for gate in gates if gate.label not in {"", EACH, *labels}}
    if not unknown or not source.rereadable:
        return
    for label in _labels_in(source):
        unknown.pop(label, None)
        labels.add(label)
        if not unknown:
            return
    if not labels:
        return  # without any grader, the run is refused for that
    label, gate = next(iter(unknown.items()))
    known = sorted(labels)
    more = ", ..." if len(known) > _NAMED else ""
    raise typer.BadParameter(
        f"no grader has the label {label[:80]!r} (labels: {', '.join(known[:_NAMED])}{more}){did_you_mean(closest(label, known))}",
        param_hint=str(gate.kind),
    )


def _labels_in(lines: Iterable[SourceLine]) -> Iterator[str]:
    """Yield the labels of the graders that cases name themselves."""
    for read in lines:
        if _GRADER not in read.raw:
            continue
        for line in read.lines():
            try:
                case = parse_case(line.raw.strip(JSON_SPACE), (), needs_grader=False)
            except LineError:
                continue
            yield from (spec.label for spec in case.graders)
