"""Proposals for answers that are objects: never a part of the agent's answer as what is expected of it."""

from __future__ import annotations

import json

import pytest

from weighbridge.errors import MappingError
from weighbridge_producer.input.mapping.mapping_text import parse_mapping
from weighbridge_producer.input.mapping.missing_paths import refuse_missing_paths
from weighbridge_producer.input.proposals.mapping_proposals import propose

NEEDED = ("agent_response", "expected_output")


def rows_of(**joined):
    """Return rows whose answers are objects as texts, one of them no JSON, beside what is joined."""
    found = []
    for number in range(6):
        answer = {"date": f"2026-0{number + 1}-17", "amount": number, "labels": [f"l{number}"]}
        text = "```" if number == 5 else json.dumps(answer)
        gold = {name: inner | {"of": answer} for name, inner in joined.items()}
        found.append({"doc_id": f"INV-{number}", "extracted": text} | gold)
    return found


def test_a_part_of_the_answer_is_not_proposed_as_what_is_expected():
    proposal = propose(rows_of(), NEEDED, has_only_texts=True)
    assert proposal.mapping is None
    assert proposal.missing == ("expected_output",)
    assert proposal.fields["agent_response"] == "extracted"


@pytest.mark.parametrize("name", ["gold", "reference"])
def test_an_object_with_the_fields_of_the_answer_is_proposed_as_a_whole(name):
    rows = rows_of(**{name: {"note": "n"}})
    proposal = propose(rows, NEEDED, has_only_texts=True, joined=(name,))
    assert proposal.fields["agent_response"] == "extracted"
    assert proposal.fields["expected_output"] == f"{name}.of"
    assert "grade-your-own-fields.md#answers-in-json" in proposal.caution


def test_a_value_within_another_object_stays_what_is_expected():
    rows = [{"id": f"q{n}", "output": "a b", "gold": {"answer": "a b"}} for n in range(3)]
    assert propose(rows, NEEDED).fields["expected_output"] == "gold.answer"


@pytest.mark.parametrize(
    ("answer", "expected", "part"),
    [
        ("extracted", "extracted.labels", "extracted.labels"),
        ("extracted", "/extracted/labels/0", "/extracted/labels/0"),
        ("extracted.date", "extracted", "extracted.date"),
        ("{extracted}", "extracted.labels", "extracted.labels"),
    ],
)
def test_an_answer_is_not_compared_with_a_part_of_itself(answer, expected, part):
    mapping = parse_mapping(
        [f"custom_id=doc_id,agent_response={answer},expected_output={expected}"]
    )
    with pytest.raises(MappingError, match="compared with itself") as refused:
        refuse_missing_paths(mapping, rows_of(), "rows.csv")
    assert repr(part) in refused.value.message


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("a", "a.b"),  # a column of that name
        ("extracted.date", "extracted.labels"),
        ("{extracted} {doc_id}", "extracted.labels"),
    ],
)
def test_values_beside_each_other_are_compared(answer, expected):
    mapping = parse_mapping(
        [f"custom_id=doc_id,agent_response={answer},expected_output={expected}"]
    )
    rows = [row | {"a": "x", "a.b": "x"} for row in rows_of()]
    refuse_missing_paths(mapping, rows, "rows.csv")
