"""The identity of a source: an interrupted run is resumed only if everything that decides its lines is the same."""

from __future__ import annotations

import inspect
import json
import os
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import pytest

from weighbridge.settings import Settings
from weighbridge_producer.input.chosen_ids import ChosenIds
from weighbridge_producer.input.files.input_paths import Paths
from weighbridge_producer.input.files.table_form import TableForm
from weighbridge_producer.input.joins import Joins, JoinSpec
from weighbridge_producer.input.mapping.field_mapping import FieldMapping
from weighbridge_producer.input.mapping.row_values import Constant, Path
from weighbridge_producer.input.sampling import Sample
from weighbridge_producer.input.source import Source, fingerprint_of
from weighbridge_producer.input.traces.trace_mapping_file import read_trace_mapping

if TYPE_CHECKING:
    from pathlib import Path as FilePath

SETTINGS = Settings()
MAPPING = FieldMapping(Path("id"), {"agent_response": Path("output")})


class Part:
    """What a built-in mapping has beside its fields."""

    def paths(self) -> tuple[Path, ...]:
        return ()


#: For each field of a mapping, another value than that of MAPPING.
OTHER_FIELDS: dict[str, Any] = {
    "custom_id": Path("name"),
    "inputs": {"agent_response": Constant("output")},
    "metadata": {"topic": Path("topic")},
    "takes_rest": True,
    "entries": Path("extra"),
    "each": Path("attempts"),
    "grader": Path("grader"),
    "rows": "/results",
    "table": TableForm(header_line=2),
    "name": "promptfoo results",
    "error": Part(),
    "change": Part(),
    "others": Part(),
    "skips": ("agent_response",),
}


@pytest.mark.parametrize("field", [field.name for field in fields(FieldMapping) if field.init])
def test_a_mapping_with_another_value_in_any_field_has_another_identity(field: str) -> None:
    changed = replace(MAPPING, **{field: OTHER_FIELDS[field]})
    assert changed.identity() != MAPPING.identity()
    assert replace(MAPPING).identity() == MAPPING.identity()


@pytest.mark.parametrize(
    "form", [TableForm("cp1252"), TableForm(has_header=False), TableForm(header_line=3)]
)
def test_what_is_said_of_a_table_is_a_part_of_the_identity(form: TableForm) -> None:
    assert replace(MAPPING, table=form).identity() != MAPPING.identity()


def folder_of_rows(folder: FilePath) -> FilePath:
    rows = folder / "rows"
    rows.mkdir()
    for name in ("a", "b"):
        (rows / f"{name}.jsonl").write_text('{"id": "1", "output": "x"}\n')
    (folder / "trace.yaml").write_text("steps: /events\n")
    return rows


def changed(option: str, folder: FilePath) -> dict[str, Any]:
    """Return another value of an option of a source."""
    values = {
        "cases": lambda: folder / "rows" / "a.jsonl",
        "settings": lambda: Settings(line_limit_bytes=5000),
        "mapping": lambda: MAPPING,
        "sample": lambda: Sample.parse("5%"),
        "trace_mapping": lambda: read_trace_mapping(folder / "trace.yaml"),
        "joins": lambda: Joins.read(
            [JoinSpec.of("gold", str(folder / "rows" / "a.jsonl"), "id")], SETTINGS
        ),
    }
    return {option: values[option]()}


@pytest.mark.parametrize("option", inspect.signature(Source).parameters)
def test_a_source_with_another_value_of_any_option_has_another_identity(
    option: str, tmp_path: FilePath
) -> None:
    usual = {"cases": folder_of_rows(tmp_path), "settings": SETTINGS}
    identity = Source(**usual).identity()
    assert Source(**(usual | changed(option, tmp_path))).identity() != identity
    assert Source(**usual).identity() == identity


@pytest.mark.parametrize(
    "limit", ["line_limit_bytes", "expansion_limit", "batch_limit_lines", "batch_limit_bytes"]
)
def test_a_source_that_is_read_with_another_limit_has_another_identity(
    limit: str, tmp_path: FilePath
) -> None:
    rows = folder_of_rows(tmp_path)
    other = SETTINGS.model_copy(update={limit: getattr(SETTINGS, limit) + 1})
    assert Source(rows, other).identity() != Source(rows, SETTINGS).identity()


def test_a_source_of_which_only_some_cases_are_read_has_another_identity(
    tmp_path: FilePath,
) -> None:
    sources = [Source(folder_of_rows(tmp_path), SETTINGS)]
    for chosen in (False, True):
        sources.append(Source(tmp_path / "rows", SETTINGS))
        sources[-1].only = ChosenIds([("1", True), ("2", chosen)])
    assert len({str(source.identity()) for source in sources}) == 3


def test_files_that_are_named_in_another_way_have_another_identity(
    tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = folder_of_rows(tmp_path)
    monkeypatch.chdir(tmp_path)
    ways = [[rows], ["rows/a.jsonl", "rows/b.jsonl"], [rows / "a.jsonl", rows / "b.jsonl"]]
    named = [Source(Paths.of(way), SETTINGS) for way in ways]
    assert len({str(source.fingerprint()) for source in named}) == 1
    assert len({str(source.identity()) for source in named}) == 3, "their ids and locations differ"


def test_a_file_that_has_changed_has_another_identity(tmp_path: FilePath) -> None:
    rows = folder_of_rows(tmp_path)
    before = Source(rows, SETTINGS).identity()
    os.utime(rows / "a.jsonl", (1, 1))
    assert Source(rows, SETTINGS).identity() != before


def events(run: FilePath, *commands: str) -> FilePath:
    """Write events of equal sizes and times into the folder of a run, and return the folder."""
    folder = run / "events"
    folder.mkdir(parents=True)
    for number, command in enumerate((*commands, "ls")):
        event = {"id": number, "source": "agent", "action": "run", "args": {"command": command}}
        (folder / f"{number}.json").write_text(json.dumps(event))
        os.utime(folder / f"{number}.json", (number, number))
    return folder


def swapped(one: FilePath, other: FilePath) -> None:
    """Let two files change places, with their times."""
    between = one.with_name("between")
    one.rename(between)
    other.rename(one)
    between.rename(other)


def test_files_that_change_places_within_a_group_or_between_groups_change_the_identity(
    tmp_path: FilePath,
) -> None:
    first = events(tmp_path / "runs" / "a", "cat a", "cat b")
    second = events(tmp_path / "runs" / "b", "cat c", "cat d")
    identities = [Source(tmp_path / "runs", SETTINGS).identity()]
    for other in (first / "1.json", second / "0.json"):
        swapped(first / "0.json", other)
        identities.append(Source(tmp_path / "runs", SETTINGS).identity())
    assert len({str(identity) for identity in identities}) == 3
    assert [path for path, _ in identities[0]["input"]] == [str(first), str(second)]


def test_a_log_beside_a_database_counts_with_a_size_and_a_time_of_its_own(
    tmp_path: FilePath,
) -> None:
    database, log = tmp_path / "agent.db", tmp_path / "agent.db-wal"
    for file, size in ((database, 100), (log, 200)):
        file.write_bytes(b"SQLite format 3\0".ljust(size))
        os.utime(file, (size, size))
    before = fingerprint_of(database)
    for file, size in ((database, 150), (log, 150)):
        file.write_bytes(b"SQLite format 3\0".ljust(size))
        os.utime(file, (size, size))
    os.utime(log, (200, 200))
    assert fingerprint_of(database) != before


def test_an_identity_is_the_same_when_it_is_read_from_the_saved_state(tmp_path: FilePath) -> None:
    rows = folder_of_rows(tmp_path)
    joins = changed("joins", tmp_path)["joins"]
    full = replace(MAPPING, metadata=OTHER_FIELDS["metadata"], error=Part())
    for source in (
        Source(rows, SETTINGS, full, Sample.parse("10"), joins=joins),
        Source(rows, SETTINGS, **changed("trace_mapping", tmp_path)),
    ):
        assert json.loads(json.dumps(source.identity())) == source.identity()
