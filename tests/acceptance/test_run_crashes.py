"""`weighbridge run` after a crash: success is reported only with every line, each once."""

from __future__ import annotations

import json
import shutil
from contextlib import suppress
from typing import TYPE_CHECKING

import psutil

from support.unhurried import graded_here, sorted_lines
from support.waiting import eventually

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

    from support.cli import Cli, Ended


def saved_bytes(cli: Cli) -> int:
    """Return how many bytes of results the last checkpoint of the only run covers; 0 before the first."""
    states = [json.loads(path.read_bytes()) for path in cli.state.glob("*/run.json")]
    return max((int(state["collected"]["written_bytes"]) for state in states), default=0)


def folder_of(cli: Cli) -> Path:
    """Return the folder of the only run there is."""
    (path,) = cli.state.glob("*/run.json")
    return path.parent


def begun(cli: Cli, *arguments: object) -> subprocess.Popen[bytes]:
    """Start a run and return it once it has saved first results."""
    run = cli.fork("run", *arguments)
    eventually(lambda: run.poll() is not None or saved_bytes(cli), 30, "the first results")
    assert run.poll() is None, run.stderr and run.stderr.read()
    return run


def suspended(cli: Cli) -> list[psutil.Process]:
    """Stop the run, its server and its workers where they are, and return them."""
    ours = cli.processes()
    found = list({*ours, *(child for each in ours for child in each.children(recursive=True))})
    for process in found:
        process.suspend()
    return found


def kill_everything(cli: Cli, run: subprocess.Popen[bytes]) -> None:
    """Kill the run, its server and its workers, as the end of the machine would."""
    found = suspended(cli)  # so that none acts on another's death
    for process in found:
        with suppress(psutil.NoSuchProcess):  # it ended with its parent
            process.kill()
    run.communicate(timeout=20)
    psutil.wait_procs(found, 10)
    cli.await_silence(10)


def assert_finished_with_every_line(cli: Cli, cases: Path) -> Ended:
    """Assert that the same command completes with every line once and leaves no files; return its result."""
    ended = cli("run", cases.name, "-o", "out.jsonl")
    assert ended.status == 100, ended.err
    assert sorted_lines(cli.folder / "out.jsonl") == graded_here(cases)
    cli.await_silence()
    assert list(cli.state.rglob("*")) == []
    assert list(cli.folder.glob(".weighbridge-*")) == []
    return ended


def test_an_older_state_file_costs_no_line_and_doubles_none(cli: Cli, many: Path) -> None:
    run = begun(cli, many.name, "-o", "out.jsonl")
    older = (folder_of(cli) / "run.json").read_bytes()
    # A checkpoint's chunks are freed after it is saved and before the next one is.
    for _ in range(2):
        size = saved_bytes(cli)
        eventually(lambda: run.poll() is not None or saved_bytes(cli) > size, 30, "more results")  # noqa: B023
    assert run.poll() is None, "the run ended too early"
    kill_everything(cli, run)
    (folder_of(cli) / "run.json").write_bytes(older)
    assert "resumed" not in assert_finished_with_every_line(cli, many).out


def test_a_server_that_lost_its_last_writes_costs_no_line_and_doubles_none(
    cli: Cli, many: Path
) -> None:
    """The lost lines are submitted and graded again, in other chunks than before."""
    run = begun(cli, many.name, "-o", "out.jsonl")
    older = cli.folder / "older-server"
    server = folder_of(cli) / "server"
    processes = suspended(cli)
    shutil.copytree(server / "appendonlydir", older)
    size = saved_bytes(cli)
    for process in processes:
        process.resume()
    eventually(lambda: run.poll() is not None or saved_bytes(cli) > 2 * size, 30, "more results")
    assert run.poll() is None, "the run ended too early"
    kill_everything(cli, run)
    shutil.rmtree(server / "appendonlydir")
    shutil.copytree(older, server / "appendonlydir")
    cli.environment["WEIGHBRIDGE_CHUNK_LIMIT_JOBS"] = "17"
    assert "resumed" in assert_finished_with_every_line(cli, many).out
