"""`weighbridge run` after a crash: success is reported only with every line, each once."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from typing import TYPE_CHECKING

import psutil
import pytest

from support.unhurried import graded_here, sorted_lines
from support.waiting import eventually

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    from support.cli import Cli, Ended


def folder_of(cli: Cli) -> Path:
    """Return the folder of the only run there is."""
    (path,) = cli.state.glob("*/run.json")
    return path.parent


def begun(cli: Cli, *arguments: object) -> subprocess.Popen[bytes]:
    """Start a run and return it once it has saved first results."""
    run = cli.fork("run", *arguments)
    eventually(lambda: run.poll() is not None or cli.saved_bytes(), 30, "the first results")
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
    assert_nothing_kept(cli)
    return ended


def assert_nothing_kept(cli: Cli) -> None:
    """Assert that no process runs, and that nothing is kept of any run."""
    cli.await_silence()
    assert list(cli.state.rglob("*")) == []
    assert list(cli.folder.glob(".weighbridge-*")) == []


def test_an_older_state_file_costs_no_line_and_doubles_none(cli: Cli, many: Path) -> None:
    run = begun(cli, many.name, "-o", "out.jsonl")
    older = (folder_of(cli) / "run.json").read_bytes()
    # A checkpoint's chunks are freed after it is saved and before the next one is.
    for _ in range(2):
        size = cli.saved_bytes()
        eventually(lambda: run.poll() is not None or cli.saved_bytes() > size, 30, "more results")  # noqa: B023
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
    size = cli.saved_bytes()
    for process in processes:
        process.resume()
    eventually(lambda: run.poll() is not None or cli.saved_bytes() > 2 * size, 30, "more results")
    assert run.poll() is None, "the run ended too early"
    kill_everything(cli, run)
    shutil.rmtree(server / "appendonlydir")
    shutil.copytree(older, server / "appendonlydir")
    cli.environment["WEIGHBRIDGE_CHUNK_LIMIT_JOBS"] = "17"
    assert "resumed" in assert_finished_with_every_line(cli, many).out


# A run that does not continue the interrupted one.


def killed(cli: Cli, *arguments: object) -> Path:
    """Kill a run in the middle of its work, and return the folder of its state."""
    run = begun(cli, *arguments)
    kill_everything(cli, run)
    return folder_of(cli)


def test_a_run_that_does_not_continue_an_interrupted_one_of_its_input_says_what_differs(
    cli: Cli, many: Path
) -> None:
    folder = killed(cli, many.name, "-o", "out.jsonl")
    cli.environment["WEIGHBRIDGE_JOB_DEADLINE_SECONDS"] = "9"
    os.utime(many, (1, 1))
    ended = cli("run", many.name, "-o", "new.jsonl")
    why = f"{many} has another size or time; WEIGHBRIDGE_JOB_DEADLINE_SECONDS is 9.0, and was 10.0;"
    why += f" the outputs differ (before: {cli.folder / 'out.jsonl'})"
    assert ended.err.splitlines()[:2] == [
        f"starting at the first line; the interrupted run in {folder} is not continued: {why}",
        f"  to discard it, weighbridge run {many.name} --clean",
    ]
    assert "another interrupted run" not in ended.err
    assert "resumed" not in ended.out
    assert sorted_lines(cli.folder / "new.jsonl") == graded_here(many)
    assert list(cli.state.iterdir()) == [folder]


def change_unnoticed(path: Path) -> None:
    """Change a file, but neither its size nor its time."""
    status, text = path.stat(), path.read_bytes()
    path.write_bytes(text.replace(b'"custom_id"', b'"Custom_id"', 1))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def test_results_of_changed_input_are_not_printed_after_those_of_the_interrupted_run(
    cli: Cli, many: Path
) -> None:
    killed(cli, many.name, "-o", "-")
    change_unnoticed(many)
    ended = cli("run", many.name, "-o", "-")
    assert ended.status == 1
    assert "CHUNK_CONFLICT" in ended.err
    assert "run the same command again: it starts at the first line" in ended.err
    again = cli("run", many.name, "-o", "-")
    assert len(again.out.splitlines()) == len(graded_here(many))
    assert_nothing_kept(cli)


def remove_partial_results(cases: Path) -> None:
    for partial in cases.parent.glob(".weighbridge-*"):
        partial.unlink()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            change_unnoticed,
            [
                "continuing the interrupted run",
                "\nstarting at the first line: many.jsonl has changed since the interrupted run\n",
            ],
        ),
        (
            remove_partial_results,
            ["starting at the first line: the results of the interrupted run, "],
        ),
    ],
)
def test_an_interrupted_run_whose_input_or_results_are_others_now_begins_anew(
    change: Callable[[Path], None], said: list[str], cli: Cli, many: Path
) -> None:
    killed(cli, many.name, "-o", "out.jsonl")
    change(many)
    ended = cli("run", many.name, "-o", "out.jsonl")
    assert all(each in ended.err for each in said)
    assert "resumed" not in ended.out
    assert sorted_lines(cli.folder / "out.jsonl") == graded_here(many)
    assert_nothing_kept(cli)
