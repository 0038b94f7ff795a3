"""The paths that are proposed for names with dots and other marks, and for values that a few rows have in another form."""

from __future__ import annotations

from typing import Any

import pytest

from weighbridge_producer.input.mapping.mapping_text import parse_mapping
from weighbridge_producer.input.mapping.missing_paths import refuse_missing_paths
from weighbridge_producer.input.proposals.mapping_proposals import propose
from weighbridge_producer.input.proposals.trace_proposals import propose_beside_traces

NEEDED = ("agent_response", "expected_output")
ANSWERS = ("north", "south", "west")


def rows_of(*columns: tuple[str, Any]) -> list[dict[str, Any]]:
    """Return a row for each answer, which each column has in a form of its own."""
    return [
        {"id": f"t-{number}"} | {name: form(answer) for name, form in columns}
        for number, answer in enumerate(ANSWERS)
    ]


@pytest.mark.parametrize(
    ("column", "form", "path"),
    [
        ("pred.label", lambda answer: [answer], "/pred.label/0"),
        ("pred.label", lambda answer: {"text": answer}, "/pred.label/text"),
        ("pred.label", lambda answer: [{"text": answer}], "/pred.label/0/text"),
        ("model/output", lambda answer: {"label:predicted": answer}, "/model~1output/label:predicted"),
        ("model.output", lambda answer: {"model.answer": answer, "conf %": 1}, "/model.output/model.answer"),
        ("output", lambda answer: {"model.answer": answer}, "/output/model.answer"),
        ("output", lambda answer: {"a.b": {"answer": answer, "tokens": 2}}, "/output/a.b/answer"),
        ("output", lambda answer: {"label:predicted": answer}, "output.label:predicted"),
        ("output.text", lambda answer: answer, "output.text"),
    ],
)  # fmt: skip
def test_a_proposed_path_through_a_name_with_a_mark_is_found_in_each_row(
    column: str, form: Any, path: str
) -> None:
    rows = rows_of((column, form), ("gold", str))
    found = propose(rows, NEEDED)
    assert found.fields["agent_response"] == path
    mapping = parse_mapping([found.text])
    refuse_missing_paths(mapping, rows, "rows.jsonl")
    inputs = [mapping.case(row, number)["inputs"] for number, row in enumerate(rows, 1)]
    assert inputs == [{"agent_response": each, "expected_output": each} for each in ANSWERS]


def test_names_with_dots_are_proposed_as_metadata_too() -> None:
    rows = rows_of(("output", str), ("gold", str), ("meta.info", lambda _: {"lang.code": "de"}))
    assert propose(rows, NEEDED).text.endswith(",metadata=/meta.info/lang.code")


@pytest.mark.parametrize("column", ["pred.labels", "preds"])
def test_each_entry_of_a_list_in_a_column_with_a_dot_is_named_by_the_column(column: str) -> None:
    rows = rows_of((column, lambda answer: [answer, "x"]), ("gold", str))
    assert f"to grade each entry, map @each={column}" in propose(rows, NEEDED).caution


def test_any_entry_of_a_list_in_a_column_with_a_dot_is_accepted_by_a_pointer() -> None:
    rows = rows_of(("output", str), ("gold.refs", lambda answer: [{"text": answer}, {"text": "x"}]))
    found = propose(rows, NEEDED, accepts_several=True)
    assert found.fields["expected_output"] == "/gold.refs/0/text"
    assert found.caution.endswith("to accept each entry, map expected_output=/gold.refs/*/text")


def test_an_answer_in_a_conversation_under_a_name_with_a_dot_is_proposed() -> None:
    messages = [{"role": "user", "content": "q"}, {"role": "user", "content": "thanks"}]

    def conversation(answer: str) -> dict[str, Any]:
        return {"chat.log": [messages[0], {"role": "assistant", "content": answer}, messages[1]]}

    rows = rows_of(("run.data", conversation), ("gold", str))
    found = propose_beside_traces(rows, NEEDED)
    assert found.fields["agent_response"] == "last_answer(/run.data/chat.log)"
    assert parse_mapping([found.text]).case(rows[0], 1)["inputs"]["agent_response"] == ANSWERS[0]


def test_json_in_a_column_with_a_dot_is_read_at_its_first_entry() -> None:
    rows = rows_of(("model.output", lambda answer: f'["{answer}", "x"]'), ("gold", str))
    assert propose(rows, NEEDED).fields["agent_response"] == "/model.output/0"


@pytest.mark.parametrize("column", ["pred", "pred.label"])
@pytest.mark.parametrize("other", [["north", "south"], [{"text": "north"}], {"text": "north"}])
@pytest.mark.parametrize("place", [0, 2])
def test_a_value_that_is_a_text_in_most_rows_is_proposed_as_it_is(
    column: str, other: Any, place: int
) -> None:
    rows = rows_of((column, str), ("gold", str))
    rows[place][column] = other
    found = propose(rows, NEEDED)
    assert found.text == f"custom_id=id,agent_response={column},expected_output=gold"


def test_a_value_that_is_a_list_in_most_rows_is_proposed_by_its_first_entry() -> None:
    rows = rows_of(("pred", lambda answer: [answer]), ("gold", str))
    rows[1]["pred"] = "south"
    assert propose(rows, NEEDED).fields["agent_response"] == "pred.0"


def test_fields_of_an_answer_that_is_json_in_one_row_are_no_metadata() -> None:
    rows = rows_of(("output", str), ("gold", str))
    rows[1] |= {"output": '{"total": 11.5}', "gold": '{"total": 11.5}'}
    found = propose(rows, NEEDED)
    assert found.text == "custom_id=id,agent_response=output,expected_output=gold"
    assert propose(rows, NEEDED, has_only_texts=True).text == found.text
