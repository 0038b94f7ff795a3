"""Pass rates over time, a line for each source."""

from weighbridge.jobs.batch_state import BatchState, BatchStatus
from weighbridge.jobs.outcome import Counts
from weighbridge_producer.pages.rate_history import HEIGHT, WIDTH, rate_histories


def batch(source, created_at, passed, failed, status=BatchStatus.COMPLETED):
    counts = Counts(total=passed + failed, passed=passed, failed=failed)
    state = BatchState(
        *(f"b{created_at}", status, counts, created_at, 9e9, None, True),
        *(1, 1, 1, 0, 0, 0.0, 0, None),
    )
    return state, source


def test_the_batches_of_a_source_stand_in_the_order_of_time():
    [history] = rate_histories(
        [batch("a", 3.0, 1, 3), batch("b", 2.5, 1, 0), batch("a", 2.0, 3, 1), batch("a", 1.0, 4, 0)]
    )
    assert history.source == "a"
    assert [point.rate for point in history.points] == [100, 75, 25]
    heights = [point.y for point in history.points]
    assert heights == sorted(heights)
    assert all(0 <= point.x <= WIDTH and 0 <= point.y <= HEIGHT for point in history.points)


def test_what_is_running_has_no_name_or_was_not_judged_is_left_out():
    told = [
        *(batch("a", at, 1, 1, BatchStatus.IN_PROGRESS) for at in (1.0, 2.0)),
        *(batch("", at, 1, 1) for at in (1.0, 2.0)),
        *(batch("c", at, 0, 0) for at in (1.0, 2.0)),
    ]
    assert rate_histories(told) == []


def test_the_sources_with_most_batches_are_shown():
    told = [batch(name, float(at), 1, 1) for name in "abcd" for at in range(2 + "abcd".index(name))]
    assert [history.source for history in rate_histories(told)] == ["d", "c", "b"]
