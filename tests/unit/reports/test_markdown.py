"""The summary in Markdown: rates, gates, the most frequent causes, and escaping of untrusted text."""

import orjson

from support.markdown import unpadded
from weighbridge.grading.line_grader import grade_lines
from weighbridge_producer.gating.gates import FAILED, GateResult
from weighbridge_producer.gating.slices import Slice, summary_of
from weighbridge_producer.reports.forms import FORMS
from weighbridge_producer.reports.markdown import code, table
from weighbridge_producer.reports.report import Report


def summary(tmp_path, *answers, **options):
    cases = [
        {"custom_id": f"q{n}", "inputs": {"agent_response": answer, "expected_output": "Graz"}}
        for n, answer in enumerate(answers, 1)
    ]
    path = tmp_path / "results.jsonl"
    path.write_bytes(b"".join(grade_lines(map(orjson.dumps, cases), ["string-match"])))
    return unpadded(b"".join(FORMS["md"].blocks(Report(path, "cases.jsonl", **options))).decode())


def test_it_has_the_rates_and_the_commonest_causes_with_examples(tmp_path):
    text = summary(tmp_path, "Graz", "graz", "GRAZ", "Oslo")
    assert text.startswith("## Weighbridge: `cases.jsonl`\n\n4 jobs\n")
    assert "| `string-match` | 25.0% | 1 / 4 | 3 | 0 | 0 |" in text
    causes = text.partition("### Why jobs did not pass")[2].splitlines()[4:]
    assert causes == [
        "| 2 | `string-match` | `string_match: case` | `q2` | `Expected 'Graz' but got 'graz': only the case differs` |",
        "| 1 | `string-match` | `string_match: other` | `q4` | `Expected 'Graz' but got 'Oslo'` |",
    ]


def test_it_has_the_gates_and_what_changed_where_they_are_known(tmp_path):
    gate = GateResult(
        "--min-pass-rate 0.9", "", "90% of judged jobs passed, or more", "50%", FAILED
    )
    text = summary(tmp_path, "Graz", "x", gates=(gate,), changes=("q2 regressed",))
    assert "2 jobs, 1 gate not met" in text
    assert (
        "| ❌ not met | `--min-pass-rate 0.9` | `90% of judged jobs passed, or more` | `50%` |"
        in text
    )
    assert text.endswith("### What changed\n\n- `q2 regressed`\n")


def test_of_a_gate_for_many_values_the_unmet_are_listed_first(tmp_path):
    name = "--min-pass-rate metadata.user:*=0.9"
    gates = tuple(GateResult(name, f"u{n}", "90%", "50%", FAILED * (n > 97)) for n in range(100))
    text = summary(tmp_path, "Graz", gates=gates)
    assert "1 job, 2 gates not met" in text
    rows = [line for line in text.splitlines() if name in line]
    assert [row.startswith("| ❌ not met") for row in rows] == [True] * 2 + [False] * 19
    assert rows[-1] == f"| | `{name}` | | and 80 more, all met |"


def test_it_has_a_table_of_rates_for_each_field_that_is_asked_for(tmp_path):
    slices = (
        Slice("metadata.topic", "a|b", summary_of("string-match", {"passed": 1, "failed": 3})),
        Slice("metadata.topic", "none", summary_of("string-match", {"errored": 2})),
        Slice("metadata.lang", "de", summary_of("string-match", {"passed": 4})),
        Slice("metadata.lang", "en", summary_of("string-match", {"passed": 9_999, "failed": 1})),
    )
    text = summary(tmp_path, "Graz", slices=slices)
    first, _, second = text.partition("### By `metadata.topic`")[2].partition(
        "### By `metadata.lang`"
    )
    assert first.strip().splitlines()[2:] == [
        "| `a\\|b` | `string-match` | 25.0% | 1 / 4 | 3 | 0 | 0 |",
        "| `none` | `string-match` | | 0 / 0 | 0 | 0 | 2 |",
    ]
    # A hundred percent means all.
    assert "| `en` | `string-match` | 99.9% | 9,999 / 10,000 | 1 | 0 | 0 |" in second
    assert "| `de` | `string-match` | 100.0% | 4 / 4 | 0 | 0 | 0 |" in second


def test_the_columns_of_a_table_are_aligned_in_the_text_but_for_long_cells():
    assert table(("name", "n", "why"), (("東京", "1,000", "x"), ("a", "2", "y")), right=["n"]) == (
        "| name |     n | why  |\n"
        "| ---- | ----: | ---- |\n"
        "| 東京 | 1,000 | x    |\n"
        "| a    |     2 | y    |"
    )
    long = "x" * 50
    assert table(("a", "b"), ((long, long), ("y", "z"))).splitlines() == [
        f"| a{' ' * 39} | b   |",
        f"| {'-' * 40} | --- |",
        f"| {long} | {long} |",
        f"| y{' ' * 39} | z   |",
    ]


def test_no_text_of_a_case_is_markup_and_every_row_is_one_line(tmp_path):
    hostile = "a|b\n`c` ``d`` <script> @team ![x](http://y) ]"
    text = summary(tmp_path, hostile)
    row = text.splitlines()[-1]
    assert row.count("```") == 2
    assert "\\|" in row
    assert "␊" in row
    assert code("`") == "`` ` ``"


def test_a_file_without_results_has_a_summary(tmp_path):
    assert summary(tmp_path).startswith("## Weighbridge: `cases.jsonl`\n\n0 jobs\n")
