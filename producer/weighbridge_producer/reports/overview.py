"""The counts of a report, and its causes with one example each, from one pass over the results."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from weighbridge.graders.difference_reason import shorten_reason
from weighbridge.jobs.outcome import CUT_SHORT, SCORE_BUCKETS, VACUOUS, Outcome
from weighbridge_producer.gating.slices import summary_of
from weighbridge_producer.reports.recorded_verdicts import RecordedVerdicts
from weighbridge_producer.reports.row_names import file_of, with_file
from weighbridge_producer.reports.weak_passes import WeakPasses

if TYPE_CHECKING:
    from weighbridge.jobs.outcome import GraderSummary
    from weighbridge.jobs.result_line import ResultRow
    from weighbridge_producer.gating.slices import SliceTally
    from weighbridge_producer.reports.report import Report

LABELS_LIMIT = 1_000  #: others are counted together
CAUSES_LIMIT = 1_000  #: over all labels; others are counted together
OTHER = "(other)"
_REASON_CHARACTERS = 300


class Cause(NamedTuple):
    """A reason why jobs of one label did not pass."""

    label: str
    grader: str
    cause: str
    jobs: int
    example: str  #: the custom_id of the first job with this cause
    reason: str  #: the reason of that job
    file: str = ""  #: the file of that job; empty if it has none that its id does not name

    @property
    def example_and_file(self) -> str:
        """The name of the example, with its file if it has one."""
        return with_file(self.example, self.file)


class _Example(NamedTuple):
    line: int
    name: str
    reason: str
    file: str


@dataclass(slots=True)
class Survey:
    """The counts of a report."""

    counts: Counter[Outcome] = field(default_factory=Counter)
    weak_passes: WeakPasses = field(default_factory=WeakPasses)
    recorded_verdicts: RecordedVerdicts = field(default_factory=RecordedVerdicts)
    #: jobs with failed checks of other causes than the one by which they are counted
    further_causes: int = 0
    _labels: dict[str, str] = field(default_factory=dict)  #: grader ids by label
    _jobs: Counter[tuple[str, str]] = field(default_factory=Counter)  #: by label and outcome
    _causes: Counter[tuple[str, str]] = field(default_factory=Counter)  #: by label and cause
    _first: dict[tuple[str, str], _Example] = field(default_factory=dict)
    _scores: Counter[tuple[str, int]] = field(default_factory=Counter)  #: by label and bucket

    @property
    def total(self) -> int:
        """Number of jobs."""
        return self.counts.total()

    def labels(self) -> list[GraderSummary]:
        """Return the outcomes by label, sorted, with graders and causes."""
        causes: dict[str, list[tuple[str, int]]] = {}
        for each in self.causes():
            causes.setdefault(each.label, []).append((each.cause, each.jobs))
        return [
            replace(
                summary_of(label, {name: self._jobs[label, name] for name in (*Outcome, VACUOUS)}),
                grader=grader,
                causes=tuple(causes.get(label, ())),
                scores=tuple(self._scores[label, bucket] for bucket in range(SCORE_BUCKETS)),
            )
            for label, grader in sorted(self._labels.items())
        ]

    def causes(self) -> list[Cause]:
        """Return the causes of jobs that did not pass, the commonest first; those that were not graded come last."""
        found = [
            Cause(label, self._labels[label], cause, jobs, *self._first[label, cause][1:])
            for (label, cause), jobs in self._causes.items()
        ]
        return sorted(
            found,
            key=lambda each: (each.cause in CUT_SHORT, -each.jobs, each.label, each.cause),
        )

    def add(self, row: ResultRow) -> None:
        """Count a result."""
        self.recorded_verdicts.add(row)
        outcome, cause = row.outcome, row.cause
        label = row.label or ""
        if label not in self._labels and len(self._labels) >= LABELS_LIMIT:
            label = OTHER
        self._labels.setdefault(label, row.grader or "")
        self.counts[outcome] += 1
        self._jobs[label, outcome] += 1
        if outcome.has_score and row.score is not None:
            self._scores[label, min(int(row.score * SCORE_BUCKETS), SCORE_BUCKETS - 1)] += 1
        if outcome is Outcome.PASSED:
            self._jobs[label, VACUOUS] += cause == VACUOUS
            self.weak_passes.add(row, label)
            return
        self.further_causes += len(row.causes) > 1
        key = label, cause or outcome.word
        if key not in self._first and len(self._first) >= CAUSES_LIMIT:
            key = label, OTHER
        self._causes[key] += 1
        # Results arrive in any order, so use the first in input order to be deterministic.
        if key not in self._first or row.line < self._first[key].line:
            name = row.custom_id or f"line {row.line}"
            reason = shorten_reason(row.reason(), _REASON_CHARACTERS)
            self._first[key] = _Example(row.line, name, reason, file_of(row))


def survey(report: Report, slices: SliceTally | None = None) -> Survey:
    """Count all results, also by slice, in one pass."""
    found = Survey()
    for row in report.rows():
        found.add(row)
        if slices:
            slices.add_row(row)
    return found
