"""Multiple choice in samples of lm-evaluation-harness."""

from __future__ import annotations

from typing import Any

import pytest

from weighbridge.jobs.grader_spec import GraderSpec
from weighbridge_producer.input.mapping.known_datasets import shape_of

ANSWERS = ("agent_response", "expected_output")


def sample(target: str, *likelihoods: Any, texts: str = "ABCD", **more: Any) -> dict[str, Any]:
    """Return a line of a file of samples, with a continuation for each choice."""
    pairs = [[each, "False"] for each in likelihoods]
    requests = {
        f"gen_args_{at}": {"arg_0": "Q", "arg_1": f" {text}"}
        for at, text in enumerate(texts[: len(pairs)])
    }
    known = {"doc_id": 3, "doc": {"choices": list("wxyz")}, "metrics": ["acc"], "acc": 1.0}
    known |= {"resps": [[pair] for pair in pairs], "arguments": requests}
    return {**known, "target": target, "filtered_resps": pairs, **more}


def case(row: dict[str, Any]) -> Any:
    """Return the case of a sample, or its fault."""
    shape = shape_of([row])
    assert shape
    assert shape.name == "lm-evaluation-harness multiple choice"
    mapping = shape.mapping(ANSWERS, [GraderSpec("string-match")])
    assert mapping
    return mapping.fault(row, 1) or mapping.case(row, 1)


@pytest.mark.parametrize(
    ("row", "answer", "expected"),
    [
        (sample("1", "-3", "-1.5", "-10", "-4"), "1", "1"),
        (sample("0", -3.25, -1.5), "1", "0"),
        (sample("C", "-3", "-1.5", "-0.5", "-4"), "C", "C"),
        # Those without the question come after the others.
        (sample("0", "-1", "-2", "-0.1", "-0.2", metrics=["acc", "acc_mutual_info"]), "0", "0"),
    ],
)
def test_the_likeliest_choice_is_the_answer_in_the_notation_of_the_target(
    row: dict[str, Any], answer: str, expected: str
) -> None:
    found = case(row)
    assert found["inputs"] == {"agent_response": answer, "expected_output": expected}
    assert found["custom_id"] == "3"
    assert found["metadata"] == {"acc": 1.0, "recorded_verdict": "pass"}


def test_each_of_several_targets_is_accepted() -> None:
    found = case(sample("[0, 2]", "-3", "-1", "-0.5"))
    assert found["inputs"] == {"agent_response": "2", "expected_output": "0"}
    assert found["graders"][0]["config"] == {"expected_any": ["2"]}


@pytest.mark.parametrize("target", ["-100", "4", "x", "[0, 7]"])
def test_a_target_that_is_no_choice_is_an_error_of_its_row(target: str) -> None:
    fault = case(sample(target, "-3", "-1.5", "-0.5", "-4"))
    assert fault.code == "INVALID_FIELD"
    assert target in fault.message


@pytest.mark.parametrize("answers", [["42"], ["42", "43"], [["-3.5", "True"]]])
def test_samples_without_choices_are_no_multiple_choice(answers: list[Any]) -> None:
    assert shape_of([{**sample("1", "-1", "-2"), "filtered_resps": answers}]) is None
