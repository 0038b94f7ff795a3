"""The page in one file: everything in it is escaped and bounded, and nothing in it is from elsewhere."""

import re

import orjson
import pytest

from support.examples import SHOP_AGENT
from weighbridge.grading.line_grader import grade_lines
from weighbridge.jobs.grader_spec import GraderSpec
from weighbridge.settings import Settings
from weighbridge_producer.gating.gates import FAILED, GateResult
from weighbridge_producer.gating.slices import Slice, summary_of
from weighbridge_producer.input.source import Source
from weighbridge_producer.reports import html
from weighbridge_producer.reports.forms import FORMS
from weighbridge_producer.reports.report import Report
from weighbridge_producer.run.cases_of_results import cases_in

ATTACK = "</script></style><script>pwned=1</script><img src=x onerror=pwned=2>"


def page(tmp_path, lines, **options):
    path = tmp_path / "results.jsonl"
    path.write_bytes(b"".join(lines))
    return b"".join(
        FORMS["html"].blocks(Report(path, options.pop("name", "cases"), **options))
    ).decode()


def graded(*answers, custom_id="q", **fields):
    cases = [
        {
            "custom_id": f"{custom_id}{n}",
            "inputs": {"agent_response": answer, "expected_output": "Graz"},
            **fields,
        }
        for n, answer in enumerate(answers, 1)
    ]
    return list(grade_lines(map(orjson.dumps, cases), ["string-match"]))


def data_of(text):
    [found] = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text)
    return orjson.loads(found)


def test_every_result_is_a_row_and_the_first_failures_have_their_evidence(tmp_path):
    text = page(tmp_path, graded("Graz", "graz", "Oslo"))
    data = data_of(text)
    assert data["rows"] == [
        ["q1", 0, 0, 1.0, 0, "", 0],
        ["q2", 0, 1, 0.0, 1, "Expected 'Graz' but got 'graz': only the case differs", 1],
        ["q3", 0, 1, 0.0, 2, "Expected 'Graz' but got 'Oslo'", 2],
    ]
    assert data["labels"] == ["string-match"]
    assert data["outcomes"] == ["pass", "fail"]
    assert data["causes"] == ["", "string_match: case", "string_match: other"]
    assert data["missing"] == 0
    assert re.findall(r'<details class="card fail evidence-card" id="(r-\d)"', text) == [
        "r-1",
        "r-2",
    ]
    assert "<mark>G</mark>raz" in text
    assert 'href="#cause=0-1"' in text


def test_lines_that_are_no_cases_are_a_share_of_all_results(tmp_path):
    lines = [*graded("x", "y", "Graz"), *grade_lines([b"{"], ["string-match"])]
    counts = re.findall(r'class="muted">(of \d+, [^<]+)<', page(tmp_path, lines))
    assert counts == ["of 3, 66.7%", "of 4, 25.0%"]


def test_gates_are_reported(tmp_path):
    gate = GateResult("--min-pass-rate 0.9", "", "90% or more", "50%", FAILED)
    assert "✗ not met" in page(tmp_path, graded("x"), gates=(gate,))
    assert "and 5 more, 5 of them not met" in page(tmp_path, graded("x"), gates=(gate,) * 25)


def test_a_stranger_cannot_write_markup_anywhere(tmp_path):
    lines = graded(ATTACK, custom_id=ATTACK[:200], metadata={ATTACK: ATTACK})
    text = page(tmp_path, lines, name=ATTACK)
    assert "<script>pwned" not in text
    assert "<img src=x" not in text
    assert text.count("</script>") == 2
    assert text.count("</style>") == 1


def test_it_loads_nothing_from_elsewhere(tmp_path):
    text = page(tmp_path, graded("x"))
    assert not re.search(r"(?:src|href)=\"(?!#|data:)", text)
    assert "http:" not in text
    assert "https:" not in text


def test_failures_come_first_where_there_are_more_results_than_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(html, "ROWS_LIMIT", 3)
    data = data_of(page(tmp_path, graded("Graz", "Graz", "Graz", "a", "b")))
    assert [row[0] for row in data["rows"]] == ["q1", "q4", "q5"]
    assert data["missing"] == 2


def test_evidence_and_rows_have_a_bound_in_bytes(tmp_path, monkeypatch):
    monkeypatch.setattr(html, "EVIDENCE_BYTES", 3_000)
    monkeypatch.setattr(html, "ROWS_BYTES", 400)
    text = page(tmp_path, graded(*["x" * 100] * 50))
    assert 0 < text.count('class="card fail evidence-card"') < 10
    assert "more results that did not pass" in text
    data = data_of(text)
    assert len(data["rows"]) + data["missing"] == 50
    assert 0 < len(data["rows"]) < 10


def test_labels_beyond_the_limit_are_one(tmp_path, monkeypatch):
    monkeypatch.setattr(html, "NAMES_LIMIT", 2)
    labels = [{"grader": "string-match", "label": f"l{n}"} for n in range(5)]
    data = data_of(page(tmp_path, graded("Graz", graders=labels)))
    assert data["labels"] == ["l0", "l1", "(other)"]
    assert [row[1] for row in data["rows"]] == [0, 1, 2, 2, 2]


@pytest.fixture
def shop(tmp_path):
    """Results of traces, and what reads their cases."""
    source = Source(SHOP_AGENT, Settings())
    lines = [line.raw for line in source]
    results = list(grade_lines(lines, [GraderSpec("loop")]))
    return results, cases_in(source)


def test_failures_of_traces_have_their_timeline(tmp_path, shop):
    results, cases_of = shop
    text = page(tmp_path, results, cases_of=cases_of)
    assert text.count('<ol class="timeline">') == text.count('class="card fail evidence-card"') > 0
    ids = re.findall(r' id="([^"]+)"', text)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'href="#(r\d+-[^"]+)"', text)) <= set(ids)
    assert '<ol class="timeline">' not in page(tmp_path, results)


def test_a_file_without_results_is_a_page(tmp_path):
    text = page(tmp_path, [])
    assert "0 jobs" in text
    assert "Every job passed." in text


def test_it_has_a_table_of_rates_for_each_field_that_is_asked_for(tmp_path):
    slices = (
        Slice("metadata.topic", ATTACK, summary_of("string-match", {"passed": 1, "failed": 3})),
        Slice("metadata.lang", "de", summary_of("string-match", {"passed": 4})),
    )
    text = page(tmp_path, graded("Graz"), slices=slices)
    assert ATTACK not in text
    tables = re.findall(
        r"<h2[^>]*>By <span[^>]*>([^<]*)</span></h2>(.*?)</section>", text, re.DOTALL
    )
    assert [field for field, _ in tables] == ["metadata.topic", "metadata.lang"]
    assert "25.0%" in tables[0][1]
    assert "100.0%" in tables[1][1]
