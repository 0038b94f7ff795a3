"""The expected output of a promptfoo test, whose assertion may be a template."""

from __future__ import annotations

from typing import Any

import pytest

from weighbridge_producer.input.mapping.absent_values import why_absent
from weighbridge_producer.input.mapping.known_datasets import shape_of
from weighbridge_producer.input.mapping.promptfoo_assertions import EqualsAssertion
from weighbridge_producer.input.mapping.row_values import FirstOf, Path

ANSWERS = ("agent_response", "expected_output")


def result(value: Any, **more: Any) -> dict[str, Any]:
    """Return a row of promptfoo's results with an `equals` assertion."""
    test = {"assert": [{"type": "cost", "threshold": 1}, {"type": "equals", "value": value}]}
    row = {"testIdx": 0, "promptIdx": 0, "vars": {}, "response": {"output": "Paris"}}
    return {**row, "testCase": test, **more}


def component(kind: str, value: str, rendered: str | None) -> dict[str, Any]:
    """Return the result of an assertion as promptfoo keeps it."""
    metadata = {} if rendered is None else {"metadata": {"renderedAssertionValue": rendered}}
    return {"pass": True, "score": 1, "assertion": {"type": kind, "value": value}, **metadata}


def expected(row: dict[str, Any]) -> Any:
    """Return the expected output of a row, or the message of its fault."""
    shape = shape_of([row])
    assert shape
    assert not shape.lacking([row], ANSWERS)
    mapping = shape.mapping(ANSWERS)
    assert mapping
    if fault := mapping.fault(row, 1):
        assert fault.code == "INVALID_FIELD"
        return fault
    return mapping.case(row, 1)["inputs"]["expected_output"]


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("Paris", "Paris"),
        ("{{capital}}", "Paris"),
        ("{{ capital }}", "Paris"),
        ("{{- capital -}}", "Paris"),
        ("{{capital}}, {{ of.land.name }}!", "Paris, France!"),
        ("{{n}} {{half}} {{whole}} {{is_it}}", "3 0.5 2 true"),
        ("a { b } {c}", "a { b } {c}"),
    ],
)
def test_a_template_is_rendered_with_the_variables_of_the_test(template: str, text: str) -> None:
    values = {"capital": "Paris", "n": 3, "half": 0.5, "whole": 2.0, "is_it": True}
    values |= {"of": {"land": {"name": "France"}}}
    assert expected(result(template, vars=values)) == text


def test_a_test_without_an_equals_assertion_is_said_to_have_others() -> None:
    asserted = [{"type": "contains", "value": "x"}, {"type": "not-equals", "value": "y"}]
    row = {"testCase": {"assert": asserted}, "vars": {}}
    value = FirstOf((EqualsAssertion(), Path("vars.expected")))
    assert (
        why_absent(value, row, 1) == "the test has no 'equals' assertion, but contains, not-equals"
    )
    assert why_absent(value, {"testCase": {"assert": []}}, 1).endswith("but none")
    assert why_absent(value, {"vars": {}}, 1) == "no 'testCase'"


def test_the_value_that_promptfoo_compared_is_taken_before_one_that_is_rendered_here() -> None:
    for template, kept in (("{{capital | upper}}", "PARIS"), ("file://gold.txt", "Paris")):
        results = [
            component("contains", template, "another assertion's"),
            component("equals", template, kept),
        ]
        row = result(template, gradingResult={"componentResults": results})
        assert expected(row) == kept
    row = result("{{a}}", vars={"a": "b"}, gradingResult=None)
    assert expected(row) == "b"


@pytest.mark.parametrize(
    "template",
    [
        "{{capital | upper}}",
        "{{unknown}}",
        "{{of}}",
        "{{nothing}}",
        "{{inner}}",
        "{% if capital %}Paris{% endif %}",
        "{{capital}} {# note #}",
        "file://gold.txt",
    ],
)
def test_a_template_that_cannot_be_rendered_is_an_error_of_its_row(template: str) -> None:
    values = {"capital": "Paris", "of": {"a": 1}, "nothing": None, "inner": "{{capital}}"}
    # The variable that a test without an assertion is compared with is not taken instead.
    fault = expected(result(template, vars=values | {"expected": "Paris"}))
    assert template[:8] in fault.message
    assert "renderedAssertionValue" in fault.message
    assert fault.hint
