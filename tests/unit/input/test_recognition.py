"""Detection of the input's kind: cases and traces, known shapes with a mapping, and a proposal for anything else."""

from __future__ import annotations

import csv
import io
import subprocess
import sys
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile

import orjson
import pytest

from support.tool_results import LAYOUTS, LONG
from weighbridge.errors import InputError, MappingNeededError
from weighbridge.jobs.grader_spec import GraderSpec
from weighbridge.settings import Settings
from weighbridge_producer.cli.mapping_choice import choose_mapping
from weighbridge_producer.input.files.input_paths import Paths
from weighbridge_producer.input.first_rows import Opened, first_rows, from_first_row_on
from weighbridge_producer.input.mapping.mapping_text import parse_mapping
from weighbridge_producer.input.recognition import recognise, recognise_rows
from weighbridge_producer.input.rows.row_formats import Layout, RowFormat
from weighbridge_producer.input.source import Source

if TYPE_CHECKING:
    from pathlib import Path

    from weighbridge_producer.input.first_rows import SeenRows

CHAT = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
BODY = {
    "id": "c1",
    "object": "chat.completion",
    "model": "m",
    "choices": [{"index": 0, "finish_reason": "stop", "message": CHAT[1]}],
    "usage": {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7},
}


def seen(path: Path, data: Any, *graders: str) -> SeenRows | None:
    path.write_bytes(data if isinstance(data, bytes) else orjson.dumps(data))
    return recognise(
        Opened.first_of(Paths([path])), [GraderSpec(grader) for grader in graders], Settings()
    )


def mapped(path: Path, data: Any, *graders: str) -> dict[str, Any]:
    """Return the first case of rows that need no proposal."""
    found = seen(path, data, *graders)
    assert found is not None
    assert found.mapping is not None
    return found.mapping.case(found.rows[0], 1)


def proposed(path: Path, data: Any, *graders: str) -> str:
    found = seen(path, data, *graders)
    assert found is not None
    assert found.proposal is not None
    return found.proposal.text


def lines(*rows: Any) -> bytes:
    return b"".join(orjson.dumps(row) + b"\n" for row in rows)


def table(rows: list[dict[str, str]]) -> bytes:
    stream = io.StringIO(newline="")
    written = csv.DictWriter(stream, rows[0])
    written.writeheader()
    written.writerows(rows)
    return stream.getvalue().encode()


@pytest.mark.parametrize(
    "data",
    [
        lines({"custom_id": "a", "inputs": {"agent_response": "x", "expected_output": "y"}}),
        lines({"messages": CHAT}, {"messages": CHAT}),
        orjson.dumps({"traces": [{"messages": CHAT}]}),
        lines({"custom_id": "a", "input": {"agent_response": "x"}, "inputs": 3}),
        b"",
        b"not JSON at all\n",
    ],
    ids=["cases", "traces", "a document of traces", "bad cases", "nothing", "text"],
)
@pytest.mark.parametrize("grader", ["string-match", "loop"])
def test_cases_and_traces_need_no_mapping(data: bytes, grader: str, tmp_path: Path) -> None:
    assert seen(tmp_path / "a.json", data, grader) is None


def test_a_known_shape_is_mapped_to_some_of_the_inputs_if_others_come_from_elsewhere(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(lines({"custom_id": "a", "response": {"status_code": 200, "body": BODY}}))
    opened = Opened.first_of(Paths([path]))
    rows = first_rows(opened, Settings())
    for needed in (("agent_response",), ()):
        found = recognise_rows(opened, rows, needed, Settings())
        assert found
        assert found.mapping
        assert tuple(found.mapping.inputs) == needed


def test_columns_with_the_names_of_a_cases_fields_need_no_mapping(tmp_path: Path) -> None:
    data = b"custom_id,agent_response,expected_output,topic\na,yes,true,x\n"
    assert mapped(tmp_path / "a.csv", data, "true-false") == {
        "custom_id": "a",
        "inputs": {"agent_response": "yes", "expected_output": "true"},
        "metadata": {"topic": "x"},
    }


@pytest.mark.parametrize(
    ("columns", "mapping"),
    [
        ("id,question,response,answer", "custom_id=id,agent_response=response,expected_output=answer"),
        ("id,answer,gold", "custom_id=id,agent_response=answer,expected_output=gold"),
        ("ID,Model Output,Ground Truth", "custom_id=ID,agent_response=Model Output,expected_output=Ground Truth"),
        ("uuid,prediction,label", "custom_id=uuid,agent_response=prediction,expected_output=label"),
        ("prompt,completion,reference", "custom_id=@row,agent_response=completion,expected_output=reference"),
        ("qid,generated_text,target", "custom_id=qid,agent_response=generated_text,expected_output=target"),
        ("example_id,actual_output,expected_output", "custom_id=example_id,agent_response=actual_output,expected_output=expected_output"),
        ("Nr,Frage,Antwort des Modells,Erwartete Antwort", "custom_id=Nr,agent_response=Antwort des Modells,expected_output=Erwartete Antwort"),
        ("identifiant,question,réponse du modèle,réponse attendue", "custom_id=identifiant,agent_response=réponse du modèle,expected_output=réponse attendue"),
        ("id,pregunta,respuesta_modelo,respuesta_esperada", "custom_id=id,agent_response=respuesta_modelo,expected_output=respuesta_esperada"),
        ("номер,вопрос,ответ модели,эталон", "custom_id=номер,agent_response=ответ модели,expected_output=эталон"),
        ("番号,質問,モデルの回答,正解", "custom_id=番号,agent_response=モデルの回答,expected_output=正解"),
        ("编号,问题,模型输出,标准答案", "custom_id=编号,agent_response=模型输出,expected_output=标准答案"),
        ("id,gpt4_response,output_tokens,gold_label", "custom_id=id,agent_response=gpt4_response,expected_output=gold_label"),
    ],
)  # fmt: skip
def test_usual_names_of_columns_in_several_languages_are_proposed(
    columns: str, mapping: str, tmp_path: Path
) -> None:
    rows = "\n".join(",".join(f"v{row}" for _ in columns.split(",")) for row in range(3))
    text = proposed(tmp_path / "a.csv", f"{columns}\n{rows}\n".encode(), "string-match")
    assert text.split(",metadata=")[0] == mapping


ANSWERS = [("k7", "Capital?", "Paris", "Paris"), ("k8", "2+2?", "4", "4"), ("k9", "Planet?", "Saturn", "Jupiter")]  # fmt: skip


def test_columns_whose_names_say_nothing_are_guessed_from_their_values_and_said_to_be(
    tmp_path: Path,
) -> None:
    data = "\n".join(["c1,c2,c3,c4", *map(",".join, ANSWERS)]).encode()
    found = seen(tmp_path / "a.csv", data, "string-match")
    assert found
    assert found.mapping is None
    assert found.proposal
    assert found.proposal.text == "custom_id=c1,agent_response=c3,expected_output=c4,metadata=c2"
    assert found.proposal.caution == (
        "custom_id, agent_response, expected_output: guessed from the values, not from the names, so check which is which"
    )


def test_the_column_that_agrees_with_the_known_answers_is_guessed_as_the_response(
    tmp_path: Path,
) -> None:
    data = "\n".join(["id,topic,x,gold", *map(",".join, ANSWERS)]).encode()
    text = proposed(tmp_path / "a.csv", data, "string-match")
    assert text == "custom_id=id,agent_response=x,expected_output=gold,metadata=topic"


@pytest.mark.parametrize(
    "rows",
    [
        ["a,b", "1,1", "1,1", "1,1"],
        ["a,b", "2026-01-01,0.5", "2026-01-02,0.7", "2026-01-03,0.1"],
    ],
    ids=["constants", "measurements"],
)
def test_columns_that_do_not_agree_are_no_answers(rows: list[str], tmp_path: Path) -> None:
    text = proposed(tmp_path / "a.csv", "\n".join(rows).encode(), "string-match")
    assert text == "custom_id=@row,agent_response=COLUMN,expected_output=COLUMN"


def test_a_trace_in_a_column_without_a_telling_name_is_guessed(tmp_path: Path) -> None:
    rows = [{"run_id": f"r{n}", "c": orjson.dumps(CHAT).decode()} for n in range(2)]
    text = proposed(tmp_path / "a.jsonl", lines(*rows), "budget")
    assert text.startswith("custom_id=run_id,trace=c")


@pytest.mark.parametrize(
    ("row", "mapping"),
    [
        ({"input": [{"role": "user", "content": "q"}], "ideal": "a"}, "custom_id=@row,expected_output=ideal,agent_response=COLUMN"),
        ({"id": "i", "expectedOutput": {"answer": "a"}}, "custom_id=id,expected_output=expectedOutput.answer,agent_response=COLUMN"),
        (
            {"id": "i", "sample": {"input": [{"content": "q"}], "output": [{"content": "a"}]}, "item": {"answer": "a"}},
            "custom_id=id,agent_response=sample.output.0.content,expected_output=item.answer",
        ),
        (
            {"id": "i", "outputs.output": "a", "reference.answer": "a", "feedback.correct": True},
            "custom_id=id,agent_response=outputs.output,expected_output=reference.answer",
        ),
        (
            {"doc_id": 3, "doc": {"answer": "a"}, "target": "a", "resps": [["b"]], "filtered_resps": ["b"]},
            "custom_id=doc_id,agent_response=filtered_resps.0,expected_output=target",
        ),
        (
            {"id": "i", "datasource_item": {"question": "q", "correct_label": "a"}, "sample": {"output": [{"content": "a"}]}},
            "custom_id=id,agent_response=sample.output.0.content,expected_output=datasource_item.correct_label",
        ),
        ({"id": "i", "output": '{"text": "a"}', "gold": "a"}, "custom_id=id,agent_response=output,expected_output=gold"),
    ],
    ids=["evals samples", "dataset items", "output items", "a dataframe of runs", "harness samples", "labelled items", "JSON in text"],
)  # fmt: skip
def test_what_was_asked_expected_or_judged_is_not_proposed_as_the_answer(
    row: dict[str, Any], mapping: str, tmp_path: Path
) -> None:
    text = proposed(tmp_path / "a.jsonl", lines(row), "string-match")
    assert text.split(",metadata=")[0] == mapping


def test_a_known_shape_whose_values_are_json_in_cells_is_mapped(tmp_path: Path) -> None:
    data = b'id,outputs,reference_outputs\nr1,"{""answer"": ""a""}","{""answer"": ""b""}"\n'
    case = mapped(tmp_path / "a.csv", data, "string-match")
    inputs = {"agent_response": "a", "expected_output": "b"}
    assert case == {"custom_id": "r1", "inputs": inputs, "metadata": {"run_id": "r1"}}


def test_a_known_shape_without_a_value_for_any_input_gets_a_proposal(tmp_path: Path) -> None:
    data = b"id,outputs,reference_outputs\nr1,a,b\nr2,c,d\n"
    text = proposed(tmp_path / "a.csv", data, "string-match")
    assert text == "custom_id=id,agent_response=outputs,expected_output=reference_outputs"


def test_a_column_of_graders_is_proposed_if_the_command_names_none(tmp_path: Path) -> None:
    table = b"id,answer,gold,grader\n1,yes,true,true-false\n2,Paris,Rome,string-match\n"
    own = "custom_id=id,grader=grader,agent_response=answer,expected_output=gold"
    other = "custom_id=id,agent_response=answer,expected_output=gold,metadata=grader"
    assert proposed(tmp_path / "a.csv", table) == own
    assert proposed(tmp_path / "a.csv", table, "string-match") == other
    assert proposed(tmp_path / "a.csv", table.replace(b"true-false", b"a human")) == other
    assert (
        mapped(
            tmp_path / "a.jsonl",
            {
                "custom_id": "1",
                "agent_response": "a",
                "expected_output": "a",
                "grader": "string-match",
            },
        )["grader"]
        == "string-match"
    )


@pytest.mark.parametrize("name", ["pasted lines", "table.txt"])
def test_a_table_without_a_telling_ending_is_known_by_its_rows(name: str, tmp_path: Path) -> None:
    data = "id\toutput\tgold\n1\ta\ta\n2\tb\tc\n".encode("utf-16")
    text = proposed(tmp_path / name, data, "string-match")
    assert text == "custom_id=id,agent_response=output,expected_output=gold"


@pytest.mark.parametrize("text", [b"one, two\nthree\n", b"hello\nworld\n", b"a, b\n"])
def test_text_whose_lines_have_no_equal_cells_is_no_table(text: bytes, tmp_path: Path) -> None:
    assert seen(tmp_path / "a.txt", text, "string-match") is None


def test_a_workbook_is_refused_with_what_to_do(tmp_path: Path) -> None:
    with ZipFile(tmp_path / "a.xlsx", "w") as book:
        book.writestr("[Content_Types].xml", "<x/>")
        book.writestr("xl/workbook.xml", "<x/>")
    with pytest.raises(InputError, match="Excel workbook") as caught:
        seen(tmp_path / "a.xlsx", (tmp_path / "a.xlsx").read_bytes(), "string-match")
    assert caught.value.hint.startswith("save the sheet as CSV UTF-8, or with pandas")


def test_yaml_is_refused_with_a_command_that_converts_it(tmp_path: Path) -> None:
    rows = b"- id: q1\n  output: yes\n  gold: 1.5\n  day: 2026-01-02\n"
    with pytest.raises(InputError, match="is YAML") as caught:
        seen(tmp_path / "FILE.yaml", rows, "string-match")
    command = caught.value.hint.removeprefix("convert it: python").strip()
    subprocess.run(f"{sys.executable} {command}", shell=True, cwd=tmp_path, check=True)
    converted = orjson.loads((tmp_path / "FILE.json").read_bytes())
    assert converted == [{"id": "q1", "output": "yes", "gold": 1.5, "day": "2026-01-02"}]


@pytest.mark.parametrize("data", [b"PK\x03\x04 damaged", b"", b"name"])
@pytest.mark.parametrize("name", ["a.xlsx", "a.XLS"])
def test_a_workbook_is_known_by_its_name_too(data: bytes, name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Excel workbook"):
        seen(tmp_path / name, data, "string-match")


@pytest.mark.parametrize("pretty", [0, orjson.OPT_INDENT_2])
@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({"id": {"0": "q1"}, "output": {"0": "a"}, "gold": {"0": "b"}}, "column under each name"),
        ({"predictions": ["a", "b"], "references": ["a", "c"]}, "column under each name"),
        ({"data": {"id": [1, 2], "output": ["a", "b"], "gold": ["a", "c"]}}, "under each name at /data,"),
        (
            {"meta": {"model": "m"}, "run": {"data": {"output": ["a", "b"], "gold": ["a", "c"]}}},
            "under each name at /run/data,",
        ),
        ({"answer": ["a", "b"], "ground_truth": ["a", "c"], "contexts": [["c"], ["d"]]}, "under each name,"),
        ({"answer": ["a", "b"], "ground_truths": [["a"], ["c"]]}, "under each name,"),
        ({"model": "m", "accuracy": 0.5, "predictions": ["a", "a"], "labels": ["a", "c"]}, "under each name,"),
        ({"run": "r", "results": {"model": "m", "output": ["a", "b"], "gold": ["a", "c"]}}, "at /results,"),
    ],
    ids=[
        "columns", "lists", "lists in an object", "lists in an object beside another", "lists of lists", "lists of gold lists",
        "values beside lists", "values beside lists in an object",
    ],
)  # fmt: skip
def test_columns_under_names_are_refused_with_what_would_work(
    document: Any, said: str, pretty: int, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=said) as caught:
        seen(tmp_path / "a.json", orjson.dumps(document, option=pretty), "string-match")
    assert 'orient="records", lines=True' in caught.value.hint


@pytest.mark.parametrize(
    "row",
    [
        {"model": {"text": "a"}, "gold": {"text": "a"}},
        {"inputs": {"q": "a"}, "outputs": {"q": "b"}},
        {"id": "a", "output": "b", "gold": "c"},
        {"q1": {"x": 1}, "q2": {"x": 2}},
        {
            "q1": {"outputs": ["a", "b"], "gold": ["a", "b"]},
            "q2": {"outputs": ["a"], "gold": ["a"]},
        },
        {"output": "a", "gold": "a", "probabilities": {"tokens": ["a", "b"], "values": [1, 2]}},
        {"question": "a", "answers": {"text": ["a", "b"], "answer_start": [1, 2]}},
    ],
)
def test_a_single_row_is_not_taken_for_rows_under_keys(row: Any, tmp_path: Path) -> None:
    assert proposed(tmp_path / "a.json", row, "string-match")


def test_a_dataset_of_deepeval_is_known_by_its_goldens(tmp_path: Path) -> None:
    golden = {"input": "q", "actual_output": "a", "expected_output": "b"}
    found = seen(tmp_path / "a.json", {"goldens": [golden]}, "string-match")
    assert found
    assert found.mapping
    assert (found.mapping.name, found.mapping.rows) == ("a DeepEval dataset", "/goldens")
    without = {"goldens": [golden | {"actual_output": None}]}
    text = proposed(tmp_path / "b.json", without, "string-match")
    assert text.endswith("expected_output=expected_output,agent_response=COLUMN")


def test_a_row_of_totals_does_not_hide_the_column_of_ids(tmp_path: Path) -> None:
    rows = [f"{n};Frage {n};{n}a;{n}a;0,5\n" for n in range(1, 4)]
    for total in (";Summe;;;1,5\n", "Summe;;;;1,5\n", ";;;;1,5\n", ""):
        data = "".join(["Nr.;Frage;Erwartet;Antwort;Wert\n", *rows, total]).encode()
        text = proposed(tmp_path / "a.csv", data, "string-match")
        first = "custom_id=@row" if total.startswith(";;") else "custom_id=Nr."
        assert text.startswith(f"{first},agent_response=Antwort,expected_output=Erwartet,"), total


def test_nested_values_are_proposed_by_their_paths(tmp_path: Path) -> None:
    row = {"run": {"id": "r1"}, "output": {"text": "x"}, "expected": {"value": {"answer": "x"}}}
    text = proposed(tmp_path / "a.jsonl", lines(row), "string-match")
    assert (
        text == "custom_id=run.id,agent_response=output.text,expected_output=expected.value.answer"
    )


@pytest.mark.parametrize(
    ("row", "custom_id"),
    [
        ({"id": "r{n}", "example_id": "e{n}"}, "example_id"),
        ({"id": "r{n}", "datasetItemId": "e{n}"}, "datasetItemId"),
        ({"id": "r{n}", "dataset_record_id": "e{n}"}, "dataset_record_id"),
        ({"id": "outputitem_{n}", "datasource_item_id": "{n}"}, "datasource_item_id"),
        ({"run": {"id": "r{n}"}, "example": {"id": "e{n}"}}, "example.id"),
        ({"id": "r{n}", "example_id": "e"}, "id"),
        ({"run": {"id": "r{n}"}}, "run.id"),
    ],
)
def test_the_id_of_the_example_which_later_runs_share_is_proposed_before_that_of_the_run(
    row: dict[str, Any], custom_id: str, tmp_path: Path
) -> None:
    template = orjson.dumps(row | {"response": "a", "gold": "a"})
    data = b"\n".join(template.replace(b"{n}", str(n).encode()) for n in range(3))
    text = proposed(tmp_path / "a.jsonl", data, "string-match")
    assert text.partition(",")[0] == f"custom_id={custom_id}"


def test_columns_that_group_results_are_proposed_as_metadata_before_others(tmp_path: Path) -> None:
    row = {"id": 0, "span_id": "s", "created_at": "2026", "a": 0, "b": 1, "c": 2, "d": 3, "e": 4, "f": 5,
           "output": "x", "expected": "x", "model": "m", "meta": {"topic": "t"}, "url": "u"}  # fmt: skip
    rows = [
        {key: f"{value}{n}" for key, value in row.items()}
        | {"model": "m", "meta": {"topic": n % 2}}
        for n in range(4)
    ]
    text = proposed(tmp_path / "a.jsonl", lines(*rows), "string-match")
    metadata = [item.partition("=")[2] for item in text.split(",") if item.startswith("metadata")]
    assert metadata == ["a", "b", "c", "d", "e", "meta.topic"]


def test_the_title_of_a_prompt_or_a_model_is_not_proposed_as_the_expected_output(
    tmp_path: Path,
) -> None:
    row = {"id": 1, "response": "a", "prompt": {"label": "p"}, "provider": {"label": "gpt"}}
    text = proposed(tmp_path / "a.jsonl", lines(row), "string-match")
    assert text == "custom_id=id,agent_response=response,expected_output=COLUMN"


def test_an_answer_encoded_as_json_in_a_cell_of_a_table_is_proposed_by_its_path(
    tmp_path: Path,
) -> None:
    cells = (
        b'e1,"{""text"": ""a""}","{""city"": ""b""}"\ne2,"{""text"": ""c""}","{""city"": ""d""}"\n'
    )
    text = proposed(
        tmp_path / "a.csv", b"example_id,output,reference_output\n" + cells, "string-match"
    )
    assert (
        text == "custom_id=example_id,agent_response=output.text,"
        "expected_output=reference_output.city"
    )


def test_a_proposal_can_be_given_back_whatever_the_names_of_columns_contain(
    tmp_path: Path,
) -> None:
    data = b'"a=b","__expected","[m] {{q}}","x {y}"\n1,Paris,Paris,u\n2,Lima,Lima,v\n'
    found = seen(tmp_path / "a.csv", data, "string-match")
    assert found
    assert found.proposal
    mapping = parse_mapping([found.proposal.text])
    assert mapping.case(found.rows[0], 1) == {
        "custom_id": "1",
        "inputs": {"agent_response": "Paris", "expected_output": "Paris"},
    }


def test_a_known_shape_without_a_value_for_a_needed_input_asks_for_its_column(
    tmp_path: Path,
) -> None:
    row = PROMPTFOO["results"]["results"][0] | {"testCase": {"assert": [{"type": "cost"}]}}
    text = proposed(tmp_path / "a.json", {"results": {"results": [row]}}, "string-match")
    assert text.endswith("agent_response=response.output,expected_output=COLUMN")


def test_a_test_case_of_deepeval_with_an_empty_name_is_known_by_its_row(tmp_path: Path) -> None:
    data = b"""input,actual_output,expected_output,name,additional_metadata
q,a,b,,
r,c,d,second,"{""topic"": ""geo""}"
"""
    found = seen(tmp_path / "a.csv", data, "string-match")
    assert found
    assert found.mapping
    cases = [found.mapping.case(row, n) for n, row in enumerate(found.rows, 2)]
    assert [case["custom_id"] for case in cases] == ["2", "second"]
    assert [case.get("metadata") for case in cases] == [None, {"topic": "geo"}]


def test_what_repeats_is_not_proposed_as_an_id(tmp_path: Path) -> None:
    data = b"id,name,output,gold\n1,a,x,y\n1,b,x,y\n"
    assert proposed(tmp_path / "a.csv", data, "string-match").startswith("custom_id=name,")


def test_what_no_column_seems_to_be_is_left_open(tmp_path: Path) -> None:
    text = proposed(tmp_path / "a.csv", b"id,zzz,gold\n1,a,b\n", "string-match")
    assert text == "custom_id=id,expected_output=gold,agent_response=COLUMN"


def test_a_trace_in_a_column_is_proposed_for_a_grader_of_traces(tmp_path: Path) -> None:
    rows = [{"run_id": f"r{n}", "transcript": CHAT, "score": 1} for n in range(2)]
    text = proposed(tmp_path / "a.jsonl", lines(*rows), "budget")
    assert text.startswith("custom_id=run_id,trace=transcript")


@pytest.mark.parametrize("pretty", [0, orjson.OPT_INDENT_2])
def test_an_array_of_rows_on_one_line_or_on_many_has_a_proposal(
    tmp_path: Path, pretty: int
) -> None:
    rows = [{"qid": f"q{n}", "response": "Graz", "gold": "Graz"} for n in range(3)]
    text = proposed(tmp_path / "rows.json", orjson.dumps(rows, option=pretty), "string-match")
    assert text == "custom_id=qid,agent_response=response,expected_output=gold"


def test_the_answer_in_a_batch_output_is_proposed_where_only_the_expected_one_is_missing(
    tmp_path: Path,
) -> None:
    row = {"custom_id": "r1", "response": {"status_code": 200, "body": BODY}}
    text = proposed(tmp_path / "batch.jsonl", lines(row), "string-match")
    assert text == (
        "custom_id=custom_id,agent_response=response.body.choices.0.message.content,expected_output=COLUMN"
    )


def test_rows_are_found_behind_the_description_of_their_columns(tmp_path: Path) -> None:
    page = {
        "features": [{"feature_idx": 0, "name": "answer", "type": {"dtype": "string"}}],
        "rows": [
            {"row_idx": n, "row": {"prediction": "Graz", "answer": "Graz"}, "truncated_cells": []}
            for n in range(3)
        ],
    }
    text = proposed(tmp_path / "rows.json", orjson.dumps(page), "string-match")
    assert "agent_response=row.prediction,expected_output=row.answer" in text


PROMPTFOO = {
    "evalId": "e",
    "results": {
        "version": 3,
        "results": [
            {
                "promptIdx": 0,
                "testIdx": 4,
                "vars": {"country": "France"},
                "provider": {"id": "openai:m", "label": ""},
                "response": {"output": "Paris"},
                "testCase": {
                    "assert": [
                        {"type": "cost", "threshold": 1},
                        {"type": "equals", "value": "Paris"},
                    ]
                },
            }
        ],
    },
}
INSPECT = {
    "version": 2,
    "eval": {"task": "t", "model": "m"},
    "samples": [
        {
            "id": "s1",
            "epoch": 1,
            "input": "q",
            "target": "Paris",
            "messages": CHAT,
            "output": {"model": "m", "completion": "Paris", "choices": []},
        }
    ],
}


@pytest.mark.parametrize("pretty", [0, orjson.OPT_INDENT_2])
@pytest.mark.parametrize(
    ("document", "case"),
    [
        (
            PROMPTFOO,
            {
                "custom_id": "4-0",
                "inputs": {"agent_response": "Paris", "expected_output": "Paris"},
                "metadata": {"provider": "openai:m", "vars": {"country": "France"}},
            },
        ),
        (
            INSPECT,
            {
                "custom_id": "s1/1",
                "inputs": {"agent_response": "Paris", "expected_output": "Paris"},
                "metadata": {"epoch": 1, "model": "m"},
            },
        ),
        (
            [{"input": "q", "actual_output": "a", "expected_output": "b", "context": None}],
            {"custom_id": "1", "inputs": {"agent_response": "a", "expected_output": "b"}},
        ),
        (
            [{"input": "q", "actualOutput": "a", "expectedOutput": "b", "additionalMetadata": {"topic": "geo", "n": 1}}],
            {
                "custom_id": "1",
                "inputs": {"agent_response": "a", "expected_output": "b"},
                "metadata": {"topic": "geo", "n": 1},
            },
        ),
        (
            [{"example_id": "e", "inputs": {"q": 1}, "outputs": {"output": "a"}, "reference_outputs": {"output": "b"}}],
            {"custom_id": "e", "inputs": {"agent_response": "a", "expected_output": "b"}},
        ),
    ],
    ids=["promptfoo", "inspect", "deepeval", "deepeval with metadata", "langsmith"],
)  # fmt: skip
def test_files_of_other_tools_are_known_by_their_shape(
    document: Any, case: dict[str, Any], pretty: int, tmp_path: Path
) -> None:
    data = orjson.dumps(document, option=pretty)
    assert mapped(tmp_path / "a.json", data, "string-match") == case


PROMPTFOO_CELLS = ["[PASS] (1.00)\n\nParis", "[FAIL] Expected...\n---\nLima", "[ERROR] timed out"]


@pytest.mark.parametrize("graders", [("string-match",), ()])
def test_the_table_of_promptfoo_is_refused_with_what_to_export(
    graders: tuple[str, ...], tmp_path: Path
) -> None:
    rows = [
        {"country": "x", "expected": "Paris", "[openai:m] Capital of {{country}}?": cell}
        for cell in PROMPTFOO_CELLS
    ]
    with pytest.raises(MappingNeededError, match="promptfoo's table, with a verdict") as caught:
        seen(tmp_path / "a.csv", table(rows), *graders)
    assert "promptfoo eval -o results.json" in caught.value.hint


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("[openai:m] Capital?", ["Paris", "Lima", "[PASS] Rome"]),
        ("result", PROMPTFOO_CELLS),
    ],
)
def test_a_table_with_other_names_or_cells_is_not_taken_for_that_of_promptfoo(
    name: str, cells: list[str], tmp_path: Path
) -> None:
    rows = [{"output": "Paris", "expected": "Paris", name: cell} for cell in cells]
    assert proposed(tmp_path / "a.csv", table(rows), "string-match")


OUTPUTS = ["[openai:m] Is {{question}} correct?", "[local:n] Name the expected city."]
REASON = 'Expected output "Lima" to equal "Rome"'


def promptfoo_table(outputs: list[str], *, named: bool) -> bytes:
    """Return promptfoo's table, in which the columns after each output have the same names."""
    after = [
        "Reasoning",
        "Status",
        "Score",
        "Named Scores",
        "Metric: x",
        "Grader Reason",
        "Comment",
    ]
    header = ["question", *(["expected"] if named else [])]
    for output in outputs:
        header += [output, *after]
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(header)
    for city in ("Lima", "Rome"):
        judged = [city, "", "PASS", "1.00", "", "1.00", REASON, ""]
        writer.writerow(["q", *(["Rome"] if named else []), *(judged * len(outputs))])
    return text.getvalue().encode()


@pytest.mark.parametrize("outputs", [OUTPUTS, OUTPUTS[::-1], OUTPUTS[:1]])
def test_the_outputs_in_a_table_of_promptfoo_are_the_agents_answers_and_its_judgements_are_not_proposed(
    outputs: list[str], tmp_path: Path
) -> None:
    data = promptfoo_table(outputs, named=True)
    found = seen(tmp_path / "a.csv", data, "string-match")
    assert found
    assert found.proposal
    fields = (
        f"custom_id=@row,agent_response={outputs[0]},expected_output=expected,metadata=question"
    )
    assert found.proposal.text == fields
    assert found.proposal.rivals == (tuple(outputs) if len(outputs) > 1 else ())
    numbered = "the columns called 'Reasoning', and those of 6 other names, are numbered"
    assert [hint.startswith(numbered) for hint in found.hints()] == [True] * (len(outputs) > 1)


def test_a_table_of_promptfoo_without_expected_answers_is_refused_with_what_to_export(
    tmp_path: Path,
) -> None:
    data = promptfoo_table(OUTPUTS, named=False)
    with pytest.raises(MappingNeededError, match="without expected answers") as caught:
        seen(tmp_path / "a.csv", data, "string-match")
    assert "promptfoo eval -o results.json" in caught.value.hint


def test_answers_of_batch_services_are_known_by_their_shape(tmp_path: Path) -> None:
    openai = {
        "id": "b",
        "custom_id": "r1",
        "response": {"status_code": 200, "request_id": "q", "body": BODY},
        "error": None,
    }
    made = mapped(tmp_path / "a.jsonl", lines(openai), "budget")
    assert made["custom_id"] == "r1"
    assert made["inputs"] == {"trace": BODY}
    text = proposed(tmp_path / "b.jsonl", lines(openai), "string-match")
    assert text.startswith("custom_id=custom_id,")


def test_a_metric_beside_the_expected_output_is_not_proposed_as_the_answer(tmp_path: Path) -> None:
    rows = [{"doc_id": n, "target": str(n % 2), "acc": n % 2, "f1": n % 2} for n in range(4)]
    text = proposed(tmp_path / "a.jsonl", lines(*rows), "string-match")
    assert text == "custom_id=doc_id,expected_output=target,agent_response=COLUMN"


def test_the_answers_of_a_data_set_are_not_proposed_as_the_agents(tmp_path: Path) -> None:
    rows = [
        {"id": f"e{n}", "inputs": {"q": n}, "outputs": {"answer": answer}, "dataset_id": "d"}
        for n, answer in enumerate(("Paris", "Rome"))
    ]
    text = proposed(tmp_path / "a.jsonl", lines(*rows), "string-match")
    assert text == "custom_id=id,expected_output=outputs.answer,agent_response=COLUMN"
    beside = [row | {"prediction": "Oslo"} for row in rows]
    text = proposed(tmp_path / "b.jsonl", lines(*beside), "string-match")
    assert "agent_response=prediction" in text


@pytest.mark.parametrize("name", ["a.json", "results"])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("what", LONG)
def test_rows_of_a_known_shape_are_found_whatever_is_before_them(
    what: tuple[str, str], layout: str, name: str, tmp_path: Path
) -> None:
    data = orjson.dumps(LONG[what], option=LAYOUTS[layout])
    found = seen(tmp_path / name, data, "string-match")
    assert found
    assert found.mapping
    assert found.mapping.rows == what[0]
    assert len(found.rows) == 3


ONE_LINE = orjson.dumps({"about": [{"id": 0}] * 2, "rows": [{"id": n} for n in range(2)]})
ONE_ROW = orjson.dumps({"id": 1, "parts": [{"text": "x"}] * 2})


@pytest.mark.parametrize("name", ["a", "a.txt", "a.jsonl"])
def test_an_object_on_one_line_is_a_row_whatever_lists_it_has(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(ONE_LINE + b"\n")
    found = first_rows(Opened.first_of(Paths([path])), Settings())
    assert found.layout == Layout(RowFormat.JSON_LINES)
    assert "/rows" in found.document_hint()


@pytest.mark.parametrize(("row", "where"), [(ONE_LINE, "/rows"), (ONE_ROW, "/parts")])
def test_the_error_for_an_object_on_one_line_says_how_its_list_would_be_read(
    row: bytes, where: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(row)
    hint = (
        f"to read the list at {where} as its rows, rename the file to end in .json,"
        f" or write `rows: {where}` into the mapping file"
    )
    for maps in ((), ["custom_id=id,agent_response=x,expected_output=y"]):
        with pytest.raises(InputError) as refused:
            choose_mapping(
                Paths([path]),
                [GraderSpec("string-match")],
                Settings(),
                texts=maps,
                saved=None,
                joins=(),
            )
        assert hint in refused.value.hint


@pytest.mark.parametrize("option", [0, orjson.OPT_INDENT_2])
@pytest.mark.parametrize(
    ("document", "pointer"),
    [
        ({"results": [{"task": "t", "acc": 1}], "samples": [{"id": n} for n in range(9)]}, "/samples"),
        ({"log": [{"message": "x" * 300_000}], "data": [{"id": n} for n in range(9)]}, "/data"),
        ({"a": [{"id": 1}], "b": {"c/d~": [{"id": n} for n in range(9)]}}, "/b/c~1d~0"),
        ({"a": list(range(500)), "b": [1, {"id": 1}]}, "/b"),
        ({"columns": ["id", "x"], "index": list(range(90_000)), "data": [["1", "a"]]}, "/data"),
    ],
    ids=["usual names", "a usual name", "unusual names", "no rows", "a table"],
)  # fmt: skip
def test_rows_are_the_longest_list_of_objects_those_with_usual_names_first(
    document: Any, pointer: str, option: int, tmp_path: Path
) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(orjson.dumps(document, option=option))
    layout = first_rows(Opened.first_of(Paths([path])), Settings()).layout
    assert layout
    assert layout.rows == pointer


def test_rows_behind_more_than_is_searched_are_read_if_there_is_no_other_list(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.json"
    with path.open("wb") as file:
        file.write(b'{"notes": "')
        for _ in range(40):
            file.write(b"x" * 1_000_000)
        file.write(b'", "things": [{"id": 1}, {"id": 2}]}')
    found = first_rows(Opened.first_of(Paths([path])), Settings())
    assert found.rows == [{"id": 1}, {"id": 2}]


def test_an_answer_of_langsmith_is_a_text_rather_than_an_object(tmp_path: Path) -> None:
    row = {"outputs": {"output": {"x": 1}, "answer": "a"}, "reference_outputs": {"answer": "a"}}
    case = mapped(tmp_path / "a.jsonl", lines(row), "string-match")
    assert case["inputs"] == {"agent_response": "a", "expected_output": "a"}
    row = {"outputs": {"output": {"x": 1}, "answer": None}, "reference_outputs": {"answer": "a"}}
    case = mapped(tmp_path / "a.jsonl", lines(row), "string-match")
    assert case["inputs"]["agent_response"] == {"x": 1}


def test_the_first_file_with_a_row_shows_the_columns(tmp_path: Path) -> None:
    for name, content in {
        "1.csv": b"",
        "2.csv": b"id,x\n",
        "3.jsonl": b"\n",
        "4.csv": b"id,x\n1,a\n",
    }.items():
        (tmp_path / name).write_bytes(content)
    files = Opened.all_of(Paths([tmp_path]))
    assert from_first_row_on(files, Settings())[0].name == "4.csv"
    assert from_first_row_on(files[:3], Settings())[0].name == "1.csv"


@pytest.mark.parametrize("option", [0, orjson.OPT_INDENT_2])
@pytest.mark.parametrize(
    ("document", "what"),
    [
        ([], "is an empty JSON list"),
        ([["1", "a", "b"], ["2", "a", "b"]], "is a JSON list of lists, whose values have no names"),
        (["a", "b"], "is a JSON list of values that are not objects"),
    ],
)
def test_a_document_that_is_a_list_without_objects_is_said_to_be_one(
    document: list[Any], what: str, option: int, tmp_path: Path
) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(orjson.dumps(document, option=option))
    with pytest.raises(InputError, match=what):
        recognise(Opened.first_of(Paths([path])), [GraderSpec("string-match")], Settings())
    texts = ["custom_id=id,agent_response=a,expected_output=b"]
    with pytest.raises(InputError, match=what):
        choose_mapping(
            Paths([path]),
            [GraderSpec("string-match")],
            Settings(),
            texts=texts,
            saved=None,
            joins=[],
        )


def test_xml_is_refused_as_such(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_text('<results><item id="a"><output>Paris</output></item></results>')
    with pytest.raises(InputError, match="is an XML document, which cannot be read"):
        recognise(Opened.first_of(Paths([path])), [GraderSpec("string-match")], Settings())
    [line] = Source(path, Settings())
    assert line.fault
    assert line.fault.message == "the file is not JSON, it looks like an XML document"


@pytest.mark.parametrize("is_list", [True, False])
@pytest.mark.parametrize("traces", [{}, {"trace_id": True}], ids=["no traces", "a trace each"])
def test_calls_with_both_answers_are_rows_for_graders_of_answers(
    traces: dict[str, Any], is_list: bool, tmp_path: Path
) -> None:
    calls = [
        {
            "id": f"c{n}",
            "op_name": "Evaluation.predict_and_score",
            "output": {"output": "a"},
            "inputs": {"example": {"expected": "a"}},
            "started_at": "2026-01-01T00:00:00Z",
            **dict.fromkeys(traces, f"t{n}"),
        }
        for n in range(3)
    ]
    path = tmp_path / ("a.json" if is_list else "a.jsonl")
    path.write_bytes(orjson.dumps(calls) if is_list else b"\n".join(map(orjson.dumps, calls)))
    opened = Opened.first_of(Paths([path]))
    found = recognise(opened, [GraderSpec("string-match")], Settings())
    assert found
    assert found.proposal
    assert found.proposal.text.startswith(
        "custom_id=id,agent_response=output.output,expected_output=inputs.example.expected"
    )
    assert recognise(opened, [GraderSpec("loop")], Settings()) is None
    path.write_bytes(path.read_bytes().replace(b'"expected"', b'"question"'))
    assert recognise(opened, [GraderSpec("string-match")], Settings()) is None
