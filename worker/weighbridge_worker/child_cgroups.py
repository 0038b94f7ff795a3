"""A cgroup for each child, inside one that was delegated to the worker: the kernel itself ends a child beyond it.

Both versions of cgroups: https://docs.kernel.org/admin-guide/cgroup-v2.html and .../cgroup-v1/memory.html.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from weighbridge.errors import InvalidSettingError

if TYPE_CHECKING:
    from pathlib import Path

_NAME = "weighbridge-{pid}"
_KILLED = re.compile(r"^oom_kill (\d+)$", re.MULTILINE)


class _Files(NamedTuple):
    """What one version of cgroups calls them."""

    memory: str  #: may be used
    swap: str  #: may be used besides, or with memory
    events: str  #: how often the kernel has ended a process


_VERSION_1 = _Files("memory.limit_in_bytes", "memory.memsw.limit_in_bytes", "memory.oom_control")
_VERSION_2 = _Files("memory.max", "memory.swap.max", "memory.events")


class ChildCgroups:
    """The cgroups of one worker's children; without a delegated one there are none, and nothing is done."""

    def __init__(self, parent: Path | None, limit_bytes: int) -> None:
        """Take the delegated cgroup's folder; raises InvalidSettingError where memory cannot be limited in it."""
        self._parent = parent
        self.limit_bytes = limit_bytes
        self._files = _VERSION_1
        if parent is None:
            return
        try:
            if (parent / "cgroup.controllers").exists():
                self._files = _VERSION_2
                (parent / "cgroup.subtree_control").write_text("+memory")
            elif not (parent / _VERSION_1.memory).exists():
                raise FileNotFoundError(2, "no memory can be limited there")
            self._remove_abandoned(parent)
            (probe := self._of(parent, os.getpid())).mkdir(exist_ok=True)
            probe.rmdir()
        except OSError as error:
            raise InvalidSettingError(
                f"WEIGHBRIDGE_CHILD_CGROUP: {parent}: {error.strerror}",
                "name a cgroup with the memory controller that this user may write to, or unset it",
            ) from None

    def enter(self) -> None:
        """Put this process, a child that has just begun, in a cgroup of its own."""
        if self._parent is None:
            return
        cgroup = self._of(self._parent, os.getpid())
        cgroup.mkdir()
        (cgroup / self._files.memory).write_text(str(self.limit_bytes))
        with suppress(OSError):  # without swap there is no such file
            swap = 0 if self._files is _VERSION_2 else self.limit_bytes
            (cgroup / self._files.swap).write_text(str(swap))
        (cgroup / "cgroup.procs").write_text("0")

    def leave(self, pid: int) -> bool:
        """Remove a dead child's cgroup, and say whether the kernel had ended that child for its memory."""
        if self._parent is None:
            return False
        cgroup, killed = self._of(self._parent, pid), False
        with suppress(OSError):  # it is gone already, or never was
            counted = _KILLED.search((cgroup / self._files.events).read_text())
            killed = counted is not None and counted[1] != "0"
            cgroup.rmdir()
        return killed

    def _of(self, parent: Path, pid: int) -> Path:
        return parent / _NAME.format(pid=pid)

    def _remove_abandoned(self, parent: Path) -> None:
        """Remove those of workers that were killed; one in which a process lives cannot be removed."""
        for cgroup in parent.glob(_NAME.format(pid="*")):
            with suppress(OSError):
                cgroup.rmdir()
