"""The messages of a run's first errors name what is needed to find the lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from weighbridge.errors import Fault
from weighbridge.jobs.result_line import ResultRow
from weighbridge_producer.run.first_errors import SHOWN, first_errors
from weighbridge_producer.submit.id_conflict import ID_CONFLICT

if TYPE_CHECKING:
    from pathlib import Path

HINT = f"\n  {ID_CONFLICT.hint}"
SAME_ID = "an earlier, different line has the same custom_id"


def written(tmp_path: Path, *rows: tuple[int, str | None, Fault]) -> Path:
    path = tmp_path / "results.jsonl"
    lines = [ResultRow.ungraded(fault, line, custom_id=name) for line, name, fault in rows]
    path.write_bytes(b"".join(line.to_bytes() for line in lines))
    return path


def test_a_conflict_names_the_id_and_the_earlier_line_and_its_hint_is_told_once(
    tmp_path: Path,
) -> None:
    other = Fault("MISSING_FIELD", "the inputs lack 'x'", "")
    rows = [(5, "a", ID_CONFLICT), (3, "a", other), (2, "aa", other), (4, "b", ID_CONFLICT)]
    found = first_errors(written(tmp_path, *rows), names_locations=False)
    assert found.messages[2:] == [
        f"line 4: ID_CONFLICT: {SAME_ID} 'b'{HINT}",
        f"line 5: ID_CONFLICT: {SAME_ID} 'a' (line 3)",
    ]


def test_the_earlier_line_is_found_although_its_metadata_names_another_id_in_conflict(
    tmp_path: Path,
) -> None:
    results = written(tmp_path, (4, "a", ID_CONFLICT), (5, "b", ID_CONFLICT))
    other = ResultRow.ungraded(Fault("MISSING_FIELD", "the inputs lack 'x'", ""), 3, custom_id="b")
    with results.open("ab") as file:
        file.write(replace(other, metadata={"custom_id": "a"}).to_bytes())
    assert first_errors(results, names_locations=False).messages[1:] == [
        f"line 4: ID_CONFLICT: {SAME_ID} 'a'{HINT}",
        f"line 5: ID_CONFLICT: {SAME_ID} 'b' (line 3)",
    ]


def test_of_several_files_a_conflict_names_the_id_after_its_place(tmp_path: Path) -> None:
    located = ID_CONFLICT.at("b.csv, line 2")
    found = first_errors(written(tmp_path, (9, "a", located)), names_locations=True)
    assert found.messages == [f"ID_CONFLICT: b.csv, line 2: {SAME_ID} 'a'{HINT}"]


@pytest.mark.parametrize("labels", [1, 2, 30])
def test_a_message_of_one_line_is_counted_for_the_jobs_of_each_label(
    tmp_path: Path, labels: int
) -> None:
    lacking = Fault("MISSING_FIELD", "the inputs lack 'x'", "")
    rows = [(line, str(line), lacking) for line in (3, 9, 4) for _ in range(labels)]
    found = first_errors(written(tmp_path, *rows), names_locations=False)
    assert found.messages == [f"line {line}: {lacking}" for line in (3, 4, 9)]
    assert (found.jobs, found.looked_at, found.lines) == (3 * labels, 3 * labels, 3)


def test_of_more_lines_than_are_told_the_jobs_and_lines_are_counted(tmp_path: Path) -> None:
    lacking = Fault("MISSING_FIELD", "the inputs lack 'x'", "")
    rows = [(line, None, lacking) for line in range(1, 10) for _ in range(2)]
    found = first_errors(written(tmp_path, *rows), names_locations=False)
    assert len(found.messages) == SHOWN
    assert (found.jobs, found.looked_at, found.lines) == (2 * SHOWN, 18, 9)
