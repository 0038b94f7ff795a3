"""A summary in Markdown, for a pull request or `$GITHUB_STEP_SUMMARY`: rates, slices, gates, causes, and what changed."""

from __future__ import annotations

import re
from itertools import chain, groupby
from operator import attrgetter
from typing import TYPE_CHECKING

from rich.cells import cell_len

from weighbridge.jobs.outcome import RATED, Outcome
from weighbridge.text import percent, pluralize, revealed, shorten
from weighbridge_producer.gating.listed_gates import listed_gates
from weighbridge_producer.reports.overview import survey

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from weighbridge.jobs.outcome import GraderSummary
    from weighbridge_producer.gating.gates import GateResult
    from weighbridge_producer.gating.listed_gates import ListedGate
    from weighbridge_producer.reports.overview import Cause, Survey
    from weighbridge_producer.reports.report import Report

_CAUSES_SHOWN = 10
_LABELS_SHOWN = 50
_CHANGES_SHOWN = 50
_CELL_CHARACTERS = 200
_ALIGNED_CHARACTERS = 40  #: of a cell that makes its column wider
_RATES = ("pass rate", *RATED)
_FENCES = re.compile("`+")


def blocks(report: Report) -> Iterator[bytes]:
    """Yield the summary."""
    found = survey(report)
    parts = [
        *(_head(report, found), _rates(found), _slices(report)),
        *(_gates(report), _causes(found), _changes(report)),
    ]
    yield ("\n\n".join(filter(None, parts)) + "\n").encode()


def code(text: str, most: int = _CELL_CHARACTERS) -> str:
    """Return an untrusted text as code in a table cell: no markup, no link, no mention."""
    shown = shorten(revealed(text), most).replace("|", "\\|")
    fence = "`" * (1 + max(map(len, _FENCES.findall(shown)), default=0))
    pad = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{fence}{pad}{shown}{pad}{fence}" if shown.strip() else ""


def table(head: Iterable[str], rows: Iterable[Iterable[str]], right: Iterable[str] = ()) -> str:
    """Return a table, the columns named in `right` aligned to the right; columns are aligned in the text too.

    Cells longer than 40 characters make no column wider, so that the other lines stay short.
    """
    names, numbers = list(head), set(right)
    lines = [names, *map(list, rows)]
    longest = [max(map(cell_len, column)) for column in zip(*lines, strict=True)]
    widths = [max(len("---:"), min(width, _ALIGNED_CHARACTERS)) for width in longest]
    if longest[-1] > _ALIGNED_CHARACTERS:
        widths[-1] = len("---")
    rules = [
        f"{'-' * (width - 1)}{':' if name in numbers else '-'}"
        for name, width in zip(names, widths, strict=True)
    ]
    are_right = [name in numbers for name in names]
    padded = [map(_padded, line, widths, are_right) for line in (names, rules, *lines[1:])]
    return "\n".join(f"| {' | '.join(line)} |" for line in padded)


def _padded(cell: str, width: int, is_right: bool) -> str:
    space = " " * (width - cell_len(cell))
    return space + cell if is_right else cell + space


def _head(report: Report, found: Survey) -> str:
    unmet = sum(not gate.met for gate in report.gates)
    summary = pluralize(found.total, "job")
    if report.gates:
        summary += f", {pluralize(unmet, 'gate')} not met" if unmet else ", all gates met"
    return f"## Weighbridge: {code(report.name)}\n\n{summary}"


def _rates(found: Survey) -> str:
    labels = found.labels()
    text = table(("grader", *_RATES), map(_rate, labels[:_LABELS_SHOWN]), right=_RATES)
    if more := len(labels) - _LABELS_SHOWN:
        text += f"\n\n... and {pluralize(more, 'more label')}" if more > 0 else ""
    vacuous = [
        f"- {code(row.label)}: {row.vacuous:,} of {row.passed:,} passes are vacuous (nothing to check)"
        for row in labels[:_LABELS_SHOWN]
        if row.vacuous
    ]
    return text + ("\n\n" + "\n".join(vacuous) if vacuous else "")


def _slices(report: Report) -> str:
    """Return a table of rates for each field."""
    return "\n\n".join(
        f"### By {code(field)}\n\n"
        + table(
            ("value", "grader", *_RATES),
            ([code(each.value), *_rate(each.summary)] for each in slices),
            right=_RATES,
        )
        for field, slices in groupby(report.slices, key=attrgetter("field"))
    )


def _rate(row: GraderSummary) -> Iterator[str]:
    yield code(row.label or "(invalid lines)")
    yield percent(row.passed, row.judged)
    for outcome in RATED:
        of_judged = f" / {row.judged:,}" if outcome is Outcome.PASSED else ""
        yield f"{row.jobs(outcome):,}{of_judged}"


def _gates(report: Report) -> str:
    if not report.gates:
        return ""
    return "### Gates\n\n" + gates_table(report.gates)


def gates_table(gates: Iterable[GateResult]) -> str:
    """Return a table of the gates and their results."""
    return table(
        ("", "gate", "required", "seen"), chain.from_iterable(map(_gate_rows, listed_gates(gates)))
    )


def _gate_rows(gate: ListedGate) -> Iterator[Iterable[str]]:
    yield from map(_gate, gate.results)
    if gate.more:
        yield "", code(gate.gate), "", gate.more


def _gate(gate: GateResult) -> Iterator[str]:
    yield "✅ met" if gate.met else "❌ not met"
    yield from map(code, (f"{gate.gate} {gate.scope}".strip(), gate.required, gate.seen))


def _causes(found: Survey) -> str:
    causes = found.causes()
    if not causes:
        return ""
    head = ("jobs", "grader", "cause", "example", "why")
    text = table(head, map(_cause, causes[:_CAUSES_SHOWN]), right=("jobs",))
    if rest := causes[_CAUSES_SHOWN:]:
        jobs = pluralize(sum(each.jobs for each in rest), "job")
        text += f"\n\n{pluralize(len(rest), 'other cause')}, {jobs}"
    return f"### Why jobs did not pass\n\n{text}"


def _cause(cause: Cause) -> Iterator[str]:
    yield f"{cause.jobs:,}"
    yield from map(code, (cause.label, cause.cause, cause.example_and_file, cause.reason))


def _changes(report: Report) -> str:
    if not report.changes:
        return ""
    lines = [f"- {code(change)}" for change in report.changes[:_CHANGES_SHOWN]]
    return "### What changed\n\n" + "\n".join(lines)
