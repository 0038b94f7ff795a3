"""Baselines: a stored one compares like its source, and other files are not accepted as baselines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import zstandard

from support.result_lines import case, graded
from weighbridge.errors import InputError
from weighbridge.settings import Settings
from weighbridge_producer.comparison.baselines import (
    delete_baseline,
    has_baseline,
    list_baselines,
    run_of_baseline,
    save_baseline,
)
from weighbridge_producer.comparison.compare import compare_runs
from weighbridge_producer.comparison.pairs import Group
from weighbridge_producer.comparison.runs import run_of_lines
from weighbridge_producer.gating.fields import parse_field

if TYPE_CHECKING:
    from pathlib import Path

SETTINGS = Settings()
BEFORE = [
    case(
        f"q{n}",
        "Lisbon",
        metadata={"topic": f"t{n % 3}", "tags": ["x", f"y{n % 2}"], "v1.5": n % 2},
    )
    for n in range(30)
]
AFTER = [case(f"q{n}", "Porto" if n % 2 else "Lisbon") for n in range(30)]


def save(folder: Path, name: str = "main", rows: list[bytes] = BEFORE):
    return save_baseline(folder, name, run_of_lines("before", graded(rows)))


def test_a_baseline_compares_as_the_results_that_it_was_made_of(tmp_path: Path) -> None:
    kept = save(tmp_path, rows=[*BEFORE, b"nonsense"])
    assert (kept.results, kept.unnamed) == (31, 1)
    by = tuple(map(parse_field, ("metadata.topic", "metadata.tags.*", "metadata.v1.5")))
    told = [
        compare_runs([run, run_of_lines("after", graded(AFTER))], by=by)[0].as_dict()
        for run in (
            run_of_lines("main", graded([*BEFORE, b"nonsense"])),
            run_of_baseline(tmp_path, "main", SETTINGS),
        )
    ]
    assert told[0] == told[1]
    assert told[0]["groups"]["regressed"] == 15
    values = [(each["field"], each["value"]) for each in told[0]["labels"][0]["slices"]]
    assert {("metadata.tags.*", "x"), ("metadata.tags.*", "y1"), ("metadata.v1.5", "1")} <= {
        *values
    }


def test_a_name_has_the_results_that_were_set_last(tmp_path: Path) -> None:
    save(tmp_path)
    save(tmp_path, rows=BEFORE[:3])
    assert [kept.results for kept in list_baselines(tmp_path, SETTINGS)] == [3]
    assert [path.name for path in tmp_path.iterdir()] == ["main.baseline.zst"]


def test_nothing_is_left_of_a_baseline_whose_results_cannot_be_read(tmp_path: Path) -> None:
    save(tmp_path)
    with pytest.raises(InputError, match="not a result line"):
        save_baseline(tmp_path, "main", run_of_lines("before", [*graded(BEFORE[:2]), b"{}"]))
    assert [kept.results for kept in list_baselines(tmp_path, SETTINGS)] == [30]
    assert [path.name for path in tmp_path.iterdir()] == ["main.baseline.zst"]


def test_a_baseline_that_is_deleted_is_gone(tmp_path: Path) -> None:
    save(tmp_path)
    delete_baseline(tmp_path, "main")
    assert not has_baseline(tmp_path, "main")
    with pytest.raises(InputError, match="there is no baseline 'main'"):
        delete_baseline(tmp_path, "main")


@pytest.mark.parametrize("name", ["", "../main", "a/b", ".hidden", "wb_67000000", "a" * 101, "a\n"])
def test_what_is_no_name_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be the name of a baseline"):
        save(tmp_path, name)
    assert not has_baseline(tmp_path, name)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "is empty"),
        (b"nonsense\n", "is not a baseline"),
        (zstandard.compress(b"{}\n"), "is not a baseline"),
        (
            b'{"baseline":9,"name":"main","source":"x","created_at":0,"results":1}\n',
            "of another release",
        ),
        (
            b'{"baseline":2,"name":"main","source":"x","created_at":0,"results":1}\n[1]\n',
            "line 2 .* is damaged",
        ),
    ],
)
def test_a_file_that_is_no_baseline_is_refused(content: bytes, why: str, tmp_path: Path) -> None:
    (tmp_path / "main.baseline.zst").write_bytes(content)
    with pytest.raises(InputError, match=why):
        list(run_of_baseline(tmp_path, "main", SETTINGS).entries())


def test_a_baseline_that_was_cut_short_is_refused(tmp_path: Path) -> None:
    save(tmp_path)
    [path] = tmp_path.iterdir()
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(InputError, match="is damaged"):
        list(run_of_baseline(tmp_path, "main", SETTINGS).entries())


def test_a_baseline_keeps_the_metadata_of_changes_but_no_answers(tmp_path: Path) -> None:
    save(tmp_path)
    runs = [run_of_baseline(tmp_path, "main", SETTINGS), run_of_lines("after", graded([]))]
    [found] = compare_runs(runs, by=(parse_field("metadata.topic"),), in_full=True)
    gone = found.examples(Group.GONE)[0]
    assert gone.fields.keys() == {"metadata.topic", "metadata.tags", "metadata.v1.5"}
    assert gone.before is not None
    assert gone.before.observed is None
