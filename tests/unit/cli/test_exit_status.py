import pytest

from weighbridge.jobs.model import BatchState, BatchStatus
from weighbridge.jobs.outcome import Counts
from weighbridge_producer.cli.exit_status import exit_status, incomplete_reason


def ended(status=BatchStatus.COMPLETED, **counts):
    total = sum(counts.values())
    return BatchState(
        *("wb_0_0_0", status, Counts(total=total, **counts), 0.0, 0.0, 1.0, True),
        *(1, total, 100, 0, 0, 0.0, 0, None),
    )


@pytest.mark.parametrize(
    ("counts", "status"),
    [
        ({"passed": 3}, 0),
        ({"passed": 2, "failed": 1}, 100),
        ({"failed": 3}, 100),
        ({}, 1),
        ({"ungradable": 3}, 1),
        ({"errored": 3}, 1),
        ({"passed": 2, "ungradable": 1}, 1),
        ({"passed": 2, "errored": 1}, 1),
        ({"failed": 2, "errored": 1}, 1),
        ({"failed": 2, "ungradable": 1}, 100),
    ],
)
def test_all_passed_is_0_some_failed_is_100_and_what_could_not_be_judged_is_1(counts, status):
    assert exit_status(ended(**counts)) == status


@pytest.mark.parametrize(
    ("counts", "rate", "status"),
    [
        ({"passed": 9, "failed": 1}, 0.9, 0),
        ({"passed": 9, "failed": 1}, 0.91, 100),
        ({"passed": 55, "failed": 45}, 0.55, 0),
        ({"passed": 7, "failed": 93}, 0.07, 0),
        ({"failed": 1}, 0.0, 0),
        ({"passed": 9, "failed": 1, "errored": 1}, 0.5, 1),
        ({"passed": 9, "failed": 1, "ungradable": 1}, 0.5, 1),
        ({"ungradable": 1}, 0.0, 1),
    ],
)
def test_a_pass_rate_forgives_failures_and_nothing_else(counts, rate, status):
    assert exit_status(ended(**counts), min_pass_rate=rate) == status


@pytest.mark.parametrize(
    ("counts", "share", "status"),
    [
        ({"passed": 9, "errored": 1}, 0.9, 0),
        ({"passed": 9, "ungradable": 1}, 0.9, 0),
        ({"passed": 55, "errored": 45}, 0.55, 0),
        ({"passed": 8, "errored": 1, "ungradable": 1}, 0.9, 1),
        ({"passed": 8, "failed": 1, "errored": 1}, 0.9, 100),
    ],
)
def test_a_gradable_share_forgives_what_could_not_be_judged_and_no_failure(counts, share, status):
    assert exit_status(ended(**counts), min_gradable=share) == status


def test_both_thresholds_forgive_both():
    state = ended(passed=8, failed=1, errored=1)
    assert exit_status(state, min_pass_rate=0.8, min_gradable=0.9) == 0


@pytest.mark.parametrize("status", [BatchStatus.CANCELLED, BatchStatus.EXPIRED, BatchStatus.FAILED])
def test_a_batch_that_did_not_complete_is_trouble_even_when_all_of_it_passed(status):
    assert exit_status(ended(status, passed=3)) == 1


@pytest.mark.parametrize(
    ("state", "rates", "why"),
    [
        (ended(passed=2, ungradable=1), {}, "1 job was ungradable; --min-gradable allows some"),
        (ended(passed=2, ungradable=2), {}, "2 jobs were ungradable; --min-gradable allows some"),
        (ended(passed=2, errored=3), {}, "3 jobs errored; --min-gradable allows some"),
        (
            ended(errored=3, ungradable=1),
            {},
            "3 jobs errored, 1 ungradable; --min-gradable allows some",
        ),
        (
            ended(passed=8, errored=2),
            {"min_gradable": 0.9},
            "of 10 jobs, 8 could be judged; --min-gradable requires a share of 0.9",
        ),
        (ended(), {}, "there was nothing to grade"),
        (ended(BatchStatus.CANCELLED, passed=1), {}, "the batch is cancelled"),
        (
            ended(ungradable=1),
            {"min_pass_rate": 0.5},
            "no job was judged, so there is no pass rate",
        ),
        (ended(passed=1, failed=1), {}, ""),
        (ended(passed=1), {}, ""),
    ],
)
def test_what_makes_the_exit_status_1_is_told(state, rates, why):
    assert incomplete_reason(state, **rates) == why
    assert (exit_status(state, **rates) == 1) == bool(why)
