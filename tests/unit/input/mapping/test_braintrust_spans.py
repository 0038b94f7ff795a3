"""Logs and experiments of Braintrust, of which the root spans are the cases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
import pytest

from weighbridge.errors import MappingNeededError
from weighbridge.jobs.grader_spec import GraderSpec
from weighbridge.settings import Settings
from weighbridge_producer.cli.mapping_choice import choose_mapping
from weighbridge_producer.input.files.input_paths import Paths
from weighbridge_producer.input.source import Source

if TYPE_CHECKING:
    from pathlib import Path

LLM = [{"message": {"role": "assistant", "content": "It is Paris."}}]


def span(number: int, root: int, kind: str = "eval", **more: Any) -> dict[str, Any]:
    return {
        "id": f"s{number}",
        "span_id": str(number),
        "root_span_id": str(root),
        "input": "Capital?",
        "output": None,
        "expected": None,
        "metadata": {},
        "span_attributes": {"name": kind, "type": kind},
        **more,
    }


def root(number: int, **more: Any) -> dict[str, Any]:
    return span(number, number, **more)


def read(path: Path, *rows: Any, texts: tuple[str, ...] = ()) -> Source:
    """Return a source that reads spans by the mapping that is chosen for them."""
    path.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    graders = [GraderSpec("string-match")]
    mapping, _ = choose_mapping(
        Paths([path]), graders, Settings(), texts=texts, saved=None, joins=()
    )
    assert mapping
    return Source(path, Settings(), mapping)


def cases(source: Source) -> dict[str, dict[str, Any]]:
    found = [orjson.loads(line.raw) for line in source if line.raw.strip()]
    return {case["custom_id"]: case for case in found}


ROOT = root(1, output="Paris", expected="Paris", metadata={"topic": "geo"})
CHILD = span(2, 1, "llm", output=LLM)


@pytest.mark.parametrize(
    ("about_root", "about_child"),
    [
        ({}, {}),
        ({"is_root": True}, {"is_root": False}),
        ({"span_parents": None}, {"span_parents": ["1"]}),
        # The id of a trace from OpenTelemetry is not that of its root.
        ({"is_root": True, "root_span_id": "t"}, {"is_root": False, "root_span_id": "t"}),
    ],
)
@pytest.mark.parametrize("is_first", [True, False])
def test_the_answers_of_root_spans_are_graded_and_other_spans_counted(
    about_root: dict[str, Any], about_child: dict[str, Any], is_first: bool, tmp_path: Path
) -> None:
    rows = [{**ROOT, **about_root}, {**CHILD, **about_child}]
    source = read(tmp_path / "a.jsonl", *(rows if is_first else rows[::-1]))
    assert cases(source) == {
        "s1": {
            "custom_id": "s1",
            "inputs": {"agent_response": "Paris", "expected_output": "Paris"},
            "metadata": {"topic": "geo", "name": "eval"},
        }
    }
    assert source.notes.other_rows_note() == "1 row of another kind is not graded: 1 of type llm"


def test_an_answer_within_an_object_and_several_expected_ones_are_read(tmp_path: Path) -> None:
    rows = [
        root(1, output={"answer": "Rome"}, expected={"answer": "Rome"}),
        root(2, output=LLM, expected=["Paris", "It is Paris."]),
    ]
    found = cases(read(tmp_path / "a.jsonl", *rows))
    assert found["s1"]["inputs"] == {"agent_response": "Rome", "expected_output": "Rome"}
    assert found["s2"]["inputs"] == {"agent_response": "It is Paris.", "expected_output": "Paris"}
    assert found["s2"]["graders"][0]["config"] == {"expected_any": ["It is Paris."]}


def test_a_root_span_that_failed_is_an_error_and_no_failure(tmp_path: Path) -> None:
    source = read(tmp_path / "a.jsonl", ROOT, root(3, expected="Rome", error="Timeout"))
    [fault] = [line.fault for line in source if line.fault]
    assert fault.code == "NO_ANSWER"
    assert fault.message.endswith("an answer: Timeout")


def test_logs_without_expected_outputs_are_told_how_to_join_them(tmp_path: Path) -> None:
    with pytest.raises(MappingNeededError) as caught:
        read(tmp_path / "a.jsonl", root(1, output="Paris"), CHILD)
    assert "--on id=ID --map expected_output=gold.COLUMN" in str(caught.value.hint)


def test_other_spans_are_graded_by_a_mapping_that_names_their_columns(tmp_path: Path) -> None:
    texts = ('custom_id=id,agent_response=output.0.message.content,expected_output:="Paris"',)
    assert cases(read(tmp_path / "a.jsonl", ROOT, CHILD, texts=texts)).keys() >= {"s2"}
    texts = ('agent_response=output,expected_output:="Paris"',)
    assert cases(read(tmp_path / "b.jsonl", ROOT, CHILD, texts=texts)).keys() == {"s1"}
