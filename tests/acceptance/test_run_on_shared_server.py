"""`weighbridge run --redis-url`: a shared server that loses its last writes while the run waits for results."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from support.cases import true_false_cases, write_cases
from support.servers import TcpServer
from support.unhurried import COUNT
from support.waiting import eventually
from weighbridge.grading.line_grader import grade_lines
from weighbridge.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from support.cli import Cli

MANY = 30_000


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """A file with enough cases to interrupt its submission half-way."""
    return write_cases(tmp_path / "many.jsonl", true_false_cases(MANY))


@pytest.fixture
def shared(tmp_path: Path) -> Iterator[TcpServer]:
    """A server that loses no confirmed write unless it is restored from a backup."""
    folder = tmp_path / "server"
    folder.mkdir()
    with TcpServer(folder) as server:
        yield server


def only_batch(store: Store) -> str:
    (batch,) = eventually(store.batches, 30, "the batch")
    return batch


def restored_before_its_end(server: TcpServer, run: subprocess.Popen[bytes], older: Path) -> None:
    """Once the batch is sealed, take the server back to where some of its chunks were missing."""
    store = Store(server.url)
    batch = only_batch(store)
    eventually(lambda: store.position(batch).chunks > 3, 30, "the first chunks")
    server.saved(older)
    chunks = store.position(batch).chunks
    assert not store.state(batch).sealed, "the copy came too late"
    eventually(lambda: store.state(batch).sealed, 60, "the seal")
    assert run.poll() is None
    assert not store.state(batch).status.final, "the restoration comes too late"
    server.restore(older)
    assert store.position(batch).chunks <= chunks
    store.close()


def test_a_run_submits_again_what_a_restored_server_has_lost(
    cli: Cli, shared: TcpServer, large: Path
) -> None:
    run = cli.fork(
        *("run", large.name, "-o", "out.jsonl", "--workers", "1"),
        settings={"redis_url": shared.url},
    )
    restored_before_its_end(shared, run, cli.folder / "older")
    _, said = run.communicate(timeout=120)
    assert run.returncode == 100, said.decode()
    with large.open("rb") as lines:
        expected = sorted(b"".join(grade_lines(lines, ())).splitlines())
    found = sorted((cli.folder / "out.jsonl").read_bytes().splitlines())
    assert len(found) == len(expected)
    assert found == expected
    cli.await_silence(10)
    assert list(cli.state.rglob("*")) == []


def test_a_run_of_a_pipe_says_that_a_restored_server_has_lost_its_batch(
    cli: Cli, shared: TcpServer, large: Path
) -> None:
    with large.open("rb") as source:
        reader = subprocess.Popen(
            [shutil.which("cat") or "cat"], stdin=source, stdout=subprocess.PIPE
        )
    run = cli.fork(
        *("run", "-", "-o", "out.jsonl", "--workers", "1"),
        settings={"redis_url": shared.url},
        stdin=reader.stdout,
    )
    restored_before_its_end(shared, run, cli.folder / "older")
    _, said = run.communicate(timeout=60)
    reader.wait(10)
    assert run.returncode == 1
    assert "BATCH_LOST: Redis has lost the end of batch" in said.decode()
    assert not (cli.folder / "out.jsonl").exists()


def test_a_run_with_fewer_result_lines_than_jobs_is_no_success(
    cli: Cli, shared: TcpServer, many: Path
) -> None:
    run = cli.fork("run", many.name, "-o", "out.jsonl", settings={"redis_url": shared.url})
    store = Store(shared.url)
    batch = only_batch(store)
    eventually(lambda: store.state(batch).sealed, 60, "the seal")
    for count in ("total", "passed"):
        store.redis.hincrby(f"wb:{{{batch}}}:meta", count, 1)
    store.close()
    _, said = run.communicate(timeout=120)
    assert run.returncode == 1
    told = f"RESULTS_INCOMPLETE: {COUNT:,} result lines received for {COUNT + 1:,} jobs of batch"
    assert told in " ".join(said.decode().split())
    assert not (cli.folder / "out.jsonl").exists()
    assert "the finished work is kept in" in said.decode()

    ended = cli("run", many.name, "-o", "out.jsonl", redis_url=shared.url)
    assert ended.status == 100
    assert len((cli.folder / "out.jsonl").read_bytes().splitlines()) == COUNT
