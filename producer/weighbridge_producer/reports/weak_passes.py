"""Passes that rest on less than they seem to.

In a pass of `tool-schema` by names alone, no tool that was called has a schema. In a pass of `budget` with usage ignored,
a limit was judged by the known part of what it limits, which may be nothing.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from weighbridge.jobs.outcome import VACUOUS, Outcome
from weighbridge.jobs.result_line import ResultRow

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from weighbridge.jobs.grader_spec import GraderSpec

_TOOLS, _BUDGET = "tool-schema", "budget"
_JUDGED, _IGNORED = "schema_judged_calls", "ignored"
#: What such a result of a grader has in its line.
_SIGNS = {_TOOLS: f'"{_JUDGED}":0'.encode(), _BUDGET: f'"{_IGNORED}":["'.encode()}


@dataclass(slots=True)
class WeakPasses:
    """The numbers of such passes, by label."""

    by_names: Counter[str] = field(default_factory=Counter)
    usage_ignored: Counter[str] = field(default_factory=Counter)

    def add(self, row: ResultRow, label: str) -> None:
        """Count a result if it is such a pass; a vacuous one is not, since nothing was judged."""
        if row.outcome is not Outcome.PASSED or row.result is None or row.cause == VACUOUS:
            return
        details = row.result["details"]
        if row.grader == _TOOLS:
            self.by_names[label] += details.get(_JUDGED) == 0
        elif row.grader == _BUDGET:
            self.usage_ignored[label] += bool(details.get(_IGNORED))

    def of(self, label: str) -> Iterator[tuple[str, int]]:
        """Yield what a label's passes rest on, and how many they are."""
        if jobs := self.by_names[label]:
            yield "passes by names alone (no schema for the tools called)", jobs
        if jobs := self.usage_ignored[label]:
            yield "passes with usage that is not known, and was ignored", jobs

    def as_dict(self) -> dict[str, Counter[str]]:
        """Return the numbers in their JSON form."""
        return {
            "passes_by_names": +self.by_names,
            "passes_with_usage_ignored": +self.usage_ignored,
        }


def weak_passes(results: Path, graders: Iterable[GraderSpec]) -> WeakPasses:
    """Return the numbers of such passes in a file of results."""
    found = WeakPasses()
    signs = tuple({_SIGNS[spec.grader] for spec in graders if spec.grader in _SIGNS})
    if not signs:
        return found
    with results.open("rb") as lines:
        for line in lines:
            if any(sign in line for sign in signs):
                row = ResultRow.from_bytes(line)
                found.add(row, row.label or "")
    return found
