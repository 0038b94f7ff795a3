"""Pass rates over time, a line for each source."""

from datetime import datetime

import pytest

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


def moments(*texts):
    return [batch("a", datetime.fromisoformat(f"{text}+00:00").timestamp(), 1, 1) for text in texts]


@pytest.mark.parametrize(
    ("batches", "ticks"),
    [
        (("2026-11-02T23:59", "2026-11-03T00:01"), ["2 Nov", "3 Nov"]),
        (("2025-12-31", "2026-01-01"), ["31 Dec 2025", "1 Jan 2026"]),
        (("2026-11-02T09:00", "2026-11-02T17:30"), ["2 Nov, 09:00", "17:30"]),
        ([f"2026-11-0{day}" for day in range(1, 6)], ["1 Nov", "5 Nov", "3 Nov"]),
        ([f"2026-11-0{day}" for day in (1, 1, 1, 1, 2)], ["1 Nov", "2 Nov"]),
        ([f"2026-11-0{day}" for day in range(1, 5)], ["1 Nov", "4 Nov"]),
    ],
)
def test_the_axis_has_the_dates_of_a_few_batches_in_utc(batches, ticks):
    [history] = rate_histories(moments(*batches))
    assert [tick.text for tick in history.ticks] == ticks
    ends = {"start": 0, "middle": len(batches) // 2, "end": -1}
    assert all(tick.x == history.points[ends[tick.anchor]].x for tick in history.ticks)


def test_what_is_running_has_no_name_or_was_not_judged_is_left_out():
    told = [
        *(batch("a", at, 1, 1, BatchStatus.IN_PROGRESS) for at in (1.0, 2.0)),
        *(
            batch(unnamed, at, 1, 1)
            for unnamed in ("", "upload", "pasted lines", "standard input", "cases")
            for at in (1.0, 2.0)
        ),
        *(batch("c", at, 0, 0) for at in (1.0, 2.0)),
    ]
    assert rate_histories(told) == []


def test_the_sources_with_most_batches_are_shown():
    told = [batch(name, float(at), 1, 1) for name in "abcd" for at in range(2 + "abcd".index(name))]
    assert [history.source for history in rate_histories(told)] == ["d", "c", "b"]
