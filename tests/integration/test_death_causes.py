"""What the parent can find out about a child without progress, with real processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from support.waiting import eventually
from weighbridge_worker.parent.death_causes import (
    Activity,
    activity_of,
    external_cause_of,
    is_starved,
    stop_cause_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")


@pytest.fixture
def sleeper() -> Iterator[int]:
    with subprocess.Popen(["sleep", "60"]) as process:
        yield process.pid
        process.kill()


def state_of(pid: int) -> str:
    activity = activity_of(pid)
    assert activity
    return activity.state


def test_a_process_that_sleeps_by_its_own_doing_has_no_excuse(sleeper: int) -> None:
    eventually(lambda: state_of(sleeper) == "S", 10)
    activity = activity_of(sleeper)
    assert stop_cause_of(activity) == ""
    assert not is_starved(activity, 0.0, 10.0)


def test_a_process_that_was_stopped_has_one(sleeper: int) -> None:
    os.kill(sleeper, signal.SIGSTOP)
    eventually(lambda: state_of(sleeper) == "T", 10)
    assert stop_cause_of(activity_of(sleeper)) == "its process was stopped"


def test_the_processor_time_of_a_process_is_seen() -> None:
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as busy:
        try:
            eventually(lambda: (a := activity_of(busy.pid)) and a.cpu_seconds > 0.3, 30)
        finally:
            busy.kill()
    assert activity_of(busy.pid) is None


def test_a_process_that_would_run_and_hardly_got_a_processor_is_starved() -> None:
    assert is_starved(Activity("R", 5.5), cpu_before=4.0, seconds=10.0)
    assert not is_starved(Activity("R", 6.5), cpu_before=4.0, seconds=10.0)


@pytest.mark.parametrize(
    ("how", "is_ending", "external_cause"),
    [
        ("signal 15 (SIGTERM)", False, "signal 15 (SIGTERM) was sent to it"),
        ("signal 1 (SIGHUP)", False, "signal 1 (SIGHUP) was sent to it"),
        ("signal 9 (SIGKILL)", True, "its worker is ending"),
        ("signal 9 (SIGKILL)", False, ""),
        ("signal 11 (SIGSEGV)", False, ""),
        ("exitcode 3", False, ""),
    ],
)
def test_ends_with_an_external_cause_count_against_no_job(
    how: str, is_ending: bool, external_cause: str
) -> None:
    assert external_cause_of(how, is_ending=is_ending) == external_cause
