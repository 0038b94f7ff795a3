"""Tables of LangSmith's experiments and of Langfuse's traces."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson
import pytest

from support.recognised import recognised

if TYPE_CHECKING:
    from pathlib import Path

PANDAS = "inputs.question,outputs.{0},error,reference.{1},execution_time,example_id,id\n"


@pytest.mark.parametrize(
    ("answer", "expected"), [("output", "answer"), ("answer", "answer"), ("city", "capital")]
)
def test_the_table_of_a_langsmith_experiment_has_the_ids_of_its_examples(
    answer: str, expected: str, tmp_path: Path
) -> None:
    file = tmp_path / "experiment.csv"
    rows = "a,4,,4,0.1,e1,r1\na,5,,4,0.1,e1,r2\nb,,Timeout(),5,0.1,e2,r3\n"
    file.write_text(PANDAS.format(answer, expected) + rows)
    lines = [line for line in recognised(file) if line.raw.strip()]
    first, second, failed = lines
    inputs = {"agent_response": "4", "expected_output": "4"}
    metadata = {"run_id": "r1"}
    assert orjson.loads(first.raw) == {"custom_id": "e1", "inputs": inputs, "metadata": metadata}
    assert second.raw.startswith(b'{"custom_id":"e1#2"')
    assert failed.fault
    assert "LangSmith recorded an error in place of an answer: Timeout()" in failed.fault.message


def test_traces_of_langfuse_have_texts_and_objects_as_outputs(tmp_path: Path) -> None:
    columns = ("id", "timestamp", "name", "userId", "sessionId", "input", "output", "metadata")
    file = tmp_path / "traces.csv"
    file.write_text(
        ",".join((*columns, "tags"))
        + """\nt1,x,qa,u,s,q,4,"{""expected"": ""4"", ""dataset_item_id"": ""d1""}",[]\n"""
        + """t2,x,qa,u,s,q,"{""answer"":""6""}","{""expected"": ""5""}",[]\n"""
    )
    found = [orjson.loads(line.raw) for line in recognised(file) if line.raw.strip()]
    assert [case["custom_id"] for case in found] == ["d1", "t2"]
    assert [list(case["inputs"].values()) for case in found] == [["4", "4"], ["6", "5"]]
