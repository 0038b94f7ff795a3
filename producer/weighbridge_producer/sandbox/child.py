"""A process that grades one job after the other for who tries a grader, and may be killed at any of them.

It reads requests from standard input and writes replies to standard output, each after its length.
"""

from __future__ import annotations

import os
import signal
import struct
import sys
from typing import TYPE_CHECKING, Any

import orjson

from weighbridge.errors import LineError, WeighbridgeError
from weighbridge.grading.line_grader import JobDeadlineError, LineGrader, Tally
from weighbridge.grading.strict_json import decode_line
from weighbridge.jobs.chunk import Line
from weighbridge.jobs.model import ErrorCode
from weighbridge.process import limit_memory, tie_to_parent

if TYPE_CHECKING:
    from typing import BinaryIO

LENGTH = struct.Struct(">I")
_FIELDS = {"inputs", "config"}
_KEPT = ("grader", "grader_version", "status", "result", "error", "receipt")


class _Deadline:
    """Interrupts a job, and the reading of it, from a timer."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        signal.signal(signal.SIGALRM, self._end)

    def begin(self, line: int, job: int) -> None:  # noqa: ARG002 - there is one of each
        """Start the clock."""
        signal.setitimer(signal.ITIMER_REAL, self._seconds)

    def end(self) -> None:
        """Stop the clock."""
        signal.setitimer(signal.ITIMER_REAL, 0)

    def _end(self, *_: Any) -> None:
        raise JobDeadlineError(f"the job did not end within {self._seconds:g} s")


def main() -> None:
    """Serve requests until standard input ends."""
    deadline_seconds, memory_bytes, lifeline_fd = float(sys.argv[1]), *map(int, sys.argv[2:4])
    tie_to_parent(lifeline_fd=lifeline_fd)
    requests, replies = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    # What a grader prints is no reply.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    graders = LineGrader()
    deadline = _Deadline(deadline_seconds)
    limit_memory(memory_bytes)
    _write(replies, b"")  # ready
    while (request := _read(requests)) is not None:
        _write(replies, _reply(graders, deadline, request))


def _reply(graders: LineGrader, deadline: _Deadline, request: bytes) -> bytes:
    grader_id, _, body = request.partition(b"\n")
    try:
        line = _line(grader_id.decode(), body)
        result = orjson.loads(graders.grade(Line(0, 1, line), Tally(), deadline))
        return orjson.dumps({name: result[name] for name in _KEPT})
    except LineError as error:
        return errored(error.line_code, error.message, error.hint)
    except WeighbridgeError as error:
        return errored(error.code, error.message, error.hint)
    except MemoryError:
        return errored(
            ErrorCode.OUT_OF_MEMORY, "the job wants more memory than it may have", "try less of it"
        )


def _line(grader_id: str, body: bytes) -> bytes:
    """Return the request as a line of input; LineError for what could be none."""
    asked = decode_line(body)
    for name in sorted(asked.keys() - _FIELDS):
        raise LineError(
            ErrorCode.UNKNOWN_FIELD,
            f"nothing reads the field {name[:80]!r}",
            "known: inputs, config",
        )
    if type(asked.get("inputs")) is not dict:
        raise LineError(
            ErrorCode.MISSING_FIELD,
            "'inputs' must be an object",
            'send {"inputs": {...}, "config": {...} or null}',
        )
    return orjson.dumps({"custom_id": "trial", "grader": grader_id, **asked})


def errored(code: str, message: str, hint: str) -> bytes:
    """Return the reply for a job that could not be graded."""
    return orjson.dumps(
        dict.fromkeys(_KEPT)
        | {"status": "errored", "error": {"code": code, "message": message, "hint": hint}}
    )


def _read(requests: BinaryIO) -> bytes | None:
    head = requests.read(LENGTH.size)
    return requests.read(LENGTH.unpack(head)[0]) if len(head) == LENGTH.size else None


def _write(replies: BinaryIO, reply: bytes) -> None:
    replies.write(LENGTH.pack(len(reply)) + reply)
    replies.flush()


if __name__ == "__main__":
    main()
