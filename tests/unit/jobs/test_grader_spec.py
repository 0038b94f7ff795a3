"""Specifications of graders: the valid forms, and the errors for invalid ones."""

from typing import Any

import pytest

from weighbridge.errors import GraderSpecError
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge.jobs.grader_spec import GraderSpec, parse_specs


@pytest.mark.parametrize(
    ("value", "spec"),
    [
        ("loop", GraderSpec("loop", None, "loop")),
        ({"grader": "loop"}, GraderSpec("loop")),
        ({"grader": "loop", "config": None, "label": None}, GraderSpec("loop")),
        ({"grader": "loop", "config": {"a": 1}, "label": "x"}, GraderSpec("loop", {"a": 1}, "x")),
        (GraderSpec("loop", {"a": 1}, "x"), GraderSpec("loop", {"a": 1}, "x")),
    ],
)
def test_a_grader_is_specified_by_its_id_or_by_an_object(value: Any, spec: GraderSpec) -> None:
    assert GraderSpec.parse(value) == spec
    assert parse_specs([value]) == (spec,)
    assert GraderSpec.parse(spec.as_dict()) == spec


@pytest.mark.parametrize(
    ("values", "code", "message", "hint"),
    [
        ([5], "INVALID_FIELD", "'graders.0' must be a grader's id, or an object", "a grader is an id, or {"),
        (["a", ""], "INVALID_FIELD", "'graders.1.grader' must be not empty", "a grader is"),
        ([{"grader": None}], "INVALID_FIELD", "'graders.0.grader' must be a string", "a grader is"),
        (["x" * 257], "INVALID_FIELD", "'graders.0.grader' must be at most 256 characters", "a grader is"),
        ([GraderSpec("a", None, "\n")], "INVALID_FIELD", "'graders.0.label' must be without control characters", "a grader is"),
        ([{"grader": "a", "label": ""}], "INVALID_FIELD", "'graders.0.label' must be not empty", "a grader is"),
        ([{"grader": "a", "config": [1]}], "INVALID_FIELD", "'graders.0.config' must be an object", "a grader is"),
        ([{}], "MISSING_FIELD", "'graders.0.grader' is missing", "a grader is"),
        ([{"grder": "a"}], "MISSING_FIELD", "'graders.0.grader' is missing", "found 'grder'; did you mean 'grader'?"),
        ([{"grader": "a", "lable": "b"}], "UNKNOWN_FIELD", "unknown field 'graders.0.lable'", "did you mean 'label'? Known: "),
        ([{"grader": "a", "": 1}], "UNKNOWN_FIELD", "unknown field 'graders.0.'", "Known: "),
        ([{"grader": "a", 5: 1}], "UNKNOWN_FIELD", "unknown field 'graders.0.5'", "Known: "),
        (["a", {"grader": "b", "label": "a"}], "INVALID_FIELD", "two graders are labelled 'a'", "give one of them another label"),
    ],
)  # fmt: skip
def test_an_invalid_specification_is_named_with_its_location(
    values: list[Any], code: str, message: str, hint: str
) -> None:
    with pytest.raises(GraderSpecError) as caught:
        parse_specs(values)
    assert (caught.value.line_code, caught.value.message) == (ErrorCode(code), message)
    assert caught.value.hint.startswith(hint)


def test_a_specification_without_a_location_is_named_by_its_field() -> None:
    with pytest.raises(GraderSpecError, match="'config' must be an object"):
        GraderSpec.parse({"grader": "a", "config": 1})
