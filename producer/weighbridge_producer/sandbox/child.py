"""A child process of the sandbox: it executes requests one after the other, and may be killed at any time.

It reads requests from standard input and writes replies to standard output, each preceded by its length. A request is a
pickled function with arguments. It gets two replies: an empty one when the work starts, then a pickled pair of the
error code, or None, and the result.
"""

from __future__ import annotations

import os
import pickle
import signal
import struct
import sys
from typing import TYPE_CHECKING, Any

from weighbridge.child_process import limit_memory, tie_to_parent
from weighbridge.graders.registry import default_registry
from weighbridge.grading.line_grader import JobDeadlineError
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge.memory import own_memory_bytes, release_free_memory
from weighbridge.settings import MIB

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import BinaryIO

LENGTH = struct.Struct(">I")
_KEPT_BYTES = 256 * MIB  #: a process that uses more after a request exits


def main() -> None:
    """Serve requests until standard input ends."""
    deadline_seconds, memory_bytes, lifeline_fd = float(sys.argv[1]), *map(int, sys.argv[2:4])
    tie_to_parent(lifeline_fd=lifeline_fd)
    requests, replies = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    # Output printed by the work must not be taken for a reply.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    _raise_at_deadline(deadline_seconds)
    default_registry().preload()  # loading graders must not count against a job's limits
    while (request := _read(requests)) is not None:
        work, arguments = pickle.loads(request)  # noqa: S301 - written by the pool
        del request
        _write(replies, b"")
        limit_memory(memory_bytes)
        _write(replies, _reply(work, arguments, deadline_seconds))
        del arguments
        release_free_memory()
        if own_memory_bytes() > _KEPT_BYTES:
            return


def _raise_at_deadline(seconds: float) -> None:
    def interrupt(*_: object) -> None:
        raise JobDeadlineError(f"the job did not end within {seconds:g} s")

    signal.signal(signal.SIGALRM, interrupt)


def _reply(work: Callable[..., Any], arguments: tuple[Any, ...], deadline_seconds: float) -> bytes:
    try:
        # Nested, because an interruption can arrive just as the work ends.
        try:
            signal.setitimer(signal.ITIMER_REAL, deadline_seconds)
            return pickle.dumps((None, work(*arguments)))
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except JobDeadlineError:
        return pickle.dumps((ErrorCode.TIMEOUT, None))
    except MemoryError:
        return pickle.dumps((ErrorCode.OUT_OF_MEMORY, None))


def _read(requests: BinaryIO) -> bytes | None:
    head = requests.read(LENGTH.size)
    return requests.read(LENGTH.unpack(head)[0]) if len(head) == LENGTH.size else None


def _write(replies: BinaryIO, reply: bytes) -> None:
    replies.write(LENGTH.pack(len(reply)))
    replies.write(reply)
    replies.flush()


if __name__ == "__main__":
    main()
