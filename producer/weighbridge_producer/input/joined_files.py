"""Files to join: one file, or a pipe that a program writes to."""

from __future__ import annotations

import glob
import os
from contextlib import contextmanager
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, BinaryIO

from weighbridge.errors import InputError, JoinError
from weighbridge_producer.input.files.input_files import InputFiles
from weighbridge_producer.input.files.input_paths import InputFile, Paths
from weighbridge_producer.input.files.lines import BLOCK_BYTES
from weighbridge_producer.input.files.named_pipes import open_pipe
from weighbridge_producer.input.files.read_as import ReadAs
from weighbridge_producer.input.files.remote_files import is_url

if TYPE_CHECKING:
    from collections.abc import Iterator

_WRITER_WAIT_SECONDS = 5
_NO_FILE_HINT = "write the rows to a file and join that"


def file_to_join(name: str) -> InputFile:
    """Return the one file with a name or URL; raises InputError or JoinError if it cannot be joined."""
    if name == "-":
        raise JoinError("standard input cannot be joined", "name a file, or a pipe by its path")
    if not is_url(name) and not os.path.lexists(name) and not glob.has_magic(name):
        raise JoinError(f"the file {name!r} does not exist", "name a file with rows to join")
    no_file = JoinError(f"{name!r} is a folder or a pattern", "name one file to join")
    if FilePath(name).is_dir():
        raise no_file
    found = InputFiles(Paths.of([name]), ReadAs.ROWS)
    if found.may_be_several:
        raise no_file
    found.size()  # raises InputError for a file that does not exist
    [file] = found.files
    if isinstance(file, FilePath) and not (file.is_file() or file.is_fifo()):
        kind = "a socket" if file.is_socket() else "a device"
        raise JoinError(f"{name!r} is {kind}, which cannot be joined", _NO_FILE_HINT)
    return file


@contextmanager
def opened_to_join(file: InputFile) -> Iterator[BinaryIO]:
    """Open a file or a pipe; raises InputError or JoinError if it cannot be read."""
    try:
        if isinstance(file, FilePath) and file.is_fifo():
            opened = _opened_pipe(file)
        else:
            opened = file.open("rb", buffering=BLOCK_BYTES)
        with opened as stream:
            yield stream
    except OSError as error:
        why = error.strerror or error
        raise InputError(f"the input {str(file)!r} cannot be read: {why}") from None


def _opened_pipe(path: FilePath) -> BinaryIO:
    try:
        return open_pipe(path, _WRITER_WAIT_SECONDS)
    except TimeoutError:
        raise JoinError(
            f"the pipe {str(path)!r} has had no writer for {_WRITER_WAIT_SECONDS} s",
            f"start the program that writes to it first, or {_NO_FILE_HINT}",
        ) from None
