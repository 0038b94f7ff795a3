"""Logs of OpenAI Evals: the `match` events are the cases, and rows of other kinds are counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
import pytest

from weighbridge.errors import MappingNeededError
from weighbridge.jobs.grader_spec import GraderSpec
from weighbridge.settings import Settings
from weighbridge_producer.cli.mapping_choice import choose_mapping
from weighbridge_producer.input.files.input_paths import Paths
from weighbridge_producer.input.first_rows import Opened
from weighbridge_producer.input.joins import Joins, JoinSpec
from weighbridge_producer.input.recognition import recognise
from weighbridge_producer.input.source import Source

if TYPE_CHECKING:
    from pathlib import Path

SPEC = {"spec": {"completion_fns": ["m"], "eval_name": "capitals.dev.v0", "run_id": "r"}}
REPORT = {"final_report": {"accuracy": 0.5}}


def event(number: int, sample: str, kind: str, data: dict[str, Any]) -> dict[str, Any]:
    return {
        "run_id": "r",
        "event_id": number,
        "sample_id": sample,
        "type": kind,
        "data": data,
        "created_by": "",
        "created_at": "2026-11-02 10:00:01+00:00",
    }


def sampling(number: int, sample: str, text: str) -> dict[str, Any]:
    data = {"prompt": [{"role": "user", "content": "Capital?"}], "sampled": [text]}
    return event(number, sample, "sampling", data)


def match(number: int, sample: str, expected: Any, **answer: Any) -> dict[str, Any]:
    return event(number, sample, "match", {"correct": True, "expected": expected, **answer})


ROME = [sampling(0, "c.0", "Rome"), match(1, "c.0", "Rome", picked="Rome", sampled="Rome")]
LIMA = [sampling(2, "c.1", "Lima"), match(3, "c.1", ["Lima", "LIM"], picked="Lima", sampled="Lima")]


def source_of(path: Path, *rows: Any) -> Source:
    """Return a source that reads a log as it was recognised."""
    path.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    seen = recognise(Opened.first_of(Paths([path])), [GraderSpec("string-match")], Settings())
    assert seen
    assert seen.mapping
    assert seen.mapping.name == "OpenAI Evals match events"
    return Source(path, Settings(), seen.mapping)


def of_own_mapping(path: Path, mapping: str, *rows: Any) -> Source:
    """Return a source that reads a log with a whole mapping of one's own."""
    path.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    graders = [GraderSpec("string-match")]
    paths = Paths([path])
    found, _ = choose_mapping(paths, graders, Settings(), texts=[mapping], saved=None, joins=())
    return Source(path, Settings(), found)


@pytest.mark.parametrize(
    ("mapping", "answers", "others"),
    [
        ("agent_response=data.sampled", ["Rome", "Lima"], "2 sampling, 1 spec, 1 final_report"),
        ("agent_response=data.prompt.0.content", ["Capital?"] * 2, "2 match, 1 spec, 1 final_report"),
    ],
)  # fmt: skip
def test_rows_of_other_kinds_are_none_of_a_whole_mapping_either(
    mapping: str, answers: list[str], others: str, tmp_path: Path
) -> None:
    whole = f'custom_id=sample_id,{mapping},expected_output:="x"'
    source = of_own_mapping(tmp_path / "log.jsonl", whole, SPEC, *ROME, *LIMA, REPORT)
    lines = [line for line in source if line.raw.strip() or line.fault]
    assert [line.fault for line in lines] == [None, None]
    assert [orjson.loads(line.raw)["inputs"]["agent_response"] for line in lines] == answers
    assert source.notes.other_rows_note() == f"4 rows of other kinds are not graded: {others}"


@pytest.mark.parametrize(
    "rows",
    [(SPEC, *ROME, *LIMA, REPORT), (SPEC, REPORT, *ROME, *LIMA)],
    ids=["report last", "events flushed after the report"],
)
def test_match_events_of_a_log_are_its_cases_at_their_lines(
    rows: tuple[Any, ...], tmp_path: Path
) -> None:
    source = source_of(tmp_path / "a.jsonl", *rows)
    found = {number: line for number, line in enumerate(source, 1) if line.raw.strip()}
    assert [rows[number - 1]["type"] for number in found] == ["match", "match"]
    assert not any(line.fault for line in found.values())
    first, second = (orjson.loads(line.raw) for line in found.values())
    assert first == {
        "custom_id": "c.0",
        "inputs": {"agent_response": "Rome", "expected_output": "Rome"},
        "metadata": {"recorded_verdict": "pass"},
    }
    assert second["inputs"]["expected_output"] == "Lima"
    assert second["graders"][0]["config"] == {"expected_any": ["LIM"]}


def test_rows_of_a_log_that_are_no_cases_are_counted_by_kind(tmp_path: Path) -> None:
    more = event(4, "c.1", "metrics", {"f1": 1})
    source = source_of(tmp_path / "a.jsonl", SPEC, *ROME, *LIMA, more, REPORT)
    for _ in range(2):  # the numbers are those of the last reading
        list(source)
    assert source.notes.other_rows_note() == (
        "5 rows of other kinds are not graded: 2 sampling, 1 spec, 1 metrics, 1 final_report"
    )


def test_a_row_in_a_log_that_is_of_no_known_kind_is_an_error(tmp_path: Path) -> None:
    # After the first rows, by which the log is recognised.
    rows = [SPEC, *(match(n, f"c.{n}", "x", sampled="x") for n in range(100)), {"note": "x"}]
    [*_, last] = source_of(tmp_path / "a.jsonl", *rows)
    assert last.fault
    assert (last.fault.code, last.fault.hint) == ("MISSING_FIELD", "its columns: note")


def test_a_log_that_begins_with_many_samplings_is_recognised(tmp_path: Path) -> None:
    early = [sampling(number, f"c.{number}", "Rome") for number in range(120)]
    source = source_of(tmp_path / "a.jsonl", SPEC, *early, *LIMA)
    assert sum(bool(line.raw.strip()) for line in source) == 1


def test_a_data_set_of_reports_is_no_log(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(orjson.dumps({"final_report": "All is well."}) + b"\n")
    seen = recognise(Opened.first_of(Paths([path])), [GraderSpec("string-match")], Settings())
    assert seen
    assert seen.mapping is None


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (match(1, "c.0", ["Rome"], picked=[]), "data.picked"),
        (match(1, "c.0", None, picked="Rome", sampled="Rome"), "--join gold=FILE"),
    ],
    ids=["without the answer", "without the expected answer"],
)
def test_a_log_without_a_needed_input_says_where_it_may_come_from(
    row: Any, message: str, tmp_path: Path
) -> None:
    with pytest.raises(MappingNeededError, match="OpenAI Evals match events without") as caught:
        source_of(tmp_path / "a.jsonl", SPEC, row)
    assert message in caught.value.hint


def test_kinds_of_other_rows_take_bounded_memory_and_are_shortened(tmp_path: Path) -> None:
    others = [event(n, "s", f"{n:03}" + "k" * 10_000, {}) for n in range(300)]
    source = source_of(tmp_path / "a.jsonl", *ROME, *others)
    list(source)
    assert source.notes.other_rows.total() == 301
    assert len(source.notes.other_rows) <= 101
    assert max(map(len, source.notes.other_rows)) < 50


def test_rows_of_other_kinds_without_a_key_are_no_errors_of_a_join(tmp_path: Path) -> None:
    gold = tmp_path / "gold.jsonl"
    gold.write_text('{"id": "c.0", "answer": "Rome"}\n')
    path = tmp_path / "a.jsonl"
    mapping = source_of(path, SPEC, *ROME, REPORT).mapping
    joins = Joins.read([JoinSpec.of("gold", str(gold), "sample_id=id")], Settings())
    lines = list(Source(path, Settings(), mapping, joins=joins))
    assert [line.fault for line in lines if line.fault] == []
