"""An input for which no grader is named is refused as a whole; one of which some cases name a grader is not."""

from __future__ import annotations

import pytest

from weighbridge.errors import NoGraderError
from weighbridge_producer.input.source_lines import encode_case
from weighbridge_producer.submit.missing_grader import refuse_ungraded

UNGRADED = {"custom_id": "a", "inputs": {}}
GRADED = UNGRADED | {"grader": "true-false"}


def lines(*cases):
    return [encode_case(case) for case in cases]


def test_cases_that_name_no_grader_are_refused_together():
    with pytest.raises(NoGraderError, match="the first 3 cases name none") as told:
        refuse_ungraded(lines("", UNGRADED, "no JSON", UNGRADED, UNGRADED))
    assert told.value.code == "NO_GRADER"
    assert "--grader ID" in told.value.hint


def test_a_trace_alone_is_refused():
    with pytest.raises(NoGraderError, match="the case names none"):
        refuse_ungraded(lines({"custom_id": "t", "inputs": {"trace": {"steps": []}}}))


@pytest.mark.parametrize(
    "cases",
    [
        [UNGRADED, GRADED],
        [GRADED, UNGRADED],
        [UNGRADED | {"graders": ["true-false"]}],
        ["no JSON", '{"custom_id": "a"}'],
        ["", "  "],
        [],
    ],
)
def test_an_input_that_names_a_grader_or_has_no_cases_is_left_to_its_lines(cases):
    refuse_ungraded(lines(*cases))


def test_only_the_first_cases_are_looked_at():
    def endless():
        while True:
            yield encode_case(UNGRADED)

    with pytest.raises(NoGraderError, match="the first 100 cases"):
        refuse_ungraded(endless())
