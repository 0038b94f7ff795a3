"""Files that survive a crash of the machine: synced to disk, and replaced only by complete ones."""

from __future__ import annotations

import errno
import os
import shutil
import stat
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO
from zlib import crc32

from weighbridge.errors import OutputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: Some file systems cannot sync a folder, and a folder may be writable but not readable.
_CANNOT_SYNC = {errno.EINVAL, errno.EACCES}
#: Of files that are mounted into a container, and of those of others in a folder such as /tmp.
_CANNOT_REPLACE = {errno.EBUSY, errno.EXDEV, errno.EPERM, errno.EACCES}


def sync(path: Path) -> None:
    """Sync a file, or a folder's entries, to disk; ignore files that have no disk, such as pipes."""
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


@contextmanager
def replacement(target: Path) -> Iterator[BinaryIO]:
    """Open a new file that takes the place of `target` once all is written; after an exception, `target` is as before."""
    # What a killed process has left behind has the same name, and is removed here.
    new = target.with_name(f".weighbridge-{crc32(os.fsencode(target.name)):08x}.partial")
    new.unlink(missing_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    with os.fdopen(os.open(new, flags, 0o666), "wb") as file:
        try:
            yield file
            file.flush()
            _check_alone(new, file, target)
            replace(new, target)
        except BaseException:
            if _is_open(new, file):
                new.unlink()
            raise


def _check_alone(new: Path, file: BinaryIO, target: Path) -> None:
    if not _is_open(new, file):
        raise OutputError(f"another process writes {str(target)!r}", "run one at a time")


def _is_open(path: Path, file: BinaryIO) -> bool:
    return path.exists() and os.path.samestat(path.stat(), os.fstat(file.fileno()))


def replace(new: Path, target: Path) -> None:
    """Put a complete file in the place of another, whose permissions it gets, and sync it to disk."""
    if target.exists():
        shutil.copymode(target, new)
    sync(new)
    try:
        new.replace(target)
    except OSError as error:
        if error.errno not in _CANNOT_REPLACE:
            raise
        shutil.copyfile(new, target)
        sync(target)
        new.unlink()
    sync(target.parent)
