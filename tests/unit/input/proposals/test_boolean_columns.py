"""The columns proposed to graders of booleans: those of booleans, by their names or as the only ones left."""

from __future__ import annotations

from typing import Any

import pytest

from weighbridge.jobs.grader_spec import GraderSpec
from weighbridge_producer.input.proposals.boolean_columns import boolean_words
from weighbridge_producer.input.proposals.mapping_proposals import propose
from weighbridge_producer.input.proposals.proposal import Proposal

NEEDED = ("agent_response", "expected_output")
WORDS = boolean_words([GraderSpec("true-false")])
MESSAGES = ["I want my money back", "Where is my parcel?", "My parcel is broken"]


def proposed(columns: dict[str, list[Any]]) -> Proposal:
    rows = [
        dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)
    ]
    return propose(rows, NEEDED, booleans=WORDS)


def test_columns_of_booleans_are_preferred_to_texts() -> None:
    found = proposed(
        {
            "ticket_id": [1007, 1003, 1044],
            "customer_message": MESSAGES,
            "agent_decision": ["yes", "no", "yes"],
            "should_refund": ["TRUE", "FALSE", "FALSE"],
            "team": ["a", "b", "a"],
        }
    )
    assert found.text == (
        "custom_id=ticket_id,agent_response=agent_decision,expected_output=should_refund,"
        "metadata=customer_message,metadata=team"
    )
    assert found.guessed == ()


@pytest.mark.parametrize(
    ("columns", "response", "expected", "guessed"),
    [
        (("text", "spam", "label"), "spam", "label", ("agent_response",)),
        (("prediction", "target_group", "spam"), "prediction", "spam", ("expected_output",)),
        (("a", "b"), "a", "b", ("agent_response", "expected_output")),
        (("verdict", "is_correct", "truth"), "verdict", "truth", ()),
        (("response", "label", "urgent"), "response", "label", ()),
        (("output", "prediction"), "prediction", "output", ()),
    ],
)
def test_booleans_are_told_apart_by_names_or_said_to_be_guessed(
    columns: tuple[str, ...], response: str, expected: str, guessed: tuple[str, ...]
) -> None:
    values = {name: [True, False, True] for name in columns}
    texts = {name: MESSAGES for name in columns if name in {"text", "target_group", "response"}}
    found = proposed({"id": ["x", "y", "z"]} | values | texts)
    assert (found.fields["agent_response"], found.fields["expected_output"]) == (response, expected)
    assert found.guessed == guessed


SAID = ["Yes", "no", "TRUE", "", "1", "0", "Yes.", None, "true", "n"]  #: one is no boolean
SHOULD = ["True"] * 5 + ["False"] * 5


@pytest.mark.parametrize(
    ("columns", "guessed"),
    [
        ({"agent_says": SAID, "should_be": SHOULD}, ()),
        ({"should_be": SHOULD, "zzz": SAID}, ("agent_response",)),
        ({"b": SHOULD, "a": SAID}, ("agent_response", "expected_output")),
    ],
)
def test_an_agent_may_answer_with_more_than_booleans(
    columns: dict[str, list[Any]], guessed: tuple[str, ...]
) -> None:
    ids = {"ticket": [f"T-{number}" for number in range(10)]}
    found = proposed(ids | {"reviewer": ["ann"] * 10} | columns)
    said, should = (
        next(name for name in columns if columns[name] is values) for values in (SAID, SHOULD)
    )
    assert (found.fields["agent_response"], found.fields["expected_output"]) == (said, should)
    assert tuple(name for name in found.guessed if name != "custom_id") == guessed


def test_of_several_columns_with_some_booleans_none_is_taken_for_its_values() -> None:
    ids = {"id": [f"T-{number}" for number in range(10)]}
    found = proposed(ids | {"zzz": SAID, "xxx": SAID, "should_be": SHOULD})
    assert found.missing == ("agent_response",)
    words = ["yes", "no", "maybe", "other", "none", "so", "if", "x", "y", "z"]
    assert proposed(ids | {"zzz": words, "should_be": SHOULD}).missing == ("agent_response",)


def test_the_aliases_of_the_grader_are_booleans() -> None:
    config = {"aliases": {"true": ["Grant"], "false": ["deny"]}}
    spec = GraderSpec("true-false", config=config)
    assert boolean_words([spec]) >= {"grant", "deny"}
    assert not boolean_words([spec, GraderSpec("string-match")])
    assert not boolean_words([])


def test_a_column_of_booleans_with_a_decimal_point_that_is_left_out_is_named() -> None:
    found = proposed({"id": ["x", "y"], "is_spam": ["1.0", "0.0"], "predicted": ["1", "0"]})
    assert found.missing == ("expected_output",)
    [note] = found.notes
    assert note == (
        "expected_output: 'is_spam' is left out because 1.0 and 0.0 are not booleans to true-false; save it as integers (in"
        " pandas with astype('Int64'))"
    )
    assert not proposed({"id": ["x", "y"], "score": ["1.0", "0.0"], "predicted": ["1", "0"]}).notes
