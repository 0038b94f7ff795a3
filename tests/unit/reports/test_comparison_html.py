"""A comparison as one HTML file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from support.pages import Page
from support.result_lines import case, graded
from weighbridge_producer.comparison.compare import compare_runs
from weighbridge_producer.comparison.regression_gates import RegressionGates
from weighbridge_producer.comparison.runs import run_of_lines
from weighbridge_producer.reports.comparison_forms import ComparisonData, blocks_of, change_line
from weighbridge_producer.reports.comparison_html import ROWS_LIMIT
from weighbridge_producer.reports.forms import FORMS

if TYPE_CHECKING:
    from pathlib import Path

HOSTILE = '"></td><script>alert(1)</script>\u202e'


def page_of(tmp_path: Path, *runs: list[bytes]) -> Page:
    changes = tmp_path / "changes.jsonl"
    with changes.open("wb") as file:

        def write(run, pair) -> None:
            file.write(change_line(run, pair))

        named = [run_of_lines(f"run {number}", lines) for number, lines in enumerate(runs)]
        found = compare_runs(named, on_change=write)
    gates = RegressionGates("0")
    written = ComparisonData([(each, gates.check(each)) for each in found], changes)
    return Page.of(b"".join(blocks_of(written, FORMS["html"])).decode())


def test_the_file_has_rates_gates_causes_and_what_changed(tmp_path: Path) -> None:
    before = graded([case("a", "Lisbon"), case("b"), case("c", "Porto")])
    after = graded([case("a", "lisbon"), case("b"), case("c"), case("d")])
    text = page_of(tmp_path, before, after).root.text
    for told in (
        "run 0 → run 1",
        "--max-regressions 0",
        "1 regressed",
        "1 new",
        "What changed most often",
        "only the case differs",
        "1 result unchanged",
    ):
        assert told in text, told


def test_hostile_names_stay_text_and_nothing_is_loaded(tmp_path: Path) -> None:
    before = graded([case(HOSTILE, "Lisbon")])
    after = graded([case(HOSTILE, HOSTILE)])
    page = page_of(tmp_path, before, after)
    assert [each.tag for each in page.intruders()] == ["style"]
    assert "\u202e" not in page.root.text
    assert not page.root.all("script")
    assert not [link for link in page.root.all("link") if "data:" not in link.attributes["href"]]


def test_each_of_several_runs_has_its_own_section(tmp_path: Path) -> None:
    first, second, third = (graded([case("a", answer)]) for answer in ("Lisbon", "x", "y"))
    page = page_of(tmp_path, first, second, third)
    ids = [each.attributes["id"] for each in page.root.all() if "id" in each.attributes]
    assert len(ids) == len(set(ids))
    assert {"c1-regressed", "c2-regressed"} <= set(ids)


@pytest.mark.slow
def test_a_long_list_is_cut_and_the_rest_counted(tmp_path: Path) -> None:
    many = range(ROWS_LIMIT + 2)
    before = graded([case(f"q{n}", "Lisbon") for n in many])
    after = graded([case(f"q{n}", "x") for n in many])
    page = page_of(tmp_path, before, after)
    names = [cell.text for cell in page.root.all("td", class_="of-case")]
    assert names == [f"q{n}" for n in many][:ROWS_LIMIT]
    text = page.root.text
    assert f"The first {ROWS_LIMIT} of {ROWS_LIMIT + 2}" in text
