"""Charts: every figure lies where it should, however large or odd the numbers are."""

from __future__ import annotations

import pytest

from weighbridge.jobs.batch_state import BatchState, BatchStatus
from weighbridge.jobs.outcome import Counts
from weighbridge_producer.pages.progress import Sample, progress_of
from weighbridge_producer.trace_view.charts import (
    BAR_WIDTH,
    BOX,
    HEIGHT,
    WIDTH,
    bar,
    histogram,
    loop_strip,
    totals_chart,
)
from weighbridge_producer.trace_view.loop_marks import LoopedStep, ShownLoop
from weighbridge_producer.trace_view.running_totals import RunningTotal

# ---- bars and histograms ----


def test_a_bar_is_filled_by_its_parts_in_order():
    parts = bar(Counts(total=100, passed=50, failed=30, errored=20))
    assert [(part.outcome, part.jobs) for part in parts] == [
        ("passed", 50),
        ("failed", 30),
        ("errored", 20),
    ]
    assert sum(part.width for part in parts) == pytest.approx(BAR_WIDTH, abs=0.1)
    assert parts[1].x == pytest.approx(parts[0].width)


def test_one_failure_among_a_million_can_be_seen():
    parts = {part.outcome: part for part in bar(Counts(total=10**6, passed=10**6 - 1, failed=1))}
    assert parts["failed"].width >= 4


def test_what_is_pending_takes_its_share():
    assert [part.outcome for part in bar(Counts(total=10, passed=4))] == ["passed", "pending"]


def test_nothing_makes_an_empty_bar_and_no_histogram():
    assert bar(Counts()) == []
    assert histogram((0,) * 10) is None


def test_a_histogram_has_a_column_for_each_bucket_as_high_as_its_share():
    drawn = histogram((10, 0, 0, 0, 0, 5, 0, 0, 0, 100_000))
    heights = [column.height for column in drawn.columns]
    assert heights[9] == drawn.height
    assert heights[1] == 0
    assert 0 < heights[0] < 5
    assert drawn.columns[5].label == "0.5 to 0.6"
    assert drawn.total == 100_015


# ---- running totals ----


def running(points, limit=10.0, breach=None, known=None):
    return RunningTotal(
        check="max_tokens",
        unit="tokens",
        limit=limit,
        points=tuple(points),
        known=points[-1][1] if known is None else known,
        is_exact=True,
        breach=breach,
        is_first=True,
        is_sum=True,
    )


def test_a_running_total_is_a_line_of_steps_under_or_over_its_limit():
    chart = totals_chart(running([(1, 4.0), (3, 12.0)], breach=(3, 12.0)), steps=5)
    assert chart.breach.y < chart.limit_y < chart.base_y
    assert chart.line.split()[0] == f"{chart.left:g},{chart.base_y:g}"
    assert chart.line.split()[-1].split(",")[0] == f"{chart.right:g}"
    assert chart.rest is None


def test_what_only_the_run_states_is_drawn_above_the_end_of_the_line():
    chart = totals_chart(running([(1, 4.0), (3, 6.0)], known=12.0), steps=5)
    assert (chart.rest.x, chart.rest.number, chart.rest.amount) == (chart.right, 5, 12.0)
    assert 0 < chart.rest.y < chart.limit_y < float(chart.line.split(",")[-1])


@pytest.mark.parametrize(
    ("points", "limit"),
    [([(1, 0.0)], 0.0), ([(1, 1e-9)], 1e-12), ([(1, 1e18)], 5.0), ([(1, 3.0)], 1e15)],
)
def test_everything_lies_within_the_chart_whatever_the_amounts(points, limit):
    chart = totals_chart(running(points, limit), steps=1)
    places = [tuple(map(float, pair.split(","))) for pair in chart.line.split()]
    assert all(0 <= x <= WIDTH and 0 <= y <= HEIGHT for x, y in places)
    assert 0 <= chart.limit_y <= HEIGHT


# ---- loops ----


def loop(letters, period):
    members = tuple(LoopedStep(at + 1, letter, 1) for at, letter in enumerate(letters))
    return ShownLoop(1, "cycle", period, 3, len(letters), members, (), (), None, "")


def test_each_round_of_a_loop_has_a_bracket():
    strip = loop_strip(loop("ABCABCAB", 3))
    assert "".join(box.letter for box in strip.boxes) == "ABCABCAB"
    assert [bracket.width for bracket in strip.brackets] == [78, 78, 52]


def test_a_long_loop_is_drawn_whole_in_rows_of_whole_rounds():
    strip = loop_strip(loop("ABCDE" * 8, 5))
    assert len(strip.boxes) == 40
    assert (strip.width, strip.hidden) == (10 * BOX, 0)
    assert {box.y for box in strip.boxes if box.letter == "A"} == {0, 44, 88, 132}
    assert {bracket.x for bracket in strip.brackets} == {0, 5 * BOX}
    assert all(bracket.width == 5 * BOX for bracket in strip.brackets)


def test_a_round_that_is_longer_than_a_row_has_a_bracket_in_each():
    strip = loop_strip(loop("ABCDEFGHIJKLMNO" * 2, 15))
    assert [bracket.width // BOX for bracket in strip.brackets] == [12, 3, 9, 6]
    assert [bracket.round for bracket in strip.brackets] == [1, 1, 2, 2]


def test_a_loop_without_an_order_has_no_brackets_and_a_very_long_one_tells_what_it_hides():
    strip = loop_strip(loop("AB" * 150, None))
    assert strip.brackets == ()
    assert (len(strip.boxes), strip.hidden) == (240, 60)


# ---- progress ----


def state(status=BatchStatus.IN_PROGRESS, *, ended_at=None, sealed=True, **counts):
    return BatchState(
        *("b", status, Counts(**counts), 1000.0, 9e9, ended_at, sealed),
        *(1, 1, 1, 0, 0, 0.0, 0, None),
    )


def test_the_first_look_tells_the_rate_since_the_beginning():
    progress = progress_of(state(total=1000, passed=200), 1010.0)
    assert (progress.rate, progress.seconds_left, progress.percent) == (20.0, 40.0, 20)


def test_later_looks_tell_the_rate_between_them_smoothed():
    progress = progress_of(state(total=1000, passed=300), 1012.0, Sample(1010.0, 200, 20.0))
    assert progress.rate == pytest.approx(32.0)
    assert progress.sample == Sample(1012.0, 300, progress.rate)


def test_no_time_left_is_told_while_jobs_arrive():
    assert progress_of(state(total=1000, passed=200, sealed=False), 1010.0).seconds_left is None


def test_a_look_that_comes_too_soon_keeps_the_rate():
    assert progress_of(state(total=9, passed=3), 1010.1, Sample(1010.0, 3, 7.0)).rate == 7.0


@pytest.mark.parametrize(
    "before", [Sample(2000.0, 0, 5.0), Sample(1009.0, 500, 5.0), Sample(0.0, 0, 0.0)]
)
def test_numbers_that_cannot_be_true_make_no_rate_below_zero(before):
    assert (progress_of(state(total=9, passed=3), 1010.0, before).rate or 0) >= 0


def test_an_ended_batch_tells_its_rate_over_all():
    ended = state(BatchStatus.COMPLETED, ended_at=1005.0, total=50, passed=50)
    assert progress_of(ended, 5000.0).rate == 10.0


def test_only_what_is_all_done_is_a_hundred_percent():
    assert progress_of(state(total=1000, passed=999), 1010.0).percent == 99
