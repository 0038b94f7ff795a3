"""How often the parent reads the memory of a child."""

from __future__ import annotations

import os

import pytest

from weighbridge.memory import PrivateMemory
from weighbridge_worker.child_cgroups import ChildCgroups
from weighbridge_worker.parent.memory_watch import _IDLE_LOOKS, MemoryWatch
from weighbridge_worker.scoreboard import Assignment, Scoreboard

WORK = Assignment("a batch", "a chunk", "a token")


def test_a_child_is_read_at_each_look_while_it_has_work_and_rarely_when_idle(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read, reads = PrivateMemory.read, []

    def counted(memory: PrivateMemory) -> int:
        reads.append(memory)
        return read(memory)

    monkeypatch.setattr(PrivateMemory, "read", counted)
    scoreboard = Scoreboard(1)
    watch = MemoryWatch(scoreboard, 1 << 60, ChildCgroups(None, 1 << 60))
    slot = scoreboard.take(os.getpid())
    slot.note_memory(1)

    def reads_in(looks: int) -> int:
        reads.clear()
        for _ in range(looks):
            watch._check_all()
        return len(reads)

    assert reads_in(1) == 1  # the first, with which all later ones are compared
    assert reads_in(_IDLE_LOOKS * 3) == 3
    slot.enter(WORK)
    assert reads_in(10) == 10
    slot.leave(1)
    assert reads_in(1) == 1  # what the chunk left behind
    assert reads_in(_IDLE_LOOKS) == 1
    slot.enter(WORK)
    slot.begin(0, 0)
    slot.end()
    slot.leave(1)
    assert reads_in(1) == 1  # it has had work since
