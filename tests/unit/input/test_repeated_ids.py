"""Several files as one input: ids that repeat get the file's name, and a mapped path is looked for in all of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from weighbridge.errors import MappingError, MappingNeededError
from weighbridge.jobs.grader_spec import GraderSpec
from weighbridge.settings import Settings
from weighbridge_producer.cli.mapping_choice import choose_mapping
from weighbridge_producer.input.files.input_paths import Paths
from weighbridge_producer.input.mapping.mapping_text import parse_mapping
from weighbridge_producer.input.source import Source

if TYPE_CHECKING:
    from collections.abc import Iterable

GRADERS = [GraderSpec("string-match")]
NOTE = "custom_id: ids repeat in several files, so the file's name is part of them"


def folder(path: Path, **files: str) -> Path:
    for name, text in files.items():
        (path / f"{name}.csv").write_text(text)
    return path


def suggested(*paths: Path) -> str:
    """Return the error with the mapping that is suggested for files."""
    with pytest.raises(MappingNeededError) as caught:
        choose_mapping(Paths.of(paths), GRADERS, Settings(), texts=(), saved=None, joins=())
    return caught.value.hint


def cases(paths: Iterable[Path], mapping: str) -> list[dict[str, Any]]:
    source = Source(Paths.of(paths), Settings(), parse_mapping([mapping]))
    return [orjson.loads(line.raw) for line in source]


@pytest.mark.parametrize(
    ("header", "row", "custom_id"),
    [
        ("id,output,gold", "q1,a,a", "{@file}/{id}"),
        ("output,gold", "a,b", "{@file}/{@row}"),
        ("id,model,output,gold", "q1,m1,a,a\nq1,m2,b,b", "{@file}/{id}/{model}"),
    ],
)
def test_ids_that_repeat_in_another_file_are_proposed_with_its_name(
    header: str, row: str, custom_id: str, tmp_path: Path
) -> None:
    text = f"{header}\n{row}\n"
    folder(tmp_path, a=text, b=f"{header}\n", c=text)
    hint = suggested(tmp_path)
    assert f"custom_id={custom_id},agent_response=output,expected_output=gold" in hint
    assert NOTE in hint


@pytest.mark.parametrize(
    ("column", "custom_id", "note"),
    [
        ("model", "{id}/{model}", "custom_id: ids repeat in later rows, so model is part of them"),
        (
            *("flavour", "id"),
            "custom_id: 'q0' repeats in a later row, so ids need another column beside 'id'; these rows differ in flavour",
        ),
    ],
)
def test_ids_that_repeat_far_behind_are_proposed_with_what_tells_the_rows_apart(
    column: str, custom_id: str, note: str, tmp_path: Path
) -> None:
    rows = [f"q{number},{name},a,a\n" for name in ("m1", "m2") for number in range(200)]
    folder(tmp_path, a=f"id,{column},output,gold\n{''.join(rows)}")
    hint = suggested(tmp_path / "a.csv")
    assert f"custom_id={custom_id},agent_response=output,expected_output=gold" in hint
    assert note in hint
    folder(tmp_path, a=f"id,{column},output,gold\n{''.join(rows[:200] * 2)}")
    assert "repeat" not in suggested(tmp_path / "a.csv")


def test_ids_that_differ_from_file_to_file_stay_as_they_are(tmp_path: Path) -> None:
    folder(tmp_path, a="id,output,gold\nq1,a,a\n", b="id,output,gold\nq2,a,a\n")
    assert suggested(tmp_path).endswith("custom_id=id,agent_response=output,expected_output=gold")
    assert suggested(tmp_path / "a.csv").endswith("expected_output=gold")


def test_a_name_with_braces_is_not_put_into_a_template(tmp_path: Path) -> None:
    text = "{id,output,gold\nq1,a,a\n"
    assert "@file" not in suggested(folder(tmp_path, a=text, b=text))


def test_the_name_of_the_file_is_that_within_the_input(tmp_path: Path) -> None:
    text = "id,output\nq1,a\n"
    folder(tmp_path, a=text, b=text)
    (tmp_path / "sub").mkdir()
    folder(tmp_path / "sub", a=text)
    mapping = "custom_id={@file}/{id},x=output,metadata.file=@file"
    found = cases([tmp_path], mapping)
    assert [case["custom_id"] for case in found] == ["a.csv/q1", "b.csv/q1", "sub/a.csv/q1"]
    assert found[2]["metadata"] == {"file": "sub/a.csv"}
    named = cases([tmp_path / "a.csv", tmp_path / "b.csv"], "custom_id=id,x=@file")
    assert [case["inputs"]["x"] for case in named] == [str(tmp_path / name) for name in ("a.csv", "b.csv")]  # fmt: skip


def test_a_column_of_that_name_comes_first(tmp_path: Path) -> None:
    folder(tmp_path, a="@file,output\nq1,a\n")
    assert cases([tmp_path], "custom_id=@file,x=output")[0]["custom_id"] == "q1"


@pytest.mark.parametrize(
    ("rows", "said"), [(1, "no row"), (6000, "none of the first 5,000 rows of each file")]
)
def test_a_path_that_the_first_file_lacks_is_looked_for_in_all_files(
    rows: int, said: str, tmp_path: Path
) -> None:
    text = "id,output\n" + "q1,a\n" * rows
    folder(tmp_path, a=text, b=text)
    mapping = "custom_id=id,agent_response=output,expected_output=gold"
    paths = Paths.of([tmp_path])
    with pytest.raises(MappingError) as caught:
        choose_mapping(paths, GRADERS, Settings(), texts=[mapping], saved=None, joins=())
    assert f"{said} has 'gold', which expected_output is mapped to" in caught.value.message
    (tmp_path / "b.csv").write_text("id,output,gold\nq2,a,a\n")
    assert choose_mapping(paths, GRADERS, Settings(), texts=[mapping], saved=None, joins=())[0]
