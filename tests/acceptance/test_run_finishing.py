"""`weighbridge run` killed between the last steps: the old state is there to be resumed, or the outputs are complete."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING
from zlib import crc32

import orjson
import pytest

from support import killing
from support.cases import hazard_case, write_cases
from support.preloaded import COMMAND_LINE
from support.workers import PLUGINS

if TYPE_CHECKING:
    from support.cli import Cli

LINES = 10


@pytest.mark.parametrize(
    "step",
    [
        pytest.param("open .sorting", id="before-sorting"),
        pytest.param("os.rename .sorting", id="before-the-sorted-file-takes-its-place"),
        pytest.param(f"open {crc32(b'out.csv'):08x}.partial", id="before-the-table-is-written"),
        pytest.param("os.rename out.csv", id="before-the-table-gets-its-name"),
        pytest.param("os.rename out.jsonl", id="before-the-results-get-their-name"),
        pytest.param("os.remove run.json", id="before-the-state-is-removed"),
        pytest.param("shutil.rmtree state", id="before-the-folder-is-removed"),
    ],
)
def test_a_kill_between_the_last_steps_costs_no_line(cli: Cli, tmp_path: Path, step: str) -> None:
    cli.environment |= {"PYTHONPATH": str(PLUGINS), "KILL_AT": step}
    # The first line ends last, so that there is something to put in order.
    cases = [hazard_case(f"c{n}", "sleeps", expected=0 if n else 1) for n in range(LINES)]
    write_cases(tmp_path / "cases.jsonl", cases)
    command = ("run", "cases.jsonl", "--sort", "-o", "out.jsonl", "-o", "out.csv", "--workers", 2)
    cli.main = killing.MAIN
    killed = cli(*command, chunk_limit_jobs=1)
    assert killed.status < 0, killed.err
    cli.main = COMMAND_LINE
    resumable = list(cli.state.glob("*/run.json"))
    assert resumable or outputs_are_complete(tmp_path)

    ended = cli(*command, chunk_limit_jobs=1)
    assert ended.status == 0, ended.err
    assert outputs_are_complete(tmp_path)
    cli.await_silence(10)
    assert list(cli.state.rglob("*")) == []
    assert list(tmp_path.glob(".weighbridge-*")) == []


def outputs_are_complete(folder: Path) -> bool:
    paths = folder / "out.jsonl", folder / "out.csv"
    if not all(map(Path.exists, paths)):
        return False
    with paths[1].open(newline="") as table:
        in_table = [int(row["line"]) for row in csv.DictReader(table)]
    in_results = [orjson.loads(row)["line"] for row in paths[0].read_bytes().splitlines()]
    return in_results == in_table == list(range(1, LINES + 1))
