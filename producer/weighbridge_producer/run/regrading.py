"""Grading lines again for `verify`: in a child process, with the limits of a job as in a worker."""

from __future__ import annotations

import asyncio
import pickle
import signal
import time
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec.structs import replace

from weighbridge.errors import Fault, LineError, WeighbridgeError
from weighbridge.grading.case import parse_case
from weighbridge.grading.grader_cache import GraderCache, ReadyGrader
from weighbridge.grading.line_grader import LineGrader
from weighbridge.grading.tally import Tally
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge.jobs.result_line import ResultRow
from weighbridge.settings import GIB, KIB
from weighbridge_producer.sandbox.pool import Sandbox, SandboxLimitError, SandboxStartError

if TYPE_CHECKING:
    from array import array
    from collections.abc import Generator, Iterable, Iterator, Sequence

    from weighbridge.jobs.chunk import Line
    from weighbridge.jobs.grader_spec import GraderSpec
    from weighbridge.settings import Settings

    Regraded = list[bytes] | Fault  #: the results of a line, or why it could not be graded again

NOT_GRADED = Fault("", "", "")  #: the error of a job that is not graded again
_REQUEST_BYTES = 512 * KIB
_REQUEST_LINES = 1_000
_REQUEST_SECONDS = 0.2  #: smaller requests follow one that takes longer
#: A worker child's address space may grow by this many times its memory limit, and by this much beyond.
_ADDRESS_SPACE_FACTOR, _ADDRESS_SPACE_ROOM_BYTES = 4, GIB


@dataclass(slots=True)
class LineToGrade:
    """A line of the cases, with the places of its results."""

    line: Line
    offsets: array[int]  #: of its results in their file
    known: list[bytes] | None = None  #: its results, if they are known without grading
    #: Labels of jobs that are not graded again, each with whether their grader had been created.
    skipped: dict[str | None, bool] = field(default_factory=dict)


def grade_here(
    specs: Sequence[GraderSpec], lines: Iterable[LineToGrade]
) -> Generator[tuple[LineToGrade, Regraded]]:
    """Yield lines with their results, graded in this process and without limits."""
    regrader = _Regrader(specs)
    for given in lines:
        yield (
            given,
            regrader.grade(given.line, given.skipped) if given.known is None else given.known,
        )


class ChildRegrader:
    """Grades in a child process, so that a grader that hangs or kills its process affects only its own line."""

    def __init__(self, settings: Settings) -> None:
        space = _ADDRESS_SPACE_FACTOR * settings.child_memory_limit_bytes
        limits = {"child_memory_limit_bytes": space + _ADDRESS_SPACE_ROOM_BYTES}
        self._sandbox = Sandbox(settings.model_copy(update=limits))
        self._job_seconds = settings.job_deadline_seconds
        self._request_lines = 1

    def __call__(
        self, specs: Sequence[GraderSpec], lines: Iterable[LineToGrade]
    ) -> Generator[tuple[LineToGrade, Regraded]]:
        """Yield lines with their results."""
        packed = pickle.dumps(tuple(specs))
        with asyncio.Runner() as runner:
            try:
                for request in self._requests(lines):
                    yield from zip(request, self._grade(runner, packed, request), strict=True)
            finally:
                runner.run(self._sandbox.close())

    def _requests(self, lines: Iterable[LineToGrade]) -> Iterator[list[LineToGrade]]:
        request: list[LineToGrade] = []
        size = 0
        for given in lines:
            request.append(given)
            size += len(given.line.raw)
            if len(request) >= self._request_lines or size >= _REQUEST_BYTES:
                yield request
                request, size = [], 0
        if request:
            yield request

    def _grade(
        self, runner: asyncio.Runner, specs: bytes, request: list[LineToGrade]
    ) -> list[Regraded]:
        to_grade = [(given.line, given.skipped) for given in request if given.known is None]
        began = time.monotonic()
        try:
            graded = iter(
                runner.run(self._sandbox.run(_grade_in_child, specs, self._job_seconds, to_grade))
                if to_grade
                else ()
            )
        except SandboxStartError:
            raise WeighbridgeError("no process for grading again can be started now") from None
        except SandboxLimitError as error:
            if len(request) == 1:
                return [_fault(error.code, self._job_seconds)]
            return [self._grade(runner, specs, [given])[0] for given in request]
        is_slow = time.monotonic() - began > _REQUEST_SECONDS
        size = self._request_lines // 2 if is_slow else self._request_lines * 2
        self._request_lines = min(max(1, size), _REQUEST_LINES)
        return [next(graded) if given.known is None else given.known for given in request]


def _fault(code: ErrorCode, job_seconds: float) -> Fault:
    if code == ErrorCode.TIMEOUT:
        return Fault(code, f"it did not end within {job_seconds:g} s", "")
    return Fault(code, "the process that graded it ended", "")


def _grade_in_child(
    specs: bytes, job_seconds: float, lines: list[tuple[Line, dict[str | None, bool]]]
) -> list[list[bytes]]:
    regrader = _child_regrader(specs, job_seconds)
    return [regrader.grade(line, skipped) for line, skipped in lines]


@lru_cache(maxsize=1)
def _child_regrader(specs: bytes, job_seconds: float) -> _Regrader:
    return _Regrader(pickle.loads(specs), _JobTimer(job_seconds))  # noqa: S301 - packed by the parent


class _JobTimer:
    """Sends SIGALRM, for which the child raises JobDeadlineError, when a job takes too long."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds  #: 0 for no limit

    def begin(self, _line: int, _job: int) -> None:
        signal.setitimer(signal.ITIMER_REAL, self._seconds)

    def end(self) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)


class _Regrader:
    """Grades lines, but not the jobs that are skipped."""

    def __init__(self, specs: Sequence[GraderSpec], timer: _JobTimer | None = None) -> None:
        self._specs = tuple(specs)
        self._ready = GraderCache()
        self._grader = LineGrader(self._specs, ready=self._ready)
        self._timer = timer or _JobTimer(0)

    def grade(self, line: Line, skipped: dict[str | None, bool]) -> list[bytes]:
        """Return the results of a line; of skipped jobs with an empty error."""
        specs = self._specs_of(line) if skipped else ()
        quarantined = {job: NOT_GRADED for job, spec in enumerate(specs) if spec.label in skipped}
        # A new tally per line: a common one would grow with each distinct label in the input.
        rows = self._grader.grade(line, Tally(), self._timer, quarantined).splitlines()
        for job in quarantined:
            if skipped[specs[job].label]:
                rows[job] = self._with_version(rows[job], specs[job])
        return rows

    def _specs_of(self, line: Line) -> tuple[GraderSpec, ...]:
        try:
            return () if line.fault else parse_case(line.raw, self._specs).graders
        except LineError:
            return ()

    def _with_version(self, row: bytes, spec: GraderSpec) -> bytes:
        ready = self._ready.get(spec)
        if not isinstance(ready, ReadyGrader):
            return row
        named = replace(
            ResultRow.from_bytes(row),
            grader_version=ready.version,
            config_digest=ready.receipts.config_digest,
        )
        return named.to_bytes().rstrip(b"\n")
