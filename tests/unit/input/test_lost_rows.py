"""Rows that a mapping makes equal although they differ are told with their columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from support.recognised import ids
from weighbridge.settings import Settings
from weighbridge_producer.input.lost_rows import NOTHING_LOST, LostRows, lost_rows
from weighbridge_producer.input.mapping.mapping_text import parse_mapping
from weighbridge_producer.input.sampling import Sample
from weighbridge_producer.input.source import Source

if TYPE_CHECKING:
    from pathlib import Path

MAPPING = "custom_id=id,agent_response=output,expected_output=gold"
OWN = "id,trial,output,gold\nq1,1,4,4\nq1,2,4,4\nq1,2,4,4\nq1,3,4,4\nq2,1,6,5\n"


def test_rows_of_a_mapping_of_ones_own_keep_their_ids_and_those_that_are_lost_are_told(
    tmp_path: Path,
) -> None:
    file = tmp_path / "own.csv"
    file.write_text(OWN)
    source = Source(file, Settings(), parse_mapping([MAPPING]))
    assert ids(source) == ["q1", "q1", "q1", "q1", "q2"]
    lost = lost_rows(source)
    assert lost == LostRows(2, "q1", "line 3", ("trial",), "{id}/{trial}")
    assert "2 rows were left out that the mapping makes equal" in lost.message


def test_of_a_parquet_file_columns_are_compared_that_the_mapping_does_not_read(
    tmp_path: Path,
) -> None:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rows = [{"id": "q1", "trial": trial, "output": "4", "gold": "4"} for trial in (1, 2, 2)]
    file = tmp_path / "own.parquet"
    pq.write_table(pa.Table.from_pylist(rows), file)
    lost = lost_rows(Source(file, Settings(), parse_mapping([MAPPING])))
    assert (lost.count, lost.columns) == (1, ("trial",))


@pytest.mark.parametrize("mapping", [f"{MAPPING},metadata=*", f"{MAPPING},metadata=trial"])
def test_nothing_is_lost_of_rows_whose_columns_are_all_mapped(mapping: str, tmp_path: Path) -> None:
    file = tmp_path / "own.csv"
    file.write_text(OWN)
    assert lost_rows(Source(file, Settings(), parse_mapping([mapping]))) == NOTHING_LOST


def test_of_a_sample_only_its_own_rows_can_be_lost(tmp_path: Path) -> None:
    file = tmp_path / "own.csv"
    file.write_text(OWN)
    sample = Sample.parse("1")
    source = Source(file, Settings(), parse_mapping([MAPPING]))
    source.sample = sample.bounded(source)
    [chosen] = set(ids(source))
    assert lost_rows(source).count == (2 if chosen == "q1" else 0)


@pytest.mark.parametrize("custom_id", ["", "a\x01", "a" * 257])
def test_rows_that_are_refused_for_their_ids_are_not_lost(custom_id: str, tmp_path: Path) -> None:
    file = tmp_path / "own.csv"
    refused = "".join(f"{custom_id},{trial},4,4\n" for trial in (1, 2, 3))
    file.write_text(f"{OWN}{refused}")
    assert lost_rows(Source(file, Settings(), parse_mapping([MAPPING]))).count == 2
