"""Rows that are traces and have the answer and the expected one beside them: a mapping is proposed to graders of answers."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from weighbridge.jobs.grader_spec import GraderSpec
from weighbridge.settings import Settings
from weighbridge_producer.input.files import Paths
from weighbridge_producer.input.mapping import FieldMapping
from weighbridge_producer.input.recognition import (
    Opened,
    input_groups,
    recognise,
    trace_format,
)

if TYPE_CHECKING:
    from pathlib import Path

    from weighbridge_producer.input.recognition import Recognised

CHAT = [{"role": "user", "content": "2+2?"}, {"role": "assistant", "content": "4"}]
SHARED = [{"from": "human", "value": "2+2?"}, {"from": "gpt", "value": "4"}]
COMPLETION = {"object": "chat.completion", "choices": [{"index": 0, "message": CHAT[1]}]}
CHAT_ROW = {"id": 0, "messages": CHAT, "prediction": "4", "ground_truth": "4"}


def opened(path: Path, *rows: Any) -> Opened:
    data = b"".join(orjson.dumps(row) + b"\n" for row in rows)
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return Opened.first_of(Paths([path]))


def seen(path: Path, row: Any, *graders: str) -> Recognised | None:
    return recognise(opened(path, row), [GraderSpec(grader) for grader in graders], Settings())


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
@pytest.mark.parametrize(
    ("row", "mapping"),
    [
        (CHAT_ROW, "custom_id=id,agent_response=prediction,expected_output=ground_truth"),
        (
            {"conversations": SHARED, "answer": "4"},
            "custom_id=@row,agent_response=conversations.-1.value,expected_output=answer",
        ),
        (
            {"messages": CHAT, "gold": "4"},
            "custom_id=@row,agent_response=messages.-1.content,expected_output=gold",
        ),
        (
            {"request": {"messages": CHAT[:1]}, "output": "4", "expected": "4"},
            "custom_id=@row,agent_response=output,expected_output=expected",
        ),
        (
            {"id": "r", "request": {"messages": CHAT[:1]}, "response": COMPLETION, "gold": "4"},
            "custom_id=id,agent_response=response.choices.0.message.content,expected_output=gold",
        ),
        (
            {"messages": CHAT[:1], "prediction": "4"},
            "custom_id=@row,agent_response=prediction,expected_output=COLUMN",
        ),
    ],
)
def test_answers_beside_a_conversation_are_proposed_to_graders_of_answers(
    row: dict[str, Any], mapping: str, name: str, tmp_path: Path
) -> None:
    found = seen(tmp_path / name, row, "string-match")
    assert found
    assert found.proposal
    assert found.proposal.text.split(",metadata=")[0] == mapping


@pytest.mark.parametrize("graders", [("loop",), ("string-match", "loop"), ()])
def test_conversations_stay_traces_if_a_grader_needs_traces_or_none_is_named(
    graders: tuple[str, ...], tmp_path: Path
) -> None:
    assert seen(tmp_path / "a.jsonl", CHAT_ROW, *graders) is None


@pytest.mark.parametrize("row", [{"messages": CHAT}, {"id": "t", "messages": CHAT, "model": "m"}])
def test_a_conversation_without_answers_beside_it_is_a_trace(row: Any, tmp_path: Path) -> None:
    assert seen(tmp_path / "a.jsonl", row, "string-match") is None
    assert trace_format(opened(tmp_path / "a.jsonl", row), Settings()) == "OpenAI chat messages"


def test_the_messages_of_a_document_that_is_one_trace_are_not_its_rows(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(orjson.dumps(CHAT_ROW, option=orjson.OPT_INDENT_2))
    graders = [GraderSpec("string-match")]
    assert recognise(Opened.first_of(Paths([path])), graders, Settings()) is None


def test_cases_have_no_format_of_traces(tmp_path: Path) -> None:
    case = {"custom_id": "a", "inputs": {"agent_response": "x", "expected_output": "y"}}
    assert trace_format(opened(tmp_path / "a.jsonl", case), Settings()) is None


def test_a_path_counts_from_the_end_of_a_list_with_a_negative_index() -> None:
    mapping = FieldMapping.from_text(
        ["custom_id=@row,a=m.-1.content,b=m.-2.content,c=m.-3.content"]
    )
    assert mapping.case({"m": CHAT}, 1)["inputs"] == {"a": "4", "b": "2+2?"}


def test_graders_that_can_judge_the_same_cases_are_one_group() -> None:
    specs = [GraderSpec(grader) for grader in ("string-match", "loop", "true-false", "budget")]
    groups = input_groups([*specs, GraderSpec("unknown")])
    assert {needed: [spec.grader for spec in group] for needed, group in groups.items()} == {
        ("agent_response", "expected_output"): ["string-match", "true-false"],
        ("trace",): ["loop", "budget"],
    }
    assert input_groups([]) == {}
    assert list(input_groups(specs[::2])) == [("agent_response", "expected_output")]
