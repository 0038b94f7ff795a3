"""What results come to, counted in one reading and bounded memory."""

import orjson

from weighbridge.grading.line_grader import grade_lines
from weighbridge.jobs.grader_spec import parse_specs
from weighbridge.jobs.result_line import ResultRow
from weighbridge_producer.reports import overview as surveys
from weighbridge_producer.reports.overview import OTHER, Survey
from weighbridge_producer.reports.weak_passes import WeakPasses, weak_passes


def surveyed(*cases, graders=("string-match",)):
    found = Survey()
    for lines in grade_lines(map(orjson.dumps, cases), graders):
        for line in lines.splitlines():
            found.add(ResultRow.from_bytes(line))
    return found


def case(custom_id, answer, **fields):
    inputs = {"agent_response": answer, "expected_output": "Graz"}
    return {"custom_id": custom_id, "inputs": inputs, **fields}


def test_causes_are_counted_with_the_first_job_of_each():
    found = surveyed(case("a", "Graz"), case("b", "graz"), case("c", "GRAZ"), {"custom_id": "d"})
    assert found.total == 4
    [most, other] = found.causes()
    assert (most.cause, most.jobs, most.example) == ("string_match: case", 2, "b")
    assert most.reason == "Expected 'Graz' but got 'graz': only the case differs"
    assert (other.cause, other.label) == ("MISSING_FIELD", "")
    assert [(row.label, row.passed, row.failed, row.errored) for row in found.labels()] == [
        ("", 0, 0, 1),
        ("string-match", 1, 2, 0),
    ]


def test_the_example_of_a_cause_has_its_file():
    [cause] = surveyed(case("a", "graz", metadata={"file": "x/b.json"})).causes()
    assert (cause.example, cause.file, cause.example_and_file) == ("a", "x/b.json", "a (x/b.json)")
    [cause] = surveyed(case("a", "graz")).causes()
    assert (cause.file, cause.example_and_file) == ("", "a")


def test_jobs_that_were_not_graded_come_after_the_causes_of_failures():
    lines = list(grade_lines([orjson.dumps(case("q0", "graz"))], ["string-match"]))
    cut_short = orjson.loads(lines[0]) | {"status": "cancelled", "result": None, "receipt": None}
    found = Survey()
    for line in (*lines, *[orjson.dumps(cut_short)] * 3):
        found.add(ResultRow.from_bytes(line))
    assert [(each.cause, each.jobs) for each in found.causes()] == [
        ("string_match: case", 1),
        ("cancelled", 3),
    ]


def test_scores_of_judged_jobs_are_counted_as_a_batch_counts_them():
    expected = ("true", "yes", "false", "perhaps")
    cases = [
        {"custom_id": truth, "inputs": {"agent_response": "true", "expected_output": truth}}
        for truth in expected
    ]
    [row] = surveyed(*cases, graders=["true-false"]).labels()
    assert (row.passed, row.failed, row.ungradable) == (2, 1, 1)
    assert row.scores == (1, *[0] * 8, 2)


def trace(custom_id, *tools, **fields):
    steps = [{"type": "tool", "name": tool, "arguments": {}} for tool in tools]
    body = {"format": "weighbridge", "steps": steps, **fields}
    return {"custom_id": custom_id, "inputs": {"trace": body}}


def test_passes_without_a_schema_are_counted_unless_nothing_was_checked(tmp_path):
    with_schema = {"tools": [{"name": "a", "parameters": {"type": "object"}}, {"name": "b"}]}
    cases = [
        trace("by names", "a", "a"),
        trace("by names, defined", "b", **with_schema),
        trace("by a schema too", "a", "b", **with_schema),
        trace("vacuous"),
        trace("refused", "rm"),
    ]
    grader = {"grader": "tool-schema", "label": "tools", "config": {"blocklist": ["rm"]}}
    assert +surveyed(*cases, graders=[grader]).weak_passes.by_names == {"tools": 2}

    results = tmp_path / "results.jsonl"
    specs = parse_specs([grader, "loop"])
    results.write_bytes(b"".join(grade_lines(map(orjson.dumps, cases), specs)))
    assert +weak_passes(results, specs).by_names == {"tools": 2}
    assert weak_passes(tmp_path / "none", parse_specs(["loop"])) == WeakPasses()


def test_passes_with_usage_that_is_ignored_are_counted(tmp_path):
    def used(custom_id, *tokens):
        steps = [
            {"type": "llm", "output": "x", **({"usage": {"total_tokens": n}} if n else {})}
            for n in tokens
        ]
        return {"custom_id": custom_id, "inputs": {"trace": {"format": "weighbridge", "steps": steps}}}  # fmt: skip

    cases = [used("nothing known", 0), used("known in part", 5, 0), used("known", 5), used("over", 0, 500)]  # fmt: skip
    config = {"max_tokens": 100, "missing_usage": "ignore"}
    grader = {"grader": "budget", "label": "cheap", "config": config}
    steps = {"grader": "budget", "label": "steps", "config": {"max_steps": 9}}
    found = surveyed(*cases, graders=[grader, steps]).weak_passes
    assert +found.usage_ignored == {"cheap": 2}
    assert [jobs for _, jobs in found.of("cheap")] == [2]
    assert [*found.of("steps")] == []

    results = tmp_path / "results.jsonl"
    specs = parse_specs([grader, steps])
    results.write_bytes(b"".join(grade_lines(map(orjson.dumps, cases), specs)))
    assert weak_passes(results, specs).as_dict() == {
        "passes_by_names": {},
        "passes_with_usage_ignored": {"cheap": 2},
    }


def test_the_example_is_the_first_in_the_input_whatever_the_order_of_the_results():
    cases = [case(f"q{n}", "graz") for n in range(3)]
    lines = list(grade_lines(map(orjson.dumps, cases), ["string-match"]))
    found = Survey()
    for line in (lines[2], lines[0], lines[1]):
        found.add(ResultRow.from_bytes(line))
    assert [cause.example for cause in found.causes()] == ["q0"]


def test_passes_with_nothing_to_check_are_counted_apart():
    trace = {"custom_id": "t", "inputs": {"trace": {"format": "weighbridge", "steps": []}}}
    [row] = surveyed(trace, graders=["loop"]).labels()
    assert (row.passed, row.vacuous) == (1, 1)


def test_labels_and_causes_beyond_the_limit_are_counted_together(monkeypatch):
    monkeypatch.setattr(surveys, "LABELS_LIMIT", 2)
    monkeypatch.setattr(surveys, "CAUSES_LIMIT", 2)
    given = [{"grader": "string-match", "label": f"l{n}"} for n in range(5)]
    found = surveyed(case("a", "graz", graders=given))
    assert [row.label for row in found.labels()] == [OTHER, "l0", "l1"]
    assert [(cause.label, cause.cause, cause.jobs) for cause in found.causes()] == [
        (OTHER, OTHER, 3),
        ("l0", "string_match: case", 1),
        ("l1", "string_match: case", 1),
    ]
