"""Ending a child, with real processes: nothing but a running child of this process is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

from weighbridge_worker.parent.child_end import end_of, kill_child


def test_a_running_child_is_killed() -> None:
    with subprocess.Popen(["sleep", "60"]) as child:
        kill_child(child.pid)
        assert child.wait() == -signal.SIGKILL


def test_a_child_that_has_ended_is_left_to_be_reaped() -> None:
    with subprocess.Popen(["true"]) as child:
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        kill_child(child.pid)
        assert end_of(child.pid) == "exitcode 0"


def test_the_pid_of_a_free_slot_does_not_kill_the_group_of_the_worker() -> None:
    script = (
        "from weighbridge_worker.parent.child_end import kill_child; kill_child(0); print('alive')"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, check=False, start_new_session=True
    )
    assert (ended.returncode, ended.stdout) == (0, b"alive\n")


def test_another_process_that_got_the_pid_of_a_dead_child_is_spared() -> None:
    script = "import subprocess; p = subprocess.Popen(['sleep', '60']); print(p.pid, flush=True); p.wait()"
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as other:
        assert other.stdout
        grandchild = int(other.stdout.readline())
        kill_child(grandchild)
        assert other.poll() is None
        os.kill(grandchild, signal.SIGTERM)
        assert other.wait() == 0
