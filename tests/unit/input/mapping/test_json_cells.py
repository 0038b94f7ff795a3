"""Cells that hold texts as JSON: `json(column)` is what they hold, and is proposed where the other column has plain texts."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from weighbridge.errors import MappingError
from weighbridge.grading.line_grader import grade_lines
from weighbridge.jobs.grader_spec import GraderSpec
from weighbridge.settings import Settings
from weighbridge_producer.input.files.input_paths import Paths
from weighbridge_producer.input.mapping.expected_answers import with_accepted_answers
from weighbridge_producer.input.mapping.mapping_text import parse_mapping
from weighbridge_producer.input.recognition import Opened, recognise
from weighbridge_producer.input.source import Source

if TYPE_CHECKING:
    from pathlib import Path

    from weighbridge_producer.input.proposals.proposal import Proposal

EXACT, BOOLEAN = GraderSpec("string-match"), GraderSpec("true-false")
ROW = "custom_id=@row,x={}"


def value(written: str, cell: Any) -> Any:
    mapping = parse_mapping([ROW.format(written)])
    assert mapping.fault({"gold": cell}, 1) is None
    return mapping.case({"gold": cell}, 1)["inputs"]["x"]


@pytest.mark.parametrize(
    ("cell", "held"),
    [
        ('"Paris"', "Paris"),
        (' "Paris" ', "Paris"),
        ('["Paris"]', "Paris"),
        ('["Paris", "Rome"]', ["Paris", "Rome"]),
        ('"a \\"b\\" \\u00e9"', 'a "b" é'),
        ("['Paris']", "Paris"),
        ("['Paris', \"L'Aquila\"]", ["Paris", "L'Aquila"]),
        ("['Paris' 'Rome']", ["Paris", "Rome"]),
        ("{'Paris', \"L'Aquila\"}", ["Paris", "L'Aquila"]),
        ('{"Paris"}', "Paris"),
        ("['a\\n\\'b\\x00\\u200b']", "a\n'b\0\u200b"),
        ("42", 42),
        ("null", None),
        ("[]", []),
        ('[["a"]]', [["a"]]),
        ("", ""),
        (["Paris", "Rome"], ["Paris", "Rome"]),
        (7, 7),
        (None, None),
    ],
)
def test_a_cell_stands_for_what_it_holds(cell: Any, held: Any) -> None:
    assert value("json(gold)", cell) == held


@pytest.mark.parametrize(
    "cell",
    ["Paris", '"Paris', "['Paris'", "[Paris]", "['a'+'b']", "['a''b']", "{'a' 'b'}", "{a,b}", "{'a': 'b'}", "['\\d']", "['\\Uffffffff']", "[open('x')]", "(" * 5_000,
     '{"a": 1, "a": 2}', pytest.param(f"[{'1' * 70_000!r}]", id="a long list of Python")],
)  # fmt: skip
def test_a_cell_that_holds_nothing_is_an_error_of_its_row(cell: str) -> None:
    found = parse_mapping([ROW.format("json(gold)")]).fault({"gold": cell}, 1)
    assert found
    assert found.code == "INVALID_FIELD"
    assert found.message.startswith("json(gold): gold is ")
    assert found.hint
    assert "json(gold)|gold" in found.hint
    assert value("json(gold)|gold", cell) == cell


def test_a_column_called_like_the_form_comes_first() -> None:
    mapping = parse_mapping([ROW.format("json(gold)")])
    row = {"json(gold)": "x", "gold": "y"}
    assert mapping.fault(row, 1) is None
    assert mapping.case(row, 1)["inputs"] == {"x": "x"}


def test_the_form_is_refused_within_a_template() -> None:
    with pytest.raises(MappingError, match="has braces within a special form"):
        parse_mapping([ROW.format("json({gold})")])


def proposal_for(
    path: Path, cells: list[tuple[str, str]], *graders: GraderSpec, delimiter: str = ","
) -> Proposal:
    with path.open("w", newline="") as file:
        table = csv.writer(file, delimiter=delimiter)
        table.writerows(
            [("id", "output", "gold"), *((f"k{n}", *row) for n, row in enumerate(cells))]
        )
    seen = recognise(Opened.first_of(Paths([path])), graders, Settings())
    assert seen
    assert seen.proposal
    return seen.proposal


def verdicts(path: Path, written: str, grader: GraderSpec) -> list[str]:
    mapping = with_accepted_answers(parse_mapping([written]), [grader])
    lines = [line.raw for line in Source(path, Settings(), mapping) if line.raw.strip()]
    results = map(orjson.loads, b"".join(grade_lines(lines, [grader])).splitlines())
    return [row["result"]["verdict"] for row in results]


@pytest.mark.parametrize("delimiter", [",", "\t"])
@pytest.mark.parametrize(
    "golds",
    [
        ('"Paris"', '"Lima"', '"Oslo"', '""'),
        ('["Rome", "Paris"]', '["Lima"]', '["Oslo"]', ""),
        ("['Rome', 'Paris']", "['Lima']", "['Oslo']", ""),
    ],
    ids=["texts", "lists", "lists of Python"],
)
def test_expected_texts_in_json_are_proposed_as_what_they_hold(
    golds: tuple[str, ...], delimiter: str, tmp_path: Path
) -> None:
    path = tmp_path / f"a.{'csv' if delimiter == ',' else 'tsv'}"
    cells = list(zip(("Paris", "Lima", "Rome", "x"), golds, strict=True))
    proposal = proposal_for(path, cells, EXACT, delimiter=delimiter)
    assert proposal.text == "custom_id=id,agent_response=output,expected_output=json(gold)"
    assert "'gold' has texts in the notation of JSON or Python, such as " in proposal.caution
    assert "json(gold)" in proposal.columns
    assert verdicts(path, proposal.text, EXACT) == ["pass", "pass", "fail", "fail"]


def test_answers_of_the_agent_in_json_are_proposed_as_what_they_hold(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    proposal = proposal_for(path, [('"Paris"', "Paris"), ("['Lima']", "Lima"), ("", "x")], EXACT)
    assert proposal.text == "custom_id=id,agent_response=json(output),expected_output=gold"
    assert verdicts(path, proposal.text, EXACT) == ["pass", "pass", "fail"]


def test_a_list_of_one_text_is_a_text_to_graders_of_one_answer(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    proposal = proposal_for(path, [("true", '["true"]'), ("no", "['yes']")], BOOLEAN)
    assert proposal.fields["expected_output"] == "json(gold)"
    assert verdicts(path, proposal.text, BOOLEAN) == ["pass", "fail"]


def test_of_several_answers_the_first_is_proposed_where_only_one_is_taken(tmp_path: Path) -> None:
    cells = [("Paris", '["Rome", "Paris"]'), ("Lima", '["Lima"]')]
    proposal = proposal_for(tmp_path / "a.csv", cells, EXACT, BOOLEAN)
    assert proposal.fields["expected_output"] == "gold.0"
    assert "only the first of several" in proposal.caution
    agents = proposal_for(tmp_path / "b.csv", [(gold, output) for output, gold in cells], EXACT)
    assert agents.fields["agent_response"] == "output.0"
    assert "only the first of several" in agents.caution
    python = [(output, gold.replace('"', "'")) for output, gold in cells]
    assert proposal_for(tmp_path / "c.csv", python, BOOLEAN).fields["expected_output"] == "gold.0"


@pytest.mark.parametrize(
    ("odd", "form"),
    [("Wien", "json(gold)|gold"), ("null", "json(gold)"), ("", "json(gold)")],
)
def test_most_texts_decide_that_json_is_proposed(odd: str, form: str, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    cells = [
        ("Paris", '["Lutetia", "Paris"]'),
        ("Oslo", "['Oslo']"),
        ("Bern", '"Bern"'),
        ("Wien", odd),
    ]
    proposal = proposal_for(path, cells, EXACT)
    assert proposal.fields["expected_output"] == form
    last = {"Wien": "pass", "null": "ungradable", "": "fail"}[odd]
    assert verdicts(path, proposal.text, EXACT) == ["pass", "pass", "pass", last]
    lists = [("Paris", '["Paris", "Lutetia"]'), ("Lima", '["Lima"]'), ("Wien", "Wien")]
    first = proposal_for(tmp_path / "b.csv", lists, BOOLEAN)
    assert first.fields["expected_output"] == "gold.0|gold"
    assert "only the first of several" in first.caution


@pytest.mark.parametrize(
    "cells",
    [
        [('"Paris"', '"Paris"'), ('"Lima"', '"Lima"')],
        [("Paris", '"Paris"'), ("Lima", "Lima")],
        [("Paris", '"Paris" he said'), ("Lima", '"Lima"')],
        [("1", "[1]"), ("2", "[2]")],
    ],
    ids=["both", "some", "quoted words", "numbers"],
)
def test_other_texts_are_proposed_as_they_are(cells: list[tuple[str, str]], tmp_path: Path) -> None:
    proposal = proposal_for(tmp_path / "a.csv", cells, EXACT)
    assert proposal.text.startswith("custom_id=id,agent_response=output,expected_output=gold")


def test_numbers_of_any_size_stay_apart_as_ids() -> None:
    mapping = parse_mapping(["custom_id=json(id),x=x"])
    ids = [
        mapping.case({"id": text, "x": 1}, 1)["custom_id"]
        for text in ("123456789012345678901", "123456789012345678902")
    ]
    assert ids == ["123456789012345678901", "123456789012345678902"]
