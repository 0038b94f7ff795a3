"""Mappings: rows become cases by paths, constants and templates, and invalid mappings are reported."""

from __future__ import annotations

from typing import Any

import pytest

from weighbridge.errors import MappingError
from weighbridge_producer.input.mapping.known_datasets import shape_of
from weighbridge_producer.input.mapping.mapping_text import mapped_fields, parse_mapping
from weighbridge_producer.input.mapping.missing_paths import refuse_missing_paths, refuse_no_list
from weighbridge_producer.input.mapping.row_values import Path

ROW = {
    "id": 7,
    "output": {"text": "Paris", "tokens": [3, 4]},
    "answer": "paris",
    "a.b": "dotted",
    "topic": "geo",
    "weird/name": "slash",
    "nothing": None,
    "none": [],
    "tree": [
        {"of": [{"n": 1, "of": ["a"]}, {"n": 2, "of": ["b"]}]},
        {"of": '[{"n": 3, "of": ["c"]}]'},
        {"of": []},
        {},
    ],
    "json": '{"text": "Lyon", "all": [1, {"x": 2}]}',
    "cut": '{"text": "Lyon"',
    "repr": """[{'text': "it's", 'ok': True, 'n': None}, {'text': 'a \\'b\\' \\xe9'}]""",
}


def case(text: str, row: dict[str, Any] = ROW, number: int = 1) -> dict[str, Any]:
    return parse_mapping([text]).case(row, number)


@pytest.mark.parametrize(
    ("row", "grader"),
    [
        ({"judge": "true-false"}, {"grader": "true-false"}),
        ({"judge": ""}, {}),
        ({"judge": None}, {}),
        ({}, {}),
    ],
)
def test_a_row_may_name_its_grader(row: dict[str, Any], grader: dict[str, str]) -> None:
    made = case("custom_id=@row,agent_response=a,grader=judge", {"a": "yes"} | row)
    assert made == {"custom_id": "1", "inputs": {"agent_response": "yes"}} | grader
    made = case("custom_id=@row,inputs.grader=judge", {"judge": "x"})
    assert made == {"custom_id": "1", "inputs": {"grader": "x"}}


def test_paths_lead_to_the_fields_of_a_case() -> None:
    made = case("custom_id=id,agent_response=output.text,expected_output=answer,metadata=topic")
    assert made == {
        "custom_id": "7",
        "inputs": {"agent_response": "Paris", "expected_output": "paris"},
        "metadata": {"topic": "geo"},
    }


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("output.text", "Paris"),
        ("/output/text", "Paris"),
        ("output.tokens.1", 4),
        ("output.tokens.-1", 4),
        ("/output/tokens/0", 3),
        ("a.b", "dotted"),
        ("/weird~1name", "slash"),
        ("nothing", None),
        ("@row", 12),
        ("json.text", "Lyon"),
        ("json.all.1.x", 2),
        ("repr.0.text", "it's"),
        ("repr.0.ok", True),
        ("repr.0.n", None),
        ("repr.-1.text", "a 'b' é"),
        ("gone|output.text|answer", "Paris"),
        ("nothing|answer", "paris"),
        ("{topic}/{id}", "geo/7"),
        ("{output.tokens}", "[3,4]"),
        ("output.tokens.*", [3, 4]),
        ("/output/tokens/*", [3, 4]),
        ("repr.*.text", ["it's", "a 'b' é"]),
        ("repr.*.ok", [True]),
        ("tree.*.of.*.of.*", ["a", "b", "c"]),
        ("tree.*.of.0.n", [1, 3]),
        ("none.*.of", []),
    ],
)
def test_a_value_is_a_column_a_path_a_pointer_the_first_of_several_or_a_template(
    path: str, value: Any
) -> None:
    assert case(f"custom_id=id,x={path}", number=12)["inputs"] == {"x": value}


@pytest.mark.parametrize(
    ("written", "metadata"),
    [
        ("meta.x|y", {"x|y": "whole"}),
        ("topic|id", {"topic|id": "geo"}),
        ("gone|id", {"gone|id": 7}),
        ("[gpt] {question}", {"[gpt] {question}": "braces"}),
        ("choices[answer]", {"choices[answer]": "brackets"}),
    ],
)
def test_metadata_without_a_name_may_be_a_column_with_signs_of_the_syntax(
    written: str, metadata: dict[str, Any]
) -> None:
    row = {"meta.x|y": "whole", "[gpt] {question}": "braces", "choices[answer]": "brackets"}
    text = f"custom_id=id,x=id,metadata={written}"
    mapping = parse_mapping([text])
    assert mapping.case({"id": 7, "topic": "geo"} | row, 1)["metadata"] == metadata
    assert str(mapping) == text
    assert parse_mapping([str(mapping)]) == mapping


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("{gone}|{topic}", "geo"),
        ("{topic}|{gone}", "geo"),
        ("gone|{topic}/{id}|topic", "geo/7"),
        ('{"a": "x|y", "b": {id}}', '{"a": "x|y", "b": 7}'),
        ("{topic}|", "geo|"),
    ],
)
def test_templates_may_be_alternatives_of_an_input(path: str, value: str) -> None:
    assert case(f"custom_id=id,x={path}")["inputs"] == {"x": value}
    named = case("custom_id={id}|{topic},x=id,metadata.m={id}|{topic}")
    assert (named["custom_id"], named["metadata"]["m"]) == ("7|geo", "7|geo")
    assert case(f"custom_id=id,x={path}", ROW | {path: "whole"})["inputs"] == {"x": "whole"}


@pytest.mark.parametrize(
    "path",
    [
        "gone",
        "output.gone",
        "output.tokens.2",
        "output.tokens.-3",
        "output.*",
        "output.tokens.*.x",
        "tree.*.gone",
        "topic.x",
        "cut.text",
        "{gone}",
    ],
)
def test_what_the_row_does_not_have_is_left_out(path: str) -> None:
    assert case(f"custom_id=id,x={path},y=topic")["inputs"] == {"y": "geo"}


def test_a_constant_is_json_and_may_hold_commas() -> None:
    text = 'custom_id=id,a:="yes",b:=[1, 2],c:={"d": "e=f,g"},agent_response=answer'
    assert case(text)["inputs"] == {
        "a": "yes",
        "b": [1, 2],
        "c": {"d": "e=f,g"},
        "agent_response": "paris",
    }


def test_metadata_takes_columns_under_their_own_names_new_names_or_all_that_are_left() -> None:
    named = case("custom_id=id,x=answer,metadata=topic,metadata.t=output.text")
    assert named["metadata"] == {"topic": "geo", "t": "Paris"}
    rest = case("custom_id=id,x=output.text,metadata=*")["metadata"]
    assert rest.keys() == ROW.keys() - {"id", "output"}


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("gpt-4.1", "gpt-4.1"),
        ("Nr.", "Nr."),
        ("scores.gemini-1.5-pro", "gemini-1.5-pro"),
        ("meta.topic", "topic"),
        ("tags.0", "tags"),
        ("grid.0.-1", "grid"),
        ("tags.*", "tags"),
        ("spans.*.name", "name"),
        ("/a.b/c.d", "c.d"),
    ],
)
def test_metadata_is_called_by_the_end_of_its_path(path: str, name: str) -> None:
    (mapped,) = parse_mapping([f"custom_id=id,x=answer,metadata={path}"]).metadata
    assert mapped == name


def test_metadata_takes_the_entries_of_an_object_and_any_other_value_under_its_name() -> None:
    text = "custom_id=id,x=answer,metadata.*=more|extra,metadata.topic=of"
    row = {"id": 1, "answer": "a", "of": "geo"}
    for more in ({"topic": "x", "n": 2}, '{"topic": "x", "n": 2}'):
        assert case(text, row | {"more": more})["metadata"] == {"topic": "geo", "n": 2}
    assert case(text, row | {"extra": {"n": 2}})["metadata"] == {"topic": "geo", "n": 2}
    for nothing in (None, "", {}):
        assert case(text, row | {"more": nothing})["metadata"] == {"topic": "geo"}
    assert case(text, row | {"more": ["a"]})["metadata"] == {"topic": "geo", "more": ["a"]}


def test_a_mapping_without_inputs_leads_to_those_of_answers_and_of_traces() -> None:
    with pytest.raises(MappingError) as caught:
        parse_mapping(["custom_id=@file"])
    for way in ("agent_response=PATH", "trace=PATH", "--pair-by metadata.file"):
        assert way in caught.value.hint


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("custom_id", "is not a valid part of a mapping"),
        ("custom_id=", "is not a valid part of a mapping"),
        ("=id", "is not a valid part of a mapping"),
        ("agent_response=answer", "does not say what the custom_id"),
        ("custom_id=id", "has no inputs"),
        ("custom_id=id,custom_id=answer,x=y", "custom_id is mapped twice"),
        ("custom_id=id,x=y,x=z", "inputs.x is mapped twice"),
        ("custom_id=id,x=y,metadata=a.t,metadata=b.t", "metadata.t is mapped twice"),
        ("custom_id=id,x=y,metadata.*=a,metadata.*=b", r"metadata\.\* is mapped twice"),
        ("custom_id=id,x:=yes", "not JSON"),
        (
            "custom_id=id,agent_response=a.b,expected_output=a.b",
            "are both mapped to 'a.b', so that",
        ),
        ("custom_id=id,x=y,metadata:=5", "has no name"),
    ],
)
def test_a_wrong_mapping_is_refused_with_what_is_wrong(text: str, what: str) -> None:
    with pytest.raises(MappingError, match=what) as caught:
        parse_mapping([text])
    assert caught.value.hint


def test_a_path_that_leads_nowhere_is_told_with_the_column_it_may_have_meant() -> None:
    mapping = parse_mapping(["custom_id=id,x=anwser"])
    with pytest.raises(MappingError, match=r"no row has 'anwser', .* did you mean 'answer'\?"):
        refuse_missing_paths(mapping, [ROW, ROW], "a.csv")
    refuse_missing_paths(mapping, [ROW, {"anwser": 1}], "a.csv")


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("out", "/out"),
        ("a.b", "/a/b"),
        ("/a.b", "a.b"),  # a column whose name has a point
        ("out|text", "answer|out"),
        ("out", "gold|/out"),
        ("{out}", "out"),
        ("json(out)|out", "out"),
        ("json(out)", "json(/out)"),
        ("out.0.text", "out.*.text"),
        ("out.-1", "json(out.*)"),
        ("last_answer(messages)", "messages.-1.content"),
        ("choices[answer]", "gold|choices[/answer]"),
        ("letter(choices[answer])", "letter(choices[ answer ])"),
    ],
)
def test_answers_that_can_be_read_from_one_place_are_refused(answer: str, expected: str) -> None:
    for one, other in ((answer, expected), (expected, answer)):
        with pytest.raises(MappingError, match="an answer would be compared with itself"):
            parse_mapping([f"custom_id=id,agent_response={one},expected_output={other}"])


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("out", "out.text"),
        ("out.0.text", "gold.*.text"),
        ("out.x", "out.*"),
        ("out|text", "gold|label"),
        ("choices[answer]", "choices[gold]"),
        ("letter(choices[answer])", "choices[answer]"),
        ("last_answer(messages)", "messages.0.content"),
        ("{out} {text}", "out"),
    ],
)
def test_answers_from_different_places_of_a_row_are_compared(answer: str, expected: str) -> None:
    text = f"custom_id=id,agent_response={answer},expected_output={expected}"
    assert str(parse_mapping([text])) == text


def test_an_expected_output_within_the_answer_of_a_recognised_file_is_refused() -> None:
    body = {"choices": [{"message": {"content": "Paris"}}]}
    shape = shape_of([{"custom_id": "a", "response": {"body": body}}])
    assert shape
    base = shape.mapping(("agent_response",))
    with pytest.raises(MappingError, match="an answer would be compared with itself"):
        parse_mapping(["expected_output=response.body.choices.0.message.content"], base)
    assert parse_mapping(["expected_output=gold.answer"], base)


@pytest.mark.parametrize(
    ("path", "meant"),
    [
        ("expected", "gold.expected"),  # although a column is similar
        ("topik", "topic"),
        ("gold.expekted", "gold.expected"),
        ("label", "cell.label"),
        ("labell", "cell.label"),
        ("gold.a.b", "/gold/a.b"),
        ("o.p.x", "/o.p/x"),
        ("o.p.list.0.x.y", "/o.p/list/0/x.y"),
        ("/o.p/xx", "/o.p/x"),
        ("nothing_like_it", None),
    ],
)
def test_the_nearest_path_may_lead_into_an_object(path: str, meant: str | None) -> None:
    row = {
        "topic": "geo",
        "expect": "",
        "gold": {"expected": "a", "a.b": "c"},
        "cell": '{"label": "b"}',
        "o.p": {"x": "c", "list": [{"x.y": "d"}]},
    }
    with pytest.raises(MappingError) as caught:
        refuse_missing_paths(parse_mapping([f"custom_id=topic,x={path}"]), [row], "rows.csv")
    assert caught.value.message.endswith(f"; did you mean {meant!r}?" if meant else "mapped to.")


def test_a_path_into_objects_is_told_with_the_fields_that_they_have() -> None:
    mapping = parse_mapping(["custom_id=id,x=gold.anwser"])
    rows = [{"id": 1, "gold": {"id": 1, "answer": 2}}, {"id": 2, "gold": '{"topic": 3}'}]
    with pytest.raises(MappingError, match=r"did you mean 'gold.answer'\?") as caught:
        refuse_missing_paths(mapping, rows, "a.jsonl")
    assert caught.value.hint == "columns: gold.id, gold.answer, gold.topic"


def test_a_column_without_a_name_is_listed_as_an_empty_text() -> None:
    with pytest.raises(MappingError) as caught:
        refuse_missing_paths(parse_mapping(["custom_id=id,x=anwser"]), [{"id": 1, "": 2}], "a.csv")
    assert caught.value.hint == "columns: id, ''"


def test_a_path_to_what_is_no_list_is_not_suggested_again() -> None:
    with pytest.raises(
        MappingError, match=r"no row has a list at 'items', .* takes the entries\. "
    ):
        refuse_no_list(Path("items"), [{"id": 1, "items": "a"}], "a.csv")


def test_fields_of_a_recognised_mapping_may_be_in_no_row() -> None:
    recognised = parse_mapping(["custom_id=id,x=nowhere"])
    mapping = parse_mapping(["y=answer"], recognised)
    refuse_missing_paths(mapping, [{"id": 1, "answer": 2}], "a.csv", recognised)
    with pytest.raises(MappingError, match="no row has 'answer', which y is mapped to"):
        refuse_missing_paths(mapping, [{"id": 1}], "a.csv", recognised)


def test_the_names_of_metadata_within_objects_can_be_told() -> None:
    text = "custom_id=id,trace=steps,metadata=topic,metadata=gold.difficulty,metadata.m=model"
    mapping = parse_mapping([text])
    assert str(mapping) == text
    assert mapping.with_names == text.replace("metadata=gold.", "metadata.difficulty=gold.")
    assert parse_mapping([mapping.with_names]) == mapping


def test_the_fields_that_a_text_maps_are_known_before_the_mapping_is_whole() -> None:
    assert mapped_fields(["x=y,metadata=z", "inputs.a=b"]) == {"x", "a"}
    assert mapped_fields(["custom_id=id"]) == {"custom_id"}


def test_a_mapping_is_written_as_it_is_read() -> None:
    text = 'custom_id={a}-{b},agent_response=x.y|z,expected_output:="yes",metadata=topic,metadata.m=n,metadata.*=o,metadata=*'
    mapping = parse_mapping([text])
    assert str(mapping) == text
    assert parse_mapping([str(mapping)]) == mapping


def test_options_go_before_what_a_file_says() -> None:
    base = parse_mapping(["custom_id=id,x=y,metadata=topic"])
    assert str(parse_mapping(["x=z"], base)) == "custom_id=id,x=z,metadata=topic"
    entries = parse_mapping(["metadata.*=more"], base)
    assert str(entries) == "custom_id=id,x=y,metadata=topic,metadata.*=more"
    assert str(parse_mapping(["x=z"], entries)).endswith("metadata.*=more")


def test_json_within_a_text_is_read_strictly_and_keeps_large_numbers() -> None:
    mapping = parse_mapping(["custom_id=run.id,x=run.x"])
    assert mapping.case({"run": '{"id": 123456789012345678901, "x": 1}'}, 1) == {
        "custom_id": "123456789012345678901",
        "inputs": {"x": 1},
    }
    for text in ('{"id": 1, "x": 1, "x": 2}', '{"id": 1, "x": NaN}', '{"id": 1, "x": "\udc80"}'):
        assert mapping.case({"run": text}, 1) == {"inputs": {}}
