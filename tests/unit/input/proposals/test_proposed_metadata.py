"""The ids and the metadata that are proposed for rows of several models and of nested objects."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from weighbridge.jobs.grader_spec import GraderSpec
from weighbridge_producer.input.first_rows import SeenRows
from weighbridge_producer.input.proposals.mapping_proposals import propose
from weighbridge_producer.pages.column_pickers import pickers_of

NEEDED = ("agent_response", "expected_output")
ANSWERS = {"output": "a", "gold": "a"}


@pytest.mark.parametrize(
    ("variant", "values", "custom_id"),
    [
        ("model", ("gpt-4o", "claude"), "{id}/{model}"),
        ("seed", (1, 2), "{id}/{seed}"),
        ("epoch", (0, 1), "{id}/{epoch}"),
        ("model", ("m", "m"), "@row"),
        ("topic", ("x", "y"), "@row"),
    ],
)
def test_ids_that_repeat_for_each_model_are_proposed_together_with_it(
    variant: str, values: tuple[Any, Any], custom_id: str
) -> None:
    rows = [{"id": each, variant: value} | ANSWERS for value in values for each in (7, 3)]
    found = propose(rows, NEEDED)
    assert found.mapping
    assert found.text.startswith(f"custom_id={custom_id},agent_response=output,")
    assert found.text.endswith(f",metadata={variant}")  # results can be grouped by it
    ids = {found.mapping.case(row, number)["custom_id"] for number, row in enumerate(rows)}
    assert len(ids) == len(rows)


@pytest.mark.parametrize(
    ("columns", "custom_id"),
    [
        ({"task": "tu", "trial": (1, 2)}, "{task}/{trial}"),
        ({"trial": (1, 2), "Problem": (7, 3)}, "{Problem}/{trial}"),
        ({"task": "tu", "model": "mn", "attempt": (1, 2)}, "{task}/{model}/{attempt}"),
        ({"task": "tu", "model": "mn"}, "@row"),
        ({"task": ("t" * 65, "u"), "trial": (1, 2)}, "@row"),
        ({"topic": "tu", "trial": (1, 2)}, "@row"),
    ],
)
def test_repeats_of_an_item_without_an_id_are_proposed_with_what_counts_them(
    columns: dict[str, Any], custom_id: str
) -> None:
    rows = [
        dict(zip(columns, values, strict=True)) | ANSWERS for values in product(*columns.values())
    ]
    found = propose(rows, NEEDED)
    assert found.fields["custom_id"] == custom_id
    assert found.mapping
    assert len({found.mapping.case(row, n)["custom_id"] for n, row in enumerate(rows)}) == len(rows)


@pytest.mark.parametrize("order", [1, -1])
def test_repeats_can_be_grouped_by_what_is_before_the_last_slash_of_an_id_and_by_each_part(
    order: int,
) -> None:
    rows = [
        dict([("question_id", each), ("model", model), ("trial", trial)][::order]) | ANSWERS
        for model in "mn"
        for trial in (1, 2)
        for each in ("q1", "q2")
    ]
    found = propose(rows, NEEDED)
    assert found.mapping
    cases = [found.mapping.case(row, 1) for row in rows]
    assert cases[0]["custom_id"] == "q1/m/1"
    by_slash = {case["custom_id"].rpartition("/")[0] for case in cases}
    assert by_slash == {"q1/m", "q2/m", "q1/n", "q2/n"}
    assert cases[0]["metadata"] == {"question_id": "q1", "model": "m", "trial": 1}


def test_parts_of_an_id_come_before_other_metadata() -> None:
    rows = [
        {f"topic_{each}": "a" for each in range(6)} | {"id": item, "model": model} | ANSWERS
        for model in "mn"
        for item in (7, 3)
    ]
    metadata = "metadata=id,metadata=model,metadata=topic_0,metadata=topic_1,metadata=topic_2,metadata=topic_3"
    assert propose(rows, NEEDED).text.endswith(f"expected_output=gold,{metadata}")


def test_metadata_that_vary_come_before_constants_and_are_found_within_metadata() -> None:
    rows: list[dict[str, Any]] = [
        {
            "id": f"r{number}",
            "datasetItem": {
                "status": "ACTIVE",
                **{f"constant_{each}": "c" for each in range(6)},
                "metadata": {"topic": "ab"[number % 2], "source": {"kind": "xy"[number % 2]}},
            },
        }
        | ANSWERS
        for number in range(4)
    ]
    found = propose(rows, NEEDED).text
    assert "metadata=datasetItem.metadata.topic" in found
    assert "metadata=datasetItem.metadata.source.kind" in found


def test_the_page_offers_an_id_of_two_columns_as_one_choice() -> None:
    rows = [{"id": each, "model": model} | ANSWERS for model in ("m", "n") for each in (7, 3)]
    seen = SeenRows("a.jsonl", None, rows, proposal=propose(rows, NEEDED))
    pickers = pickers_of(seen, [GraderSpec("string-match")], None)
    assert pickers.pickers[0].chosen == ("{id}/{model}",)
    assert "{id}/{model}" in pickers.pickers[0].columns
    assert pickers.samples["{id}/{model}"] == "7/m"


@pytest.mark.parametrize("variant", ["prompt_version", "language", "lang", "filter", "temperature", "repetition", "repetition_number", "run", "datasetRunName"])  # fmt: skip
def test_ids_that_repeat_are_proposed_with_any_name_of_what_differs(variant: str) -> None:
    rows = [{"id": each, variant: value} | ANSWERS for value in (0.5, 1.0) for each in (7, 3)]
    assert propose(rows, NEEDED).fields["custom_id"] == f"{{id}}/{{{variant}}}"


def test_as_few_variants_as_make_an_id_unique_are_proposed_with_it() -> None:
    rows = [
        {"model": model, "seed": 1, "language": language, "version": "v", "id": each} | ANSWERS
        for model in "mn"
        for language in ("de", "fr")
        for each in (7, 3)
    ]
    found = propose(rows, NEEDED)
    assert found.fields["custom_id"] == "{id}/{model}/{language}"
    assert found.mapping
    assert len({found.mapping.case(row, 1)["custom_id"] for row in rows}) == len(rows)


@pytest.mark.parametrize(
    ("columns", "custom_id"),
    [
        (("id", "datasetRunName", "datasetItemId"), "{datasetItemId}/{datasetRunName}"),
        (("trace_id", "repetition_number", "example_id"), "{example_id}/{repetition_number}"),
        (("custom_id", "model", "task_id"), "custom_id"),
        (("id", "topic", "task_id"), "id"),
        (("id", "model", "doc_id"), "id"),
    ],
)
def test_the_id_of_an_item_with_its_run_comes_before_the_id_of_a_row(
    columns: tuple[str, str, str], custom_id: str
) -> None:
    rows = [
        dict(zip(columns, (f"t{run}{item}", run, item), strict=True)) | ANSWERS
        for run in ("r1", "r2")
        for item in ("i1", "i2")
    ]
    assert propose(rows, NEEDED).fields["custom_id"] == custom_id


@pytest.mark.parametrize(
    ("name", "values", "why"),
    [
        ("item_id", [1, 1, 2], "repeats, such as '1'"),
        ("sampleId", ["a", "", ""], "is empty in some rows"),
        ("question_id", ["a", "b", None], "is empty in some rows"),
        ("id", [1.5, 2.5, 3.5], "has values that are not ids"),
        ("problem_id", ["p", "p", "q"], "repeats, such as 'p'"),
        ("case no", ["1,23E+05", "1,23E+05", "1,24E+05"], "repeats, such as '1,23E+05'"),
        ("Nr.", ["7", "7", "8"], "repeats, such as '7'"),
        ("Frage-Nr.", ["F-1", "F-2", "F-2"], "repeats, such as 'F-2'"),
        ("Ticketnummer", ["7", "8", None], "is empty in some rows"),
    ],
)
def test_a_column_of_ids_that_cannot_identify_rows_is_kept_and_said(
    name: str, values: list[Any], why: str
) -> None:
    rows = [{"topic": "t", name: value} | ANSWERS for value in values]
    found = propose(rows, NEEDED)
    assert found.text.endswith(
        f"custom_id=@row,agent_response=output,expected_output=gold,metadata={name},metadata=topic"
    )
    assert found.caution == (
        f"custom_id: '{name}' {why}, so rows are numbered; `weighbridge compare` then pairs rows by their position"
    )


@pytest.mark.parametrize("name", ["name", "user_id", "session_id", "topic"])
def test_columns_that_identify_no_items_are_not_missed_as_ids(name: str) -> None:
    found = propose([{name: "a"} | ANSWERS] * 2, NEEDED)
    assert found.fields["custom_id"] == "@row"
    assert not found.caution


@pytest.mark.parametrize(
    ("name", "values"),
    [("model}", ("m", "n")), ("{model", ("m", "n")), ("prompt", ("a" * 65, "b")), ("prompt", ("a\nb", "c"))],
)  # fmt: skip
def test_what_a_template_cannot_name_or_is_no_short_text_makes_no_id(
    name: str, values: tuple[str, str]
) -> None:
    rows = [{"id": each, name: value} | ANSWERS for value in values for each in (7, 3)]
    assert propose(rows, NEEDED).text.startswith("custom_id=@row,")


def test_columns_behind_an_object_of_many_entries_are_proposed() -> None:
    many = {f"k{number}": "x" for number in range(1_000)}
    found = propose([{"id": "a", "choices": many, "output": "b", "gold": "b"}] * 2, NEEDED)
    assert found.fields["agent_response"] == "output"
    assert found.fields["expected_output"] == "gold"


def test_a_column_with_an_endless_name_is_not_looked_at() -> None:
    rows = [{"id": f"q{each}", "k" * 3_000_000: "a"} | ANSWERS for each in range(3)]
    found = propose(rows, NEEDED)
    assert found.text == "custom_id=id,agent_response=output,expected_output=gold"
    assert found.columns == ("id", "output", "gold")
