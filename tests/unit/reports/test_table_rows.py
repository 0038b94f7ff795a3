"""Rows of tables: they say of each result what its ResultRow says."""

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weighbridge.jobs.outcome import OUTCOME_OF, UNGRADED, VACUOUS
from weighbridge.jobs.result_line import ResultRow
from weighbridge_producer.reports.job_columns import facts_of, proofs_of
from weighbridge_producer.reports.table_rows import Judgement, TableRow

_JSON = st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3) | st.just([1, {}])
_CHECKS = st.fixed_dictionaries(
    {
        "check": st.sampled_from(["a", "", "b" * 200, VACUOUS]) | _JSON,
        "passed": st.booleans() | st.sampled_from([0, 1]),
        "step_ids": st.just(["s1"]),
    },
    optional={
        "description": _JSON,
        "cause": _JSON,
        "limit": _JSON,
        "observed": _JSON,
        "difference": _JSON,
    },
)
_DETAILS = st.dictionaries(
    st.sampled_from(["reason", "expected_original", "actual_original", "other"]), _JSON
)
_RESULTS = st.fixed_dictionaries(
    {
        "passed": st.booleans(),
        "score": st.sampled_from([0.0, 0.5, 1.0, 1]),
        "verdict": st.sampled_from(sorted(OUTCOME_OF)),
        "details": _DETAILS,
        "evidence": st.lists(_CHECKS, min_size=1, max_size=3),
    }
)
_FAULTS = st.fixed_dictionaries(
    {key: st.sampled_from([key, ""]) for key in ("code", "message", "hint")}
)
_FACTS = st.fixed_dictionaries(
    {
        "custom_id": st.none() | st.text(max_size=3),
        "line": st.integers(0, 2**53 - 1),
        "label": st.none() | st.text(max_size=3),
        "grader": st.just("g"),
        "grader_version": st.none() | st.integers(-(2**63), 2**63 - 1),
        "config_digest": st.none() | st.just("d"),
        "metadata": st.none() | st.dictionaries(st.text(max_size=2), _JSON, max_size=2),
        "receipt": st.just("r"),
    }
)
_GRADED = st.fixed_dictionaries(
    {"status": st.just("graded"), "result": _RESULTS, "error": st.none() | _FAULTS}
)
_UNGRADED = st.fixed_dictionaries(
    {"status": st.sampled_from(sorted(UNGRADED)), "result": st.none(), "error": st.none() | _FAULTS}
)


@given(_FACTS, _GRADED | _UNGRADED)
def test_a_row_says_what_a_result_row_says(facts, judged):
    line = orjson.dumps(facts | judged)
    row, expected = TableRow.from_bytes(line), ResultRow.from_bytes(line)
    told = row.judgement()
    assert told == Judgement.of(expected)
    assert told.outcome is expected.outcome
    assert (told.verdict, told.score) == (expected.verdict, expected.score)
    assert (told.expected, told.observed) == expected.compared()
    assert (told.reason or "", told.cause or "") == (expected.reason(), expected.cause)
    assert facts_of(row) == facts_of(expected)
    assert proofs_of(row) == proofs_of(expected)
    assert row.metadata == expected.metadata


_LINE = {
    **dict.fromkeys(ResultRow.__struct_fields__),
    "line": 1,
    "status": "graded",
    "result": {
        "verdict": "pass",
        "score": 1.0,
        "details": {},
        "evidence": [{"check": "c", "passed": True, "description": ""}],
    },
}


@pytest.mark.parametrize(
    ("verdicts", "shown"),
    [
        ([True], ("limit 0", "observed 0")),
        ([True, True], (None, None)),  # they would stand beside those of another check
        ([True, False], ("limit 1", "observed 1")),
    ],
)
def test_values_are_shown_of_the_check_that_decides(verdicts, shown):
    checks = [
        {"check": "c", "passed": passed, "limit": f"limit {place}", "observed": f"observed {place}"}
        for place, passed in enumerate(verdicts)
    ]
    verdict = "pass" if all(verdicts) else "fail"
    result = _LINE["result"] | {"verdict": verdict, "evidence": checks}
    told = TableRow.from_bytes(orjson.dumps(_LINE | {"result": result})).judgement()
    assert (told.expected, told.observed) == shown


@pytest.mark.parametrize(
    "damage",
    [
        {"line": -1},
        {"status": "done", "result": None},
        {"result": _LINE["result"] | {"verdict": "maybe"}},
        {"result": _LINE["result"] | {"score": 2.0}},
        {"result": _LINE["result"] | {"evidence": []}},
        {"result": _LINE["result"] | {"details": []}},
        {"result": _LINE["result"] | {"evidence": [{"passed": True}]}},
    ],
)
def test_what_is_no_result_line_is_refused(damage):
    assert TableRow.from_bytes(orjson.dumps(_LINE)).judgement().outcome == "passed"
    with pytest.raises(ValueError, match="not a result line"):
        TableRow.from_bytes(orjson.dumps(_LINE | damage))
