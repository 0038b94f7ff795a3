"""Files that outlast a crash of the machine."""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

#: Some file systems cannot sync a folder, and some folders can be written to and not read.
_CANNOT_SYNC = {errno.EINVAL, errno.EACCES}


def sync(path: Path) -> None:
    """Put a file on the disk, or, of a folder, the names in it; what has no disk, a pipe for one, is left alone."""
    kind = path.stat().st_mode
    if stat.S_ISREG(kind):
        _sync(path)
    elif stat.S_ISDIR(kind):
        try:
            _sync(path)
        except OSError as error:
            if error.errno not in _CANNOT_SYNC:
                raise


def _sync(path: Path) -> None:
    number = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(number)
    finally:
        os.close(number)
