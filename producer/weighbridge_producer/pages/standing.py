"""How a batch stands, in words and figures: its outcome first, then each label's jobs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from weighbridge.jobs.outcome import Counts, Outcome
from weighbridge.text import pluralize
from weighbridge_producer.pages.addresses import batch_at
from weighbridge_producer.trace_view.charts import Histogram, Segment, bar, histogram

if TYPE_CHECKING:
    from weighbridge.jobs.model import BatchState
    from weighbridge.jobs.outcome import GraderSummary

_NOT_GRADED = (Outcome.UNGRADABLE, Outcome.ERRORED, Outcome.CANCELLED, Outcome.EXPIRED)


class OutcomeBar(NamedTuple):
    """How many jobs of a label came to one end, of how many, and where they are listed."""

    name: str
    css_class: str
    jobs: int
    of: int
    noun: str
    href: str


@dataclass(frozen=True, slots=True)
class LabelView:
    """One label's jobs as the page shows them."""

    summary: GraderSummary
    name: str
    bar: list[Segment]
    outcomes: list[OutcomeBar]
    histogram: Histogram | None


class Answer(NamedTuple):
    """What a batch's jobs came to, in a few words, and the CSS class of the worst of it."""

    words: str
    css_class: str


def answer_of(state: BatchState) -> Answer:
    """Return what the jobs of a batch came to so far; its life cycle is told apart."""
    counts, jobs = state.counts, state.counts.passed + state.counts.failed
    others = ", ".join(
        f"{counts.jobs(outcome):,} {outcome}" for outcome in _NOT_GRADED if counts.jobs(outcome)
    )
    if counts.failed:
        told = f"{counts.failed:,} of {pluralize(jobs, 'job')} failed"
        return Answer(f"{told}; {others}" if others else told, "fail")
    if counts.passed and not others:
        everything = f"All {pluralize(jobs, 'job')}" if jobs > 1 else "The one job"
        is_whole = counts.pending == 0 and state.status.final
        return Answer(f"{everything} passed" if is_whole else f"{jobs:,} passed so far", "pass")
    if others:
        return Answer(f"{others}; {counts.passed:,} passed", _worst(counts))
    return Answer("Nothing was graded" if state.status.final else "Nothing is graded yet", "")


def _worst(counts: Counts) -> str:
    return "errored" if counts.errored else "ungradable" if counts.ungradable else "muted"


def pass_rate(counts: Counts | GraderSummary) -> float | None:
    """Return the percentage of the passed among passed and failed jobs; None where there are neither."""
    judged = counts.passed + counts.failed
    return 100 * counts.passed / judged if judged else None


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
    """Return the outcomes that there are, those of graders with the graded jobs as their denominator."""
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
    """Return of how many jobs an outcome is told, and what they are, as summaries in a terminal do."""
    if outcome.has_score:
        return counts.passed + counts.failed, "judged"
    return (counts.graded, "graded") if outcome.verdict else (total or counts.finished, "in all")
