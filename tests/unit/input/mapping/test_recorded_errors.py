"""Rows of other tools with an error in place of an answer: each is one errored job that quotes the error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
import pytest

from weighbridge.errors import MappingNeededError
from weighbridge.jobs.grader_spec import GraderSpec
from weighbridge.settings import Settings
from weighbridge_producer.cli.mapping_choice import choose_mapping
from weighbridge_producer.input.files.input_paths import Paths
from weighbridge_producer.input.first_rows import Opened, first_rows
from weighbridge_producer.input.mapping.mapping_text import parse_mapping
from weighbridge_producer.input.recognition import recognise, recognise_rows
from weighbridge_producer.input.source import Source

if TYPE_CHECKING:
    from pathlib import Path

    from weighbridge_producer.input.source_lines import SourceLine

CHAT = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
BODY = {"object": "chat.completion", "model": "m", "choices": [{"index": 0, "message": CHAT[1]}]}
ANSWERED = {"custom_id": "a", "response": {"status_code": 200, "body": BODY}, "error": None}
EXPIRED = {
    "id": "batch_req_1",
    "custom_id": "x",
    "response": None,
    "error": {"code": "batch_expired", "message": "the window is over"},
}
REFUSED = {
    "custom_id": "y",
    "response": {"status_code": 400, "body": {"error": {"type": "invalid", "message": "too long"}}},
    "error": None,
}


def read(path: Path, data: Any, grader: str) -> list[SourceLine]:
    """Return the lines of a file that is recognised."""
    path.write_bytes(data if isinstance(data, bytes) else orjson.dumps(data))
    seen = recognise(Opened.first_of(Paths([path])), [GraderSpec(grader)], Settings())
    assert seen
    assert seen.mapping
    return list(Source(path, Settings(), seen.mapping))


def lines(*rows: Any) -> bytes:
    return b"".join(orjson.dumps(row) + b"\n" for row in rows)


@pytest.mark.parametrize(
    "rows",
    [(ANSWERED, EXPIRED, REFUSED), (EXPIRED, REFUSED, ANSWERED), (EXPIRED, REFUSED)],
    ids=["later", "first", "only"],
)
def test_a_batch_output_is_recognised_with_expired_requests_wherever_they_are(
    rows: tuple[Any, ...], tmp_path: Path
) -> None:
    found = read(tmp_path / "a.jsonl", lines(*rows), "budget")
    said = {line.custom_id: line.fault for line in found if line.fault}
    assert {fault.code for fault in said.values()} == {"NO_ANSWER"}
    assert said["x"].message.endswith("an answer: batch_expired: the window is over")
    assert said["y"].message.endswith("an answer: invalid: too long")
    assert len(found) - len(said) == rows.count(ANSWERED)


def test_the_outcome_of_a_request_of_anthropics_batches_is_told(tmp_path: Path) -> None:
    message = {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "4"}]}
    failed = {"type": "error", "error": {"type": "invalid_request_error", "message": "too long"}}
    results = [
        {"type": "succeeded", "message": message},
        {"type": "expired"},
        {"type": "errored", "error": failed},
    ]
    rows = [{"custom_id": f"r{n}", "result": each} for n, each in enumerate(results)]
    answered, *others = read(tmp_path / "a.jsonl", lines(*rows), "budget")
    assert answered.fault is None
    assert [line.fault.message.partition("an answer: ")[2] for line in others if line.fault] == [
        "expired",
        "errored: invalid_request_error: too long",
    ]


@pytest.mark.parametrize("key", ["key", "id", None])
def test_answers_and_errors_of_gemini_in_batches_are_told_apart(
    key: str | None, tmp_path: Path
) -> None:
    request = {"contents": [{"role": "user", "parts": [{"text": "Capital?"}]}]}
    parts = [{"text": "Let me think", "thought": True}, {"text": "Pa"}, {"text": "ris"}]
    answered = {"candidates": [{"content": {"role": "model", "parts": parts}}]}
    blocked = {"promptFeedback": {"blockReason": "SAFETY"}}
    given: list[dict[str, Any]] = [
        {"status": "", "response": answered},
        {"status": "", "response": blocked},
        {"status": "Bad Request: no role", "response": {}},
        {"status": "", "response": {"candidates": [{"finishReason": "SAFETY"}]}},
    ]
    rows = [
        {"processed_time": "2026-11-01", "request": request, **each, **({key: f"r{at}"} if key else {})}
        for at, each in enumerate(given, 1)
    ]  # fmt: skip
    (tmp_path / "a.jsonl").write_bytes(lines(*rows))
    texts = ['expected_output:="Paris"']
    graders = [GraderSpec("string-match")]
    paths = Paths([tmp_path / "a.jsonl"])
    mapping, _ = choose_mapping(paths, graders, Settings(), texts=texts, saved=None, joins=())
    found = list(Source(tmp_path / "a.jsonl", Settings(), mapping))
    assert [line.fault and line.fault.code for line in found] == [None, None, "NO_ANSWER", None]
    assert found[2].fault
    assert found[2].fault.message.endswith("an answer: Bad Request: no role")
    cases = [orjson.loads(line.raw) for line in found if not line.fault]
    assert [case["inputs"]["agent_response"] for case in cases] == ["Paris", None, None]
    assert [case["custom_id"] for case in cases] == [f"{'r' if key else ''}{n}" for n in (1, 2, 4)]


def test_gemini_answers_of_a_batch_without_expected_ones_ask_for_them(tmp_path: Path) -> None:
    response = {"candidates": [{"content": {"role": "model", "parts": [{"text": "Paris"}]}}]}
    (tmp_path / "a.jsonl").write_bytes(
        lines({"key": "a", "response": response}, {"key": "b", "error": {"message": "busy"}})
    )
    paths, graders = Paths([tmp_path / "a.jsonl"]), [GraderSpec("string-match")]
    with pytest.raises(MappingNeededError, match="Gemini batch output") as caught:
        choose_mapping(paths, graders, Settings(), texts=(), saved=None, joins=())
    assert "--on key=ID --map expected_output=gold.COLUMN" in str(caught.value.hint)


@pytest.mark.parametrize(
    "answer",
    [
        {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "4"}]},
        {"output": {"message": {"role": "assistant", "content": [{"text": "4"}]}}, "usage": {}},
        {"generation": "4", "stop_reason": "stop"},
        {"inputTextTokenCount": 8, "results": [{"outputText": "4", "tokenCount": 1}]},
        {"outputs": [{"text": "4", "stop_reason": "stop"}]},
        {"generations": [{"text": "4"}]},
    ],
    ids=["anthropic", "converse", "llama", "titan", "mistral", "cohere"],
)
def test_answers_and_errors_of_bedrock_in_batches_are_told_apart(
    answer: dict[str, Any], tmp_path: Path
) -> None:
    error = {"errorCode": 400, "errorMessage": "bad request", "retryable": False}
    given = [{"modelOutput": answer}, {"error": error}]
    rows = [{"recordId": f"r{at}", "modelInput": {}, **each} for at, each in enumerate(given)]
    (tmp_path / "a.jsonl").write_bytes(lines(*rows))
    paths, texts = Paths([tmp_path / "a.jsonl"]), ['expected_output:="4"']
    graders = [GraderSpec("string-match")]
    mapping, _ = choose_mapping(paths, graders, Settings(), texts=texts, saved=None, joins=())
    answered, failed = Source(tmp_path / "a.jsonl", Settings(), mapping)
    case = orjson.loads(answered.raw)
    assert (case["custom_id"], case["inputs"]["agent_response"]) == ("r0", "4")
    assert failed.fault
    assert failed.fault.message.endswith("an answer: 400: bad request")


@pytest.mark.parametrize(
    ("rows", "given"),
    [
        ((ANSWERED, EXPIRED, REFUSED), "custom_id=custom_id,agent_response=response.body.choices"),
        ((ANSWERED, EXPIRED, REFUSED), "custom_id=custom_id,trace=response.body.choices"),
        ((ANSWERED, EXPIRED, REFUSED), "agent_response=response.body.choices"),
    ],
)
def test_an_error_is_told_also_if_the_answer_is_mapped_otherwise(
    rows: tuple[Any, ...], given: str, tmp_path: Path
) -> None:
    (tmp_path / "a.jsonl").write_bytes(lines(*rows))
    texts = [f'{given},expected_output:="hello"']
    paths = Paths([tmp_path / "a.jsonl"])
    mapping, _ = choose_mapping(paths, (), Settings(), texts=texts, saved=None, joins=())
    answered, *failed = Source(tmp_path / "a.jsonl", Settings(), mapping)
    assert answered.fault is None
    assert [line.fault.message.rpartition("answer: ")[2] for line in failed if line.fault] == [
        "batch_expired: the window is over",
        "invalid: too long",
    ]


def test_a_result_of_promptfoo_without_an_output_is_an_error_and_one_with_an_empty_output_is_not(
    tmp_path: Path,
) -> None:
    test = {"vars": {}, "promptIdx": 0, "testCase": {"assert": [{"type": "equals", "value": "4"}]}}
    given: list[dict[str, Any]] = [
        {"response": {"output": "5"}, "error": 'Expected output "5" to equal "4"'},
        {"response": {"output": ""}, "error": 'Expected output "" to equal "4"'},
        {"response": {"error": "API error: 500"}, "error": "API error: 500"},
        {"error": "timed out"},
    ]
    rows = [{**test, "testIdx": at, **each} for at, each in enumerate(given)]
    found = read(tmp_path / "o.json", {"results": {"results": rows}}, "string-match")
    assert [line.fault and line.fault.message.partition("an answer: ")[2] for line in found] == [
        None,
        None,
        "API error: 500",
        "timed out",
    ]


def test_a_sample_of_inspect_that_failed_without_an_answer_is_an_error_and_no_failure(
    tmp_path: Path,
) -> None:
    sample = {"id": "s", "epoch": 1, "input": "q", "target": "4", "messages": CHAT}
    error = {"message": "RuntimeError('sandbox')", "traceback": "..."}
    samples = [
        {**sample, "output": {"completion": "4"}, "error": error},
        {**sample, "output": {"completion": ""}, "error": error},
        {**sample, "output": {"choices": []}, "error": error},
        {**sample, "output": {"completion": ""}},
    ]
    found = read(tmp_path / "log.json", {"version": 2, "samples": samples}, "string-match")
    assert [str(line.fault.code) if line.fault else "" for line in found] == [
        "",
        "NO_ANSWER",
        "NO_ANSWER",
        "",
    ]
    assert found[1].custom_id == "s/1#2"
    assert found[1].fault
    assert found[1].fault.message == (
        "Inspect recorded an error in place of an answer: RuntimeError('sandbox')"
    )


def test_an_error_in_langsmiths_results_is_told(tmp_path: Path) -> None:
    rows = (
        {"example_id": "a", "outputs": {"answer": "x"}, "reference_outputs": {"answer": "x"}},
        {"example_id": "b", "outputs": None, "reference_outputs": {"answer": "y"}},
    )
    given = lines(
        *({**row, "error": error} for row, error in zip(rows, (None, "429"), strict=True))
    )
    answered, failed = read(tmp_path / "a.jsonl", given, "string-match")
    assert answered.fault is None
    assert failed.fault
    assert failed.fault.code == "NO_ANSWER"
    assert "LangSmith recorded an error in place of an answer: 429" in failed.fault.message


def test_several_answers_to_one_request_are_noted(tmp_path: Path) -> None:
    second = {"index": 1, "message": {"role": "assistant", "content": "hi"}}
    body = {**BODY, "choices": [*BODY["choices"], second]}
    path = tmp_path / "a.jsonl"
    path.write_bytes(lines(ANSWERED, {**ANSWERED, "custom_id": "b", "response": {"body": body}}))
    opened = Opened.first_of(Paths([path]))
    rows = first_rows(opened, Settings())
    seen = recognise_rows(opened, rows, ["agent_response"], Settings())
    assert seen
    mapping = parse_mapping(["expected_output=custom_id"], seen.mapping)
    source = Source(path, Settings(), mapping)
    assert len(list(source)) == 2
    told = "rows have up to 2 answers to one request, of which only the first is graded"
    assert told in source.notes.notes()


def name_of(line: SourceLine) -> str | None:
    """Return the id of a case, or of the row of an error."""
    return line.custom_id if line.fault else orjson.loads(line.raw)["custom_id"]


def evals_case(name: str, **fields: Any) -> dict[str, Any]:
    """Return a case in a report of pydantic-evals, with its fields in their order."""
    given = {"name": name, "inputs": "q", "metadata": {"topic": "eu"}, "expected_output": "Paris"}
    if "error_message" not in fields:
        fields |= {"metrics": {}, "scores": {}, "labels": {}, "assertions": {}}
    return {**given, **fields, "source_case_name": None, "trace_id": None, "span_id": None}


PASSED, EMPTY = evals_case("fr", output="Paris"), evals_case("no", output=None)
RAISED = evals_case("ke", error_message="RuntimeError: model down", error_stacktrace="Traceback")


@pytest.mark.parametrize("indent", [0, orjson.OPT_INDENT_2])
@pytest.mark.parametrize(
    ("cases", "failures"),
    [
        ([PASSED], [RAISED]),
        ([], [RAISED]),
        ([PASSED, EMPTY], []),
        ([PASSED, EMPTY], [RAISED, {**RAISED, "name": "x", "error_message": "down"}]),
    ],
)
def test_the_failures_of_a_report_of_pydantic_evals_are_errors_beside_its_cases(
    cases: list[Any], failures: list[Any], indent: int, tmp_path: Path
) -> None:
    report = {"name": "task", "cases": cases, "failures": failures, "analyses": [], "span_id": None}
    found = read(tmp_path / "r.json", orjson.dumps(report, option=indent), "string-match")
    assert [name_of(line) for line in found] == [row["name"] for row in (*cases, *failures)]
    said = "pydantic-evals recorded an error in place of an answer: RuntimeError: model down"
    assert [line.fault and line.fault.message for line in found if line.custom_id == "ke"] == [
        said for row in failures if row is RAISED
    ]
    graded = [orjson.loads(line.raw) for line in found if not line.fault]
    assert [case["metadata"] for case in graded] == [{"topic": "eu"}] * len(graded)


def test_the_failures_of_a_report_are_read_with_a_mapping_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_bytes(orjson.dumps({"cases": [PASSED], "failures": [RAISED]}))
    texts = ["custom_id=name,agent_response=output,expected_output=expected_output"]
    graders = [GraderSpec("string-match")]
    mapping, _ = choose_mapping(
        Paths([path]), graders, Settings(), texts=texts, saved=None, joins=()
    )
    found = list(Source(path, Settings(), mapping))
    assert [(name_of(line), line.fault and line.fault.code) for line in found] == [
        ("fr", None),
        ("ke", "NO_ANSWER"),
    ]


@pytest.mark.parametrize("failures", [["x"], [{"a": 1}], {"ke": RAISED}, [], None, [None, RAISED]])
def test_a_list_of_failures_of_another_form_is_no_list_of_rows(
    failures: Any, tmp_path: Path
) -> None:
    report = {"cases": [PASSED], "failures": failures, "last": [1]}
    found = read(tmp_path / "r.json", report, "string-match")
    assert [(name_of(line), line.fault) for line in found] == [("fr", None)]
