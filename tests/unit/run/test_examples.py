"""Each of the most frequent causes in a run has an example job."""

from itertools import permutations

import orjson

from weighbridge.grading.line_grader import grade_lines
from weighbridge.jobs.outcome import GraderSummary
from weighbridge_producer.run.examples import first_examples


def results(tmp_path, *answers):
    cases = [
        {"custom_id": f"q{n}", "inputs": {"agent_response": answer, "expected_output": "Graz"}}
        for n, answer in enumerate(answers, 1)
    ]
    path = tmp_path / "results.jsonl"
    path.write_bytes(b"".join(grade_lines(map(orjson.dumps, cases), ["string-match"])))
    return path


def summary(*causes, failed=1):
    found = tuple((cause, 1) for cause in causes)
    return [GraderSummary("string-match", "string-match", failed=failed, causes=found)]


def test_the_first_job_of_each_cause_is_its_example(tmp_path):
    path = results(tmp_path, "Graz", "graz", "GRAZ", "Oslo")
    found = first_examples(path, summary("string_match: case", "string_match: other", "gone"), 10)
    assert found == {
        ("string-match", "string_match: case"): "q2: Expected 'Graz' but got 'graz': only the case differs",
        ("string-match", "string_match: other"): "q4: Expected 'Graz' but got 'Oslo'",
    }  # fmt: skip


def test_the_example_is_the_first_in_the_input_wherever_its_result_is(tmp_path):
    path = results(tmp_path, "graz", "Oslo", "GRAZ", "Rome", "gRaz")
    rows = path.read_bytes().splitlines(keepends=True)
    causes = ("string_match: case", "string_match: other")
    for order in permutations(rows):
        path.write_bytes(b"".join(order))
        found = first_examples(path, summary(*causes), 10)
        assert [found["string-match", cause][:2] for cause in causes] == ["q1", "q2"]


def test_each_grader_has_its_own_examples_wherever_their_results_are(tmp_path):
    names = ["string-match", "true-false"]
    cases = [
        {"custom_id": f"q{n}", "inputs": {"agent_response": answer, "expected_output": "true"}}
        for n, answer in enumerate(("true", "TRUE", "yes", "no", "no"), 1)
    ]
    by_case = [*grade_lines(map(orjson.dumps, cases), names)]
    assert [rows.count(b"\n") for rows in by_case] == [2] * len(cases)
    causes = {"string-match": ["string_match: case", "string_match: other"], "true-false": ["boolean_match: false negative"]}  # fmt: skip
    wanted = [
        GraderSummary(name, name, failed=1, causes=tuple((cause, 1) for cause in causes[name]))
        for name in names
    ]
    path = tmp_path / "results.jsonl"
    found = set()
    for order in permutations(by_case):
        path.write_bytes(b"".join(order))
        found.add(tuple(sorted(first_examples(path, wanted, 10).items())))
    [examples] = found
    assert [text[:2] for _, text in examples] == ["q2", "q3", "q4"]


def test_an_example_names_its_file_unless_its_id_does(tmp_path):
    files = {"1a7f": "otel/stuck.json", "a.json:1": "a.json", "9c": "runs/9c.jsonl", "n": 5}
    path = tmp_path / "results.jsonl"
    for name, file in files.items():
        inputs = {"agent_response": "Oslo", "expected_output": "Graz"}
        line = orjson.dumps({"custom_id": name, "inputs": inputs, "metadata": {"file": file}})
        path.write_bytes(b"".join(grade_lines([line], ["string-match"])))
        [example] = first_examples(path, summary("string_match: other"), 1).values()
        named = "1a7f (otel/stuck.json)" if name == "1a7f" else name
        assert example == f"{named}: Expected 'Graz' but got 'Oslo'"


def test_only_the_commonest_causes_have_one(tmp_path):
    path = results(tmp_path, "graz", "Oslo")
    found = first_examples(path, summary("string_match: other", "string_match: case"), 1)
    assert [cause for _, cause in found] == ["string_match: other"]


def test_a_run_without_failures_reads_nothing(tmp_path):
    assert first_examples(tmp_path / "not there", summary(), 10) == {}
