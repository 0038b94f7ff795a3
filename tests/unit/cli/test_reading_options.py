"""The options for reading CASES are the same for every command, and each of them is a part of what a source is."""

from __future__ import annotations

import inspect
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import pytest
import typer

from weighbridge.jobs.grader_spec import GraderSpec
from weighbridge.settings import Settings
from weighbridge_producer.cli import grader_profile, run, submit, verify
from weighbridge_producer.cli.reading import source_of
from weighbridge_producer.cli.reading_options import ReadingOptions

if TYPE_CHECKING:
    from pathlib import Path

NAMES = [field.name for field in fields(ReadingOptions)]
SETTINGS = Settings()
MAPS = ["custom_id=id,agent_response=output,expected_output=gold"]
FULL = ReadingOptions(
    maps=["a=b", "c=d"],
    mapping="m.yaml",
    joins=["g=a b.csv"],
    join_keys=["id"],
    skip_without=["gold"],
    sample="5%",
    trace_mapping="t.yaml",
    encoding="cp1252",
    no_header=True,
    header_line=2,
)
#: For each option: the file that is read, the options of one run, and what another run has in their place.
OTHERS: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "maps": ("rows.csv", {"maps": MAPS}, {"maps": [*MAPS, "metadata=topic"]}),
    "mapping": ("rows.csv", {"mapping": "one.yaml"}, {"mapping": "other.yaml"}),
    "joins": (
        "rows.csv",
        {"maps": MAPS, "joins": ["more=rows.csv"], "join_keys": ["id"]},
        {"joins": ["more=more.csv"]},
    ),
    "join_keys": (
        "rows.csv",
        {"maps": MAPS, "joins": ["more=rows.csv"], "join_keys": ["id"]},
        {"join_keys": ["id=topic"]},
    ),
    "skip_without": ("rows.csv", {"maps": MAPS}, {"skip_without": ["expected_output"]}),
    "sample": ("rows.csv", {"maps": MAPS}, {"sample": "50%"}),
    "trace_mapping": ("trace.json", {"trace_mapping": "steps.yaml"}, {"trace_mapping": "run.yaml"}),
    "encoding": ("rows.csv", {"maps": MAPS}, {"encoding": "cp1252"}),
    "no_header": ("rows.csv", {"maps": ["custom_id=@row,agent_response=@row,expected_output:=1"]}, {"no_header": True}),
    "header_line": ("rows.csv", {"maps": MAPS}, {"header_line": 1}),
}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("rows.csv", "more.csv"):
        (tmp_path / name).write_text(f"id,output,gold,topic\n1,{name},x,1\n2,y,x,2\n")
    inputs = "custom_id: id\ninputs: {agent_response: output, expected_output: gold}\n"
    (tmp_path / "one.yaml").write_text(inputs)
    (tmp_path / "other.yaml").write_text(f"{inputs}metadata: [topic]\n")
    (tmp_path / "steps.yaml").write_text("steps: /steps\n")
    (tmp_path / "run.yaml").write_text("steps: /steps\nmodel: /model\n")
    (tmp_path / "trace.json").write_text('{"steps": []}')
    return tmp_path


@pytest.mark.parametrize("option", NAMES)
def test_a_run_with_another_value_of_any_option_does_not_resume_an_interrupted_one(
    option: str, folder: Path
) -> None:
    file, usual, other = OTHERS[option]
    assert set(other) == {option}
    grader = [GraderSpec("loop" if file == "trace.json" else "string-match")]
    first, again, changed = (
        source_of([file], grader, SETTINGS, ReadingOptions(**options)).identity()
        for options in (usual, usual, usual | other)
    )
    assert first == again
    assert first != changed


@pytest.mark.parametrize("command", [run.run, submit.submit, verify.verify, grader_profile.profile])
def test_every_command_that_reads_cases_has_all_options_in_their_order(command: Any) -> None:
    names = list(inspect.signature(command).parameters)
    start = names.index(NAMES[0])
    assert names[start : start + len(NAMES)] == NAMES
    assert "reading" not in names


def test_options_are_written_as_the_arguments_that_give_them() -> None:
    arguments = ["--map", "a=b", "--map", "c=d", "--mapping", "m.yaml", "--join", "g=a b.csv", "--on", "id"]  # fmt: skip
    arguments += ["--skip-without", "gold", "--sample", "5%", "--trace-mapping", "t.yaml", "--encoding", "cp1252", "--no-header"]  # fmt: skip
    assert FULL.as_arguments() == [*arguments, "--header-line", "2"]
    assert ReadingOptions().as_arguments() == []
    assert all(getattr(FULL, name) != getattr(ReadingOptions(), name) for name in NAMES)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"maps": MAPS}, "traces have no rows to map"),
        ({"mapping": "one.yaml"}, "traces have no rows to map"),
        ({"joins": ["more=more.csv"]}, "traces have no rows to join"),
        ({"join_keys": ["id"]}, "traces have no rows to join"),
        ({"no_header": True}, "it is for CSV and TSV"),
        ({"header_line": 2}, "it is for CSV and TSV"),
        ({"encoding": "cp1252"}, "it is for CSV and TSV"),
    ],
)
def test_options_for_rows_are_refused_beside_a_mapping_of_traces(
    options: dict[str, Any], said: str, folder: Path
) -> None:
    reading = ReadingOptions(trace_mapping="steps.yaml", **options)
    with pytest.raises(typer.BadParameter, match=said):
        source_of(["trace.json"], [GraderSpec("loop")], SETTINGS, reading)
