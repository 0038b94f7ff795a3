"""Cgroups of worker children in one that was delegated; where none can be made, these tests skip."""

from __future__ import annotations

import os
import signal
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

from support.cases import assert_graded_right, hazard_case, results_by_id, true_false_cases
from support.waiting import eventually
from weighbridge.errors import InvalidSettingError
from weighbridge_producer import Client
from weighbridge_worker.child_cgroups import ChildCgroups

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.workers import StartWorker
    from weighbridge.embedded.server import EmbeddedServer

MIB = 1 << 20


def own_cgroup() -> Path | None:
    """Return the folder of the cgroup in which this process's memory is counted."""
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if "memory" in controllers.split(","):
            return Path("/sys/fs/cgroup/memory") / path.lstrip("/")
        if not controllers and Path("/sys/fs/cgroup/cgroup.controllers").exists():
            return Path("/sys/fs/cgroup") / path.lstrip("/")
    return None


@pytest.fixture
def delegated() -> Iterator[Path]:
    """A cgroup that the worker may fill."""
    if not Path("/proc/self/cgroup").exists() or (own := own_cgroup()) is None:
        pytest.skip("this system has no cgroups with memory")
    folder = own / f"tests-{os.getpid()}"
    try:
        folder.mkdir()
        ChildCgroups(folder, MIB)
    except (OSError, InvalidSettingError) as error:
        pytest.skip(f"no cgroup can be made here: {error}")
    yield folder
    for inner in [*folder.glob("weighbridge-*"), folder]:
        eventually(lambda inner=inner: remove(inner), 10, f"the end of all in {inner}")


def remove(cgroup: Path) -> bool:
    try:
        cgroup.rmdir()
    except OSError:
        return not cgroup.exists()
    return True


def hold_in(cgroups: ChildCgroups, size: int) -> tuple[int, int]:
    """Return the pid and exit status of a process that enters a cgroup and allocates `size` bytes there."""

    def hold() -> None:
        cgroups.enter()
        assert b"\x01" * size

    process = get_context("fork").Process(target=hold)
    process.start()
    process.join(30)
    assert process.pid is not None
    assert process.exitcode is not None
    return process.pid, process.exitcode


def test_the_kernel_ends_a_process_beyond_its_cgroup_and_this_can_be_reported(
    delegated: Path,
) -> None:
    cgroups = ChildCgroups(delegated, 64 * MIB)
    modest, status = hold_in(cgroups, 16 * MIB)
    assert status == 0
    assert not cgroups.leave(modest)
    greedy, status = hold_in(cgroups, 256 * MIB)
    assert status == -signal.SIGKILL
    assert cgroups.leave(greedy)
    assert not list(delegated.glob("weighbridge-*"))
    assert not cgroups.leave(greedy)


def test_what_a_killed_worker_left_is_removed_by_the_next(delegated: Path) -> None:
    abandoned = delegated / "weighbridge-999999999"
    abandoned.mkdir()
    ChildCgroups(delegated, MIB)
    assert not abandoned.exists()


def test_a_folder_that_is_no_cgroup_is_refused_with_what_would_work(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "missing"):
        with pytest.raises(InvalidSettingError, match="WEIGHBRIDGE_CHILD_CGROUP") as refused:
            ChildCgroups(folder, MIB)
        assert "memory controller" in refused.value.hint


def test_children_grade_in_cgroups_of_their_own_and_one_that_fills_it_errors_its_job_at_once(
    own_server: EmbeddedServer, start_worker: StartWorker, delegated: Path
) -> None:
    worker = start_worker(
        own_server.url,
        child_cgroup=delegated,
        child_memory_limit_bytes=48 * MIB,
    )
    for child in worker.await_children(2):
        inside = delegated / f"weighbridge-{child.pid}" / "cgroup.procs"
        eventually(
            lambda inside=inside, pid=child.pid: is_in(inside, pid), 10, "the child's cgroup"
        )
    with Client(own_server.url) as client:
        # First, because jobs that start between two looks at the memory could have used it too.
        batch = client.submit([hazard_case("hog", "fills-memory-natively"), *true_false_cases(50)])
        batch.wait(60)
        results = results_by_id(batch)
    assert results["hog"]["error"]["code"] == "OUT_OF_MEMORY"
    assert_graded_right({key: row for key, row in results.items() if key != "hog"}, 50)
    assert worker.log.count("a child died by") == 1
    worker.ask_to_stop()
    assert worker.await_end() == 0
    assert not list(delegated.glob("weighbridge-*"))


def is_in(procs: Path, pid: int) -> bool:
    return psutil.pid_exists(pid) and procs.exists() and str(pid) in procs.read_text().split()
