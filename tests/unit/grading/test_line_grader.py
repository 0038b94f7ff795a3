"""Grading lines: each job's result line, its counts, and what becomes of every kind of failure."""

import json
from collections.abc import Callable
from dataclasses import asdict
from typing import Any, ClassVar

import orjson
import pytest

from weighbridge.errors import Fault
from weighbridge.graders.base import Evidence, Grader, GraderResult, OutputGrader, Verdict, graded
from weighbridge.graders.registry import Registry
from weighbridge.graders.trace_grader import TraceGrader
from weighbridge.grading.case import Case
from weighbridge.grading.inputs import Inputs
from weighbridge.grading.line_grader import WHOLE_LINE, JobDeadlineError, LineGrader, grade_lines
from weighbridge.grading.receipt import Receipts, canonical_json
from weighbridge.grading.tally import Tally
from weighbridge.jobs.chunk import Line
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge.jobs.grader_spec import GraderSpec
from weighbridge.jobs.outcome import Outcome
from weighbridge.traces import Trace

INPUTS = {"agent_response": "yes", "expected_output": "true"}
KEYS = [
    *("custom_id", "line", "label", "grader", "grader_version", "config_digest", "status"),
    *("result", "error", "metadata", "receipt"),
]


def acts(grader_id: str, act: Callable[[object], object]) -> type[OutputGrader]:
    """Make a plug-in that does something to its first input."""

    class Acting(OutputGrader):
        id = grader_id
        name = "Acting"
        description = "Does as it is told"
        version = 3

        @classmethod
        def example(cls) -> dict[str, Any]:
            return {"config": None, "inputs": INPUTS}

        def grade(self, agent_response: object, expected_output: object = None) -> GraderResult:
            return act(agent_response)  # type: ignore[return-value]

    return Acting


def raises(error: BaseException) -> Callable[[object], object]:
    def act(_: object) -> object:
        raise error

    return act


def outcome(**changes: Any) -> Callable[[object], object]:
    """Return a result with something changed in it."""
    evidence = {"check": "told", "description": "d", "passed": False, "step_ids": []}
    result = graded(Verdict.FAIL, {"match_status": "told"}, [evidence])  # type: ignore[list-item]
    return lambda _: {**result, **changes}


def grade(
    line: dict[str, Any] | bytes,
    *plug_ins: type[Grader],
    defaults: tuple[GraderSpec, ...] = (GraderSpec("true-false"),),
    tally: Tally | None = None,
    **options: Any,
) -> list[dict[str, Any]]:
    raw = line if isinstance(line, bytes) else orjson.dumps(line)
    grader = LineGrader(defaults, Registry(graders=plug_ins))
    out = grader.grade(Line(4, 5, raw), Tally() if tally is None else tally, **options)
    return [orjson.loads(row) for row in out.splitlines()]


def case(**fields: Any) -> dict[str, Any]:
    return {"custom_id": "a", "inputs": INPUTS} | fields


CONFIG_DIGEST = "bc17e5f25bd59369"  #: of the defaults of true-false


def test_a_result_line_has_every_field_in_its_order() -> None:
    [row] = grade(case(metadata={"k": "v"}))
    assert list(row) == KEYS
    receipts = Receipts("true-false", 3, _effective("true-false"))
    expected = receipts.of(canonical_json(INPUTS), row["result"])
    assert row | {"result": None} == {
        "custom_id": "a",
        "line": 5,
        "label": "true-false",
        "grader": "true-false",
        "grader_version": 3,
        "config_digest": CONFIG_DIGEST,
        "status": "graded",
        "result": None,
        "error": None,
        "metadata": {"k": "v"},
        "receipt": expected,
    }
    assert row["result"]["verdict"] == "pass"
    assert row["result"]["score"] == 1.0


def _effective(grader_id: str) -> dict[str, Any]:
    return Registry().create(grader_id).effective_config()


def test_results_are_the_same_bytes_as_ever() -> None:
    """A change of these bytes requires new versions of the graders, so that results remain comparable."""
    lines = [
        b'{"custom_id":"pass","inputs":{"agent_response":"Yes","expected_output":"true"},"metadata":{"n":1.50}}',
        b'{"custom_id":"f\xc3\xa9","inputs":{"agent_response":"\xf0\x9f\x98\x80","expected_output":"no"}}',
        b'{"custom_id":"c","inputs":{"agent_response":1.0,"expected_output":null}}',
        b'{"custom_id":"d","inputs":{"agent_response":18446744073709551615,"expected_output":"1"}}',
        b'{"custom_id":"e","inputs":{}}',
    ]
    receipts = [
        (row["custom_id"], row["receipt"] and row["receipt"][:16])
        for out in grade_lines(lines, ["true-false"])
        for row in [orjson.loads(out)]
    ]
    assert receipts == GOLDEN_RECEIPTS
    first = next(iter(grade_lines(lines, ["true-false"])))
    assert first == GOLDEN_LINE


GOLDEN_RECEIPTS: list[tuple[str, str | None]] = [
    ("pass", "199ab23d096bc211"),
    ("fé", "8b6d7d91d3060a47"),
    ("c", "d997562d44c800d6"),
    ("d", "a451cc655c667ff6"),
    ("e", None),
]
GOLDEN_LINE = (
    b'{"custom_id":"pass","line":1,"label":"true-false","grader":"true-false","grader_version"'
    b':3,"config_digest":"bc17e5f25bd59369","status":"graded","result":{"passed":true,"score":1.0,"verdict":"pass","details":{"ex'
    b'pected_bool":"true","actual_bool":"true","match_status":"match","reason":"Expected and a'
    b'ctual values match","expected_original":"true","actual_original":"Yes","normalized_expec'
    b'ted":"true","normalized_actual":"yes"},"evidence":[{"check":"boolean_match","description'
    b'":"Response \'Yes\' means true, expected true","passed":true,"limit":"true","observed":"tr'
    b'ue","step_ids":[],"excerpt":"Yes"}]},"error":null,"metadata":{"n":1.5},"receipt":"199ab2'
    b'3d096bc211e5d78a7e802ac246d2db7e09d710493fededccf75d3026bd"}\n'
)


def test_an_errored_line_has_the_same_fields() -> None:
    [row] = grade(b'{"custom_id": "a", "inputs": {}, "x": 1}')
    assert list(row) == KEYS
    assert row == {
        "custom_id": "a",
        "line": 5,
        "label": None,
        "grader": None,
        "grader_version": None,
        "config_digest": None,
        "status": "errored",
        "result": None,
        "error": {
            "code": "UNKNOWN_FIELD",
            "message": "unknown field 'x'",
            "hint": row["error"]["hint"],
        },
        "metadata": None,
        "receipt": None,
    }


def test_a_line_without_a_readable_id_has_none() -> None:
    [row] = grade(b"not JSON")
    assert row["custom_id"] is None
    assert row["line"] == 5
    assert row["error"]["code"] == ErrorCode.INVALID_JSON


def test_what_the_producer_found_is_the_lines_error() -> None:
    fault = Fault(ErrorCode.LINE_TOO_LONG, "too long", "split it")
    [row] = [
        orjson.loads(out)
        for out in LineGrader().grade(Line(0, 1, b"", fault), Tally()).splitlines()
    ]
    assert row["error"] == asdict(fault)


def test_each_of_a_cases_graders_has_its_line() -> None:
    rows = grade(
        case(
            metadata={"k": 1},
            graders=[
                {"grader": "true-false"},
                {"grader": "string-match", "label": "exact"},
                {"grader": "nothing-like-it", "label": "none"},
            ],
        )
    )
    assert [(row["label"], row["grader"], row["status"]) for row in rows] == [
        ("true-false", "true-false", "graded"),
        ("exact", "string-match", "graded"),
        ("none", "nothing-like-it", "errored"),
    ]
    assert {row["custom_id"] for row in rows} == {"a"}
    assert [row["metadata"] for row in rows] == [{"k": 1}] * 3


def test_an_unknown_grader_is_named_with_the_known_ones() -> None:
    [row] = grade(case(grader="true-flase"))
    assert row["error"]["code"] == ErrorCode.UNKNOWN_GRADER
    assert "'true-flase'; did you mean 'true-false'?" in row["error"]["message"]
    assert "string-match" in row["error"]["message"]
    assert row["error"]["hint"].startswith("correct the id, or install the plug-in")
    assert (row["grader"], row["grader_version"]) == ("true-flase", None)


@pytest.mark.parametrize(
    ("config", "named"),
    [
        ({"case_sensitve": True}, "case_sensitive"),
        ({"case_sensitive": "yes"}, "case_sensitive"),
        ({"aliases": {"true": [], "false": ["no"]}}, "aliases"),
    ],
)
def test_a_bad_config_is_the_jobs_error(config: dict[str, Any], named: str) -> None:
    [row] = grade(case(grader="true-false", config=config))
    assert row["error"]["code"] == ErrorCode.INVALID_CONFIG
    assert named in row["error"]["message"] + row["error"]["hint"]


def test_a_missing_input_is_named() -> None:
    [row] = grade(case(inputs={"agent_response": "yes"}))
    assert row["error"] == {
        "code": "MISSING_FIELD",
        "message": "the inputs lack 'expected_output'",
        "hint": "needed: agent_response, expected_output",
    }
    assert row["grader_version"] == 3


def test_an_unknown_input_is_named_with_what_was_probably_meant() -> None:
    [row] = grade(case(inputs=INPUTS | {"agent_respnse": 1}))
    assert row["error"] == {
        "code": "UNKNOWN_FIELD",
        "message": "unknown input 'agent_respnse'",
        "hint": "did you mean 'agent_response'? Known: agent_response, expected_output",
    }


def test_an_input_with_a_default_may_be_left_out() -> None:
    plug_in = acts("acting", outcome())
    [row] = grade(case(grader="acting", inputs={"agent_response": 1}), plug_in)
    assert row["status"] == "graded"


@pytest.mark.parametrize(
    ("act", "code", "message"),
    [
        (raises(ValueError("boom")), "GRADER_CRASHED", "the grader raised ValueError: boom"),
        (raises(RecursionError("deep")), "GRADER_CRASHED", "RecursionError"),
        (raises(SystemExit(3)), "GRADER_CRASHED", "SystemExit: 3"),
        (raises(MemoryError()), "OUT_OF_MEMORY", "more memory"),
        (
            raises(JobDeadlineError("the job did not end within 1 s")),
            "TIMEOUT",
            "the job did not end within 1 s",
        ),
        (lambda _: None, "GRADER_CRASHED", "no valid result"),
        (lambda _: {}, "GRADER_CRASHED", "no valid result"),
        (outcome(verdict="perhaps"), "GRADER_CRASHED", "no valid result"),
        (outcome(score=1.5), "GRADER_CRASHED", "no valid result"),
        (outcome(score=float("nan")), "GRADER_CRASHED", "no valid result"),
        (outcome(score="1"), "GRADER_CRASHED", "no valid result"),
        (outcome(details=None), "GRADER_CRASHED", "no valid result"),
        (outcome(evidence=None), "GRADER_CRASHED", "no valid result"),
        (outcome(evidence=[{}]), "GRADER_CRASHED", "no valid result"),
        (outcome(details={"a": {1, 2}}), "GRADER_CRASHED", "no valid result"),
        (outcome(details={"a": float("nan")}), "GRADER_CRASHED", "no valid result"),
        (outcome(details={"a": "\ud800"}), "GRADER_CRASHED", "no valid result"),
        (outcome(details={1: 2}), "GRADER_CRASHED", "no valid result"),
    ],
)
def test_whatever_a_plug_in_does_its_job_alone_is_errored(
    act: Callable[[object], object], code: str, message: str
) -> None:
    tally = Tally()
    graders = [{"grader": "acting"}, {"grader": "true-false"}]
    rows = grade(case(graders=graders), acts("acting", act), tally=tally)
    assert [row["status"] for row in rows] == ["errored", "graded"]
    assert rows[0]["error"]["code"] == code
    assert message in rows[0]["error"]["message"]
    assert rows[0]["error"]["hint"]
    assert (rows[0]["result"], rows[0]["receipt"]) == (None, None)
    assert tally.counts == {"errored": 1, "passed": 1}


def test_a_crash_message_is_cut() -> None:
    plug_in = acts("acting", raises(ValueError("x" * 100_000)))
    [row] = grade(case(grader="acting"), plug_in)
    assert len(row["error"]["message"]) < 400


class Record:
    """An observer that records its calls."""

    def __init__(self) -> None:
        self.told: list[tuple[int, int] | str] = []

    def begin(self, line: int, job: int) -> None:
        self.told.append((line, job))

    def end(self) -> None:
        self.told.append("end")


def test_the_observer_is_told_of_the_line_and_each_job_by_its_place_and_of_its_end_even_when_it_crashes() -> (
    None
):
    observer = Record()
    graders = [{"grader": "acting"}, {"grader": "true-false"}]
    grade(case(graders=graders), acts("acting", raises(ValueError())), observer=observer)
    assert observer.told == [(4, WHOLE_LINE), "end", (4, 0), "end", (4, 1), "end"]


def test_the_only_job_of_a_line_is_its_first() -> None:
    observer = Record()
    verdict = Fault(ErrorCode.WORKER_KILLED, "it killed its worker 3 times", "see its log")
    grade(case(), observer=observer)
    assert observer.told == [(4, WHOLE_LINE), "end", (4, 0), "end"]
    [row] = grade(case(), quarantined={0: verdict})
    assert row["error"] == asdict(verdict)


def test_a_condemned_job_is_not_tried() -> None:
    verdict = Fault(ErrorCode.WORKER_KILLED, "it killed its worker 3 times", "see its log")
    graders = [{"grader": "acting"}, {"grader": "true-false"}]
    plug_in = acts("acting", raises(AssertionError("it was tried")))
    rows = grade(case(graders=graders), plug_in, quarantined={0: verdict})
    assert rows[0]["error"] == asdict(verdict)
    assert rows[1]["status"] == "graded"


def test_counts_and_causes_say_what_the_lines_say() -> None:
    tally = Tally()
    for response, expected in [
        ("yes", "true"),
        ("1", "true"),
        ("no", "true"),
        ("a secret answer", "true"),
        ("yes", "a secret expectation"),
    ]:
        grade(case(inputs={"agent_response": response, "expected_output": expected}), tally=tally)
    grade(case(inputs={}), tally=tally)
    grade(b"{", tally=tally)
    assert tally.counts == {"passed": 2, "failed": 2, "ungradable": 1, "errored": 2}
    assert tally.jobs == 7
    name = "true-false"
    assert tally.summary == {
        (name, name, "passed", ""): 2,
        (name, name, "failed", ""): 2,
        (name, name, "score 0.0", ""): 2,
        (name, name, "score 0.9", ""): 2,
        (name, name, "failed", "boolean_match: false negative"): 1,
        (name, name, "failed", "response_is_boolean: other"): 1,
        (name, name, "ungradable", ""): 1,
        (name, name, "ungradable", "expected_is_boolean: other"): 1,
        (name, name, "errored", ""): 1,
        (name, name, "errored", "MISSING_FIELD"): 1,
        (None, None, "errored", ""): 1,
        (None, None, "errored", "INVALID_JSON"): 1,
    }
    assert b"secret" not in tally.pack()
    assert tally.versions == "true-false=3"


def test_a_pass_that_rests_on_no_facts_is_counted_on_its_own_too() -> None:
    evidence = [{"check": "vacuous", "description": "no calls", "passed": True, "step_ids": []}]
    act = outcome(verdict="pass", passed=True, score=1.0, evidence=evidence)
    tally = Tally()
    grade(case(grader="acting"), acts("acting", act), tally=tally)
    assert tally.counts == {"passed": 1}
    assert tally.summary == {
        ("acting", "acting", "passed", ""): 1,
        ("acting", "acting", "vacuous", ""): 1,
        ("acting", "acting", "score 0.9", ""): 1,
    }


def test_a_tally_is_packed_as_the_store_reads_it() -> None:
    tally = Tally(grade_us=12)
    tally.count("l", "g", Outcome.FAILED, "why")
    tally.count("l", "g", Outcome.ERRORED, ErrorCode.TIMEOUT)
    packed = orjson.loads(tally.pack())
    assert packed["counts"] == {"failed": 1, "errored": 1}
    assert (packed["jobs"], packed["grade_us"]) == (2, 12)
    rows = {tuple(json.loads(field)): (n, json.loads(fold)) for field, n, fold in packed["summary"]}
    assert rows["l", "g", "failed", "why"] == (
        1,
        ["(other labels)", "", "failed", "(other causes)"],
    )
    assert rows["l", "g", "errored", ""] == (1, ["(other labels)", "", "errored", ""])


@pytest.mark.parametrize(
    ("score", "row"),
    [
        (0.0, "score 0.0"),
        (0.0999, "score 0.0"),
        (0.1, "score 0.1"),
        (0.3, "score 0.3"),
        (0.7, "score 0.7"),
        (0.9, "score 0.9"),
        (0.9999, "score 0.9"),
        (1.0, "score 0.9"),
        (1, "score 0.9"),
    ],
)
def test_a_score_is_counted_in_its_tenth(score: float, row: str) -> None:
    tally = Tally()
    tally.count("l", "g", Outcome.FAILED, "why", score)
    assert tally.summary["l", "g", row, ""] == 1
    assert tally.jobs == tally.counts["failed"] == 1


def test_scores_of_what_was_not_judged_are_not_counted() -> None:
    tally = Tally()
    tally.count("l", "g", Outcome.UNGRADABLE, "why", 0.0)
    tally.count("l", "g", Outcome.ERRORED, ErrorCode.TIMEOUT)
    assert not [row for row in tally.summary if row[2].startswith("score")]


@pytest.mark.parametrize("outcome", [Outcome.CANCELLED, Outcome.EXPIRED])
def test_a_line_that_is_closed_has_a_result_for_each_job(outcome: Outcome) -> None:
    tally, grader = Tally(), LineGrader((GraderSpec("true-false"), GraderSpec("string-match")))
    lines = [orjson.dumps(case(metadata={"k": 1})), b"not JSON"]
    rows = [
        orjson.loads(row)
        for index, raw in enumerate(lines)
        for row in grader.close(Line(index, index + 1, raw), tally, outcome).splitlines()
    ]
    assert [(row["custom_id"], row["label"], row["line"]) for row in rows] == [
        ("a", "true-false", 1),
        ("a", "string-match", 1),
        (None, None, 2),
    ]
    assert {row["status"] for row in rows} == {outcome.status}
    assert {row["error"]["code"] for row in rows} == {outcome.name}
    assert all(row["error"]["hint"] for row in rows)
    assert all(list(row) == KEYS for row in rows)
    assert tally.counts == {outcome: 3}
    assert sum(grader.jobs_of(Line(0, 1, raw)) for raw in lines) == 3


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (case(), None),
        (case(inputs={}), ErrorCode.MISSING_FIELD),
        (case(grader="zzz"), ErrorCode.UNKNOWN_GRADER),
        (case(grader="true-false", config={"x": 1}), ErrorCode.INVALID_CONFIG),
        (case(custom_id=""), ErrorCode.INVALID_CUSTOM_ID),
        (
            case(graders=[{"grader": "true-false"}, {"grader": "zzz"}]),
            ErrorCode.UNKNOWN_GRADER,
        ),
    ],
)
def test_a_fault_is_found_without_grading(line: dict[str, Any], code: ErrorCode | None) -> None:
    found = LineGrader((GraderSpec("true-false"),)).fault_of(Line(0, 1, orjson.dumps(line)))
    assert (found.code if found else None) == code


def test_configs_that_say_the_same_share_a_grader_and_large_ones_are_not_kept() -> None:
    grader = LineGrader()
    for config in ({"case_sensitive": True, "aliases": None}, {"case_sensitive": True}):
        grader.grade(Line(0, 1, orjson.dumps(case(grader="true-false", config=config))), Tally())
    kept = grader._ready._build.cache_info().currsize
    turned = dict(reversed({"case_sensitive": True, "aliases": None}.items()))
    grader.grade(Line(0, 1, orjson.dumps(case(grader="true-false", config=turned))), Tally())
    assert grader._ready._build.cache_info().currsize == kept
    large = {"aliases": {"true": ["y" * 100_000], "false": ["n"]}}
    out = grader.grade(Line(0, 1, orjson.dumps(case(grader="true-false", config=large))), Tally())
    assert orjson.loads(out)["status"] == "graded"
    assert grader._ready._build.cache_info().currsize == kept


def test_lines_graded_directly_keep_their_numbers_past_blank_ones() -> None:
    line = orjson.dumps(case())
    found = [
        orjson.loads(row)
        for row in grade_lines([line, b"\n", b" \r\n", line + b"\n"], ["true-false"])
    ]
    assert [row["line"] for row in found] == [1, 4]
    assert len({row["receipt"] for row in found}) == 1


class SeesTrace(TraceGrader):
    """Notes the trace that it is given."""

    id, name, description, version = "sees-trace", "Sees", "Notes the trace", 1
    seen: ClassVar[list[Trace]] = []

    @classmethod
    def example(cls) -> dict[str, Any]:
        return {"config": {}, "inputs": {"trace": {"steps": []}}}

    def judge(self, trace: Trace) -> GraderResult:
        self.seen.append(trace)
        evidence: Evidence = {
            "check": "steps",
            "description": "seen",
            "passed": True,
            "observed": len(trace.steps),
            "step_ids": [],
        }
        return graded(Verdict.PASS, {}, [evidence])

    def blank_details(self) -> dict[str, object]:
        return {}


def test_a_trace_is_read_once_for_all_the_graders_of_a_line() -> None:
    SeesTrace.seen.clear()
    traced = {"trace": {"steps": [{"type": "user", "output": "hi"}]}}
    graders = [{"grader": "sees-trace", "label": label} for label in "abc"]
    rows = grade(case(inputs=traced, graders=graders), SeesTrace)
    assert [row["result"]["evidence"][0]["observed"] for row in rows] == [1, 1, 1]
    first, *others = SeesTrace.seen
    assert all(other is first for other in others)
    alone = grade(case(inputs=traced, grader="sees-trace"), SeesTrace)
    assert {row["receipt"] for row in rows} == {alone[0]["receipt"]}


def test_a_trace_that_cannot_be_read_is_ungradable_for_each_of_its_graders() -> None:
    graders = [{"grader": "sees-trace", "label": label} for label in "ab"]
    rows = grade(case(inputs={"trace": {"what": "this"}}, graders=graders), SeesTrace)
    for row in rows:
        assert row["result"]["verdict"] == "ungradable"
        assert row["result"]["evidence"][0]["observed"] == "UNKNOWN_TRACE_FORMAT"
        assert "an object with what" in row["result"]["evidence"][0]["description"]
    [row] = grade(case(inputs={"trac": {}}, grader="sees-trace"), SeesTrace)
    assert row["error"]["code"] == "MISSING_FIELD"


def test_a_plug_in_that_changes_its_inputs_changes_neither_its_receipt_nor_what_others_judge() -> (
    None
):
    told = outcome()

    def sort(answer: object) -> object:
        assert isinstance(answer, list)
        answer.sort()
        return told(answer)

    def look(answer: object) -> object:
        assert answer == [3, 1.0]
        return told(answer)

    inputs = {"agent_response": [3, 1.0], "expected_output": ""}
    sorts, looks = acts("sorts", sort), acts("looks", look)
    rows = grade(case(inputs=inputs, graders=["sorts", "looks", "string-match"]), sorts, looks)
    assert [row["error"] for row in rows] == [None, None, None]
    assert rows[2]["result"]["details"]["actual_original"] == "[3, 1.0]"
    receipts = Receipts("sorts", 3, {})
    assert rows[0]["receipt"] == receipts.of(canonical_json(inputs), rows[0]["result"])


def metadata_of(trace: Any, **fields: Any) -> list[Any]:
    """Return the metadata of the results of a case with a trace."""
    case = {"custom_id": "q-1", "inputs": {"trace": trace}, **fields}
    graders = ["loop", {"grader": "budget", "config": {"max_steps": 5}}]
    (rows,) = grade_lines([orjson.dumps(case)], graders)
    return [orjson.loads(row)["metadata"] for row in rows.splitlines()]


STEPS = [{"type": "user", "output": "x"}]


@pytest.mark.parametrize(
    ("own", "of_trace", "of_result"),
    [
        (None, {"model": "a"}, {"model": "a"}),
        ({}, {"model": "a"}, {"model": "a"}),
        ({"topic": "x", "model": "b"}, {"model": "a", "n": [1]}, {"topic": "x", "model": "b", "n": [1]}),
        ({"topic": "x"}, {"text": "x" * 70_000}, {"topic": "x"}),
        ({"topic": "x" * 40_000}, {"text": "x" * 40_000}, {"topic": "x" * 40_000}),
        ({"text": "x" * 60_000}, {"text": "y" * 60_000, "n": 1}, {"text": "x" * 60_000, "n": 1}),
        ({"topic": "x"}, {}, {"topic": "x"}),
        (None, {}, None),
    ],
)  # fmt: skip
def test_what_the_source_of_a_trace_records_is_metadata_of_its_results(
    own: Any, of_trace: dict[str, Any], of_result: Any
) -> None:
    trace = {"steps": STEPS, "metadata": of_trace}
    assert metadata_of(trace, metadata=own) == [of_result] * 2
    assert metadata_of("no trace", metadata=own) == [own] * 2


def test_metadata_that_json_cannot_have_are_left_out() -> None:
    trace = Trace("a", (), "x", metadata={"a": object()})
    inputs = Inputs({"trace": {}}, None, {"trace": trace})
    assert inputs.metadata_of(Case("a", {}, (), {"b": 1})) == {"b": 1}


def test_the_id_of_a_trace_in_its_source_is_metadata_if_the_case_has_another() -> None:
    trace = {"id": "t-1", "steps": STEPS}
    assert metadata_of(trace) == [{"trace_id": "t-1"}] * 2
    assert metadata_of(trace, metadata={"trace_id": "own"}) == [{"trace_id": "own"}] * 2
    assert metadata_of({**trace, "metadata": {"trace_id": "t-0"}}) == [{"trace_id": "t-0"}] * 2
    assert metadata_of({**trace, "id": "q-1"}) == [None] * 2
