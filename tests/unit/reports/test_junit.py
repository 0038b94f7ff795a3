"""JUnit's XML: what Jenkins' schema allows, which GitLab, GitHub's actions and Azure read as well."""

from xml.etree import ElementTree as ET

import orjson

from weighbridge.grading.line_grader import grade_lines
from weighbridge_producer.gating.gates import FAILED, GateResult
from weighbridge_producer.reports.forms import FORMS
from weighbridge_producer.reports.report import Report

#: By element: the attributes that Jenkins' junit-10.xsd requires, those that it allows, and the elements in it.
COUNTS = {"tests", "failures", "errors"}
ALLOWED = {
    "testsuites": (set(), COUNTS | {"name", "time"}, {"testsuite"}),
    "testsuite": (
        COUNTS | {"name"},
        {
            "skipped",
            "time",
            "timestamp",
            "hostname",
            "id",
            "package",
            "file",
            "log",
            "url",
            "group",
        },
        {"testsuite", "properties", "testcase", "system-out", "system-err"},
    ),
    "testcase": (
        {"name"},
        {"time", "classname", "group"},
        {"skipped", "error", "failure", "system-out", "system-err"},
    ),
    **{name: (set(), {"type", "message"}, set()) for name in ("skipped", "error", "failure")},
}


def check_against_schema(element):
    required, allowed, inside = ALLOWED[element.tag]
    assert required <= set(element.attrib)
    assert set(element.attrib) <= required | allowed
    assert {child.tag for child in element} <= inside
    for child in element:
        check_against_schema(child)


def document(tmp_path, lines, **options):
    path = tmp_path / "results.jsonl"
    path.write_bytes(b"".join(lines))
    return ET.fromstring(b"".join(FORMS["junit"].blocks(Report(path, "cases", **options))))


def graded():
    cases = [
        {"custom_id": "ok", "inputs": {"agent_response": "Graz", "expected_output": "Graz"}},
        {
            "custom_id": "no\ufffe<&\"'",
            "inputs": {"agent_response": "\x00\x1b", "expected_output": "b"},
        },
        {"custom_id": "u", "inputs": {"agent_response": "a", "expected_output": None}},
        {"custom_id": "e", "inputs": {}},
    ]
    return grade_lines([*map(orjson.dumps, cases), b"{"], ["string-match"])


def test_the_file_of_a_case_that_did_not_pass_is_in_its_text(tmp_path):
    inputs = {"agent_response": "a", "expected_output": "b"}
    cases = [
        {"custom_id": "t1", "inputs": inputs, "metadata": {"file": "otel/stuck.json"}},
        {"custom_id": "a.json:1", "inputs": inputs, "metadata": {"file": "a.json"}},
    ]
    root = document(tmp_path, grade_lines(map(orjson.dumps, cases), ["string-match"]))
    check_against_schema(root)
    first, second = (case.text.splitlines() for case in root.iter("failure"))
    assert first == ["file: otel/stuck.json", *second]


def test_every_outcome_is_as_the_schema_allows_and_counted(tmp_path):
    root = document(tmp_path, graded())
    check_against_schema(root)
    assert root.attrib == {"tests": "5", "failures": "1", "errors": "2"}
    [suite] = root
    assert suite.attrib == {"name": "weighbridge", **root.attrib, "skipped": "1"}
    kinds = [[child.tag for child in case] for case in suite]
    assert kinds == [[], ["failure"], ["skipped"], ["error"], ["error"]]


def test_a_failure_has_its_cause_as_type_its_reason_and_its_evidence_in_the_body(tmp_path):
    failure = document(tmp_path, graded()).find(".//failure")
    assert failure.get("type") == "string_match: other"
    assert failure.get("message") == "Expected 'b' but got '␀␛'"
    assert failure.text.startswith("string_match: Expected 'b' but got")


def test_gates_are_a_suite_of_their_own(tmp_path):
    gates = tuple(
        GateResult("--min-pass-rate 0.9", scope, "90% or more", "50%", status)
        for scope, status in (("a", 0), ("b", FAILED))
    )
    root = document(tmp_path, graded(), gates=gates)
    check_against_schema(root)
    assert root.attrib == {"tests": "7", "failures": "2", "errors": "2"}
    suite = root[1]
    assert suite.attrib == {
        "name": "gates",
        "tests": "2",
        "failures": "1",
        "errors": "0",
        "skipped": "0",
    }
    assert "required 90% or more; seen 50%" in suite[1][0].get("message")
