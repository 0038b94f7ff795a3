"""Slices: outcomes of jobs by the value of a field."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from support.result_lines import case, graded
from weighbridge.jobs.grader_spec import GraderSpec
from weighbridge_producer.comparison.compare import compare_runs
from weighbridge_producer.comparison.runs import run_of_lines
from weighbridge_producer.gating import slices as slices_module
from weighbridge_producer.gating.fields import parse_field
from weighbridge_producer.gating.slices import SliceTally, slices_of_file, summary_of

if TYPE_CHECKING:
    from pathlib import Path

TOPIC = parse_field("metadata.topic")


def tally(rows: list[bytes], *by) -> SliceTally:
    made = SliceTally(by or (TOPIC,))
    made.add_lines(b"".join(rows))
    return made


def told(made: SliceTally) -> list[tuple[str, str, int, int]]:
    return [
        (row.value, row.summary.label, row.summary.passed, row.summary.failed)
        for row in made.slices()
    ]


def test_each_value_has_its_counts_the_commonest_first() -> None:
    rows = graded(
        case(f"q{n}", "Lisbon" if n % 2 else "Porto", metadata={"topic": "x" if n < 6 else "y"})
        for n in range(10)
    )
    assert told(tally(rows)) == [("x", "string-match", 3, 3), ("y", "string-match", 2, 2)]


def test_of_thousands_of_values_only_those_told_take_the_time_of_a_summary(monkeypatch) -> None:
    made = SliceTally([TOPIC])
    for number in range(10_000):
        outcome = "failed" if number % 3 else "passed"
        made.add("a", outcome, {"metadata.topic": f"v{number:05}"}, vacuous=False)
    summaries = []
    monkeypatch.setattr(
        slices_module,
        "summary_of",
        lambda *told: summaries.append(told) or summary_of(*told),
    )
    found = told(made)
    assert found[:2] == [("v00000", "a", 1, 0), ("v00001", "a", 0, 1)]
    assert found[-1] == ("(other)", "a", 3327, 6653)
    assert len(summaries) == len(found) == 21


def test_labels_are_counted_apart() -> None:
    graders = (GraderSpec("string-match", None, "one"), GraderSpec("string-match", None, "two"))
    rows = graded([case("q", metadata={"topic": 1.5})], graders)
    assert told(tally(rows)) == [("1.5", "one", 1, 0), ("1.5", "two", 1, 0)]


def test_a_list_is_one_value() -> None:
    rows = graded([case(f"q{n}", metadata={"topic": ["eu", n % 2]}) for n in range(3)])
    assert told(tally(rows)) == [
        ('["eu",0]', "string-match", 2, 0),
        ('["eu",1]', "string-match", 1, 0),
    ]


def test_each_entry_of_a_list_counts_if_the_field_says_so() -> None:
    tags = [["eu", "b2b", "eu"], ["eu", {"a": 1}, None], '["b2b"]', "eu", [], None, [7, "(none)"]]
    rows = graded(case(f"q{n}", metadata={"a": {"tags": each}}) for n, each in enumerate(tags))
    made = tally(rows, parse_field("metadata.a.tags.*"))
    assert told(made) == [
        (value, "string-match", jobs, 0)
        for value, jobs in (("eu", 3), ("(none)", 2), ("b2b", 2), ('"(none)"', 1), ("7", 1))
    ]
    assert made.notes() == []


def test_of_a_long_list_the_entries_beyond_the_first_are_one() -> None:
    rows = graded([case("q", metadata={"topic": list(range(1_000))})])
    made = tally(rows, parse_field("metadata.topic.*"))
    values = made.values("metadata.topic.*")
    assert len(values) == 51
    assert values["(other)"].passed == 1


def test_of_lists_that_are_whole_values_it_is_said_how_to_count_each_entry() -> None:
    rows = graded([case("q", metadata={"topic": ["eu"]}), case("r", metadata={"topic": "[eu]"})])
    [note] = tally(rows).notes()
    assert note.startswith("metadata.topic is a list")
    assert note.endswith("metadata.topic.* counts each of its entries")
    assert tally(rows[1:]).notes() == []


@pytest.mark.parametrize("empty", ["", None, []])
@pytest.mark.parametrize("name", ["metadata.gap", "metadata.gap.*"])
def test_a_field_that_is_empty_in_every_result_is_not_told_as_missing(empty, name: str) -> None:
    rows = graded(case(f"q{n}", metadata={"gap": empty, "topic": "t"}) for n in range(2))
    path = parse_field(name)
    made = tally([*rows, *graded([case("r", metadata={})])], path)
    assert made.notes() == [f"{name} is empty in every result that has it"]
    runs = [run_of_lines(side, rows) for side in "ab"]
    [comparison] = compare_runs(runs, by=(path,))
    assert comparison.after_slices.notes() == made.notes()
    assert tally([*rows, *graded([case("r", metadata={"gap": "g"})])], path).notes() == []


def test_names_with_dots_are_found_the_longest_first() -> None:
    metadata = {
        "gpt-4.1": "a",
        "No.": "b",
        "run": {"v2.1": {"x": "c"}},
        "d.e": "d",
        "d": {"e": "f"},
    }
    rows = graded([case("q", metadata=metadata)])
    found = {
        "gpt-4.1": "a",
        "No.": "b",
        "run.v2.1.x": "c",
        "d.e": "d",
        "d": "(none)",
        "gpt-4": "(none)",
    }
    for name, value in found.items():
        assert told(tally(rows, parse_field(f"metadata.{name}"))) == [(value, "string-match", 1, 0)]


def test_a_value_that_is_missing_or_an_object_is_none() -> None:
    metadata = [{"topic": None}, {"topic": []}, {"topic": {"a": 1}}, {}]
    rows = graded([case("q"), *(case(f"r{n}", metadata=each) for n, each in enumerate(metadata))])
    assert told(tally([*rows, *graded([b"nonsense"])])) == [
        ("(none)", "", 0, 0),
        ("(none)", "string-match", 5, 0),
    ]


def test_long_values_that_begin_alike_are_counted_apart() -> None:
    beginning = f"https://shop.example.com/help/orders/{'returns/' * 12}page-"
    rows = graded(
        case(f"q{n}", "Porto" if n < 2 else "Lisbon", metadata={"topic": f"{beginning}{n % 2}"})
        for n in range(6)
    )
    first, second = found = told(tally(rows))
    assert [counts for _, _, *counts in found] == [[2, 1], [2, 1]]
    assert first[0] != second[0]
    assert all(value.startswith(f"{beginning[:104]}…") and len(value) < 130 for value, *_ in found)


def test_beyond_twenty_values_the_rest_is_one() -> None:
    rows = graded(case(f"q{n}", metadata={"topic": f"t{n % 25:02}"}) for n in range(60))
    found = told(tally(rows))
    assert len(found) == 21
    assert found[-1] == ("(other)", "string-match", 10, 0)
    assert sum(passed for _, _, passed, _ in found) == 60


def test_values_without_end_take_no_memory_without_end(monkeypatch) -> None:
    monkeypatch.setattr(slices_module, "SLICES_LIMIT", 30)
    rows = graded(case(f"q{n}", metadata={"topic": f"t{n}"}) for n in range(100))
    made = tally(rows)
    assert len(made.values("metadata.topic")) == 31
    assert sum(passed for _, _, passed, _ in told(made)) == 100


def test_labels_without_end_take_no_memory_without_end(monkeypatch) -> None:
    monkeypatch.setattr(slices_module, "_COUNTS_LIMIT", 30)
    made = SliceTally((TOPIC,))
    for n in range(100):
        made.add(f"label {n}", "passed", {"metadata.topic": "x"}, vacuous=False)
    found = told(made)
    assert len(found) == 31
    assert sum(passed for _, _, passed, _ in found) == 100


def test_a_file_is_counted_when_a_field_is_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "results.jsonl"
    file.write_bytes(b"".join(graded([case("q", metadata={"topic": "x"})])))
    assert told(slices_of_file(file, (TOPIC,))) == [("x", "string-match", 1, 0)]
    assert slices_of_file(tmp_path / "none", ()).slices() == []
