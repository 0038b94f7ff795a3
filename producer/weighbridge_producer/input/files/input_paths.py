"""The paths of an input: files, folders, patterns and URLs, and how a file of them is opened."""

from __future__ import annotations

import stat
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from weighbridge.errors import InputError
from weighbridge.text import closest, did_you_mean
from weighbridge_producer.input.files.file_groups import FileGroup
from weighbridge_producer.input.files.remote_files import (
    RemoteFile,
    RemoteFolder,
    is_url,
    remote_files,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

HINT = (
    "give a file of JSON Lines, JSON, CSV, Parquet or Arrow, plain, .gz or .zst, an agent's SQLite database, a folder or a"
    " pattern of such files, or - for a pipe"
)
_NAMES_COMPARED = 10_000  #: files of a folder of which one may be meant
InputFile = Path | RemoteFile | FileGroup
_PIPES = ("-", "stdin")
_DEVICES = ("/dev/stdin", "/dev/fd/", "/proc/")


def repeatable_name(name: str, placeholder: str) -> str:
    """Return a file's name for an example of a command; for a pipe, which cannot be given again, a placeholder."""
    return placeholder if name in _PIPES or name.startswith(_DEVICES) else name


@contextmanager
def opened_input(file: InputFile, buffering: int = -1) -> Iterator[BinaryIO]:
    """Open a file to read; raises InputError if the operating system refuses to open or to read it."""
    try:
        with file.open("rb", buffering=buffering) as stream:
            yield stream
    except OSError as error:
        why = error.strerror or error
        raise InputError(f"the input {str(file)!r} cannot be read: {why}") from None


class Paths(tuple[Path | RemoteFile | RemoteFolder | FileGroup, ...]):
    """Several files, folders, patterns of files, groups of files and URLs as one input."""

    __slots__ = ()

    @classmethod
    def of(cls, names: Iterable[str | Path]) -> Paths:
        """Return the paths for names."""
        found: list[Path | RemoteFile | RemoteFolder] = []
        for name in names:
            found += remote_files(str(name)) if is_url(str(name)) else [Path(name)]
        return cls(found)

    def __str__(self) -> str:
        """Return the first path, and the number of others."""
        more = f" and {len(self) - 1:,} more" if len(self) > 1 else ""
        return f"{self[0]}{more}"


def _nearest(path: Path) -> str | None:
    """Return the path of the file beside a missing one with the most similar name."""
    try:
        names = [each.name for each in islice(path.parent.iterdir(), _NAMES_COMPARED)]
    except (OSError, ValueError):
        return None
    found = closest(path.name, names)
    return str(path.with_name(found)) if found else None


def size_of(path: InputFile) -> int | None:
    """Return a file's size in bytes; None for a pipe or device; InputError if it cannot be read."""
    if isinstance(path, RemoteFile):
        return path.size()
    try:
        if isinstance(path, FileGroup):
            return path.size()
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError) as error:
        if isinstance(path, FileGroup):
            text = f"{error.filename!r}, a file of the input {str(path)!r}, does not exist anymore"
            raise InputError(text, HINT) from None
        meant = did_you_mean(_nearest(path))
        raise InputError(f"the input {str(path)!r} does not exist{meant}", HINT) from None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise InputError(f"the input {str(path)!r} cannot be read: {why}", HINT) from None
    return status.st_size if stat.S_ISREG(status.st_mode) else None
