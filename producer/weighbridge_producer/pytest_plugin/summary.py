"""The summary at the end of a session: rates, causes, and the outcome of each gate."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from weighbridge.graders.difference_reason import shorten_reason
from weighbridge.jobs.outcome import RATED, Outcome
from weighbridge.text import pluralize, printable, shorten
from weighbridge_producer.gating.gates import GateKind
from weighbridge_producer.gating.listed_gates import listed_gates
from weighbridge_producer.pytest_plugin.messages import several_answers_hint

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weighbridge.jobs.outcome import GraderSummary
    from weighbridge_producer.gating.exit_status import Decision
    from weighbridge_producer.reports.overview import Survey

_LABELS_SHOWN = 50
_CAUSES_SHOWN = 10
_EXAMPLE_CHARACTERS = 160
_OPTION = re.compile("|".join(f"{kind}\\b" for kind in GateKind))


def prefixed(decision: Decision) -> Decision:
    """Return a decision whose messages name pytest's options instead of the command line's."""
    gates = [
        replace(
            gate,
            gate=_as_here(gate.gate),
            required=_as_here(gate.required),
            seen=_as_here(gate.seen),
        )
        for gate in decision.gates
    ]
    return replace(decision, reason=_as_here(decision.reason), gates=gates)


def _as_here(text: str) -> str:
    return _OPTION.sub(lambda found: f"--weighbridge-{found[0].removeprefix('--')}", text)


def summary_lines(found: Survey, decision: Decision) -> Iterator[str]:
    """Yield the lines of the summary."""
    yield from _rates(found.labels())
    causes = found.causes()
    if causes:
        yield "not passed:"
    for cause in causes[:_CAUSES_SHOWN]:
        yield f"  {cause.jobs:,} {_name(cause.label)}: {printable(cause.cause)}"
        example = printable(f"{cause.example_and_file}: {cause.reason}")
        yield f"    {shorten_reason(example, _EXAMPLE_CHARACTERS)}"
        if hint := several_answers_hint(cause.reason):
            yield f"    {hint}"
    if rest := causes[_CAUSES_SHOWN:]:
        yield f"  ... and {pluralize(len(rest), 'more cause')}"
    for gate in listed_gates(each for each in decision.gates if not each.is_implied):
        yield from map(printable, gate.lines())


def _rates(labels: list[GraderSummary]) -> Iterator[str]:
    shown = labels[:_LABELS_SHOWN]
    if not shown:
        return
    names = [shorten(_name(row.label), 40) for row in shown]
    width = max(map(len, [*names, "grader"]))
    yield f"{'grader':<{width}}  " + "  ".join(f"{outcome:>11}" for outcome in RATED)
    for name, row in zip(names, shown, strict=True):
        passed = f"{row.passed:,}/{row.judged:,}"
        cells = (passed, *(row.jobs(each) for each in RATED if each is not Outcome.PASSED))
        yield f"{name:<{width}}  " + "  ".join(f"{cell:>11}" for cell in cells)
    if len(labels) > _LABELS_SHOWN:
        yield f"... and {pluralize(len(labels) - _LABELS_SHOWN, 'more label')}"


def _name(label: str) -> str:
    return printable(label) or "(not a case)"
