"""Passes of `tool-schema` in which only lists of names judged the calls, because no tool that was called has a schema."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from weighbridge.jobs.outcome import VACUOUS, Outcome
from weighbridge.jobs.result_line import ResultRow

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from weighbridge.jobs.grader_spec import GraderSpec

_GRADER = "tool-schema"
_FIELD = "schema_judged_calls"
_NO_CALL = f'"{_FIELD}":0'.encode()  #: as result lines have it


def passed_by_names(row: ResultRow) -> bool:
    """Return whether a result is such a pass; a vacuous one is not, since no list judged its calls either."""
    if row.grader != _GRADER or row.result is None or row.outcome is not Outcome.PASSED:
        return False
    return row.result["details"].get(_FIELD) == 0 and row.cause != VACUOUS


def passes_by_names(results: Path, graders: Iterable[GraderSpec]) -> Counter[str]:
    """Return the number of such passes in a file of results, by label."""
    found: Counter[str] = Counter()
    if all(spec.grader != _GRADER for spec in graders):
        return found
    with results.open("rb") as lines:
        for line in lines:
            if _NO_CALL in line:
                row = ResultRow.from_bytes(line)
                found[row.label or ""] += passed_by_names(row)
    return found
