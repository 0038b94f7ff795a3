"""Outcomes: one for every way in which a job ends, and whatever counts jobs counts each of them."""

from weighbridge.graders.base import Verdict
from weighbridge.jobs.outcome import OUTCOME_OF, RATED, Counts, GraderSummary, JobStatus, Outcome
from weighbridge.store.base import source_of

EACH = {outcome.value: 2**place for place, outcome in enumerate(Outcome)}


def test_every_verdict_and_every_other_status_is_one_outcome() -> None:
    assert {verdict: outcome.verdict for verdict, outcome in OUTCOME_OF.items()} == {
        verdict: verdict for verdict in Verdict
    }
    others = [outcome.status for outcome in Outcome if outcome.verdict is None]
    assert [JobStatus.GRADED, *others] == list(JobStatus)


def test_an_outcome_has_the_word_that_results_are_shown_by() -> None:
    words = ["pass", "fail", "ungradable", "errored", "cancelled", "expired"]
    assert [outcome.word for outcome in Outcome] == words


def test_counts_add_up_over_every_outcome() -> None:
    counts = Counts(total=100, **EACH)
    assert counts.graded == EACH["passed"] + EACH["failed"] + EACH["ungradable"]
    assert counts.finished == sum(EACH.values())
    assert counts.pending == 100 - counts.finished
    shown = counts.as_dict()
    assert list(shown) == ["total", "graded", *EACH, "pending"]
    assert {name: shown[name] for name in EACH} == EACH


def test_a_summary_shows_every_outcome() -> None:
    shown = GraderSummary("l", "g", **EACH, causes=(("why", 2),)).as_dict()
    assert list(shown)[:3] == ["label", "grader", "graded"]
    assert {name: shown[name] for name in EACH} == EACH
    assert shown["causes"] == {"why": 2}


def test_the_script_that_records_knows_every_outcome_and_those_that_no_grader_gave() -> None:
    ungraded, cut_short = "{'errored', 'cancelled', 'expired'}", "{'cancelled', 'expired'}"
    lists = f"{{'passed', 'failed', 'ungradable', {ungraded[1:]}, {ungraded}, {cut_short}"
    assert source_of("record").startswith(f"local OUTCOMES, UNGRADED, CUT_SHORT = {lists}\n")


def test_each_outcome_has_a_column_in_tables_or_the_batch_ended_before_it() -> None:
    assert RATED == ("passed", "failed", "ungradable", "errored")
    counts = Counts(**EACH)
    assert counts.cut_short == EACH["cancelled"] + EACH["expired"]
    assert counts.judged == EACH["passed"] + EACH["failed"]
    wholes = [counts.whole_of(outcome) for outcome in Outcome]
    assert wholes == [counts.judged, counts.judged, counts.graded, *[counts.finished] * 3]


def test_the_worst_outcome_ranks_first() -> None:
    ranked = sorted(Outcome, key=lambda outcome: outcome.rank)
    assert ranked == ["failed", "errored", "ungradable", "cancelled", "expired", "passed"]
    assert [outcome.rank for outcome in ranked] == list(range(len(Outcome)))
