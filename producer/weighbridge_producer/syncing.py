"""Files that outlast a crash of the machine."""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def sync(path: Path) -> None:
    """Put a file on the disk, or, of a folder, the names in it; what has no disk, a pipe for one, is left alone."""
    kind = path.stat().st_mode
    if not stat.S_ISREG(kind) and not stat.S_ISDIR(kind):
        return
    number = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(number)
    except OSError as error:
        # Some file systems cannot sync a folder.
        if error.errno != errno.EINVAL or not stat.S_ISDIR(kind):
            raise
    finally:
        os.close(number)
