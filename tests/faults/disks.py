"""A disk that is soon full: a small tmpfs where one can be mounted, else a bound on a process's files."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class SmallDisk:
    """A folder with room for so many bytes: `with SmallDisk(path, 1 << 20) as disk`; `disk.how` says how it is made."""

    def __init__(self, folder: Path, size_bytes: int) -> None:
        self.folder = folder
        self._size = size_bytes
        self._mounted = False
        self.how = ""

    def __enter__(self) -> Self:
        self.folder.mkdir(parents=True, exist_ok=True)
        if sys.platform == "linux" and os.geteuid() == 0 and shutil.which("mount"):
            words = ["mount", "-t", "tmpfs", "-o", f"size={self._size}", "tmpfs", str(self.folder)]
            self._mounted = subprocess.run(words, capture_output=True, check=False).returncode == 0
        self.how = f"tmpfs of {self._size} bytes" if self._mounted else "RLIMIT_FSIZE"
        return self

    def __exit__(self, *_: object) -> None:
        if self._mounted:
            # Lazily: a process that is ending may still have a file open.
            subprocess.run(["umount", "--lazy", str(self.folder)], check=True)

    @property
    def before_start(self) -> Callable[[], None] | None:
        """What a process that is to meet the bound does before it starts; nothing where the disk is small itself."""
        return None if self._mounted else self._bound_files

    def grow(self, size_bytes: int) -> None:
        """Make room."""
        self._size = size_bytes
        if self._mounted:
            words = ["mount", "-o", f"remount,size={size_bytes}", str(self.folder)]
            subprocess.run(words, check=True)

    def _bound_files(self) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (self._size, resource.RLIM_INFINITY))
