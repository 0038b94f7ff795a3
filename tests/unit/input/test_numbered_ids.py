"""Rows of known tools whose id an earlier row has: those that differ are cases of their own, equal ones are repeats."""

from __future__ import annotations

import json
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import TYPE_CHECKING

import orjson
import pytest

from support.recognised import ids, recognised
from weighbridge.settings import Settings
from weighbridge_producer.input.rows.numbered_ids import NumberedIds
from weighbridge_producer.input.source import Source

if TYPE_CHECKING:
    from pathlib import Path

LANGSMITH = "example_id,id,inputs,outputs,reference_outputs,error\n"


def deepeval(*rows: tuple[str, str]) -> str:
    """Return test cases of DeepEval, given by names and questions."""
    return json.dumps(
        [
            {"name": name, "input": asked, "actual_output": "yes", "expected_output": "yes"}
            for name, asked in rows
        ]
    )


def inspect(*answers: str) -> str:
    samples = [
        {"id": f"s{number}", "epoch": 1, "input": "?", "target": "a", "messages": []}
        | {"output": {"completion": answer}}
        for number, answer in enumerate(answers, 1)
    ]
    return json.dumps({"samples": samples})


def test_rows_that_differ_get_numbers_in_their_order_and_equal_ones_the_id_of_the_first() -> None:
    numbered: list[str] = []
    with closing(NumberedIds(numbered.append)) as names:
        found = [names.id_of("a", {"n": n}) for n in (1, 2, 1, 2, 3)]
        found += [names.id_of("b", {"n": 1})]
    assert found == ["a", "a#2", "a", "a#2", "a#3", "b"]
    assert numbered == ["a#2", "a#3"]


def test_a_number_makes_no_id_that_another_row_has() -> None:
    with closing(NumberedIds()) as names:
        rows = [("a#2", 1), ("a", 2), ("a", 3), ("a#3", 4), ("a#3", 4)]
        found = [names.id_of(custom_id, {"n": n}) for custom_id, n in rows]
    assert found == ["a#2", "a", "a#3", "a#3#2", "a#3#2"]


def test_a_long_id_is_shortened_for_its_number_and_one_that_is_too_long_stays_so() -> None:
    long, other = "x" * 255, "x" * 254 + "y"
    with closing(NumberedIds()) as names:
        rows = [(long, 1), (long, 2), (other, 3), (other, 4), (long, 2), (long + "xx", 5)]
        found = [names.id_of(custom_id, {"n": n}) for custom_id, n in [*rows, (long + "xx", 6)]]
    short = long[:254]
    assert found[:5] == [long, f"{short}#2", other, f"{short}#3", f"{short}#2"]
    assert [len(each) for each in found[5:]] == [257, 259]


def test_a_reading_that_one_thread_begins_may_be_closed_by_another(tmp_path: Path) -> None:
    file = tmp_path / "tests.json"
    file.write_text(deepeval(("refund", "shoes?"), ("refund", "food?")))
    lines = iter(recognised(file))
    with ThreadPoolExecutor(1) as thread:
        thread.submit(next, lines).result()
    assert isinstance(lines, Generator)
    lines.close()


def test_questions_of_deepeval_with_one_name_are_a_case_each(tmp_path: Path) -> None:
    file = tmp_path / "tests.json"
    file.write_text(deepeval(("refund", "shoes?"), ("refund", "food?"), ("refund", "shoes?")))
    source = recognised(file)
    assert ids(source) == ["refund", "refund#2", "refund"]
    [note] = [note for note in source.notes.notes() if "refund" in note]
    assert note.startswith("1 row has the id of an earlier row that differs")


def test_repetitions_of_langsmith_are_cases_that_can_be_grouped_by_the_example(
    tmp_path: Path,
) -> None:
    file = tmp_path / "experiment.csv"
    said, error = '"{""output"": ""4""}"', ",,Timeout()\n"
    file.write_text(
        LANGSMITH
        + f"e1,r1,{{}},{said},{said},\ne1,r2,{{}},{error.replace(',,', f',{said},')}"
        + f"e1,r3,{{}},{said},{said},\ne2,r4,{{}},{said},{said},\n"
    )
    source = recognised(file)
    assert ids(source) == ["e1", "e1#2", "e1#3", "e2"]
    assert [line.fault is not None for line in source if line.raw.strip()] == [0, 1, 0, 0]
    assert ids(source) == ids(recognised(file))


def test_match_events_of_one_sample_are_a_case_each(tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    data = {"correct": True, "expected": "a", "picked": "a", "sampled": "a"}
    events = [
        {"run_id": "R", "event_id": number, "sample_id": "t.0", "type": "match", "data": data}
        for number in (1, 2)
    ]
    file.write_text("".join(json.dumps(event) + "\n" for event in events))
    assert ids(recognised(file)) == ["t.0", "t.0#2"]


def test_logs_of_one_task_in_a_folder_have_the_files_name_in_their_ids(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(inspect("a", "b"))
    (tmp_path / "b.json").write_text(inspect("a", "c"))
    found = ids(recognised(tmp_path))
    assert found == ["a.json/s1/1", "a.json/s2/1", "b.json/s1/1", "b.json/s2/1"]


def test_answers_and_traces_of_a_sample_have_one_id_whatever_the_log_is_called(
    tmp_path: Path,
) -> None:
    sample = {"input": "?", "target": "a", "output": {"completion": "a"}}
    chat = [{"role": "user", "content": "?"}, {"role": "assistant", "content": "a"}]
    samples = [
        sample | {"id": own_id, "epoch": epoch, "messages": chat}
        for epoch in (1, 2)
        for own_id in ("s1", 3)
    ]
    expected = ["s1/1", "3/1", "s1/2", "3/2"]
    log, alone = tmp_path / "log.json", tmp_path / "samples.jsonl"
    log.write_text(json.dumps({"eval": {"task": "t"}, "samples": samples}))
    alone.write_text("".join(json.dumps(each) + "\n" for each in samples))
    assert ids(recognised(log)) == expected
    assert ids(Source(log, Settings())) == expected
    assert ids(Source(alone, Settings())) == expected


def test_a_trace_of_another_tool_with_an_epoch_and_a_target_keeps_its_id(tmp_path: Path) -> None:
    chat = [{"role": "user", "content": "?"}, {"role": "assistant", "content": "a"}]
    file = tmp_path / "chats.jsonl"
    traces = [
        {"id": f"r{number}", "epoch": 3, "target": "a", "messages": chat} for number in (1, 2)
    ]
    file.write_text("".join(json.dumps(each) + "\n" for each in traces))
    assert ids(Source(file, Settings())) == ["r1", "r2"]


@pytest.mark.parametrize(("size", "carried"), [(10, True), (40_000, False)])
def test_the_metadata_of_a_sample_are_carried_unless_they_are_large(
    size: int, carried: bool, tmp_path: Path
) -> None:
    log = json.loads(inspect("a"))
    log["samples"][0]["metadata"] = {"topic": "x" * size, "epoch": 7}
    file = tmp_path / "log.json"
    file.write_text(json.dumps(log))
    [line] = recognised(file)
    own = {"topic": "x" * size} if carried else {}
    assert orjson.loads(line.raw)["metadata"] == {**own, "epoch": 1}


@pytest.mark.parametrize(
    ("value", "carried"), [(10**25, str(10**25)), ([10**25] * 4_000, None)], ids=["one", "many"]
)
def test_integers_over_64_bits_of_a_sample_are_carried_as_text_unless_they_are_many(
    value: object, carried: str | None, tmp_path: Path
) -> None:
    log = json.loads(inspect("a", "b"))
    log["samples"][0]["metadata"] = {"seed": value}
    file = tmp_path / "log.json"
    file.write_text(json.dumps(log))
    found = [orjson.loads(line.raw).get("metadata") for line in recognised(file)]
    own = {"seed": carried} if carried else {}
    assert found == [{**own, "epoch": 1}, {"epoch": 1}]


def test_ids_that_repeat_behind_the_first_rows_of_another_file_are_numbered(
    tmp_path: Path,
) -> None:
    (tmp_path / "a.json").write_text(deepeval(("late", "?")))
    other = [(f"n{number}", "?") for number in range(200)]
    (tmp_path / "b.json").write_text(deepeval(*other, ("late", "!")))
    found = ids(recognised(tmp_path))
    assert found[0] == "late"
    assert found[-1] == "late#2"
