"""Comparison of verdicts with those that the tool of the input has recorded."""

from __future__ import annotations

from bisect import insort
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from weighbridge.jobs.outcome import Outcome
from weighbridge.jobs.result_line import ResultRow
from weighbridge.text import pluralize
from weighbridge_producer.input.mapping.recorded_verdicts import RECORDED_VERDICT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_SIGN = f'"{RECORDED_VERDICT}":'.encode()
_BLOCK_BYTES = 1024 * 1024
_LABELS_LIMIT = 1_000
_NAMED = 5  #: cases with another verdict, per label
_OUTCOMES = {
    "pass": Outcome.PASSED,
    "fail": Outcome.FAILED,
    # As a column of one's own may have it.
    **dict.fromkeys(("true", "1", "1.0"), Outcome.PASSED),
    **dict.fromkeys(("false", "0", "0.0"), Outcome.FAILED),
}


@dataclass(slots=True)
class RecordedVerdicts:
    """How many verdicts agree with the recorded ones, and the first cases whose verdicts differ, by label."""

    agreeing: Counter[str] = field(default_factory=Counter)
    differing: Counter[tuple[str, Outcome]] = field(default_factory=Counter)  #: by verdict here
    _first: dict[str, list[tuple[int, str]]] = field(default_factory=dict)  #: line and name

    def add(self, row: ResultRow) -> None:
        """Count a result if it passed or failed, and its metadata have a recorded verdict."""
        recorded = row.metadata.get(RECORDED_VERDICT) if row.metadata else None
        is_one_value = isinstance(recorded, (str, bool, int, float))
        there = _OUTCOMES.get(str(recorded).lower()) if is_one_value else None
        if there is None or row.outcome not in (Outcome.PASSED, Outcome.FAILED):
            return
        label = row.label or ""
        if row.outcome is there:
            self.agreeing[label] += 1
            return
        self.differing[label, row.outcome] += 1
        if label in self._first or len(self._first) < _LABELS_LIMIT:
            # Results arrive in any order, so use the first in input order to be deterministic.
            first = self._first.setdefault(label, [])
            insort(first, (row.line, row.custom_id or f"line {row.line}"))
            del first[_NAMED:]

    def of(self, label: str) -> str:
        """Return what the verdicts of a label agree with, and which do not; empty if none is recorded."""
        failed, passed = (self.differing[label, each] for each in (Outcome.FAILED, Outcome.PASSED))
        differ, total = failed + passed, self.agreeing[label] + failed + passed
        if not total:
            return ""
        if not differ:
            return f"{pluralize(total, 'verdict')} as recorded in the input"
        parts = [f"{failed:,} failed here and passed there"] if failed else []
        parts += [f"{passed:,} passed here and failed there"] if passed else []
        return (
            f"{differ:,} of {pluralize(total, 'verdict')} unlike those recorded in the input (metadata.{RECORDED_VERDICT}):"
            f" {', '.join(parts)}: {', '.join(self._named(label))}{', ...' if differ > _NAMED else ''}"
        )

    def as_dict(self) -> dict[str, dict[str, Any]]:
        """Return the numbers by label in their JSON form."""
        labels = sorted({*self.agreeing, *(label for label, _ in self.differing)})
        return {
            label: {
                "agree": self.agreeing[label],
                "failed_here": self.differing[label, Outcome.FAILED],
                "passed_here": self.differing[label, Outcome.PASSED],
                "first": self._named(label),
            }
            for label in labels
        }

    def _named(self, label: str) -> list[str]:
        return [name for _, name in self._first.get(label, ())]


def recorded_verdicts(results: Path) -> RecordedVerdicts:
    """Compare the verdicts in a file of results with the recorded ones."""
    found = RecordedVerdicts()
    for line in _lines_with(_SIGN, results):
        found.add(ResultRow.from_bytes(line))
    return found


def _lines_with(sign: bytes, path: Path) -> Iterator[bytes]:
    """Yield the lines of a file that hold something; faster than to look at each line if few do."""
    with path.open("rb") as file:
        while lines := file.read(_BLOCK_BYTES) + file.readline():
            if sign in lines:
                yield from (line for line in lines.splitlines() if sign in line)
