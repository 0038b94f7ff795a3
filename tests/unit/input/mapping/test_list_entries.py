"""Entries of a list in a row, each of which is a case: `@each=attempts`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
import pytest

from weighbridge.errors import MappingError, MappingNeededError
from weighbridge.jobs.grader_spec import GraderSpec
from weighbridge.settings import Settings
from weighbridge_producer.cli.mapping_choice import choose_mapping
from weighbridge_producer.input.files.input_paths import Paths
from weighbridge_producer.input.joins import JoinSpec
from weighbridge_producer.input.mapping.expected_answers import with_accepted_answers
from weighbridge_producer.input.mapping.mapping_text import parse_mapping
from weighbridge_producer.input.mapping_file import read_mapping
from weighbridge_producer.input.source import Source

if TYPE_CHECKING:
    from pathlib import Path

    from weighbridge_producer.input.source_lines import SourceLine

ATTEMPTS = (
    "@each=attempts,custom_id={id}/{@entry},agent_response=attempts.text,expected_output=gold"
)
QUESTIONS = (
    "@each=paragraphs.qas,custom_id=paragraphs.qas.id,agent_response=paragraphs.qas.said,"
    "expected_output=paragraphs.qas.answers.0.text,metadata=title"
)
GRADERS = [GraderSpec("string-match")]


def lines(path: Path, content: Any, text: str, **settings: int) -> list[SourceLine]:
    """Return the lines of a file with a mapping; `content` is a document, or rows for a line each."""
    rows = content if isinstance(content, bytes) else b"\n".join(map(orjson.dumps, content))
    path.write_bytes(rows)
    return list(Source(path, Settings(**settings), parse_mapping([text])))


def cases(*found: SourceLine) -> list[dict[str, Any]]:
    return [orjson.loads(line.raw) for line in found if not line.fault]


def attempts(key: object, *texts: str) -> dict[str, Any]:
    return {"id": key, "gold": "a", "attempts": [{"text": text} for text in texts]}


def question(name: str, said: str = "a") -> dict[str, Any]:
    return {"id": name, "said": said, "answers": [{"text": "a"}]}


def chosen(path: Path, text: str, *joins: JoinSpec) -> list[dict[str, Any]]:
    """Return the cases of a file as a command reads them with `--map`."""
    mapping, joined = choose_mapping(
        Paths([path]), GRADERS, Settings(), texts=[text], saved=None, joins=joins
    )
    return cases(*Source(path, Settings(), mapping, joins=joined))


def test_each_entry_is_a_case_with_what_stands_beside_its_list(tmp_path: Path) -> None:
    found = lines(tmp_path / "a.jsonl", [attempts(1, "a", "b"), attempts(2, "c")], ATTEMPTS)
    assert [case["custom_id"] for case in cases(*found)] == ["1/1", "1/2", "2/1"]
    assert [case["inputs"] for case in cases(*found)] == [
        {"agent_response": text, "expected_output": "a"} for text in "abc"
    ]
    assert [line.origin for line in found] == [("a.jsonl, line", n) for n in (1, 1, 2)]


def test_entries_of_lists_within_lists_keep_the_fields_of_all_levels(tmp_path: Path) -> None:
    paragraphs = [{"qas": [question("q1"), question("q2")]}, {"qas": []}, {"qas": [question("q3")]}]
    document = orjson.dumps({"data": [{"title": "T", "paragraphs": paragraphs}]})
    found = cases(*lines(tmp_path / "a.json", document, QUESTIONS))
    assert [case["custom_id"] for case in found] == ["q1", "q2", "q3"]
    assert all(case["metadata"] == {"title": "T"} for case in found)
    assert all(case["inputs"]["expected_output"] == "a" for case in found)


@pytest.mark.parametrize("cell", ['["x", "y"]', "['x', 'y']"], ids=["json", "python"])
def test_a_list_may_be_text_in_a_cell_and_its_entries_texts(cell: str, tmp_path: Path) -> None:
    quoted = cell.replace('"', '""')
    table = f'id,gold,said\n1,x,"{quoted}"\n'.encode()
    text = "@each=said,custom_id={id}/{@entry},agent_response=said,expected_output=gold"
    found = cases(*lines(tmp_path / "a.csv", table, text))
    assert [case["inputs"]["agent_response"] for case in found] == ["x", "y"]


def test_a_row_without_the_list_is_an_error_and_one_with_an_empty_list_is_counted(
    tmp_path: Path,
) -> None:
    rows = [attempts(1, "a"), {"id": 2}, attempts(3), {"id": 4, "attempts": {"text": "a"}}, []]
    (tmp_path / "a.jsonl").write_bytes(b"\n".join(map(orjson.dumps, rows)))
    source = Source(tmp_path / "a.jsonl", Settings(), parse_mapping([ATTEMPTS]))
    found = list(source)
    codes = [line.fault.code if line.fault else "" for line in found]
    assert codes == ["", "INVALID_ROW", "INVALID_ROW", "NOT_AN_OBJECT"]
    assert found[1].fault
    assert "no list at 'attempts'" in found[1].fault.message
    assert [line.origin and line.origin[1] for line in found] == [1, 2, 4, 5]
    assert source.notes.notes() == ["1 row has an empty list and gives no case"]


def test_cases_that_repeat_a_large_value_many_times_are_not_read_to_their_end(
    tmp_path: Path,
) -> None:
    row = attempts(1, *"a" * 1000) | {"gold": "g" * 50_000}
    *read, last = lines(tmp_path / "a.jsonl", [row, attempts(2, "a")], ATTEMPTS)
    assert last.fault
    assert last.fault.code == "INPUT_TOO_LARGE"
    assert "200 times as large as their rows" in last.fault.message
    assert 100 < len(read) < 300
    assert len(lines(tmp_path / "a.jsonl", [row], ATTEMPTS, expansion_limit=2000)) == 1000


def test_later_entries_count_for_the_limit_on_bytes(tmp_path: Path) -> None:
    found = lines(tmp_path / "a.jsonl", [attempts(1, *"a" * 100)], ATTEMPTS, batch_limit_bytes=5000)
    assert found[-1].fault
    assert found[-1].fault.code == "INPUT_TOO_LARGE"
    assert len(found) < 60


def test_joined_rows_are_found_by_the_keys_of_entries(tmp_path: Path) -> None:
    rows = [{"title": "T", "paragraphs": [{"qas": [question("q1"), question("q2")]}]}]
    (tmp_path / "a.json").write_bytes(orjson.dumps(rows))
    (tmp_path / "said.json").write_bytes(orjson.dumps({"q1": "x", "q2": "y"}))
    join = JoinSpec.of("said", str(tmp_path / "said.json"), "paragraphs.qas.id=@key")
    text = QUESTIONS.replace("paragraphs.qas.said", "said.value")
    found = chosen(tmp_path / "a.json", text, join)
    assert [case["inputs"]["agent_response"] for case in found] == ["x", "y"]


def test_rows_under_keys_may_have_lists_and_other_members_none(tmp_path: Path) -> None:
    document = {"q1": attempts(1, "a", "b"), "total": 5, "q2": attempts(2, "c")}
    text = ATTEMPTS.replace("{id}", "{@key}")
    found = cases(*lines(tmp_path / "a.json", orjson.dumps(document), text))
    assert [case["custom_id"] for case in found] == ["q1/1", "q1/2", "q2/1"]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (f"{ATTEMPTS},@each=b", "@each is mapped twice"),
        ("@each={a},custom_id=id,x=y", "@each is not the path of a list"),
        ('@each:="a",custom_id=id,x=y', "@each is not the path of a list"),
        ("@each=a.b.c.d.e.f.g.h.i,custom_id=id,x=y", "more than 8 levels"),
    ],
)
def test_a_wrong_list_is_refused(text: str, what: str) -> None:
    with pytest.raises(MappingError, match=what):
        parse_mapping([text])


def test_a_list_that_no_row_has_is_refused_with_the_one_that_is_meant(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(orjson.dumps(attempts(1, "a")))
    text = ATTEMPTS.replace("@each=attempts", "@each=atempts")
    with pytest.raises(MappingError, match=r"list at 'atempts'.* did you mean 'attempts'"):
        chosen(tmp_path / "a.jsonl", text)


def test_a_path_into_entries_that_none_has_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(orjson.dumps(attempts(1, "a")))
    with pytest.raises(MappingError, match=r"'attempts\.txt'.* did you mean 'attempts\.text'"):
        chosen(tmp_path / "a.jsonl", ATTEMPTS.replace("attempts.text", "attempts.txt"))


def test_a_row_with_lists_is_proposed_with_how_to_take_each_entry(tmp_path: Path) -> None:
    rows = [
        {"title": "T", "paragraphs": [{"qas": [question(f"q{n}"), question(f"r{n}", "b")]}]}
        for n in (1, 2)
    ]
    document = orjson.dumps(rows).replace(b"said", b"prediction")
    (tmp_path / "a.json").write_bytes(document)
    paths = Paths([tmp_path / "a.json"])
    with pytest.raises(MappingNeededError) as caught:
        choose_mapping(paths, GRADERS, Settings(), texts=(), saved=None, joins=())
    first, second, *_, last = str(caught.value.hint).split("\n  ")
    entry = "custom_id=paragraphs.qas.id,expected_output=paragraphs.qas.answers.0.text"
    response = "agent_response=paragraphs.qas.prediction"
    assert first.startswith(
        f"for each entry of paragraphs.qas, --map @each=paragraphs.qas,{entry},{response}"
    )
    alone = "for the first entry of each row alone, --map custom_id=paragraphs.0.qas.0.id,"
    assert second.startswith(alone)
    assert "to grade each entry, map @each=paragraphs.qas" in last
    cases_of = chosen(tmp_path / "a.json", first.partition("--map ")[2])
    assert [each["custom_id"] for each in cases_of] == ["q1", "r1", "q2", "r2"]
    with pytest.raises(MappingError) as then:
        chosen(tmp_path / "a.json", "@each=paragraphs.qas,expected_output:=1")
    assert "custom_id=paragraphs.qas.id" in str(then.value.hint)


def suggested(path: Path, *rows: Any) -> list[str]:
    """Return the lines of the proposal for rows that need a mapping."""
    path.write_bytes(b"\n".join(map(orjson.dumps, rows)))
    with pytest.raises(MappingNeededError) as caught:
        choose_mapping(Paths([path]), GRADERS, Settings(), texts=(), saved=None, joins=())
    return str(caught.value.hint).split("\n  ")


def test_entries_without_answers_are_joined_with_them_and_may_accept_several(
    tmp_path: Path,
) -> None:
    answers = [{"text": "a", "at": 1}, {"text": "b", "at": 2}]
    rows = [{"qas": [{"id": f"{name}{n}", "answers": answers} for n in "12"]} for name in "qr"]
    each, joining, caution, *_ = suggested(tmp_path / "a.jsonl", *rows)
    fields = "@each=qas,custom_id=qas.id,expected_output=qas.answers.0.text"
    assert each == f"for each entry of qas, --map {fields},agent_response=COLUMN"
    assert joining == (
        f"--join answers=FILE --on qas.id=ID --map {fields},agent_response=answers.COLUMN, if it is in another file"
    )
    assert caution.endswith("to accept each entry, map expected_output=qas.answers.*.text")


def test_a_list_beside_as_many_cases_is_no_list_of_accepted_answers(tmp_path: Path) -> None:
    rows = [
        {"items": [{"id": f"{name}{n}", "prediction": n} for n in "xy"], "labels": ["y", "x"]}
        for name in "ab"
    ]
    each, _, caution, *others = suggested(tmp_path / "a.jsonl", *rows)
    fields = "@each=items,custom_id=items.id,agent_response=items.prediction"
    assert each == f"for each entry of items, --map {fields},expected_output=COLUMN"
    assert caution.startswith("expected_output: 'items' and 'labels' have as many entries")
    assert not any("expected_output=labels.0" in line for line in others)


def test_each_answer_of_an_entry_is_accepted(tmp_path: Path) -> None:
    answers = [{"text": "b"}, {"text": "a"}]
    document = [{"title": "T", "qas": [{"id": "q1", "prediction": "a", "answers": answers}]}]
    (tmp_path / "a.json").write_bytes(orjson.dumps(document))
    with pytest.raises(MappingError) as caught:
        chosen(tmp_path / "a.json", "@each=qas")
    suggested, caution = str(caught.value.hint).split("\n")
    assert suggested.endswith("expected_output=qas.answers.0.text,agent_response=qas.prediction")
    assert caution.endswith("to accept each entry, map expected_output=qas.answers.*.text")
    text = "@each=qas,custom_id=qas.id,agent_response=qas.prediction,expected_output=qas.answers.*.text"
    mapping = with_accepted_answers(parse_mapping([text]), GRADERS)
    [case] = cases(*Source(tmp_path / "a.json", Settings(), mapping))
    assert case["inputs"] == {"agent_response": "a", "expected_output": "b"}
    assert case["graders"][0]["config"] == {"expected_any": ["a"]}


def test_the_list_is_written_with_the_mapping_and_in_its_file(tmp_path: Path) -> None:
    assert str(parse_mapping([ATTEMPTS])) == ATTEMPTS
    changed = parse_mapping(["agent_response=attempts.said"], parse_mapping([ATTEMPTS]))
    assert str(changed) == ATTEMPTS.replace("attempts.text", "attempts.said")
    file = tmp_path / "m.yaml"
    inputs = "{agent_response: attempts.text, expected_output: gold}"
    file.write_text(f'each: attempts\ncustom_id: "{{id}}/{{@entry}}"\ninputs: {inputs}\n')
    assert str(read_mapping(file).mapping) == ATTEMPTS
    file.write_text(f"each: [attempts]\ncustom_id: id\ninputs: {inputs}\n")
    with pytest.raises(MappingError, match="'each' is not a path"):
        read_mapping(file)
