"""The state of a batch in words and figures: its overall outcome, and the jobs of each label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from weighbridge.jobs.outcome import Counts, Outcome
from weighbridge.text import pluralize
from weighbridge_producer.pages.addresses import batch_at
from weighbridge_producer.trace_view.charts import Histogram, Segment, bar, histogram

if TYPE_CHECKING:
    from weighbridge.jobs.batch_state import BatchState
    from weighbridge.jobs.outcome import GraderSummary

_NOT_JUDGED = tuple(outcome for outcome in Outcome if not outcome.has_score)


class OutcomeBar(NamedTuple):
    """Number of jobs with one outcome, with the denominator and a link to the jobs."""

    name: str
    css_class: str
    jobs: int
    of: int
    noun: str
    href: str


@dataclass(frozen=True, slots=True)
class LabelView:
    """One label's jobs, for display."""

    summary: GraderSummary
    name: str
    bar: list[Segment]
    outcomes: list[OutcomeBar]
    histogram: Histogram | None


class OverallOutcome(NamedTuple):
    """The overall outcome of a batch in a few words, and the CSS class of the worst outcome."""

    words: str
    css_class: str


def overall_outcome(state: BatchState) -> OverallOutcome:
    """Return the outcome of a batch's jobs so far; the batch's status is shown separately."""
    counts, jobs = state.counts, state.counts.judged
    others = ", ".join(
        f"{counts.jobs(outcome):,} {outcome}" for outcome in _NOT_JUDGED if counts.jobs(outcome)
    )
    if counts.failed:
        text = f"{counts.failed:,} of {pluralize(jobs, 'job')} failed"
        return OverallOutcome(f"{text}; {others}" if others else text, "fail")
    if counts.passed and not others:
        everything = f"All {pluralize(jobs, 'job')}" if jobs > 1 else "The one job"
        is_whole = counts.pending == 0 and state.status.final
        return OverallOutcome(
            f"{everything} passed" if is_whole else f"{jobs:,} passed so far", "pass"
        )
    if others:
        return OverallOutcome(f"{others}; {counts.passed:,} passed", _worst(counts))
    return OverallOutcome(
        "Nothing was graded" if state.status.final else "Nothing is graded yet", ""
    )


def _worst(counts: Counts) -> str:
    found = [outcome for outcome in _NOT_JUDGED if counts.jobs(outcome)]
    return min(found, key=lambda outcome: outcome.rank).css_class


def pass_rate(counts: Counts | GraderSummary) -> float | None:
    """Return the percentage of passed jobs among passed and failed ones; None if there are neither."""
    return 100 * counts.passed / counts.judged if counts.judged else None


def label_view(batch_id: str, summary: GraderSummary) -> LabelView:
    """Return one label's jobs as a bar, counts, and a histogram of scores."""
    return LabelView(
        summary,
        summary.label or "lines that are not cases",
        bar(summary),
        outcomes_of(batch_id, summary, 0, {"label": summary.label}),
        histogram(summary.scores),
    )


def outcomes_of(
    batch_id: str, counts: Counts | GraderSummary, total: int, filters: dict[str, str]
) -> list[OutcomeBar]:
    """Return the outcomes that occur, with their denominators."""
    found = []
    for outcome in Outcome:
        jobs = counts.jobs(outcome)
        if jobs or (outcome.has_score and counts.graded):
            named: dict[str, str]
            named = {"verdict": outcome.verdict} if outcome.verdict else {"status": outcome.status}
            href = batch_at(batch_id, "results", **filters, **named)
            of, noun = _denominator(counts, outcome, total)
            found.append(OutcomeBar(outcome, outcome.css_class, jobs, of, noun, href))
    return found


def _denominator(counts: Counts | GraderSummary, outcome: Outcome, total: int) -> tuple[int, str]:
    """Return the denominator for an outcome and its noun, the same as in the terminal's summaries."""
    whole = counts.whole_of(outcome)
    if outcome.has_score:
        return whole, "judged jobs"
    return (whole, "graded jobs") if outcome.verdict else (total or whole, "jobs")
