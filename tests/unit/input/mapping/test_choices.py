"""Multiple choice: `choices[answer]` is the entry that a value selects, and `letter(...)` its letter."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import orjson
import pyarrow as pa
import pytest
from pyarrow import parquet

from weighbridge.errors import MappingError
from weighbridge.jobs.grader_spec import GraderSpec
from weighbridge.settings import Settings
from weighbridge_producer.input.files.input_paths import Paths
from weighbridge_producer.input.first_rows import Opened
from weighbridge_producer.input.mapping.field_mapping import FieldMapping
from weighbridge_producer.input.mapping.mapping_text import parse_mapping
from weighbridge_producer.input.mapping.missing_paths import refuse_missing_paths
from weighbridge_producer.input.mapping_file import read_mapping
from weighbridge_producer.input.recognition import recognise
from weighbridge_producer.input.source import Source

if TYPE_CHECKING:
    from pathlib import Path

CITIES = ["Rome", "Paris", "Lima", "Oslo"]
LABELLED = {"text": CITIES, "label": ["1", "2", "3", "4"]}
KEYED = dict(zip("ABCD", CITIES, strict=True))


def mapped(written: str) -> FieldMapping:
    return parse_mapping([f"custom_id=@row,x={written}"])


def inputs(written: str, **row: Any) -> dict[str, Any]:
    mapping = mapped(written)
    assert mapping.fault(row, 1) is None
    found: dict[str, Any] = mapping.case(row, 1)["inputs"]
    return found


def fault(written: str, **row: Any) -> str:
    found = mapped(written).fault(row, 1)
    assert found
    assert found.code == "INVALID_FIELD"
    return found.message


@pytest.mark.parametrize(
    ("choices", "answer"),
    [
        (CITIES, 1),
        (CITIES, 1.0),
        (CITIES, "1"),
        (CITIES, "1.0"),
        (CITIES, Decimal("1.00")),
        (LABELLED, 2.0),
        (LABELLED, "2.0"),
        (LABELLED, Decimal(2)),
        ({"text": CITIES, "label": [1.0, 2.0, 3.0, 4.0]}, "2"),
        (CITIES, [1]),
        (CITIES, "B"),
        (CITIES, " b "),
        (CITIES, "Paris"),
        (orjson.dumps(CITIES).decode(), "1"),
        (KEYED, "B"),
        (LABELLED, "2"),
        (LABELLED, 2),
    ],
)
def test_a_value_selects_a_choice_and_its_letter(choices: Any, answer: Any) -> None:
    row = {"choices": choices, "answer": answer}
    assert inputs("choices[answer]", **row) == {"x": "Paris"}
    assert inputs("letter(choices[answer])", **row) == {"x": "B"}


@pytest.mark.parametrize(
    "choices",
    [{"B": "two", "A": "one"}, {"label": ["B", "A"], "text": ["two", "one"]}, {"C": "", "A": "x"}],
)
def test_the_letter_of_a_choice_with_a_letter_as_its_label_is_that_letter(choices: Any) -> None:
    assert inputs("letter(choices[answer])", choices=choices, answer="A") == {"x": "A"}


def test_a_template_around_a_form_is_refused() -> None:
    for written in ("choices[{answer}]", "letter({answer})", "last_answer({messages})"):
        with pytest.raises(MappingError, match="has braces within a special form") as refused:
            mapped(written)
        assert "without braces" in refused.value.hint
    assert inputs("task[{id}]", id=7) == {"x": "task[7]"}


@pytest.mark.parametrize(
    ("index", "letter"), [(0, "A"), ([1], "B"), ("3", "D"), ("c", "C"), (25, "Z")]
)
def test_an_index_without_choices_has_a_letter(index: Any, letter: str) -> None:
    assert inputs("letter(cop)", cop=index) == {"x": letter}


def test_choices_and_their_index_may_be_within_objects() -> None:
    row = {"doc": {"mc": {"options": CITIES}, "/gold": [2]}}
    assert inputs("doc.mc.options[/doc/~1gold/0]", **row) == {"x": "Lima"}


@pytest.mark.parametrize(
    ("choices", "answer", "message"),
    [
        (CITIES, 7, "choices[answer]: answer is 7, but choices has 4 choices, counted from 0"),
        (CITIES, -1, "choices[answer]: answer is -1, but choices has 4 choices, counted from 0"),
        (CITIES, "G", "choices[answer]: answer is 'G', but choices has 4 choices, counted from 0"),
        (
            CITIES,
            "Bonn",
            "choices[answer]: answer is 'Bonn', which is no index, letter or text of the 4 choices in choices",
        ),
        (CITIES, True, "answer is True, which is no index, letter or text"),
        (KEYED, "E", "choices[answer]: answer is 'E', but choices has A, B, C, D"),
        (LABELLED, 0, "choices[answer]: answer is 0, but choices has 1, 2, 3, 4"),
        ("Rome", 0, "choices[answer]: choices is 'Rome', which is neither a list nor an object"),
        (
            ["1", "2", "3"],
            "2",
            "answer is '2', which is ambiguous: the index of '3', and also the text of choice 1 in",
        ),
        (
            ["O", "A"],
            "A",
            "answer is 'A', which is ambiguous: the letter of 'O', and also the text of choice 1 in",
        ),
        (
            {"A": "O", "B": "A"},
            "A",
            "answer is 'A', which is ambiguous: the label of 'O', and also the text of choice B",
        ),
        (
            {"label": ["1", "2", "3", "4"], "text": ["3", "4", "5", "6"]},
            "4",
            "answer is '4', which is ambiguous: the label of '6', and also the text of choice 2 in choices",
        ),
    ],
)
def test_a_value_that_selects_no_choice_is_a_fault_that_says_what_was_found(
    choices: Any, answer: Any, message: str
) -> None:
    row = {"choices": choices, "answer": answer}
    assert message in fault("choices[answer]", **row)
    assert message in fault("letter(choices[answer])", **row)


@pytest.mark.parametrize(
    "choices",
    [
        ["O", "A", "AB", "B"],
        {"label": ["A", "B", "C", "D"], "text": ["O", "A", "AB", "B"]},
        dict(zip("ABCD", ["O", "A", "AB", "B"], strict=True)),
    ],
)
def test_a_value_that_is_also_the_text_of_another_choice_is_a_fault_beside_alternatives_too(
    choices: Any,
) -> None:
    row = {"choices": choices, "answer": "A"}
    for written in (
        "choices[answer]|answer",
        "letter(choices[answer])|answer",
        "x|choices[answer]",
    ):
        assert "of 'O', and also the text of choice" in fault(written, **row)
    assert inputs("answer|choices[answer]", **row) == {"x": "A"}
    assert inputs("choices[answer]|answer", choices=choices, answer="C") == {"x": "AB"}
    assert inputs("choices[answer]|answer", choices=choices, answer="none") == {"x": "none"}


def test_a_number_that_is_no_index_of_a_choice_may_be_the_text_of_one() -> None:
    row = {"choices": ["3", "4", "5", "6"], "answer": "4"}
    assert inputs("choices[answer]", **row) == {"x": "4"}
    assert inputs("choices[answer]|answer", **row) == {"x": "4"}
    assert inputs("choices[answer]", **row | {"answer": 3}) == {"x": "6"}


def test_ambiguous_rows_are_errors_of_a_reading(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    rows = [{"choices": ["O", "A"], "answer": answer} for answer in ("A", "B", "O", "?")]
    path.write_bytes(b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows))
    lines = [*Source(path, Settings(), mapped("choices[answer]|answer"))]
    assert [line.fault and line.fault.code for line in lines] == ["INVALID_FIELD", None, None, None]


@pytest.mark.parametrize(
    "index", [26, -1, "Rome", "26.0", "1.5", 1.5, float("nan"), Decimal("1.5")]
)
def test_an_index_without_a_letter_is_a_fault(index: Any) -> None:
    assert f"cop is {index!r}, which is neither an index from 0 to 25" in fault(
        "letter(cop)", cop=index
    )


def test_a_choice_for_metadata_that_selects_nothing_is_only_missing() -> None:
    mapping = parse_mapping(["custom_id=@row,x=a,metadata.topic=t[i]"])
    row = {"a": "x", "t": ["art"], "i": -1}
    assert mapping.fault(row, 1) is None
    assert mapping.case(row, 1) == {"custom_id": "1", "inputs": {"x": "x"}}


@pytest.mark.parametrize(
    "written", ["choices[answer]", "letter(choices[answer])", "letter(answer)"]
)
def test_a_row_without_an_answer_has_no_value_and_no_fault(written: str) -> None:
    assert inputs(written, choices=CITIES, answer=None) == {"x": None}
    assert inputs(f"{written}|id", choices=CITIES, id=1) == {"x": 1}
    assert inputs(f"{written},y=id", choices=CITIES, id=1) == {"y": 1}


@pytest.mark.parametrize(
    "written", ["choices[answer]", "letter(choices[answer])", "letter(answer)"]
)
def test_an_empty_cell_has_no_value_as_null_has_none(written: str) -> None:
    for row in ({"choices": CITIES, "answer": " "}, {"choices": "", "answer": ""}):
        assert inputs(written, **row) == {"x": None}
    assert inputs(f"{written}|id", choices=CITIES, answer="", id=1) == {"x": 1}


def test_a_key_of_exactly_that_text_comes_first() -> None:
    choices = {"1": "Rome", "1.0": "Lima", "2": "Oslo"}
    assert inputs("choices[answer]", choices=choices, answer="1.0") == {"x": "Lima"}
    assert inputs("choices[answer]", choices=choices, answer="2.0") == {"x": "Oslo"}


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.parquet"])
def test_indexes_of_a_column_with_gaps_select_the_same_choices_in_all_formats(
    name: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    answers = [1.0, 0.0, None]
    if name == "a.csv":
        cells = orjson.dumps(CITIES).decode().replace('"', '""')
        path.write_text(
            "choices,answer,id\n"
            + "".join(f'"{cells}",{"" if n is None else n},1\n' for n in answers)
        )
    elif name == "a.jsonl":
        rows = [orjson.dumps({"choices": CITIES, "answer": n, "id": 1}) for n in answers]
        path.write_bytes(b"\n".join(rows))
    else:
        columns = {"choices": [CITIES] * 3, "answer": answers, "id": [1] * 3}
        parquet.write_table(pa.table(columns), path)
    written = "custom_id=@row,x=choices[answer],y=letter(choices[answer]),z=letter(answer)"
    lines = [
        line for line in Source(path, Settings(), parse_mapping([written])) if line.raw.strip()
    ]
    assert [line.fault for line in lines] == [None] * 3
    assert [list(orjson.loads(line.raw)["inputs"].values()) for line in lines] == [
        ["Paris", "B", "B"],
        ["Rome", "A", "A"],
        [None, None, None],
    ]


def test_more_choices_than_are_looked_at_are_a_fault() -> None:
    many = {str(number): "x" for number in range(10_001)}
    for choices in (many, list(many), {"label": list(many), "text": list(many)}):
        assert fault("choices[answer]", choices=choices, answer="7") == (
            "choices[answer]: choices has 10,001 choices, at most 10,000 are allowed"
        )
    assert inputs("choices[answer]", choices=many | {"7": "y"}, answer=None) == {"x": None}
    most = orjson.dumps([str(number) for number in range(10_000)]).decode()
    assert inputs("choices[answer]", choices=most, answer=9_999) == {"x": "9999"}


def test_an_agents_text_stays_as_it_is_if_it_selects_no_choice() -> None:
    written = "choices[response]|response"
    answers = {"B": "Paris", "Paris": "Paris", "I think B": "I think B", "G": "G"}
    for response, text in answers.items():
        assert inputs(written, choices=CITIES, response=response) == {"x": text}


def test_a_column_with_exactly_that_name_comes_first() -> None:
    assert inputs("choices[answer]", **{"choices[answer]": 3}) == {"x": 3}
    assert inputs("letter(a)", **{"letter(a)": 3}) == {"x": 3}


def test_a_choice_is_written_as_it_was_parsed() -> None:
    written = "custom_id=id,a=choices[r]|r,b=letter(choices[answer]),c=letter(cop)"
    assert str(parse_mapping([written])) == written


def test_a_wrong_path_in_a_choice_is_named() -> None:
    rows = [{"choices": CITIES, "answer": 9}]
    refuse_missing_paths(
        mapped("choices[answer]"), rows, "a.jsonl"
    )  # each row has a fault of its own
    with pytest.raises(MappingError, match=r"no row has 'anser', .* did you mean 'answer'"):
        refuse_missing_paths(mapped("choices[anser]"), rows, "a.jsonl")
    with pytest.raises(MappingError, match=r"no row has 'choice', .* did you mean 'choices'"):
        refuse_missing_paths(mapped("letter(choice[answer])"), rows, "a.jsonl")


def test_a_row_with_a_wrong_index_is_an_errored_line_with_its_id(tmp_path: Path) -> None:
    rows = [{"id": f"q{n}", "choices": CITIES, "answer": n, "r": "x"} for n in (3, 4)]
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    saved = tmp_path / "m.yaml"
    saved.write_text(
        "custom_id: id\ninputs: {agent_response: ['choices[r]', r], expected_output: 'choices[answer]'}\n"
    )
    good, bad = Source(path, Settings(), read_mapping(saved).mapping)
    assert orjson.loads(good.raw)["inputs"] == {"agent_response": "x", "expected_output": "Oslo"}
    assert bad.fault
    assert bad.custom_id == "q4"


@pytest.mark.parametrize(
    ("row", "hint"),
    [
        ({"choices": CITIES, "answer": 1, "response": "B"}, "choices[answer]"),
        ({"endings": CITIES, "label": "1", "response": "B"}, "endings[label]"),
        ({"choices": CITIES, "answer": 7, "response": "B"}, ""),
        ({"choices": CITIES, "answer": "B", "response": "B"}, ""),
        ({"tags": CITIES, "answer": 1, "response": "1"}, ""),
    ],
)
def test_a_proposed_index_into_choices_is_named_with_the_form_that_looks_it_up(
    row: dict[str, Any], hint: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(orjson.dumps(row) + b"\n")
    seen = recognise(Opened.first_of(Paths([path])), [GraderSpec("string-match")], Settings())
    assert seen
    assert seen.proposal
    hints = seen.hints()
    assert f"expected_output={hint}" in hints[0] if hint else not hints


def test_a_proposed_index_that_counts_from_1_is_said_to_do_so(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    rows = [{"choices": CITIES, "answer": n, "response": "B"} for n in (1, 4, 2, 3)]
    path.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    seen = recognise(Opened.first_of(Paths([path])), [GraderSpec("string-match")], Settings())
    assert seen
    [hint] = seen.hints()
    assert "counts from 1" in hint


def test_the_answer_key_of_a_data_set_is_expected(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    row = {"id": "a", "choices": LABELLED, "answerKey": "B", "prediction": "Paris"}
    path.write_bytes(orjson.dumps(row) + b"\n")
    seen = recognise(Opened.first_of(Paths([path])), [GraderSpec("string-match")], Settings())
    assert seen
    assert seen.proposal
    assert seen.proposal.fields["expected_output"] == "answerKey"
