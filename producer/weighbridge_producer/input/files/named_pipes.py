"""Opening of pipes that have a path, with a limit on the time that they may be without a writer."""

from __future__ import annotations

import os
import threading
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from contextlib import suppress
from typing import TYPE_CHECKING, BinaryIO

from weighbridge_producer.input.files.lines import BLOCK_BYTES

if TYPE_CHECKING:
    from pathlib import Path


def open_pipe(path: Path, seconds: float) -> BinaryIO:
    """Open a pipe for reading; raises TimeoutError if no process opens it for writing within some seconds."""
    opened: Future[BinaryIO] = Future()
    # The system call returns when there is a writer, and a thread is what can wait for it with a limit.
    threading.Thread(target=_open, args=(path, opened), daemon=True).start()
    try:
        return opened.result(seconds)
    except FutureTimeoutError:
        _release(path, opened)
        raise TimeoutError from None


def _open(path: Path, opened: Future[BinaryIO]) -> None:
    try:
        opened.set_result(path.open("rb", buffering=BLOCK_BYTES))
    except OSError as error:
        opened.set_exception(error)


def _release(path: Path, opened: Future[BinaryIO]) -> None:
    """End the thread that waits for a writer by being one; without the right to write it waits until the process ends."""
    with suppress(OSError):
        os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
        opened.result().close()
